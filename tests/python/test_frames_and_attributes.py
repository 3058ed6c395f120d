"""Attributes of instances and frames of every kind: that their loops run natively, and what no comparison of results shows.

The programs programs/attributes.py and programs/frames_of_all_kinds.py are compared with the interpreter by test_programs.py in every
mode; here: which of their cases must enter native code, the shape of the IR, references, entries that must not happen.
"""
import contextlib
import gc
import os
import re
import sys
import time
import types
import weakref

import numpy as np
import pytest
from need import needs_hotloop

pytestmark = needs_hotloop

HERE = os.path.dirname(os.path.abspath(__file__))

MUST_ENTER = {
    "attributes": """accumulate int_becomes_float array_in_attribute class_attribute class_attribute_shadowed type_attribute methods
        method_of_subclass static_method property_read attribute_appears fresh_instances class_assignment two_names shared_dictionary
        dictionary_made slots chain chain_same_object global_instance global_instance_and_local none_then_value exception_in_method
        generator_over_attributes loop_in_method_called_in_loop frames_seen_by_callee class_with_finalizer""",
    "frames_of_all_kinds": """nonlocal_sum nonlocal_made_anew nonlocal_and_own_use two_closures_of_one_cell closures_of_other_cells
        cell_becomes_float closure_of_closure callee_with_loop_over_cell lambda_made_anew different_functions_passed closure_over_array
        keyword_only bound_method_kept bound_methods_of_two_objects bound_method_made_in_loop bound_method_and_object class_method
        class_body generator_frame nested_three_deep recursion_limit recursion_in_the_loop mutual_recursion frame_depth_in_callee""",
}


def cases(name):
    """The functions of a program, with loops of 200 trips."""
    path = os.path.join(HERE, "programs", name + ".py")
    module = types.ModuleType(name)
    module.__dict__["TRIPS"] = 200
    with open(path, encoding="utf-8") as f:
        exec(compile(f.read(), path, "exec"), vars(module))
    return vars(module)


@pytest.mark.parametrize("name", sorted(MUST_ENTER))
def test_native_code_is_entered(name):
    import hotloop

    hotloop.enable(threshold=2)
    try:
        functions = cases(name)
        missing = [case for case in MUST_ENTER[name].split() if not is_entered(hotloop, functions["case_" + case])]
        refusals = hotloop.stats()["refusals"]
    finally:
        hotloop.disable()
    assert not missing, f"not entered: {missing}; refusals: {refusals}"


def is_entered(hotloop, case):
    for attempt in range(60):
        before = hotloop.stats()["entries"]
        with contextlib.suppress(ZeroDivisionError):
            case()
        if hotloop.stats()["entries"] > before:
            return True
        time.sleep(0.002)  # one recording at a time: another loop of this process may have been first
    return False


@pytest.fixture
def hot():
    import hotloop

    hotloop.enable(threshold=20)
    yield hotloop
    hotloop.disable()


def compiled(hot, run, f):
    """Runs until f's loop is compiled; its IR."""
    for attempt in range(200):
        run()
        ir = str(hot.inspect(f).ir) if attempt >= 3 else ""
        if ir:
            return ir
        time.sleep(0.002)  # one recording at a time
    return ""


def entries(hot):
    return hot.stats()["entries"]


class Sum:
    factor = 2

    def __init__(self):
        self.total = 0.0

    def add(self, x):
        self.total += x * self.factor

    def run(self, n):
        for i in range(n):
            self.add(i)
        return self.total


def test_attribute_is_carried_in_a_register(hot):
    """No loads or stores of the attribute in the loop: it is a carried value, written back at exits."""
    s = Sum()
    ir = compiled(hot, lambda: s.run(200), Sum.run)
    assert re.search(r"attribute of 0 \$\d+", ir), ir
    assert re.search(r"for .*carried \(.*%\d+ : f64", ir), ir
    assert re.search(r"attribute \d+ = either %\d+ \(input \d+, float", ir), ir


