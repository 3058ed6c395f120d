"""Instructions that compiled loops leave to the interpreter: calls of anything, attributes, dictionaries, strings, containers made anew, slices.

Each is done in the live frame in the middle of native code: what it looks at, changes, returns and raises must be the interpreter's.
"""
import io
import itertools
import sys
import warnings

import numpy as np

N = TRIPS


class Plain:
    pass


def collect(*args, **kwargs):
    return len(args) + len(kwargs)


def swap(a, b):
    return b, a


def looks(depth=1):
    f = sys._getframe(depth)
    return f.f_lineno - f.f_code.co_firstlineno, sorted((k, repr(v)) for k, v in f.f_locals.items() if isinstance(v, (int, float, str, bool)))


def case_print():
    out = io.StringIO()
    s = 0.0
    for i in range(N):
        s += i * 0.5
        print(i, s, end=";", file=out)
    return out.getvalue()[-200:], s


def case_format():
    out = []
    s = 0.0
    for i in range(N):
        s += i * 0.25
        text = f"{i:04d} {s!r:>10} {s:.2f}{'!' if i % 3 else '?'}"
        out.append(text)
    return out[-5:], len(out), text


def case_call_with_star():
    s = 0
    for i in range(N):
        s += collect(i, s, *(1, 2), key=i)
    return s


def case_keywords():
    s = 0.0
    for i in range(N):
        s += round(number=i * 0.37, ndigits=1)
        s += collect(a=i, b=s)
    return s


def case_result_kinds():
    out = []
    kinds = [1, 2.5, True, None, 1 + 2j, np.float32(0.5), np.int16(-3), "text", (1, 2.0)]
    s = 0
    for i in range(N):
        x = kinds.__getitem__(i % 3)
        s += x
        out.append(x)
    return s, out[-3:], [type(v).__name__ for v in out[:9]]


def case_result_changes_type():
    values = {}
    for i in range(20):
        values[i] = i if i < 12 else i * 0.5
    s = 0
    for k in range(N):
        s += values.get(k % 20, 0)
    return s


def case_results_unpacked():
    a, b, s = 1.0, 2.0, 0.0
    for i in range(N):
        a, b = swap(a + i, b)
        s += a - b
    return a, b, s


def case_result_is_the_object():
    objects = [float(k) for k in range(7)]
    log = []
    for i in range(N):
        x = objects.pop(0)
        objects.append(x)
        y = x
        log.append(y is objects[-1])
    return all(log), len(log), objects


def case_dictionary():
    d = {}
    for i in range(N):
        t = 0
        for j in range(5):
            t += (i * j) % 7
        d[t] = d.get(t, 0) + 1
        if t in d and d[t] > 10:
            del d[t]
    return sorted(d.items()), t


def case_defaultdict():
    import collections
    d = collections.defaultdict(int)
    for i in range(N):
        d[i % 7] += i
    return sorted(d.items())


def case_counter_of_tuples():
    d = {}
    for i in range(N):
        key = (i % 3, i % 5)
        if key not in d:
            d[key] = []
        d[key].append(i * 0.5)
    return [(k, sum(v), len(v)) for k, v in sorted(d.items())]


def case_string_grows():
    s = ""
    k = 0
    for i in range(N):
        for j in range(4):
            k += j
        s += str(k)
        s = s + ","
        tail = "a" + s[-3:]
    return s[-50:], len(s), tail


def case_string_held_elsewhere():
    s = ""
    kept = []
    for i in range(N):
        s += "xy"
        if i % 10 == 0:
            kept.append(s)
    return [len(k) for k in kept][-5:], len(s)


def case_frame_is_complete():
    log = []
    s = 0.0
    flag = False
    for i in range(N):
        s = s + i * 0.5
        flag = i % 2 == 0
        log.append(looks())
        t = s * 2
    return log, t


def case_locals_inside():
    total = 0
    for i in range(N):
        x = i * 0.5
        total += len(locals())
    return total, x


def case_writes_a_global():
    global shared
    shared = 0

    def bump(k):
        global shared
        shared += k
        return k

    s = 0
    for i in range(N):
        s += bump(i) + shared
    return s, shared


def case_writes_an_attribute():
    o = Plain()
    o.x = 0.0

    def change(k):
        if k % 7 == 0:
            o.x = float(k)
        return None

    for i in range(N):
        o.x += 0.5
        change(i)
    return o.x


