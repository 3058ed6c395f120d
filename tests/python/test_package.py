"""The Python package: options, context managers, texts, error messages; import is light."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import hotloop
import pytest
from hotloop import _hotloop


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A fresh process; HOTLOOP variables only as given."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("HOTLOOP")}
    return subprocess.run(
        [sys.executable, *words], env=env | environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(autouse=True)
def as_before():
    """Options and the enabled state are process-wide: each test leaves them as they were."""
    values, enabled = _hotloop.get_options(), hotloop.is_enabled()
    yield
    _hotloop.set_options(values)
    (hotloop.enable if enabled else hotloop.disable)()


def test_the_installed_module_is_tested():
    root = pathlib.Path(__file__).resolve().parents[2]
    assert not pathlib.Path(hotloop.__file__).is_relative_to(root / "pymodule")


def test_public_names():
    assert set(hotloop.__all__) == {
        "enable", "disable", "is_enabled", "paused", "options", "gpu", "stats", "explain", "inspect", "report",
    }  # fmt: skip
    for name in hotloop.__all__:
        assert getattr(hotloop, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        hotloop.nothing  # noqa: B018


def test_version():
    assert hotloop.__version__ == importlib.metadata.version("hotloop")


def test_enable_disable():
    hotloop.disable()
    assert not hotloop.is_enabled()
    hotloop.enable()
    hotloop.enable()
    assert hotloop.is_enabled()
    hotloop.disable()
    hotloop.disable()
    assert not hotloop.is_enabled()


def test_enable_sets_options():
    hotloop.enable(threshold=123, threads=2)
    assert _hotloop.get_options()["threshold"] == 123
    assert _hotloop.get_options()["threads"] == 2
    hotloop.enable()
    assert _hotloop.get_options()["threshold"] == 123


@pytest.mark.parametrize(
    ("values", "error", "line"),
    [
        ({"threshold": 0}, ValueError, "threshold=0: expected an integer >= 1"),
        ({"threshold": "5"}, (ValueError, TypeError), "threshold='5': expected an integer >= 1"),
        ({"threshold": True}, (ValueError, TypeError), "threshold=True: expected an integer >= 1"),
        ({"threshold": 10**30}, (ValueError, TypeError), "expected an integer >= 1"),
        ({"threads": 5000}, ValueError, "threads=5000: expected an integer from 0 to 4096"),
        ({"isa": "mmx"}, ValueError, "isa='mmx': expected one of native, sse2, avx, avx2, avx512"),
        ({"force_exit": "1:0"}, ValueError, "force_exit='1:0': expected SEED:K, two integers, K >= 1"),
        ({"wrong": 1}, (ValueError, TypeError), "wrong"),
    ],
)
def test_wrong_options_change_nothing(values, error, line):
    before = _hotloop.get_options()
    with pytest.raises(error) as caught, hotloop.options(verify=not before["verify"], **values):
        pytest.fail("must not be entered")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert _hotloop.get_options() == before


def test_options_are_put_back():
    before = _hotloop.get_options()
    manager = hotloop.options(threshold=77, verify=True)
    with manager:
        assert _hotloop.get_options() == before | {"threshold": 77, "verify": True}
        with manager, hotloop.options(threshold=78):
            assert _hotloop.get_options()["threshold"] == 78
        assert _hotloop.get_options()["threshold"] == 77
    assert _hotloop.get_options() == before
    with pytest.raises(KeyError), hotloop.options(threshold=77):
        raise KeyError
    assert _hotloop.get_options() == before


def test_table_and_values_have_the_same_names():
    table = _hotloop.options_table()
    assert [row["name"] for row in table] == list(_hotloop.get_options())
    for row in table:
        assert row["doc"] and row["env"] == "HOTLOOP_" + row["name"].upper()


def test_paused_is_counted():
    hotloop.enable()
    before = hotloop.stats()["entries"]
    with hotloop.paused():
        with hotloop.paused():
            pass
        assert sum_to(50_000) == 1249975000
        assert hotloop.stats()["entries"] == before
    assert hotloop.is_enabled()


def sum_to(n):
    total = 0
    for i in range(n):
        total += i
    return total


def test_stats_has_every_counter():
    stats = hotloop.stats()
    for key in ("loops_seen", "compiled", "entries", "exits", "compile_seconds", "refusals"):
        assert key in stats
    assert isinstance(stats["compile_seconds"], float)


def test_explain_and_inspect_of_a_hot_loop():
    def hot(n):
        total = 0
        for i in range(n):
            total += i
        return total

    hotloop.enable()
    hot(50_000)
    hot(50_000)
    text = hotloop.explain(hot)
    assert "for i in range(n):" in text
    assert "compiled: entered" in text
    assert repr(text) == str(text)
    inspection = hotloop.inspect(hot)
    assert inspection.ir and inspection.asm
    assert "hot" in hotloop.report()


def test_explain_of_loops_that_are_not_hot():
    def cold(n):
        for k in range(n):
            while k > 2:
                k -= 1

        def inner():
            for _ in ():
                pass

        return inner

    hotloop.enable()
    text = hotloop.explain(cold)
    assert text.count("not hot") == 3
    assert "while k > 2:" in text and "for _ in ():" in text
    assert hotloop.explain(lambda: 0) == "no loops"
    assert hotloop.inspect(cold).regions == []
    hotloop.disable()
    assert "hotloop is not enabled" in hotloop.explain(cold)


class Holder:
    def method(self, n):
        for i in range(n):
            pass

    @property
    def value(self):
        while self:
            break
        while self:
            pass

    @staticmethod
    def static():
        while True:
            pass


@pytest.mark.parametrize(
    ("what", "loops"),
    [
        (Holder, 3),
        (Holder().method, 1),
        (Holder.static, 1),
        (Holder.__dict__["static"], 1),
        (Holder.value, 1),
        (sum_to.__code__, 1),
        ((i for i in range(3)), 1),
        (sys.modules[__name__], 5),
    ],
    ids=["class", "method", "static", "staticmethod", "property", "code", "generator", "module"],
)
def test_what_explain_takes(what, loops):
    hotloop.enable()
    rows = [line for line in hotloop.explain(what).splitlines() if line.strip().startswith(("not", "compiled"))]
    assert len(rows) >= loops
    if not hasattr(what, "__spec__"):
        assert len(rows) == loops


def test_explain_refuses_what_has_no_code():
    with pytest.raises(TypeError, match="expected a function, method, class, module or code object, not int"):
        hotloop.explain(3)


def test_gpu_says_that_it_is_not_there():
    result = python(
        "-c",
        "import hotloop; hotloop.enable()\nfor i in 1, 2:\n  with hotloop.gpu(): print('inside')",
    )
    assert result.stdout == "inside\ninside\n"
    assert result.stderr.count("not available in this version") == 1
    with pytest.raises(ValueError, match="device=7"):
        hotloop.gpu(7)


def test_tiles_say_that_they_are_not_there():
    result = python("-c", "import hotloop; hotloop.enable()\nwith hotloop.options(backend='tiles'): print('inside')")
    assert result.stdout == "inside\n"
    assert result.stderr == "hotloop: backend=tiles: SIMD tiles are not available in this version; scalar code runs\n"


# ---- environment --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "code", "out"),
    [
        ("1", "import hotloop; print(hotloop.is_enabled())", "True\n"),
        ("0", "import hotloop; hotloop.enable(); print(hotloop.is_enabled())", "False\n"),
        ("", "import hotloop; print(hotloop.is_enabled())", "False\n"),
    ],
)
def test_the_variable_hotloop(value, code, out):
    result = python("-c", code, HOTLOOP=value)
    assert (result.stdout, result.stderr) == (out, "")


def test_a_wrong_variable_hotloop_is_told():
    result = python("-c", "import hotloop; print(1)", HOTLOOP="yes")
    assert result.stdout == "1\n"
    assert result.stderr == "hotloop: HOTLOOP=yes: expected 1 (enable at import) or 0 (never enable)\n"


def test_variables_set_options():
    code = "import hotloop._hotloop as h; o = h.get_options(); print(o['threshold'], o['isa'], o['verify'], o['log'])"
    result = python("-c", code, HOTLOOP_THRESHOLD="12", HOTLOOP_ISA="sse2", HOTLOOP_VERIFY="1", HOTLOOP_LOG="hot,exit")
    assert (result.stdout, result.stderr) == ("12 sse2 True hot,exit\n", "")


def test_wrong_variables_are_told_in_one_line():
    result = python("-c", "import hotloop; hotloop.enable()", HOTLOOP_THRESHOLD="abc")
    assert "HOTLOOP_THRESHOLD=abc: expected an integer >= 1" in result.stderr


def test_import_brings_no_heavy_modules():
    """A fresh process that uses hotloop must not pay for what it does not need; cmath is small, and its functions have models."""
    code = (
        "import sys, numpy, cmath; before = set(sys.modules); import hotloop; hotloop.enable(); "
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('hotloop')))"
    )
    result = python("-c", code)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_import_starts_no_thread():
    """T1: a fork after import and enable must stay free of warnings."""
    code = (
        "import warnings; warnings.simplefilter('error'); import os, threading, hotloop; hotloop.enable()\n"
        "pid = os.fork()\n"
        "if not pid: os._exit(0)\n"
        "print(os.waitpid(pid, 0)[1], len(os.listdir('/proc/self/task')))"
    )
    result = python("-c", code, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    assert (result.stdout, result.stderr) == ("0 1\n", "")


# ---- a missing extension ------------------------------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path):
    """The package without its extension module."""
    folder = tmp_path / "hotloop"
    shutil.copytree(pathlib.Path(hotloop.__file__).parent, folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return folder


def import_error(folder: pathlib.Path) -> str:
    result = python("-c", "import sys; sys.path.insert(0, sys.argv[1]); import hotloop", str(folder.parent))
    assert result.returncode == 1
    return result.stderr.splitlines()[-1]


def test_no_extension(copied):
    assert "has no extension module" in import_error(copied)


def test_extension_of_another_python(copied):
    (copied / "_hotloop.cpython-39-x86_64-linux-gnu.so").touch()
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"was built for Python 3.9, this is Python {running}" in import_error(copied)


def test_broken_extension(copied):
    name = f"_hotloop.cpython-{sys.version_info[0]}{sys.version_info[1]}-x86_64-linux-gnu.so"
    (copied / name).write_bytes(b"not a shared object")
    assert "cannot be loaded" in import_error(copied)
