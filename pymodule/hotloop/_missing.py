"""Says why the extension module cannot be imported."""

from __future__ import annotations

import os
import re
import sys


def explain_import_error(error: ImportError) -> ImportError:
    """One line for the user: built for another Python, not built, or what the loader said."""
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    folder = os.path.dirname(os.path.abspath(__file__))
    built = sorted(
        {
            f"{match[1]}.{match[2]}"
            for name in os.listdir(folder)
            if (match := re.match(r"_hotloop\.cpython-(\d)(\d+)", name))
        }
    )
    if running in built:
        return ImportError(f"hotloop's extension module cannot be loaded: {error}")
    if built:
        return ImportError(
            f"hotloop in {folder} was built for Python {', '.join(built)}, this is Python {running}: "
            "install it for this Python (pip install hotloop's source folder)"
        )
    return ImportError(
        f"hotloop in {folder} has no extension module: "
        "install it (scripts/build in a checkout, or pip install its source folder)"
    )
