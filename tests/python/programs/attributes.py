"""Attributes of instances as loop state, methods, and what the class may do to them meanwhile."""
import sys

import numpy as np

N = TRIPS


class Account:
    """A plain class."""
    rate = 0.25
    limits = (3, 7)

    def __init__(self, total=0, scale=1.5):
        self.total = total
        self.scale = scale
        self.data = np.arange(12.0)

    def add(self, x):
        self.total += x * self.scale

    def value(self):
        return self.total * self.rate

    def run(self, n):
        for i in range(n):
            self.total += i
        return self.total

    def run_calls(self, n):
        s = 0.0
        for i in range(n):
            self.add(i)
            s += self.value()
        return s

    @staticmethod
    def twice(x):
        return 2 * x

    @property
    def half(self):
        return self.total / 2


class Richer(Account):
    rate = 0.5

    def add(self, x):
        self.total += x + 1


class Slotted:
    __slots__ = ("a", "b", "c")

    def __init__(self):
        self.a, self.b = 0, 1.0


class Grid:
    def __init__(self, n):
        self.cells = np.zeros(n)
        self.steps = 0


class World:
    def __init__(self, n):
        self.grid = Grid(n)
        self.time = 0.0


def show(o):
    return sorted((k, repr(v)) for k, v in vars(o).items() if k != "data"), list(vars(o))


def case_accumulate():
    a = Account()
    out = [a.run(N) for _ in range(3)]
    return out, show(a)


def case_accumulate_float():
    a = Account(0.0)
    for i in range(N):
        a.total += i * a.scale
    return show(a)


def case_int_becomes_float():
    a = Account()
    for i in range(N):
        a.total += i if i < N // 2 else 0.5
    return show(a)


def case_array_in_attribute():
    a = Account()
    s = 0.0
    for i in range(N):
        s += a.data[i % 12]
        a.data[i % 12] = s
    return s, a.data.tolist()


def case_array_replaced():
    a = Account()
    other = np.arange(12) * 2
    s = 0
    for i in range(N):
        s += a.data[i % 12]
        if i == N - 7:
            a.data = other
    return s


def case_class_attribute():
    a = Account()
    s = 0.0
    for i in range(N):
        s += a.rate * i + a.limits[0]
    return s


def case_class_attribute_shadowed():
    a = Account()
    s = 0.0
    for i in range(N):
        s += a.rate
        if i == N // 2:
            a.rate = 2
    return s, show(a)


def case_class_attribute_changes():
    class Local(Account):
        pass
    a = Local()
    s = 0.0
    for k in range(6):
        for i in range(N):
            s += a.rate
        Local.rate = k + 0.5
    return s


def case_type_attribute():
    s = 0.0
    for i in range(N):
        s += Account.rate + Account.twice(i)
    return s


def case_methods():
    a = Account()
    return [a.run_calls(N) for _ in range(3)], show(a)


def case_method_of_subclass():
    out = []
    for cls in (Account, Richer, Account, Richer):
        a = cls()
        out.append((a.run_calls(N), show(a)))
    return out


def case_static_method():
    a = Account()
    s = 0
    for i in range(N):
        s += a.twice(i)
    return s


def case_property_read():
    a = Account(1)
    s = 0
    for i in range(N):
        a.total += 1
        s += a.half
    return s


def case_property_appears():
    class Local(Account):
        pass
    a = Local()
    seen = []
    for k in range(4):
        for i in range(N):
            a.total += 1
        if k == 2:
            start = a.total
            Local.total = property(lambda self: start, lambda self, v: seen.append(v))
    return seen[:5], len(seen), vars(a)["total"]


def case_method_replaced():
    class Local(Account):
        pass
    a = Local()
    out = []
    for k in range(4):
        out.append(a.run_calls(N))
        if k == 1:
            Local.add = lambda self, x: setattr(self, "total", -x)
    return out


def case_method_shadowed_in_instance():
    a = Account()
    out = [a.run_calls(N)]
    a.value = lambda: 100
    out.append(a.run_calls(N))
    del a.value
    out.append(a.run_calls(N))
    return out


