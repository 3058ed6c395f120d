"""A fixed set of random loop programs with and without hotloop (tests/fuzz; run it by hand for more), also with forced exits."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "run.py"


@pytest.mark.parametrize("options", [{}, {"HOTLOOP_FORCE_EXIT": "3:7"}, {"HOTLOOP_BACKEND": "evaluator"}], ids=["plain", "forced", "evaluator"])
def test_random_programs(options):
    command = [sys.executable, "-X", "faulthandler", str(RUN), "--seed", "1", "--count", "250"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")} | options
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert done.stdout.endswith("250 passed, 0 failed\n")
    # A run that compiled little would prove little.
    assert int(re.search(r"'compiled': (\d+)", done.stdout).group(1)) > 400, done.stdout[-1000:]
