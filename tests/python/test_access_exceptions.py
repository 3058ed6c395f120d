"""src/cpython: exceptions delivered by the JUMP callback reach the right handler of the running frame (T10, T11, T13)."""
import gc
import signal
import sys
import threading
import traceback
import weakref

import pytest
from native.rig import NULL, Armed, code_of, find, instrs, no_growth, t


def raising(unit_of, exc=ZeroDivisionError, extra=()):
    def plan(frame, _jump, _header):
        frame.push(*extra)
        return ("raise", unit_of(frame.code), exc("ours"))
    return plan


def divide(code):
    return find(code, "BINARY", arg=2).unit


def in_try(n):
    log = []
    try:
        for i in range(n):
            n // (i + 1)
    except ZeroDivisionError as e:
        log.append(("except", str(e), e.__traceback__.tb_lineno, e.__traceback__.tb_next))
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log


def test_except_and_finally_of_the_same_frame_T11():
    with Armed(in_try, raising(divide)):
        assert in_try(10) == [("except", "ours", in_try.__code__.co_firstlineno + 4, None), "finally"]
    assert in_try(10) == ["else", "finally"]


def test_stray_operands_are_dropped_once_T11():
    class Value:
        pass

    value = Value()
    gone = weakref.ref(value)
    extra = [value, NULL, [value]]
    with Armed(in_try, raising(divide, extra=extra)):
        assert in_try(10)[0][0] == "except"
    del extra, value
    gc.collect()
    assert gone() is None


