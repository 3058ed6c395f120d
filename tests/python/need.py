"""What the whole-program tests need, and the reason to skip them when it is not there."""
import importlib.util

import pytest


def _reason():
    if importlib.util.find_spec("hotloop") is None:
        return "hotloop is not installed in this Python"
    try:
        import hotloop  # noqa: F401
    except ImportError as e:
        return f"hotloop cannot be imported: {e}"
    return None


REASON = _reason()
needs_hotloop = pytest.mark.skipif(REASON is not None, reason=str(REASON))
