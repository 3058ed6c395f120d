"""Subscripts: negative, NumPy scalars, bools, out of bounds on trip k, tuples, dimensions, order."""
import numpy as np

N = TRIPS
K = N - 6


def case_negative():
    a = np.arange(N) * 1.0
    s = 0.0
    for i in range(N):
        s = s * 0.9 + a[-i] - a[-1 - i]
    return s


def case_wraps_through_zero():
    a = np.arange(N) * 1.0
    s = 0.0
    for i in range(N):
        s += a[i - 3] * (i + 1)
    return s


def case_out_of_bounds_high():
    a = np.arange(K) * 1.0
    s = 0.0
    for i in range(N):
        s += a[i]
    return s


def case_out_of_bounds_low():
    a = np.arange(K) * 1.0
    s = 0.0
    for i in range(N):
        s += a[-i - 1]
    return s


def case_out_of_bounds_store():
    a = np.zeros(K)
    for i in range(N):
        a[i] = i * 2
    return a


def case_out_of_bounds_augmented():
    a = np.zeros(K)
    for i in range(N):
        a[i] += i * 2
    return a


def case_out_of_bounds_2d_axis0():
    a = np.ones((K, 3))
    s = 0.0
    for i in range(N):
        for j in range(3):
            s += a[i, j]
    return s


def case_out_of_bounds_2d_axis1():
    a = np.ones((N, 3))
    s = 0.0
    for i in range(N):
        for j in range(3 if i < K else 4):
            s += a[i, j]
    return s


def case_out_of_bounds_caught():
    a = np.arange(K) * 1.0
    s = 0.0
    try:
        for i in range(N):
            s += a[i]
    except IndexError as e:
        return s, i, str(e)


def case_out_of_bounds_caught_inside():
    a = np.arange(10) * 1.0
    s = 0.0
    n = 0
    for i in range(N):
        try:
            s += a[i % 13]
        except IndexError:
            n += 1
    return s, n


def case_gather():
    rng = np.random.default_rng(1)
    idx = rng.integers(-N, N, N)
    a = np.arange(N) * 0.5
    s = 0.0
    for i in range(N):
        s += a[idx[i]] * i
    return s


def case_gather_int32_index():
    idx = (np.arange(N) * 7 % N).astype(np.int32)
    a = np.arange(N) * 0.5
    out = np.zeros(N)
    for i in range(N):
        out[idx[i]] = a[i]
    return out


def case_gather_uint8_index():
    idx = (np.arange(N) * 7 % 13).astype(np.uint8)
    a = np.arange(13) * 0.5
    h = np.zeros(13, np.int64)
    for i in range(N):
        h[idx[i]] += 1
    return h


def case_gather_bad_index():
    idx = np.arange(N)
    idx[K] = N + 4
    a = np.arange(N) * 0.5
    s = 0.0
    for i in range(N):
        s += a[idx[i]]
    return s


def case_float_index_raises():
    a = np.arange(N) * 0.5
    j = 0
    s = 0.0
    for i in range(N):
        s += a[j]
        if i == K:
            j = 1.0
    return s


def case_huge_index_raises():
    a = np.arange(N) * 0.5
    j = 0
    s = 0.0
    for i in range(N):
        s += a[j]
        if i == K:
            j = 2 ** 70
    return s


def case_index_2_63_raises():
    a = np.arange(N) * 0.5
    j = 0
    s = 0.0
    for i in range(N):
        s += a[j]
        if i == K:
            j = 2 ** 63
    return s


def case_bool_index_midway():
    a = np.arange(N) * 0.5
    j = 0
    for i in range(N):
        v = a[j]
        if i == K:
            j = True
    return v


def case_too_many_indices_raises():
    a = np.arange(N) * 0.5
    s = 0.0
    for i in range(N):
        s += a[i]
        if i == K:
            s += a[i, 0]
    return s


def case_row_then_column():
    a = np.arange(N * 4).reshape(N, 4) * 0.5
    s = 0.0
    for i in range(N):
        for j in range(4):
            s += a[i][j]
    return s


def case_negative_2d():
    a = np.arange(N * 4).reshape(N, 4) * 0.5
    s = 0.0
    for i in range(N):
        for j in range(4):
            s = s * 0.5 + a[-i, -j] + a[i - 1, j - 1]
    return s


def case_3d():
    a = np.arange(N * 6).reshape(N, 2, 3) * 0.5
    b = np.zeros((3, 2, N))
    for i in range(N):
        for j in range(2):
            for k in range(3):
                b[k, j, i] = a[i, j, k] - k
    return b


