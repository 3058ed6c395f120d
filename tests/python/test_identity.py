"""T29: variables that are one object in the interpreter are one object after native code, and those that are not are not.

All loops of the table run in one child process: first by the interpreter, then by hotloop. A function returns what `is` says
of its variables, and their values.
"""
import os
import subprocess
import sys

import pytest
from need import needs_hotloop

pytestmark = needs_hotloop

# name: body of f(n)
LOOPS = {
    "copy": """
        x = y = z = 0.5
        for i in range(n):
            x = i * 0.5
            y = x
            z = x + 0.0
        return x is y, x is z, x == z
        """,
    "copy, different before": """
        x, y = 0.5, 1.5
        for i in range(n):
            x = i * 0.5
            y = x
        return x is y, y
        """,
    "copied on one path": """
        x = y = 0.5
        for i in range(n):
            if i % 3 == 1: continue
            x = i * 0.5
            y = x
        return x is y, x
        """,
    "copied on one path, different before": """
        x, y = 0.5, 1.5
        for i in range(n):
            if i % 3 == 1: continue
            x = i * 0.5
            y = x
        return x is y, x
        """,
    "copied behind a join": """
        x = y = 0.5
        for i in range(n):
            if i & 1: x = i * 0.5
            else: x = i * 0.25
            y = x
        return x is y, x
        """,
    "copied in both arms": """
        x = y = 0.5
        for i in range(n):
            if i & 1: x = y = i * 0.5
            else: y = x = i * 0.25
        return x is y, x
        """,
    "copied in both arms, leaving between": """
        x = y = 0.5
        for i in range(n):
            if i & 1: x = y = i * 0.5
            else: y = x = i * 0.25
            if i == n - 2: break
        return x is y, x
        """,
    "three names": """
        x = y = z = 0.5
        for i in range(n):
            x = i * 0.5
            y = x
            z = y
        return x is y, y is z, x
        """,
    "exchange": """
        a, b, t = 0.25, 0.5, 0.0
        for i in range(n):
            t = a + b * 0.5
            a = b
            b = t
        return a is b, b is t, a, b
        """,
    "while": """
        x = y = 0.5
        i = 0
        while i < n:
            x = i * 0.5
            y = x
            i += 1
        return x is y, x
        """,
    "inner loop": """
        x, y = 0.5, 1.5
        total = 0
        for k in range(5):
            for i in range(n):
                x = i * 0.5
                y = x
            total += i
        return x is y, x, total
        """,
    "inner loop, then parted": """
        x, y = 0.5, 1.5
        for k in range(5):
            for i in range(n):
                x = i * 0.5
                y = x
            y = x * 1.0
        return x is y, x
        """,
    "inner while loop": """
        x, y = 0.5, 1.5
        for k in range(5):
            i = 0
            while i < n:
                x = i * 0.5
                y = x
                i += 1
        return x is y, x
        """,
    "break": """
        x, y = 0.5, 1.5
        for k in range(7):
            for i in range(n):
                x = i * 0.5
                y = x
                if i * 2 > n + k: break
        return x is y, x
        """,
    "one object when it was recorded, then not": """
        best = run = 0
        prev = -1
        a = np.arange(n) // 7 % 2
        for i in range(n):
            if a[i] == prev:
                run += 1
            else:
                run = 1
                prev = a[i]
            if run > best:
                best = run
        return best, run, prev
        """,
    "kept where it was not assigned": """
        x = y = 1e300
        for i in range(n):
            if i < 0: x = i * 0.5
        return x is y, x
        """,
    "kept up to a rare assignment": """
        x = y = 1e300
        for k in range(3):
            for i in range(n):
                if i == 299 and k == 1: x = i * 0.5
        return x is y, x
        """,
    "the least of some": """
        start = 1e300
        best = start
        a = np.arange(n, 0, -1) * 0.5
        limit = a[n // 2]
        for i in range(n):
            if a[i] < limit and a[i] * 2.0 < best: best = a[i] * 1.0
        return best is start, best
        """,
    "chosen": """
        p, q, x = 0.5, 1.5, 2.5
        hits = 0
        for i in range(n):
            x = p if i & 1 else q
            if i % 5 == 4: x = x * 1.0
            hits += (x is p) if False else 1
        return x is p, x is q, x, hits
        """,
    "continue leaves it": """
        x = y = 2 ** 50
        for i in range(n):
            if i < n: continue
            x = i
        return x is y, x
        """,
    "what came in, or a constant, at two back edges": """
        s, t = 0.0, 2.5
        for i in range(n):
            if i % 2:
                t = s
            else:
                t = 1.5
        return t, t is s
        """,
    "what came in, in an inner loop": """
        u, t = n + 1000, 0
        m = np.zeros(8)
        for k in range(1, n):
            for i, x in zip(range(8), m):
                m[i] = t - x
                t = u
            t = k
        return t, t is u, m.tolist()
        """,
    "one object until a handler changes one": """
        a = np.arange(8.0)
        m = np.arange(64.0).reshape(8, 8)
        v = 0.0
        for r in range(4):
            for i, x in enumerate(a, 1):
                u = x
                try:
                    for j in range(3):
                        v = v % 1009 * m[i, 1]
                except IndexError:
                    u = 1e10
        return x is u, type(x), type(u), x, u, v
        """,
    "large ints": """
        x = y = 2 ** 40
        for i in range(n):
            x = x + i
            y = x
        return x is y, x
        """,
    "NumPy scalars": """
        a = np.arange(n) * 0.5
        x = y = a[0]
        for i in range(n):
            x = a[i]
            y = x
        return x is y, x is a[n - 1], x
        """,
    "complex": """
        x = y = 1j
        for i in range(n):
            x = x * 0.5 + i
            y = x
        return x is y, x
        """,
}

