"""CPython's own regression tests with hotloop at threshold 2 against the same tests without: the outcome of each test must be equal.

    python tests/cpython/run.py [--seconds S] [--force SEED:K] [--subprocesses] [test_generators ...]      no names: those of MODULES

Each module runs in two fresh processes; hotloop is imported in both and enabled in one. --subprocesses: also in the Python processes that
the tests start. Needs: a Python that has its package `test` (where it is missing, this says so). Promises: a crash
or a hang is an outcome. Tests that must differ stand in DIFFERENT with the reason. The last line is `N passed, N failed`.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ["test_generators", "test_exceptions", "test_range", "test_iter", "test_sys_settrace", "test_sys_setprofile", "test_monitoring",
           "test_frame", "test_scope", "test_complex", "test_float", "test_long", "test_int", "test_enumerate", "test_fork1", "test_opcodes", "test_dict",
           "test_list", "test_tuple", "test_set", "test_slice", "test_bool", "test_augassign", "test_compare", "test_contains", "test_unpack",
           "test_unpack_ex", "test_with", "test_coroutines", "test_generator_stop", "test_yield_from", "test_named_expressions", "test_patma", "test_dynamic",
           "test_funcattrs", "test_code", "test_traceback", "test_warnings", "test_descr", "test_itertools", "test_math", "test_cmath", "test_fractions",
           "test_decimal", "test_random", "test_statistics", "test_heapq", "test_bisect", "test_array", "test_memoryview", "test_bytes", "test_struct",
           "test_pickle", "test_copy", "test_weakref", "test_gc", "test_threading", "test_signal", "test_contextlib", "test_dataclasses",
           "test_builtin", "test_call", "test_collections", "test_functools", "test_inspect", "test_bdb", "test_dis", "test_compile", "test_peepholer"]

END = "the process's end"
# (module, test) -> why its outcome differs
DIFFERENT = {
    ("test_code", END): "leaves a free function for data on code objects behind that is a ctypes object; CPython calls each free function for every code "
                        "object that has such data of anybody, also at the end, when the ctypes object is gone",
}


def flat(suite):
    for test in suite:
        if hasattr(test, "__iter__"):
            yield from flat(test)
        else:
            yield test


def hide_optimizer(monitoring):
    """test_monitoring checks again and again that no tool has events: in both processes it does not see those of the optimizer's id."""
    get_events, all_events, optimizer = monitoring.get_events, monitoring._all_events, monitoring.OPTIMIZER_ID
    monitoring.get_events = lambda tool: 0 if tool == optimizer else get_events(tool)
    monitoring._all_events = lambda: {event: rest for event, tools in all_events().items() if (rest := tools & ~(1 << optimizer))}


def child(name, mode, path):
    """Runs one module and writes {test: outcome} to the file."""
    import faulthandler
    import unittest

    import hotloop
    faulthandler.enable()
    outcomes, counters = {}, {}

    class Result(unittest.TextTestResult):
        def note(self, test, what):
            outcomes[str(test.id())] = what

        def addSuccess(self, test):
            super().addSuccess(test)
            self.note(test, "passed")

        def addFailure(self, test, err):
            super().addFailure(test, err)
            self.note(test, "failed")

        def addError(self, test, err):
            super().addError(test, err)
            self.note(test, "error")

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            self.note(test, "skipped")

        def addExpectedFailure(self, test, err):
            super().addExpectedFailure(test, err)
            self.note(test, "expected failure")

        def addUnexpectedSuccess(self, test):
            super().addUnexpectedSuccess(test)
            self.note(test, "unexpected success")

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                self.note(subtest, "failed")

        def startTest(self, test):
            super().startTest(test)
            with open(path + ".now", "w") as f:
                f.write(str(test.id()))

    from test import support
    support.use_resources = None if hasattr(support, "use_resources") else {}
    if name == "test_monitoring":
        hide_optimizer(sys.monitoring)
    suite = unittest.defaultTestLoader.loadTestsFromName("test." + name)
    if mode == "on":
        hotloop.enable(threshold=2)
        before = hotloop.stats()
    unittest.TextTestRunner(stream=sys.stderr, verbosity=1, resultclass=Result, tb_locals=False).run(suite)
    if mode == "on":
        after = hotloop.stats()
        counters = {k: after[k] - before[k] for k in ("loops_hot", "recordings", "compiled", "entries", "exits", "exits_forced")}
    with open(path, "w") as f:
        json.dump({"outcomes": outcomes, "counters": counters}, f)


def run(name, mode, options, folder):
    path = os.path.join(folder, f"{name}-{mode}.json")
    env = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")}
    env.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
    if mode == "on":
        env.update({"HOTLOOP_FORCE_EXIT": options.force} if options.force else {})
        if options.subprocesses:
            env.update(HOTLOOP="1", HOTLOOP_THRESHOLD="2", PYTHONPATH=os.path.join(HERE, "site"))
    with open(path + ".log", "w") as log:
        try:
            status = subprocess.run([sys.executable, os.path.abspath(__file__), "--child", name, mode, path], env=env, cwd=folder, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, timeout=options.timeout).returncode
        except subprocess.TimeoutExpired:
            status = "out of time"
    if os.path.exists(path):
        with open(path) as f:
            found = json.load(f)
        # A process may end badly after its tests: that is an outcome as well.
        return found["outcomes"] | ({END: str(status)} if status != 0 else {}), found["counters"]
    try:
        with open(path + ".now") as f:
            where = f.read()
    except OSError:
        where = "the process"
    return {where: f"ended with {status}"}, {}


def compare(name, options):
    """(number of equal outcomes, lines that describe the others, output if there are such, counters, seconds)"""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hotloop-cpython-") as folder:
        off, _ = run(name, "off", options, folder)
        on, counters = run(name, "on", options, folder)
        with open(os.path.join(folder, f"{name}-on.json.log"), errors="replace") as f:
            log = f.read()
    lines = [f"{test}: {off.get(test, 'not run')} without, {on.get(test, 'not run')} with" for test in sorted(off.keys() | on.keys())
             if off.get(test) != on.get(test) and (name, test) not in DIFFERENT]
    equal = sum(off[test] == on.get(test) for test in off)
    if not counters or END in off:  # a module that cannot be run at all compares nothing
        lines.append(f"{END}: {off} without, {on if not counters else ''} with")
    return equal, lines, log[-options.log:] if lines and options.log else "", counters, time.monotonic() - begun


def main():
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="*")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no more modules after so long")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one module")
    parser.add_argument("--force", metavar="SEED:K", help="forced exits")
    parser.add_argument("--subprocesses", action="store_true")
    parser.add_argument("--log", type=int, default=3000, help="characters of the output shown where something differs")
    options = parser.parse_args()
    if importlib.util.find_spec("test") is None or importlib.util.find_spec("test.test_range") is None:
        print(f"{sys.executable} has no regression tests (the package `test`): nothing to compare")
        return 2
    passed = failed = 0
    begun = time.monotonic()
    for name in options.module or MODULES:
        if time.monotonic() - begun > options.seconds:
            break
        if importlib.util.find_spec(f"test.{name}") is None:
            print(f"{name}: not there in this Python")
            continue
        equal, lines, log, counters, seconds = compare(name, options)
        print(f"{name}: {equal} equal, {len(lines)} differ, {seconds:.1f} s, {counters}", *lines, sep="\n  ")
        print(log, end="", flush=True)
        passed += equal
        failed += len(lines)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
