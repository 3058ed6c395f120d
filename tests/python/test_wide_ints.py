"""Ints beyond 64 bits inside expressions: random expressions over words of all sizes and signs, against the interpreter.

The shapes that programs have are in programs/wide_ints.py; here it is the arithmetic of both halves, carries, signs and ranges.
"""

import random
import time

import hotloop
import pytest
from need import needs_hotloop
from test_semantics_table import check, finish

pytestmark = needs_hotloop

WORDS = [0, 1, 2, -1, -2, 63, 255, 2**31, -(2**31), 2**32 - 1, 2**53 + 1, 2**62 + 12345, -(2**62), 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 0x9E3779B97F4A7C15]
CONSTANTS = ["3", "-7", "255", "0x100000001B3", "2**31 - 1", "6364136223846793005", "0x9E3779B97F4A7C15", "2**64 - 1", "-(2**63)"]
ENDS = ["& 0xFFFFFFFF", "& (2**64 - 1)", "& 255", ">> 13", ">> 63", "% (2**61 - 1)", "% 2**64", "% 7", "% (2**64 - 59)", "& a", "& b", "% b", ">> (a & 63)"]


def expression(rng, depth):
    if depth == 0:
        return rng.choice(["a", "b", "a", "b", "i", rng.choice(CONSTANTS)])
    kind = rng.randrange(10)
    left = expression(rng, depth - 1)
    if kind < 7:
        return f"({left} {rng.choice(['+', '-', '*', '*', '^', '|', '&'])} {expression(rng, rng.randrange(depth))})"
    if kind == 7:
        return f"({left} << {rng.choice(['1', '13', '31', '63', '(b & 31)'])})"
    if kind == 8:
        return f"({left} >> {rng.choice(['1', '32', '63', '(b & 63)'])})"
    return f"({rng.choice('~-')}{left})"


@pytest.fixture(autouse=True)
def low_threshold():
    hotloop.enable(threshold=2)
    time.sleep(0.03)  # a recording that another test left behind is given up
    yield
    hotloop.disable()


def check_entered(texts, columns):
    """All combinations are right, and native code did some of it: the loops of the tests compete for one recording at a time."""
    before = hotloop.stats()["entries"]
    for _ in range(8):
        wrong = [w for text in texts for w in check(text, columns)]
        if wrong or hotloop.stats()["entries"] > before:
            break
        time.sleep(0.03)
    finish(wrong, before, 1)


@pytest.mark.parametrize("seed", range(24))
def test_random_expression(seed):
    rng = random.Random(seed)
    texts = [f"{expression(rng, rng.choice([1, 2, 2, 3]))} {rng.choice(ENDS)}" for _ in range(3)]
    check_entered(texts, [rng.sample(WORDS, 7), rng.sample(WORDS, 7)])


@pytest.mark.parametrize("text", ["pow(a, b, 97)", "pow(a, 65537, b)", "pow(2, a, 2**61 - 1)", "pow(a, 0, b)", "pow(a, b, None)"])
def test_modular_power(text):
    small = [0, 1, 2, 5, -1, -3, 64, 2**31, 2**63 - 1, -(2**63)]
    check_entered([text], [small, [v for v in small if "None" not in text or abs(v) < 60]])


@pytest.mark.parametrize("op", ["*", "+", "-", "^", "|", "&", "<<"])
@pytest.mark.parametrize("end", ["& (2**64 - 1)", "% (2**61 - 1)", ">> 7"])
def test_pairs(op, end):
    check_entered([f"(a {op} b) {end}"], [WORDS, [0, 1, 13, 31, 63, 64, -1] if op == "<<" else WORDS])
