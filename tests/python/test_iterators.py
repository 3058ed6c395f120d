"""Iterators in hot loops: what is compiled, what is refused by which name, and where iterators stand afterwards.

Exactness of values is tested by the programs iterators.py and rows.py, in all modes of test_programs.py; here it is tested
that native code did run, and what a program sees of iterators that it shares with a loop.
"""
import functools
import textwrap

import child
import pytest
from need import needs_hotloop

pytestmark = needs_hotloop

PRELUDE = """
import itertools
import numpy as np
import hotloop
from hotloop import _hotloop
hotloop.enable(threshold=2)
N = 60
a = np.linspace(-1.0, 2.0, N)
m = np.arange(N * 5.0).reshape(N, 5)
def double(x):
    return x * 2 - 1
TEXT, DATA = "ABYSS AND XYLEM", bytes(range(N))
def statuses(f):
    return [r["status"] for r in _hotloop.regions(f.__code__)]
"""


run = functools.partial(child.fine, PRELUDE)


LOOPS = {
    "enumerate array": "for i, x in enumerate(a): s += i * x",
    "enumerate from": "for i, x in enumerate(a, 5): s += i * x",
    "enumerate range": "for i, x in enumerate(range(0, 2 * N, 2)): s += i * x",
    "zip arrays": "for x, y in zip(a, a): s += x * y",
    "zip lengths": "for x, y, z in zip(a, range(N - 3), a[2:]): s += x * y - z",
    "nested": "for i, (x, (j, y)) in enumerate(zip(a, enumerate(a, 2))): s += i * x - j * y",
    "reversed range": "for i in reversed(range(N)): s = s * 0.5 + i",
    "reversed array": "for x in reversed(a): s = s * 0.5 + x",
    "rows": "for row in m: s += row[0] - row[-1] * row[2]",
    "rows by value": """
        for row in m:
            for x in row: s = s * 0.5 + x""",
    "rows zipped": """
        for i, (p, q) in enumerate(zip(m, reversed(m))):
            for x, y in zip(p, q): s += x * y - i""",
    "row of subscript": """
        for i in range(N):
            row = m[i]
            for j in range(5): s += row[j]
            row[0] = i""",
    "characters": "for ch in TEXT * 9: s += ch == 'A' or ch in 'XY'",
    "characters by index": """
        text = TEXT * 9
        for i in range(len(text)): s += ord(text[i])""",
    "bytes": "for b in DATA: s += b",
    "bytes by index": "for i in range(len(DATA)): s += DATA[i] - DATA[-i]",
    "text zipped": "for i, (ch, b) in enumerate(zip(TEXT * 9, reversed(DATA))): s += i * b - ord(ch)",
    "map of a function": "for x in map(double, a): s += x",
    "map of two": "for x in map(lambda p, q: p * q, a, range(N)): s += x",
    "map of a builtin": "for i, (x, y) in enumerate(zip(map(abs, a), map(float, range(N)))): s += i * x - y",
    "strict": "for x, y, z in zip(a, range(N), reversed(a), strict=True): s += x * y - z",
    "inner": """
        for k in range(N):
            for i, x in enumerate(a): s += i * x
            for x, y in zip(a, range(k)): s -= x * y
            for i in reversed(range(k)): s += i""",
}


@pytest.mark.parametrize("name", LOOPS)
def test_is_compiled_T34(name):
    body = textwrap.indent(textwrap.dedent(LOOPS[name]).strip(), "    ")
    run(f"def f(s):\n{body}\n    return s\n" + textwrap.dedent("""
    for _ in range(6): f(0.0)
    text = hotloop.explain(f)
    assert "compiled" in statuses(f) and text.count("not compiled") == text.count("too few trips"), (statuses(f), hotloop.explain(f))
    got, want = f(0.5), (hotloop.disable(), f(0.5))[1]
    assert got == want and type(got) is type(want), (got, want)
    """))


# FOR_ITER of these is left to the interpreter's own function; explain says so.
ASKED = {
    "map inside": ("for i, x in enumerate(map(double, a)): s += x", "(enumerate"),
    "map of many": ("for x in map(max, a, a, a, a): s += x", "(map"),
    "map of another": ("for x in map(str.isupper, TEXT * 9): s += x", "(map"),
    "filter": ("for x in filter(None, a): s += x", "(filter: test in the body"),
    "generator": ("for x in (k for k in range(N)): s += x", "(generator"),
    "generators": ("for i in range(N):\n    for x in (k for k in range(i % 3)): s += x * i", "(generator"),
    "accumulate": ("for x in itertools.accumulate(a): s += x", "(itertools.accumulate"),
    "memoryview": ("for x in memoryview(b'1' * N): s += x", "(memory"),
}

