"""map() over plain functions and builtins, zip(strict=True): values, exceptions inside, shared and half used iterators, sizes that change."""
import math

import numpy as np

N = TRIPS
A = np.linspace(-1.0, 2.0, N)
INTS = list(range(-5, N - 5))


def square(x):
    return x * x + 1


def halve(x):
    if x % 2:
        return x * 3 + 1
    return x // 2


def add(x, y, z=0.5):
    return x + y * z


def nested(x):
    return square(x) - halve(int(x))


def picky(x):
    if x > N - 9:
        raise ValueError(f"too big: {x}")
    return x * 2


def stops(x):
    if x > N // 2:
        raise StopIteration
    return x + 1


def divides(x):
    return 100 / (x - (N - 12))


def changes_type(x):
    return x if x < N // 2 else x + 0.5


def early(x):
    for k in range(5):
        if k * 3 > x:
            return k
    return -1


def case_map_range():
    s = 0
    for v in map(square, range(N)):
        s += v
    return s, v


def case_map_list():
    s = 0
    for v in map(halve, INTS):
        s = s * 3 % 1009 + v
    return s, v


def case_map_array():
    s = 0.0
    for v in map(square, A):
        s += v
    return s, v


def case_map_two():
    s = 0.0
    for v in map(add, range(N), A):
        s += v
    return s, v


def case_map_three():
    s = 0.0
    for v in map(add, range(N), A, INTS[2:]):
        s += v
    return s, v


def case_map_nested_calls():
    s = 0
    for v in map(nested, range(N)):
        s += v
    return s


def case_map_early_return():
    out = []
    for v in map(early, range(N)):
        out.append(v)
    return out


def case_map_lambda():
    k = 3
    s = 0
    for v in map(lambda x: x * k + 1, range(N)):
        s += v
    return s


def case_map_lambda_again_and_again():
    s = 0
    for k in range(6):
        for v in map(lambda x: x * 2 - 1, range(N)):
            s += v * k
    return s


