"""The texts of explain(), inspect() and report(), made from what the extension knows of each hot loop.

Imported on first use only: `import hotloop` stays fast.
"""

from __future__ import annotations

import dis
import linecache
import types
from collections.abc import Iterator
from typing import Any

from . import _hotloop

Region = dict[str, Any]

_BACKWARD = ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")


class Text(str):
    """A string that shows itself as it is at the prompt of an interactive Python."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def code_objects(what: Any) -> list[types.CodeType]:
    """The code of a function, method, class, module, property, ... with the functions defined inside."""
    found: list[types.CodeType] = []
    _collect(what, found, set())
    if not found:
        raise TypeError(f"expected a function, method, class, module or code object, not {type(what).__name__}")
    return found


def _collect(what: Any, found: list[types.CodeType], seen: set[int]) -> None:
    if id(what) in seen:
        return
    seen.add(id(what))
    if isinstance(what, types.CodeType):
        found.append(what)
        for constant in what.co_consts:
            if isinstance(constant, types.CodeType):
                _collect(constant, found, seen)
    elif isinstance(what, types.ModuleType):
        for value in list(vars(what).values()):
            if getattr(value, "__module__", None) == what.__name__:
                _collect(value, found, seen)
    elif isinstance(what, type):
        for value in list(vars(what).values()):
            _collect(value, found, seen)
    elif isinstance(what, property):
        for function in (what.fget, what.fset, what.fdel):
            _collect(function, found, seen)
    else:
        what = getattr(what, "__func__", what)  # methods, class methods, static methods
        while hasattr(what, "__wrapped__"):  # decorated with functools.wraps
            _collect(getattr(what, "__code__", None), found, seen)
            what = what.__wrapped__
        _collect_code(what, found, seen)


def _collect_code(what: Any, found: list[types.CodeType], seen: set[int]) -> None:
    for name in ("__code__", "gi_code", "cr_code", "ag_code"):
        code = getattr(what, name, None)
        if isinstance(code, types.CodeType):
            _collect(code, found, seen)


def loops_of(code: types.CodeType) -> dict[int, int]:
    """Every loop of the code: its header's code unit → its first line."""
    lines: list[tuple[int, int]] = []  # (offset, line)
    jumps: list[tuple[int, int]] = []  # (target, offset)
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        if line:
            lines.append((instruction.offset, line))
        if instruction.opname in _BACKWARD and isinstance(instruction.argval, int):
            jumps.append((instruction.argval, instruction.offset))
    headers: dict[int, int] = {}
    for target, jump in sorted(jumps):
        # The test of a while loop is compiled below its body: the lowest line between header and jump is the loop's.
        inside = [line for offset, line in lines if target <= offset <= jump]
        line = min(inside, default=code.co_firstlineno)
        headers[target // 2] = min(line, headers.get(target // 2, line))
    return headers


def explain(what: Any = None) -> Text:
    if what is None:
        regions = _hotloop.regions()
        if not regions:
            return Text(_nothing_yet())
        lines = []
        for place, group in _grouped(regions):
            lines.append(place)
            lines += _rows([(region, None) for region in group])
        return Text("\n".join(lines))
    lines = []
    for code in code_objects(what):
        loops = loops_of(code)
        if not loops:
            continue
        lines.append(f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})")
        known: dict[int, list[Region]] = {}
        for region in _hotloop.regions(code):
            known.setdefault(region["header_unit"], []).append(region)
        rows: list[tuple[Region | None, tuple[str, int] | None]] = []
        for unit, line in loops.items():
            here = (code.co_filename, line)
            rows += [(region, here) for region in known.pop(unit, ())] or [(None, here)]
        rows += [(region, None) for rest in known.values() for region in rest]
        lines += _rows(rows)
    if not lines:
        return Text("no loops")
    return Text("\n".join(lines))


def report() -> Text:
    regions = sorted(_hotloop.regions(), key=lambda r: -(r.get("entries") or 0))
    if not regions:
        return Text(_nothing_yet())
    stats = _hotloop.stats()
    compiled = sum(region["status"] == "compiled" for region in regions)
    lines = [f"hotloop: {len(regions)} hot loops, {compiled} compiled"]
    for region in regions:
        lines.append(f"{region['file']}:{region['line']} in {region['name']}")
        lines += _rows([(region, None)])
    seconds = [f"{stats[key]:.3f} s {word}" for key, word in _SECONDS if isinstance(stats.get(key), float)]
    if seconds:
        lines.append("time spent: " + ", ".join(seconds))
    return Text("\n".join(lines))


_SECONDS = (("record_seconds", "recording"), ("compile_seconds", "compiling"))


def _nothing_yet() -> str:
    if not _hotloop.is_enabled():
        return "hotloop is not enabled: call hotloop.enable()"
    threshold = _hotloop.get_options()["threshold"]
    return f"no loop has made {threshold} trips yet"


def _grouped(regions: list[Region]) -> Iterator[tuple[str, list[Region]]]:
    groups: dict[tuple[str, str], list[Region]] = {}
    for region in regions:
        groups.setdefault((region["file"], region["name"]), []).append(region)
    for (file, name), group in groups.items():
        yield f"{name} ({file})", sorted(group, key=lambda r: r["line"])


def _rows(rows: list[tuple[Region | None, tuple[str, int] | None]]) -> list[str]:
    """Two lines per loop: its source, and what became of it. A place (file, line) overrides the region's own."""
    lines = []
    for region, place in sorted(rows, key=lambda row: _line_of(*row)):
        line = _line_of(region, place)
        file = place[0] if place else region["file"] if region else ""
        source = linecache.getline(file, line).rstrip() if file else ""
        lines.append(f"  {line:5d}  {source}".rstrip())
        lines.append("           " + _fate(region))
    return lines


def _line_of(region: Region | None, place: tuple[str, int] | None) -> int:
    if place:
        return place[1]
    return region["line"] if region else 0


def _fate(region: Region | None) -> str:
    if region is None:
        if not _hotloop.is_enabled():
            return "not compiled: hotloop is not enabled"
        return "not hot: its back edge was not taken often enough, or it ran inside a compiled loop around it"
    if region["status"] == "compiled":
        entries, exits = region.get("entries") or 0, region.get("exits") or 0
        return f"compiled: entered {_times(entries)}, {exits} side exits"
    if not region.get("reason"):
        return str(region["status"])
    text = f"not compiled: {region['reason']}"
    if region.get("reason_line"):
        text += f", line {region['reason_line']}"
    if region.get("advice"):
        text += f"; {region['advice']}"
    return text


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


class Inspection:
    """What hotloop made of the loops of a function: `.ir`, `.asm`, `.ptx`, `.plan` (text) and `.regions` (dicts)."""

    def __init__(self, what: Any = None) -> None:
        if what is None:
            self.regions: list[Region] = _hotloop.regions()
        else:
            self.regions = [region for code in code_objects(what) for region in _hotloop.regions(code)]

    def _text(self, key: str) -> Text:
        parts = []
        for region in self.regions:
            if region.get(key):
                parts.append(f"; {region['name']} {region['file']}:{region['line']}\n{str(region[key]).rstrip()}")
        return Text("\n\n".join(parts))

    @property
    def ir(self) -> Text:
        return self._text("ir")

    @property
    def asm(self) -> Text:
        return self._text("asm")

    @property
    def ptx(self) -> Text:
        return self._text("ptx")

    @property
    def plan(self) -> Text:
        return self._text("plan")

    def __repr__(self) -> str:
        return "\n\n".join(text for text in (self.ir, self.asm, self.ptx, self.plan) if text) or "nothing compiled"