# These are asked by native code, the run at their end is there once.
PLAIN = {
    "dict": "for k in TABLE: s += k",
    "items": "for k, v in TABLE.items(): s += k * v",
    "set": "for x in SET: s += x",
    "product": "for p, q in itertools.product(range(N), range(3)): s += p * q",
    "count": "for p, q in zip(itertools.count(), a): s += p * q",
    "chain": "for x in itertools.chain(a, range(N), [1.5] * N): s += x",
    "islice": "for x in itertools.islice(itertools.count(), N): s += x",
    "bytearray": "for x in bytearray(N): s += x",
    "flat": "for x in m.flat: s += x",
    "ndenumerate": "for (i, j), x in np.ndenumerate(m): s += i * x - j",
    "ndindex": "for i, j in np.ndindex(m.shape): s += i * m[i, j] - j",
    "enumerated items": "for i, (k, v) in enumerate(TABLE.items()): s += i * k * v",
    "shared": "it = iter(a)\nfor x in it: s += x",
    "twice": "it = iter(a)\nfor x, y in zip(it, it): s += x",
    "component": "it = iter(a)\nfor x, y in zip(range(N), it): s += x",
    "strict of many": "for x in zip(*[range(N)] * 7, strict=True): s += x[0]",
    "inner": "for i in range(N):\n    for k, v in PLACES.items(): s += i * k * v",
}


@pytest.mark.parametrize("name", ASKED)
def test_is_asked_by_the_interpreter(name):
    loop, text = ASKED[name]
    run("def f(s):\n" + textwrap.indent(loop, "    ") + f"\n    return s\nTEXT = {text!r}\n" + textwrap.dedent("""
    for _ in range(6): f(0.0)
    assert TEXT in hotloop.explain(f), hotloop.explain(f)
    assert "compiled" in statuses(f) or "not compiled: native code left too often" in hotloop.explain(f), hotloop.explain(f)
    """))


@pytest.mark.parametrize("name", PLAIN)
def test_is_asked_by_native_code(name):
    run("PLACES = {1: 0.5, 2: 0.25, 3: 0.125}\nTABLE = {k: k * 0.5 for k in range(N)}\nSET = set(range(N))\ndef f(s):\n" + textwrap.indent(PLAIN[name], "    ") + "\n    return s\n" + textwrap.dedent("""
    for _ in range(6): f(0.0)
    assert "compiled" in statuses(f), hotloop.explain(f)
    before = hotloop.stats()["runs"]
    got = f(0.5)
    runs = hotloop.stats()["runs"] - before
    assert runs <= 2 * N + 3 if "range(N):\\n" in LOOP else runs <= 1, (runs, hotloop.explain(f))
    want = (hotloop.disable(), f(0.5))[1]
    assert got == want and type(got) is type(want), (got, want)
    """).replace("LOOP", repr(PLAIN[name])))


def test_iterators_go_on_where_they_were_T34():
    run("""
    def walk(it, stop):
        last = None
        for x in it:
            last = x
            if repr(x) == stop:
                break
        return last
    for k in range(8):
        for make in (lambda: range(N), lambda: enumerate(a), lambda: zip(range(N), m), lambda: reversed(a),
                     lambda: map(double, range(N)), lambda: zip(a, range(N), strict=True), lambda: map(abs, reversed(a))):
            it = iter(make())
            walk(it, repr(list(make())[N // 2]))
            rest = list(it)
            want = list(make())[N // 2 + 1:]
            assert len(rest) == len(want) and all(np.all(p[-1] == q[-1]) if type(p) is tuple else p == q for p, q in zip(rest, want))
            assert list(it) == []
    """)


def test_references_are_given_back_T34():
    run("""
    import sys, gc
    b = np.arange(N * 4.0).reshape(N, 4)
    def f(k):
        s = 0.0
        for i, (row, x) in enumerate(zip(b, a)):
            for y in row:
                s += y * x
            if i == k:
                break
        return s, row
    for _ in range(5): f(N)
    before = sys.getrefcount(b), sys.getrefcount(a)
    for k in range(200): f(k % (N + 5))
    gc.collect()
    assert (sys.getrefcount(b), sys.getrefcount(a)) == before
    """, HOTLOOP_FORCE_EXIT="1:3")
