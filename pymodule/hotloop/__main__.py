"""python -m hotloop [options] script.py args...: runs a program as python would, with hotloop enabled."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType, TracebackType
    from typing import Any, NoReturn

USAGE = """\
usage: python -m hotloop [options] script.py args...
       python -m hotloop [options] -m module args...
       python -m hotloop [options] -c code args...

  --threads N      threads for parallel loops
  --gpu            offload parallel loops to a GPU where that can be done
  --report         at the end, write to stderr what became of the hot loops
  --NAME VALUE     any other option of the table
  --help-options   print the table of options
  --help           print this text
"""


def fail(text: str, status: int = 2) -> NoReturn:
    sys.stderr.write(f"hotloop: {text}\n")
    sys.exit(status)


def main() -> None:
    values, report, rest = parse(sys.argv[1:])
    code, module = load(rest)
    import hotloop

    try:
        hotloop._set_options(values)
        hotloop.enable()
    except (RuntimeError, ValueError, TypeError) as error:
        fail(str(error), 1)
    if report:
        import atexit

        # Registered before the program runs, so called after everything that it registers.
        atexit.register(lambda: sys.stderr.write(f"{hotloop.report()}\n"))
    run(code, module)


def parse(words: list[str]) -> tuple[dict[str, Any], bool, list[str]]:
    """Option values, whether to report, and the words from the script (or -m, -c) on."""
    from hotloop import _hotloop
    from hotloop._options import from_word, help_options

    table = {row["name"]: row for row in _hotloop.options_table()}
    values: dict[str, Any] = {}
    report = False
    while words and words[0].startswith("-") and words[0] not in ("-", "-m", "-c"):
        word, *words = words
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if word in ("--help", "-h"):
            sys.stdout.write(USAGE)
            sys.exit(0)
        if word == "--help-options":
            sys.stdout.write(help_options())
            sys.exit(0)
        if word == "--report":
            report = True
        elif not word.startswith("--") or name not in table:
            fail(f"unknown option {word} (--help-options lists them)")
        elif equals:
            values[name] = from_word(table[name], value)
        elif table[name]["kind"] == "bool":
            values[name] = True
        elif words:
            value, *words = words
            values[name] = from_word(table[name], value)
        else:
            fail(f"{word}: a value is missing")
    if not words or (words[0] in ("-m", "-c") and len(words) == 1):
        sys.stderr.write(USAGE)
        sys.exit(2)
    return values, report, words


def load(words: list[str]) -> tuple[CodeType, ModuleType]:
    """The program's code and its __main__ module; sets sys.argv and sys.path[0] as python does."""
    first, *rest = words
    if first == "-c":
        text, *arguments = rest
        sys.argv = ["-c", *arguments]
        set_first_path("")
        return compile_source(text, "<string>"), new_main()
    if first == "-m":
        return load_module(rest)
    sys.argv = words
    if first == "-":
        set_first_path("")
        module = new_main()
        vars(module)["__file__"] = "<stdin>"
        return compile_source(sys.stdin.buffer.read(), "<stdin>"), module
    return load_script(first)


def new_main() -> ModuleType:
    import builtins
    import types

    module = types.ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __annotations__={})
    return module


def set_first_path(folder: str) -> None:
    """`python -m` has put the current folder first, unless told not to (-P, PYTHONSAFEPATH, -I)."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def load_script(name: str) -> tuple[CodeType, ModuleType]:
    import importlib.machinery as machinery

    path = os.path.join(os.getcwd(), name)  # made absolute, but not tidied: as python does
    module = new_main()
    finder = (
        None if os.path.isfile(path) and not is_archive(path) else machinery.PathFinder.find_spec("__main__", [path])
    )
    if finder is not None:  # a folder or an archive with a __main__.py
        if sys.flags.safe_path:
            sys.path.insert(0, path)
        else:
            sys.path[0] = path
        return from_spec(finder, module)
    if os.path.isdir(path):
        sys.stderr.write(f"{sys.executable}: can't find '__main__' module in {path!r}\n")
        sys.exit(1)
    set_first_path(os.path.dirname(os.path.realpath(path)))
    loader: Any
    if path.endswith(".pyc"):
        loader = machinery.SourcelessFileLoader("__main__", path)
        code = loader.get_code("__main__")
    else:
        loader = machinery.SourceFileLoader("__main__", path)
        try:
            with open(path, "rb") as file:
                source = file.read()
        except OSError as error:
            sys.stderr.write(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}\n")
            sys.exit(2)
        code = compile_source(source, path)
    vars(module).update(__file__=path, __cached__=None, __loader__=loader)
    return code, module


def is_archive(path: str) -> bool:
    with open(path, "rb") as file:
        start = file.read(4)
    if start.startswith(b"PK"):
        return True
    import zipfile  # an archive may have a script's first line before it

    return start.startswith(b"#!") and zipfile.is_zipfile(path)


def compile_source(source: bytes | str, path: str) -> CodeType:
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        show(error.with_traceback(None))
        sys.exit(1)


def load_module(words: list[str]) -> tuple[CodeType, ModuleType]:
    import importlib.util

    name, *rest = words
    sys.argv = ["-m", *rest]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        fail(f"error while finding module {name!r} ({type(error).__name__}: {error})", 1)
    if spec is None or spec.loader is None:
        sys.stderr.write(f"{sys.executable}: No module named {name}\n")
        sys.exit(1)
    code, module = from_spec(spec, new_main())
    sys.argv[0] = spec.origin or name
    return code, module


def from_spec(spec: Any, module: ModuleType) -> tuple[CodeType, ModuleType]:
    try:
        code = spec.loader.get_code(spec.name)
    except SyntaxError as error:
        show(error.with_traceback(None))
        sys.exit(1)
    if code is None:
        fail(f"no code object available for {spec.name}", 1)
    vars(module).update(
        __file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent, __spec__=spec
    )
    return code, module


def run(code: CodeType, module: ModuleType) -> None:
    """Runs the program as __main__; an exception that it does not catch is shown without our own frames."""
    sys.modules["__main__"] = module
    failure: BaseException | None = None
    try:
        exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException as error:
        failure = error
    if failure is None:
        return
    trace = failure.__traceback__
    failure.__traceback__ = trace.tb_next if trace else None
    show(failure)
    if isinstance(failure, KeyboardInterrupt):
        # Python itself ends on an interrupt in its own way (by the signal); it has been shown already.
        sys.excepthook = quiet
        raise failure
    sys.exit(1)


def quiet(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    """An excepthook that shows nothing."""


def show(error: BaseException) -> None:
    sys.last_exc = error
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as second:
        sys.stderr.write("Error in sys.excepthook:\n")
        trace = second.__traceback__.tb_next if second.__traceback__ else None
        sys.__excepthook__(type(second), second.with_traceback(trace), trace)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)


if __name__ == "__main__":
    main()