def case_attribute_beside_calls():
    o = Plain()
    o.x = 0.0
    o.log = []
    a = np.arange(10) * 0.5
    for i in range(N):
        for j in range(len(a)):
            o.x += a[j] * i
        o.log.append(o.x)
    return o.x, o.log[-3:], o.log[-1] is o.x


def case_nonlocal_beside_calls():
    out = []

    def outer():
        count = 0

        def inner(k):
            nonlocal count
            count += k
            return count

        for i in range(N):
            inner(i)
            out.append(str(count))
        return count

    return outer(), out[-3:]


def case_reshapes_the_array():
    a = np.arange(24.0)
    s = 0.0

    def change(k):
        if k == 40:
            a.shape = (4, 6)
        return 0

    for i in range(N):
        s += a[i % 24] if i <= 40 else a[i % 4, i % 6]
        change(i)
    return s, a.shape


def case_array_from_a_call():
    rows = [np.arange(8) * float(k) for k in range(4)]
    s = 0.0
    for i in range(N):
        row = rows.__getitem__(i % 4)
        for j in range(8):
            s += row[j]
            row[j] = s % 3
        collect(row)
    return s, [r.tolist() for r in rows]


def case_array_changes_dtype():
    rows = [np.arange(8), np.arange(8) * 0.5, np.arange(8, dtype=np.float32)]
    s = 0.0
    for i in range(N):
        row = rows.__getitem__((i // 20) % 3)
        for j in range(8):
            s += row[j]
    return s


def case_array_resized_behind():
    a = np.zeros(4)
    s = 0.0
    for i in range(N):
        b = a.view() if i % 2 else a
        b[i % 4] += i
        collect(b)
        s += b[(i + 1) % 4]
    return s, a.tolist()


def case_exception_passes():
    def maybe(k):
        if k == N - 5:
            raise ValueError(k)
        return k

    s = 0
    for i in range(N):
        s += maybe(i)
    return s


def case_exception_is_caught():
    def maybe(k):
        if k % 11 == 3:
            raise KeyError(k)
        return k

    s, missed = 0, []
    for i in range(N):
        try:
            s += maybe(i)
        except KeyError as e:
            missed.append(e.args[0])
    return s, missed[-4:], len(missed)


def case_warning_and_its_line():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for i in range(20):
            x = np.float64(i) * 0.5
            warnings.warn(f"trip {i}", UserWarning)
    return [(str(w.message), w.category.__name__, w.lineno) for w in seen], x


def case_containers():
    out = []
    for i in range(N):
        a = [i, i * 0.5]
        b = {i % 3: a, "k": i}
        c = {i % 4, i % 5}
        d = (a, b)
        a.append(len(c))
        out.append((len(d), sum(a[:2])))
    return out[-3:], a, sorted(c)


def case_comprehension():
    s = 0.0
    a = np.arange(6) * 0.5
    for i in range(N):
        squares = [float(x) * i for x in a]
        s += squares[3] + sum(squares)
    return s, squares


def case_slices():
    l = list(range(50))
    s = 0
    for i in range(N):
        part = l[i % 40:i % 40 + 3]
        s += part[0] + len(part)
        l[i % 50:i % 50 + 1] = [s % 10]
    return s, l


def case_sort_with_key():
    l = [(k * 7919) % 31 for k in range(10)]
    s = 0
    for i in range(N):
        l.sort(key=lambda v: (v + i) % 7)
        s += l[0]
    return s


def case_itertools():
    c = itertools.count(3)
    s = 0
    for i in range(N):
        s += next(c) * i
    return s, next(c)


def case_generator_inside():
    def gen(n):
        for k in range(n):
            yield k * 0.5

    s = 0.0
    for i in range(N):
        s += sum(gen(i % 5))
        s += max(gen(3), default=0)
    return s


def case_truth_of_objects():
    full, empty = [1], []
    s = 0
    for i in range(N):
        picked = full if i % 3 else empty
        s += 1 if collect(picked) and bool(picked) else 5
        s += not collect()
    return s


def case_is_none():
    d = {1: None, 2: 2.0}
    s = 0.0
    for i in range(N):
        x = d.get(i % 4)
        if x is None:
            s += 1
        else:
            s += x
    return s


def case_finalizer_in_order():
    log = []

    class Noisy:
        def __init__(self, k):
            self.k = k

        def __del__(self):
            log.append(("gone", self.k))

    s = 0
    for i in range(N):
        x = Noisy(i)
        s += i
        log.append(("made", s))
        x = None
        log.append(("dropped", i))
    return log, x


def case_finalizer_of_a_dropped_result():
    log = []

    class Noisy:
        def __del__(self):
            log.append("gone")

    for i in range(N):
        Noisy()
        log.append(i)
    return log


def case_iterator_is_advanced():
    s = 0
    for i in range(N):
        it = enumerate((5, 6, 7))
        next(it)
        s += next(it)[1]
        s += len(list(it)) * i
    return s


def case_call_inside_a_branch():
    out = []
    s = 0.0
    for i in range(N):
        if i % 9 == 4:
            out.append(f"{i}:{s}")
        elif i % 9 == 5:
            s += collect(i)
        s += 0.5
    return out[-3:], s


def case_inside_a_while():
    s, i = 0.0, 0
    seen = set()
    while i < N:
        seen.add(i % 13)
        s += len(seen)
        i += 1
        if len(seen) > 12 and s > 1e9:
            break
    else:
        s += 1
    return s, i, sorted(seen)


def case_recursion():
    def depth(k):
        t = 0
        for j in range(3):
            t += j
        return t if k == 0 else t + depth(k - 1)

    s = 0
    for i in range(N):
        s += depth(i % 6)
    return s


def case_super_and_property():
    class A:
        def __init__(self):
            self._v = 1.0

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value * 2

        def step(self, k):
            return k + 1

    class B(A):
        def step(self, k):
            return super().step(k) * 2

    b = B()
    s = 0.0
    for i in range(N):
        b.v = i * 0.5
        s += b.step(i) + b.v
    return s, b.v


def case_operators_of_classes():
    class V:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return V(self.x + other.x)

        def __mul__(self, k):
            return V(self.x * k)

        def __eq__(self, other):
            return self.x == other.x

        def __bool__(self):
            return self.x < 1e9

        __hash__ = None

    v, one = V(0.0), V(1.0)
    n = 0
    for i in range(N):
        v = v + one * i
        if v == one:
            n += 1
        if not v:
            n += 100
    return v.x, n


def case_matrix_products():
    a = np.arange(4.0).reshape(2, 2)
    v = np.array([1.0, 2.0])
    s = 0.0
    for i in range(N):
        w = a @ v
        s += w[0] * 1e-3
        v = w / np.abs(w).max()
    return s, v.tolist()


def case_whole_arrays():
    a = np.arange(6.0)
    s = 0.0
    for i in range(N):
        b = a * 2 + i
        a[1:3] = b[2:4] % 5
        s += b.sum() + a[1]
    return s, a.tolist(), b.tolist()


def case_many_runs():
    d = {}
    s = 0
    for i in range(N):
        d["a"] = i
        s += d["a"]
        d["b"] = s
        s -= d["b"] // 2
        d["c"] = str(s)
        s += len(d["c"])
        d["d"] = [s]
        s += d["d"][0] % 3
    return s, d


def case_deleted_variable():
    s = 0
    for i in range(N):
        x = str(i)
        s += len(x)
        del x
    try:
        return x
    except UnboundLocalError as e:
        return s, str(e)


def case_arrays_replaced_behind():
    a = np.arange(8.0)
    s = 0.0
    for i in range(N):
        for j in range(8):
            s += a[j]
        a = a.copy() if i % 3 else np.arange(8.0 + i % 2)
        collect(a)
    return s, a.tolist()


def case_instance_replaced_behind():
    log = []

    class Noisy:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            log.append(self.x)

    o = Noisy(0.0)
    s = 0.0
    for i in range(N):
        o.x += 0.5
        s += o.x
        if i % 10 == 9:
            o = Noisy(float(i))
            collect(o)
    return s, o.x, len(log) if not log else [float(v) for v in sorted(log)]


def case_walks_over_an_array_that_is_dropped():
    s = 0.0
    for k in range(4):
        for x in np.arange(float(N)):
            s += x * k
            if x % 16 == 0:
                collect(s)
        collect(k)
    return s


def case_resize_behind():
    a = np.arange(4.0)
    sizes = []
    s = 0.0
    for i in range(N):
        s += a[i % 4]
        if i % 20 == 7:
            a.resize(len(a) + 1)
        sizes.append(len(a))
    return s, sizes[-1], a.tolist()
