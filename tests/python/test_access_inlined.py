"""src/cpython: frames of inlined callees are made and run from the middle (T16, T17, T18)."""
import sys
import threading
import traceback

import pytest
from native.rig import NULL, Armed, find, no_growth, t

PUSH, DROP, NOT, BOOL = t.RESULT_PUSH, t.RESULT_DROP, t.RESULT_NOT, t.RESULT_BOOL


def leaf(a, b):
    c = a + b
    return c * 2


def multiply_unit(f):
    return find(f.__code__, "BINARY", arg=5).unit


def test_one_frame_from_mid_expression_T16():
    spec = (leaf, {"a": 1, "b": 2, "c": 3}, [21, 2], multiply_unit(leaf), PUSH)
    assert t.run_frames([spec]) == 42


def test_all_kinds_of_parameters_and_unbound_locals():
    def f(p, /, a, *args, k, d=5, **kw):
        x = p
        try:
            return (x + a, args, k, d, kw, y)  # noqa: F821
        except UnboundLocalError as e:
            return str(e)[-30:], args, kw
        y = 1  # noqa: F841

    locals_ = {"p": 1, "a": 2, "k": 3, "d": 4, "args": (9,), "kw": {"z": 1}, "x": 8}
    add = find(f.__code__, "BINARY", arg=0).unit
    assert t.run_frames([(f, dict(locals_, y=7), [10, 20], add, PUSH)]) == (30, (9,), 3, 4, {"z": 1}, 7)
    text, args, kw = t.run_frames([(f, locals_, [10, 20], add, PUSH)])
    assert "value" in text and (args, kw) == ((9,), {"z": 1})


def test_cells_and_free_variables():
    free = 10

    def f(a):
        c = a

        def inner():
            return c + free
        s = c * 3
        return inner() + s

    unit = find(f.__code__, "BINARY", arg=5).unit
    cell = (lambda x: lambda: x)(4).__closure__[0]
    inner_code = [c for c in f.__code__.co_consts if hasattr(c, "co_code")][0]
    inner = type(f)(inner_code, globals(), "inner", None, (cell, f.__closure__[0]))
    assert t.run_frames([(f, {"a": 1, "c": cell, "inner": inner}, [4, 3], unit, PUSH)]) == 14 + 12


def show(depth=1):
    f, names = sys._getframe(depth), []
    for _ in range(4):
        names.append((f.f_code.co_name, f.f_lineno))
        f = f.f_back
    return names


def inner(x):
    y = x * 2
    return show(), y


def middle(x):
    z = 5
    r = inner(x)
    return r, z, x * 3


def outer(n):
    got = None
    for i in range(n):
        got = middle(i)
    return got, i


def call_unit(f, nth=0):
    return find(f.__code__, "CALL", nth).unit


def chain_plan(frame, _jump, _header):
    """outer called middle(7), which called inner(7), which is about to multiply."""
    start, step, length = t.range_read(frame.stack[-1])
    t.range_set(frame.stack[-1], start + 1, step, length - 1)
    frame["i"] = start
    specs = [
        (middle, {"x": 7, "z": 5}, [], call_unit(middle), PUSH),
        (inner, {"x": 7}, [7, 2], multiply_unit(inner), PUSH),
    ]
    return ("frames", find(frame.code, "CALL", 1).unit, specs)


def test_chain_of_inlined_frames_T16():
    """The innermost runs first with the others below it; results travel outwards into the running frame."""
    with Armed(outer, chain_plan, at=9):
        ((stack, y), z, x), i = outer(10)
    assert (y, z, x, i) == (14, 5, 21, 9)
    lines = dict(stack)
    assert [name for name, _ in stack][:3] == ["inner", "middle", "outer"]
    assert lines["inner"] == inner.__code__.co_firstlineno + 2
    assert lines["middle"] == middle.__code__.co_firstlineno + 2
    assert lines["outer"] == outer.__code__.co_firstlineno + 3


