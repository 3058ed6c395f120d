"""NumPy scalar arithmetic that warns: text, line, order, count, filters and errstate."""
import warnings

import numpy as np

N = TRIPS
K = N - 9


def case_uint8_add():
    a = np.arange(N).astype(np.uint8)
    s = np.zeros(N, np.uint8)
    for i in range(N):
        s[i] = a[i] + np.uint8(200)
    return s


def case_uint8_add_late():
    x = np.uint8(0)
    one = np.uint8(1)
    step = max(1, 250 // (N - 3))
    for i in range(N):
        x = x + one
        if i % 4 == 0:
            x = x + one
    for i in range(N):
        x = x + one
    return x


def case_int32_mul():
    a = np.arange(1, N + 1, dtype=np.int32)
    p = np.int32(1)
    for i in range(N):
        p = p * a[i]
    return p


def case_int64_add():
    x = np.int64(2 ** 63 - N + 4)
    for i in range(N):
        x = x + np.int64(1)
    return x


def case_int64_sub_python_int():
    x = np.int64(-2 ** 63 + N - 4)
    for i in range(N):
        x -= 1
    return x


def case_int64_mul():
    x = np.int64(3)
    for i in range(N):
        x = x * 3
    return x


def case_negative_of_min():
    a = np.zeros(N, np.int32)
    a[K] = -2 ** 31
    out = np.zeros(N, np.int64)
    for i in range(N):
        out[i] = -a[i]
    return out


def case_negative_unsigned():
    a = np.arange(N).astype(np.uint8)
    s = 0
    for i in range(N):
        s += int(-a[i])
    return s


def case_abs_of_min():
    a = np.arange(N) * 1
    a[K] = -2 ** 63
    s = []
    for i in range(N):
        v = abs(a[i])
        if v < 0:
            s.append(v)
    return s


def case_float64_overflow():
    x = np.float64(1.5)
    for i in range(N):
        x = x * 1e30
    return x


def case_float64_add_inf_minus_inf():
    a = np.ones(N)
    a[K] = np.inf
    s = np.float64(0)
    for i in range(N):
        s = s + a[i]
        t = s - s
    return s, t


def case_float32_overflow():
    x = np.float32(2)
    for i in range(N):
        x = x * np.float32(3)
    return x


def case_float32_python_float_too_big():
    x = np.float32(2)
    big = 1.0
    for i in range(N):
        y = x + big
        if i == K:
            big = 1e39
    return y


def case_invalid_sub():
    a = np.full(N, np.inf)
    a[:K] = 1.0
    out = []
    for i in range(N):
        v = a[i] - a[i]
        out.append(v)
    return out[-1], len(out)


def case_invalid_mul():
    a = np.arange(N) - float(K)
    inf = np.inf
    n = 0
    for i in range(N):
        v = a[i] * inf
        if v != v:
            n += 1
    return n, v


def case_nan_is_silent():
    a = np.ones(N)
    a[K] = np.nan
    s = 0.0
    for i in range(N):
        s += a[i] * 2.0 - 1.0
    return s


def case_sqrt_negative():
    a = np.arange(N) * 1.0
    a[K] = -4.0
    s = 0.0
    for i in range(N):
        v = np.sqrt(a[i])
        if v == v:
            s += v
    return s


def case_log_zero():
    a = np.arange(N)[::-1].astype(float)
    for i in range(N):
        v = np.log(a[i])
    return v


def case_exp_overflow():
    s = 0.0
    for i in range(N):
        v = np.exp(i * 20.0)
    return v


def case_divide_by_zero_many():
    a = np.arange(N) % 5 * 1.0
    n = 0
    for i in range(N):
        v = 1.0 / a[i]
        if v > 1e300:
            n += 1
    return n, v


def case_divide_zero_by_zero():
    a = np.arange(N) % 7 * 1.0
    n = 0
    for i in range(N):
        v = a[i] / a[i]
        if v != v:
            n += 1
    return n


def case_float_mod_zero():
    a = np.arange(N) % 6 * 1.0
    n = 0
    for i in range(N):
        v = 5.0 % a[i]
        w = 5.0 // a[i]
        if v != v:
            n += 1
    return n, v, w


def case_filter_error():
    a = np.arange(N) - float(K)
    s = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(N):
            s += 1.0 / a[i]
    return s


def case_filter_error_overflow():
    x = np.int32(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(N):
            x = x * np.int32(2)
    return x


def case_filter_once():
    a = np.arange(N) % 5 * 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for i in range(N):
            v = 1.0 / a[i]
            w = a[i] / a[i]
    return v, w


def case_filter_ignore():
    a = np.arange(N) % 5 * 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(N):
            v = 1.0 / a[i]
    return v


def case_recorded_lines():
    a = np.arange(N) % 5 * 1.0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for i in range(N):
            v = (1.0 /
                 a[i])
            w = (a[i]
                 / a[i])
    return [(x.category.__name__, str(x.message), x.lineno) for x in seen]


def case_errstate_raise():
    a = np.arange(N) - float(K)
    s = 0.0
    try:
        with np.errstate(divide="raise"):
            for i in range(N):
                s += 1.0 / a[i]
    except FloatingPointError as e:
        return str(e), i, s


def case_errstate_raise_uncaught():
    a = np.arange(N) - float(K)
    with np.errstate(all="raise"):
        for i in range(N):
            v = 1.0 / a[i]


def case_errstate_call():
    seen = []
    a = np.arange(N) % 9 * 1.0
    with np.errstate(divide="call", call=lambda kind, flag: seen.append((kind, flag))):
        for i in range(N):
            v = 2.0 / a[i]
    return seen, v


def case_errstate_print():
    a = np.arange(N) % 9 * 1.0
    with np.errstate(divide="print"):
        for i in range(N):
            v = 2.0 / a[i]
    return v


def case_errstate_under_raise():
    x = np.float64(1e-300)
    with np.errstate(under="raise"):
        for i in range(N):
            x = x * 0.9
            y = x * 1e-9
    return x


def case_errstate_changes_midway():
    a = np.arange(N) % 5 * 1.0
    old = np.geterr()
    try:
        for i in range(N):
            if i == K:
                np.seterr(divide="raise")
            v = 1.0 / a[i]
    finally:
        np.seterr(**old)


def case_errstate_inside_loop():
    a = np.arange(N) % 5 * 1.0
    for i in range(N):
        with np.errstate(divide="ignore"):
            v = 1.0 / a[i]
    return v


def case_python_float_beside_numpy():
    a = np.ones(N)
    a[K] = 0
    s = 0.0
    for i in range(N):
        x = float(a[i])
        s += 1.0 / a[i]
        s += 1.0 / (x + 1.0)
    return s


def case_showwarning_replaced():
    seen = []
    old = warnings.showwarning

    def show(message, category, filename, lineno, file=None, line=None):
        seen.append((str(message), category.__name__, lineno))
    a = np.arange(N) % 5 * 1.0
    warnings.showwarning = show
    try:
        for i in range(N):
            v = 1.0 / a[i]
    finally:
        warnings.showwarning = old
    return seen


def case_warning_in_inlined_function():
    def inverse(x):
        return 1.0 / x
    a = np.arange(N) % 8 * 1.0
    s = 0.0
    for i in range(N):
        v = inverse(a[i])
        if v < 1e300:
            s += v
    return s


def case_warning_order_with_print():
    import sys
    a = np.arange(N) % 8 * 1.0
    for i in range(N):
        v = 1.0 / a[i]
        if i % 8 == 1:
            print("row", i, file=sys.stderr)
    return v
