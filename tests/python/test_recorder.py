"""What the recorder makes of bytecode: the shape of the IR, by name of what was hard about it."""
import copy
import math
import re
import time

import numpy as np
import pytest
from need import needs_hotloop

pytestmark = needs_hotloop


@pytest.fixture
def hot():
    import hotloop

    hotloop.enable(threshold=20)
    yield hotloop
    hotloop.disable()


def compiled(hot, f, *args):
    """Runs f with and without hotloop until it is compiled; its IR."""
    with hot.paused():
        want = f(*copy.deepcopy(args))
    for attempt in range(100):
        got = f(*copy.deepcopy(args))
        assert type(got) is type(want) and repr(got) == repr(want)
        if attempt < 3:
            continue
        ir = str(hot.inspect(f).ir)
        if ir:
            return ir
        time.sleep(0.005)  # one recording at a time: a hot loop of pytest itself may have been first
    return ""


def triangle(n):
    s = 0
    for i in range(n):
        for j in range(i):
            s += j
    return s


def test_loop_nest_is_one_region(hot):
    ir = compiled(hot, triangle, 100)
    assert re.search(r"= for .*\n(.*\n)*? .*= for ", ir), ir


def dot_rows(a, b, out):
    for i in range(a.shape[0]):
        acc = 0.0
        for k in range(a.shape[1]):
            acc += a[i, k] * b[i, k]
        out[i] = acc
    return out


def test_t33_first_trip_is_peeled_where_a_type_changes(hot):
    a = np.random.default_rng(1).random((60, 7))
    ir = compiled(hot, dot_rows, a, a + 1, np.zeros(60))
    assert re.search("ZeroTrip|Hoisted", ir), ir


def ragged(starts, values, out):
    for i in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k]
        out[i] = total
    return out


def test_t33_no_trip_keeps_the_first_type(hot):
    starts = np.repeat(np.arange(0, 300, 3), 2)
    compiled(hot, ragged, starts, np.arange(300.0), np.zeros(len(starts)))


def clamp(a):
    total = 0.0
    for i in range(len(a)):
        t = a[i]
        if t < 0.3:
            t = 0.0
        total += t
    return total, t


def test_two_types_at_a_join_are_both_kept(hot):
    a = np.random.default_rng(2).random(500)
    compiled(hot, clamp, a)
    compiled(hot, clamp, np.append(a, 0.1))


def search(a, x):
    for i in range(len(a)):
        if a[i] == x:
            return i
    return -1


def search_all(a, n):
    s = 0
    for k in range(n):
        s += search(a, a[(k * 7) % len(a)])
    return s


def test_early_return_of_an_inlined_function(hot):
    ir = compiled(hot, search_all, np.random.default_rng(3).random(50), 200)
    assert "fnguard" in ir, ir


def breaks(a):
    count = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.9:
                break
            if a[i, j] < 0.1:
                continue
            count += 1
        else:
            count += 1000
    return count


def test_break_continue_else(hot):
    ir = compiled(hot, breaks, np.random.default_rng(4).random((100, 9)))
    assert "for" in ir


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def test_while(hot):
    assert "loop" in compiled(hot, collatz, 837799)


def over_array(a, n):
    s = 0.0
    for k in range(n):
        for x in a:
            if x > 0.5:
                s += math.sqrt(x)
    return s


def test_iteration_over_an_array(hot):
    compiled(hot, over_array, np.random.default_rng(5).random(50), 40)


def seldom(n):
    kept = []
    s = 0
    for i in range(n):
        s += i
        if i % 100 == 0:
            kept.append(s)
    return s, kept


def test_what_is_not_compiled_leaves_where_it_is_rare(hot):
    compiled(hot, seldom, 3000)


counter = 0


def count_global(n):
    global counter
    counter = 0
    for i in range(n):
        counter += i
        if counter > 10**6:
            counter -= 10**6
    return counter


def test_t35_stored_global(hot):
    ir = compiled(hot, count_global, 3000)
    assert re.search(r"input .* global", ir), ir


def scale(x, factor=2, *, shift=1):
    return x * factor + shift


def keywords(n):
    s = 0
    for i in range(n):
        s += scale(i) + scale(i, shift=3) + scale(i, factor=i % 3)
    return s


def test_defaults_and_keywords(hot):
    assert "fnguard" in compiled(hot, keywords, 500)


def closure(k):
    def add(x):
        return x + k

    s = 0
    for i in range(300):
        s += add(i)
    return s


def test_closure_of_the_loop_itself_is_refused_or_right(hot):
    for k in (1, 2, 1.5):
        compiled(hot, closure, k)


def make_adder(k):
    return lambda x: x + k


ADD = make_adder(3)


def foreign_closure(n):
    s = 0
    for i in range(n):
        s += ADD(i)
    return s


def test_closure_of_an_inlined_function(hot):
    assert "object_cell" in compiled(hot, foreign_closure, 500)