def test_changed_class_is_seen(hot):
    class Local(Sum):
        pass
    s = Local()
    assert compiled(hot, lambda: s.run(100), Sum.run)
    before = s.total
    Local.factor = 3
    s.run(100)
    assert s.total == before + 3 * 4950
    Local.total = property(lambda self: 1.0, lambda self, v: None)
    before = vars(s)["total"]
    assert s.run(100) == 1.0
    assert vars(s)["total"] == before


def test_classes_and_instances_are_not_kept_alive(hot):
    class Local:
        def __init__(self):
            self.total = 0
            self.data = np.zeros(3)

        def run(self, n):
            for i in range(n):
                self.total += i
                self.data[i % 3] += 1
            return self.total
    s = Local()
    assert compiled(hot, lambda s=s: s.run(100), Local.run)
    gone = weakref.ref(s), weakref.ref(s.data)
    del s
    assert gone[0]() is None and gone[1]() is None
    gone = weakref.ref(Local)
    del Local
    gc.collect()
    assert gone() is None


def test_class_is_not_kept_alive_by_another_loop(hot):
    def outside(o, n):
        for i in range(n):
            o.total += i

    class Local:
        total = 0
    s = Local()
    assert compiled(hot, lambda s=s: outside(s, 100), outside)
    gone = weakref.ref(Local)
    del s, Local
    gc.collect()
    assert gone() is None
    later = Sum()  # perhaps in the same place
    for k in range(5):
        outside(later, 100)
    assert later.total == 5 * 4950


def test_closures_made_anew_share_one_region(hot):
    def outer(n):
        total = 0

        def add(x):
            nonlocal total
            total += x
        for i in range(n):
            add(i)
        return total
    assert compiled(hot, lambda: outer(100), outer)
    before = hot.stats()
    for k in range(20):
        assert outer(100 + k) == sum(range(100 + k))
    after = hot.stats()
    assert after["entries"] - before["entries"] >= 20
    assert after["compiled"] - before["compiled"] <= 1


def test_references_are_balanced(hot):
    class Holder:
        def __init__(self):
            self.value = 1e300
            self.text = "x" * 3
            self.last = None

        def run(self, n):
            for i in range(n):
                self.value = self.value * 0.5
                if i % 50 == 49:
                    self.last = i + 100000
            return self.value
    h = Holder()
    assert compiled(hot, lambda: h.run(300), Holder.run)

    def again():
        for k in range(50):
            h.value = 1e300
            h.run(300)
    again()
    again()  # compiled now, with run() inlined
    names = [sys.getrefcount(x) for x in (h, Holder, Holder.run)]
    again()
    assert [sys.getrefcount(x) for x in (h, Holder, Holder.run)] == names
    count = sys.getrefcount(h.value)
    assert count == 2


def test_no_dictionary_is_made(hot):
    """Reading and writing attributes leaves the instance's inline values as they are."""
    s = Sum()
    size = sys.getsizeof(s)
    assert compiled(hot, lambda: s.run(200), Sum.run)
    assert sys.getsizeof(s) == size
    assert list(vars(s)) == ["total"]


def test_one_object_under_two_names_is_not_entered_as_two(hot):
    def both(a, b, n):
        for i in range(n):
            a.total += 1
            b.total += 2
    a, b = Sum(), Sum()
    assert compiled(hot, lambda: both(a, b, 100), both)
    a.total = b.total = 0
    both(a, a, 10)
    assert a.total == 30
    both(b, b, 1000)
    assert b.total == 3000


def test_recursion_error_at_the_same_depth(hot):
    def helper(x):
        return x + 1

    def bottom(n):
        s = 0
        for i in range(n):
            s += helper(i)
        return s

    def down(depth):
        return down(depth - 1) if depth else bottom(40)
    assert compiled(hot, lambda: bottom(100), bottom)

    def outcomes():
        out = []
        for depth in range(80):
            try:
                out.append(down(depth))
            except RecursionError:
                out.append(None)
        return out
    old = sys.getrecursionlimit()
    here = 0
    frame = sys._getframe()
    while frame is not None:
        here, frame = here + 1, frame.f_back
    try:
        sys.setrecursionlimit(here + 60)
        with hot.paused():
            want = outcomes()
        assert None in want
        before = entries(hot)
        assert outcomes() == want
        assert entries(hot) > before
    finally:
        sys.setrecursionlimit(old)
