"""Instructions that run Python code in the middle of loops: stores into unknown objects, finalizers, exceptions, what they look at and change."""
import sys

import numpy as np

N = TRIPS


class Plain:
    pass


class Slots:
    __slots__ = ("x", "y")


class Watcher:
    """Tells what the caller's frame holds whenever an attribute is set."""

    def __init__(self, log, every=1):
        self.__dict__.update(log=log, every=every, count=0)

    def __setattr__(self, name, value):
        self.__dict__["count"] += 1
        if self.__dict__["count"] % self.__dict__["every"] == 0:
            f = sys._getframe(1)
            self.__dict__["log"].append((name, value, f.f_lineno - f.f_code.co_firstlineno, sorted(
                (k, repr(v)) for k, v in f.f_locals.items() if isinstance(v, (int, float, str, tuple, np.generic)))))


def case_attribute():
    o = Plain()
    s = 0.0
    for i in range(N):
        s += i * 0.5
        o.x = s
    return o.x, o.x is s, s


def case_slots():
    o = Slots()
    for i in range(N):
        o.x = i * 1000
        o.y = o
    return o.x, o.y is o


def case_t23_frame_and_line():
    log = []
    o = Watcher(log)
    s = 0.0
    t = (0, 0)
    for i in range(N):
        s = s + i * 0.5
        t = (i, s)
        o.x = s
        u = np.float64(s) * 2
        o.y = i
    return log, s, t, u


def case_t23_nested_loops():
    log = []
    o = Watcher(log, 7)
    a = np.zeros(5)
    for i in range(N):
        for j in range(5):
            a[j] += i * j
        o.total = i
        k = i * 2
    return log, a, k, j


