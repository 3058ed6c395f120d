"""Python processes that a regression test starts: HOTLOOP=1 enables hotloop when it is imported."""
try:
    import hotloop  # noqa: F401
except ImportError:
    pass
