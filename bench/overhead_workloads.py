"""Programs that hotloop cannot help: calls, objects, generators, strings, dicts, exceptions, imports, cold loops.

Each function of WORKLOADS runs once and returns a value that depends on all of its work; one run takes about 10 to 40 ms. Those
of FRESH need a fresh process each time, because the second time is another thing: they return the seconds of what counts.
Needs: nothing but the standard library and NumPy. Promises: the same work in every run.
"""
import ast
import collections
import contextlib
import dataclasses
import importlib
import inspect
import marshal
import re
import sys
import time

import numpy as np

TEXT = ("It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
        "it was the epoch of belief, it was the epoch of incredulity. ") * 40


def recursive_calls():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)
    return fib(22)


def recursive_tree():
    def build(depth):
        return (build(depth - 1), str(depth), build(depth - 1)) if depth else None

    def words(node):
        return 0 if node is None else words(node[0]) + len(node[1]) + words(node[2])
    return words(build(14))


class Account:
    def __init__(self, owner, currency):
        self.owner = owner
        self.currency = currency
        self.history = []

    def deposit(self, amount):
        self.history.append((self.currency, amount))
        return self

    def label(self):
        return self.owner + ":" + self.currency

    @property
    def last(self):
        return self.history[-1] if self.history else None

    @property
    def title(self):
        return self.owner.title()


def method_calls():
    account = Account("ada", "EUR")
    size = 0
    for name in ["x", "yy", "zzz"] * 10_000:
        size += len(account.deposit(name).label())
        if len(account.history) > 100:
            account.history.clear()
    return size


def properties():
    account = Account("ada", "EUR").deposit("1")
    size = 0
    for _ in range(40_000):
        size += len(account.title) + len(account.last)
    return size


def numbered(words):
    number = 0
    for word in words:
        number += 1
        yield number, word


def chained(words):
    yield from numbered(words)


def generators():
    size = 0
    for number, word in chained(TEXT.split() * 20):
        size += number % 7 + len(word)
    return size + sum(len(w) for n, w in numbered(TEXT.split() * 20) if n % 3)


def comprehensions():
    words = TEXT.split()
    size = 0
    for _ in range(25):
        upper = [w.upper() for w in words if w]
        lengths = {w: len(w) for w in upper}
        size += len({w[0] for w in lengths}) + sum(lengths[w] for w in upper) + len([(a, b) for a in "abc" for b in "xyz"])
    return size


def string_loop():
    counts = {}
    vowels = 0
    for c in TEXT * 12:
        if c in "aeiou":
            vowels += 1
        counts[c] = counts.get(c, 0) + 1
    return vowels, sorted(counts.items())


def string_building():
    parts = []
    for number in range(30_000):
        parts.append(f"{number:05d}" + "-" + str(number % 13))
        if len(parts) == 1000:
            parts = ["".join(parts)[:10]]
    return "".join(parts)


def dict_loop():
    table = {f"key{k}": {"name": f"n{k}", "tags": ["a", "b", str(k % 5)]} for k in range(2_000)}
    groups = collections.defaultdict(list)
    for _ in range(5):
        for key, value in table.items():
            groups[value["tags"][-1]].append(key)
            value["seen"] = value.get("seen", 0) + 1
    return {k: len(v) for k, v in groups.items()}


def exceptions():
    bad = 0
    for text in ["12", "x", "7", "", "3.5"] * 6_000:
        try:
            int(text)
        except ValueError:
            bad += 1
        finally:
            bad += 0
    return bad


@dataclasses.dataclass
class Point:
    name: str
    tags: tuple


def instances():
    points = []
    for k in range(20_000):
        points.append(Point("p", (k, "t")))
        if len(points) > 500:
            points.clear()
    return len(points)


@contextlib.contextmanager
def section(log, name):
    log.append(name)
    yield name
    log.pop()


def with_blocks():
    log = []
    size = 0
    for _ in range(10_000):
        with section(log, "a") as name:
            size += len(log) + len(name)
    return size


