"""Child process of the differential harness: runs jobs and describes what each did.

Usage: python harness_child.py JOBS.json RESULTS.jsonl   (started by harness.py, never by hand)
Needs: NumPy; hotloop when the jobs ask for it. Promises: one JSON line per finished case, written and
flushed before the next one starts, preceded by a line that names it, so that a crash can be placed.
"""
import builtins
import io
import json
import linecache
import os
import sys
import time
import traceback
import types
import warnings

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from encode import encode  # noqa: E402

HARNESS_FILES = {os.path.abspath(__file__)}


def flat_numbers(stats, prefix=""):
    """All numbers of the nested dict hotloop.stats(), by dotted name."""
    out = {}
    for k, v in stats.items():
        if isinstance(v, dict):
            out.update(flat_numbers(v, f"{prefix}{k}."))
        elif isinstance(v, (int, float)) and not isinstance(v, bool):
            out[prefix + str(k)] = v
    return out


class Recorder:
    """Runs one callable and describes result, exception, warnings and output."""

    def __init__(self, hotloop, nan_bits):
        self.hotloop = hotloop
        self.nan_bits = nan_bits

    def run(self, fn, module, after):
        out, err = io.StringIO(), io.StringIO()
        saved = sys.stdout, sys.stderr
        filters = warnings.filters[:]
        show = warnings.showwarning
        np_err = np.geterr()
        record = {}
        sys.stdout, sys.stderr = out, err
        try:
            value = fn()
        except BaseException as e:
            record["exception"] = self.describe_exception(e)
            e.__traceback__ = None
            del e
        else:
            record["value"] = encode(value, self.nan_bits)
            del value
        finally:
            sys.stdout, sys.stderr = saved
            if warnings.filters != filters:
                warnings.filters[:] = filters
                warnings._filters_mutated() if hasattr(warnings, "_filters_mutated") else None
            warnings.showwarning = show
            np.seterr(**np_err)
        record["stdout"] = out.getvalue()
        record["stderr"] = err.getvalue()  # warnings arrive here in order, with file and line
        if after:
            record["module"] = describe_module(module, self.nan_bits)
        return record

    def describe_exception(self, e):
        tb = e.__traceback__
        while tb is not None and tb.tb_frame.f_code.co_filename in HARNESS_FILES:
            tb = tb.tb_next
        e = e.with_traceback(tb)
        try:
            text = traceback.format_exception(type(e), e, tb)
        except Exception as bad:
            text = ["unprintable: " + repr(bad)]
        frames = []
        while tb is not None:
            frame = tb.tb_frame
            if frame.f_code.co_name != "<module>":
                frames.append([frame.f_code.co_qualname, tb.tb_lineno, frame.f_lineno - frame.f_code.co_firstlineno,
                               encode(dict(frame.f_locals), self.nan_bits)])
            tb = tb.tb_next
        return {"what": encode(e, self.nan_bits), "text": text, "frames": frames}


def describe_module(module, nan_bits):
    skip = (types.FunctionType, types.ModuleType, type)
    return [[k, encode(v, nan_bits)] for k, v in vars(module).items()
            if not (k.startswith("__") and k.endswith("__")) and not isinstance(v, skip)]


def load(job):
    """The module of a job with its code; not run yet."""
    path, source = job.get("path"), job.get("source")
    if source is None:
        with open(path, encoding="utf-8") as f:
            source = f.read()
    name = job.get("module_name") or job["name"].replace("/", "_")
    filename = path or f"<{job['name']}>"
    if path is None:
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = types.ModuleType(name)
    module.__file__ = filename
    sys.modules[name] = module
    code = compile(source, filename, "exec", dont_inherit=True)
    return module, code


class Reporter:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def line(self, **fields):
        self.file.write(json.dumps(fields) + "\n")
        self.file.flush()


def run_job(job, recorder, reporter, hotloop):
    name = job["name"]
    skip = set(job.get("skip_cases", ()))
    entry = job.get("entry", "case")
    try:
        module, code = load(job)
    except SyntaxError as e:
        reporter.line(case=f"{name}::compile", record={"error": repr(e)}, stats={}, seconds=0)
        return
    if entry == "module":
        reporter.line(start=f"{name}::module")
        timed(recorder, lambda: exec(code, vars(module)), module, True, f"{name}::module", reporter, hotloop)
        return
    first = recorder.run(lambda: exec(code, vars(module)), module, False)
    if "exception" in first or first["stderr"]:
        reporter.line(case=f"{name}::import", record=first, stats={}, seconds=0)
    for key, fn in list(vars(module).items()):
        if not callable(fn) or not (key == "case" or key.startswith("case_")):
            continue
        full = f"{name}::{key}"
        only = job.get("only")
        if key in skip or (only and key not in only):
            continue
        for call in range(job.get("calls", 1)):
            label = full if call == 0 else f"{full}#{call + 1}"
            reporter.line(start=label)
            timed(recorder, fn, module, False, label, reporter, hotloop)
    sys.modules.pop(module.__name__, None)


def timed(recorder, fn, module, after, label, reporter, hotloop):
    before = flat_numbers(hotloop.stats()) if hotloop else {}
    t0 = time.perf_counter()
    record = recorder.run(fn, module, after)
    seconds = time.perf_counter() - t0
    delta = {}
    if hotloop:
        now = flat_numbers(hotloop.stats())
        delta = {k: now[k] - before.get(k, 0) for k in now if now[k] != before.get(k, 0)}
    reporter.line(case=label, record=record, stats=delta, seconds=seconds)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        plan = json.load(f)
    reporter = Reporter(sys.argv[2])
    hotloop = None
    if plan["hotloop"]:
        import hotloop
        hotloop.enable()
    builtins.TRIPS = plan["trips"]
    warnings.simplefilter("always")
    recorder = Recorder(hotloop, plan.get("nan_bits", False))
    for job in plan["jobs"]:
        run_job(job, recorder, reporter, hotloop)
    if hotloop:
        reporter.line(total=flat_numbers(hotloop.stats()), refusals=json.loads(json.dumps(
            hotloop.stats().get("refusals", []), default=str)))
    reporter.line(done=True)
    reporter.file.close()


if __name__ == "__main__":
    main()
