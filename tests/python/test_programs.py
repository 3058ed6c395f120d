"""Every program of the corpus, in several modes, against the plain interpreter.

One child process per mode runs everything (and one more for the reference); each test looks at its case.
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


def outcome(mode):
    """(differences by label, hotloop's result), run once per mode."""
    if mode not in _results:
        _results[mode] = harness.check(corpus_jobs(), MODES[mode], timeout=60)
    return _results[mode]


def mode_params():
    return [pytest.param(m, marks=() if m in QUICK else pytest.mark.slow) for m in MODES]


def check(mode, chosen):
    diffs, jit = outcome(mode)
    mine = {k: v for k, v in diffs.items() if chosen(k)}
    assert not mine, "\n" + harness.report(mine)
    return jit


@needs_hotloop
@pytest.mark.parametrize("mode", sorted(QUICK))
@pytest.mark.parametrize("label", LABELS)
def test_case(label, mode):
    jit = check(mode, lambda k: k.split("#")[0] == label)
    assert label in jit.cases, "the case did not run"


@needs_hotloop
@pytest.mark.slow
@pytest.mark.parametrize("mode", sorted(set(MODES) - QUICK))
@pytest.mark.parametrize("name", [j["name"] for j in corpus_jobs()])
def test_program(name, mode):
    jit = check(mode, lambda k: k.split("::")[0] == name)
    assert any(k.startswith(name + "::") for k in jit.cases), "no case ran"


@needs_hotloop
@pytest.mark.parametrize("mode", mode_params())
def test_nothing_else(mode):
    """No accident outside the cases: imports, between cases, at exit."""
    diffs, _ = outcome(mode)
    other = {k: v for k, v in diffs.items() if k.split("#")[0] not in LABELS}
    assert not other, "\n" + harness.report(other)


def entered(jit):
    return {k.split("#")[0] for k, s in jit.stats.items() if s.get("entries", 0) > 0}


@needs_hotloop
def test_native_code_is_entered():
    """Most of the corpus does run native code: a harness that compares two interpreters proves nothing."""
    _, jit = outcome("t2")
    ran = entered(jit)
    missing = [x for x in LABELS if x.startswith("kernels::") and x not in ran]
    assert len(ran) >= 0.6 * len(LABELS), f"only {len(ran)} of {len(LABELS)} cases entered native code"
    assert len(missing) <= 6, f"kernels that stayed interpreted: {missing}; refusals: {jit.total}"


@needs_hotloop
@pytest.mark.parametrize("mode", [p for p in mode_params() if p.values[0].startswith("force")])
def test_exits_are_forced(mode):
    _, jit = outcome(mode)
    assert jit.total.get("exits_forced", 0) > 100, jit.total


@needs_hotloop
@pytest.mark.parametrize("mode", mode_params())
def test_compiler_agrees_with_itself(mode):
    """No recording fails the verifier, nothing that passed it fails in the back end."""
    _, jit = outcome(mode)
    names = ("refusals.VerifierFailed", "refusals.CodegenFailed")
    bad = sorted({k.split("#")[0] for k, s in jit.stats.items() if any(s.get(n) for n in names)})
    assert not bad, f"{len(bad)} cases: {bad}"
