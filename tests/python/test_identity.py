"""T29: variables that are one object in the interpreter are one object after native code, and those that are not are not.
Where that depends on the way that the last trips went, too.

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
    "round of an int": """
        s = 1000
        for i in range(n):
            t = s
            t -= i + 700
            u = round(t, 1)
            v = round(t)
        return t is u, t is v, t
        """,
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
    "parted on one path": """
        x = y = 0.5
        for i in range(n):
            x = i * 0.5
            y = x
            if i % 7 == 6: y = x + 0.0
        return x is y, x
        """,
    "the least and where it is": """
        best, at, v = 1e300, -1, 0.0
        for i in range(n):
            v = (i * 7919 % 1009) * 0.5
            if v < best:
                best = v
                at = i
        return best is v, at is i, best, at
        """,
    "the greatest, often the last": """
        best, at, v = -1e300, -1, 0.0
        for i in range(n):
            v = i * 0.5
            if v > best:
                best = v
                at = i
        return best is v, at is i, best, at
        """,
    "the greatest by max": """
        best, other, v = -1e300, 1e300, 0.0
        for i in range(n):
            v = (i * 7919 % 1009) * 0.5
            best = max(best, v)
            other = min(v, other)
        w = v
        for i in range(n):
            v = (i * 7919 % 1013) * 0.5
            w = max(v, w, i * 0.25)
        return best is v, other is v, best is other, w is v, best, other, w
        """,
    "the last that was odd": """
        x, z = 0.0, 1.0
        for i in range(n):
            x = i * 0.5
            if i % 2: z = x
        return x is z, z
        """,
    "the one before": """
        x = last = before = 0.0
        for i in range(n):
            if i % 3: before = last
            x = i * 0.25 if i % 5 else last
            last = x
        return x is last, last is before, x is before, x, last, before
        """,
    "set back to a constant": """
        s, zero, t = 0.0, 0.0, 1.0
        for i in range(n):
            s += i
            if i % 4 == 3:
                s = 0.0
            t = s if i % 3 else 0.0
        return s is zero, t is s, t is zero, s, t
        """,
    "a constant, or what came in": """
        s, t, u = 1.5, 2.5, 3.5
        start = n * 0.5
        for i in range(n):
            if i % 3 == 0: s = start
            elif i % 3 == 1: s = 2.5
            else: s = i * 0.5
            u = s
        return s is start, s is t, u is s, u is t, s
        """,
    "an inner loop without trips": """
        x, y = 0.5, 1.5
        for k in range(n):
            for i in range(k % 3):
                x = i * 0.5 + k
                y = x
            if k % 5 == 4: y = k * 1.5
        return x is y, x, y
        """,
    "an inner loop without trips, and a copy": """
        x, w, v = 0.5, 1.5, 2.5
        for k in range(n):
            x = k * 0.5
            w = x
            v = w
            for i in range(k % 4 - 1):
                x = x + i
                if i: v = x
        return x is w, v is w, x is v, x, w, v
        """,
    "an inner while loop without trips": """
        x, w = 0.5, 1.5
        z = 0.0
        for k in range(n):
            x = k * 0.5
            w = x
            i = k % 3
            s = 0.0
            while i > 0:
                x = x + i
                s += x
                i -= 1
            z = s
        return x is w, z is s, s is 0.0, x, w, z
        """.replace("s is 0.0", "s == 0.0"),
    "a sum of no trips": """
        zero = 0.0
        s = t = 1.0
        for k in range(n):
            s = 0.0
            for i in range(k % 2):
                s += i + k
            t = s
        return s is zero, t is s, s
        """,
    "while with else and break": """
        x = y = z = 0.5
        i = 0
        while i < n:
            i += 1
            x = i * 0.5
            if i % 4 == 0:
                y = x
                continue
            z = y
            if i > n - 2:
                x = z
                break
        else:
            z = x
        return x is y, y is z, x is z, x, y, z
        """,
    "three ways": """
        a, b, c = 0.25, 0.5, 0.75
        for i in range(n):
            if i % 3 == 0: a = b
            elif i % 3 == 1: b = c
            else: c = i * 0.5
            if i % 7 == 0: a = i * 1.5
        return a is b, b is c, a is c, a, b, c
        """,
    "in a list": """
        x = 0.5
        out = []
        for i in range(n):
            if i % 3: x = i * 0.5
            if i % 2: out.append(x)
        return [a is b for a, b in zip(out, out[1:])], out[-1] is x if out else None, x
        """,
    "in a list, one of two": """
        x = y = 0.5
        out = [0.0]
        for i in range(n):
            x = i * 0.5
            if i % 3: y = x
            out.append(x)
            if i % 4 == 0: out.append(y)
        return [a is b for a, b in zip(out, out[1:])], out[-1] is x, out[-1] is y, x is y
        """,
    "in a list, set back": """
        s = 0.0
        zero = 0.0
        out = [1.0] * 7
        for i in range(n):
            s += i
            if i % 4 == 3: s = 0.0
            out[i % 7] = s
        return [v is s for v in out], [v is zero for v in out]
        """,
    "handed to the interpreter": """
        x = y = 0.5
        seen = {}
        for i in range(n):
            x = i * 0.5
            if i % 3: y = x
            seen[i % 11] = y
            if i % 5 == 4: x = y
        return x is y, [v is y for v in seen.values()], [v is x for v in seen.values()]
        """,
    "pairs": """
        x = 0.5
        p = q = (0.5, 1.5)
        for i in range(n):
            x = i * 0.5
            if i % 3: p = (x, i)
            if i % 4 == 1: q = p
        return p is q, p[0] is x, q[0] is p[0], p, q
        """,
    "two forms": """
        x, y = 0.5, 1
        for i in range(n):
            if i % 2: x = i * 0.5
            else: x = i + 1000
            if i % 3: y = x
        return x is y, x, y
        """,
    "by a function": """
        def least(a, b):
            return a if a < b else b
        x, m = 0.5, 1e300
        for i in range(n):
            x = (i * 7919 % 1009) * 0.5
            m = least(m, x)
        return m is x, m
        """,
    "a loop in a function": """
        def last(k):
            a = b = 0.5
            for i in range(k):
                a = i * 0.5 + k
                if i % 2: b = a
            return a, b
        a, b = 0.5, 1.5
        for k in range(n):
            a, b = last(k % 5)
        return a is b, a, b
        """,
    "parts are 257 and more": """
        x = y = 256
        for i in range(n):
            x = i
            if i % 5 < 3: y = x
        return x is y, x, y
        """,
    "NumPy scalars at times": """
        a = np.arange(n + 1) * 0.5
        x = y = a[0]
        for i in range(n):
            x = a[i]
            if i % 3 == 0: y = x
        return x is y, x, y
        """,
    "rows at times": """
        a = np.arange(2.0 * n + 2).reshape(n + 1, 2)
        x = y = a[0]
        s = 0.0
        for i in range(n):
            x = a[i]
            if i % 3 == 0: y = x
            s += x[0]
        return x is y, y.tolist(), s
        """,
    "module variables": """
        global g, h
        g, h = 0.5, 1.5
        for i in range(n):
            g = i * 0.5
            if i % 3: h = g
        return g is h, g, h
        """,
    "left from many places": """
        x = y = z = 0.5
        a = np.arange(20.0)
        hits = 0
        for k in range(n):
            try:
                for i in range(25):
                    x = a[i] * 1.0
                    if i % 3: y = x
                    if (i + k) % 4: z = y
            except IndexError:
                hits += (x is y) + 2 * (y is z) + 4 * (x is z)
        return x is y, y is z, x is z, hits, x, y, z
        """,
    "one of several forms comes out of an inner loop": """
        s = True
        u = 0.0
        for i in (j for j in range(n)):
            w = s
            for k in dict.fromkeys(range(6)):
                w = 0.0
        return u is w, w, u
        """,
    "one of several forms comes out of an inner loop over a range": """
        s = True
        u = 0.0
        for i in range(n):
            w = s
            for k in range(6):
                w = 0.0
        return u is w, w, u
        """,
    "one of several forms behind an inner loop": """
        t = v = n / 4
        hits = 0
        for i in range(n):
            for k in (j for j in range(5)):
                u = (i + k) % 3 and v
            hits += u is t
        return t is u, hits, t, u
        """,
    "items out of an inner loop": """
        p = n / 4
        q = (p, 0)
        hits = 0
        for i in range(n):
            for k in range(i % 4):
                q = (p, k) if k % 2 else (p * 1.0, k)
            hits += q[0] is p
        return q[0] is p, hits, q
        """,
    "past a branch in a branch": """
        s = n / 8
        a = np.arange(8.0)
        hits = 0
        for i in (j for j in range(n)):
            u = s
            if a[i % 8] < 3 <= n:
                u -= 1.0
            else:
                pass
            t = u
            hits += t is s
        return s is u, t is u, hits, s, u
        """,
    "past a branch in a branch, an unknown item": """
        s = n / 8
        m = np.arange(6.0).reshape(2, 3)
        c = (True, n, 2.5)
        hits = 0
        for (i, k), e in np.ndenumerate(m):
            u = s
            if 2.0 < e <= 3 <= n:
                u -= sum(c)
            else:
                pass
            t = u
            hits += t is s
        return s is u, t is u, hits, s, u
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