def case_attribute_deleted():
    a = Account()
    for k in range(3):
        a.run(N)
    del a.total
    try:
        a.run(N)
    except AttributeError as e:
        return str(e), show(a)


def case_attribute_missing_conditional():
    a = Account()
    try:
        for i in range(N):
            a.total += 1
            if i == N - 3:
                a.total += a.absent
    except AttributeError as e:
        return str(e), show(a)


def case_attribute_appears():
    a = Account()
    for i in range(N):
        if i == N - 4:
            a.last = i
        a.total += i
    return show(a)


def case_attributes_appear_in_order():
    out = []
    for first in (True, False):
        a = Account()
        for i in range(N):
            if i % 9 == 5:
                if first:
                    a.p = i
                else:
                    a.q = i
            if i % 9 == 7:
                if first:
                    a.q = -i
                else:
                    a.p = -i
        out.append(show(a))
    return out


def case_fresh_instances():
    out = []
    for k in range(5):
        a = Account()
        for i in range(N):
            a.total += i
            a.extra = i
        out.append(show(a))
    return out


def case_class_assignment():
    class Other:
        rate = 9.0

        def value(self):
            return -1

        def add(self, x):
            self.total += 1
    a = Account()
    out = [a.run_calls(N)]
    a.__class__ = Richer
    out.append(a.run_calls(N))
    a.__class__ = Account
    out.append(a.run_calls(N))
    return out


def pair(a, b, n):
    for i in range(n):
        a.total += 1
        b.total += 10
    return a.total, b.total


def case_two_names():
    out = []
    for k in range(3):
        a, b = Account(), Account()
        out += [pair(a, b, N), pair(a, a, N), pair(b, a, N)]
    return out


def case_two_names_first_the_same():
    a, b = Account(), Account()
    out = [pair(a, a, N) for _ in range(3)]
    return out, pair(a, b, N), pair(b, b, N), show(a), show(b)


def case_shared_dictionary():
    a, b = Account(), Account()
    out = [pair(a, b, N), pair(a, b, N)]
    b.__dict__ = a.__dict__
    out.append(pair(a, b, N))
    return out, show(a)


def case_dictionary_made():
    out = []
    a = Account()
    out.append(a.run(N))
    d = vars(a)
    out.append((a.run(N), d["total"]))
    d["total"] = 0.5
    out.append((a.run(N), d["total"], list(d)))
    a.__dict__ = {"total": 3}
    out.append((a.run(N), d["total"]))

    class Names(dict):
        pass
    a.__dict__ = Names(total=7)
    out.append((a.run(N), vars(a)))
    a.__dict__ = {1: 2, "total": 3}
    out.append((a.run(N), vars(a)))
    return out


def case_module_dictionary_is_the_namespace():
    class Bare:
        pass
    b = Bare()
    names = {"n": N, "x": 0}
    names["o"] = b
    b.__dict__ = names
    exec("""
for k in range(3):
    for i in range(n):
        o.x += 1
        x += 2
""", names)
    return names["x"]


def case_slots():
    s = Slotted()
    for i in range(N):
        s.a += i
        s.b = s.b * 0.5 + s.a
    return s.a, s.b


def case_slot_unset():
    s = Slotted()
    for i in range(N):
        s.a += i
        if i == N - 3:
            s.c = i
    out = [s.c]
    del s.c
    try:
        for i in range(N):
            s.a += 1
            if i == N - 2:
                s.a += s.c
    except AttributeError as e:
        out.append(str(e))
    return out, s.a


def case_chain():
    w = World(8)
    for k in range(3):
        for i in range(N):
            w.grid.cells[i % 8] += w.time
            w.time += 0.5
            w.grid.steps += 1
    return w.time, w.grid.steps, w.grid.cells.tolist()


def case_chain_replaced():
    w = World(8)
    old = w.grid
    for i in range(N):
        w.grid.steps += 1
        if i == N // 2:
            w.grid = Grid(4)
    return old.steps, w.grid.steps


def case_chain_with_none():
    class Link:
        def __init__(self, after=None):
            self.after = after
            self.seen = 0
    last = Link()
    first = Link(last)
    for k in range(3):
        for i in range(N):
            if first.after is not None:
                first.after.seen += 1
            if last.after is None:
                last.seen += 10
            if i == N - 2 and k == 1:
                first.after = None
    return first.seen, last.seen


