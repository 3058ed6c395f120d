"""src/cpython: breaker, monitoring, other tools, the frame-evaluation hook, the self-check."""
import subprocess
import sys
import textwrap
import threading

import pytest
from native import build
from native.rig import Armed, t

MON = sys.monitoring


def looping(n):
    s = 0
    for i in range(n):
        s += i
    return s


def test_self_check_passes_and_leaves_nothing_behind():
    version = t.version()
    for _ in range(3):
        assert t.self_check() is None
    assert MON.get_tool(5) is None
    assert t.version() == version or t.version() > version
    assert not t.other_tools(looping.__code__)


def test_self_check_says_who_holds_the_tool_id():
    MON.use_tool_id(5, "somebody")
    try:
        assert t.self_check() == ("hotloop needs tool id 5 (OPTIMIZER_ID) of sys.monitoring, but 'somebody' holds it; "
                                  "stop that tool first")
        with pytest.raises(RuntimeError, match="'somebody' holds it"):
            t.claim()
        assert not t.is_ours()
    finally:
        MON.free_tool_id(5)


def test_self_check_in_a_thread_and_under_a_tracer():
    results = []
    thread = threading.Thread(target=lambda: results.append(t.self_check()))
    thread.start()
    thread.join()
    sys.settrace(lambda *a: None)
    try:
        results.append(t.self_check())
    finally:
        sys.settrace(None)
    assert results == [None, None]


def test_refused_in_a_subinterpreter():
    """The test module itself is single-phase and refused there, or the self-check says no."""
    script = f"""
        import sys
        sys.path.insert(0, {str(build.ROOT / 'tests/python')!r})
        try:
            from native import build
            print(build.load().self_check())
        except ImportError as e:
            print("refused:", e)
    """
    names = "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    code = f"import {names} as i\nx = i.create()\nr = i.run_string(x, {textwrap.dedent(script)!r})\nprint(r)\n"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "refused" in out.stdout or "sub-interpreters" in out.stdout, out


def test_breaker_shows_exactly_pending_work_T7():
    assert t.breaker() == (0, 0)
    looping(10)
    assert t.breaker() == (0, 0)
    with Armed(looping, lambda *a: None):
        assert t.breaker() == (0, 0) or t.service() is None
        assert t.breaker() == (0, 0)


def test_instrumentation_version_changes_with_any_tools_events_T8():
    before = t.version()
    MON.use_tool_id(1, "other")
    try:
        MON.set_events(1, MON.events.PY_START)
        changed = t.version()
        assert changed != before
        MON.set_events(1, 0)
        assert t.version() != changed
    finally:
        MON.set_events(1, 0)
        MON.free_tool_id(1)
    assert t.breaker() == (0, 0)


def test_other_tools_are_seen():
    code = looping.__code__
    assert not t.other_tools(code)
    with Armed(looping, lambda *a: None):
        assert not t.other_tools(code)
    MON.use_tool_id(1, "other")
    try:
        MON.set_local_events(1, code, MON.events.LINE)
        assert t.other_tools(code) and not t.other_tools(test_other_tools_are_seen.__code__)
        MON.set_local_events(1, code, 0)
        MON.set_events(1, MON.events.PY_START)
        assert t.other_tools(code)
        MON.set_events(1, 0)
    finally:
        MON.free_tool_id(1)
    assert not t.other_tools(code)
    for switch in (sys.settrace, sys.setprofile):
        switch(lambda *a: None)
        try:
            assert t.other_tools(code)
        finally:
            switch(None)
        assert not t.other_tools(code)


def test_another_threads_tracer_does_not_count():
    ready, done = threading.Event(), threading.Event()

    def work():
        sys.settrace(lambda *a: None)
        ready.set()
        done.wait(20)
        sys.settrace(None)

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(20)
    try:
        assert not t.other_tools(looping.__code__)
    finally:
        done.set()
        thread.join()


def test_tracing_is_off_only_inside_the_swap_T23():
    def callee():
        return 1

    starts, seen = [], []
    MON.use_tool_id(1, "other")
    MON.register_callback(1, MON.events.PY_START, lambda code, offset: starts.append(code.co_name))
    MON.set_local_events(1, callee.__code__, MON.events.PY_START)
    try:
        def plan(frame, _jump, header):
            seen.append(t.tracing())
            callee()
            hidden = list(starts)
            t.call_untraced(callee)
            seen.append((hidden, list(starts), t.tracing()))
            frame.resume(header)

        with Armed(looping, plan):
            looping(5)
    finally:
        MON.set_local_events(1, callee.__code__, 0)
        MON.free_tool_id(1)
    assert seen == [1, ([], ["callee"], 1)]


def test_disable_silences_one_location_and_setting_again_rearms():
    count = [0]

    def on(frame, code, src, dst):
        count[0] += 1
        return MON.DISABLE

    t.claim()
    try:
        t.set_callback(t.EVENT_JUMP, t.callback(on))
        t.set_local(looping.__code__, t.EVENT_JUMP)
        looping(50)
        looping(50)
        assert count == [1]
        t.set_local(looping.__code__, 0)
        t.set_local(looping.__code__, t.EVENT_JUMP)
        looping(50)
        assert count == [2]
        t.set_local(looping.__code__, 0)
    finally:
        t.release()
    looping(50)
    assert count == [2]


