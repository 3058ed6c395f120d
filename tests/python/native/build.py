"""Builds hl_access (cpython_testmodule.c + src/cpython/*.c) for the running Python and imports it.

Needs a C compiler (CC, default cc). The shared object lies in build/cpython-test/ and is remade when a source is newer.
"""
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def load():
    sources = [Path(__file__).with_name("cpython_testmodule.c"), *sorted((ROOT / "src/cpython").glob("*.c"))]
    headers = [*(ROOT / "src/cpython").glob("*.h"), *(ROOT / "src/cpython").glob("*.def")]
    tag = sysconfig.get_config_var("SOABI")
    target = ROOT / "build" / "cpython-test" / tag / f"hl_access.{tag}.so"
    newest = max(p.stat().st_mtime for p in [*sources, *headers])
    if not target.exists() or target.stat().st_mtime < newest:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [os.environ.get("CC", "cc"), "-std=c11", "-O1", "-g", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wno-misleading-indentation",
             f"-I{ROOT / 'src'}", f"-I{sysconfig.get_paths()['include']}", *map(str, sources), "-o", str(part)],
            check=True)
        os.replace(part, target)
    if "hl_access" in sys.modules:
        return sys.modules["hl_access"]
    spec = importlib.util.spec_from_file_location("hl_access", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["hl_access"] = module
    return module
