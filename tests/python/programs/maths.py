"""math and np functions on scalars: values, domain errors, overflow, argument types."""
import math

import numpy as np

N = TRIPS
K = N - 6


def case_sqrt_log_exp():
    s = 0.0
    for i in range(1, N):
        s += math.sqrt(i) + math.log(i) + math.exp(-i / 7)
    return s


def case_trig():
    s = 0.0
    for i in range(N):
        s += math.sin(i) * math.cos(i) + math.tan(i / 100) + math.atan2(i, 3) + math.atan(i)
    return s


def case_more_functions():
    s = 0.0
    for i in range(1, N):
        x = i / N
        s += (math.asin(x) + math.acos(x) + math.sinh(x) + math.cosh(x) + math.tanh(x) + math.log10(x)
              + math.log2(x) + math.log1p(x) + math.expm1(x) + math.hypot(x, 2) + math.fabs(-x) + math.erf(x)
              + math.gamma(x) + math.cbrt(x) + math.copysign(x, -1) + math.fmod(x, 0.3) + math.pow(x, 1.5)
              + math.degrees(x) + math.radians(x))
    return s


def case_constants():
    s = 0.0
    for i in range(N):
        s += math.pi * i + math.e - math.tau
    return s


def case_floor_ceil_trunc():
    s = 0
    for i in range(-N, N):
        x = i * 0.37
        s = s * 3 % 100003 + math.floor(x) + math.ceil(x) * 2 + math.trunc(x) * 3
    return s, type(math.floor(0.5)).__name__


def case_floor_big_float():
    x = 1.5
    for i in range(N):
        f = math.floor(x)
        x *= 2.5
    return f


def case_floor_nan_raises():
    x = 1.5
    s = 0
    for i in range(N):
        s += math.floor(x)
        if i == K:
            x = float("nan")
    return s


def case_floor_inf_raises():
    x = 1.5
    s = 0
    for i in range(N):
        s += math.ceil(x)
        if i == K:
            x = float("inf")
    return s


def case_sqrt_negative_raises():
    s = 0.0
    for i in range(N):
        s += math.sqrt(K - i)
    return s


def case_log_zero_raises():
    s = 0.0
    for i in range(N):
        s += math.log(K - i)
    return s


def case_log_negative_float_raises():
    s = 0.0
    for i in range(N):
        s += math.log(K - i + 0.5)
    return s


def case_exp_overflow_raises():
    s = 0.0
    for i in range(N):
        s += math.exp(709 - K + i)
    return s


def case_exp_underflow_silent():
    for i in range(N):
        v = math.exp(-700.0 - i)
    return v


def case_pow_overflow_raises():
    s = 0.0
    for i in range(N):
        s += 10.0 ** (308 - K + i)
    return s


def case_pow_zero_negative_raises():
    s = 0.0
    for i in range(N):
        s += (K - i + 0.0) ** -1
    return s


def case_pow_negative_fraction_is_complex():
    x = 8.0
    for i in range(N):
        y = x ** (1 / 3)
        if i == K:
            x = -8.0
    return y


def case_pow_squares():
    s = 0.0
    for i in range(N):
        x = i * 0.1 + 0.01
        s += x ** 2 + x ** 3 + x ** 0.5 + x ** -1 + x ** 0 + 2.0 ** i % 7
    return s


def case_pow_compare():
    n = 0
    for i in range(N):
        x = 1.9999999 + i * 1e-9
        if x ** 2 >= 4:
            n += 1
    return n


def case_sin_inf_raises():
    x = 1.0
    s = 0.0
    for i in range(N):
        s += math.sin(x)
        if i == K:
            x = float("inf")
    return s


def case_sin_nan_silent():
    x = 1.0
    for i in range(N):
        s = math.sin(x)
        if i == K:
            x = float("nan")
    return s


def case_acos_domain_raises():
    s = 0.0
    for i in range(N):
        s += math.acos(i / K)
    return s


def case_domain_error_caught():
    s = 0.0
    bad = 0
    for i in range(N):
        try:
            s += math.sqrt(i % 10 - 2)
        except ValueError as e:
            bad += 1
            text = str(e)
    return s, bad, text


def case_int_arguments():
    s = 0.0
    for i in range(N):
        s += math.sqrt(i) + math.sin(i) + math.sqrt(True)
    return s


def case_big_int_argument():
    x = 10
    for i in range(N):
        v = math.sqrt(x)
        w = math.log(x)
        x = x * 3
    return v, w


def case_too_big_int_raises():
    x = 10
    for i in range(N + 700):
        v = math.sqrt(x)
        x = x * 10
    return v


