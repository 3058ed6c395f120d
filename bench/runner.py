"""The measuring half of bench/run: drives the contenders, compares bits, prints the table, writes JSON.

Needs: the Python of .venv/X.Y with hotloop installed; for Numba another Python (--numba-python). Promises: each
contender has a process of its own, only one runs at a time, their runs are interleaved, inputs are made anew.
"""
import argparse
import datetime
import glob
import importlib.util
import json
import math
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The element forms whose speed-up is the goal: geometric mean and least.
GOAL = ("mandelbrot", "jacobi_2d", "seidel_2d", "floyd_warshall", "lu", "gram_schmidt", "nbody", "black_scholes", "matmul")


def say(text=""):
    print(text, file=sys.stderr, flush=True)


class Worker:
    def __init__(self, kind, python):
        env = dict(os.environ, HOTLOOP_THREADS="1", NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
        self.kind = kind
        self.proc = subprocess.Popen([python, os.path.join(HERE, "worker.py"), kind], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        hello = self.reply()
        self.dead = hello.get("error")
        self.versions = hello.get("versions", {})

    def reply(self):
        line = self.proc.stdout.readline()
        if not line:
            self.dead = f"process ended with {self.proc.wait()}"
            return {"error": self.dead}
        return json.loads(line)

    def run(self, workload, variant, n):
        if self.dead:
            return {"error": self.dead}
        try:
            self.proc.stdin.write(json.dumps({"workload": workload, "variant": variant, "n": n}) + "\n")
            self.proc.stdin.flush()
        except OSError:
            self.dead = self.dead or f"process ended with {self.proc.wait()}"
            return {"error": self.dead}
        return self.reply()

    def close(self):
        self.proc.stdin.close()
        self.proc.wait()


def suite():
    """name -> (sizes, variants), base form first."""
    out = {}
    for path in sorted(glob.glob(os.path.join(HERE, "suite", "*.py"))):
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        out[name] = module.SIZES, ["", *getattr(module, "VARIANTS", {})]
    return out


def measure(start, kinds, workload, variant, n, repeat):
    """Interleaved runs of one workload; the interpreter takes fewer. A worker that died is started again."""
    workers = {k: start(k) for k in kinds}
    runs = {k: [] for k in kinds}
    for r in range(repeat):
        for k, w in workers.items():
            if k == "interpreter" and r >= max(1, min(repeat, 2)):
                continue
            if runs[k] and "error" in runs[k][-1]:
                continue
            runs[k].append(w.run(workload, variant, n))
    row = {"workload": workload, "variant": variant, "n": n}
    for k, w in workers.items():
        good = [x for x in runs[k] if "error" not in x]
        row[k] = {"error": runs[k][-1]["error"]} if not good or "error" in runs[k][-1] else {
            "first": good[0]["seconds"], "best": min(x["seconds"] for x in good), "seconds": [x["seconds"] for x in good],
            "strict": sorted({x["strict"] for x in good}), "loose": sorted({x["loose"] for x in good}),
            "stats": {s: sum(x["stats"].get(s, 0) for x in good) for x in good for s in x["stats"]}}
        w.close()
    return row


def judge(row):
    """Bits against the interpreter: "same", "DIFFERENT", or the error."""
    ref = row["interpreter"]
    for k, kind in (("hotloop", "strict"), ("numba", "loose")):
        if k in row:
            row[k]["bits"] = ("-" if "error" in row[k] or "error" in ref else
                              "same" if row[k][kind] == ref[kind] and len(ref[kind]) == 1 else "DIFFERENT")
    if "best" in ref:
        for k in ("hotloop", "numba"):
            if "best" in row.get(k, {}):
                row[k]["speedup"] = ref["best"] / row[k]["best"]
    return row


def label(row):
    return row["workload"] + (":" + row["variant"] if row["variant"] else "")


def line(row):
    ref = row["interpreter"].get("best")
    out = f"{label(row):<24}" + (f"{ref * 1e3:10.1f}" if ref else f"{'error':>10}")
    for k in ("hotloop", "numba"):
        c = row.get(k)
        if c is None:
            out += f"{'':>10}{'':>9}"
        elif "best" in c:
            out += f"{c['best'] * 1e3:10.2f}{c.get('speedup', float('nan')):8.1f}x"
        else:
            out += f"{'error':>10}{'':>9}"
    h, u = row["hotloop"].get("best"), row.get("numba", {}).get("best")
    out += f"{u / h:9.2f}x" if h and u else f"{'':>10}"
    out += f"  {row['hotloop'].get('bits', ''):<10}{row.get('numba', {}).get('bits', ''):<10}"
    notes = [f"{k}: {row[k]['error'][:60]}" for k in ("interpreter", "hotloop", "numba") if "error" in row.get(k, {})]
    if not row["hotloop"].get("stats", {}).get("entries") and "best" in row["hotloop"]:
        notes.append("no native code")
    return out + "; ".join(notes)


HEADER = (f"{'workload':<24}{'interp ms':>10}{'hotloop':>10}{'':>9}{'numba':>10}{'':>9}{'hot/numba':>10}"
          f"  {'bits':<10}{'numba':<10}")


def geometric_mean(xs):
    return math.exp(sum(map(math.log, xs)) / len(xs)) if xs else float("nan")


def summary(rows):
    out = {}
    groups = {"goal forms": [r for r in rows if r["workload"] in GOAL and not r["variant"]], "all forms": rows}
    for name, group in groups.items():
        for k in ("hotloop", "numba"):
            xs = [(r[k]["speedup"], label(r)) for r in group if "speedup" in r.get(k, {})]
            if xs:
                out[f"{name}, {k} against the interpreter"] = {
                    "count": len(xs), "of": len(group), "geometric_mean": geometric_mean([x for x, _ in xs]),
                    "least": min(xs)[0], "least_of": min(xs)[1]}
    xs = [r["numba"]["best"] / r["hotloop"]["best"] for r in rows if "best" in r["hotloop"] and "best" in r.get("numba", {})]
    if xs:
        out["all forms, hotloop against numba"] = {"count": len(xs), "geometric_mean": geometric_mean(xs), "least": min(xs)}
    return out


def compile_times(rows):
    """Seconds that optimising and emitting one region took, averaged within each form: median and most over the forms."""
    times = []
    for r in rows:
        s = r["hotloop"].get("stats", {})
        if s.get("compiled"):
            times.append((s["compile_seconds"] / s["compiled"], label(r)))
    if not times:
        return None
    return {"median": statistics.median(t for t, _ in times), "most": max(times)[0], "most_of": max(times)[1], "forms": len(times),
            "regions": sum(r["hotloop"].get("stats", {}).get("compiled", 0) for r in rows)}


def child(python, script, *args):
    done = subprocess.run([python, os.path.join(HERE, script), *args], capture_output=True, text=True,
                          env=dict(os.environ, HOTLOOP_THREADS="1"))
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def special(start, kinds, numba_python, demo_width, times):
    out = {}
    say("demo: warm, interleaved")
    out["demo"] = judge(measure(start, kinds, "demo", "", demo_width, 7))
    say(f"demo: fresh processes, {times} of each")
    pythons = {"hotloop": sys.executable, **({"numba": numba_python} if numba_python else {})}
    fresh = {k: [] for k in pythons}
    for _ in range(times):
        for k, python in pythons.items():
            fresh[k].append(child(python, "fresh.py", k))
    for k, runs in fresh.items():
        bad = [r for r in runs if "error" in r]
        out["fresh " + k] = bad[0] if bad else {
            "median": statistics.median(r["seconds"] for r in runs), "all": [r["seconds"] for r in runs],
            "import": statistics.median(r["import"] for r in runs), "first": statistics.median(r["first"] for r in runs),
            "digests": sorted({r["digest"] for r in runs}), "warm": min(r["warm"] for r in runs)}
    good = [r for r in fresh["hotloop"] if "error" not in r]
    if good:
        out["first call"] = {
            "first_minus_warm": statistics.median(r["first"] - r["warm"] for r in good),
            "recording": statistics.median(r["stats"]["record_seconds"] for r in good),
            "compiling": statistics.median(r["stats"]["compile_seconds"] for r in good),
            "extra": statistics.median(r["stats"]["record_seconds"] + r["stats"]["compile_seconds"] for r in good)}
    say("latency of one entry")
    out["entry"] = child(sys.executable, "latency.py")
    return out


def print_special(s):
    def goal(text, value, ok):
        print(f"  {text:<62}{value:>14}  {'reached' if ok else 'NOT reached'}")
    print("\nspecial measures")
    d = s["demo"]
    print("  " + line(d))
    if "best" in d["hotloop"] and "best" in d.get("numba", {}):
        r = d["numba"]["best"] / d["hotloop"]["best"]
        goal("Mandelbrot demo, warm, against Numba (goal 1.0x)", f"{r:.2f}x", r >= 1)
    h, u = s["fresh hotloop"], s.get("fresh numba", {})
    for k, f in (("hotloop", h), ("Numba", u)):
        if "median" in f:
            print(f"  fresh process, import to image, {k:<8} {f['median'] * 1e3:9.1f} ms"
                  f"  (import {f['import'] * 1e3:.1f}, first call {f['first'] * 1e3:.1f})")
        elif f:
            print(f"  fresh process, {k}: {f['error']}")
    if "median" in h and "median" in u:
        r = u["median"] / h["median"]
        goal("fresh process against Numba (goal 5x sooner)", f"{r:.2f}x", r >= 5)
    if "first call" in s:
        f = s["first call"]
        print(f"  first call minus warm call {f['first_minus_warm'] * 1e3:.2f} ms; recording {f['recording'] * 1e3:.2f} ms,"
              f" compiling {f['compiling'] * 1e3:.2f} ms")
        goal("recording and compiling the demo's nest (goal 5 ms)", f"{f['extra'] * 1e3:.2f} ms", f["extra"] <= 5e-3)
    e = s["entry"]
    if "latency" in e:
        ok = e["entries_per_call"] > 0.99
        goal("callback, native code, exit: one trip (goal 300 ns)", f"{e['latency'] * 1e9:.0f} ns",
             ok and e["latency"] <= 300e-9)
        if not ok:
            print(f"  (only {e['entries_per_call']:.2f} entries per call: the number above is not the latency)")
    else:
        print(f"  entry latency: {e['error']}")


def machine():
    cpu = platform.processor()
    try:
        with open("/proc/cpuinfo") as f:
            cpu = next(x.split(":", 1)[1].strip() for x in f if x.startswith("model name"))
    except (OSError, StopIteration):
        pass
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL).stdout.strip()
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.platform(), "commit": commit,
            "load": os.getloadavg(), "date": datetime.datetime.now().isoformat(timespec="seconds")}


