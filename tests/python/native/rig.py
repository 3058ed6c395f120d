"""Drives src/cpython from tests: a plan, run inside a JUMP callback of a chosen code object, changes the frame.

A plan gets a Frame, the jump's unit and its target unit. It returns None or an action for hl_access (see
cpython_testmodule.c) and must leave the frame with its resume point set.
"""
import gc
import os
import sys

from native import build

t = build.load()
NULL = t.NULL


class Instr:
    def __init__(self, code, row):
        self.code = code
        (self.unit, self.op_unit, self.next_unit, self.op, self.arg, self.arg2, self.target, self.name,
         self.policy) = row

    def __repr__(self):
        return f"<{self.unit}:{self.op} {self.arg} {self.arg2} -> {self.target}>"


def instrs(code):
    unit, out = 0, []
    while unit < t.unit_count(code):
        out.append(Instr(code, t.decode(code, unit)))
        unit = out[-1].next_unit
    return out


def find(code, op, nth=0, **fields):
    hits = [i for i in instrs(code) if i.op == op and all(getattr(i, k) == v for k, v in fields.items())]
    return hits[nth]


def loads_before(code, unit, n):
    """Unit of the n-th instruction before `unit`."""
    units = [i.unit for i in instrs(code)]
    return units[units.index(unit) - n]


class Frame:
    def __init__(self, address):
        self.f = address
        self.code = t.frame_code(address)

    def slot(self, name):
        for i in range(t.local_count(self.code)):
            if t.local_name(self.code, i) == name:
                return i
        raise KeyError(name)

    def __getitem__(self, name):
        return t.local_get(self.f, self.slot(name))

    def __setitem__(self, name, value):
        t.local_swap(self.f, self.slot(name), value)

    @property
    def stack(self):
        return [t.peek(self.f, i) for i in range(t.depth(self.f))]

    def push(self, *values):
        for v in values:
            t.push(self.f, v)

    def pop(self):
        return t.pop(self.f)

    def resume(self, unit):
        t.set_resume(self.f, unit)

    def leave_loop(self, header):
        """After the for loop whose back edge goes to header: drop the iterator, go past the loop."""
        head = Instr(self.code, t.decode(self.code, header))
        while head.op == "NOP":
            head = Instr(self.code, t.decode(self.code, head.next_unit))
        assert head.op == "FOR_ITER", head
        for _ in range(head.arg):
            self.pop()
        self.resume(head.target)


def code_of(f):
    return f if not hasattr(f, "__code__") else f.__code__


class Armed:
    """with Armed(code, plan): the plan runs at JUMP event number `at` of each batch of `every` events (0: only once)."""

    def __init__(self, f, plan, at=1, every=0, event=None):
        self.code, self.plan, self.at, self.every = code_of(f), plan, at, every
        self.event = t.EVENT_JUMP if event is None else event
        self.events = 0
        self.errors = []

    def __call__(self, frame, code, *offsets):
        self.events += 1
        n = self.events % self.every if self.every else self.events
        if n != (self.at % self.every if self.every else self.at):
            return None
        assert code is self.code
        try:
            return self.plan(Frame(frame), *(o // 2 for o in offsets))
        except BaseException as e:
            self.errors.append(e)
            raise

    def __enter__(self):
        if "hotloop" in sys.modules:
            sys.modules["hotloop"].disable()
        t.claim()
        t.set_callback(self.event, t.callback(self))
        t.set_local(self.code, self.event)
        return self

    def __exit__(self, *exc):
        t.set_local(self.code, 0)
        t.release()
        for e in self.errors:
            raise e


def nested_code(code, name):
    for c in code.co_consts:
        if hasattr(c, "co_code"):
            if c.co_name == name:
                return c
            deeper = nested_code(c, name)
            if deeper is not None:
                return deeper
    return None


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def no_growth(once, runs, *objects):
    """once() a few times, then `runs` times: blocks, resident memory and reference counts stay."""
    for _ in range(200):
        once()
    gc.collect()
    blocks, memory, refs = sys.getallocatedblocks(), resident(), [sys.getrefcount(o) for o in objects]
    for _ in range(runs):
        once()
    gc.collect()
    assert [abs(sys.getrefcount(o) - r) <= 1 for o, r in zip(objects, refs, strict=True)] == [True] * len(objects)
    assert abs(sys.getallocatedblocks() - blocks) < 60
    assert resident() - memory < 2 << 20