def case_wrong_type_raises():
    x = 1.0
    s = 0.0
    for i in range(N):
        s += math.sqrt(x)
        if i == K:
            x = "4"
    return s


def case_user_float_class():
    class F:
        def __float__(self):
            return 4.0
    x = 1.0
    s = 0.0
    for i in range(N):
        s += math.sqrt(x)
        if i == K:
            x = F()
    return s


def case_numpy_scalar_arguments():
    a = np.arange(N) * 0.5
    b = np.arange(N, dtype=np.int32)
    c = np.arange(N).astype(np.float32)
    for i in range(N):
        x = math.sqrt(a[i])
        y = math.sin(b[i])
        z = math.exp(-c[i])
    return x, y, z, type(x).__name__


def case_np_functions_float():
    s = 0.0
    for i in range(1, N):
        x = i / N
        s += np.sqrt(x) + np.exp(x) + np.log(x) + np.sin(x) + np.cos(x) + np.tan(x) + np.arctan2(x, 2.0) + np.abs(-x)
    return s, type(s).__name__


def case_np_functions_elements():
    a = np.linspace(0.01, 9, N)
    out = np.zeros((8, N))
    for i in range(N):
        x = a[i]
        out[0, i] = np.sqrt(x)
        out[1, i] = np.exp(x)
        out[2, i] = np.log(x)
        out[3, i] = np.sin(x)
        out[4, i] = np.cos(x)
        out[5, i] = np.tan(x)
        out[6, i] = np.arctan2(x, 0.5)
        out[7, i] = np.abs(-x)
    return out


def case_np_functions_float32():
    a = np.linspace(0.01, 9, N).astype(np.float32)
    out = np.zeros((7, N), np.float32)
    for i in range(N):
        x = a[i]
        out[0, i] = np.sqrt(x)
        out[1, i] = np.exp(x)
        out[2, i] = np.log(x)
        out[3, i] = np.sin(x)
        out[4, i] = np.cos(x)
        out[5, i] = np.tan(x)
        out[6, i] = np.arctan2(x, np.float32(0.5))
    return out, type(np.sqrt(x)).__name__


def case_np_functions_of_ints():
    for i in range(1, N):
        t = (np.sqrt(i), np.exp(i % 5), np.sin(i), np.abs(-i), np.floor(i), np.ceil(i))
    return [type(x).__name__ for x in t], t


def case_np_functions_of_bool():
    for i in range(N):
        t = np.sqrt(i > 3)
    return t, type(t).__name__


def case_np_floor_ceil():
    a = np.linspace(-5, 5, N)
    s = 0.0
    for i in range(N):
        s = s * 0.5 + np.floor(a[i]) - np.ceil(a[i])
    return s, np.ceil(-0.5)


def case_np_abs_types():
    a = np.arange(-N, N, dtype=np.int32)
    f = np.arange(-N, N).astype(np.float32)
    c = np.exp(1j * np.arange(2 * N))
    for i in range(N):
        t = (np.abs(a[i]), np.abs(f[i]), np.abs(c[i]), abs(c[i]), abs(f[i]))
    return t


def case_np_minimum_maximum():
    a = np.linspace(-5, 5, N)
    a[3] = np.nan
    s = 0.0
    for i in range(N):
        x = np.minimum(a[i], 1.0)
        y = np.maximum(a[i], -1.0)
        if x == x and y == y:
            s += x + y
    return s, x, y


def case_np_array_argument_midway():
    x = 4.0
    for i in range(N):
        v = np.sqrt(x)
        if i == K:
            x = np.array([1.0, 4.0])
    return v


def case_np_function_out_argument():
    out = np.zeros(1)
    x = np.ones(1)
    for i in range(N):
        np.add(out, x, out=out)
    return out


def case_np_isnan():
    a = np.ones(N)
    a[::4] = np.nan
    a[1] = np.inf
    n = 0
    for i in range(N):
        if np.isnan(a[i]):
            n += 1
        elif np.isinf(a[i]):
            n += 1000
        if math.isnan(a[i]) or not math.isfinite(a[i]):
            n += 10
    return n


def case_hypot_forms():
    s = 0.0
    for i in range(N):
        s += math.hypot(i, 3.0) - np.hypot(i * 1.0, 3.0)
        s += math.dist((0, i), (3, 4))
    return s


def case_keyword_and_star():
    s = 0.0
    args = (2.0, 3.0)
    for i in range(N):
        s += math.pow(*args) + math.isclose(s, s, rel_tol=1e-3)
    return s


def case_math_integer_functions():
    s = 0
    for i in range(1, N):
        s += math.gcd(i, 36) + math.isqrt(i) + math.comb(i % 9, 3) + math.factorial(i % 9)
    return s
