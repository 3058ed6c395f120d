"""Programs from public bug reports (cases/) and as ordinary users write them (users/), against the interpreter."""
import glob
import os

import pytest

import harness
from need import needs_hotloop

HERE = os.path.dirname(os.path.abspath(__file__))

MODES = {
    "default": harness.jit_mode("default", 60),
    "t2": harness.jit_mode("t2", 60, 2),
    "force-4:19": harness.jit_mode("force-4:19", 60, None, "4:19"),
    "force-t20-9:3": harness.jit_mode("force-t20-9:3", 60, 20, "9:3"),
}
_results = {}


def jobs(folder):
    return [harness.program(f) for f in sorted(glob.glob(os.path.join(HERE, folder, "*.py")))]


def check(folder, name, mode):
    if (folder, mode) not in _results:
        _results[folder, mode] = harness.check(jobs(folder), MODES[mode], timeout=120)
    diffs, jit = _results[folder, mode]
    assert not {k: v for k, v in diffs.items() if k.startswith("child ")}, harness.report(diffs)
    mine = {k: v for k, v in diffs.items() if k.startswith(name + "::")}
    assert not mine, "\n" + harness.report(mine)
    assert f"{name}::case" in jit.cases


def params(folder, quick):
    return [pytest.param(j["name"], m, marks=() if m in quick else pytest.mark.slow)
            for m in MODES for j in jobs(folder)]


@needs_hotloop
@pytest.mark.parametrize("name, mode", params("cases", {"default"}))
def test_reported_bug(name, mode):
    check("cases", name, mode)


@needs_hotloop
@pytest.mark.parametrize("name, mode", params("users", set()))
def test_user_program(name, mode):
    check("users", name, mode)
