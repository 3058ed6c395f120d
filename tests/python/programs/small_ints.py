"""uint8, int32, float32 and bool elements: promotion, stores, range checks, types of results."""
import numpy as np

N = TRIPS


def case_uint8_with_python_int():
    a = (np.arange(N) % 50).astype(np.uint8)
    for i in range(N):
        x = a[i] + 1
        y = a[i] * 2
        z = 60 - a[i]
    return x, y, z


def case_uint8_python_int_out_of_range():
    a = (np.arange(N) % 50).astype(np.uint8)
    k = 1
    for i in range(N):
        x = a[i] + k
        if i == N - 5:
            k = 300
    return x


def case_uint8_minus_negative():
    a = (np.arange(N) % 50).astype(np.uint8)
    k = 1
    for i in range(N):
        x = a[i] + k
        if i == N - 5:
            k = -1
    return x


def case_uint8_times_float():
    a = (np.arange(N) % 50).astype(np.uint8)
    for i in range(N):
        x = a[i] * 0.5
        y = a[i] / 3
    return x, y


def case_uint8_plus_int32():
    a = (np.arange(N) % 50).astype(np.uint8)
    b = np.arange(N, dtype=np.int32)
    for i in range(N):
        x = a[i] + b[i]
        y = a[i] - b[i]
    return x, y


def case_int32_plus_int64():
    a = np.arange(N, dtype=np.int32)
    b = np.arange(N, dtype=np.int64)
    for i in range(N):
        x = a[i] * b[i]
    return x


def case_int32_true_division():
    a = np.arange(1, N + 1, dtype=np.int32)
    s = 0
    for i in range(N):
        x = a[i] / a[N - 1 - i]
        s += x
    return x, s


def case_int32_bit_ops():
    a = np.arange(1, N + 1, dtype=np.int32)
    for i in range(N):
        x = (a[i] & 12) | (a[i] ^ 5)
        y = ~a[i]
        z = a[i] << 2
        w = a[i] >> 1
    return x, y, z, w


def case_shift_counts():
    a = np.arange(N).astype(np.uint8)
    out = []
    for i in range(N):
        x = a[i] << np.uint8(i % 12)
        y = a[i] >> np.uint8(i % 12)
        out.append(int(x) + int(y))
    return out[-20:]


def case_store_python_int_range():
    a = np.zeros(N, np.uint8)
    for i in range(N):
        a[i] = 250 + i - N + 8
    return a


def case_store_out_of_range_raises():
    a = np.zeros(N, np.uint8)
    for i in range(N):
        a[i] = 256 - (N - 4) + i if i > N - 20 else i % 200
    return a


def case_store_negative_into_unsigned_raises():
    a = np.zeros(N, np.uint8)
    for i in range(N):
        a[i] = N - 4 - i if i > N - 20 else 3
    return a


def case_store_int64_scalar_wraps_unsigned():
    b = np.arange(N, dtype=np.int64) * 37 - 100
    a = np.zeros(N, np.uint8)
    for i in range(N):
        a[i] = b[i]
    return a


def case_store_int64_scalar_into_int32_checked():
    b = np.arange(N, dtype=np.int64) + 2 ** 31 - N + 4
    a = np.zeros(N, np.int32)
    for i in range(N):
        a[i] = b[i]
    return a


def case_store_float_into_int():
    a = np.zeros(N, np.int64)
    for i in range(N):
        a[i] = i * 0.75 - 10
    return a


def case_store_nan_into_int_raises():
    a = np.zeros(N, np.int64)
    x = 0.0
    for i in range(N):
        a[i] = x
        if i == N - 5:
            x = float("nan")
    return a


def case_store_inf_into_int_raises():
    a = np.zeros(N, np.int32)
    x = 0.0
    for i in range(N):
        a[i] = x
        if i == N - 5:
            x = float("inf")
    return a


def case_store_float64_scalar_into_uint8():
    b = np.linspace(-3, 300, N)
    a = np.zeros(N, np.uint8)
    for i in range(N):
        a[i] = b[i]
    return a


def case_store_complex_into_float_raises():
    a = np.zeros(N)
    x = 1.0
    for i in range(N):
        a[i] = x
        if i == N - 5:
            x = 1j
    return a


def case_store_bool():
    a = np.zeros(N, np.bool_)
    for i in range(N):
        a[i] = i % 3 == 0
    n = 0
    for i in range(N):
        if a[i]:
            n += 1
    return a, n


def case_store_values_into_bool():
    a = np.zeros(N, np.bool_)
    for i in range(N):
        a[i] = i % 4
    return a


def case_store_none_into_float():
    a = np.zeros(N)
    x = 1.0
    for i in range(N):
        a[i] = x
        if i > N - 5:
            x = None
    return a


def case_store_string_raises():
    a = np.zeros(N)
    x = 1.0
    for i in range(N):
        a[i] = x
        if i > N - 5:
            x = "word"
    return a


def case_bool_arithmetic():
    a = np.arange(N) % 3 == 0
    n = 0
    for i in range(N):
        n += a[i]
    return n, type(n).__name__


