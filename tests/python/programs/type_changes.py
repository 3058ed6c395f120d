"""Types that change while loops are hot: variables, arguments, arrays, accumulators."""
import decimal
import fractions

import numpy as np

N = TRIPS
H = N // 2


def case_int_to_float():
    s = 0
    for i in range(N):
        s += 1 if i < H else 0.5
    return s


def case_float_to_int():
    x = 0.5
    for i in range(N):
        x = x + 1 if i != H else 3
    return x


def case_int_to_numpy():
    x = 1
    for i in range(N):
        x = x + 1
        if i == H:
            x = np.int64(5)
    return x, type(x).__name__


def case_numpy_to_float():
    x = np.float64(1)
    for i in range(N):
        x = x * 0.5 + 1
        if i == H:
            x = float(x)
    return x, type(x).__name__


def case_alternating():
    k = {}
    x = 1
    for i in range(N):
        x = 1.0 if type(x) is int else 1
        k[type(x).__name__] = k.get(type(x).__name__, 0) + 1
    return k


def case_four_types_in_turn():
    v = [1, 1.5, True, np.float32(2)]
    s = 0
    for i in range(N):
        x = v[i % 4]
        s = s + x
    return s, type(s).__name__


def case_bool_to_int():
    flag = False
    n = 0
    for i in range(N):
        n += flag
        flag = True if i < H else 2
    return n


def case_none_then_number():
    x = None
    n = 0
    for i in range(N):
        if x is not None:
            n += x
        if i > H:
            x = i
    return n


def case_number_then_none_raises():
    x = 1
    n = 0
    for i in range(N):
        n += x
        if i == N - 5:
            x = None
    return n


def add_all(v):
    s = 0
    for x in v:
        s = s + x
    return s


def case_argument_types():
    return [add_all(v) for v in ([1] * N, [1.5] * N, [True] * N, [1j] * N, [1] * N, [np.int32(2)] * N,
                                 np.ones(N), np.ones(N, np.uint8), [fractions.Fraction(1, 3)] * N,
                                 [decimal.Decimal("0.1")] * N, [1, 1.5] * H)]


def case_subclasses():
    class I(int):  # noqa: E742
        def __add__(self, o):
            return I(int(self) + int(o) + 1)

        def __radd__(self, o):
            return I(int(self) + int(o) + 100)

    class F(float):
        pass
    return [add_all(v) for v in ([1] * N, [I(1)] * N, [F(0.5)] * N, [1] * N + [I(1)])]


def case_user_number():
    class V:
        def __init__(self, x):
            self.x = x

        def __add__(self, o):
            return V(self.x + (o.x if isinstance(o, V) else o))
        __radd__ = __add__

        def __lt__(self, o):
            return self.x < o
    s = 0
    n = 0
    for i in range(N):
        s = s + (i if i < H else V(i))
        if s < 1000:
            n += 1
    return s.x, n


def case_strings_then_raise():
    s = ""
    for i in range(N):
        s = s + "x"
        if i == N - 5:
            s = s + 1
    return s


def case_array_then_scalar():
    x = np.zeros(2)
    for i in range(N):
        x = x + 1
        if i == H:
            x = 0.5
    return x


def case_array_dtype_midway():
    a = np.zeros(5)
    s = 0
    for i in range(N):
        s = s + a[i % 5]
        a[i % 5] += 1
        if i == H:
            a = a.astype(np.int32)
    return s, a


def case_array_subclass_midway():
    class Mine(np.ndarray):
        def __getitem__(self, k):
            return 1000.0
    a = np.ones(5)
    s = 0
    for i in range(N):
        s = s + a[i % 5]
        if i == N - 5:
            a = a.view(Mine)
    return s


def case_list_then_array():
    a = [1.0] * 5
    s = 0
    for i in range(N):
        s = s + a[i % 5]
        if i == H:
            a = np.array(a)
    return s, type(s).__name__


def case_strides_midway():
    base = np.arange(20.0)
    a = base[:5]
    s = 0
    for i in range(N):
        s = s * 0.5 + a[i % 5]
        if i == H:
            a = base[::4]
    return s


def case_big_int_midway():
    x = 1
    s = 0
    for i in range(N):
        s += x & 0xFF
        if i == H:
            x = 2 ** 70 + 5
    return s


def case_loop_variable_types():
    s = 0
    for x in [1] * N + [0.5] * N + [1] * N + [np.float32(1)] * 3:
        s = s + x * 2
    return s


def case_result_of_division_exact():
    x = 1024
    for i in range(N):
        x = x / 2 if x > 1 else 1024
    return x, type(x).__name__


def case_int_or_float_by_condition():
    out = []
    for i in range(N):
        v = i // 2 if i % 2 else i / 2
        w = v * 2
        if i > N - 5:
            out.append((v, w))
    return out


def case_unbound_to_bound():
    s = 0
    for i in range(N):
        if i >= H:
            s += later
        if i >= H - 1:
            later = i * 0.5
    return s


def case_negative_zero_kept():
    x = 0.0
    for i in range(N):
        x = -x
        y = x * 1
        z = 0 * y
    return x, y, z, 0 - x, x - 0, x + 0


def case_true_division_of_bools():
    s = 0
    for i in range(N):
        s += (i > 3) / (1 + (i > 7))
    return s


def case_int_plus_bool():
    s = 0
    for i in range(N):
        s = s + (i > 3)
        t = True + (i > 3)
        u = -(i > 3)
        v = (i > 3) * 2.5
    return s, t, u, v, type(u).__name__


def case_complex_real_int():
    z = 0
    for i in range(N):
        z = z + (i if i != H else 1j)
    return z


def case_float_formats_last_bits():
    s = 0.0
    for i in range(1, N):
        s += 1.0 / i
        s *= 1.0000001
    return s.hex()


def case_denormals():
    x = 1e-300
    for i in range(N):
        x *= 0.5
        y = x + 1e-320
    return x, y


def case_inf_arithmetic():
    x = 1.0
    for i in range(N):
        x = x * 1e10
        y = x - x
        z = 1.0 / x
    return x, y, z


def case_sum_order():
    a = np.sin(np.arange(N) * 1e3) * 10.0 ** (np.arange(N) % 17)
    s = 0.0
    for i in range(N):
        s += a[i]
    t = 0.0
    for i in range(N - 1, -1, -1):
        t += a[i]
    return s, t


def case_no_contraction():
    a = np.sin(np.arange(N) * 1.7)
    out = np.zeros(N)
    for i in range(1, N):
        out[i] = a[i] * a[i - 1] + out[i - 1]
        out[i] = out[i] - a[i] * 3.0
    return out


def case_no_reassociation():
    x = 0.1
    for i in range(N):
        x = x + 0.1 - 0.1 + 1e-17
        y = (x + 1e16) - 1e16
        z = x * 3.0 / 3.0
    return x, y, z


def case_copy_of_an_item_in_two_forms():
    # `v` is the item, or the item less a float; behind the loop it is the very item.
    def walk(a, s, t):
        u = v = 0.0
        for _, one in zip(range(3), (1, 2, 3)):
            for _, item in enumerate(a, 2):
                v = item
                if u:
                    continue
                u, t = t, u
                v -= s
            break
        return s, t, u, v, v is item

    out = []
    for _ in range(4):
        for dtype in (np.int64, np.float64, np.uint64, np.int32):
            out.append(walk(np.arange(12).astype(dtype)[::-1], 0.0, True))
    return out