def case_t23_inner():
    log = []
    o = Watcher(log, 11)
    for i in range(N // 4):
        x = i * 0.25
        for j in range(6):
            x += j
            o.x = x
        z = x
    return log, x, z, o.count


def case_t22_finalizers():
    log = []

    class Item:
        def __init__(self, k):
            self.k = k

        def __del__(self):
            f = sys._getframe(1)
            if f.f_code.co_name == "case_t22_finalizers":
                log.append((self.k, f.f_locals.get("i"), f.f_locals.get("s"), f.f_lineno - f.f_code.co_firstlineno))

    a = [Item(k) for k in range(N)]
    s = 0
    for i in range(N):
        s += i
        a[i] = s
        s += 1
    return log, a, s


def case_t11_exception_caught():
    class Fussy:
        def __setattr__(self, name, value):
            if value % 7 == 3:
                raise ValueError(f"{name} {value}")
            self.__dict__[name] = value

    o = Fussy()
    caught = []
    s = 0
    for i in range(N):
        s += 1
        try:
            o.x = i
            s += 10
        except ValueError as e:
            caught.append((str(e), i, s, e.__traceback__.tb_lineno - sys._getframe().f_code.co_firstlineno))
    return caught, s, o.x


def case_t11_exception_not_caught():
    class Fussy:
        def __setattr__(self, name, value):
            if value == N - 5:
                raise ValueError(value)

    o = Fussy()
    s = 0.0
    for i in range(N):
        s += i
        o.x = i
    return s


def case_t24_locals_changed():
    class Changer:
        def __setattr__(self, name, value):
            f = sys._getframe(1)
            if value % 9 == 4:
                f.f_locals["s"] = -1000.5
                f.f_locals["a"] = "text"

    o = Changer()
    s = 0.0
    a = 1
    for i in range(N):
        s += 1.0
        o.x = i
    return s, a


def case_t24_cells_changed():
    total = 0

    class Changer:
        def __setattr__(self, name, value):
            nonlocal total
            if value % 5 == 2:
                total = total + 100

    o = Changer()
    for i in range(N):
        total += 1
        o.x = i
    return total


def case_t23_array_resized():
    a = np.zeros(8)

    class Resizer:
        def __setattr__(self, name, value):
            if value == N // 2:
                a.resize(16, refcheck=False)
            if value == N - 3:
                a.resize(4, refcheck=False)

    o = Resizer()
    s = 0
    try:
        for i in range(N):
            a[i % 8] = i
            o.x = i
            s += a[i % 8]
    except IndexError as e:
        return str(e), i, s, a
    return s, a


SCALE = 2.0


def case_t23_global_changed():
    global SCALE
    SCALE = 2.0

    class Changer:
        def __setattr__(self, name, value):
            global SCALE
            if value % 10 == 7:
                SCALE = SCALE + 1.0

    o = Changer()
    s = 0.0
    for i in range(N):
        s += i * SCALE
        o.x = i
    return s, SCALE


def helper(x):
    return x + 1


def case_t23_function_changed():
    global helper
    kept = helper

    class Changer:
        def __setattr__(self, name, value):
            global helper
            if value == N // 2:
                helper = lambda x: x + 1000

    o = Changer()
    s = 0
    try:
        for i in range(N):
            s += helper(i)
            o.x = i
    finally:
        helper = kept
    return s


def case_t23_errstate_changed():
    class Changer:
        def __setattr__(self, name, value):
            if value == N // 2:
                np.seterr(over="raise")

    o = Changer()
    s = np.float64(1e300)
    old = np.geterr()
    try:
        for i in range(N):
            o.x = i
            if i > N // 2 + 3:
                s = s * 1e10
    except FloatingPointError as e:
        return str(e), i
    finally:
        np.seterr(**old)
    return s


def case_t23_list_changed():
    a = [1.0] * 8

    class Changer:
        def __setattr__(self, name, value):
            if value % 11 == 5:
                a.append(value)
            if value % 11 == 6:
                a[0] = value

    o = Changer()
    s = 0.0
    for i in range(N):
        s = s + a[i % len(a)] + a[-1] + a[0]
        o.x = i
    return s, a


def case_t29_identity():
    seen = []

    class Keeper:
        def __setattr__(self, name, value):
            seen.append(value)

    o = Keeper()
    x = 0.0
    t = None
    for i in range(N):
        x = i * 0.5
        t = (x, i * 1000)
        o.x = x
        o.t = t
        y = x
        z = t[1]
    return seen[-2] is x, seen[-1] is t, y is x, z is t[1], t[0] is x, seen


def case_dict_stores():
    d = {}
    e = {(0, 0): 1}
    s = 0
    for i in range(N):
        s += i
        d[i % 10] = s
        e[i, s] = i * 0.5
    return d, e


def case_dict_with_own_hash():
    class Key:
        def __init__(self, k):
            self.k = k

        def __hash__(self):
            return self.k % 3

        def __eq__(self, other):
            return self.k % 5 == other.k % 5

    keys = [Key(k) for k in range(N)]
    d = {}
    s = 0
    for i in range(N):
        key = keys[i]
        s += i
        d[key] = s
    return sorted(d.values()), len(d)


def case_conditional_store():
    o = Plain()
    o.best = None
    a = np.sin(np.arange(N) * 1.0)
    best = -2.0
    for i in range(N):
        v = a[i] * 2
        if v > best:
            best = v
            o.best = best
            o.at = i
    return o.best, o.at, best, o.best is best


def case_store_fails():
    s = 0
    t = 5
    for i in range(N):
        s += i
        if i == N - 4:
            t.x = s
    return s


def case_property():
    class P:
        @property
        def x(self):
            return self._x

        @x.setter
        def x(self, value):
            self._x = value * 2

    o = P()
    for i in range(N):
        o.x = i * 0.5
    return o.x


class Tally:
    def __init__(self):
        self.n = 0
        self.total = 0.0

    def run(self, a):
        s = 0.0
        for i in range(N):
            s += a[i]
            self.total = s
            self.n = i
        return s


def case_method():
    t = Tally()
    return t.run(np.arange(N) * 0.5), t.n, t.total


def case_recursion():
    class R:
        def __setattr__(self, name, value):
            if name == "x" and value > 0:
                walk(value - 1)

    def walk(depth):
        o = R()
        s = 0
        for i in range(4):
            s += i
        o.x = depth
        for i in range(4):
            s += i
            if i == 3:
                o.x = 0
        return s

    r = []
    for i in range(N // 4):
        r.append(walk(3))
    return r


def case_recursion_error():
    class R:
        def __setattr__(self, name, value):
            down()

    def down():
        o = R()
        for i in range(30):
            if i == 20:
                o.x = i
        return i

    try:
        down()
    except RecursionError as e:
        return str(e)


def case_variables_that_are_not_bound_yet():
    class R:
        def __setattr__(self, name, value):
            self.__dict__[name] = value

    def f(o, a, n, when):
        for k in range(3):
            for i in range(n):
                if a[i] > when:
                    late = a[i] * 2.0
                o.x = i
        try:
            return late, o.x
        except UnboundLocalError as e:
            return str(e), o.x

    a = np.arange(N) % 9 * 0.5
    return [f(R(), a, n, when) for n in (N, 2, N, 5, N) for when in (3.0, 9.0, 3.5, 0.5)]
