"""src/cpython: opcode tables and decoding, against the interpreter's own opcode and dis modules."""
import asyncio.base_events
import collections
import dataclasses
import dis
import inspect
import json.decoder
import opcode
import statistics
import textwrap
import typing

import pytest
from native.rig import Armed, find, instrs, nested_code, t

MODULES = [asyncio.base_events, collections, dataclasses, dis, inspect, json.decoder, statistics, textwrap, typing]


def codes_of(code):
    yield code
    for c in code.co_consts:
        if hasattr(c, "co_code"):
            yield from codes_of(c)


def all_codes():
    for m in MODULES:
        with open(m.__file__) as f:
            yield from codes_of(compile(f.read(), m.__file__, "exec"))


def test_every_opcode_of_this_python_has_a_row():
    names = {n: v for n, v in opcode.opmap.items() if v < 256 and not n.startswith("INSTRUMENTED_")}
    for name, number in names.items():
        row = t.opcode_row(number)
        assert row is not None, name
        assert row[0] == name
        assert row[1] == sum(opcode._cache_format.get(name, {}).values()), name
    for number in range(256):
        row = t.opcode_row(number)
        assert row is None or row[0] in names, row



def test_lines_of_all_units():
    for code in all_codes():
        expected = [line if line is not None else -1 for start, end, line in code.co_lines() for _ in range(start, end, 2)]
        assert t.lines(code) == expected
        assert [t.line(code, unit) for unit in range(0, len(expected), 7)] == expected[::7]


