"""What hotloop costs where it cannot help: the programs of overhead_workloads.py with hotloop enabled against not enabled.

Two processes per program on one core, with hotloop enabled and only imported, take turns; a pair is one run of each (of
the imports and of the module with 2,000 loops: two fresh processes). Compared is CPU time. `ratio` is enabled / not enabled of the
smallest times, `median` that of the medians; `first` is the whole of the first runs, in which hotloop watches and gives up.
Needs: hotloop installed in this Python. The last line says whether the goals hold; --check makes that the exit status.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GOALS = {"mean": 1.01, "worst": 1.03, "import_seconds": 0.020, "import_bytes": 15e6}
FIRST = 3  # runs of each process that are not part of the pairs


def progress(text):
    sys.stderr.write("\r" + text.ljust(100)[:100])
    sys.stderr.flush()


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")}
    env.update(PYTHONHASHSEED="0", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    return env


def start(name, mode, **more):
    return subprocess.Popen([sys.executable, os.path.join(HERE, "overhead_worker.py"), name, mode], env=environment(), text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)


def once(name, mode):
    process = start(name, mode)
    out = process.communicate("")[0]
    if process.returncode != 0:
        raise SystemExit(f"{name} ({mode}) ended with {process.returncode}")
    return json.loads(out)


def ask(process, line="run"):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"{process.args[-2]} ({process.args[-1]}) ended with {process.wait()}")
    return json.loads(answer)


def alternate(runs, pairs, name):
    """`pairs` times both functions of `runs`, each order in turn."""
    times = {mode: [] for mode in runs}
    for k in range(pairs):
        progress(f"{name}: pair {k + 1} of {pairs}")
        for mode in sorted(runs, reverse=k % 2 == 1):
            times[mode].append(runs[mode]())
    return times


def measure_resident(name, pairs):
    processes = {mode: start(name, mode) for mode in ("off", "on")}
    try:
        first = alternate({m: lambda p=p: ask(p)["seconds"] for m, p in processes.items()}, FIRST, name + " (first runs)")
        values = {mode: ask(p)["value"] for mode, p in processes.items()}
        if values["off"] != values["on"]:
            raise SystemExit(f"{name}: the results differ: {values}")
        times = alternate({m: lambda p=p: ask(p)["seconds"] for m, p in processes.items()}, pairs, name)
        stats = ask(processes["on"], "stats")["stats"]
    finally:
        for process in processes.values():
            process.stdin.close()
            process.wait()
    return times, stats, sum(first["on"]) / sum(first["off"])


def measure_fresh(name, pairs):
    stats = {}

    def run(mode):
        answer = once(name, mode)
        if mode == "on":
            stats.update(answer["stats"])
        return answer["seconds"]
    return alternate({mode: lambda mode=mode: run(mode) for mode in ("off", "on")}, pairs, name), stats, None


def measure(name, fresh, pairs):
    times, stats, first = (measure_fresh if fresh else measure_resident)(name, pairs)
    least, middle = ({m: f(t) for m, t in times.items()} for f in (min, statistics.median))
    return {"ratio": least["on"] / least["off"], "median": middle["on"] / middle["off"], "first": first, "seconds": least["off"],
            "hot": stats["loops_hot"], "recordings": stats["recordings"], "entries": stats["entries"],
            "refusals": stats["refusals"], "times": times}


def startup(count):
    runs = []
    for k in range(count):
        progress(f"import: process {k + 1} of {count}")
        runs.append(once("-", "startup"))
    return {key: statistics.median(r[key] for r in runs) for key in runs[0]}


def table(results):
    width = max(map(len, results))
    lines = [f"{'':{width}}  ratio  median  first      ms   hot  recorded  entered"]
    for name, r in results.items():
        first = f"{r['first']:.2f}" if r["first"] else ""
        lines.append(f"{name:{width}}  {r['ratio']:.3f}   {r['median']:.3f}  {first:>5}  {r['seconds'] * 1e3:6.1f}  {r['hot']:4}  "
                     f"{r['recordings']:8}  {r['entries']:7}")
    return "\n".join(lines)


def main():
    import overhead_workloads as workloads
    fresh = [f.__name__ for f in workloads.FRESH]
    names = [f.__name__ for f in workloads.WORKLOADS] + fresh
    parser = argparse.ArgumentParser(prog="bench/overhead", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", nargs="*", help="only these: " + " ".join(names))
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="5 pairs")
    parser.add_argument("--json", help="write all times to this file")
    parser.add_argument("--check", action="store_true", help="exit status 1 if a goal is missed")
    options = parser.parse_args()
    unknown = set(options.workload) - set(names)
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}")
    pairs = 5 if options.quick else options.pairs
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # both processes on one core, so that they see the same machine
    begun = time.monotonic()
    cost = startup(5 if options.quick else 15)
    results = {name: measure(name, name in fresh, pairs) for name in options.workload or names}
    progress("")
    sys.stderr.write("\r")
    ratios = [r["ratio"] for r in results.values()]
    summary = {"mean": math.exp(statistics.fmean(map(math.log, ratios))), "worst": max(ratios), "pairs": pairs} | cost
    print(table(results))
    worst = max(results, key=lambda name: results[name]["ratio"])
    print(f"geometric mean {summary['mean']:.3f}, worst {summary['worst']:.3f} ({worst}), {pairs} pairs, {time.monotonic() - begun:.0f} s")
    print(f"import hotloop after numpy: {cost['import_seconds'] * 1e3:.1f} ms, {cost['import_bytes'] / 1e6:.1f} MB; "
          f"enable(): {cost['enable_seconds'] * 1e3:.1f} ms, {cost['enable_bytes'] / 1e6:.1f} MB")
    missed = [f"{key} {summary[key]:.4g} > {goal:.4g}" for key, goal in GOALS.items() if summary[key] > goal]
    print("missed: " + "; ".join(missed) if missed else "all goals reached")
    if options.json:
        with open(options.json, "w") as f:
            json.dump({"python": sys.version, "summary": summary, "missed": missed, "results": results}, f, indent=1)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
