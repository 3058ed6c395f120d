"""src/cpython: entering and leaving running frames from the JUMP callback (on-stack replacement and its way back)."""
import asyncio
import sys

import pytest
from native.rig import NULL, Armed, code_of, find, instrs, nested_code, no_growth, t

N = 100


def skip(k):
    """A plan that moves the range iterator on top of the stack k items ahead, adding up s as the loop would."""
    def plan(frame, _jump, header):
        it = frame.stack[-1]
        start, step, length = t.range_read(it)
        frame["s"] = frame["s"] + sum(start + j * step for j in range(k))
        frame["i"] = start + (k - 1) * step
        t.range_set(it, start + k * step, step, length - k)
        frame.resume(header)
    return plan


def summing(n):
    s = 0
    for i in range(n):
        s += i
    return s, i


@pytest.mark.parametrize("k", [1, 2, 50, N - 1])
def test_advancing_a_range_iterator(k):
    with Armed(summing, skip(k)) as armed:
        assert summing(N) == (N * (N - 1) // 2, N - 1)
    assert armed.events == N - k


def test_resume_after_the_loop_T19():
    def plan(frame, _jump, header):
        frame["s"], frame["i"] = 4950, 99
        frame.leave_loop(header)

    with Armed(summing, plan) as armed:
        assert summing(N) == (4950, 99)
    assert armed.events == 1


def expression(n, a):
    s = 0
    for i in range(n):
        s = s + a[i] * (i + 1)
    return s


def test_resume_in_mid_expression_T19():
    """The left operand, the element and i wait on the stack; the next instruction is i + 1."""
    data = [float(j) for j in range(N)]

    def plan(frame, _jump, header):
        start, step, length = t.range_read(frame.stack[-1])
        if length == 0:
            return frame.resume(header)
        t.range_set(frame.stack[-1], start + 1, step, length - 1)
        frame["i"] = start
        frame.push(frame["s"], data[start], start, 1)
        frame.resume(find(frame.code, "BINARY", 0, arg=0).unit)

    want = expression(N, data)
    with Armed(expression, plan, at=1, every=3) as armed:
        assert expression(N, data) == want
    assert armed.events > 60


def calling(n, f, out):
    for i in range(n):
        out.append(f(i, scale=2))
    return out


def test_resume_at_a_keyword_call_T19():
    """Callable, NULL and arguments are pushed; on 3.12 the names are part of the instruction."""
    def f(i, scale):
        return i * scale

    def plan(frame, _jump, header):
        start, step, length = t.range_read(frame.stack[-1])
        if length == 0:
            return frame.resume(header)
        t.range_set(frame.stack[-1], start + 1, step, length - 1)
        frame["i"] = start
        call = find(frame.code, "CALL_KW")
        bound = type(frame["out"]).append
        frame.push(bound, frame["out"])
        frame.push(*([NULL, f] if t.NULL_FIRST else [f, NULL]))
        frame.push(start, 2)
        if call.arg2 < 0:
            frame.push(("scale",))
        frame.resume(call.unit)

    with Armed(calling, plan, at=1, every=4):
        assert calling(N, f, []) == [i * 2 for i in range(N)]


def test_null_below_a_call_travels_on_the_stack():
    def use(n):
        s = 0
        for i in range(n):
            s = abs(s - i)
        return s

    def plan(frame, _jump, header):
        start, step, length = t.range_read(frame.stack[-1])
        if length == 0:
            return frame.resume(header)
        t.range_set(frame.stack[-1], start + 1, step, length - 1)
        frame["i"] = start
        frame.push(*([NULL, abs] if t.NULL_FIRST else [abs, NULL]))
        frame.push(frame["s"], start)
        frame.resume(find(frame.code, "BINARY").unit)

    want = use(N)
    with Armed(use, plan, at=1, every=2):
        assert use(N) == want


SOURCE = "s = 0\nfor i in range(100):\n    s += i\nafter = s\n"


@pytest.mark.parametrize("separate_locals", [False, True])
def test_module_and_exec_code(separate_locals):
    code = compile(SOURCE, "<test>", "exec")

    def plan(frame, _jump, header):
        names = t.frame_locals(frame.f)
        start, step, length = t.range_read(frame.stack[-1])
        names["s"] += sum(range(start, start + 40))
        names["i"] = start + 39
        t.range_set(frame.stack[-1], start + 40, step, length - 40)
        frame.resume(header)

    g, names = {}, {}
    with Armed(code, plan) as armed:
        exec(code, g, names) if separate_locals else exec(code, g)
    assert (names if separate_locals else g)["after"] == 4950
    assert armed.events == 60


def test_class_body():
    code = compile("class C:\n" + "".join("    " + x + "\n" for x in SOURCE.splitlines()), "<test>", "exec")
    body = nested_code(code, "C")

    def plan(frame, _jump, header):
        names = t.frame_locals(frame.f)
        names["s"], names["i"] = 4950, 99
        frame.leave_loop(header)

    g = {}
    with Armed(body, plan):
        exec(code, g)
    assert g["C"].after == 4950


def test_optimised_frame_has_no_locals_mapping():
    seen = []

    def plan(frame, _jump, header):
        seen.append((t.frame_locals(frame.f), t.frame_func(frame.f), t.frame_globals(frame.f) is globals(),
                     t.is_python(frame.f), t.is_generator(frame.f), t.frame_builtins(frame.f)["len"] is len))
        frame.resume(header)

    with Armed(summing, plan):
        summing(5)
    assert seen == [(NULL, summing, True, 1, 0, True)]


def test_cells_of_a_running_frame():
    def outer(n):
        s = 0

        def get():
            return s
        for i in range(n):
            s += i
        return s, get(), i

    def plan(frame, _jump, header):
        cell = frame["s"]
        t.cell_swap(cell, 4950)
        frame["i"] = 99
        frame.leave_loop(header)

    with Armed(outer, plan):
        assert outer(N) == (4950, 4950, 99)


def test_generator_frame_suspended_and_thrown_into():
    def gen(n):
        s = 0
        for i in range(n):
            s += i
        got = yield s
        try:
            yield got
        except KeyError:
            yield "caught"

    def plan(frame, _jump, header):
        assert t.is_generator(frame.f)
        frame["s"], frame["i"] = 4950, 99
        frame.leave_loop(header)

    with Armed(gen, plan):
        g = gen(N)
        assert next(g) == 4950
        assert g.send(3) == 3
        assert g.throw(KeyError()) == "caught"
        assert list(gen(N)) == [4950, None]
        total = 0
        for v in gen(N):
            total += v or 0
        assert total == 4950


def test_coroutine_frame():
    async def co(n):
        s = 0
        for i in range(n):
            s += i
        await asyncio.sleep(0)
        for i in range(n):
            s += i
        return s

    with Armed(co, skip(30), at=1, every=N - 30):
        assert asyncio.run(co(N)) == 9900


def test_inlined_comprehension_keeps_what_lies_below():
    def f(n):
        i = "kept"
        r = [i * 2 for i in range(n)]
        return r, i

    def plan(frame, _jump, header):
        out = frame.stack[-2]
        start, step, length = t.range_read(frame.stack[-1])
        out.extend(2 * j for j in range(start, start + 10))
        t.range_set(frame.stack[-1], start + 10, step, length - 10)
        frame.resume(header)

    with Armed(f, plan) as armed:
        assert f(N) == ([2 * j for j in range(N)], "kept")
    assert armed.events == N - 10


def test_while_loop_and_early_exit_unit():
    def f(n):
        k = 0
        while k < n:
            k += 1
            if k == n - 1:
                return "early", k
        return "end", k

    def plan(frame, _jump, header):
        frame["k"] = 98
        frame.resume(header)

    with Armed(f, plan) as armed:
        assert f(N) == ("early", 99)
    assert armed.events < 5


def test_extended_arg_loop():
    body = "\n".join(f"        if i == {k + 5000}: s += {k}" for k in range(200))
    ns = {}
    exec(f"def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n{body}\n    return s, i\n", ns)
    f = ns["f"]

    def plan(frame, _jump, header):
        frame["s"], frame["i"] = 4950, 99
        frame.leave_loop(header)

    with Armed(f, plan):
        assert f(N) == (4950, 99)


@pytest.mark.parametrize("make", [list, tuple])
def test_list_and_tuple_loops(make):
    def f(items):
        s = 0
        for x in items:
            s += x
        return s

    def plan(frame, _jump, header):
        it = frame.stack[-1]
        seq, index = t.seq_read(it)
        assert type(seq) is make and index == 1
        frame["s"] = frame["s"] + sum(seq[1:60])
        frame["x"] = seq[59]
        t.seq_set(it, 60)
        frame.resume(header)

    with Armed(f, plan) as armed:
        assert f(make(range(N))) == 4950
    assert armed.events == N - 59


def test_ndarray_loop_uses_a_sequence_iterator():
    np = pytest.importorskip("numpy")

    def f(a):
        s = 0.0
        for x in a:
            s += x
        return s

    def plan(frame, _jump, header):
        it = frame.stack[-1]
        assert t.iter_kind(it) == t.ITER_SEQ
        seq, index = t.seq_read(it)
        assert type(seq) is np.ndarray and index == 1
        frame["s"] = frame["s"] + sum(seq[1:N - 1])
        t.seq_set(it, N - 1)
        frame.resume(header)

    with Armed(f, plan) as armed:
        assert f(np.arange(N, dtype=float)) == 4950.0
    assert armed.events == 2


def test_iterators_read_set_new():
    assert t.range_read(iter(range(3, 20, 5))) == (3, 5, 4)
    assert t.range_read(iter(range(10**20))) is None
    assert t.range_read(iter([1])) is None
    assert list(t.range_new(7, -2, 3)) == [7, 5, 3]
    assert list(t.range_new(0, 1, 0)) == []
    for kind, seq in ((t.ITER_LIST, [1, 2, 3]), (t.ITER_TUPLE, (1, 2, 3)), (t.ITER_SEQ, [1, 2, 3])):
        it = t.seq_new(kind, seq, 1)
        assert t.iter_kind(it) == kind
        assert t.seq_read(it) == (seq, 1)
        assert list(it) == [2, 3]
        assert t.seq_read(it)[0] is NULL
        it = t.seq_new(kind, seq, 0)
        refs = sys.getrefcount(seq)
        assert t.seq_exhaust(it) == 1
        assert sys.getrefcount(seq) == refs - 1
        assert list(it) == []
    with pytest.raises(TypeError):
        t.seq_new(t.ITER_LIST, (1,), 0)
    for text, kind in (("ab", t.ITER_STR_ASCII), ("a\u0100", t.ITER_STR), (b"ab", t.ITER_BYTES)):
        it = iter(text)
        next(it)
        assert t.iter_kind(it) == kind and t.seq_read(it) == (text, 1)
        assert t.seq_set(it, 0) == 1 and list(it) == list(text) and t.seq_read(it)[0] is NULL
    assert t.iter_kind(iter({})) == t.ITER_OTHER and t.seq_read(iter({})) is None
    assert t.seq_set(iter({}), 1) == 0 and t.range_set(iter([]), 1, 1, 1) == 0


def test_reversed_enumerate_and_zip_T34():
    for kind, seq in ((t.ITER_REVERSED_LIST, [1, 2, 3]), (t.ITER_REVERSED, (1, 2, 3)), (t.ITER_REVERSED, range(1, 4))):
        if type(seq) is range:
            with pytest.raises(TypeError):
                t.seq_new(kind, seq, 1)
            continue
        it = t.seq_new(kind, seq, 1)
        assert t.iter_kind(it) == kind and t.seq_read(it) == (seq, 1)
        assert next(it) == 2 and t.seq_read(it) == (seq, 0)
        assert list(it) == [1]
        it = reversed(seq)
        assert t.seq_read(it) == (seq, 2) and t.seq_exhaust(it) and list(it) == []
    inner = iter([5, 6, 7, 8])
    it = enumerate(inner)
    next(it)
    assert t.enumerate_read(it) == (1, inner)
    t.seq_set(inner, 3)
    assert t.enumerate_set(it, 3) == 1 and list(it) == [(3, 8)]
    assert list(t.enumerate_new(iter("ab"), 4)) == [(4, "a"), (5, "b")]
    assert t.enumerate_read(enumerate("a", sys.maxsize)) is not None
    big = enumerate("abc", sys.maxsize)
    next(big), next(big)
    assert t.enumerate_read(big) is None and t.enumerate_read(iter([])) is None
    parts = (iter([1, 2]), iter((3, 4)))
    for strict in (0, 1):
        it = t.zip_new(parts, strict)
        assert t.zip_read(it) == (parts, strict)
    assert list(it) == [(1, 3), (2, 4)]
    with pytest.raises(ValueError):
        list(t.zip_new((iter([1]), iter([])), 1))


def test_enumerate_and_zip_loops_advanced_T34():
    def f(a, b):
        s = 0
        for k, (x, y) in enumerate(zip(a, b)):
            s += k * x * y
        return s

    a, b = list(range(N)), tuple(range(N))

    def plan(frame, _jump, header):
        index, inner = t.enumerate_read(frame.stack[-1])
        parts, _strict = t.zip_read(inner)
        assert index == 1 and [t.seq_read(p)[1] for p in parts] == [1, 1]
        frame["s"] = frame["s"] + sum(j * a[j] * b[j] for j in range(1, 90))
        for p in parts:
            t.seq_set(p, 90)
        t.enumerate_set(frame.stack[-1], 90)
        frame.resume(header)

    with Armed(f, plan) as armed:
        assert f(a, b) == sum(j**3 for j in range(N))
    assert armed.events == N - 89


def test_frame_object_seen_T24():
    def f(n, take):
        for i in range(n):
            if take:
                sys._getframe()
        return i

    seen = []

    def plan(frame, _jump, header):
        seen.append(t.has_object(frame.f))
        frame.resume(header)

    with Armed(f, plan, at=3):
        f(10, False)
        f(10, False)
    with Armed(f, plan, at=3):
        f(10, True)
    assert seen == [0, 1]


def test_locals_written_through_a_live_frame_object():
    held = []

    def f(n):
        held.append(sys._getframe())
        s = 0
        for i in range(n):
            s += i
        return s, sys._getframe().f_locals["s"], i

    def plan(frame, _jump, header):
        frame["s"], frame["i"] = 4950, 99
        frame.leave_loop(header)

    with Armed(f, plan):
        assert f(N) == (4950, 4950, 99)


def test_set_unit_moves_the_line_that_others_see_T23():
    lines = []

    def f(n):
        for i in range(n):
            x = (i +
                 n)
        return x

    def plan(frame, _jump, header):
        unit = find(frame.code, "BINARY").op_unit
        t.set_unit(frame.f, unit)
        assert t.frame_unit(frame.f) == unit
        up = sys._getframe()
        while up.f_code is not f.__code__:
            up = up.f_back
        lines.append(up.f_lineno)
        frame.resume(header)

    with Armed(f, plan):
        assert f(10) == 19
    assert lines == [f.__code__.co_firstlineno + 2]


def test_instruction_callback_reads_the_stack_at_static_depth():
    seen = []

    def f(n, a):
        s = 0
        for i in range(n):
            s = s + a[i]
        return s

    add = find(f.__code__, "BINARY").op_unit
    with Armed(f, None, event=t.EVENT_INSTRUCTION) as armed:
        def on(frame, code, offset):
            if offset // 2 == add:
                assert t.frame_unit(frame) == add
                seen.append((t.slot_at(frame, 1), t.slot_at(frame, 2)))
        t.set_callback(t.EVENT_INSTRUCTION, t.callback(on))
        assert f(4, [5, 6, 7, 8]) == 26
        assert armed.events == 0
    assert seen == [(0, 5), (5, 6), (11, 7), (18, 8)]


def test_instruction_events_name_instruction_starts():
    """Every INSTRUCTION event is at a prefix or at the opcode itself: what decode() accepts."""
    body = "\n".join(f"        if i == {k + 5000}: s += {k}" for k in range(80))
    ns = {"g": lambda i, key: i}
    exec(f"def f(n):\n    s = 0\n    for i in range(n):\n        s += g(i, key=1)\n{body}\n    return s\n", ns)
    f = ns["f"]
    units = set()
    with Armed(f, None, event=t.EVENT_INSTRUCTION):
        t.set_callback(t.EVENT_INSTRUCTION, t.callback(lambda frame, code, offset: units.add(offset // 2)))
        f(3)
    ok = {u for i in instrs(f.__code__) for u in range(i.unit, i.op_unit + 1)}
    assert units and units <= ok
    assert find(f.__code__, "CALL_KW").op_unit in units


def test_nested_loops_inner_events_leave_the_outer_iterator_alone():
    def f(n):
        s = 0
        for j in range(n):
            for i in range(n):
                s += i
        return s, j, i

    inner = [i for i in instrs(f.__code__) if i.op == "JUMP_BACKWARD"][0]
    with Armed(f, None) as armed:
        def plan(frame, jump, header):
            assert len(frame.stack) == (2 if jump == inner.op_unit else 1)
            if jump == inner.op_unit and t.range_read(frame.stack[-1])[2] > 5:
                skip(3)(frame, jump, header)
        armed.plan, armed.at, armed.every = plan, 1, 1
        assert f(20) == (20 * 190, 19, 19)


def run_many(f, args, plan, runs):
    with Armed(f, plan) as armed:
        def once():
            armed.events = 0
            f(*args)
        no_growth(once, runs, code_of(f))


@pytest.mark.parametrize("runs", [2000, pytest.param(100000, marks=pytest.mark.slow)])
def test_no_leak_resuming_after_the_loop(runs):
    def plan(frame, _jump, header):
        frame["s"], frame["i"] = 10**20, 99
        frame.leave_loop(header)

    run_many(summing, (4,), plan, runs)


@pytest.mark.parametrize("runs", [2000, pytest.param(100000, marks=pytest.mark.slow)])
def test_no_leak_resuming_in_mid_expression(runs):
    data = [1.5, 2.5, 3.5]

    def plan(frame, _jump, header):
        start, step, length = t.range_read(frame.stack[-1])
        if length == 0:
            return frame.resume(header)
        t.range_set(frame.stack[-1], start + 1, step, length - 1)
        frame["i"] = start
        frame.push(frame["s"], data[start], start, 1)
        frame.resume(find_add)

    find_add = find(expression.__code__, "BINARY", 0, arg=0).unit
    run_many(expression, (3, data), plan, runs)
