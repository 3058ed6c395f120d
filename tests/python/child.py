"""Scripts of the white-box tests: each runs in a fresh process, asserts for itself and ends with "fine"."""
import os
import subprocess
import sys
import textwrap


def run(prelude, text, timeout=120, arguments=(), **env):
    """What became of the process: `prelude` and the dedented `text`, with `env` added to the environment."""
    script = prelude + textwrap.dedent(text) + '\nprint("fine")\n'
    return subprocess.run([sys.executable, "-X", "faulthandler", *arguments, "-c", script], capture_output=True, text=True, timeout=timeout,
                          env=dict(os.environ, **env))


def fine(prelude, text, **options):
    """Runs it, and asserts that it came to its end."""
    r = run(prelude, text, **options)
    assert r.returncode == 0 and r.stdout.endswith("fine\n"), f"{r.returncode}\n{r.stdout}\n{r.stderr}"
    return r
