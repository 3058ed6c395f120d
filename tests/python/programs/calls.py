"""Inlined functions: defaults, keywords, nesting, recursion, closures, changed callees, tracebacks inside."""
import math

import numpy as np

N = TRIPS
K = N - 6


def square(x):
    return x * x


def scaled(x, factor=3, *, shift=0):
    return x * factor + shift


def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def poly(x):
    return square(x) + scaled(x, 2) + clamp(x, 3, 9)


def nothing(x):
    x + 1


def case_simple():
    s = 0
    for i in range(N):
        s += square(i)
    return s


def case_defaults_and_keywords():
    s = 0
    for i in range(N):
        s += scaled(i) + scaled(i, 5) + scaled(i, factor=7) + scaled(factor=2, x=i) + scaled(i, shift=1)
    return s


def case_nested_calls():
    s = 0
    for i in range(N):
        s += poly(i)
    return s


def case_two_returns():
    s = 0
    for i in range(N):
        s += clamp(i, 10, N // 2)
    return s


def case_returns_none():
    for i in range(N):
        r = nothing(i)
    return r


def case_argument_types_change():
    out = []
    for i in range(N):
        x = i if i % 2 else i * 0.5
        y = square(x)
        if i > N - 4:
            out.append(y)
    return out


def fact(n):
    return 1 if n < 2 else n * fact(n - 1)


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def case_recursion():
    s = 0
    for i in range(N):
        s += fact(i % 12)
    return s


def case_recursion_fib():
    s = 0
    for i in range(N):
        s += fib(i % 7)
    return s


def deep(n):
    s = 0
    for i in range(3):
        s += i
    return s if n == 0 else s + deep(n - 1)


def case_recursion_with_loop():
    s = 0
    for i in range(N // 4):
        s += deep(20)
    return s


def endless(n):
    return endless(n + 1)


def case_recursion_error():
    n = 0
    for i in range(N):
        if i == K:
            try:
                endless(0)
            except RecursionError as e:
                n += len(str(e))
        n += 1
    return n


def make_adder(k):
    def add(x):
        return x + k
    return add


def case_closure_read():
    add = make_adder(5)
    s = 0
    for i in range(N):
        s += add(i)
    return s


def case_closure_changes():
    s = 0
    for k in range(4):
        add = make_adder(k * 1.5 if k % 2 else k)
        for i in range(N // 2):
            s += add(i)
    return s


def case_closure_write():
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count
    s = 0
    for i in range(N):
        s += bump()
    return s, count


def case_cell_variable_in_loop():
    total = 0
    x = 0

    def read():
        return total
    for i in range(N):
        total += i
        if i % 10 == 0:
            x += read()
    return x, total


def case_lambda():
    f = lambda x, y=2: x * y + 1  # noqa: E731
    s = 0
    for i in range(N):
        s += f(i) + f(i, 3)
    return s


def case_callee_changes_midway():
    f = square
    s = 0
    for i in range(N):
        s += f(i)
        if i == N // 2:
            f = scaled
    return s


helper = square


def case_global_function_rebound():
    global helper
    helper = square
    s = 0
    for i in range(N):
        s += helper(i)
        if i == N // 2:
            helper = scaled
    helper = square
    return s


def case_code_replaced():
    def f(x):
        return x + 1

    def g(x):
        return x + 100
    s = 0
    for i in range(N):
        s += f(i)
        if i == N // 2:
            f.__code__ = g.__code__
    return s


def case_defaults_replaced():
    def f(x, k=1):
        return x + k
    s = 0
    for i in range(N):
        s += f(i)
        if i == N // 2:
            f.__defaults__ = (100,)
    return s


def case_kwdefaults_replaced():
    def f(x, *, k=1):
        return x + k
    s = 0
    for i in range(N):
        s += f(i)
        if i == N // 2:
            f.__kwdefaults__ = {"k": 100}
    return s


def case_wrong_arguments_raise():
    f = square
    s = 0
    for i in range(N):
        s += f(i)
        if i == K:
            f = clamp
    return s


def divide(a, b):
    return a / b


def outer(a, b):
    c = a + 1
    return divide(c, b) + 1


def case_exception_in_inlined():
    s = 0.0
    for i in range(N):
        s += outer(i, K - i)
    return s


def case_exception_in_inlined_caught():
    s = 0.0
    n = 0
    for i in range(N):
        try:
            s += outer(i, i % 9)
        except ZeroDivisionError as e:
            n += 1
            tb = e.__traceback__
            lines = []
            while tb:
                lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno))
                tb = tb.tb_next
    return s, n, lines


def guarded(a, i):
    try:
        return a[i]
    except IndexError:
        return -1.0


def case_callee_with_try():
    a = np.arange(10.0)
    s = 0.0
    for i in range(N):
        s += guarded(a, i % 13)
    return s


def at(a, i, j):
    return a[i, j]


def case_index_error_in_inlined():
    a = np.ones((K, 3))
    s = 0.0
    for i in range(N):
        for j in range(3):
            s += at(a, i, j)
    return s


def count_up(n):
    k = 0
    for j in range(n):
        if j * j > n:
            return k
        k += j
    return k + 1


def case_callee_with_loop():
    s = 0
    for i in range(N):
        s += count_up(i % 30)
    return s


def collatz(n):
    k = 0
    while n > 1:
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
        k += 1
    return k


def case_callee_with_while():
    s = 0
    for i in range(1, N):
        s += collatz(i)
    return s


def store(a, i, v):
    a[i] = v


def case_callee_stores():
    a = np.zeros(N)
    for i in range(N):
        store(a, i, i * 0.5)
    return a


def case_star_args():
    def f(*xs, **kw):
        return len(xs) + kw.get("k", 0)
    s = 0
    args = (1, 2)
    for i in range(N):
        s += f(i, i) + f(*args, k=3)
    return s


class Counter:
    scale = 2

    def __init__(self):
        self.n = 0

    def bump(self, x):
        self.n += x * self.scale
        return self.n

    @property
    def twice(self):
        return 2 * self.n

    @staticmethod
    def three(x):
        return 3 * x

    def __call__(self, x):
        return x - 1


def case_methods():
    c = Counter()
    s = 0
    for i in range(N):
        s += c.bump(i) + c.twice + Counter.three(i) + c(i)
    return s, c.n


def case_instance_creation():
    s = 0
    for i in range(N):
        c = Counter()
        s += c.bump(i)
    return s


def case_global_written_in_callee():
    global shared
    shared = 0

    def f(x):
        global shared
        shared = shared + x
        return shared
    s = 0
    for i in range(N):
        s += f(i)
    return s, shared


def case_generator_expression():
    s = 0
    for i in range(N):
        s += sum(k * i for k in range(4))
    return s


def case_list_comprehension():
    s = 0
    for i in range(N):
        v = [k * i for k in range(4)]
        s += v[-1]
    return s, [x * x for x in range(N)][-3:]


def case_builtin_key_function():
    data = [(i * 7 % 31, i) for i in range(N)]
    data.sort(key=lambda p: p[0])
    return data[:5], max(range(N), key=lambda k: math.sin(k))


def case_map_filter_reduce():
    from functools import reduce
    return reduce(lambda a, b: (a * 31 + b) % 1009, map(square, filter(lambda x: x % 3, range(N))))


def case_frame_functions():
    import sys

    def who():
        return sys._getframe(1).f_lineno - sys._getframe(1).f_code.co_firstlineno
    n = 0
    for i in range(N):
        n += who()
    return n


def case_locals_in_callee():
    def f(x):
        y = x + 1
        return len(locals()) + y
    s = 0
    for i in range(N):
        s += f(i)
    return s


def case_argument_reassigned():
    def f(n):
        while n > 10:
            n -= 7
        return n
    s = 0
    for i in range(N):
        s += f(i)
    return s, i


def case_tuple_returned():
    def minmax(a, b):
        return (a, b) if a < b else (b, a)
    s = 0
    for i in range(N):
        lo, hi = minmax(i, N - i)
        s += hi - lo
    return s


def case_function_passed():
    def integrate(f, a, b, n):
        h = (b - a) / n
        t = 0.0
        for k in range(n):
            t += f(a + (k + 0.5) * h)
        return t * h
    return integrate(math.sin, 0, 1, N), integrate(lambda x: x * x, 0, 1, N), integrate(square, 0, 2, N)