def test_back_edges():
    for code in all_codes():
        expected = [(i.argval // 2, i.offset // 2) for i in dis.get_instructions(code) if i.opname == "JUMP_BACKWARD"]
        assert t.back_edges(code) == expected
        assert t.has_back_edge(code) == bool(expected)


def test_decoding_agrees_with_dis_on_the_standard_library():
    count = 0
    for code in all_codes():
        ours = {i.op_unit: i for i in instrs(code)}
        skip_call = None
        for i in dis.get_instructions(code):
            if i.opname in ("EXTENDED_ARG", "CACHE"):
                continue
            unit = i.offset // 2
            if i.opname == "KW_NAMES":
                skip_call = i
                continue
            mine = ours[unit]
            count += 1
            assert mine.name == i.opname
            check_args(code, mine, i, skip_call)
            skip_call = None
            assert mine.unit <= unit < mine.next_unit
    assert count > 20000


def check_args(code, mine, i, kw_names):
    name = i.opname
    if mine.op == "FOR_ITER":
        end = [j for j in instrs(code) if j.unit == i.argval // 2]
        assert end[0].name == "END_FOR"
        after = end[0].next_unit + (0 if t.NULL_FIRST else 1)
        assert mine.target == after
    elif i.opcode in dis.hasjrel:
        assert mine.target == i.argval // 2, (mine, i)
    else:
        assert mine.target == -1
    if mine.op in ("LOAD_GLOBAL", "LOAD_ATTR"):
        assert code.co_names[mine.arg] == i.argval
        assert mine.arg2 == i.arg & 1
    elif mine.op == "LOAD_CONST":
        assert code.co_consts[mine.arg] is i.argval or code.co_consts[mine.arg] == i.argval
    elif name in ("LOAD_FAST", "STORE_FAST"):
        assert t.local_name(code, mine.arg) == i.argval
    elif mine.op in ("LOAD_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"):
        assert (t.local_name(code, mine.arg), t.local_name(code, mine.arg2)) == i.argval
    elif mine.op == "COMPARE":
        assert dis.cmp_op[mine.arg] == i.argval.removeprefix("bool(").removesuffix(")")
        if name.startswith("bool(") or i.argrepr.startswith("bool("):
            assert mine.arg2 == 1
    elif mine.op == "BINARY":
        symbol = opcode._nb_ops[mine.arg + 13 * mine.arg2][1]
        assert symbol == i.argrepr
    elif mine.op in ("CALL", "CALL_KW"):
        assert mine.arg == i.arg
        if kw_names is not None:
            assert mine.op == "CALL_KW"
            assert code.co_consts[mine.arg2] == kw_names.argval


def test_prefixed_instruction_decodes_the_same_from_each_of_its_units():
    body = "\n".join(f"    x = {i + 1000}" for i in range(700))
    source = f"def f(n):\n  for i in range(n):\n{body}\n  return x\n"
    ns = {}
    exec(source, ns)
    code = ns["f"].__code__
    back = find(code, "JUMP_BACKWARD")
    assert back.op_unit > back.unit
    for unit in range(back.unit, back.op_unit + 1):
        assert t.decode(code, unit) == t.decode(code, back.unit)
    assert t.instr_start(code, back.next_unit - 1) == back.unit


def test_caches_and_units_out_of_range_are_refused():
    def f(a, b):
        return a + b

    add = find(f.__code__, "BINARY")
    with pytest.raises(SystemError, match="cache"):
        t.decode(f.__code__, add.op_unit + 1)
    for unit in (-1, t.unit_count(f.__code__)):
        with pytest.raises(SystemError, match="no instruction"):
            t.decode(f.__code__, unit)
    assert t.instr_start(f.__code__, add.op_unit + 1) == add.unit


def test_decoding_sees_through_specialisation_and_instrumentation():
    def f(n, a):
        s = 0
        for i in range(n):
            s += a[i % 3]
            if s > 10:
                s -= len(a)
        return s

    before = [(i.unit, i.op, i.arg, i.arg2, i.target) for i in instrs(f.__code__)]
    for _ in range(50):
        f(100, [1, 2, 3])
    assert [(i.unit, i.op, i.arg, i.arg2, i.target) for i in instrs(f.__code__)] == before
    seen = []

    def plan(frame, *_):
        seen.append([(i.unit, i.op, i.arg, i.arg2, i.target) for i in instrs(f.__code__)])

    with Armed(f, plan, at=5):
        f(20, [1, 2, 3])
    assert seen == [before]


def test_keyword_call_is_one_instruction_T19():
    def f(g, a, b):
        return g(a, key=b)

    call = find(f.__code__, "CALL_KW")
    assert call.arg == 2
    if t.NULL_FIRST:
        assert f.__code__.co_consts[call.arg2] == ("key",)
        assert call.op_unit == call.unit + 1
        assert t.decode(f.__code__, call.op_unit) == t.decode(f.__code__, call.unit)
    else:
        assert call.arg2 == -1


def test_local_kinds_and_cells():
    def outer(a, b):
        def inner():
            return a
        return inner, b

    kinds = {t.local_name(outer.__code__, i): t.local_kind(outer.__code__, i)
             for i in range(t.local_count(outer.__code__))}
    assert kinds == {"a": 1, "b": 0, "inner": 0}
    inner = nested_code(outer.__code__, "inner")
    assert t.local_kind(inner, 0) == 2
    assert [i.arg for i in instrs(outer.__code__) if i.op == "LOAD_CLOSURE"] == [0]
    cell = outer(5, 6)[0].__closure__[0]
    assert t.cell_get(cell) == 5
    assert t.cell_swap(cell, 7) == 5
    assert cell.cell_contents == 7
    assert t.cell_swap(cell, t.NULL) == 7
    assert t.cell_get(cell) is t.NULL


def test_lines_back_edges_and_try_regions():
    def f(n):
        for i in range(n):
            pass
        try:
            g = i
        except NameError:
            g = 0
        return g

    def straight(a):
        return a

    def with_block(m, a):
        with m:
            a()

    assert t.has_back_edge(f.__code__) and not t.has_back_edge(straight.__code__)
    first = f.__code__.co_firstlineno
    assert t.line(f.__code__, find(f.__code__, "FOR_ITER").unit) == first + 1
    inside = [i.unit for i in instrs(f.__code__) if t.in_try(f.__code__, i.unit) and i.op.startswith("LOAD_FAST")]
    assert inside and t.line(f.__code__, inside[0]) == first + 4
    assert not t.in_try(f.__code__, find(f.__code__, "FOR_ITER").unit)
    call = find(with_block.__code__, "CALL")
    handler, depth, lasti = t.handler(with_block.__code__, call.op_unit)
    assert lasti == 1 and depth == 1
    assert t.decode(with_block.__code__, handler)[3] == "PUSH_EXC_INFO"


def test_handlers_agree_with_dis():
    for code in all_codes():
        table = dis._parse_exception_table(code) if hasattr(dis, "_parse_exception_table") else []
        for unit in range(0, t.unit_count(code), 7):
            want = next(((e.target // 2, e.depth, int(e.lasti)) for e in table if e.start <= 2 * unit < e.end), None)
            assert t.handler(code, unit) == want