def test_exception_through_the_chain_has_ordinary_traceback_lines_T17():
    def a(n):
        for i in range(n):
            b(i)
        return i

    def b(i):
        x = 1
        c(i)
        return x

    def c(i):
        return 1 // (i - 1)

    specs = [(b, {"i": 1, "x": 1}, [], find(b.__code__, "CALL").unit, PUSH),
             (c, {"i": 1}, [1, 0], find(c.__code__, "BINARY", arg=2).unit, PUSH)]
    # The interpreter's own lines, from the same call made for real.
    with pytest.raises(ZeroDivisionError) as plain:
        a(3)
    want = [(x.name, x.lineno) for x in traceback.extract_tb(plain.value.__traceback__)][1:]

    def plan(frame, _jump, _header):
        return ("frames", find(frame.code, "CALL", 1).unit, specs)

    with Armed(a, plan), pytest.raises(ZeroDivisionError) as ours:
        a(3)
    got = [(x.name, x.lineno) for x in traceback.extract_tb(ours.value.__traceback__)][1:]
    assert got == want


def test_raised_in_the_innermost_frame_T17():
    """throwflag: the exception exists already; handlers of that frame, then of its callers."""
    def catches(i):
        try:
            return 1 // i
        except ZeroDivisionError as e:
            return "in callee", e.__traceback__.tb_lineno

    def passes(i):
        return 1 // i

    def caller(i):
        try:
            return passes(i)
        except ZeroDivisionError as e:
            return "in caller", e.__traceback__.tb_lineno, e.__traceback__.tb_next.tb_lineno

    unit = find(catches.__code__, "BINARY").unit
    exc = ZeroDivisionError("ours")
    assert t.run_frames([(catches, {"i": 0}, [1, 0], unit, PUSH)], exc) == ("in callee", catches.__code__.co_firstlineno + 2)
    specs = [(caller, {"i": 0}, [], call_unit(caller), PUSH),
             (passes, {"i": 0}, [1, 0], find(passes.__code__, "BINARY").unit, PUSH)]
    got = t.run_frames(specs, ZeroDivisionError("ours"))
    assert got == ("in caller", caller.__code__.co_firstlineno + 2, passes.__code__.co_firstlineno + 1)
    with pytest.raises(ZeroDivisionError, match="alone") as info:
        t.run_frames([(passes, {"i": 0}, [1, 0], find(passes.__code__, "BINARY").unit, PUSH)], ZeroDivisionError("alone"))
    assert traceback.extract_tb(info.value.__traceback__)[-1].lineno == passes.__code__.co_firstlineno + 1


@pytest.mark.parametrize("caught", [False, True])
def test_raised_at_an_op_without_caches_T17(caught):
    def bare(i):
        x = [
            *i,
        ]
        return x

    def guarded(i):
        try:
            x = [
                *i,
            ]
        except KeyError as e:
            return e.__traceback__.tb_lineno
        return x

    f = guarded if caught else bare
    op = find(f.__code__, "LIST_EXTEND")
    assert op.next_unit == op.op_unit + 1
    line = t.line(f.__code__, op.op_unit)
    spec = (f, {"i": ()}, [[], ()], op.unit, PUSH)
    if caught:
        assert t.run_frames([spec], KeyError("ours")) == line
        return
    with pytest.raises(KeyError) as info:
        t.run_frames([spec], KeyError("ours"))
    assert traceback.extract_tb(info.value.__traceback__)[-1].lineno == line


class Box:
    def __init__(self, v):
        self.v = v * 2


def make(v):
    b = Box(v)
    return b


def negated(a):
    return not leaf(a, a)


def test_what_the_caller_does_with_the_result_T18():
    init = Box.__init__
    box = Box.__new__(Box)
    unit = multiply_unit(init)
    specs = [(make, {"v": 4}, [box], call_unit(make), DROP), (init, {"self": box, "v": 4}, [4, 2], unit, PUSH)]
    assert t.run_frames(specs) is box and box.v == 8
    inner_spec = (leaf, {"a": 1, "b": 2, "c": 3}, [3, 2], multiply_unit(leaf), PUSH)
    call = find(negated.__code__, "CALL").unit
    assert t.run_frames([(negated, {"a": 1}, [], call, BOOL), inner_spec]) is False
    use = t.run_frames([(identity_of_call, {"a": 1}, [], call_unit(identity_of_call), NOT), inner_spec])
    assert use is False
    assert t.run_frames([(identity_of_call, {"a": 1}, [], call_unit(identity_of_call), BOOL), inner_spec]) is True


def identity_of_call(a):
    return leaf(a, a)


def test_init_that_returns_something_is_a_type_error_T18():
    def bad(self, v):
        return v * 2

    specs = [(make, {"v": 4}, ["box"], call_unit(make), DROP),
             (bad, {"self": None, "v": 4}, [4, 2], multiply_unit(bad), PUSH)]
    with pytest.raises(TypeError, match=r"__init__\(\) should return None, not 'int'"):
        t.run_frames(specs)