def case_chain_same_object():
    w = World(4)
    w.grid = w
    w.steps = 0
    for i in range(N):
        w.grid.steps += 1
        w.steps += 1
    return w.steps


THE_ACCOUNT = Account()


def case_global_instance():
    THE_ACCOUNT.total = 0
    for i in range(N):
        THE_ACCOUNT.total += i
    return THE_ACCOUNT.total


def add_to_global(x):
    THE_ACCOUNT.total += x


def case_global_instance_and_local():
    THE_ACCOUNT.total = 0
    a = THE_ACCOUNT
    for i in range(N):
        a.total += i
        add_to_global(1)
    return a.total


def case_none_then_value():
    a = Account()
    a.last = None
    for i in range(N):
        if i % 7 == 3:
            a.last = i
        a.total += 1
    return show(a)


def case_object_attribute_swapped():
    a = Account()
    a.p, a.q = "left", ["right"]
    for i in range(N):
        a.p, a.q = a.q, a.p
        a.total += 1
    return show(a)


def case_identity_kept():
    a = Account()
    a.x, a.y = 1234567.5, 0.0
    x = a.x
    for i in range(N):
        a.y = a.x
        a.total += 1
    return a.x is x, a.y


class Hooked(Account):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value if name != "total" else value + 1)


class Fallback(Account):
    def __getattr__(self, name):
        return len(name)


def case_hooks():
    h, f = Hooked(), Fallback()
    s = 0
    for i in range(N):
        h.total += i
        s += f.missing + f.total
    return s, h.total


class Raising(Account):
    def step(self, i):
        self.total += 1
        return 100 // (self.stop - i)


def case_exception_in_method():
    r = Raising()
    r.stop = N - 5
    s = 0
    for i in range(N):
        s += r.step(i)
    return s


def case_exception_in_method_caught():
    r = Raising()
    r.stop = N - 5
    s = 0
    for k in range(3):
        try:
            for i in range(N):
                s += r.step(i)
        except ZeroDivisionError as e:
            s += e.__traceback__.tb_next.tb_lineno - e.__traceback__.tb_frame.f_code.co_firstlineno
    return s, show(r)


def case_generator_over_attributes():
    a = Account()

    def gen():
        for k in range(4):
            for i in range(N):
                a.total += i
            yield a.total
    return list(gen()), show(a)


class Dropped:
    log = []

    def __init__(self, name):
        self.name = name

    def __del__(self):
        Dropped.log.append(self.name)


def case_old_values_dropped():
    Dropped.log.clear()
    a = Account()
    a.held = Dropped("first")
    b = Dropped("second")
    for i in range(N):
        a.total += 1
        a.held = b
    out = list(Dropped.log)
    del b
    a.held = None
    return out, list(Dropped.log)


class Counted(Account):
    def __del__(self):
        pass


def case_class_with_finalizer():
    a = Counted()
    return a.run(N), a.run_calls(N)


def case_loop_in_method_called_in_loop():
    a = Account()
    s = 0
    for k in range(N):
        s += a.run(3)
    return s, show(a)


def case_method_recursion():
    class Node:
        def __init__(self, depth):
            self.count = 0
            self.child = Node(depth - 1) if depth else None

        def walk(self, n):
            for i in range(n):
                self.count += 1
                if self.child is not None and i % 5 == 4:
                    self.child.walk(n)
            return self.count
    root = Node(2)
    root.walk(12)
    return root.count, root.child.count, root.child.child.count


def case_frames_seen_by_callee():
    class Looker:
        def __init__(self):
            self.seen = 0

        def look(self, i):
            if i == N - 4:
                f = sys._getframe()
                self.seen = (f.f_code.co_name, f.f_lineno - f.f_code.co_firstlineno, f.f_back.f_code.co_name, f.f_locals["self"].n)
            return i

        def go(self):
            s = 0
            self.n = 0
            for i in range(N):
                self.n += 1
                s += self.look(i)
            return s
    k = Looker()
    return k.go(), k.seen, k.n
