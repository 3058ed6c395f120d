"""Every program of the corpus, in several modes, against the plain interpreter.

One child process per mode runs everything (and one more for the reference); each test looks at its case. Of the
mode with long loops, two processes: the programs that quick runs keep, and the rest.
Modes: the default threshold with loops long enough for it, threshold 2 with short loops, forced exits with
several seeds, the reference evaluator instead of machine code, the oldest instruction set.
"""
import ast
import glob
import os

import harness
import pytest
from need import needs_hotloop

HERE = os.path.dirname(os.path.abspath(__file__))
SHORT, LONG = 60, 2500

MODES = {
    "default": harness.jit_mode("default", LONG),
    "t2": harness.jit_mode("t2", SHORT, 2, HOTLOOP_VERIFY="1"),
    "force-1:7": harness.jit_mode("force-1:7", SHORT, 2, "1:7"),
    "force-0:1": harness.jit_mode("force-0:1", SHORT, 2, "0:1"),
    "force-2:2": harness.jit_mode("force-2:2", SHORT, 2, "2:2"),
    "force-5:31": harness.jit_mode("force-5:31", SHORT, 2, "5:31"),
    "force-default-3:101": harness.jit_mode("force-default-3:101", LONG, None, "3:101"),
    "evaluator": harness.jit_mode("evaluator", SHORT, 2, HOTLOOP_BACKEND="evaluator"),
    "sse2": harness.jit_mode("sse2", SHORT, 2, HOTLOOP_ISA="sse2"),
    "t8": harness.jit_mode("t8", SHORT, 8),
}
QUICK = {"default", "t2", "force-1:7"}
# With long loops, quick runs keep these.
QUICK_LONG = {"kernels", "after_loop", "lists", "iterators", "flow", "type_changes", "numpy_scalar_warnings", "run_python"}
CALLS = 3


def corpus_jobs():
    jobs = [harness.program(f, calls=CALLS) for f in sorted(glob.glob(os.path.join(HERE, "programs", "*.py")))]
    jobs += [harness.program(f, entry="module", name="modules/" + os.path.splitext(os.path.basename(f))[0])
             for f in sorted(glob.glob(os.path.join(HERE, "modules", "*.py")))]
    return jobs


def case_labels():
    labels = []
    for job in corpus_jobs():
        if job["entry"] == "module":
            labels.append(f"{job['name']}::module")
            continue
        with open(job["path"], encoding="utf-8") as f:
            names = [n.name for n in ast.parse(f.read()).body if isinstance(n, ast.FunctionDef)]
        labels += [f"{job['name']}::{n}" for n in names if n.startswith("case")]
    return labels


LABELS = case_labels()
_results = {}


def kept(mode, name):
    """Whether quick runs keep the program in this mode."""
    return mode in QUICK and (mode != "default" or name in QUICK_LONG)


def outcome(mode, quick):
    """(differences by label, hotloop's result) of the programs that quick runs keep, or of the others; run once."""
    if (mode, quick) not in _results:
        jobs = [job for job in corpus_jobs() if kept(mode, job["name"]) == quick]
        _results[mode, quick] = harness.check(jobs, MODES[mode], timeout=60)
    return _results[mode, quick]


def parts():
    """Parameters (mode, quick) for all that `outcome` knows."""
    found = dict.fromkeys((mode, kept(mode, job["name"])) for mode in MODES for job in corpus_jobs())
    return [pytest.param(*part, marks=() if part[1] else pytest.mark.slow, id=part[0] + ("" if part[1] else "-slow")) for part in found]


def case_params():
    pairs = [(label, mode) for label in LABELS for mode in sorted(QUICK)]
    return [pytest.param(label, mode, marks=() if kept(mode, label.split("::")[0]) else pytest.mark.slow) for label, mode in pairs]


def check(mode, name, chosen):
    diffs, jit = outcome(mode, kept(mode, name))
    mine = {k: v for k, v in diffs.items() if chosen(k)}
    assert not mine, "\n" + harness.report(mine)
    return jit


@needs_hotloop
@pytest.mark.parametrize("label, mode", case_params())
def test_case(label, mode):
    jit = check(mode, label.split("::")[0], lambda k: k.split("#")[0] == label)
    assert label in jit.cases, "the case did not run"


@needs_hotloop
@pytest.mark.slow
@pytest.mark.parametrize("mode", sorted(set(MODES) - QUICK))
@pytest.mark.parametrize("name", [j["name"] for j in corpus_jobs()])
def test_program(name, mode):
    jit = check(mode, name, lambda k: k.split("::")[0] == name)
    assert any(k.startswith(name + "::") for k in jit.cases), "no case ran"


@needs_hotloop
@pytest.mark.parametrize("mode, quick", parts())
def test_nothing_else(mode, quick):
    """No accident outside the cases: imports, between cases, at exit."""
    diffs, _ = outcome(mode, quick)
    other = {k: v for k, v in diffs.items() if k.split("#")[0] not in LABELS}
    assert not other, "\n" + harness.report(other)


def entered(jit):
    return {k.split("#")[0] for k, s in jit.stats.items() if s.get("entries", 0) > 0}


@needs_hotloop
def test_native_code_is_entered():
    """Most of the corpus does run native code: a harness that compares two interpreters proves nothing."""
    _, jit = outcome("t2", True)
    ran = entered(jit)
    missing = [x for x in LABELS if x.startswith("kernels::") and x not in ran]
    assert len(ran) >= 0.6 * len(LABELS), f"only {len(ran)} of {len(LABELS)} cases entered native code"
    assert len(missing) <= 6, f"kernels that stayed interpreted: {missing}; refusals: {jit.total}"


@needs_hotloop
@pytest.mark.parametrize("mode, quick", [p for p in parts() if p.values[0].startswith("force")])
def test_exits_are_forced(mode, quick):
    _, jit = outcome(mode, quick)
    assert jit.total.get("exits_forced", 0) > 100, jit.total


@needs_hotloop
@pytest.mark.parametrize("mode, quick", parts())
def test_compiler_agrees_with_itself(mode, quick):
    """No recording fails the verifier, nothing that passed it fails in the back end."""
    _, jit = outcome(mode, quick)
    names = ("refusals.VerifierFailed", "refusals.CodegenFailed")
    bad = sorted({k.split("#")[0] for k, s in jit.stats.items() if any(s.get(n) for n in names)})
    assert not bad, f"{len(bad)} cases: {bad}"
