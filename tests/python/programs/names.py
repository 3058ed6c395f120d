"""Globals, module variables, builtins, shadowing and rebinding while loops run."""
import math
import sys
import types

import numpy as np

N = TRIPS
counter = 0
weights = np.arange(10.0)
limit = 5


def case_global_read():
    s = 0
    for i in range(N):
        s += limit * i
    return s


def case_global_written():
    global counter
    counter = 0
    for i in range(N):
        counter += i
    return counter


def case_global_changes_type():
    global counter
    counter = 0
    for i in range(N):
        counter += 1
        if i == N - 5:
            counter = 0.5
    return counter


def case_global_array():
    s = 0.0
    for i in range(N):
        s += weights[i % 10]
    return s


def case_global_array_replaced():
    global weights
    s = 0.0
    for i in range(N):
        s += weights[i % 10]
        if i == N - 5:
            weights = np.arange(10)
    weights = np.arange(10.0)
    return s


def case_global_deleted_raises():
    global temporary
    temporary = 1
    s = 0
    for i in range(N):
        s += temporary
        if i == N - 5:
            del temporary
    return s


def case_global_created_midway():
    globals().pop("fresh", None)
    s = 0
    for i in range(N):
        if i > N - 5:
            globals()["fresh"] = i
            s += fresh  # noqa: F821
        else:
            s += 1
    globals().pop("fresh", None)
    return s


def case_global_written_by_callee():
    global limit

    def raise_limit():
        global limit
        limit += 1
    limit = 5
    s = 0
    for i in range(N):
        s += limit
        if i % 9 == 0:
            raise_limit()
    limit = 5
    return s


def case_builtin_shadowed_midway():
    s = 0
    try:
        for i in range(N):
            s += abs(-i)
            if i == N - 5:
                globals()["abs"] = lambda x: 1000
    finally:
        globals().pop("abs", None)
    return s


def case_builtin_replaced_in_builtins():
    import builtins
    old = builtins.min
    s = 0
    try:
        for i in range(N):
            s += min(i, 10)
            if i == N - 5:
                builtins.min = lambda *a: 1000
    finally:
        builtins.min = old
    return s


def case_math_attribute_replaced():
    old = math.sqrt
    s = 0.0
    try:
        for i in range(N):
            s += math.sqrt(i)
            if i == N - 5:
                math.sqrt = lambda x: 1000.0
    finally:
        math.sqrt = old
    return s


def case_module_attribute_of_own_module():
    mod = types.ModuleType("other")
    mod.k = 2
    s = 0
    for i in range(N):
        s += mod.k
        if i == N - 5:
            mod.k = 2.5
    return s


def case_module_attribute_written():
    mod = types.ModuleType("other")
    mod.k = 0
    for i in range(N):
        mod.k += i
    return mod.k


def case_module_getattr():
    mod = types.ModuleType("other")
    mod.__getattr__ = lambda name: len(name)
    s = 0
    for i in range(N):
        s += mod.anything
    return s


def case_object_attributes():
    class Box:
        pass
    b = Box()
    b.x = 0
    b.y = 1.5
    for i in range(N):
        b.x += i
        b.y = b.y * 0.5 + b.x
    return b.x, b.y


def case_slots_and_property():
    class P:
        __slots__ = ("v",)

        @property
        def w(self):
            return self.v * 2
    p = P()
    p.v = 1
    s = 0
    for i in range(N):
        p.v = i
        s += p.w
    return s


def case_class_attribute_changes():
    class C:
        k = 1
    c = C()
    s = 0
    for i in range(N):
        s += c.k
        if i == N - 5:
            C.k = 100
    return s


def case_import_inside():
    s = 0
    for i in range(N):
        import math as m
        s += m.floor(i / 3)
    return s


def case_name_error_raises():
    s = 0
    for i in range(N):
        s += 1
        if i == N - 5:
            s += no_such_name  # noqa: F821
    return s


def case_attribute_error_raises():
    s = 0
    for i in range(N):
        s += 1
        if i == N - 5:
            s += math.no_such_function(i)
    return s


def case_dict_access():
    d = {"a": 1, "b": 2.5}
    s = 0
    for i in range(N):
        s += d["a"]
        d["a"] = s % 7
    return s, d


def case_dict_counting():
    d = {}
    for i in range(N):
        d[i % 7] = d.get(i % 7, 0) + 1
    return d


def case_list_append():
    v = []
    for i in range(N):
        v.append(i * i)
    return v[-3:], len(v)


def case_string_building():
    t = ""
    for i in range(N):
        t += str(i % 10)
    return t[-20:]


def case_fstring_each_trip():
    n = 0
    for i in range(N):
        n += len(f"{i:03d} {i / 7:.3f}")
    return n


def case_globals_dict_write():
    g = globals()
    s = 0
    g["limit"] = 5
    for i in range(N):
        g["limit"] = i % 3
        s += limit
    g["limit"] = 5
    return s


def case_exec_writes_global():
    global limit
    limit = 5
    s = 0
    for i in range(N):
        s += limit
        if i == N - 5:
            exec("limit = 1000", globals())
    limit = 5
    return s


def case_sys_getframe_f_locals():
    s = 0
    for i in range(N):
        s += i
        if i == N - 5:
            names = sorted(k for k in sys._getframe().f_locals)
            value = sys._getframe().f_locals["s"]
    return names, value, s


def case_locals_call_inside():
    s = 0
    for i in range(N):
        s += i
        if i % 11 == 0:
            snap = dict(locals())
            snap.pop("snap", None)
    return snap


def case_nonlocal_two_levels():
    def outer():
        x = 0

        def mid():
            def inner():
                nonlocal x
                x += 1
            for i in range(N):
                inner()
        mid()
        return x
    return outer()


def case_late_binding_closures():
    fs = []
    for i in range(N):
        fs.append(lambda: i)
    return fs[0](), fs[-1]()


def case_type_alias_calls():
    number = float
    whole = int
    s = 0
    for i in range(N):
        s += whole(number(i) * 1.5)
        if i == N - 5:
            number = int
    return s
