"""A minute of CPython's own regression tests with hotloop at threshold 2; tests/cpython/run.py runs more by hand."""
import importlib.util
import os
import subprocess
import sys

import pytest
from need import needs_hotloop

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cpython", "run.py")
HAS_TESTS = importlib.util.find_spec("test") is not None and importlib.util.find_spec("test.test_range") is not None
QUICK = ["test_generators"]
MODULES = ["test_range", "test_iter", "test_sys_settrace", "test_sys_setprofile", "test_monitoring", "test_frame", "test_scope", "test_complex", "test_fork1",
           "test_enumerate", "test_with", "test_coroutines", "test_traceback"]


@needs_hotloop
@pytest.mark.skipif(not HAS_TESTS, reason="this Python has no package `test` with CPython's regression tests")
@pytest.mark.parametrize("module", QUICK + [pytest.param(name, marks=pytest.mark.slow) for name in MODULES])
def test_as_without_hotloop(module):
    done = subprocess.run([sys.executable, RUN, module], capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