# Objects that were made in the loop, and are one or two depending on the way that the last trips went: see "Known gap" in the README.
GAPS = {
    "parted on one path": """
        x = y = 0.5
        for i in range(n):
            x = i * 0.5
            y = x
            if i % 7 == 6: y = x + 0.0
        return x is y, x
        """,
}

CHILD = """
import sys
import numpy as np
import hotloop
LOOPS = {loops!r}
failed = []
entered = 0
for name, body in LOOPS.items():
    def function():
        space = dict(np=np)
        exec("def f(n):" + body, space)
        return space["f"]
    plain = function()
    want = [plain(n) for n in (300, 301, 302, 303, 1, 2, 3)]
    f = function()
    hotloop.enable(threshold={threshold})
    before = hotloop.stats()["entries"]
    for _ in range(12):
        got = [f(n) for n in (300, 301, 302, 303, 1, 2, 3)]
        if got != want: failed.append((name, got, want))
    if hotloop.stats()["entries"] == before: failed.append((name, "never entered"))
    if "VerifierFailed" in hotloop.stats()["refusals"]: failed.append((name, "wrong IR"))
    hotloop.disable()
for line in failed: print(line)
print("end")
"""


@pytest.mark.parametrize("threshold", [2, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("env", [{}, {"HOTLOOP_FORCE_EXIT": "3:5"}, {"HOTLOOP_BACKEND": "evaluator"}, {"HOTLOOP_VERIFY": "1"}],
                         ids=["plain", "forced", "evaluator", "verify"])
def test_t29_one_object_per_identity(env, threshold):
    check(LOOPS, env, threshold)


@pytest.mark.xfail(strict=True, reason="such an identity is known only when it runs")
@pytest.mark.parametrize("name", GAPS)
def test_t29_identity_that_depends_on_the_path(name):
    check({name: GAPS[name]}, {}, 2)


def check(loops, env, threshold):
    r = subprocess.run([sys.executable, "-X", "faulthandler", "-c", CHILD.format(loops=loops, threshold=threshold)], capture_output=True, text=True,
                       timeout=120, env=dict(os.environ, **env))
    assert r.returncode == 0 and r.stdout == "end\n", r.stdout + r.stderr
