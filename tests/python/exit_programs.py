"""Loops that leave native code, one for each kind of exit: CASES by name, each called with a float64 array of N elements.

`python exit_programs.py THRESHOLD [SEED:K]` runs each case with and without hotloop, with forced exits if asked for. Printed is JSON: for
each case where it differs and what stats() counted. No loop of this file but those of the cases may be seen by hotloop, hence map().
"""
import json
import math
import signal
import sys
import warnings

import hotloop
import numpy as np

N = 400
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def finished(a):
    s = 0.0
    for i in range(N):
        s += a[i]
    return s, i


@case
def left_by_break(a):
    s = 0.0
    for i in range(N):
        s += a[i]
        if s > 50.0:
            break
    return s, i


@case
def left_by_return(a):
    s = 0.0
    for i in range(N):
        s += a[i]
        if s > 50.0:
            return s, i


@case
def left_always(a):
    s = 0.0
    for i in range(20):
        for j in range(20):
            s += a[i + j]
        while s > 0.0:
            s -= 1.0
            if s < 5.0:
                return s, i, j
    return s


@case
def breaker(a):
    fired = []
    former = signal.signal(signal.SIGALRM, lambda *_: fired.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    s = 0
    while not fired:
        for i in range(100_000):
            s = (s + i) & 1023
    signal.signal(signal.SIGALRM, former)


@case
def overflow_add(a):
    s = 1 << 62
    for i in range(N):
        s = s + (1 << 55)
    return s


@case
def overflow_subtract(a):
    s = -(1 << 62)
    for i in range(N):
        s = s - (1 << 55)
    return s


@case
def overflow_multiply(a):
    s = 3
    for i in range(N):
        s = s * 3
    return s


@case
def overflow_negate(a):
    v = np.array([7] * 60 + [-1 << 63] + [7] * 60)
    s = 0
    for i in range(121):
        s = s ^ -int(v[i])
    return s


@case
def overflow_shift(a):
    s = 0
    for i in range(100):
        s = s ^ (3 << i)
    return s


@case
def overflow_store(a):
    v = np.zeros(N, np.uint8)
    try:
        for i in range(N):
            v[i] = i
    except OverflowError as error:
        return v, str(error)


@case
def overflow_unsigned(a):
    v = np.array([5] * 60 + [(1 << 64) - 1] + [7] * 60, np.uint64)
    s = 0
    for i in range(121):
        s = s ^ int(v[i])
    return s


@case
def bounds(a):
    s = 0.0
    try:
        for i in range(2 * N):
            if i % 3:
                s += a[i * 2]
    except IndexError as error:
        return s, i, str(error)


@case
def bounds_by_table(a):
    table = np.array([k % N if k != 300 else N for k in range(N)])
    s = 0.0
    try:
        for i in range(N):
            s += a[table[i]]
    except IndexError as error:
        return s, i, str(error)


@case
def zero_divide(a):
    s = 0
    for operation in (lambda x: 1000 // x, lambda x: 1000 % x, lambda x: 1000 / x, lambda x: 1000.5 // x):
        try:
            for i in range(N):
                s += operation(200 - i)
        except ZeroDivisionError as error:
            s += len(str(error))
    return s


@case
def domain_sqrt(a):
    s = 0.0
    try:
        for i in range(N):
            s += math.sqrt(200 - i)
    except ValueError as error:
        return s, str(error)


@case
def domain_log(a):
    s = 0.0
    try:
        for i in range(N):
            s += math.log(200 - i)
    except ValueError as error:
        return s, str(error)


@case
def domain_round(a):
    v = a.copy()
    v[200] = np.inf
    s = 0
    try:
        for i in range(N):
            s += int(v[i] * 10)
    except OverflowError as error:
        return s, str(error)


@case
def warning_overflow(a):
    s = np.float64(1.0)
    for i in range(N):
        s = s * 1e10
    return s


@case
def warning_divide(a):
    s = np.float64(1.0)
    for i in range(N):
        s = s + np.float64(1.0) / (a[i] - a[200])
    return s


@case
def warning_integer_divide(a):
    v = np.arange(-200, 200)
    s = np.int64(0)
    for i in range(N):
        s = s + np.int64(1000) // v[i]
    return s


@case
def path(a):
    s = 0
    for i in range(N):
        if i == 300:
            s = s - 5
        s += i
    return s


@case
def path_elsewhere(a):
    s = 0.0
    for i in range(N):
        if a[i] > a[390]:
            s -= 1.0
        else:
            s += a[i]
    return s


@case
def type_change(a):
    s = 0
    for i in range(N):
        if i == 300:
            s = 1.5
        s = s + i
    return s


@case
def type_change_from_none(a):
    x = None
    for i in range(N):
        if i % 50 == 49:
            x = i
        if x is not None and i % 7 == 0:
            x = x + 1
    return x


@case
def no_trip(a):
    s = 0
    k = 0
    for i in range(200):
        for j in range(0 if i > 150 else 3):
            k = i + j
        s += k + j
    return s, k, j


@case
def no_trip_of_a_loop_that_changes_types(a):
    t = 0.0
    for i in range(200):
        s = 0
        for j in range(0 if i > 150 else 3):
            s = s + a[j]
        t = t + s
    return t, s, j


@case
def unbound(a):
    s = 0
    try:
        for i in range(N):
            if i == 300:
                del s
            s += 1
    except UnboundLocalError as error:
        return i, str(error)


@case
def not_compiled(a):
    out = ""
    for i in range(N):
        if i == 300:
            out = out + repr([i])
    return out


@case
def hoisted(a):
    s = 0.0
    try:
        for i in range(2 * N):
            s += a[i]
    except IndexError as error:
        return s, i, str(error)


@case
def hoisted_from_nest(a):
    m = np.ones((20, 20))
    s = 0.0
    try:
        for i in range(30):
            for j in range(i):
                s += m[i, j]
    except IndexError as error:
        return s, i, j, str(error)


@case
def hoisted_arithmetic(a):
    m = np.ones((20, 20))
    s = 0.0
    for k in (3, 5, 7, (1 << 63) - 3):
        for i in range(12):
            try:
                for j in range(3):
                    s += m[i + k, j] + m[j, i * k]
            except (IndexError, OverflowError) as error:
                s += len(str(error))
    return s


def picture(value):
    return repr([x.tobytes().hex() if isinstance(x, np.ndarray) else (type(x), x) for x in (value if type(value) is tuple else (value,))])


def run(name):
    function, differ = CASES[name], []

    def once(_):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = function(np.linspace(0.0, 1.0, N))
            return picture(value), [(str(w.message), w.lineno) for w in caught]

    def compare(k):
        with hotloop.paused():
            expected = once(k)
        actual = once(k)
        if expected != actual:
            differ.append([expected, actual])
    before = hotloop.stats()
    list(map(compare, range(3)))
    after = hotloop.stats()

    def gained(group):
        return {kind: after[group][kind] - before[group].get(kind, 0) for kind in after[group] if after[group][kind] != before[group].get(kind, 0)}
    return {"differ": differ, "natural": gained("exit_kinds"), "forced": gained("forced_exit_kinds")}


def main():
    hotloop.enable(threshold=int(sys.argv[1]))
    with hotloop.options(force_exit=sys.argv[2] if len(sys.argv) > 2 else ""):
        results = dict(zip(CASES, map(run, CASES)))
    hotloop.disable()
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
