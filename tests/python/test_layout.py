"""The source tree keeps its own rules: who includes whom, sizes, names in ARCHITECTURE.md, one version."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Component → what it may include besides itself. ARCHITECTURE.md says the same.
MAY_INCLUDE = {
    "base": set(),
    "cpython": {"base"},
    "ir": {"base"},
    "runtime": {"ir", "cpython", "base"},
    # The tracer drives optimizer and codegen through their two interfaces, which show no asmjit.
    "tracer": {"optimizer", "codegen", "ir", "runtime", "cpython", "base"},
    "optimizer": {"ir", "base"},
    "codegen": {"ir", "base"},
}
# Outside headers → the components that may use them.
ONLY_IN = {
    r"(Python\.h|internal/.*|cpython/(?!access).*|opcode.*\.h|structmember\.h|frameobject\.h|datetime\.h)": {
        "cpython",
        "runtime",
        "tracer",
        "pymodule",
    },
    r"internal/.*": {"cpython"},
    r"numpy/.*": {"cpython", "runtime", "tracer", "pymodule"},
    r"asmjit.*": {"codegen"},
    r"(tbb|oneapi)/.*": {"parallel"},
    r"cuda.*\.h": {"cuda"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def sources() -> list[pathlib.Path]:
    files = []
    for folder in ("src", "pymodule"):
        files += [p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp", ".c", ".def")]
    assert files
    return sorted(files)


def component(path: pathlib.Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "src" else "pymodule"


def wrong_includes(path: pathlib.Path, text: str) -> list[str]:
    here = component(path)
    wrong = []
    for bracket, name in INCLUDE.findall(text):
        target = name.split("/")[0]
        ours = bracket == '"' and target in MAY_INCLUDE
        if ours and here != "pymodule" and target not in MAY_INCLUDE[here] | {here}:
            wrong.append(f"{name}: {here} may not include {target}")
        if bracket == "<" or not (ROOT / "src" / name).exists():
            for pattern, allowed in ONLY_IN.items():
                if re.fullmatch(pattern, name) and here not in allowed:
                    wrong.append(f"{name}: only in {', '.join(sorted(allowed))}")
    return wrong


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_includes(path: pathlib.Path) -> None:
    assert wrong_includes(path, path.read_text()) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("src/base/x.h", '#include "ir/ir.h"'),
        ("src/ir/x.h", '#include "tracer/semantics.h"'),
        ("src/ir/x.h", "#include <Python.h>"),
        ("src/optimizer/x.cpp", "#include <asmjit/asmjit.h>"),
        ("src/codegen/x.cpp", '#include "cpython/access.h"'),
        ("src/tracer/x.cpp", '#include "internal/pycore_frame.h"'),
        ("src/runtime/x.cpp", '#include "codegen/x86.h"'),
        ("src/base/x.cpp", "#include <numpy/arrayobject.h>"),
        ("pymodule/x.cpp", "#include <asmjit/x86.h>"),
    ],
)
def test_include_rule_finds_offenders(file: str, line: str) -> None:
    assert wrong_includes(ROOT / file, line + "\n") != []


def test_every_folder_of_src_is_a_component() -> None:
    folders = {p.name for p in (ROOT / "src").iterdir() if p.is_dir() and any(p.iterdir())}
    assert folders <= set(MAY_INCLUDE)


def test_table_of_architecture_is_this_rule() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = {}
    for name, includes in re.findall(r"^\| `src/(\w+)/` \|.*\| ([^|]*) \|$", text, re.MULTILINE):
        words = {word.strip() for word in includes.split(",")} - {"nothing", "asmjit", "TBB"}
        table[name] = words
    assert table == MAY_INCLUDE


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "README.md"])
def test_named_files_exist(page: str) -> None:
    missing = []
    for name in re.findall(r"`([\w./-]+)`", (ROOT / page).read_text()):
        looks_like_a_path = "/" in name and not name.startswith((".venv", "build"))
        looks_like_a_file = re.search(r"\.(def|h|cpp|c|py|md|toml|txt)$", name) is not None
        if looks_like_a_path and not (ROOT / name).exists() and not (ROOT / "src" / name).exists():
            # A component's file may be named without its suffix: `ir/evaluator`.
            if not list((ROOT / "src").glob(f"{name}.*")):
                missing.append(name)
        elif looks_like_a_file and "/" not in name and not list(ROOT.rglob(name)):
            missing.append(name)
    assert [name for name in missing if "NN" not in name and "XY" not in name] == []


def test_architecture_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 90


def test_version_conditions_stay_in_cpython() -> None:
    offenders = [
        str(p.relative_to(ROOT))
        for p in sources()
        if component(p) != "cpython"
        and re.search(r"^\s*#\s*(el)?if.*PY_(VERSION_HEX|MINOR_VERSION)", p.read_text(), re.MULTILINE)
    ]
    assert offenders == []


def test_files_are_not_too_long() -> None:
    assert [str(p.relative_to(ROOT)) for p in sources() if len(p.read_text().splitlines()) > 600] == []


def test_version_stands_in_one_place() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    others = [p for p in sources() if version[1] in p.read_text()]
    assert others == []
    import hotloop

    assert hotloop.__version__ == version[1]
