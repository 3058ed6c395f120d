"""abs, min, max, int, float, bool, round, sum, divmod, pow, len, isinstance with numbers."""
import numpy as np

N = TRIPS
K = N - 6


def case_min_max_two():
    s = 0
    for i in range(N):
        s += min(i, 10) + max(i, 20)
    return s


def case_min_max_three():
    a = np.arange(N) * 7 % 31
    for i in range(2, N):
        x = min(a[i], a[i - 1], a[i - 2])
        y = max(i, 3, 2.5)
    return x, y


def case_min_max_mixed_types():
    for i in range(N):
        x = min(i, 5.0)
        y = max(5.0, i)
        z = min(5, 5.0)
        w = max(5.0, 5)
        v = max(True, 1)
    return x, y, z, w, v


def case_min_max_nan():
    nan = float("nan")
    for i in range(N):
        x = nan if i % 2 else i * 1.0
        t = (min(x, 5.0), min(5.0, x), max(x, 5.0), max(5.0, x), min(nan, nan))
    return t


def case_min_max_nan_elements():
    a = np.arange(N) * 1.0
    a[::5] = np.nan
    lo = hi = a[0]
    low = high = 1.0
    for i in range(N):
        lo = min(lo, a[i])
        hi = max(a[i], hi)
        low = min(a[i], low)
        high = max(high, a[i])
    return lo, hi, low, high


def case_min_max_negative_zero():
    a = np.zeros(N)
    a[::2] = -0.0
    for i in range(1, N):
        t = (min(a[i], a[i - 1]), max(a[i], a[i - 1]), min(0.0, -0.0), max(-0.0, 0.0))
    return t


def case_min_max_numpy_and_python():
    a = np.arange(N) * 1.0
    level = 0.0
    kinds = set()
    for i in range(N):
        level = max(level + a[i] - 20, 0)
        kinds.add(type(level).__name__)
    return level, sorted(kinds)


def case_min_of_sequence():
    v = [3, 1, 2]
    s = 0
    for i in range(N):
        s += min(v) + max((i, 4)) + min([i, 7, 2])
    return s


def case_min_key_default():
    s = 0
    for i in range(N):
        s += min(i, -i, key=abs) + max([], default=3)
    return s


def case_abs():
    s = 0
    t = 0.0
    for i in range(-N, N):
        s += abs(i)
        t += abs(i * 0.5 - 1)
    return s, t, abs(-0.0)


def case_abs_bool_numpy():
    a = np.arange(-N, N)
    for i in range(N):
        x = abs(a[i])
        y = abs(i > 3)
        z = abs(np.float32(-1.5))
    return x, y, z


def case_int_of_float():
    s = 0
    for i in range(-N, N):
        s = s * 3 % 1000003 + int(i * 0.37) + int(-i / 3)
    return s


def case_int_of_large_float():
    x = 1.5
    for i in range(N + 40):
        v = int(x)
        x *= 3
    return v


def case_int_of_nan_raises():
    x = 1.5
    s = 0
    for i in range(N):
        s += int(x)
        if i == K:
            x = float("nan")
    return s


def case_int_of_inf_raises():
    x = 1.5
    s = 0
    for i in range(N):
        s += int(x)
        if i == K:
            x = -float("inf")
    return s


def case_int_of_numpy():
    a = np.linspace(-9, 9, N)
    b = np.arange(N).astype(np.uint8)
    c = a.astype(np.float32)
    s = 0
    for i in range(N):
        s += int(a[i]) + int(b[i]) + int(c[i]) + int(a[i] > 0)
    return s, type(s).__name__


def case_int_of_string():
    s = 0
    for i in range(N):
        s += int("12") + int("ff", 16) + int(str(i))
    return s


def case_int_float_round_trip():
    n = 0
    x = 2 ** 53 - N // 2
    for i in range(N):
        if int(float(x)) != x:
            n += 1
        x += 1
    return n


def case_float_of_int():
    s = 0.0
    for i in range(N):
        s += float(i) / 3 + float(2 ** 60 + i)
    return s


def case_float_of_huge_int_raises():
    x = 10
    s = 0.0
    for i in range(N + 400):
        s = float(x)
        x *= 10
    return s


def case_float_of_numpy():
    a = np.arange(N).astype(np.float32) * np.float32(0.1)
    b = np.arange(N, dtype=np.int32)
    for i in range(N):
        x = float(a[i])
        y = float(b[i])
        z = float(a[i] > 3)
    return x, y, z, type(x).__name__


def case_float_no_arguments():
    for i in range(N):
        t = (float(), int(), bool(), complex())
    return t


def case_bool_calls():
    n = 0
    for i in range(N):
        n += bool(i % 3) + bool(0.0) + bool(np.float64(i % 2)) + bool(None)
    return n, bool(n)


def case_round_forms():
    s = 0
    for i in range(N):
        x = i * 0.5 - 3
        s += round(x) + round(x, 1)
    return s, round(2.5), round(-3.5), type(round(0.5)).__name__


def case_round_numpy():
    a = np.linspace(-3, 3, N)
    for i in range(N):
        x = round(a[i], 2)
        y = round(a[i])
    return x, y, type(x).__name__, type(y).__name__


def case_sum_list():
    s = 0
    for i in range(N):
        s += sum([i, 2.5, 1])
    return s


def case_pow_three():
    s = 0
    for i in range(N):
        s += pow(i, 3, 17) + pow(2, i % 9) + pow(0.5, 2)
    return s


def case_len_things():
    a = np.zeros((N, 2))
    v = [1, 2]
    s = 0
    for i in range(N):
        s += len(a) + len(v) + len("abc") + len((1, 2)) + len(range(i))
    return s


def case_len_changes():
    v = []
    s = 0
    for i in range(N):
        s += len(v)
        if i % 3 == 0:
            v.append(i)
    return s


def case_isinstance():
    n = 0
    x = 1
    for i in range(N):
        if isinstance(x, int):
            n += 1
        if isinstance(i, (float, str)):
            n += 1000
        if i == K:
            x = 1.5
    return n


def case_type_is():
    n = 0
    x = 1
    for i in range(N):
        if type(x) is int:
            n += 1
        if i == K:
            x = 1.5
    return n


def case_ord_chr_hash():
    s = 0
    for i in range(N):
        s += ord(chr(97 + i % 26)) + hash(i) + hash(i * 0.5)
    return s


def case_enumerate_zip():
    a = np.arange(N) * 0.5
    b = np.arange(N)[::-1] * 1.0
    s = 0.0
    for i, x in enumerate(a):
        s += i * x
    for x, y in zip(a, b):
        s += x * y
    for i, (x, y) in enumerate(zip(a, b), 3):
        s -= i * x + y
    return s, i, x, y


def case_reversed_sorted():
    s = 0
    for i in reversed(range(N)):
        s = s * 3 % 1009 + i
    for x in sorted([3, 1, 2] * 5):
        s += x
    return s


def case_any_all():
    n = 0
    for i in range(N):
        if any((i % 3 == 0, i % 5 == 0)) and all([i > 2, i < N - 2]):
            n += 1
    return n


def case_print_each_tenth():
    for i in range(N):
        if i % 10 == 0:
            print(i, i * 0.5, end=";")
    return i


def case_id_and_hash_identity():
    n = 0
    for i in range(N):
        x = i
        if id(x) == id(i):
            n += 1
    return n


def case_nan_identity_in_list():
    x = float("nan")
    n = 0
    for i in range(N):
        v = [x]
        if v == [x]:
            n += 1
        if x in v:
            n += 100
    return n
