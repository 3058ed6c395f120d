"""Floor division, modulo and divmod: signs, zero on the k-th trip, floats, -0.0."""
import numpy as np

N = TRIPS
K = N - 7


def case_signs_int():
    s = 0
    for i in range(-N // 2, N // 2):
        for d in (-7, -3, -1, 1, 2, 5):
            s = s * 3 % 100003 + i // d + i % d
    return s


def case_signs_constant_divisor():
    s = 0
    for i in range(-N, N):
        s += i // 3 * 7 + i % 3 + (i // -4) * 2 + i % -4 + i // 8 + i % 8 + i // -8 + i % -8
    return s


def case_signs_float():
    s = 0.0
    x = -N / 4
    for i in range(N):
        s = s * 0.5 + x // 0.3 + x % 0.3 + x // -0.7 + x % -0.7
        x += 0.5
    return s, x


def case_float_mod_zero_sign():
    out = []
    for i in range(N):
        x = (i - N // 2) * 1.0
        r = x % 2.0
        q = x % -2.0
    for x in (-4.0, 4.0, -0.0, 0.0):
        out.append((x % 2.0, x % -2.0, x // 2.0, x // -2.0))
    return r, q, out


def case_divmod_int():
    s = 0
    for i in range(N):
        q, r = divmod(i * 17 - 400, 13 - i % 5)
        s += q * 3 + r
    return s


def case_int_floordiv_zero():
    s = 0
    for i in range(N):
        s += 100 // (K - i)
    return s


def case_int_mod_zero():
    s = 0
    for i in range(N):
        s += 100 % (K - i)
    return s


def case_int_div_zero():
    s = 0
    for i in range(N):
        s += 100 / (K - i)
    return s


def case_float_div_zero():
    s = 0.0
    for i in range(N):
        s += 1.5 / (K - i)
    return s


def case_float_floordiv_zero():
    s = 0.0
    d = float(K)
    for i in range(N):
        s += 1.5 // d
        d -= 1.0
    return s


def case_float_mod_zero():
    s = 0.0
    d = float(K)
    for i in range(N):
        s += 1.5 % d
        d -= 1.0
    return s


def case_divmod_zero():
    s = 0
    for i in range(N):
        q, r = divmod(i, K - i)
        s += q
    return s


def case_zero_caught_and_continues():
    s = 0
    zeros = 0
    for i in range(N):
        try:
            s += 100 // (i % 10)
        except ZeroDivisionError as e:
            zeros += 1
            text = str(e)
    return s, zeros, text


def case_zero_in_nested():
    a = np.zeros(N)
    for i in range(N):
        for j in range(3):
            a[i] += 1 / (K - i + j - 1)
    return a


def case_min_by_minus_one():
    x = -2 ** 63 + N
    for i in range(N + 1):
        q = x // -1
        r = x % -1
        x -= 1
    return q, r, x


def case_float_floordiv_inf():
    s = []
    inf = float("inf")
    for i in range(N):
        x = (i - 5) * 1.5
        a = x // inf
        b = x % inf
        c = inf // (i + 1)
    s.append((a, b, c, x))
    return s


def case_numpy_scalar_div_zero():
    a = np.arange(N) - float(K)
    s = []
    with np.errstate(all="ignore"):
        t = 0.0
        for i in range(N):
            v = 1.0 / a[i]
            if v == v and v < 1e300:
                t += v
    return t, v


def case_numpy_scalar_div_zero_warns():
    a = np.arange(N) - float(K)
    t = []
    for i in range(N):
        v = 1.0 / a[i]
        if v > 1e300:
            t.append(v)
    return t, v


def case_numpy_int_floordiv_zero_warns():
    a = np.arange(N) - K
    last = []
    for i in range(N):
        v = 100 // a[i]
        w = 100 % a[i]
        if a[i] == 0:
            last.append((v, w))
    return last, v, w


def case_numpy_int_signs():
    a = np.arange(-N, N, dtype=np.int32)
    s = 0
    for i in range(2 * N):
        s += int(a[i] // np.int32(7)) * 3 + int(a[i] % np.int32(-7))
    return s


def case_numpy_float_mod():
    a = np.linspace(-9, 9, N)
    out = np.zeros(N)
    for i in range(N):
        out[i] = a[i] % 0.7 + a[i] // 0.7
    return out


def case_int_division_large_exact():
    s = 0.0
    for i in range(1, N):
        s += (2 ** 53 + 1) / i - (2 ** 62 + i) / 3
    return s


def case_modulo_of_negative_step():
    a = np.zeros(11)
    for i in range(N):
        a[-i % 11] += i
        a[(3 * i - 40) % 11] -= 1
    return a


def case_gcd():
    total = 0
    for i in range(1, N):
        a, b = i, 360
        while b:
            a, b = b, a % b
        total += a
    return total


def case_power_mod():
    total = 0
    for i in range(N):
        r = 1
        base = 7
        e = i
        while e > 0:
            if e & 1:
                r = r * base % 1000003
            base = base * base % 1000003
            e >>= 1
        total += r
    return total
