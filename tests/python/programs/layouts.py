"""Strides: non-contiguous, negative, zero, Fortran order, transposed, unaligned, byte-swapped, read-only."""
import numpy as np

N = TRIPS
K = N - 6


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * 0.75 + a[i]
    return s


def total2(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = s * 0.75 + a[i, j]
    return s


def fill(a):
    for i in range(a.shape[0]):
        a[i] = i * 2 - 5


def fill2(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = i * 10 - j


def case_contiguous_then_strided():
    base = np.arange(3 * N) * 1.0
    return [total(base[:N]), total(base[::3]), total(base[1::2]), total(base[:N])]


def case_negative_stride():
    base = np.arange(N) * 1.0
    return [total(base), total(base[::-1]), total(base[::-2])]


def case_zero_stride():
    z = np.broadcast_to(np.float64(2.5), (N,))
    return [total(np.ones(N)), total(z), total2(np.broadcast_to(np.arange(5.0), (N, 5)))]


def case_fortran_order():
    a = np.arange(N * 5).reshape(N, 5) * 1.0
    return [total2(a), total2(np.asfortranarray(a)), total2(a.T), total2(a[:, ::-1]), total2(a[::2, 1:4])]


def case_store_strided():
    base = np.zeros(4 * N)
    fill(base[:N])
    fill(base[1::4])
    fill(base[::-3])
    return base


def case_store_2d_layouts():
    base = np.zeros((N, 6))
    fill2(base)
    fill2(base.T)
    fill2(base[::-1, ::2])
    return base


def case_store_zero_stride():
    base = np.zeros(1)
    fill(np.zeros(N))
    view = np.lib.stride_tricks.as_strided(base, (N,), (0,))
    fill(view)
    return base


def case_overlapping_windows():
    base = np.arange(N + 4) * 1.0
    win = np.lib.stride_tricks.sliding_window_view(base, 5)
    return total2(win)


def case_overlapping_store():
    base = np.zeros(N + 4)
    win = np.lib.stride_tricks.as_strided(base, (N, 5), (8, 8))
    fill2(win)
    return base


def case_unaligned():
    raw = np.zeros(8 * N + 1, np.uint8)
    a = raw[1:].view(np.float64)
    fill(np.zeros(N))
    fill(a)
    return total(np.arange(N) * 1.0), total(a)


def case_byte_swapped():
    a = np.arange(N).astype(">f8")
    b = np.arange(N).astype(">i4")
    return total(np.arange(N) * 1.0), total(a), total(b)


def case_structured_field():
    a = np.zeros(N, dtype=[("x", "f8"), ("n", "i4")])
    a["x"] = np.arange(N)
    x = a["x"]
    n = a["n"]
    fill(n)
    return total(x), total(n)


def case_matrix_subclass():
    class Mine(np.ndarray):
        def __getitem__(self, key):
            return 100.0
    a = (np.arange(N) * 1.0)
    return total(a), total(a.view(Mine)), total(a)


def case_masked_array():
    a = np.ma.masked_greater(np.arange(N) * 1.0, N - 3)
    s = []
    for i in range(N):
        if a[i] is np.ma.masked:
            s.append(i)
    return s


def case_memmap(tmp=None):
    import os
    import tempfile
    f = tempfile.NamedTemporaryFile(delete=False)
    f.close()
    m = np.memmap(f.name, dtype=np.float64, mode="w+", shape=(N,))
    fill(m)
    r = total(m)
    del m
    os.unlink(f.name)
    return r


def case_readonly_load():
    a = np.arange(N) * 1.0
    a.flags.writeable = False
    return total(np.ones(N)), total(a)


def case_readonly_store_raises():
    a = np.zeros(N)
    fill(a)
    a.flags.writeable = False
    fill(a)
    return a


def case_readonly_midway_raises():
    a = np.zeros(N)
    for i in range(N):
        a[i] = i
        if i == K:
            a.flags.writeable = False
    return a


def case_readonly_before_bounds():
    a = np.zeros(N)
    fill(a)
    a.flags.writeable = False
    try:
        for i in range(N + 5, 2 * N + 5):
            a[i] = 1
    except (ValueError, IndexError) as e:
        return str(e), i


def case_readonly_store_on_cold_path():
    a = np.zeros(N)
    b = np.zeros(N)
    b.flags.writeable = False
    s = 0
    for i in range(N):
        if i == K:
            b[i] = 1
        a[i] = i
        s += i
    return s


def case_broadcast_readonly_raises():
    a = np.broadcast_to(np.arange(3.0), (N, 3))
    for i in range(N):
        v = a[i, 1]
        if i == K:
            a[i, 1] = 5
    return v


def case_from_buffer():
    a = np.frombuffer(bytes(range(256)) * (N // 256 + 1), np.uint8)
    s = 0
    for i in range(N):
        s = s * 3 % 100003 + int(a[i])
    return s


def case_bytes_and_bytearray():
    b = bytes(i % 251 for i in range(N))
    c = bytearray(b)
    s = 0
    for i in range(N):
        s += b[i] * 2
        c[i] = (c[i] + 1) % 256
    return s, c[-5:]


def case_memoryview():
    m = memoryview(bytearray(i % 251 for i in range(N)))
    s = 0
    for i in range(N):
        s += m[i]
    return s


def case_array_module():
    import array
    a = array.array("d", [0.5] * N)
    s = 0.0
    for i in range(N):
        s += a[i]
        a[i] = s
    return s


def case_object_dtype():
    a = np.array([i * 10 ** 18 for i in range(N)], dtype=object)
    s = 0
    for i in range(N):
        s += a[i]
    return s


def case_datetime_dtype():
    a = np.arange(N).astype("datetime64[D]")
    n = 0
    for i in range(N):
        if a[i] > np.datetime64("1970-01-10"):
            n += 1
    return n


def case_string_dtype():
    a = np.array(["ab", "c"] * (N // 2 + 1))
    n = 0
    for i in range(N):
        if a[i] == "c":
            n += 1
    return n


def case_longdouble():
    a = np.arange(N).astype(np.longdouble)
    s = 0
    for i in range(N):
        s = s + a[i]
    return float(s), type(s).__name__


def case_stored_view_of_itself():
    a = np.arange(2 * N) * 1.0
    half = a[N:]
    for i in range(N):
        a[i] = half[i] + half[N - 1 - i]
        half[i] = a[N - 1 - i]
    return a


def case_attributes():
    a = np.zeros((N, 3, 2))
    s = 0
    for i in range(N):
        s += len(a) + a.shape[0] + a.shape[1] + a.shape[-1] + a.ndim + a.size
    return s, type(a.size).__name__, type(a.shape[0]).__name__


def case_shape_unpacked():
    a = np.ones((7, 3))
    s = 0
    for i in range(N):
        h, w = a.shape
        s += h * w
    return s
