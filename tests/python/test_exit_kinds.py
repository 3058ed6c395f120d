"""Every kind of exit is taken by whole programs (exit_programs.py), because its guard fails and because it is made to fail, with the interpreter's results."""
import json
import os
import re
import subprocess
import sys

import pytest
from need import needs_hotloop

HERE = os.path.dirname(os.path.abspath(__file__))
REASONS = set(re.findall(r'^HL_EXIT\((\w+)', open(os.path.join(HERE, "..", "..", "src", "ir", "exits.def")).read(), re.MULTILINE))
# By reason and operation. Exits proper (finished, left, path, ...) cannot be forced: behind them there is nothing to go on with.
NATURAL = {"Bounds bound", "Bounds guard", "Breaker poll", "Domain guard", "Finished exit", "FpWarning fcheck", "Hoisted guard", "Left guard",
           "Overflow addo", "Overflow guard", "Overflow mulo", "Overflow nego", "Overflow shlo", "Overflow subo", "Path guard",
           "TypeChange exit", "Unsupported guard", "ZeroDivide guard", "ZeroTrip guard"}
FORCED = {"Bounds bound", "Bounds guard", "Breaker poll", "Domain guard", "FpWarning fcheck", "Hoisted addo", "Hoisted guard", "Hoisted mulo",
          "Hoisted subo", "Overflow addo", "Overflow guard", "Overflow mulo", "Overflow nego", "Overflow shlo", "Overflow subo",
          "ZeroDivide guard", "ZeroTrip guard"}
STEPS = ["1:2", "7:5", "5:40", "3:3", "2:9", "3:1"]
# Which guard the k-th is depends on when a recording began: where a rare one was not hit, others are tried.
MORE_STEPS = [f"{seed}:{k}" for k in (2, 3, 4, 5, 7, 11) for seed in (11, 12, 13)]


def run(*arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")}
    done = subprocess.run([sys.executable, "-X", "faulthandler", os.path.join(HERE, "exit_programs.py"), *arguments], env=environment,
                          capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr[-4000:]
    results = json.loads(done.stdout)
    assert not {name: result["differ"] for name, result in results.items() if result["differ"]}
    return results


def kinds(results, group):
    return {kind for result in results.values() for kind in result[group]}


@pytest.fixture(scope="module")
def natural():
    return kinds(run("2"), "natural")


@needs_hotloop
def test_every_reason_occurs(natural):
    assert {kind.split()[0] for kind in natural} == REASONS - {"Forced"}


@needs_hotloop
def test_every_guard_fails_by_itself(natural):
    assert natural >= NATURAL, NATURAL - natural


@needs_hotloop
@pytest.mark.slow
def test_every_guard_fails_when_forced():
    forced = {kind for step in STEPS for kind in kinds(run("2", step), "forced")}
    for step in MORE_STEPS:
        if forced >= FORCED:
            break
        forced |= kinds(run("2", step), "forced")
    assert forced >= FORCED, FORCED - forced


@needs_hotloop
@pytest.mark.slow
def test_default_threshold():
    run("1000")
    run("100", "4:6")