def graph_search():
    graph = {k: [(k * 7 + 1) % 5_000, (k * 3 + 2) % 5_000, (k + 1) % 5_000] for k in range(5_000)}
    distance = {0: 0}
    queue = collections.deque([0])
    while queue:
        node = queue.popleft()
        for other in graph[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return max(distance.values()), len(distance)


def sorting_with_keys():
    words = TEXT.split() * 8
    size = 0
    for _ in range(4):
        words.sort(key=lambda w: (len(w), w[::-1]))
        size += len(list(filter(lambda w: w.startswith("i"), map(str.lower, words))))
    return size


def regular_expressions():
    size = 0
    for k in range(12):
        re.purge()
        size += len(re.findall(rf"(?:[a-z]+|\d{{2,3}}|(?P<x{k}>[.,;]))\s*(?=it|the)?", TEXT[:2000]))
    return size


def syntax_trees():
    tree = ast.parse(inspect.getsource(dataclasses))
    return sum(1 for node in ast.walk(tree) if isinstance(node, ast.Name))


def short_loops():
    def total(items):
        size = 0
        for item in items:
            size += len(item)
        return size
    size = 0
    for k in range(25_000):
        size += total(("a", "bc")) + k % 2
    return size


async def step(k):
    return k % 3


async def steps(n):
    total = 0
    for k in range(n):
        total += await step(k)
    return total


def coroutines():
    running = steps(60_000)
    try:
        running.send(None)
    except StopIteration as done:
        return done.value


def many_types():
    values = [1, 2.5, "three", (4,), None, [5], {"six": 6}, b"seven"]
    names = collections.Counter()
    for _ in range(4_000):
        for value in values:
            names[type(value).__name__] += 1 if value else 2
    return sorted(names.items())


def whole_arrays():
    a = np.arange(64.0)
    for _ in range(10_000):
        a = np.maximum(a * 0.5 + 1.0, 0.25)
    return float(a.sum())


# ---- a fresh process for each run

MODULES = ["argparse", "asyncio", "calendar", "configparser", "csv", "ctypes", "difflib", "doctest", "email.message",
           "ftplib", "gettext", "html.parser", "http.client", "json", "logging.config", "mailbox", "optparse", "pdb",
           "pydoc", "sqlite3", "tarfile", "unittest", "urllib.request", "xml.etree.ElementTree", "zipfile"]


def imports():
    names = set(sys.modules)
    for name in MODULES:
        importlib.import_module(name)          # the files are read and cached by the first pass
    for name in set(sys.modules) - names:
        del sys.modules[name]
    start = time.thread_time()
    for name in MODULES:
        importlib.import_module(name)
    return time.thread_time() - start


def many_loops_source():
    """2,000 loops: half in functions that are called once, half at module level."""
    lines = ["names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta'] * 2", "out = []"]
    for k in range(1000):
        lines += [f"def loop{k}(names):", "    table = {}", "    for name in names:",
                  f"        table[name] = table.get(name, '') + name[{k % 4}:].upper().replace('A', 'b{k}')",
                  "        if name.startswith('e') and len(table) > 3:", "            out.append(name.encode())",
                  "    return table", f"out.append(loop{k}(names))",
                  "for name in names:",
                  f"    key = name.title().strip('x') + '{k}'",
                  "    out.append((key, name.split('e')))"]
    return "\n".join(lines) + "\nout = len(out)\n"


def many_loops():
    """As at its first import: compiled and run once."""
    source = many_loops_source()
    start = time.thread_time()
    exec(compile(source, "many_loops.py", "exec"), {"__name__": "many_loops"})
    return time.thread_time() - start


def many_loops_cached():
    """As at later imports. Each loop makes 16 trips and never runs again: what hotloop does once per loop has nothing to hide behind."""
    data = marshal.dumps(compile(many_loops_source(), "many_loops.py", "exec"))
    start = time.thread_time()
    exec(marshal.loads(data), {"__name__": "many_loops"})
    return time.thread_time() - start


WORKLOADS = [recursive_calls, recursive_tree, method_calls, properties, generators, comprehensions, string_loop, string_building,
             dict_loop, exceptions, instances, with_blocks, graph_search, sorting_with_keys, regular_expressions, syntax_trees,
             short_loops, coroutines, many_types, whole_arrays]
FRESH = [imports, many_loops, many_loops_cached]
