"""Runs one program with and without hotloop in this process and compares all that can be seen of it.

Compared: values with types and bits, arrays afterwards, exceptions with message, lines and the variables of the frames they passed,
warnings with text and line. Needs: hotloop, not enabled yet; use run_forked(), so that each run starts from nothing.
Promises: a crash or a hang of the program is a result. With HOTLOOP_FUZZ_WRONG=TEXT in the environment a program that contains TEXT and
entered native code gets a wrong result (with crashTEXT: crashes); the tests of the fuzzer itself use it.
"""
import ast
import json
import os
import re
import select
import signal
import struct
import time
import traceback
import warnings

import hotloop
import numpy as np
from generate import Program

CALLS = 4
PARTS = ["result", "arrays", "warnings"]
# name: options, how often the first two calls are repeated
MODES = {"t2": ({"threshold": 2}, 1), "default": ({"threshold": 1000}, 50), "forced": ({"threshold": 2}, 1),
         "evaluator": ({"threshold": 2, "backend": "evaluator"}, 1), "sse2": ({"threshold": 2, "isa": "sse2"}, 1)}
FORMS = ["function", "module"]
COUNTS = ["loops_seen", "loops_hot", "recordings", "compiled", "entries", "exits", "exits_forced", "refused"]


ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")  # of objects without a repr of their own


def exact(value):
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(exact, value)]
    if isinstance(value, set):  # the hash of a NaN is its place in memory
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, (float, np.floating)):
        return [type(value).__name__, "nan" if value != value else struct.pack("d", float(value)).hex()]
    return [type(value).__name__, ADDRESS.sub("", repr(value))]


def variables(space):
    """Numbers and whatever else is no array, function or module, in the order in which they were made."""
    return [[name, exact(value)] for name, value in space.items()
            if not (name.startswith("__") or callable(value) or isinstance(value, (np.ndarray, type(np))))]


def array_state(array):
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.nan, array)
    return array.tobytes().hex()


def exception(error, name):
    frames = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == name:
            frames.append([frame.f_code.co_name, line, variables(dict(frame.f_locals))])
    return ["exception", type(error).__name__, str(error), frames]


def observe(run, arguments, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = run(arguments)
        except Exception as error:  # noqa: BLE001 - any exception is part of the answer
            outcome = exception(error, name)
    arrays = [array_state(a) for a in arguments[:3]]
    return [outcome, arrays, [[w.category.__name__, str(w.message), w.filename == name and w.lineno] for w in caught]]


class Module(ast.NodeTransformer):
    """`def f` becomes code of the module; a return from the middle becomes an exception."""

    def visit_FunctionDef(self, node):
        return self.generic_visit(node).body if node.name == "f" else node

    def visit_Return(self, node):
        return ast.parse("raise Done").body[0]


def text_of(seed, form):
    source = Program(seed).source
    if form == "function":
        return source
    tree = ast.parse(source)
    function = next(x for x in tree.body if isinstance(x, ast.FunctionDef) and x.name == "f")
    function.body.pop()  # the return at the end
    return "class Done(Exception):\n    pass\n" + ast.unparse(ast.fix_missing_locations(Module().visit(tree))) + "\n"


def runner(source, form, name):
    code = compile(source, name, "exec")
    if form == "module":
        def run(arguments):
            space = dict(zip(["a", "b", "m", "x", "y", "n"], arguments), __name__="fuzz")
            exec(code, space)
            return variables(space)
    else:
        space = {"__name__": "fuzz"}
        exec(code, space)

        def run(arguments):
            return exact(space["f"](*arguments))
    return run


def plan(repeats):
    return [0, 1] * repeats + list(range(2, CALLS))


def compare(seed, source, form, repeats):
    """None, or the part that differs, the call, and both results."""
    program = Program(seed)
    name = f"<program {seed}>"
    wrong = os.environ.get("HOTLOOP_FUZZ_WRONG")
    try:
        run = runner(source, form, name)
    except Exception:  # noqa: BLE001 - shrinking tries anything
        return None
    expected = {}
    for call in plan(repeats):
        if call not in expected:
            with hotloop.paused():
                expected[call] = observe(run, program.arguments(call), name)
        entries = hotloop.stats()["entries"]
        actual = observe(run, program.arguments(call), name)
        has_loop = "for " in source or "while " in source  # loops of this module are hot, too
        if wrong and has_loop and wrong.removeprefix("crash") in source and hotloop.stats()["entries"] > entries:
            if wrong.startswith("crash"):
                os.abort()
            actual[0] = ["wrong", actual[0]]
        if actual != expected[call]:
            part = next(k for k in range(3) if actual[k] != expected[call][k])
            return {"part": PARTS[part], "call": call, "expected": expected[call][part], "actual": actual[part]}
    return None


def numbers(stats):
    out = {name: stats[name] for name in COUNTS}
    for group in ("exit_kinds", "forced_exit_kinds", "refusals"):
        out.update({f"{group}.{name}": value for name, value in stats[group].items()})
    return out


def run_program(seed, mode, form, source=None):
    """The difference (or None) and what hotloop's counters gained."""
    options, repeats = MODES[mode]
    if mode == "forced":
        options = dict(options, force_exit=f"{seed}:{[3, 2, 7, 20][seed % 4]}")
    before = numbers(hotloop.stats())
    hotloop.enable()
    with hotloop.options(**options):
        difference = compare(seed, text_of(seed, form) if source is None else source, form, repeats)
    after = numbers(hotloop.stats())
    return difference, {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)}


class Child:
    """A forked process that works through jobs and reports each, as [job, difference, counters], through a pipe."""

    def __init__(self, jobs):
        self.left = list(jobs)
        self.buffer = b""
        self.answered = time.monotonic()
        self.pipe, other = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.pipe)
                for job in self.left:
                    line = json.dumps([job, *run_program(*job)]) + "\n"
                    while line:
                        line = line[os.write(other, line.encode()):]  # all of it is ASCII
                status = 0
            finally:
                os._exit(status)
        os.close(other)

    def read(self):
        """What came since: a list of reports; None at the end."""
        data = os.read(self.pipe, 1 << 16)
        if not data:
            return None
        self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        self.left = self.left[len(lines):]
        self.answered = time.monotonic()
        return [json.loads(line) for line in lines]

    def stop(self, hung):
        """The child's end: None, or what went wrong with the first job that is left."""
        if hung:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.pipe)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if hung or status != 0:
            return {"part": "hang" if hung else f"crash {status}", "call": None, "expected": "", "actual": ""}
        return None


def run_forked(job, before=(), timeout=20):
    """The difference of one job in a process of its own, behind the jobs `before` if there are any."""
    child = Child([*before, job])
    found = None
    while True:
        ready = select.select([child.pipe], [], [], max(0, child.answered + timeout - time.monotonic()))[0]
        reports = child.read() if ready else None
        if reports is None:
            return child.stop(not ready) or found
        for report in reports:
            found = report[1] if report[0][:3] == list(job[:3]) else None
