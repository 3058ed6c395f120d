"""What hotloop costs where it does not help: importing it, code objects with very many loops. bench/overhead measures finely; limits here
are wide enough for a busy machine and narrow enough for what is not linear."""
import json
import os
import resource
import subprocess
import sys
import time

import pytest
from need import needs_hotloop

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")


@needs_hotloop
def test_import_is_cheap():
    runs = [json.loads(subprocess.run([sys.executable, os.path.join(BENCH, "overhead_worker.py"), "-", "startup"], check=True,
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout) for _ in range(3)]
    assert min(r["import_seconds"] for r in runs) < 0.020
    assert min(r["import_bytes"] + r["enable_bytes"] for r in runs) < 15e6


@needs_hotloop
@pytest.mark.slow
def test_many_loops_in_one_code_object():
    import hotloop

    def seconds(count):
        lines = ["k = 0"]
        for _ in range(count):
            lines += ["for k in (1, 2, 3):", "    j = k"]
        code = compile("\n".join(lines), f"<{count} loops>", "exec")
        start = time.thread_time()
        exec(code, {})
        return time.thread_time() - start
    hotloop.enable()
    try:
        few = min(seconds(500) for _ in range(5))
        many = min(seconds(8000) for _ in range(3))
        assert many < few * 16 * 6
    finally:
        hotloop.disable()


LONG_LOOP = """
def f(a, b, n):
    s0 = s1 = s2 = 0.5
    t0 = t1 = t2 = 3
    for i in range(n):
{}
    return s0, s1, s2, t0, t1, t2
"""
LINES = ["s{j} = s{k} * 0.5 + a[i] * 0.25", "a[i] = a[i] * 0.5 + b[i] * s{j}", "t{j} = (t{k} + {line}) % 1009", "if t{j} > {line}: s{k} += 1.0"]


@needs_hotloop
@pytest.mark.slow
def test_compile_time_is_linear_in_the_loop():
    import hotloop
    import numpy as np

    def seconds(count):
        body = ["        " + LINES[k % len(LINES)].format(j=k % 3, k=(k + 1) % 3, line=k) for k in range(count)]
        space = {}
        exec(compile(LONG_LOOP.format("\n".join(body)), f"<{count} lines>", "exec"), space)
        before, start = hotloop.stats(), time.thread_time()
        actual = space["f"](np.zeros(40), np.ones(40), 40)
        spent = time.thread_time() - start
        compiled = hotloop.stats()["compiled"] - before["compiled"]  # more than once: paths that were not seen at first
        assert compiled > 0, hotloop.explain(space["f"])
        with hotloop.paused():
            assert space["f"](np.zeros(40), np.ones(40), 40) == actual
        return spent / compiled
    hotloop.enable(threshold=4)
    try:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        few = min(seconds(500), seconds(501))
        many = min(seconds(2000), seconds(2001))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    finally:
        hotloop.disable()
    print(f"2,000 lines: {many:.3f} s, 500 lines: {few:.3f} s, {memory / 1024:.0f} MB")
    assert many < 4 * few * 3 and many < 2.0 and memory < 200 * 1024


@needs_hotloop
def test_lines_of_loops_that_never_got_hot():
    import hotloop
    space = {}
    exec(compile("def f(n):\n    k = 0\n    while k < n:\n        k += 1\n    for i in range(n):\n        for j in 'ab':\n            k = j\n", "<cold>", "exec"), space)
    hotloop.enable(threshold=1000)
    try:
        space["f"](5)
        lines = [r["line"] for r in hotloop._hotloop.regions(space["f"].__code__)]
    finally:
        hotloop.disable()
    assert lines == [4, 5, 6]
