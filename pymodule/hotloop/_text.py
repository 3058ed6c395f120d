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


class Loop:
    """A loop as the bytecode shows it: its first line, and the code units from its header to its last back edge."""

    def __init__(self, line: int, header: int, end: int) -> None:
        self.line, self.header, self.end = line, header, end

    def encloses(self, other: Loop) -> bool:
        return self is not other and self.header <= other.header and other.end <= self.end


def loops_of(code: types.CodeType) -> list[Loop]:
    """Every loop of the code, in the order of their headers."""
    lines: list[tuple[int, int]] = []  # (unit, line)
    loops: dict[int, Loop] = {}
    for instruction in dis.get_instructions(code):
        unit = instruction.offset // 2
        line = instruction.positions.lineno if instruction.positions else None
        if line:
            lines.append((unit, line))
        if instruction.opname in _BACKWARD and isinstance(instruction.argval, int):
            loop = loops.setdefault(instruction.argval // 2, Loop(0, instruction.argval // 2, unit))
            loop.end = max(loop.end, unit)
    for loop in loops.values():
        # The test of a while loop is compiled below its body: the lowest line inside is the loop's.
        loop.line = min((n for unit, n in lines if loop.header <= unit <= loop.end), default=code.co_firstlineno)
    return sorted(loops.values(), key=lambda loop: loop.header)


def explain(what: Any = None) -> Text:
    if what is None:
        regions = _hotloop.regions()
        lines = [line for place, group in _grouped(regions) for line in (place, *_rows(group))]
        return Text("\n".join(lines) if lines else _nothing_yet())
    lines = []
    for code in code_objects(what):
        loops = loops_of(code)
        if not loops:
            continue
        lines.append(f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})")
        known: dict[int, list[Region]] = {}
        for region in _hotloop.regions(code):
            known.setdefault(region["header_unit"], []).append(region)
        compiled = [loop for loop in loops if any(r["status"] == "compiled" for r in known.get(loop.header, ()))]
        # One loop of the source may be several of the bytecode (a while loop with `continue`): one row per line.
        fates: dict[int, list[str]] = {}
        for loop in sorted(loops, key=lambda loop: loop.line):
            row = fates.setdefault(loop.line, [])
            around = [outer.line for outer in compiled if outer.encloses(loop) and outer.line != loop.line]
            if around:
                row.append(f"compiled as a part of the loop in line {around[-1]}")
            row += [_fate(region) for region in known.get(loop.header, ()) if not around or _says_more(region)]
        for line, row in fates.items():
            lines.append(_source(code.co_filename, line))
            lines += [_INDENT + fate for fate in dict.fromkeys(row or [_fate(None)])]
    return Text("\n".join(lines) if lines else "no loops")


def _says_more(region: Region) -> bool:
    """Whether this is worth a line although a compiled loop around it runs it."""
    return region["status"] == "compiled" or bool(region.get("reason"))


def report() -> Text:
    regions = sorted(_hotloop.regions(), key=lambda r: -(r.get("entries") or 0))
    if not regions:
        return Text(_nothing_yet())
    stats = _hotloop.stats()
    compiled = sum(region["status"] == "compiled" for region in regions)
    lines = [f"hotloop: {len(regions)} hot loops, {compiled} compiled"]
    for region in regions:
        lines.append(f"{region['file']}:{region['line']} in {region['name']}")
        lines += _rows([region])
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


_INDENT = " " * 11


def _rows(regions: list[Region]) -> list[str]:
    """The source line of each loop, and below it what became of the loop's versions."""
    lines: list[str] = []
    for region in regions:
        source = _source(region["file"], region["line"])
        if source not in lines:
            lines.append(source)
        lines.append(_INDENT + _fate(region))
    return lines


def _source(file: str, line: int) -> str:
    return f"  {line:5d}  {linecache.getline(file, line).rstrip()}".rstrip()


def _fate(region: Region | None) -> str:
    if not _hotloop.is_enabled() and (region is None or region["status"] != "compiled"):
        return "not compiled: hotloop is not enabled"
    if region is None:
        return "not hot: its back edge was not taken often enough, or a compiled loop around it runs it"
    if region["status"] == "compiled":
        exits = region.get("exits") or 0
        text = f"compiled: entered {_times(region.get('entries') or 0)}, {exits} side exit{'s' * (exits != 1)}"
        reasons = region.get("exits_by_reason") or {}
        text += f" ({', '.join(f'{name} {count}' for name, count in reasons.items())})" if reasons else ""
        text += f"; at times in the interpreter: {_reason(region)}" if region.get("reason") else ""
        # Operations that native code leaves to the interpreter's own functions, each on every trip that meets it.
        return "".join([text, *(f"\n{_INDENT}  by the interpreter: {_reason(left)}" for left in region.get("left") or ())])
    if not region.get("reason"):
        trips = region.get("trips")
        return str(region["status"]) + (f": {trips} trips" if trips else "")
    return f"not compiled: {_reason(region)}"


def _reason(region: Region) -> str:
    text = str(region["reason"])
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
