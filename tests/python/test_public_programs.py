"""Whole programs against the interpreter: from public bug reports (cases/), as ordinary users write them (users/), and
the workloads of bench/suite at their small size."""
import glob
import os

import harness
import pytest
from need import needs_hotloop

HERE = os.path.dirname(os.path.abspath(__file__))

MODES = {
    "default": harness.jit_mode("default", 60),
    "t2": harness.jit_mode("t2", 60, 2),
    "force-4:19": harness.jit_mode("force-4:19", 60, None, "4:19"),
    "force-t20-9:3": harness.jit_mode("force-t20-9:3", 60, 20, "9:3"),
}
_results = {}


SUITE = os.path.join(HERE, "..", "..", "bench", "suite")
WORKLOAD = """
import importlib.util
spec = importlib.util.spec_from_file_location("{name}", {path!r})
workload = importlib.util.module_from_spec(spec)
spec.loader.exec_module(workload)

def case():
    out = []
    for make, run in [(workload.make, workload.run), *getattr(workload, "VARIANTS", {{}}).values()]:
        for repeat in range(2):
            args = make(workload.SIZES["small"])
            out.append((run(*args), args))
    return out
"""


def jobs(folder):
    if folder == "suite":
        paths = sorted(glob.glob(os.path.join(SUITE, "*.py")))
        names = [os.path.splitext(os.path.basename(p))[0] for p in paths]
        return [harness.program(source=WORKLOAD.format(name=n, path=os.path.abspath(p)), name=n)
                for n, p in zip(names, paths)]
    return [harness.program(f) for f in sorted(glob.glob(os.path.join(HERE, folder, "*.py")))]


def check(folder, name, mode):
    if (folder, mode) not in _results:
        _results[folder, mode] = harness.check(jobs(folder), MODES[mode], timeout=120)
    diffs, jit = _results[folder, mode]
    assert not {k: v for k, v in diffs.items() if k.startswith("child ")}, harness.report(diffs)
    mine = {k: v for k, v in diffs.items() if k.startswith(name + "::")}
    assert not mine, "\n" + harness.report(mine)
    assert f"{name}::case" in jit.cases


def params(folder, quick, modes=tuple(MODES)):
    return [pytest.param(j["name"], m, marks=() if m in quick else pytest.mark.slow)
            for m in modes for j in jobs(folder)]


@needs_hotloop
@pytest.mark.parametrize("name, mode", params("cases", {"default"}))
def test_reported_bug(name, mode):
    check("cases", name, mode)


# Where native code must run: all but those about whole arrays, tracers and reference counts.
ENTERED = ["01", "02", "03", "04", "05", "06", "08", "09", "11", "12", "13",
           pytest.param("07", marks=pytest.mark.xfail(reason="slices are not compiled, and the loop without them makes too few trips"))]


@needs_hotloop
@pytest.mark.parametrize("number", ENTERED)
def test_reported_bug_runs_natively(number):
    name = next(job["name"] for job in jobs("cases") if job["name"].startswith(number))
    check("cases", name, "t2")
    stats = _results["cases", "t2"][1].stats[f"{name}::case"]
    assert stats.get("entries", 0) > 0, stats


@needs_hotloop
@pytest.mark.parametrize("name, mode", params("users", set(), ("default", "force-t20-9:3")))
def test_user_program(name, mode):
    check("users", name, mode)


@needs_hotloop
@pytest.mark.parametrize("name, mode", params("suite", {"default"}))
def test_workload(name, mode):
    check("suite", name, mode)