def test_handler_in_the_loop_goes_on_with_the_next_item_T12():
    def f(n):
        bad = []
        s = 0
        for i in range(n):
            try:
                s += 100 // (i + 1)
            except ZeroDivisionError:
                bad.append(i)
        return s, bad

    want = sum(100 // (i + 1) for i in range(20))
    with Armed(f, raising(divide), at=1, every=6):
        s, bad = f(20)
    # The handler has a back edge of its own: every fifth trip. The division had been added before: nothing is lost.
    assert (s, bad) == (want, [0, 5, 10, 15])


def test_with_block_swallows_and_reraises_T11():
    class Manager:
        def __init__(self, swallow):
            self.swallow, self.seen = swallow, []

        def __enter__(self):
            return self

        def __exit__(self, kind, exc, tb):
            self.seen.append((kind, str(exc), tb.tb_lineno))
            return self.swallow

    def f(m, n):
        with m:
            for i in range(n):
                n // (i + 1)
        return "after"

    line = f.__code__.co_firstlineno + 3
    with Armed(f, raising(divide)):
        m = Manager(True)
        assert f(m, 10) == "after"
        assert m.seen == [(ZeroDivisionError, "ours", line)]
    with Armed(f, raising(divide)):
        m = Manager(False)
        with pytest.raises(ZeroDivisionError) as info:
            f(m, 10)
        assert m.seen == [(ZeroDivisionError, "ours", line)]
        tb = info.value.__traceback__
        lines = [x.lineno for x in traceback.extract_tb(tb) if x.name == "f"]
        assert lines == [line]


def test_no_handler_unwinds_with_the_right_line_T11():
    def f(n):
        for i in range(n):
            x = (i +
                 n // (i + 1))
        return x

    with Armed(f, raising(divide)):
        with pytest.raises(ZeroDivisionError, match="ours") as info:
            f(10)
    frames = [x for x in traceback.extract_tb(info.value.__traceback__) if x.name == "f"]
    assert [x.lineno for x in frames] == [f.__code__.co_firstlineno + 3]
    assert f(10) == 9 + 1


def test_exception_into_a_cacheless_position():
    """A unit whose instruction has no inline caches (here STORE_FAST of the loop variable)."""
    def f(n):
        try:
            for i in range(n):
                pass
        except KeyError as e:
            return "caught", e.__traceback__.tb_lineno

    with Armed(f, raising(lambda code: find(code, "STORE_FAST").unit, KeyError)):
        assert f(10) == ("caught", f.__code__.co_firstlineno + 2)


def test_inner_try_with_the_back_edge_outside_T11():
    """The raising instruction lies in a try that does not cover the jump."""
    def f(n):
        hits = 0
        for i in range(n):
            try:
                n // (i + 1)
            except ZeroDivisionError:
                hits += 1
        return hits

    jumps = [i for i in instrs(f.__code__) if i.op == "JUMP_BACKWARD"]
    assert any(not t.in_try(f.__code__, j.op_unit) for j in jumps)
    with Armed(f, raising(divide)):
        assert f(10) == 1


def test_nested_try_innermost_wins_and_chain_is_kept():
    def f(n):
        try:
            try:
                for i in range(n):
                    n // (i + 1)
            except ZeroDivisionError:
                raise KeyError("second")  # noqa: B904
        except KeyError as e:
            return type(e.__context__), str(e.__context__)

    with Armed(f, raising(divide)):
        assert f(10) == (ZeroDivisionError, "ours")


def test_exception_in_generator_and_module_code():
    def g(n):
        try:
            for i in range(n):
                n // (i + 1)
            yield "no"
        except ZeroDivisionError:
            yield "caught"

    with Armed(g, raising(divide)):
        assert list(g(10)) == ["caught"]
    code = compile("try:\n  for i in range(9):\n    9 // (i + 1)\nexcept ZeroDivisionError as e:\n  r = str(e)\n", "<m>", "exec")
    ns = {}
    with Armed(code, raising(divide)):
        exec(code, ns)
    assert ns["r"] == "ours"


def test_finalizers_run_while_the_stack_is_cut_T13():
    seen = []

    class Noisy:
        def __del__(self):
            seen.append(sys._getframe(1).f_lineno)

    def plan(frame, _jump, _header):
        frame.push(Noisy())
        return ("raise", divide(frame.code), ZeroDivisionError("ours"))

    with Armed(in_try, plan):
        assert in_try(10)[0][1] == "ours"
    assert seen == [in_try.__code__.co_firstlineno + 4]


def serviced(kind, unit_of):
    return lambda frame, _jump, header: ("service", unit_of(frame.code) if unit_of else header, kind)


def test_pending_call_runs_with_the_frame_complete_T10():
    def f(n):
        for i in range(n):
            pass
        return i

    before = t.pending_count()
    with Armed(f, serviced("call", None)):
        assert f(10) == 9
    assert t.pending_count() == before + 1


def loop_in_try(n):
    try:
        for i in range(n):
            n // (i + 1)
    except (KeyError, LookupError, InterruptedError) as e:
        return type(e), e.__traceback__.tb_lineno


@pytest.mark.parametrize("kind, exc", [("fail", KeyError), ("async", LookupError)])
def test_what_pending_work_raises_is_delivered_into_try_T10(kind, exc):
    with Armed(loop_in_try, serviced(kind, divide)):
        assert loop_in_try(10) == (exc, loop_in_try.__code__.co_firstlineno + 3)


def test_signal_handler_sees_the_exit_unit_and_its_exception_is_delivered_T10():
    def handler(_signum, frame):
        lines.append((frame.f_code.co_name, frame.f_lineno))
        raise InterruptedError("ours")

    lines = []
    line = loop_in_try.__code__.co_firstlineno + 3
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        with Armed(loop_in_try, serviced("signal", divide)):
            assert loop_in_try(10) == (InterruptedError, line)
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert lines == [("loop_in_try", line)]


def test_another_thread_gets_the_interpreter_when_pending_work_is_serviced_T10():
    def f(n):
        k = 0
        for i in range(n):
            k += 1
        return k

    stop, beats = threading.Event(), [0]

    def beat():
        while not stop.is_set():
            beats[0] += 1

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with Armed(f, serviced("call", None), at=1, every=1):
            assert f(300) == 300
        seen = beats[0]
        assert seen > 0
    finally:
        stop.set()
        thread.join()


def run_many(f, plan, runs, check):
    with Armed(f, plan) as armed:
        def once():
            armed.events = 0
            check()
        no_growth(once, runs, code_of(f))


@pytest.mark.parametrize("runs", [2000, pytest.param(100000, marks=pytest.mark.slow)])
def test_no_leak_caught(runs):
    def f(n):
        try:
            for i in range(n):
                n // (i + 1)
        except ZeroDivisionError:
            return 1

    def check():
        assert f(4) == 1

    run_many(f, raising(divide, extra=(object(), NULL)), runs, check)


@pytest.mark.parametrize("runs", [2000, pytest.param(100000, marks=pytest.mark.slow)])
def test_no_leak_uncaught(runs):
    def f(n):
        for i in range(n):
            n // (i + 1)

    def check():
        try:
            f(4)
        except ZeroDivisionError:
            return
        raise AssertionError

    run_many(f, raising(divide, extra=(object(),)), runs, check)
