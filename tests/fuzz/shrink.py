"""Makes a program that fails smaller: statements and expressions are taken away as long as it still fails.

Delta debugging (Zeller, Hildebrandt 2002) over each list of statements, then compound statements are replaced by what is in them, and
expressions by their parts or by a number. Needs: a function that tells whether a text fails. Promises: the result fails.
"""
import ast
import copy
import time


def bodies(tree):
    """All lists of statements, as (node, field)."""
    return [(node, field) for node in ast.walk(tree) for field in ("body", "orelse", "finalbody", "handlers")
            if isinstance(getattr(node, field, None), list) and getattr(node, field)]


def text(tree):
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def put(node, field, statements):
    if not statements and field == "body" and not isinstance(node, ast.Module):
        statements = [ast.Pass()]
    setattr(node, field, statements)


def without_statements(tree):
    """Candidates: each list without half, a quarter, ... of its statements."""
    for k, (node, field) in enumerate(bodies(tree)):
        statements = getattr(node, field)
        if len(statements) == 1 and isinstance(statements[0], ast.Pass):
            continue
        size = len(statements)
        while size:
            for start in range(0, len(statements), size):
                candidate = copy.deepcopy(tree)
                place, _ = bodies(candidate)[k]
                rest = getattr(place, field)
                put(place, field, rest[:start] + rest[start + size:])
                yield candidate
            size //= 2


def unwrapped(tree):
    """Candidates: one compound statement replaced by what is in it."""
    for k, (node, field) in enumerate(bodies(tree)):
        for at, statement in enumerate(getattr(node, field)):
            for inner in ("body", "orelse", "finalbody"):
                if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)) and getattr(statement, inner, None):
                    candidate = copy.deepcopy(tree)
                    place, _ = bodies(candidate)[k]
                    here = getattr(place, field)
                    here[at:at + 1] = getattr(here[at], inner)
                    yield candidate


def expressions(tree):
    """All places of an expression that may be replaced, as (node, field, index or None)."""
    out = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(item, ast.expr) and not isinstance(getattr(item, "ctx", None), (ast.Store, ast.Del)) and field != "func":
                    out.append((node, field, index))
    return out


def get(place):
    node, field, index = place
    return getattr(node, field) if index is None else getattr(node, field)[index]


def simpler(tree):
    """Candidates: one expression replaced by one of its parts or by a number."""
    for k, place in enumerate(expressions(tree)):
        old = get(place)
        parts = [x for x in ast.iter_child_nodes(old) if isinstance(x, ast.expr)]
        if isinstance(old, ast.Call):
            parts = old.args
        if not isinstance(old, (ast.Constant, ast.Name)):
            parts = [*parts, ast.Constant(1), ast.Constant(0)]
        for part in parts:
            candidate = copy.deepcopy(tree)
            node, field, index = expressions(candidate)[k]
            new = copy.deepcopy(part)
            if index is None:
                setattr(node, field, new)
            else:
                getattr(node, field)[index] = new
            yield candidate


def shrink(source, fails, seconds=120, progress=lambda lines: None):
    """A smaller text for which fails(text) holds; `source` itself if nothing smaller fails."""
    end = time.monotonic() + seconds
    best, tried = ast.parse(source), {source}
    if not fails(text(best)):
        return source
    changed = True
    while changed:
        changed = False
        for candidates in (without_statements, unwrapped, simpler):
            again = True
            while again:
                again = False
                for candidate in candidates(best):
                    if time.monotonic() > end:
                        return text(best)
                    try:
                        new = text(candidate)
                    except Exception:  # noqa: BLE001 - not every tree is a program
                        continue
                    if new in tried:
                        continue
                    tried.add(new)
                    if fails(new):
                        best, again, changed = candidate, True, True
                        progress(new.count("\n"))
                        break
    return text(best)
