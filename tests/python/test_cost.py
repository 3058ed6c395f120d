"""What hotloop costs where it does not help: importing it, code objects with very many loops. bench/overhead measures finely; limits here
are wide enough for a busy machine and narrow enough for what is not linear."""
import json
import os
import subprocess
import sys
import time

from need import needs_hotloop

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")


@needs_hotloop
def test_import_is_cheap():
    runs = [json.loads(subprocess.run([sys.executable, os.path.join(BENCH, "overhead_worker.py"), "-", "startup"], check=True,
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout) for _ in range(3)]
    assert min(r["import_seconds"] for r in runs) < 0.020
    assert min(r["import_bytes"] + r["enable_bytes"] for r in runs) < 15e6


@needs_hotloop
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
