"""Runs the hot loops of ordinary Python programs over NumPy arrays as machine code, with unchanged results.

    import hotloop
    hotloop.enable()

Then `hotloop.explain(f)` tells for each loop of a function whether it is compiled and, if not, why.
"""

import os as _os
import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from ._text import Inspection, Text

__all__ = [
    "disable",
    "enable",
    "explain",
    "gpu",
    "inspect",
    "is_enabled",
    "options",
    "paused",
    "report",
    "stats",
]

try:
    from . import _hotloop
except ImportError as _error:
    from ._missing import explain_import_error as _explain_import_error

    raise _explain_import_error(_error) from None


def enable(*, threads: int | None = None, gpu: bool | None = None, threshold: int | None = None) -> None:
    """Starts compiling hot loops, also those that are running already.

    Arguments that are given set the option of that name until changed again (see `options`). Calling it twice is
    harmless. With HOTLOOP=0 in the environment it does nothing. Raises RuntimeError, and leaves the program as it
    was, where hotloop cannot work: an unknown Python version, a monitoring tool that holds the optimizer's id, a
    failed self-check.
    """
    if _mode() == "0":
        return
    values: dict[str, Any] = {
        name: value
        for name, value in (("threads", threads), ("gpu", gpu), ("threshold", threshold))
        if value is not None
    }
    previous = _set_options(values) if values else {}
    try:
        _hotloop.enable()
    except BaseException:
        if previous:
            _hotloop.set_options(previous)
        raise
    _say_what_is_not_there_yet(_hotloop.get_options())


def disable() -> None:
    """Stops: every loop is run by the interpreter again. Loops that run in native code return to it soon."""
    _hotloop.disable()


def is_enabled() -> bool:
    """Whether hot loops are being compiled and run."""
    return _hotloop.is_enabled()


class paused:
    """Context manager: inside, the plain interpreter runs everything. May be nested."""

    __slots__ = ()

    def __enter__(self) -> None:
        _hotloop.pause()

    def __exit__(
        self, kind: "type[BaseException] | None", value: "BaseException | None", traceback: "TracebackType | None"
    ) -> None:
        _hotloop.resume()


class options:
    """Context manager: `with hotloop.options(threshold=100, verify=True): ...`

    Sets options of the table that `python -m hotloop --help-options` prints, for the whole process, and puts the
    former values back at the end. A wrong name or value raises before anything is changed.
    """

    __slots__ = ("_values", "_previous")

    def __init__(self, **values: "Any") -> None:
        self._values = values
        self._previous: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        self._previous.append(_set_options(self._values))
        if _hotloop.is_enabled():
            _say_what_is_not_there_yet(self._values)

    def __exit__(
        self, kind: "type[BaseException] | None", value: "BaseException | None", traceback: "TracebackType | None"
    ) -> None:
        _hotloop.set_options(self._previous.pop())


class gpu(options):
    """Context manager: offload inside what can be offloaded. Without a usable GPU everything runs on the CPU."""

    __slots__ = ()

    def __init__(self, device: int = 0) -> None:
        if device != 0 or isinstance(device, bool):
            raise ValueError(f"gpu(device={device!r}): expected 0, the only device so far")
        super().__init__(gpu=True)


def stats() -> dict[str, "Any"]:
    """Counters since the start: loops seen and compiled, entries, exits by kind, refusals by reason, seconds spent."""
    return _hotloop.stats()


def explain(what: "Any" = None) -> "Text":
    """Tells, line by line, which loops of a function, method, class, module or code object are compiled and why the
    others are not; without an argument, of everything that got hot."""
    from ._text import explain

    return explain(what)


def inspect(what: "Any" = None) -> "Inspection":
    """The compiled loops of a function (as for `explain`): `.ir` and `.asm` are text, `.regions` are single."""
    from ._text import Inspection

    return Inspection(what)


def report() -> "Text":
    """The hot loops of the whole program, those entered most often first, and what happened to each."""
    from ._text import report

    return report()


# ---- not public ---------------------------------------------------------------------------------------------------

# Options whose feature this version does not have: what is said, once, when one is in force.
_NOT_THERE_YET = {
    "gpu": (True, "offloading to a GPU is not available in this version; everything runs on the CPU"),
    "reassociate": (True, "float sums keep their order in this version"),
    "backend": ("tiles", "SIMD tiles are not available in this version; scalar code runs"),
}


def _set_options(values: dict[str, "Any"]) -> dict[str, "Any"]:
    """Sets options and returns the former values of exactly these."""
    former = _hotloop.set_options(values)
    return {name: former[name] for name in values}


def _say_what_is_not_there_yet(values: dict[str, "Any"]) -> None:
    for name in tuple(_NOT_THERE_YET):
        value, text = _NOT_THERE_YET[name]
        if values.get(name) == value:
            del _NOT_THERE_YET[name]
            _sys.stderr.write(f"hotloop: {name}={value}: {text}\n")


def _mode() -> str:
    """The variable HOTLOOP: "1" enables at import, "0" makes enable() do nothing."""
    return _os.environ.get("HOTLOOP", "")


def _start() -> None:
    mode = _mode()
    if mode == "1":
        # The program may know nothing of hotloop; it runs on without.
        try:
            enable()
        except (RuntimeError, ValueError) as error:
            _sys.stderr.write(f"hotloop: not enabled: {error}\n")
    elif mode not in ("", "0"):
        _sys.stderr.write(f"hotloop: HOTLOOP={mode}: expected 1 (enable at import) or 0 (never enable)\n")


def __getattr__(name: str) -> "Any":
    if name == "__version__":  # importlib.metadata takes longer to import than all of hotloop
        from importlib.metadata import version

        return version("hotloop")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_start()
