"""A fixed set of random loop programs with and without hotloop (tests/fuzz; run it by hand for more), and the fuzzer itself."""
import json
import os
import pathlib
import subprocess
import sys

import pytest
from need import needs_hotloop

RUN = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "run.py"
FIRST = sys.version_info.minor * 100_000  # each Python has its own programs


def fuzz(*arguments, **environment):
    command = [sys.executable, "-X", "faulthandler", str(RUN), *map(str, arguments)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")} | environment
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)


@needs_hotloop
@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_programs(count, tmp_path):
    """1000 take about a minute on two cores."""
    done = fuzz("--seed", FIRST + (count == 20), "--count", count, "--least", 0.75, "--modes", "t2,forced,default,evaluator", "--json", tmp_path / "statistics.json")
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert done.stdout.endswith(f"{count} passed, 0 failed\n")
    # A run that compiled little would prove little.
    statistics = json.loads((tmp_path / "statistics.json").read_text())
    assert statistics["programs"] == count and statistics["entered_share"] >= 0.75
    modes = statistics["modes"]
    assert all(modes[mode]["compiled"] > count / 2 for mode in ("t2", "forced", "default", "evaluator")), statistics
    assert modes["forced"]["exits_forced"] > 10 * count


@needs_hotloop
@pytest.mark.slow
def test_a_wrong_result_is_found_and_made_small():
    done = fuzz("--seed", 1, "--count", 12, "--modes", "t2", "--shrink", 1, HOTLOOP_FUZZ_WRONG=" % 1009")
    assert done.returncode == 1 and done.stdout.endswith(" failed\n") and not done.stdout.endswith(" 0 failed\n"), done.stdout + done.stderr
    head = done.stdout.index("# seed ")
    program = done.stdout[head:done.stdout.index("# call", head)].split("\n")
    program = [line for line in program if line and not line.startswith("#")]
    assert 2 <= len(program) <= 8, done.stdout
    assert any(" % 1009" in line for line in program) and any("for " in line or "while " in line for line in program), done.stdout


@needs_hotloop
@pytest.mark.slow
def test_a_crash_is_found_and_made_small():
    done = fuzz("--seed", 1, "--count", 12, "--modes", "t2", "--shrink", 1, "--shrink-seconds", 30, HOTLOOP_FUZZ_WRONG="crash % 1009")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "t2, function: crash -" in done.stdout or "t2, module: crash -" in done.stdout, done.stdout
    # How small it gets in that time depends on the machine.
    head = done.stdout.index("# seed ")
    small = done.stdout[head:done.stdout.index("# call", head)]
    assert " % 1009" in small and small.count("\n") <= 40, done.stdout


@needs_hotloop
def test_too_few_compiled_programs_fail_the_run():
    done = fuzz("--seed", 1, "--count", 4, "--modes", "t2", "--least", "1.5")
    assert done.returncode == 1 and "at least 150% were expected" in done.stdout