def case_bool_plus_bool():
    a = np.arange(N) % 3 == 0
    b = np.arange(N) % 2 == 0
    for i in range(N):
        x = a[i] + b[i]
        y = a[i] * b[i]
        z = a[i] & b[i]
        w = a[i] ^ b[i]
    return x, y, z, w


def case_bool_minus_raises():
    a = np.arange(N) % 3 == 0
    n = 0
    for i in range(N):
        n = i
        if i > N - 5:
            x = a[i] - a[i]
    return n


def case_not_of_numpy_bool():
    a = np.arange(N) % 3 == 0
    n = 0
    for i in range(N):
        if not a[i]:
            n += 1
        x = not a[i]
        y = a[i] == True  # noqa: E712
    return n, x, y


def case_float32_sum():
    a = (np.arange(N) * 0.1).astype(np.float32)
    s = np.float32(0)
    for i in range(N):
        s += a[i] * a[i]
    return s


def case_float32_sum_python_start():
    a = (np.arange(N) * 0.1).astype(np.float32)
    s = 0.0
    for i in range(N):
        s += a[i] * 2.5
    return s


def case_float32_with_float64():
    a = (np.arange(N) * 0.1).astype(np.float32)
    b = np.arange(N) * 0.1
    for i in range(N):
        x = a[i] + b[i]
        y = a[i] < b[i]
        z = a[i] == 0.1
    return x, y, z


def case_float32_with_int32():
    a = (np.arange(N) * 0.1).astype(np.float32)
    b = np.arange(N, dtype=np.int32)
    for i in range(N):
        x = a[i] * b[i]
        y = a[i] + i
    return x, y


def case_float32_division_rounding():
    a = np.arange(1, N + 1).astype(np.float32)
    out = np.zeros(N, np.float32)
    for i in range(N):
        out[i] = np.float32(1) / a[i] - a[i] / np.float32(3)
    return out


def case_float32_store_rounds():
    out = np.zeros(N, np.float32)
    x = 0.1
    for i in range(N):
        out[i] = x
        x *= 1.0000001
    return out


def case_float32_sqrt():
    a = (np.arange(N) * 0.37).astype(np.float32)
    out = np.zeros(N, np.float32)
    for i in range(N):
        out[i] = np.sqrt(a[i])
    return out


def case_augmented_elements():
    a = np.zeros(7, np.int32)
    b = np.zeros(7, np.uint8)
    c = np.zeros(7, np.float32)
    for i in range(N):
        a[i % 7] += i
        b[i % 7] += 1
        c[i % 7] += 0.1
        a[i % 7] -= 3
        c[i % 7] *= 1.01
    return a, b, c


def case_augmented_float_into_int():
    a = np.zeros(7, np.int64)
    for i in range(N):
        a[i % 7] += 1.75
    return a


def case_augmented_uint8_overflow_warns():
    a = np.zeros(5, np.uint8)
    for i in range(N):
        a[i % 5] += 25
    return a


def case_compare_uint8_with_negative():
    a = np.arange(N).astype(np.uint8)
    n = 0
    for i in range(N):
        if a[i] > -1:
            n += 1
        if a[i] < 300:
            n += 1
        if a[i] == 256:
            n += 1000
    return n


def case_uint64_and_int64():
    a = np.arange(N, dtype=np.uint64)
    b = np.arange(N, dtype=np.int64) - 5
    for i in range(N):
        x = a[i] + b[i]
        y = a[i] < b[i]
        z = a[i] // np.uint64(3)
    return x, y, z


def case_int8_int16_uint16_uint32():
    s = 0
    for dt in (np.int8, np.int16, np.uint16, np.uint32):
        a = (np.arange(N) % 90).astype(dt)
        for i in range(N):
            x = a[i] // dt(7) + a[i] % dt(5)
            s += int(x)
    return s, x


def case_float16():
    a = (np.arange(N) % 90).astype(np.float16)
    s = np.float16(0)
    for i in range(N):
        s = s * np.float16(0.5) + a[i]
    return s


def case_complex_arrays():
    a = np.exp(1j * np.arange(N))
    s = 0j
    for i in range(N):
        s += a[i] * a[i].conjugate() + a[N - 1 - i]
    return s


def case_complex64():
    a = np.exp(1j * np.arange(N)).astype(np.complex64)
    s = np.complex64(0)
    for i in range(N):
        s = s + a[i] * a[i]
    return s


def case_types_of_everything():
    a = np.arange(N, dtype=np.int32)
    f = np.arange(N, dtype=np.float32)
    for i in range(N):
        t = (a[i] + 1, a[i] + 1.0, a[i] / 2, f[i] + 1, f[i] * 2.0, a[i] // 2, a[i] % 3, a[i] * f[i], -a[i], +f[i],
             abs(a[i]), a[i] > 2, f[i] == f[i], int(a[i]), float(f[i]), a[i] ** 2, f[i] ** 2)
    return [type(x).__name__ for x in t], t
