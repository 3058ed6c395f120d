"""Comparisons and boolean values: chains, and/or/not, conditional expressions, is, in."""
import numpy as np

N = TRIPS


def case_chain_two():
    n = 0
    for i in range(N):
        if 5 < i < N - 5:
            n += 1
    return n


def case_chain_three():
    n = 0
    for i in range(N):
        if 0 <= i % 7 < i % 11 <= 9:
            n += i
    return n


def case_chain_value():
    for i in range(N):
        v = 0 < i < 10 < N
    return v


def case_chain_evaluates_once():
    log = []

    def f(x):
        log.append(x)
        return x
    n = 0
    for i in range(N):
        if 3 < f(i) % 5 < 9:
            n += 1
    return n, len(log)


def case_chain_numpy():
    a = np.linspace(-1, 1, N)
    n = 0
    for i in range(N):
        if -0.5 <= a[i] < 0.5:
            n += 1
        v = -0.5 <= a[i] <= 2
    return n, v, type(v).__name__


def case_and_or_values():
    out = []
    for i in range(N):
        x = i % 3 and i % 5
        y = i % 3 or i % 5
        z = i % 2 and "odd" or "even"
    out.append((x, y, z))
    return out


def case_and_or_floats():
    s = 0.0
    for i in range(N):
        x = i * 0.5 - 3.0
        s += x or 100.0
        s += x and 2.0
    return s


def case_or_type_changes():
    kinds = {}
    for i in range(N):
        v = i % 4 or 2.5
        kinds[type(v).__name__] = kinds.get(type(v).__name__, 0) + 1
    return kinds, v


def case_and_or_numpy():
    a = np.arange(N) % 3 * 1.0
    for i in range(N):
        v = a[i] or i
        w = a[i] and i
    return v, w, type(v).__name__, type(w).__name__


def case_not():
    n = 0
    for i in range(N):
        if not i % 3:
            n += 1
        if not (i > 5 and not i % 2):
            n += 10
    return n, not n


def case_mixed_condition():
    n = 0
    for i in range(N):
        if (i % 2 == 0 and i % 3 == 0) or (i > 10 and not i % 7) or i == 1:
            n += i
    return n


def case_conditional_expression():
    s = 0
    for i in range(N):
        s += i if i % 2 else -i
        t = "a" if i < 3 else "b" if i < N - 1 else "c"
    return s, t


def case_conditional_types():
    for i in range(N):
        v = i if i % 2 else i * 0.5
    return v, type(v).__name__


def case_conditional_nested():
    s = 0
    for i in range(N):
        s += (1 if i % 2 else 2) if i % 3 else (3 if i % 5 else 4)
    return s


def case_bool_of_compare_arithmetic():
    n = 0
    for i in range(N):
        n += (i % 3 == 0) + (i % 5 == 0) * 2
    return n, type(n).__name__


def case_bool_ops():
    a = b = c = 0
    for i in range(N):
        p = i % 2 == 0
        q = i % 3 == 0
        a += p & q
        b += p | q
        c += p ^ q
        r = p & i
        s = ~p
    return a, b, c, r, s, p


def case_bool_variable_type():
    flag = True
    for i in range(N):
        flag = flag and i < N - 2
        other = flag or i
    return flag, other


def case_is_none():
    last = None
    n = 0
    for i in range(N):
        if last is None:
            n += 100
        if last is not None and last > 3:
            n += 1
        last = None if i % 4 == 0 else i
    return n, last


def case_is_numbers():
    n = 0
    for i in range(N):
        j = i
        if i is j:
            n += 1
    return n


def case_is_true():
    a = np.arange(N) > 5
    n = 0
    for i in range(N):
        if (i > 5) is True:
            n += 1
        if a[i] is True:
            n += 1000
    return n


def case_in_tuple():
    n = 0
    for i in range(N):
        if i % 7 in (1, 3, 5):
            n += 1
        if i not in (2, 4):
            n += 10
    return n


def case_in_range_and_set():
    n = 0
    r = range(0, N, 3)
    s = {1, 4, 9}
    for i in range(N):
        n += (i in r) + (i % 10 in s) * 100
    return n


def case_compare_int_float():
    n = 0
    x = 0.0
    for i in range(N):
        n += (i == x) + (i < x + 0.5) * 10 + (x >= i) * 100
        x += 1.0
    return n


def case_compare_big_int_float():
    n = 0
    b = 2 ** 53
    f = float(2 ** 53)
    for i in range(N):
        n += (b + i == f) + (b + i > f) * 10 + (f + i == b + i) * 1000
    return n


def case_compare_nan():
    a = np.ones(N)
    a[::3] = np.nan
    c = [0] * 6
    for i in range(N):
        x = a[i]
        c[0] += x < 1.0
        c[1] += x <= 1.0
        c[2] += x == x
        c[3] += x != x
        c[4] += x > 0.5
        c[5] += not x >= 1.0
    return [int(v) for v in c]


def case_compare_python_nan():
    nan = float("nan")
    c = 0
    for i in range(N):
        x = nan if i % 3 == 0 else i * 1.0
        if x < 5:
            c += 1
        elif x >= 5:
            c += 100
        else:
            c += 10000
    return c


def case_truth_of_everything():
    n = 0
    z = 0
    f = 0.0
    c = 0j
    s = ""
    for i in range(N):
        n += (1 if z else 2) + (1 if f else 2) + (1 if c else 2) + (1 if s else 2)
        if i > 10:
            z, f, c, s = 1, 0.5, 1j, "x"
    return n


def case_truth_negative_zero_nan():
    n = 0
    v = [0.0, -0.0, float("nan"), 1e-320]
    for i in range(N):
        if v[i % 4]:
            n += 1
    return n


def case_truth_of_numpy_scalar():
    a = np.arange(N) % 2
    f = np.arange(N) % 3 * 1.0
    n = 0
    for i in range(N):
        if a[i]:
            n += 1
        if f[i] and a[i]:
            n += 10
        while not a[i]:
            n += 100
            break
    return n


def case_array_truth_raises():
    a = np.zeros(1)
    n = 0
    for i in range(N):
        if a:
            n += 1
        if i == N - 5:
            a = np.zeros(2)
    return n


def case_complex_compare_raises():
    z = 1
    n = 0
    for i in range(N):
        n += z < 5
        if i == N - 5:
            z = 1j
    return n


def case_complex_equality():
    z = 0j
    n = 0
    for i in range(N):
        n += (z == i) + (z != 3j)
        z += 1
    return n


def case_string_compare():
    n = 0
    mode = "fast"
    for i in range(N):
        if mode == "fast":
            n += 1
        else:
            n += 100
        if i == N - 4:
            mode = "slow"
    return n
