"""Frames: closures and their cells, functions made anew, bound methods, class bodies, recursion near its limit."""
import sys
import threading

import numpy as np

N = TRIPS


def case_nonlocal_sum():
    total = 0

    def add(x):
        nonlocal total
        total += x
    for i in range(N):
        add(i)
    return total


def case_nonlocal_made_anew():
    out = []
    for k in range(5):
        total = k

        def add(x):
            nonlocal total
            total += x
        for i in range(N):
            add(i)
        out.append(total)
    return out


def case_nonlocal_and_own_use():
    total = 0

    def add(x):
        nonlocal total
        total += x
    s = 0
    for i in range(N):
        add(i)
        s += total
        total -= 1
    return total, s


def counter(start):
    n = start

    def step(by=1):
        nonlocal n
        n += by
        return n

    def get():
        return n
    return step, get


def drive(step, get, n):
    s = 0
    for i in range(n):
        s += step() - get()
        s += step(i)
    return s, get()


def case_two_closures_of_one_cell():
    out = []
    for k in range(4):
        step, get = counter(k)
        out.append(drive(step, get, N))
    return out


def case_closures_of_other_cells():
    out = []
    a, b = counter(0), counter(100)
    out.append(drive(a[0], a[1], N))
    out.append(drive(a[0], b[1], N))
    out.append(drive(b[0], b[1], N))
    out.append(drive(b[0], a[1], N))
    return out, a[1](), b[1]()


def case_cell_becomes_float():
    total = 0

    def add(x):
        nonlocal total
        total += x
    for i in range(N):
        add(i if i < N - 9 else 0.5)
    return total


def case_cell_unbound():
    def put(x):
        nonlocal late
        late = x
        return late

    def look():
        return late
    s = 0
    try:
        for i in range(N):
            s += put(i)
            if i == N - 4:
                del late
                s += look()
    except NameError as e:
        return s, type(e).__name__, str(e)
    late = 0


def case_cell_not_yet_bound():
    def look(i):
        if i > N - 5:
            return late
        return i
    s = 0
    try:
        for i in range(N):
            s += look(i)
    except NameError as e:
        return s, str(e)
    late = 1


def case_exception_keeps_cell():
    total = 0

    def add(x):
        nonlocal total
        total += x
        return 10 // (N - 3 - x)
    s = 0
    try:
        for i in range(N):
            s += add(i)
    except ZeroDivisionError as e:
        return total, s, e.__traceback__.tb_next.tb_lineno - e.__traceback__.tb_lineno


def case_closure_of_closure():
    a = b = 0

    def inner(x):
        nonlocal b
        b += x

    def outer(x):
        nonlocal a
        a += x
        inner(a)
    for i in range(N):
        outer(i)
    return a, b


def case_callee_with_loop_over_cell():
    total = 0.0

    def fill(n):
        nonlocal total
        for j in range(n):
            total += j * 0.5
    for i in range(N):
        fill(i % 7)
    return total


def case_lambda_made_anew():
    out = []
    for k in range(5):
        f = lambda x, k=2: x * k + 1
        s = 0
        for i in range(N):
            s += f(i)
        out.append(s)
    return out


def case_lambda_with_changing_default():
    out = []
    for k in range(5):
        f = lambda x, k=k: x * k + 1
        s = 0
        for i in range(N):
            s += f(i)
        out.append(s)
    return out


def apply(f, n):
    s = 0
    for i in range(n):
        s += f(i)
    return s


def case_different_functions_passed():
    out = []
    for k in range(3):
        out += [apply(lambda x: x + 1, N), apply(lambda x: x * 2, N), apply(abs, N)]
    return out


def case_closure_over_array():
    data = np.arange(20.0)

    def at(i):
        return data[i % 20]
    s = apply(at, N)
    data = np.arange(20)
    return s, apply(at, N)


def keyword_only(a, /, b, *, c, d=4):
    return a + 2 * b + 3 * c + d


def case_keyword_only():
    s = 0
    for i in range(N):
        s += keyword_only(i, 1, c=2) + keyword_only(i, b=3, c=i, d=0)
    return s


def case_keyword_only_nested():
    out = []
    for k in range(4):
        def f(x, *, scale=3, shift):
            return x * scale + shift
        s = 0
        for i in range(N):
            s += f(i, shift=k)
        out.append(s)
    return out


def case_positional_only_by_name_raises():
    s = 0
    try:
        for i in range(N):
            s += i
            if i == N - 3:
                s += keyword_only(a=1, b=2, c=3)
    except TypeError as e:
        return s, str(e)


class Adder:
    total = 0
    kind = "adder"

    def __init__(self):
        self.total = 0

    def add(self, x):
        self.total += x
        return self.total

    @classmethod
    def make(cls, x):
        return x + len(cls.__name__)

    @classmethod
    def plain(cls, x):
        return x + 1


