"""Debuggers, tracers, profilers, coverage tools and frames: each sees every event of the code it watches."""
import bdb
import collections
import cProfile
import sys

import numpy as np

N = TRIPS
mon = sys.monitoring


def work(a, n):
    s = 0.0
    for i in range(n):
        s += a[i]
        if i % 3 == 0:
            s -= 1
    return s


def helper(x):
    y = x + 1
    return y * 2


def calls(n):
    s = 0
    for i in range(n):
        s += helper(i)
    return s


A = np.sin(np.arange(2 * N) * 1.0)


def warm():
    for _ in range(3):
        work(A, N)
        calls(N)


class Lines:
    """A sys.settrace function that keeps (event, function, relative line) of this file."""

    def __init__(self, names=("work", "helper", "calls", "switch")):
        self.names = names
        self.seen = []

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if code.co_name in self.names:
            value = arg if event == "return" else None
            self.seen.append((event, code.co_name, frame.f_lineno - code.co_firstlineno, value))
            return self
        return None


def case_settrace_whole_run():
    warm()
    t = Lines()
    sys.settrace(t)
    try:
        work(A, N)
        calls(N // 4)
    finally:
        sys.settrace(None)
    return len(t.seen), t.seen[:40], t.seen[-20:]


def case_settrace_then_off():
    t = Lines()
    sys.settrace(t)
    work(A, 20)
    sys.settrace(None)
    return len(t.seen), work(A, N), work(A, N)


def switch(n, at, t):
    s = 0
    for i in range(n):
        s += i
        if i == at:
            sys.settrace(t)
            sys._getframe().f_trace = t
    return s


def case_settrace_switched_on_inside():
    switch(N, -1, None)
    t = Lines(("switch",))
    try:
        r = switch(N, N - 10, t)
    finally:
        sys.settrace(None)
    return r, t.seen


def turn_on(t):
    sys.settrace(t)


def switched_by_callee(n, at, t):
    s = 0
    for i in range(n):
        s += helper(i)
        if i == at:
            turn_on(t)
    return s


def case_settrace_switched_on_by_callee():
    switched_by_callee(N, -1, None)
    t = Lines(("helper",))
    try:
        r = switched_by_callee(N, N - 5, t)
    finally:
        sys.settrace(None)
    return r, t.seen


def case_setprofile():
    warm()
    seen = []

    def prof(frame, event, arg):
        if frame.f_code.co_name in ("work", "helper", "calls"):
            seen.append((event, frame.f_code.co_name))
    sys.setprofile(prof)
    try:
        work(A, N)
        calls(N)
    finally:
        sys.setprofile(None)
    return len(seen), collections.Counter(seen), seen[:10]


def case_cprofile_counts():
    warm()
    p = cProfile.Profile()
    p.enable()
    work(A, N)
    calls(N)
    p.disable()
    return sorted((e.code.co_name, e.callcount) for e in p.getstats() if not isinstance(e.code, str))


def line_tool(events, body, local=None):
    """Run body with a monitoring tool; the (event, line) pairs it saw of functions of this file."""
    seen = []
    tool = 3
    mon.use_tool_id(tool, "watch")
    try:
        def on_line(code, line):
            if code.co_filename == __file__ and code.co_name in ("work", "helper", "calls"):
                seen.append((code.co_name, line - code.co_firstlineno))

        def on_other(code, *rest):
            if code.co_filename == __file__ and code.co_name in ("work", "helper", "calls"):
                seen.append((code.co_name, rest[:1] if isinstance(rest[0], int) else "call"))
        mon.register_callback(tool, mon.events.LINE, on_line)
        for e in (mon.events.PY_START, mon.events.PY_RETURN, mon.events.JUMP, mon.events.BRANCH, mon.events.INSTRUCTION,
                  mon.events.CALL):
            mon.register_callback(tool, e, on_other)
        if local is None:
            mon.set_events(tool, events)
        else:
            mon.set_local_events(tool, local.__code__, events)
        body()
        mon.set_events(tool, 0)
        if local is not None:
            mon.set_local_events(tool, local.__code__, 0)
    finally:
        for e in (mon.events.LINE, mon.events.PY_START, mon.events.PY_RETURN, mon.events.JUMP, mon.events.BRANCH,
                  mon.events.INSTRUCTION, mon.events.CALL):
            mon.register_callback(tool, e, None)
        mon.free_tool_id(tool)
    return len(seen), collections.Counter(seen), seen[:10], seen[-5:]


def case_monitoring_line_global():
    warm()
    return line_tool(mon.events.LINE, lambda: (work(A, N), calls(N)))


def case_monitoring_line_local():
    warm()
    return line_tool(mon.events.LINE, lambda: (work(A, N), calls(N)), local=work)


def case_monitoring_line_local_on_callee():
    warm()
    return line_tool(mon.events.LINE, lambda: (work(A, N), calls(N)), local=helper)


def case_monitoring_calls():
    warm()
    return line_tool(mon.events.PY_START | mon.events.PY_RETURN, lambda: calls(N))


def case_monitoring_jump_branch():
    warm()
    return line_tool(mon.events.JUMP | mon.events.BRANCH, lambda: work(A, N))


def case_monitoring_instruction():
    warm()
    return line_tool(mon.events.INSTRUCTION, lambda: work(A, 20), local=work)


def case_monitoring_off_again():
    warm()
    a = line_tool(mon.events.LINE, lambda: work(A, 10))
    return a, work(A, N), calls(N)


def case_restart_events():
    for _ in range(5):
        work(A, N)
        mon.restart_events()
        calls(N)
    return work(A, N), calls(N)


def case_bdb_breakpoint():
    hits = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            if frame.f_code.co_name == "work":
                hits.append((frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals.get("i")))
            self.set_continue()
    warm()
    d = Debugger()
    line = work.__code__.co_firstlineno + 5
    d.set_break(__file__, line)
    d.runcall(work, A, 12)
    d.clear_all_breaks()
    return hits, work(A, N)


def case_coverage_by_settrace_lines():
    covered = set()

    def tracer(frame, event, arg):
        if frame.f_code.co_name not in ("work", "calls", "helper"):
            return None
        if event == "line":
            covered.add((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
        return tracer
    warm()
    sys.settrace(tracer)
    work(A, N)
    calls(N)
    sys.settrace(None)
    return sorted(covered)


def case_trace_function_writes_local():
    def f(n):
        s = 0
        for i in range(n):
            s += 1
        return s

    def tracer(frame, event, arg):
        if frame.f_code is not f.__code__:
            return None
        if event == "line" and frame.f_locals.get("i") == 5 and not done:
            done.append(1)
            if sys.version_info >= (3, 13):
                frame.f_locals["s"] = 1000
        return tracer
    done = []
    f(N)
    sys.settrace(tracer)
    r = f(N)
    sys.settrace(None)
    return r


def case_f_trace_opcodes():
    count = collections.Counter()

    def tracer(frame, event, arg):
        if frame.f_code.co_name != "work":
            return None
        frame.f_trace_opcodes = True
        count[event] += 1
        return tracer
    warm()
    sys.settrace(tracer)
    work(A, 15)
    sys.settrace(None)
    return sorted(count.items())


def case_exception_events():
    seen = []

    def bad(n):
        s = 0
        for i in range(n):
            try:
                s += 1 // (i % 10)
            except ZeroDivisionError:
                s += 1
        return s

    def tracer(frame, event, arg):
        if frame.f_code is not bad.__code__:
            return None
        if event == "exception":
            seen.append((frame.f_locals["i"], arg[0].__name__))
        return tracer
    bad(N)
    sys.settrace(tracer)
    bad(N)
    sys.settrace(None)
    return len(seen), seen[:4]


def case_frame_line_numbers():
    lines = collections.Counter()

    def look():
        f = sys._getframe(1)
        lines[f.f_lineno - f.f_code.co_firstlineno, f.f_lasti] += 1

    def loop(n):
        for i in range(n):
            if i % 2:
                look()
            else:
                look()
    loop(N)
    return sorted(lines.items())


def case_recursion_depth_unchanged():
    def deep(k):
        s = 0
        for i in range(3):
            s += i
        try:
            return deep(k + 1)
        except RecursionError:
            return k
    sys.setrecursionlimit(400)
    try:
        first = deep(0)
        for _ in range(3):
            again = deep(0)
    finally:
        sys.setrecursionlimit(1000)
    return again - first