def slow(*env):
    return pytest.param(*env, marks=pytest.mark.slow)


@pytest.mark.parametrize("threshold", [2, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("env", [{}, slow({"HOTLOOP_FORCE_EXIT": "3:5"}), slow({"HOTLOOP_BACKEND": "evaluator"}), slow({"HOTLOOP_VERIFY": "1"}),
                                 {"HOTLOOP_FORCE_EXIT": "1:1"}, slow({"HOTLOOP_FORCE_EXIT": "2:1"}), slow({"HOTLOOP_ISA": "sse2"})],
                         ids=["plain", "forced", "evaluator", "verify", "first", "every", "sse2"])
def test_t29_one_object_per_identity(env, threshold):
    check(LOOPS, env, threshold)


def check(loops, env, threshold):
    r = subprocess.run([sys.executable, "-X", "faulthandler", "-c", CHILD.format(loops=loops, threshold=threshold)], capture_output=True, text=True,
                       timeout=120, env=dict(os.environ, **env))
    assert r.returncode == 0 and r.stdout == "end\n", r.stdout + r.stderr


EQUAL_CODE = """
import hotloop
text = '''
def f(n):
    s, u = True, 0.25
    for i in range(n):
        w = s
        for k in range(6):
            w = 0.25
    return u is w
'''
hotloop.enable(threshold=2)
kept = []
for _ in range(4):
    space = {}
    exec(text, space)
    kept.append(space["f"])
    print([space["f"](9) for _ in range(3)])
print(hotloop.stats()["entries"] > 0)
"""


def test_equal_code_has_constants_of_its_own():
    r = subprocess.run([sys.executable, "-c", EQUAL_CODE], capture_output=True, text=True, timeout=60)
    assert r.stdout == "[True, True, True]\n" * 4 + "True\n", r.stdout + r.stderr
