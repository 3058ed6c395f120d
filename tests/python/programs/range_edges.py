"""Ranges: steps, empties, single trips, huge bounds, negative steps, rebinding inside."""
import sys

N = TRIPS


def case_plain_sum():
    s = 0
    for i in range(N):
        s += i
    return locals()


def case_start_stop():
    s = 0
    for i in range(5, N):
        s += i * i
    return locals()


def case_step_three():
    out = []
    for i in range(1, 3 * N, 3):
        s = i - 1
    out.append((s, i))
    return locals()


def case_negative_step():
    s = 0
    for i in range(N, -1, -1):
        s = s * 2 % 1009 + i
    return locals()


def case_negative_step_uneven():
    k = 0
    for i in range(3 * N + 1, 0, -3):
        k += i
    return i, k


def case_empty_after_hot():
    seen = []
    for n in [N, 0, -5, 1, 2, N]:
        i = "unset"
        total = 0
        for i in range(n):
            total += i
        seen.append((n, i, total))
    return seen


def case_empty_inner_on_some_trips():
    total = 0
    j = None
    for i in range(N):
        for j in range(i % 3):
            total += j + i
    return locals()


def case_bounds_from_data():
    total = 0
    for i in range(N):
        for j in range(i // 2, i, 1 + i % 4):
            total += j
    return locals()


def case_step_sign_changes():
    total = 0
    count = 0
    for i in range(N):
        step = 2 if i % 2 else -2
        for j in range(10 * step, -10 * step, -step):
            total += j * step
            count += 1
    return locals()


def case_stop_changed_inside():
    n = N
    s = 0
    for i in range(n):
        n -= 1
        s += n
    return locals()


def case_loop_variable_reassigned():
    s = 0
    for i in range(N):
        s += i
        i = i * 10
        s += i
    return locals()


def case_near_int64_max():
    big = 2 ** 63 - 1
    s = 0
    for i in range(big - N, big):
        s ^= i
    return locals()


def case_past_int64_max():
    big = 2 ** 63
    s = 0
    for i in range(big - N // 2, big + N // 2):
        s ^= i
    return locals()


def case_below_int64_min():
    s = 0
    for i in range(-2 ** 63 + N // 2, -2 ** 63 - N // 2, -1):
        s += i & 7
    return locals()


def case_big_step():
    s = 0
    for i in range(0, 2 ** 62, 2 ** 62 // N):
        s ^= i
    return locals()


def case_one_trip_outer():
    s = 0
    for k in range(1):
        for i in range(N):
            s += i
    return locals()


def case_two_deep_triangular():
    s = 0
    for i in range(N // 2):
        for j in range(i, N // 2):
            s += i * j
    return locals()


def case_three_deep():
    s = 0
    for i in range(N // 6):
        for j in range(7):
            for k in range(j, 9):
                s += i - j + k
    return locals()


def case_range_object_reused():
    r = range(3, N)
    s = 0
    for a in r:
        for b in range(2):
            s += a + b
    for a in r:
        s -= a
    return s, r


def case_range_of_bool_and_numpy():
    import numpy as np
    s = 0
    for k in range(N):
        for i in range(True, np.int64(5)):
            s += i + k
    return s, type(i).__name__


def case_iterator_kept():
    it = iter(range(N))
    s = 0
    for i in it:
        s += i
        if i == N - 5:
            break
    rest = list(it)
    return locals()


def case_iterator_kept_not_consumed():
    it = iter(range(2 * N))
    s = 0
    for i in it:
        s += i
        if i > N and i % 7 == 0:
            break
    return s, i, next(it), it


def case_shared_iterator():
    it = iter(range(2 * N))
    s = 0
    for i in it:
        for j in it:
            s += i * j
            break
    return locals()


def case_maxsize():
    n = sys.maxsize
    for i in range(n):
        if i * 3 > N * 2:
            break
    return i


def case_zero_step_raises():
    s = 0
    for i in range(N):
        for j in range(0, 5, N - 5 - i):
            s += j
    return s


def case_float_bound_raises():
    s = 0
    n = 3
    for i in range(N):
        if i == N - 4:
            n = 3.0
        for j in range(n):
            s += j
    return s