def main():
    p = argparse.ArgumentParser(prog="bench/run", description="Measures bench/suite: interpreter, hotloop with 1 thread, Numba.")
    p.add_argument("workloads", nargs="*", help="names of bench/suite, e.g. lu or floyd_warshall:slices; default all")
    p.add_argument("--python", metavar="X.Y", help="which Python (handled by bench/run)")
    p.add_argument("--no-numba", action="store_true", help="leave Numba out (handled by bench/run)")
    p.add_argument("--size", choices=("small", "large"), default="large", help="about 0.05 s or 3 s by the interpreter")
    p.add_argument("--repeat", type=int, default=5, help="runs of each compiled contender, the best counts (default 5)")
    p.add_argument("--json", metavar="FILE", help="write everything that was measured to FILE")
    p.add_argument("--no-special", action="store_true", help="only the workloads")
    p.add_argument("--only-special", action="store_true", help="only the demo, fresh processes and latency")
    p.add_argument("--numba-python", help=argparse.SUPPRESS)
    a = p.parse_args()
    everything = suite()
    wanted = [w.partition(":")[::2] for w in a.workloads]
    for name, variant in wanted:
        if name not in everything or variant not in everything[name][1]:
            p.error(f"no workload {name}{':' + variant if variant else ''}; there are {', '.join(everything)}")
    todo = [(n, v) for n, (_, vs) in everything.items() for v in vs
            if not wanted or (n, v) in wanted or (n, "") in wanted]
    pythons = {"interpreter": sys.executable, "hotloop": sys.executable,
               **({"numba": a.numba_python} if a.numba_python else {})}
    versions = {}

    def start(kind):
        w = Worker(kind, pythons[kind])
        versions[kind] = w.versions
        return w
    rows, extra = [], None
    if not a.only_special:
        print(HEADER, flush=True)
        for name, variant in todo:
            row = judge(measure(start, pythons, name, variant, everything[name][0][a.size], a.repeat))
            rows.append(row)
            print(line(row), flush=True)
        for name, s in summary(rows).items():
            print(f"{name}: geometric mean {s['geometric_mean']:.1f}x, least {s['least']:.2f}x"
                  + (f" ({s['least_of']})" if "least_of" in s else "") + f", {s['count']} measured")
        times = compile_times(rows)
        if times:
            print(f"compiling one region: median {times['median'] * 1e3:.2f} ms (goal 3 ms), "
                  f"most {times['most'] * 1e3:.2f} ms ({times['most_of']}), {times['regions']} regions of {times['forms']} forms")
    if a.only_special or not (a.no_special or a.workloads):
        extra = special(start, pythons, a.numba_python, 1536, 9)
        print_special(extra)
    about = machine()
    print("\n" + f"{about['cpu']}, {about['cores']} cores, {about['system']}, commit {about['commit']}; "
          + "; ".join(f"{k}: " + " ".join(f"{n} {v}" for n, v in x.items()) for k, x in versions.items()))
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"command": ["bench/run", *sys.argv[1:]], "machine": about, "versions": versions, "size": a.size,
                       "rows": rows, "summary": summary(rows),
                       "compile_times": compile_times(rows), "special": extra}, f, indent=1)
        say(f"wrote {a.json}")
    wrong = [label(r) for r in rows if r["hotloop"].get("bits") == "DIFFERENT" or "error" in r["hotloop"]]
    if wrong:
        sys.exit("hotloop failed or differs from the interpreter: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
