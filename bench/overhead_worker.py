"""One process of bench/overhead: python overhead_worker.py WORKLOAD on|off|startup

on, off: with hotloop enabled or only imported. A workload of WORKLOADS is run once for each line on stdin and answers with JSON: the CPU
seconds of the run. One of FRESH is run once. startup: seconds and memory that `import hotloop` and enable() cost after `import numpy`.
"""
import json
import sys
import time


def memory():
    """Resident bytes of this process."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def startup():
    import numpy  # noqa: F401
    before, start = memory(), time.perf_counter()
    import hotloop
    imported, after_import = time.perf_counter(), memory()
    hotloop.enable()
    enabled, after_enable = time.perf_counter(), memory()
    return {"import_seconds": imported - start, "import_bytes": after_import - before,
            "enable_seconds": enabled - imported, "enable_bytes": after_enable - after_import}


def say(value):
    print(json.dumps(value), flush=True)


def main():
    name, mode = sys.argv[1:]
    if mode == "startup":
        say(startup())
        return
    import hotloop
    import overhead_workloads as workloads
    if mode == "on":
        hotloop.enable()
    fresh = {f.__name__: f for f in workloads.FRESH}
    if name in fresh:
        say({"seconds": fresh[name](), "stats": hotloop.stats()})
        return
    run = next(f for f in workloads.WORKLOADS if f.__name__ == name)
    for line in sys.stdin:
        if line.strip() == "stats":
            say({"stats": hotloop.stats()})
            continue
        start = time.thread_time()
        value = run()
        say({"seconds": time.thread_time() - start, "value": repr(value)})


main()