def test_global_start_events_and_release_T32():
    seen = []
    t.claim()
    t.set_callback(t.EVENT_PY_START, t.callback(lambda frame, code, offset: seen.append(code)))
    t.set_global(t.EVENT_PY_START)
    looping(2)
    assert looping.__code__ in seen and t.is_ours()
    t.release()
    n = len(seen)
    looping(2)
    assert len(seen) == n and MON.get_tool(5) is None and not t.is_ours()
    # Whoever comes next finds no events of ours alive.
    MON.use_tool_id(5, "next")
    try:
        assert MON.get_events(5) == 0 and MON.get_local_events(5, looping.__code__) == 0
        assert MON.register_callback(5, MON.events.PY_START, None) is None
    finally:
        MON.free_tool_id(5)


def test_release_does_not_touch_a_new_owner_T32():
    t.claim()
    MON.free_tool_id(5)
    MON.use_tool_id(5, "thief")
    try:
        MON.set_events(5, MON.events.PY_START)
        assert not t.is_ours()
        t.release()
        assert MON.get_tool(5) == "thief" and MON.get_events(5) == MON.events.PY_START
    finally:
        MON.set_events(5, 0)
        MON.free_tool_id(5)
    t.claim()
    t.release()


def test_armed_while_the_loop_runs_also_from_another_thread():
    events, go = [0], threading.Event()

    def f(n):
        for i in range(n):
            if i == 100:
                go.wait(20)
                arm()
        return i

    def arm():
        pass

    def armer():
        t.set_local(f.__code__, t.EVENT_JUMP)
        go.set()

    def on(frame, code, src, dst):
        events[0] += 1

    t.claim()
    try:
        t.set_callback(t.EVENT_JUMP, t.callback(on))
        thread = threading.Thread(target=armer)
        thread.start()
        f(1000)
        thread.join()
        t.set_local(f.__code__, 0)
    finally:
        t.release()
    assert events[0] >= 900


def test_headroom_counts_calls_T26():
    def at(depth):
        return t.headroom() if depth == 0 else at(depth - 1)

    assert at(0) - at(50) == 50
    with pytest.raises(RecursionError):
        at(5000)


# ---- the frame-evaluation hook

def leaf(a):
    return a + 1


def twice(a):
    return leaf(leaf(a))


def down(n):
    return n if n == 0 else down(n - 1)


def enters(log):
    return [(e[1], e[2]) for e in log if e[0] == "enter"]


def test_hook_shows_frames_arguments_and_results_T20():
    t.observe()
    twice(5)
    log = t.observed()
    assert log == [("enter", "twice", 1, 5), ("enter", "leaf", 2, 5), ("leave", 2, 6), ("enter", "leaf", 2, 6),
                   ("leave", 2, 7), ("leave", 1, 7)]
    twice(5)
    assert t.observed() == log


def test_hook_can_stay_out_of_a_callee_T20():
    t.observe(1)
    twice(5)
    leaf(1)
    assert enters(t.observed()) == [("twice", 1), ("leaf", 1)]


def test_hook_steps_aside_in_deep_recursion_T20():
    limit = sys.getrecursionlimit()

    def depth_reached():
        n = [0]

        def go():
            n[0] += 1
            go()
        try:
            go()
        except RecursionError:
            pass
        return n[0]

    plain = depth_reached()
    t.observe()
    hooked = depth_reached()
    log = t.observed()
    assert max(d for _, d in enters(log)) == 8
    assert hooked >= plain - 8, (plain, hooked, limit)
    t.observe()
    assert down(900) == 0
    leaf(1)
    assert enters(t.observed())[-1] == ("leaf", 1)


def test_hook_sees_exceptions_and_generators():
    def fails():
        raise KeyError

    def gen():
        yield 1
        yield 2

    t.observe()
    try:
        fails()
    except KeyError:
        pass
    list(gen())
    log = t.observed()
    assert ("leave", 1, t.NULL) in log and ("leave", 1, 1) in log and ("leave", 1, 2) in log


def test_hook_ignores_other_threads_T20():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            twice(1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        t.observe()
        for _ in range(2000):
            leaf(1)
        log = t.observed()
    finally:
        stop.set()
        thread.join()
    assert set(enters(log)) == {("leaf", 1)} and len(log) == 4000


def test_one_observer_at_a_time():
    t.observe()
    try:
        with pytest.raises(RuntimeError, match="another recording"):
            t.observe()
    finally:
        t.observed()


def test_a_foreign_hook_is_called_and_restored_T21():
    before = t.foreign_hook(True)
    try:
        leaf(1)
        assert t.foreign_calls() > before
        t.observe()
        n = t.foreign_calls()
        twice(1)
        assert t.foreign_calls() >= n + 3
        assert enters(t.observed())[0] == ("twice", 1)
        n = t.foreign_calls()
        leaf(1)
        assert t.foreign_calls() > n
        spec = (leaf, {"a": 1}, [41, 1], 0, 0)
        unit = [u for u in range(t.unit_count(leaf.__code__)) if not_cache(u) and t.decode(leaf.__code__, u)[3] == "BINARY"][0]
        assert t.run_frames([(*spec[:3], unit, 0)]) == 42
        n = t.foreign_calls()
        leaf(1)
        assert t.foreign_calls() > n
    finally:
        t.foreign_hook(False)


def not_cache(unit):
    return leaf.__code__.co_code[2 * unit] != 0
