"""python -m hotloop: a program runs as with plain python, and the options work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SHOW = """\
import sys
print(sys.argv, sys.path[:2], __name__, __file__, __package__, __doc__, __cached__, type(__loader__).__name__)
print(getattr(__spec__, "name", None), sorted(globals()), sys.modules["__main__"].__dict__ is globals())
import pickle
class Local:
    pass
print(type(pickle.loads(pickle.dumps(Local()))) is Local)
"""
FAIL = """\
def f(n):
    for i in range(n):
        if i == 3:
            raise ValueError("three")
f(5)
"""
PROGRAMS = {
    "show.py": SHOW,
    "fail.py": FAIL,
    "exit_text.py": "import sys, atexit\natexit.register(print, 'bye')\nsys.exit('text')\n",
    "exit_number.py": "raise SystemExit(7)\n",
    "exit_none.py": "raise SystemExit\n",
    "interrupt.py": "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt\n",
    "group.py": "raise ExceptionGroup('g', [ValueError(1), KeyError('k')])\n",
    "cause.py": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e\n",
    "syntax.py": "x = = 3\n",
    "encoding.py": "# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n",
    "hook.py": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__, a[2].tb_lineno)\n1 / 0\n",
    "broken_hook.py": "import sys\ndef hook(*a): raise KeyError('hook')\nsys.excepthook = hook\n1 / 0\n",
    "last.py": "import sys, atexit\natexit.register(lambda: print(sys.last_exc, sys.last_type))\n1 / 0\n",
    "warn.py": "import warnings\nwarnings.warn('careful')\n",
    "future.py": "print(__import__('__main__').__file__)\ndef f(x: undefined): pass\n",
    "spawn.py": (
        "import multiprocessing as m\ndef square(x): return x * x\n"
        "if __name__ == '__main__':\n    with m.get_context('spawn').Pool(1) as p: print(p.map(square, [1, 2, 3]))\n"
    ),
    "thread.py": (
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\n1 / 0\n"
    ),
    "package/__init__.py": "print('init', __name__)\n",
    "package/__main__.py": SHOW,
    "package/part.py": "from . import part as again\n" + SHOW,
    "folder/__main__.py": SHOW,
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name, text in PROGRAMS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    (folder / "linked").mkdir()
    (folder / "linked" / "link.py").symlink_to(folder / "show.py")
    return folder


def run(folder, *words, stdin="", **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")} | {"PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, *words], cwd=folder, env=env | environment, input=stdin, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    return result.returncode, result.stdout, result.stderr


def without_runpy(text: str) -> str:
    """Plain `python -m module` shows runpy's frames; hotloop shows none but the program's."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if '"<frozen runpy>"' not in line)


QUICK = [
    ("show.py", "a", "--threads"),
    ("fail.py", "a"),
    ("interrupt.py",),
    ("linked/link.py",),
    ("-m", "package", "a"),
    ("missing.py",),
    ("-c", "import sys; print(sys.argv, sys.path[0] == '', __name__, sorted(globals()))", "a", "-c"),
]
SLOW = [
    *((name, "a", "--threads") for name in PROGRAMS if "/" not in name and name != "show.py"),
    ("./show.py",),
    ("../{name}/show.py", "-m", "x"),
    ("{folder}/show.py",),
    ("folder", "a"),
    ("-m", "show", "a"),
    ("-m", "package.part"),
    ("-m", "fail"),
    ("linked",),
    ("-m", "missing"),
]


@pytest.mark.parametrize(
    "words", [*QUICK, *(pytest.param(words, marks=pytest.mark.slow) for words in SLOW)], ids=" ".join
)
def test_as_plain_python(programs, words):
    words = [word.format(name=programs.name, folder=programs) if "{" in word else word for word in words]
    plain, ours = run(programs, *words), run(programs, "-m", "hotloop", *words)
    assert (plain[0], plain[1], without_runpy(plain[2])) == ours


def test_stdin_program(programs):
    plain = run(programs, "-", "a", stdin=SHOW.replace("__cached__", "0") + FAIL)
    ours = run(programs, "-m", "hotloop", "-", "a", stdin=SHOW.replace("__cached__", "0") + FAIL)
    assert ours[0] == plain[0] == 1
    assert ours[2].splitlines()[-1] == plain[2].splitlines()[-1] == "ValueError: three"


def test_safe_path(programs):
    assert run(programs, "-P", "show.py") == run(programs, "-P", "-m", "hotloop", "show.py")


def test_enabled_with_options(programs):
    code = (
        "import hotloop._hotloop as h; o = h.get_options()\n"
        "print(h.is_enabled(), o['threshold'], o['threads'], o['verify'])"
    )
    words = ("-m", "hotloop", "--threshold", "33", "--threads=2", "--verify", "-c", code)
    assert run(programs, *words) == (0, "True 33 2 True\n", "")
    assert run(programs, *words, HOTLOOP="0")[1] == "False 33 2 True\n"


def test_help(programs):
    status, out, err = run(programs, "-m", "hotloop", "--help")
    assert (status, err) == (0, "") and out.startswith("usage: python -m hotloop")
    status, out, err = run(programs, "-m", "hotloop", "--help-options")
    assert (status, err) == (0, "")
    from hotloop import _hotloop

    for row in _hotloop.options_table():
        assert f"{row['name']}  {row['env']}=" in out
        assert row["doc"].split()[0] in out
    assert "HOTLOOP=1" in out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "usage:"),
        (("-m",), "usage:"),
        (("--wrong", "show.py"), "hotloop: unknown option --wrong"),
        (("-x", "show.py"), "hotloop: unknown option -x"),
        (("--threshold",), "hotloop: --threshold: a value is missing"),
        (("--threshold", "abc", "show.py"), "expected an integer >= 1"),
        (("--threshold", "0", "show.py"), "threshold=0: expected an integer >= 1"),
        (("--isa=mmx", "show.py"), "expected one of native"),
    ],
)
def test_wrong_words(programs, words, line):
    status, out, err = run(programs, "-m", "hotloop", *words)
    assert status != 0 and out == ""
    assert line in err and "Traceback" not in err


def test_report(programs):
    code = "def f():\n    s = 0\n    for i in range(100000): s += i\n    return s\nprint(f())"
    status, out, err = run(programs, "-m", "hotloop", "--report", "-c", code)
    assert (status, out) == (0, "4999950000\n")
    assert err.startswith("hotloop: 1 hot loops, ") and "in f" in err
