"""Option texts: --help-options, and command-line words turned into option values."""

from __future__ import annotations

import textwrap
from typing import Any

from . import _hotloop

_HEADER = """\
Options: as keywords of hotloop.options(...), as environment variables, and on the command line of
python -m hotloop. HOTLOOP=1 enables hotloop when it is imported; HOTLOOP=0 makes enable() do nothing.
"""


def help_options() -> str:
    """The table of options as text."""
    lines = [_HEADER]
    for row in _hotloop.options_table():
        default = row["default"]
        shown = "" if default == "" else f" (default {_shown(default)})"
        lines.append(f"  {row['name']}  {row['env']}={_values(row)}{shown}")
        lines += textwrap.wrap(row["doc"], 100, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _values(row: dict[str, Any]) -> str:
    kind, allowed = str(row["kind"]), str(row["allowed"])
    if kind == "bool":
        return "1|0"
    if kind == "int":
        return "N"
    if kind == "seed:step":
        return "SEED:K"
    if kind == "set":
        return allowed.replace("|", ",")
    return allowed or "TEXT"


def from_word(row: dict[str, Any], word: str) -> Any:
    """The value that a command-line word stands for; words that stand for none are left for the validator to refuse."""
    if row["kind"] == "int":
        try:
            return int(word)
        except ValueError:
            return word
    if row["kind"] == "bool":
        return {"1": True, "0": False}.get(word, word)
    return word
