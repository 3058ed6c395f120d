"""Loops in generators, coroutines, comprehensions, class bodies and exec'd text."""
import asyncio

import numpy as np

N = TRIPS


def gen_totals(n):
    for k in range(4):
        s = 0
        for i in range(n):
            s += i * k
        yield s


def case_inner_loop_without_yield():
    return list(gen_totals(N))


def squares(n):
    for i in range(n):
        yield i * i


def case_loop_over_generator():
    s = 0
    for x in squares(N):
        s += x
    return s


def case_generator_yield_in_loop():
    g = squares(N)
    s = 0
    while True:
        try:
            s += next(g)
        except StopIteration:
            break
    return s


def case_generator_send():
    def acc():
        t = 0
        while True:
            x = yield t
            if x is None:
                return
            t += x
    g = acc()
    next(g)
    for i in range(N):
        v = g.send(i)
    g.close()
    return v


def case_generator_throw():
    def worker():
        n = 0
        while True:
            try:
                yield n
            except ValueError:
                n += 100
            s = 0
            for i in range(20):
                s += i
            n += s % 7
    g = worker()
    next(g)
    for i in range(N // 2):
        v = g.throw(ValueError) if i % 5 == 0 else next(g)
    return v


def case_yield_from():
    def both():
        yield from squares(N)
        yield from range(N)
    s = 0
    for x in both():
        s = s * 3 % 10007 + x
    return s


def case_generator_closed_early():
    log = []

    def g():
        try:
            for i in range(N * 2):
                yield i
        finally:
            log.append("closed")
    s = 0
    for x in g():
        s += x
        if x == N:
            break
    return s, log


def case_generator_exception():
    def g():
        for i in range(N):
            yield 10 / (N - 6 - i)
    s = 0
    for x in g():
        s += x
    return s


def case_coroutine():
    async def inner(k):
        s = 0
        for i in range(N):
            s += i * k
        return s

    async def main():
        t = 0
        for k in range(5):
            t += await inner(k)
            await asyncio.sleep(0)
        return t
    return asyncio.run(main())


def case_async_for():
    async def agen():
        for i in range(N):
            yield i

    async def main():
        s = 0
        async for x in agen():
            s += x
        return s
    return asyncio.run(main())


def case_gather():
    async def w(k):
        s = 0
        for j in range(3):
            for i in range(N // 3):
                s += i * k
            await asyncio.sleep(0)
        return s

    async def main():
        return await asyncio.gather(*[w(k) for k in range(4)])
    return asyncio.run(main())


def case_comprehensions():
    a = np.arange(N) * 0.5
    v = [a[i] * 2 for i in range(N)]
    d = {i: a[i] for i in range(N) if i % 3}
    s = {i % 7 for i in range(N)}
    return v[-2:], sum(d.values()), s


def case_nested_comprehension():
    return sum([sum([i * j for j in range(5)]) for i in range(N)])


def case_comprehension_error():
    return [10 // (N - 6 - i) for i in range(N)]


def case_genexpr_sum():
    a = np.arange(N) * 0.5
    return sum(a[i] for i in range(N)), max(x * x for x in range(N))


def case_class_body():
    class Table:
        total = 0
        for i in range(N):
            total += i
        names = []
        for k in range(N):
            if k % 20 == 0:
                names.append(k)
    return Table.total, Table.i, Table.names, sorted(x for x in vars(Table) if not x.startswith("__"))


def case_class_body_arrays():
    class Grid:
        a = np.zeros(N)
        for i in range(N):
            a[i] = i * 0.5
        del i
    return Grid.a, hasattr(Grid, "i")


def case_exec_string():
    ns = {"n": N}
    exec("s = 0\nfor i in range(n):\n    s += i * i\nelse:\n    t = s\n", ns)
    ns.pop("__builtins__")
    return ns


def case_exec_two_dicts():
    loc = {}
    exec("s = 0\nfor i in range(n):\n    s += i\n    k = i % 3\n", {"n": N}, loc)
    return loc


def case_exec_custom_mapping():
    class M(dict):
        def __getitem__(self, k):
            if k == "magic":
                return 7
            return dict.__getitem__(self, k)
    loc = M()
    exec("s = 0\nfor i in range(n):\n    s += magic\n", {"n": N}, loc)
    return dict(loc)


def case_exec_same_text_repeatedly():
    out = []
    for k in range(6):
        ns = {"n": N, "k": k}
        exec("s = 0.0\nfor i in range(n):\n    s += i * k\n", ns)
        out.append(ns["s"])
    return out


def case_exec_error_line():
    ns = {"n": N}
    exec("s = 0\nfor i in range(n):\n    s += 1\n    s += 10 // (n - 6 - i)\n", ns)
    return ns["s"]


def case_eval_expression():
    s = 0
    for i in range(N):
        s += eval("i * 2")
    return s


def case_lambda_with_loop_in_comprehension():
    f = lambda n: [k * k for k in range(n)]  # noqa: E731
    s = 0
    for i in range(N):
        s += f(i % 6)[-1] if i % 6 else 0
    return s


def case_iterator_protocol():
    class Up:
        def __init__(self, n):
            self.n = n
            self.k = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.k >= self.n:
                raise StopIteration
            self.k += 1
            return self.k
    s = 0
    for x in Up(N):
        s += x
    return s, x


def case_getitem_protocol():
    class Seq:
        def __getitem__(self, i):
            if i >= N:
                raise IndexError
            return i * 2
    s = 0
    for x in Seq():
        s += x
    return s


def case_for_over_things():
    s = 0
    for x in [1, 2.5, True] * (N // 3):
        s += x
    for c in "abc" * (N // 3):
        s += ord(c)
    for b in b"xyz" * (N // 3):
        s += b
    for k in dict.fromkeys(range(N)):
        s += k
    for t in tuple(range(N)):
        s += t
    return s


def case_for_over_arrays():
    s = 0
    for dt in (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_):
        for x in (np.arange(N) % 100).astype(dt):
            s = s + x
    return s, type(s).__name__, x, type(x).__name__


def case_for_over_strided_and_reversed():
    a = np.arange(3 * N) * 1.0
    s = 0.0
    for x in a[::3]:
        s = s * 0.5 + x
    for x in a[::-2]:
        s = s * 0.5 + x
    return s


def case_for_over_2d():
    a = np.arange(3 * N).reshape(N, 3) * 1.0
    s = 0.0
    for row in a:
        for x in row:
            s = s * 0.5 + x
    for x, y, z in a:
        s += x * y - z
    return s


def case_for_over_0d_raises():
    s = 0
    for a in [np.arange(3)] * N + [np.array(5)]:
        for x in a:
            s += x
    return s


def case_array_changed_while_iterating():
    a = np.arange(N) * 1.0
    s = 0.0
    for x in a:
        s += x
        a[:] = a + 1
    return s


def case_list_changed_while_iterating():
    v = [1]
    s = 0
    for x in v:
        s += x
        if len(v) < N:
            v.append(x + 1)
    return s, len(v)


def case_array_rebound_while_iterating():
    a = np.arange(N) * 1.0
    s = 0.0
    for x in a:
        s += x
        a = None
    return s
