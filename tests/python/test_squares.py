"""x ** 2 that is only compared: decided by x * x outside a guard band around the threshold, by libm's pow inside; the answer is always pow's."""
import functools

import child
from need import needs_hotloop

pytestmark = needs_hotloop

KERNELS = """
import sys
import numpy as np
import hotloop
def one(xs, cs):
    count = 0
    for k in range(len(xs)):
        x = float(xs[k])
        if x ** 2 > float(cs[k]):
            count += 1
    return count
TWO = []
for text in ("x ** 2 + y ** 2 > c", "c > x ** 2 + y ** 2", "x ** 2 + y ** 2 >= c", "x ** 2 + y ** 2 <= c", "c <= y ** 2 + x ** 2"):
    space = {}
    exec(f"def two(xs, ys, cs, bits):\\n    for k in range(len(xs)):\\n        x = float(xs[k])\\n        y = float(ys[k])\\n        c = float(cs[k])\\n"
         f"        if {text}:\\n            bits[k] = 1\\n", space)
    TWO.append(space["two"])
def three(xs, ys, cs, bits):
    for k in range(len(xs)):
        bits[k] = (float(xs[k]) - 0.5) ** 2 + (float(ys[k]) + 0.25) ** 2 + float(cs[k]) ** 2 < 2.5
def compared(f, *args):
    with hotloop.paused():
        want = run(f, *args)
    for _ in range(3):
        assert run(f, *args) == want, f.__name__
def run(f, *args):
    bits = np.zeros(len(args[0]), np.int64)
    try:
        r = f(*args) if f is one else f(*args, bits)
    except (OverflowError, ValueError) as e:
        r = type(e), str(e)
    return r, bits.tolist()
"""

fine = functools.partial(child.fine, KERNELS)


def test_the_band_is_there():
    fine("""
    hotloop.enable(threshold=50)
    xs = np.linspace(-2, 2, 3000)
    compared(one, xs, xs[::-1].copy())
    for two in TWO:
        compared(two, xs, xs[::-1].copy(), np.full(3000, 3.3))
    compared(three, xs, xs[::-1].copy(), np.full(3000, 0.3))
    for f in (one, three, *TWO):
        ir = hotloop.inspect(f).ir
        assert "1.8189894035458565e-12" in ir, hotloop.explain(f)
    """)


def test_values_at_the_threshold():
    """Sums of squares that are the threshold itself or its neighbours, with x for which pow(x, 2) is not x * x."""
    fine("""
    import math, random
    hotloop.enable(threshold=50)
    rng = random.Random(7)
    xs, ys, cs = [], [], []
    odd = []
    while len(odd) < 40 and len(xs) < 400_000:
        x = math.ldexp(rng.uniform(0.5, 1), rng.randrange(-30, 30))
        xs.append(x)
        if x ** 2 != x * x:
            odd.append(x)
    print(len(odd), "odd of", len(xs))
    pool = odd + [rng.uniform(-2, 2) for _ in range(200)] + [0.0, -0.0, 1.0, 1.5, 2.0, 3e-150, -1.3e153]
    xs, ys, cs = [], [], []
    for _ in range(1500):
        x, y = rng.choice(pool), rng.choice(pool)
        s = x ** 2 + y ** 2
        for c in (s, x * x + y * y, math.nextafter(s, 9e307), math.nextafter(s, 0), s * (1 + 2 ** -38), s * (1 - 2 ** -38), s * (1 + 2 ** -40), -s):
            xs.append(x), ys.append(y), cs.append(c)
    # A loop that meets tiny squares leaves and comes back.
    xs, ys, cs = np.array(xs), np.array(ys), np.array(cs)
    for two in TWO:
        compared(two, xs, ys, cs)
    compared(one, xs, np.array([x ** 2 for x in xs.tolist()]))
    compared(one, np.array(pool), np.array([x * x for x in pool]))
    """)


def test_values_that_leave():
    """Infinite, huge (OverflowError), tiny and NaN operands and thresholds."""
    fine("""
    hotloop.enable(threshold=50)
    good = np.linspace(0.1, 1.9, 400)
    inf, nan = float("inf"), float("nan")
    for bad in (inf, -inf, nan, 1e200, -1.3407807929942597e154, 1.3407807929942596e154, 1e154, 9e153, 1e-160, 1.5e-154, 1.4916681462400413e-154, 2.2e-162, 5e-324, 0.0):
        xs = good.copy()
        xs[300] = bad
        compared(one, xs, good)
        compared(one, xs, np.full(400, bad))
        for c in (inf, nan, -inf, 0.0, 1e308, 1.7976931348623157e308, 3.0):
            for two in TWO:
                compared(two, xs, good, np.full(400, c))
                compared(two, good, xs, np.full(400, c))
            compared(three, xs, good, np.full(400, c))
    """)


def test_a_square_that_is_kept_stays_pow():
    fine("""
    hotloop.enable(threshold=50)
    def f(xs):
        s = 0.0
        for x in xs.tolist():
            p = x ** 2
            if p > 1.0:
                s += p
        return s
    def g(xs):
        last = 0.0
        for x in xs.tolist():
            last = x ** 2 + 1.0
            if last > 2.0:
                continue
        return last
    xs = np.random.default_rng(3).uniform(-3, 3, 4000)
    for h in (f, g):
        with hotloop.paused():
            want = h(xs)
        for _ in range(3):
            assert h(xs) == want
    """)


def test_band_under_forced_exits_and_other_back_ends():
    text = """
    hotloop.enable(threshold=2)
    rng = np.random.default_rng(5)
    xs, ys = rng.uniform(-2, 2, 500), rng.uniform(-2, 2, 500)
    cs = np.array([x ** 2 + y ** 2 for x, y in zip(xs.tolist(), ys.tolist())])
    cs[::3] += 1e-3
    for two in TWO:
        compared(two, xs, ys, cs)
    compared(three, xs, ys, cs)
    compared(one, xs, cs)
    """
    for env in ({"HOTLOOP_FORCE_EXIT": "1:3"}, {"HOTLOOP_BACKEND": "evaluator"}, {"HOTLOOP_VERIFY": "1"}, {"HOTLOOP_ISA": "sse2"}):
        fine(text, **env)