def case_map_builtins():
    out = []
    s = 0
    for v in map(abs, INTS):
        s += v
    out.append(s)
    for v in map(int, A):
        s += v
    out.append(s)
    for v in map(float, INTS):
        s += v
    out.append(s)
    for v in map(math.sqrt, range(N)):
        s += v
    out.append(s)
    for v in map(max, INTS, range(N)):
        s += v
    out.append(s)
    for v in map(np.sqrt, range(N)):
        s += v
    out.append(s)
    for v in map(ord, "some text that is long enough " * (N // 20)):
        s += v
    out.append((s, v))
    return out


def case_map_builtin_inside():
    s = 0.0
    for i, v in enumerate(map(abs, A)):
        s += i * v
    for v, w in zip(map(math.floor, A), map(int, INTS)):
        s += v * w
    for v in map(abs, map(int, A)):
        s -= v
    return s, v, w, i


def case_map_function_inside():
    s = 0.0
    for i, v in enumerate(map(square, A)):
        s += i * v
    return s


def case_map_builtin_raises():
    s = 0.0
    for v in map(math.sqrt, range(N - 3, -5, -1)):
        s += v
    return s


def case_map_function_raises():
    s = 0
    for v in map(picky, range(N)):
        s += v
    return s


def case_map_function_raises_caught():
    s = 0
    try:
        for v in map(picky, range(N)):
            s += v
    except ValueError as e:
        return s, v, str(e)
    return s


def case_map_function_stops():
    s = 0
    for v in map(stops, range(N)):
        s += v
    else:
        s += 1000
    return s, v


def case_map_zero_division():
    s = 0
    try:
        for v in map(divides, range(N)):
            s += v
    except ZeroDivisionError:
        return s, v, "divided"
    return s


def case_map_type_change():
    s = 0
    for v in map(changes_type, range(N)):
        s += v
    return s, v


def case_map_as_variable():
    it = map(square, range(N))
    first = next(it)
    s = 0
    for v in it:
        s += v
        if v > N:
            break
    return first, s, list(it)


def case_map_under_way():
    it = map(halve, INTS)
    next(it)
    next(it)
    s = 0
    for v in it:
        s += v
    return s, next(it, "none")


def case_map_break():
    s = 0
    for v in map(square, range(N)):
        if v > N * 2:
            break
        s += v
    return s, v


def case_map_inner_loop():
    s = 0
    for k in range(8):
        for v in map(square, range(k, N)):
            s += v - k
    return s, v


def case_map_list_changes():
    items = list(range(N))
    s = 0
    for v in map(square, items):
        s += v
        if v == 101:
            items.append(7)
        if v == 401:
            items.pop()
            items.pop()
    return s, v, len(items)


def case_map_closure_state():
    count = 0

    def counting(x):
        nonlocal count
        count += 1
        return x + count

    s = 0
    for v in map(counting, range(N)):
        s += v
    return s, count


def case_map_function_stores():
    out = np.zeros(N)

    def put(i):
        out[i] = i * 0.5
        return out[i - 1]

    s = 0.0
    for v in map(put, range(N)):
        s += v
    return s, out


def case_map_function_stores_out_of_range():
    out = np.zeros(N - 4)

    def put(i):
        out[i] = i * 0.5
        return i

    s = 0
    try:
        for v in map(put, range(N)):
            s += v
    except IndexError:
        return s, v, out
    return s


def case_map_unpacked():
    def pair(x):
        return x, x * 2

    s = 0
    for a, b in map(pair, range(N)):
        s += a * b
    return s, a, b


def case_map_none_results():
    def nothing(x):
        pass

    n = 0
    for v in map(nothing, range(N)):
        n += v is None
    return n, v


class Wrapped:
    def __init__(self, k):
        self.k = k

    def times(self, x):
        return x * self.k


def case_map_method():
    w = Wrapped(3)
    s = 0
    for v in map(w.times, range(N)):
        s += v
    return s


def case_map_of_class():
    s = 0
    for v in map(Wrapped, range(N)):
        s += v.k
    return s


def case_strict_zip():
    s = 0.0
    for x, y in zip(A, INTS, strict=True):
        s += x * y
    return s, x, y


def case_strict_zip_three():
    s = 0.0
    for x, y, z in zip(A, INTS, range(N), strict=True):
        s += x * y - z
    for i, (x, (j, y)) in enumerate(zip(A, enumerate(INTS), strict=True)):
        s += i * x - j * y
    for (x, y), z in zip(zip(A, INTS), range(N), strict=True):
        s += x * y - z
    return s


def case_strict_zip_second_longer():
    s = 0.0
    for x, y in zip(A[:-2], INTS, strict=True):
        s += x * y
    return s


def case_strict_zip_first_longer():
    s = 0.0
    try:
        for x, y in zip(A, INTS[3:], strict=True):
            s += x * y
    except ValueError as e:
        return s, x, y, str(e)
    return s


def case_strict_zip_grows():
    items = list(range(N))
    s = 0
    try:
        for x, y in zip(items, range(N), strict=True):
            s += x * y
            if x == N // 2:
                items.append(1)
    except ValueError as e:
        return s, x, y, str(e)
    return s


def case_strict_zip_under_way():
    z = zip(INTS, range(N), strict=True)
    next(z)
    s = 0
    for x, y in z:
        s += x * y
        if y == N - 3:
            break
    return s, list(z)


def case_strict_zip_variable_flag():
    s = 0
    for flag in (True, False, True):
        for x, y in zip(INTS, range(N), strict=flag):
            s += x * y
    return s


def case_strict_zip_empty():
    s = 0
    for k in range(N):
        for x, y in zip(INTS[:k], range(k), strict=True):
            s += x - y
    return s


def case_strict_zip_of_maps():
    s = 0.0
    for x, y in zip(map(abs, INTS), map(float, range(N)), strict=True):
        s += x * y
    return s
