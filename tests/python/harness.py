"""Differential harness: any program with and without hotloop, in fresh processes, compared exactly.

Compared: value, types and bits of the result; exception type, message, traceback text and the variables
of every frame it passed; warnings with category, text, file and line, in order, among everything else
written to stderr; stdout; for whole modules, every variable they leave behind.
Needs: harness_child.py, encode.py; hotloop installed in this Python for the modes that use it.
Promises: a crash or a hang of the child is a result of the program that caused it; the rest still runs.

    from harness import Mode, run_batch, compare, program
    python tests/python/harness.py [--trips N] [--threshold N] [--force SEED:K] program.py ...
"""
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from encode import differences  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Mode:
    """How a child runs: `trips` sizes the loops of programs that ask for the builtin TRIPS."""
    name: str
    hotloop: bool = True
    trips: int = 60
    env: tuple = ()

    def reference(self):
        return Mode(f"plain-{self.trips}", False, self.trips)


PLAIN = Mode("plain", False)


def jit_mode(name, trips, threshold=None, force_exit=None, **more):
    env = [(k, str(v)) for k, v in more.items()]
    if threshold is not None:
        env.append(("HOTLOOP_THRESHOLD", str(threshold)))
    if force_exit is not None:
        env.append(("HOTLOOP_FORCE_EXIT", force_exit))
    return Mode(name, True, trips, tuple(env))


def program(path=None, source=None, name=None, entry="case", calls=1, **more):
    """One job: `entry` is "case" (every function `case` or `case_*`) or "module" (the whole file)."""
    if (path is None) == (source is None):
        raise ValueError("a program is a path or a source text")
    job = {"name": name or os.path.splitext(os.path.basename(path))[0], "entry": entry, "calls": calls}
    job["path" if path else "source"] = os.path.abspath(path) if path else source
    return dict(job, **more)


@dataclasses.dataclass
class Result:
    cases: dict            # label -> record
    stats: dict            # label -> what hotloop.stats() gained during the case
    seconds: dict          # label -> wall time
    total: dict
    refusals: object


def child_environment(mode):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")}
    env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONFAULTHANDLER="1", OMP_NUM_THREADS="1",
               OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0", PYTHONUNBUFFERED="1")
    env.update(dict(mode.env))
    return env


def _run_child(jobs, mode, folder, timeout, nan_bits, python):
    plan, results = os.path.join(folder, "jobs.json"), os.path.join(folder, "results.jsonl")
    with open(plan, "w", encoding="utf-8") as f:
        json.dump({"jobs": jobs, "hotloop": mode.hotloop, "trips": mode.trips, "nan_bits": nan_bits}, f)
    open(results, "w").close()
    log = os.path.join(folder, "stderr.txt")
    with open(log, "w") as err:
        proc = subprocess.Popen([python, os.path.join(HERE, "harness_child.py"), plan, results],
                                env=child_environment(mode), stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                cwd=folder)
        size, last = -1, time.monotonic()
        hung = False
        while True:
            try:
                proc.wait(0.02 if time.monotonic() - last < 0.5 else 0.2)
                break
            except subprocess.TimeoutExpired:
                now = os.path.getsize(results)
                if now != size:
                    size, last = now, time.monotonic()
                elif time.monotonic() - last > timeout:
                    hung = True
                    proc.kill()
                    proc.wait()
                    break
    with open(results, encoding="utf-8") as f:
        lines = [json.loads(x) for x in f.read().splitlines() if x]
    with open(log, encoding="utf-8", errors="replace") as f:
        noise = f.read()
    return lines, proc.returncode, hung, noise


def run_batch(jobs, mode, timeout=60, nan_bits=False, python=sys.executable):
    """Run all jobs under `mode`, in one child unless one crashes or hangs; then the next child goes on."""
    result = Result({}, {}, {}, {}, [])
    todo = list(jobs)
    while todo:
        known = len(result.cases)
        with tempfile.TemporaryDirectory(prefix="hotloop-test-") as folder:
            lines, code, hung, noise = _run_child(todo, mode, folder, timeout, nan_bits, python)
        started = None
        done = False
        for line in lines:
            if "start" in line:
                started = line["start"]
            elif "case" in line:
                started = None
                result.cases[line["case"]] = line["record"]
                result.stats[line["case"]] = line["stats"]
                result.seconds[line["case"]] = line["seconds"]
            elif "total" in line:
                for k, v in line["total"].items():
                    result.total[k] = result.total.get(k, 0) + v
                result.refusals.append(line["refusals"])
            elif "done" in line:
                done = True
        if done and code == 0:
            break
        todo = _after_accident(todo, result, started, done, code, hung, noise, progress=len(result.cases) > known)
    return result


