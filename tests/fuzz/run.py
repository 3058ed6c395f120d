"""Runs random loop programs with and without hotloop in one process and compares all that can be seen.

    python tests/fuzz/run.py [--seed FIRST] [--count N] [--seconds S] [--keep DIR]

Values with types and bits, arrays afterwards, exceptions with message and line, warnings with text and line. HOTLOOP_FORCE_EXIT and
HOTLOOP_BACKEND apply as always. Differences are printed as programs and kept in --keep; the last line is `N passed, N failed`.
"""

import argparse
import os
import pathlib
import struct
import sys
import time
import traceback
import warnings

import numpy as np

import hotloop

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from generate import Program  # noqa: E402

CALLS = 4
PARTS = ["result", "arrays", "warnings"]


def exact(value):
    if isinstance(value, tuple):
        return tuple(exact(v) for v in value)
    if isinstance(value, (float, np.floating)):
        return type(value).__name__, "nan" if value != value else struct.pack("d", float(value)).hex()
    return type(value).__name__, repr(value)


def array_state(array):
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)
    return array.tobytes()


def observe(function, arguments, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = exact(function(*arguments))
        except Exception as error:  # noqa: BLE001 - any exception is part of the answer
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
            outcome = type(error).__name__, str(error), lines
    arrays = [array_state(a) for a in arguments[:3]]
    return outcome, arrays, [(w.category.__name__, str(w.message), w.filename == name and w.lineno) for w in caught]


def run_program(seed):
    """None, or the first difference as text."""
    program = Program(seed)
    name = f"<program {seed}>"
    space = {}
    exec(compile(program.source, name, "exec"), space)
    for call in range(CALLS):
        with hotloop.paused():
            expected = observe(space["f"], program.arguments(call), name)
        actual = observe(space["f"], program.arguments(call), name)
        if actual != expected:
            what = next(k for k in range(3) if actual[k] != expected[k])
            before, after = repr(expected[what])[:1500], repr(actual[what])[:1500]
            return f"{program.source}\n# seed {seed}, call {call}, {PARTS[what]}\n# expected {before}\n# actual   {after}\n"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs that differ")
    parser.add_argument("--threshold", type=int, default=2)
    options = parser.parse_args()
    hotloop.enable(threshold=options.threshold)
    passed = failed = 0
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() - start > options.seconds:
            break
        difference = run_program(seed)
        if difference is None:
            passed += 1
            continue
        failed += 1
        if failed <= 5:
            print(difference, flush=True)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{seed}.py").write_text(difference)
    stats = hotloop.stats()
    print({name: value for name, value in stats.items() if value})
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not stats["compiled"] else 0


if __name__ == "__main__":
    sys.exit(main())