def case_4d():
    n = max(2, N // 30)
    a = np.arange(n * 24).reshape(n, 2, 3, 4) * 1.0
    s = 0.0
    for i in range(n):
        for j in range(2):
            for k in range(3):
                for m in range(4):
                    s = s * 0.99 + a[i, j, k, m]
    return s


def case_0d():
    a = np.array(2.5)
    s = 0.0
    for i in range(N):
        s += a[()]
        a[()] = a[()] + 1
    return s, a


def case_0d_arithmetic():
    a = np.array(2.5)
    s = 0.0
    for i in range(N):
        s += a * i
    return s, type(s).__name__


def case_empty_array():
    a = np.zeros(0)
    n = 0
    for i in range(N):
        n += len(a)
        for j in range(a.shape[0]):
            n += 1000
    return n


def case_empty_array_indexed_raises():
    a = np.zeros(5)
    s = 0.0
    for i in range(N):
        s += a[0]
        if i == K:
            a = np.zeros(0)
    return s


def case_tuple_index_variable():
    a = np.arange(N * 4).reshape(N, 4) * 0.5
    s = 0.0
    for i in range(N):
        p = (i, i % 4)
        s += a[p]
    return s


def case_index_via_int_of_float():
    a = np.arange(100) * 0.5
    s = 0.0
    for i in range(N):
        s += a[int(i * 0.37) % 100]
    return s


def case_numpy_scalar_loop_index():
    a = np.arange(N) * 1.0
    s = 0.0
    for i in np.arange(N):
        s += a[i] * a[i - 1]
    return s, type(i).__name__


def case_evaluation_order():
    log = []

    def f(x):
        if x % 9 == 0:
            log.append(x)
        return x
    a = np.zeros(N)
    for i in range(N):
        a[f(i)] = f(i + 1)
    return a, log


def case_aliased_arrays():
    a = np.arange(N) * 1.0
    b = a[1:]
    for i in range(N - 1):
        b[i] = a[i] + 1
    return a


def case_same_array_two_names():
    a = np.zeros(N)
    b = a
    for i in range(N):
        a[i] = i
        b[N - 1 - i] += 1
    return a


def case_array_rebound_inside():
    a = np.zeros(N)
    b = np.ones(N)
    for i in range(N):
        a[i] = b[i] + 1
        a, b = b, a
    return a, b


def case_new_array_each_outer_trip():
    total = 0.0
    for k in range(N // 4):
        a = np.zeros(9)
        for i in range(9):
            a[i] = i * k
        total += a[8]
    return total, a


def case_size_changes():
    total = 0.0
    for n in (N, 3, N, 0, 1, N + 5):
        a = np.arange(n) * 1.0
        for i in range(len(a)):
            total += a[i]
    return total


def case_dtype_changes():
    out = []
    for dt in (np.float64, np.float32, np.int64, np.uint8, np.float64, np.bool_, np.complex128, np.int32):
        a = (np.arange(N) % 100).astype(dt)
        s = 0
        for i in range(N):
            s = s + a[i]
        out.append((s, type(s).__name__))
    return out


def case_ndim_changes():
    out = 0.0
    for a in (np.ones(N), np.ones((N, 2)), np.ones(N), np.ones((N, 1, 1))):
        for i in range(N):
            out = out + a[i]
    return out


def case_list_of_arrays():
    rows = [np.arange(5) * 1.0 for _ in range(7)]
    s = 0.0
    for i in range(N):
        s += rows[i % 7][i % 5]
    return s


def case_list_index():
    v = list(range(N))
    s = 0
    for i in range(N):
        s += v[i] - v[-i]
        v[i] = s
    return s, v[-5:]


def case_list_index_error():
    v = list(range(K))
    s = 0
    for i in range(N):
        s += v[i]
    return s


def case_string_index():
    text = "hot loops" * N
    n = 0
    for i in range(N):
        if text[i] == "o":
            n += 1
    return n


def case_resize_inside():
    a = np.zeros(4)
    n = 0
    for i in range(N):
        n += a.shape[0]
        if i == K:
            a.resize(6, refcheck=False)
    return n, a


def case_reshape_view_inside():
    a = np.arange(N * 2) * 1.0
    s = 0.0
    for i in range(N):
        b = a.reshape(N, 2)
        s += b[i, 1]
    return s