def case_bound_method_kept():
    a = Adder()
    add = a.add
    s = 0
    for i in range(N):
        s += add(i)
    return s, a.total


def case_bound_methods_of_two_objects():
    a, b = Adder(), Adder()
    s = 0
    for add in (a.add, b.add, a.add):
        for i in range(N):
            s += add(i)
    return s, a.total, b.total


def case_bound_method_made_in_loop():
    a = Adder()
    s = 0
    for i in range(N):
        f = a.add
        s += f(i)
    return s, a.total, f.__self__ is a, f(1)


def case_bound_method_and_object():
    a = Adder()
    add = a.add
    for i in range(N):
        add(i)
        a.total += 1
    return a.total


def case_class_method():
    a = Adder()
    s = 0
    for i in range(N):
        s += a.plain(i) + Adder.plain(i)
    return s


def case_class_method_with_len():
    s = 0
    for i in range(N):
        s += Adder.make(i)
    return s


def case_class_body():
    class Body:
        total = 0
        for i in range(N):
            total += i
        for i in range(N):
            total += i * 0.5

        def helper(x):
            return x + 1
        for i in range(N):
            total += helper(i)
    return Body.total, sorted(k for k in vars(Body) if not k.startswith("__"))


def case_class_body_uses_outer():
    scale = 3

    class Body:
        total = 0
        for i in range(N):
            total += i * scale
    return Body.total


def case_generator_frame():
    def gen(n):
        s = 0
        for k in range(5):
            for i in range(n):
                s += i
            yield s
    return list(gen(N)), sum(gen(N))


def case_generator_with_nonlocal():
    total = 0

    def gen():
        nonlocal total
        for k in range(4):
            for i in range(N):
                total += i
            yield total
    return list(gen()), total


def case_nested_three_deep():
    def a(x):
        def b(y):
            return y + x
        s = 0
        for i in range(N):
            s += b(i)
        return s
    return [a(k) for k in range(4)]


def deep(n):
    s = 0
    for i in range(12):
        s += i
    if n:
        return s + deep(n - 1)
    return s


def one(x):
    return two(x) + 1


def two(x):
    return three(x) + 1


def three(x):
    return x + 1


def loop_below(n, depth):
    """Calls that are inlined, at every depth up to the limit."""
    if depth:
        return loop_below(n, depth - 1)
    s = 0
    for i in range(n):
        s += one(i)
    return s


def levels():
    f, n = sys._getframe(), 0
    while f is not None:
        f, n = f.f_back, n + 1
    return n


def case_recursion_limit():
    out = []
    loop_below(N, 1)
    old = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(levels() + 60)
        for depth in range(40, 66):
            try:
                out.append(loop_below(N, depth))
            except RecursionError as e:
                out.append(str(e)[:40])
    finally:
        sys.setrecursionlimit(old)
    return out


def self_calling(n):
    s = 0
    for i in range(4):
        s += i
        if i == 3 and n:
            s += self_calling(n - 1)
    return s


def case_recursion_in_the_loop():
    return [self_calling(k) for k in range(0, N, 5)]


def case_recursion_in_the_loop_limit():
    out = []
    old = sys.getrecursionlimit()
    self_calling(30)
    try:
        for limit in (70, 90, 130):
            sys.setrecursionlimit(levels() + limit)
            lo, hi = 0, 400
            while lo < hi:
                mid = (lo + hi + 1) // 2
                try:
                    self_calling(mid)
                    lo = mid
                except RecursionError:
                    hi = mid - 1
            out.append(lo)
    finally:
        sys.setrecursionlimit(old)
    return out


def even(n, log):
    s = 0
    for i in range(5):
        s += odd(n - 1, log) if i == 4 and n > 0 else i
    return s


def odd(n, log):
    if n <= 0:
        log.append(levels())
        return 1
    return even(n - 1, log) + 1


def case_mutual_recursion():
    log = []
    out = [even(k, log) for k in range(2, 24, 3)]
    return out, [x - log[0] for x in log]


def case_frame_depth_in_callee():
    seen = []

    def look(i):
        if i == N - 3:
            seen.append(levels())
            seen.append(sys._getframe(1).f_code.co_name)
        return i
    base = levels()
    s = 0
    for i in range(N):
        s += look(i)
    return s, seen[0] - base, seen[1]


def case_threads():
    a = Adder()
    gate = threading.Event()

    def other():
        gate.wait()
        a.total = 0.5
    for k in range(4):
        gate.clear()
        t = threading.Thread(target=other)
        t.start()
        for i in range(N):
            a.total += i
        gate.set()
        t.join()
    return a.total


def case_functions_that_die_while_they_are_recorded():
    out = []
    for k in range(min(N, 100)):
        space = {}
        exec(f"def f():\n    t = {k}\n    for x in (1, 2, 3, 4):\n        t += x\n    return t", space)
        out.append(space.pop("f")())  # no cycle: it dies here
    return out