def _after_accident(todo, result, started, done, code, hung, noise, progress):
    """Blame the case that was running (or the child itself) and say what is left to run."""
    what = "hung" if hung else f"child ended with {code}"
    if started is None:
        where = "at exit" if done else "at start or between cases"
        result.cases[f"child {where} after {len(result.cases)} cases"] = {"crash": what, "log": noise[-6000:]}
        if done or not progress:
            return []
    else:
        result.cases[started] = {"crash": what, "log": noise[-6000:]}
    finished = {}
    for label in result.cases:
        if "::" in label:
            job, case = label.split("::", 1)
            finished.setdefault(job, []).append(case.split("#")[0])
    left = []
    for job in todo:
        names = finished.get(job["name"])
        if names is None:
            left.append(job)
        elif job["entry"] == "case" and job is todo[_last_seen(todo, finished)]:
            left.append(dict(job, skip_cases=sorted(set(job.get("skip_cases", ())) | set(names))))
    return left


def _last_seen(todo, finished):
    seen = [i for i, job in enumerate(todo) if job["name"] in finished]
    return seen[-1] if seen else 0


def compare(plain, jit):
    """Case label -> list of differences, only for cases that differ."""
    out = {}
    for label in list(plain.cases) + [x for x in jit.cases if x not in plain.cases]:
        a, b = plain.cases.get(label), jit.cases.get(label)
        if a is None or b is None:
            if _same_case_crashed(jit, label):
                continue
            out[label] = [f"only in the {'interpreter' if b is None else 'hotloop'} run: {json.dumps(a or b)[:3000]}"]
        elif "crash" in b:
            out[label] = [f"{b['crash']}\n{b['log']}"]
        elif a != b:
            out[label] = differences(a, b)
    return out


def _same_case_crashed(jit, label):
    base = label.split("#")[0]
    return any("crash" in r and k.split("#")[0] == base for k, r in jit.cases.items())


_references = {}


def check(jobs, mode, **options):
    """Run under the mode and against its reference (cached per job list and size): (differences, jit result)."""
    ref_mode = mode.reference()
    key = (json.dumps(jobs, sort_keys=True), ref_mode, json.dumps(options, sort_keys=True))
    if key not in _references:
        _references[key] = run_batch(jobs, ref_mode, **options)
    jit = run_batch(jobs, mode, **options)
    return compare(_references[key], jit), jit


def report(diffs):
    return "\n".join(f"  {label}\n" + "\n".join("    " + d for d in items) for label, items in diffs.items())


def main(argv):
    import argparse
    p = argparse.ArgumentParser(description="Compare programs with and without hotloop.")
    p.add_argument("programs", nargs="+")
    p.add_argument("--entry", choices=("case", "module"), default="case")
    p.add_argument("--only", action="append", help="only this case function")
    p.add_argument("--trips", type=int, default=60)
    p.add_argument("--calls", type=int, default=2)
    p.add_argument("--threshold", type=int)
    p.add_argument("--force", metavar="SEED:K")
    p.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("--stats", action="store_true")
    a = p.parse_args(argv)
    more = dict(e.split("=", 1) for e in a.env)
    mode = jit_mode("command line", a.trips, a.threshold, a.force, **more)
    jobs = [program(x, entry=a.entry, calls=a.calls, only=a.only) for x in a.programs]
    diffs, jit = check(jobs, mode)
    if a.stats:
        for label, s in jit.stats.items():
            print(label, {k: v for k, v in s.items() if v})
        print("refusals:", json.dumps(jit.refusals, indent=1))
    print(report(diffs) or "  no differences")
    print(f"{len(jit.cases)} cases, {len(diffs)} differ")
    return 1 if diffs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
