"""Traps of living inside CPython, in whole programs: each test's name carries its trap's number.

Traps that are about single accessors are tested in test_access_*.py, those about hotness, versions and namespaces in test_runtime.py,
those about signals, threads and tools in test_in_the_way.py. Each test runs a script in a fresh process; what the
interpreter does is computed there first, with hotloop not yet on.
"""

import functools

import child
import pytest
from need import needs_hotloop

pytestmark = needs_hotloop

PRELUDE = """
import sys, signal, traceback
import numpy as np
import hotloop

def same(function, *args, calls=6, threshold=5, enters=True):
    want = function(*args)
    hotloop.enable(threshold=threshold)
    for _ in range(calls):
        got = function(*args)
        assert got == want, (got, want)
    assert not enters or hotloop.stats()["entries"] > 0, hotloop.stats()
    hotloop.disable()
"""


fine = functools.partial(child.fine, PRELUDE)


forced = pytest.mark.parametrize("env", [{}, {"HOTLOOP_FORCE_EXIT": "1:3"}], ids=["plain", "forced"])


def test_t6_a_code_object_is_watched_a_bounded_number_of_times():
    fine("""
    hotloop.enable(threshold=5)
    def refused(n):
        for i in range(n):
            complex("1j")
    for _ in range(400): refused(60)
    assert hotloop.stats()["recordings"] <= 12, hotloop.stats()
    """)


@forced
def test_t12_try_and_with_around_the_work(env):
    fine("""
    class Context:
        def __init__(self): self.log = []
        def __enter__(self): return self
        def __exit__(self, kind, *rest): self.log.append(kind and kind.__name__); return True
    def f(n):
        a = np.arange(50.0)
        out = []
        for k in range(6):
            c = Context()
            try:
                with c:
                    for i in range(n):
                        a[i] += k
                a[n] = 1.0
            except IndexError as e:
                out.append((str(e), e.__traceback__.tb_lineno, i))
            else:
                out.append(i)
            out.append(tuple(c.log))
        return out, a.tobytes()
    for n in (20, 49, 50, 60): same(f, n)
    """, **env)


@forced
def test_t14_what_lies_below_the_iterator_stays(env):
    fine("""
    class Token: pass
    def total(a, n):
        s = 0.0
        for i in range(n): s += a[i]
        return s
    def f(n):
        a = np.arange(64.0)
        token = Token()
        before = sys.getrefcount(token)
        rows = []
        for k in range(4):
            for x in [token, 1, 2]:
                for y in (token, x):
                    s = 0
                    for i in range(n):
                        s += i if x is token else 1
                    rows.append((s, y is token, total(a, n)))
        x = y = None
        return rows, sys.getrefcount(token) - before
    same(f, 60)
    """, **env)


@forced
def test_t15_one_activation_inside_another(env):
    fine("""
    seen = []
    def inner(n):
        s = 0
        for i in range(n): s += i
        return s
    def on_timer(*_):
        seen.append(inner(500))
    signal.signal(signal.SIGALRM, on_timer)
    hotloop.enable(threshold=5)
    def outer(n):
        s = 0.0
        for i in range(n): s += i * 0.5
        return s
    for _ in range(10): inner(500); outer(500)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    while len(seen) < 5: assert outer(20000) == 99995000.0
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert set(seen) == {124750}
    """, **env)


@forced
def test_t17_raised_in_the_innermost_of_inlined_functions(env):
    fine("""
    def divide(a, b): return a // b
    def middle(x, y):
        z = divide(x, y)
        return z + 1
    def f(n):
        caught = []
        s = 0
        for i in range(n):
            try:
                s += middle(100, 37 - i)
            except ZeroDivisionError as e:
                caught.append([(t.name, t.lineno) for t in traceback.extract_tb(e.__traceback__)] + [str(e), i])
        return s, caught
    same(f, 60)
    """, **env)


def test_t18_generators_and_constructors_are_not_inlined():
    fine("""
    class Point:
        def __init__(self, x): self.x = x
    def pairs(n):
        for k in range(n): yield k, k * 2
    def f(n):
        s = 0
        for i in range(n):
            s += Point(i).x
            for a, b in pairs(3): s += a * b
        return s
    same(f, 60, enters=False)
    """)


@pytest.mark.parametrize("depth", [900])
def test_t20_deep_recursion_while_a_loop_is_watched(depth):
    fine(f"""
    sys.setrecursionlimit(1000)
    def down(k): return 0 if k == 0 else 1 + down(k - 1)
    def f(n):
        s = 0
        for i in range(n): s += down({depth})
        return s
    same(f, 30, threshold=2, enters=False)
    """)


@forced
def test_t25_functions_that_look_at_frames(env):
    fine("""
    def who():
        f = sys._getframe(1)
        return f.f_code.co_name, f.f_lineno, sorted(f.f_locals)
    def look(x):
        y = x + 1
        if x == 41: return who()
        return y
    def f(n):
        got = None
        s = 0
        for i in range(n):
            r = look(i)
            if i == 41: got = r
            else: s += r
        return s, got
    same(f, 60)
    """, **env)


@pytest.mark.parametrize("limit", [150, 300])
def test_t26_recursion_errors_come_at_the_same_depth(limit):
    fine(f"""
    def down(k, n):
        s = 0
        for i in range(n): s += i
        return s if k == 0 else down(k - 1, n)
    def depth():
        k = 1
        while True:
            try: down(k, 20)
            except RecursionError: return k
            k += 1
    old = sys.getrecursionlimit()
    sys.setrecursionlimit({limit})
    want = depth()
    hotloop.enable(threshold=5)
    got = [depth() for _ in range(4)]
    sys.setrecursionlimit(old)
    assert got == [want] * 4, (got, want)
    assert hotloop.stats()["entries"] > 0
    """)


@forced
def test_t36_what_was_stored_before_a_check_failed_is_there(env):
    fine("""
    def f(n, stop):
        a = np.zeros(40)
        b = np.arange(stop)
        i = -1
        try:
            for i in range(n):
                a[i] = i + 1.0
                a[i] += b[i]
        except IndexError as e:
            return a.tolist(), i, str(e)
        return a.tolist(), i
    for stop in (10, 39, 40, 50):
        for n in (20, 40, 60): same(f, n, stop)
    """, **env)
