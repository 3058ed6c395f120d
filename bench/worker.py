"""One contender of bench/runner.py: a process that runs workloads on demand.

Usage: python worker.py interpreter|hotloop|numba   (started by runner.py; one JSON request a line on stdin)
Request {"workload": name, "variant": name, "n": size}; reply {"seconds": s, "strict": digest, "loose": digest,
"stats": numbers}, or {"error": text}. Inputs are made anew for every run and not timed. `strict` is over types and
bits of the result and of all arguments afterwards; `loose` is over bits only (Numba returns Python scalars).
"""
import hashlib
import importlib.util
import inspect
import json
import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def load(path):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location("bench_" + name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Contender:
    def __init__(self, kind):
        self.kind = kind
        self.loaded = {}
        self.hotloop = None
        if kind == "hotloop":
            import hotloop
            hotloop.enable(threads=1)
            self.hotloop = hotloop
        elif kind == "numba":
            import numba
            self.numba = numba

    def functions(self, workload, variant):
        """(make, run), from the suite or the example."""
        key = workload, variant
        if key not in self.loaded:
            if workload == "demo":
                module = load(os.path.join(HERE, "..", "examples", "mandelbrot.py"))
                make, run = (lambda n: (*module.AREA, np.zeros((n * 2 // 3, n), np.uint8), 20)), module.create_fractal
            else:
                module = load(os.path.join(HERE, "suite", workload + ".py"))
                make, run = module.make, module.run
                if variant:
                    make, run = module.VARIANTS[variant]
            if self.kind == "numba":
                run = self.compiled(module, run)
            self.loaded[key] = make, run
        return self.loaded[key]

    def compiled(self, module, run):
        """njit of `run` and of the functions it calls; the ones that make inputs stay as they are."""
        used, todo = set(), [run]
        while todo:
            f = todo.pop()
            if f.__name__ in used:
                continue
            used.add(f.__name__)
            todo += [g for g in (vars(module).get(n) for n in f.__code__.co_names) if inspect.isfunction(g)]
        wrapped = {n: self.numba.njit(vars(module)[n]) for n in used}
        vars(module).update(wrapped)
        return wrapped[run.__name__]

    def answer(self, request):
        make, run = self.functions(request["workload"], request["variant"])
        args = make(request["n"])
        before = self.numbers()
        t0 = time.perf_counter()
        value = run(*args)
        seconds = time.perf_counter() - t0
        after = self.numbers()
        return {"seconds": seconds, "strict": digest((value, args), True), "loose": digest((value, args), False),
                "stats": {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)}}

    def numbers(self):
        if self.hotloop is None:
            return {}
        stats = self.hotloop.stats()
        out = {k: v for k, v in stats.items() if isinstance(v, (int, float))}
        out.update({"refusal " + k: v for k, v in stats["refusals"].items() if isinstance(v, int)})
        return out


def digest(value, strict):
    h = hashlib.sha256()
    feed(h, value, strict)
    return h.hexdigest()


def feed(h, x, strict):
    if isinstance(x, (tuple, list)):
        h.update(b"(%d" % len(x))
        for v in x:
            feed(h, v, strict)
        return
    if x is None or isinstance(x, str):
        h.update(repr(x).encode())
        return
    a = np.asarray(x)
    if not isinstance(x, np.ndarray):
        h.update(type(x).__name__.encode() if strict else b"scalar")
        if a.dtype.kind in "biu" or a.dtype == object:
            h.update(str(int(x)).encode())
            return
        a = a if strict else a.astype(np.float64)
    h.update(f"{a.dtype.str}{a.shape}".encode())
    if a.dtype.kind in "fc":
        a = np.where(np.isnan(a), np.nan, a).astype(a.dtype)
    h.update(np.ascontiguousarray(a).tobytes())


def main():
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)       # whatever a contender prints must not mix with the replies
    try:
        contender = Contender(sys.argv[1])
    except Exception as e:
        print(json.dumps({"error": f"{type(e).__name__}: {e}"}), file=replies, flush=True)
        return
    versions = {"python": sys.version.split()[0], "numpy": np.__version__}
    if sys.argv[1] == "numba":
        versions["numba"] = contender.numba.__version__
    elif sys.argv[1] == "hotloop":
        from importlib.metadata import version
        versions["hotloop"] = version("hotloop")
    print(json.dumps({"versions": versions}), file=replies, flush=True)
    for line in sys.stdin:
        try:
            reply = contender.answer(json.loads(line))
        except Exception as e:
            reply = {"error": f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