def test_truth_that_raises_is_raised_at_the_call_T18():
    class Awkward:
        def __bool__(self):
            raise LookupError("no truth")

    def callee(a):
        b = a
        return b

    def caller(a):
        try:
            return callee(a)
        except LookupError as e:
            return str(e), e.__traceback__.tb_lineno

    ret = find(callee.__code__, "RETURN_VALUE").unit
    specs = [(caller, {"a": 1}, [], call_unit(caller), NOT), (callee, {"a": 1, "b": 1}, [Awkward()], ret, PUSH)]
    assert t.run_frames(specs) == ("no truth", caller.__code__.co_firstlineno + 2)


def test_generators_and_deep_stacks_are_refused():
    def gen():
        yield 1

    with pytest.raises(SystemError, match="cannot be started"):
        t.run_frames([(gen, {}, [], 0, PUSH)])
    with pytest.raises(SystemError, match="cannot be started"):
        t.run_frames([(leaf, {}, [1] * 40, 0, PUSH)])
    with pytest.raises(SystemError, match="no instruction"):
        t.run_frames([(leaf, {}, [], 10000, PUSH)])


def test_null_on_the_stack_of_a_materialised_frame():
    def f(a):
        return abs(a - 50)

    stack = [NULL, abs] if t.NULL_FIRST else [abs, NULL]
    spec = (f, {"a": 8}, [*stack, 8, 50], find(f.__code__, "BINARY").unit, PUSH)
    assert t.run_frames([spec]) == 42


def test_loop_in_the_materialised_frame_goes_on():
    def f(n):
        s = 0
        for i in range(n):
            s += i
        return s

    head = find(f.__code__, "FOR_ITER").unit
    assert t.run_frames([(f, {"n": 10, "s": 10, "i": 4}, [t.range_new(5, 1, 5)], head, PUSH)]) == 45


def test_other_threads_calls_are_not_caught_T16():
    """A second thread calls the same function all the time while frames of it are made."""
    stop, bad = threading.Event(), []

    def work():
        while not stop.is_set():
            if leaf(1, 2) != 6:
                bad.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for x in threads:
        x.start()
    try:
        spec = (leaf, {"a": 1, "b": 2, "c": 3}, [21, 2], multiply_unit(leaf), PUSH)
        for _ in range(3000):
            assert t.run_frames([spec]) == 42
    finally:
        stop.set()
        sys.setswitchinterval(old)
        for x in threads:
            x.join()
    assert not bad


def test_recursion_depth_is_counted():
    def deep(n):
        return n if n == 0 else 1 + deep(n - 1)

    def probe(x):
        y = x * 1
        return t.headroom(), y

    def probe_outer(x):
        return probe(x)

    real = probe_outer(1)[0]
    specs = [(probe_outer, {"x": 1}, [], call_unit(probe_outer), PUSH),
             (probe, {"x": 1}, [1, 1], multiply_unit(probe), PUSH)]
    base = t.headroom()
    got = t.run_frames(specs)[0]
    assert base - 8 <= got <= base - 1 and abs(got - real) <= 6
    assert t.headroom() == base
    assert deep(500) == 500


@pytest.mark.parametrize("runs", [2000, pytest.param(100000, marks=pytest.mark.slow)])
def test_no_leak_T16(runs):
    def catches(i):
        try:
            return 1 // i
        except ZeroDivisionError:
            return 5

    unit = find(catches.__code__, "BINARY").unit
    data = [object(), object()]

    def once():
        assert t.run_frames([(leaf, {"a": data, "b": data, "c": 3}, [21, 2], multiply_unit_leaf, PUSH)]) == 42
        assert t.run_frames([(catches, {"i": data}, [1, data], unit, PUSH)], ZeroDivisionError()) == 5
        chain = [(identity_of_call, {"a": data}, [], call, PUSH),
                 (leaf, {"a": data, "b": 2, "c": 3}, [21, 2], multiply_unit_leaf, PUSH)]
        assert t.run_frames(chain) == 42
        try:
            t.run_frames(chain, KeyError())
        except KeyError:
            pass
        else:
            raise AssertionError

    multiply_unit_leaf, call = multiply_unit(leaf), call_unit(identity_of_call)
    no_growth(once, runs, leaf, leaf.__code__, data)
