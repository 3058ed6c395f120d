"""Loops that make few trips sleep between the starts of their code: they are still found when they grow, nest, or run often."""
import functools

import child
from need import needs_hotloop

pytestmark = needs_hotloop

fine = functools.partial(child.fine, """
import sys
import hotloop
from hotloop import _hotloop
def compiled(f):
    return [r for r in _hotloop.regions(getattr(f, "__code__", f)) if r["status"] == "compiled"]
seen = []
def watch(code, at, to):
    seen.append((at, to))
""")


def test_a_short_loop_that_becomes_long_is_compiled():
    fine("""
    hotloop.enable()
    for kind in (list, tuple, iter):
        def total(values):
            s = 0
            for x in values:
                s += x
            return s
        for _ in range(3):
            assert total(kind(range(16))) == 120
        for _ in range(3):
            assert total(kind(range(50_000))) == 1249975000
        assert compiled(total), kind
    """)


def test_many_short_runs_make_it_hot():
    fine("""
    hotloop.enable()
    def total(values):
        s = 0.0
        for x in values:
            s += x
        return s
    values = [0.5] * 40
    def driver():
        out = 0.0
        for k in range(3000):
            out += total(values)
        return out
    assert driver() == 60000.0
    import time
    time.sleep(0.03)
    assert driver() == 60000.0
    assert compiled(total) or compiled(driver)
    """)


def test_inner_loop_that_slept_is_found_in_a_nest():
    fine("""
    hotloop.enable()
    def f(sizes):
        s = 0
        for n in sizes:
            for k in range(n):
                s += k
        return s
    sizes = [3, 4] + [2000] * 5
    want = sum(n * (n - 1) // 2 for n in sizes)
    assert f(sizes) == want
    assert compiled(f)
    """)


def test_a_list_that_grows_while_it_is_walked():
    fine("""
    hotloop.enable()
    def walk(n):
        queue = [0]
        for k in queue:
            if len(queue) < n:
                queue.append(k + 1)
        return len(queue)
    def walk_alias(queue, n, more):
        s = 0
        for k in queue:
            if more(queue, n):
                s += k
        return s
    def more(queue, n):
        if len(queue) < n:
            queue.append(len(queue))
        return True
    for _ in range(3):
        assert walk(5000) == 5000
        assert walk_alias([1], 3000, more) == sum(range(1, 3000)) + 1
    assert hotloop.stats()["loops_hot"] >= 2
    """)


def test_loops_with_continue_and_break_and_else():
    fine("""
    hotloop.enable()
    def f(values):
        s = 0
        for x in values:
            if x % 3 == 0:
                continue
            if x > 90_000:
                break
            s += x
        else:
            s += 1
        return s
    def plain(values):
        s = 0
        for x in values:
            if x % 3 and x <= 90_000:
                s += x
            elif x % 3:
                return s
        return s + 1
    for n in (5, 20, 3, 60_000, 7, 100_000, 100_000):
        assert f(range(n)) == plain(range(n)), n
    assert compiled(f)
    """)


def test_module_code_and_other_tools():
    fine("""
    hotloop.enable()
    source = "out = 0\\n" + "".join(f"for x in names:\\n    out += len(x) + {k}\\n" for k in range(50))
    source += "for x in range(5000):\\n    out += x\\n"
    code = compile(source, "m", "exec")
    space = {"names": ["a", "bb"] * 8}
    exec(code, space)
    assert space["out"] == 50 * 24 + 16 * sum(range(50)) + sum(range(5000))
    assert compiled(code)
    # A tool that comes while loops sleep sees every back edge.
    def g(values):
        s = 0
        for x in values:
            s += x
        return s
    g([1, 2, 3])
    m = sys.monitoring
    m.use_tool_id(3, "other")
    m.register_callback(3, m.events.JUMP, watch)
    m.set_local_events(3, g.__code__, m.events.JUMP)
    for k in range(5):
        del seen[:]
        assert g([1, 2, 3]) == 6
        assert len(seen) == 3, seen
    m.set_local_events(3, g.__code__, 0)
    m.free_tool_id(3)
    for n in (3, 3, 20_000, 20_000):
        assert g(list(range(n))) == n * (n - 1) // 2
    assert compiled(g)
    hotloop.disable()
    assert m.get_local_events(5, g.__code__) == 0 if m.get_tool(5) else True
    hotloop.enable()
    for n in (3, 3, 20_000, 20_000):
        assert g(list(range(n))) == n * (n - 1) // 2
    """)


def test_a_loop_in_a_generator_never_sleeps():
    fine("""
    hotloop.enable()
    def gen(values):
        for x in values:
            yield x + 1
    assert sum(gen(range(10))) == 55
    assert sum(gen(range(3000))) == sum(range(3001))
    """)


def test_starts_are_not_counted_for_ever():
    fine("""
    hotloop.enable()
    def f(values):
        for x in values:
            pass
    for _ in range(200):
        f((1, 2))
    import time
    t0 = time.perf_counter()
    for _ in range(100_000):
        f((1,))
    assert time.perf_counter() - t0 < 2
    """)
