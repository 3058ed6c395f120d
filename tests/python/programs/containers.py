"""Dictionaries, sets, lists and tuples that compiled loops make, look into and change, methods of strings, random numbers."""
import collections
import random
import sys
import time

import numpy as np

N = TRIPS


class Key:
    """Equal to an int of the same hash; notes each comparison."""

    seen = []

    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return self.n

    def __eq__(self, other):
        Key.seen.append((self.n, other if isinstance(other, int) else type(other).__name__))
        return isinstance(other, int) and other == self.n


class Noisy:
    log = []

    def __init__(self, n):
        self.n = n

    def __del__(self):
        Noisy.log.append(self.n)


def case_count_words():
    keys = ["k%d" % (k % 7) for k in range(N)]
    d = {}
    s = 0.0
    for k in keys:
        d[k] = d.get(k, 0) + 1
        s += d[k] * 0.5
    return d, s, list(d)


def case_int_keys():
    d = {}
    for i in range(N):
        k = i * i % 11
        if k in d:
            d[k] += i
        else:
            d[k] = i
    return d, len(d), k, i


def case_float_keys():
    d = {0.5: 1}
    for i in range(N):
        x = (i % 5) * 0.25
        d[x] = d.get(x, 0) + x
    return d


def case_equal_keys_of_other_types():
    d = {1: "one", 2.0: "two", True: "true", 3 + 0j: "three", np.int64(4): "four"}
    out = []
    for i in range(N):
        k = i % 6
        if k in d:
            out.append((k, d[k]))
    for i in range(N):
        x = (i % 6) * 1.0
        if x in d:
            out.append((x, d[x]))
    return out


def case_tuple_keys():
    d = {}
    for i in range(N):
        k = (i % 3, i % 2)
        if k not in d:
            d[k] = 0.0
        d[k] += i * 0.25
    return d, k


def case_nested_tuple_keys():
    d = {}
    for i in range(N):
        d[(i % 3, (i % 2, 0.5))] = i
        d[("a", i % 2)] = i
    return d


def case_nan_keys():
    nan = float("nan")
    d = {nan: 1}
    hits = 0
    for i in range(N):
        hits += nan in d
        hits += (nan * i) in d
    return hits, len(d)


def case_keys_of_a_class():
    Key.seen.clear()
    d = {Key(3): "key", 5: "five"}
    out = []
    for i in range(N):
        k = i % 8
        out.append(d.get(k, k))
    return out, Key.seen


def case_key_identity():
    d = {}
    for i in range(1000, 1000 + N):
        d[i] = i
    last = list(d)[-1]
    return last is i, d[last] is last, len(d)


def case_value_identity():
    d = {}
    kept = []
    for i in range(N):
        x = i * 1.5
        d["x"] = x
        kept.append(x)
    return d["x"] is x, kept[-1] is x, x


def case_missing_key():
    d = {k: k * 2 for k in range(N - 3)}
    total = 0
    try:
        for i in range(N):
            total += d[i]
    except KeyError as e:
        return total, i, e.args, e.__traceback__.tb_lineno
    return total


def case_missing_key_handled_inside():
    d = {k: k * 2 for k in range(0, N, 5)}
    total = 0
    for i in range(N):
        try:
            total += d[i]
        except KeyError:
            total -= 1
    return total


def case_unhashable_key():
    d = {}
    keys = [1] * (N - 2) + [[1]] + [2]
    out = []
    try:
        for k in keys:
            d[k] = 1
            out.append(k)
    except TypeError as e:
        return str(e), out, d
    return out


def case_get_with_defaults():
    d = {1: 2.5, 2: None, 3: "three"}
    out = []
    s = 0.0
    for i in range(N):
        s += d.get(1, 0.0)
        out.append(d.get(i % 5))
        s += d.get(7, i * 0.5)
    return s, out


def case_values_change_type():
    d = {"a": 1}
    out = []
    for i in range(N):
        d["a"] = d["a"] + (0.5 if i % 10 == 9 else 1)
        out.append(d["a"])
    return out


def case_pop_and_delete():
    d = {k: k * 0.5 for k in range(2 * N)}
    s = 0.0
    for i in range(N):
        s += d.pop(2 * i)
        if i % 3 == 0:
            del d[2 * i + 1]
    return s, d


def case_subclasses():
    c = collections.Counter()
    d = collections.defaultdict(int)
    o = collections.OrderedDict()
    for i in range(N):
        c[i % 3] += 1
        d[i % 4] += i
        o[i % 5] = i
    return c, d, o


def case_overwritten_objects():
    Noisy.log.clear()
    d = {}
    out = []
    for i in range(N):
        d[i % 3] = Noisy(i)
        out.append(len(Noisy.log))
    d.clear()
    return out, Noisy.log


def case_overwritten_by_numbers():
    Noisy.log.clear()
    d = {k: Noisy(k) for k in range(N)}
    out = []
    for i in range(N):
        d[i] = i
        out.append(len(Noisy.log))
    return out


def case_dict_of_lists():
    d = {}
    for i in range(N):
        k = i % 4
        if k not in d:
            d[k] = []
        d[k].append(i * 0.5)
    return d


def case_dict_while_walked():
    d = {k: k for k in range(5)}
    try:
        for k in d:
            for i in range(N):
                d[k + 100 + i % 2] = i
    except RuntimeError as e:
        return str(e), d
    return d


def case_set():
    seen = set()
    again = 0
    x = 1
    for i in range(N):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
        k = x % 17
        if k in seen:
            again += 1
            seen.discard(k)
        else:
            seen.add(k)
    return again, seen, len(seen)


def case_set_of_tuples():
    seen = set()
    x = y = 0
    for i in range(N):
        x, y = (x + i) % 3, (y + x) % 4
        if (x, y) in seen:
            continue
        seen.add((x, y))
    return sorted(seen), len(seen)


def case_set_of_keys_of_a_class():
    Key.seen.clear()
    s = {Key(3), 4, 5}
    n = 0
    for i in range(N):
        n += (i % 7) in s
        s.add(i % 9)
    return n, len(s), Key.seen


def case_set_key_identity():
    s = set()
    for i in range(5000, 5000 + N):
        s.add(i)
    return any(k is i for k in s), len(s)


def case_frozenset():
    f = frozenset(k * k for k in range(20))
    n = 0
    for i in range(N):
        if i in f:
            n += i
    return n


def case_stack():
    st = [0]
    total = 0
    for i in range(N):
        st.append(i)
        if i % 3 == 2:
            total += st.pop() + st.pop()
    return total, st


def case_pop_keeps_the_object():
    a = [k * 1000.5 for k in range(N + 1)]
    b = list(a)
    same = 0
    for i in range(N):
        x = a.pop()
        same += x is b[-1 - i]
    return same, x, x is b[1], a


def case_pop_from_empty():
    st = list(range(N - 2))
    try:
        for i in range(N):
            st.pop()
    except IndexError as e:
        return i, str(e), st
    return st


def case_pop_at():
    st = list(range(3 * N))
    out = []
    for i in range(N):
        out.append(st.pop(0))
        out.append(st.pop(-2))
        out.append(st.pop(i % 3))
    return out, st


def case_depth_first():
    graph = [[(k * 7 + j) % 40 for j in range(3)] for k in range(40)]
    for _ in range(N):
        todo, seen, order = [0], set(), []
        while todo:
            k = todo.pop()
            if k in seen:
                continue
            seen.add(k)
            order.append(k)
            for j in graph[k]:
                if j not in seen:
                    todo.append(j)
    return order, len(seen)


def case_list_methods():
    a = []
    for i in range(N):
        a.insert(0, i)
        if i % 5 == 0:
            a.reverse()
        if i % 7 == 0:
            a.extend([i, -i])
        if i % 11 == 3:
            del a[1]
    b = a.copy()
    return a, b is a, b


def case_list_delete_raises():
    a = list(range(N - 3))
    try:
        for i in range(N):
            del a[0]
    except IndexError as e:
        return str(e), i, a
    return a


def case_made_lists():
    s = 0.0
    for i in range(N):
        p = [i * 0.5, i + 1.0, 2.0]
        p.append(s)
        s += p[0] * p[1] - p[3] * 0.5
        q = [p, i]
    return s, p, q, q[0] is p, q[1] is i


def case_made_list_identity():
    out = []
    for i in range(N):
        x = i * 2.5
        p = [x, x]
        out.append(p[0] is p[1])
        out.append(p[0] is x)
    return out, p[0] is x


def case_list_of_lists():
    rows = []
    for i in range(N):
        row = []
        for j in range(4):
            row.append(i * j * 0.5)
        rows.append(row)
    return rows


def case_comprehensions():
    s = 0.0
    for i in range(N):
        v = [i * k * 0.5 for k in range(5)]
        s += v[1] - v[3]
    return s, v


def case_swap_in_a_list_of_tuples():
    a = [(k, k * 0.5) for k in range(10)]
    for i in range(N):
        j = i % 9
        a[j], a[j + 1] = a[j + 1], a[j]
        x, y = a[j]
        a[j] = (x + 1, y)
    return a


def case_random():
    random.seed(11)
    s = 0.0
    for i in range(N):
        x = random.random()
        y = random.random()
        if x * x + y * y < 1.0:
            s += x
    return s, random.random(), x


def case_random_functions():
    random.seed(12)
    s = 0.0
    for i in range(N):
        s += random.uniform(-1.0, 2.0) + random.randint(0, 9) + random.randrange(5)
        s += random.gauss(0.0, 1.0) + random.expovariate(2.0)
    return s, random.random()


def case_random_object():
    rng = random.Random(13)
    s = 0.0
    for i in range(N):
        s += rng.random() - rng.uniform(0, 1)
        if rng.random() < 0.1:
            s += 1
    return s, rng.getstate()[1][:3]


def case_random_subclass():
    class Fixed(random.Random):
        def random(self):
            return 0.25

    rng = Fixed(1)
    s = 0.0
    for i in range(N):
        s += rng.random() + rng.uniform(0.0, 4.0)
    return s


def case_choice():
    random.seed(14)
    names = ["a", "b", "c"]
    out = []
    for i in range(N):
        out.append(random.choice(names))
    return "".join(out)


def case_generator():
    rng = np.random.default_rng(15)
    s = 0.0
    for i in range(N):
        s += rng.random()
        s += rng.normal(0.0, 2.0) + rng.standard_normal() * 0.5
        s += rng.uniform(-1.0, 1.0) + rng.exponential(2.0)
    return s, rng.random()


def case_generator_integers():
    rng = np.random.default_rng(16)
    s = 0
    for i in range(N):
        s += int(rng.integers(0, 10)) + int(rng.integers(5))
    return s, rng.random()


def case_generator_bad_argument():
    rng = np.random.default_rng(17)
    s = 0.0
    try:
        for i in range(N):
            s += rng.normal(0.0, N - 3.0 - i)
    except ValueError as e:
        return s, i, str(e), rng.random()
    return s


def case_string_methods():
    lines = [",".join("ab%d" % k for k in range(j % 7)) for j in range(N)]
    n = 0
    out = []
    for line in lines:
        parts = line.split(",")
        if line.startswith("a"):
            n += len(parts)
        n += line.count("b") + line.find("b1")
        out.append(line.upper().strip("A"))
    return n, out, parts


def case_string_method_raises():
    lines = ["ab"] * (N - 2) + ["xy"] * 2
    n = 0
    try:
        for line in lines:
            n += line.index("b")
    except ValueError as e:
        return n, str(e), line
    return n


def case_text_beyond_ascii():
    words = ["größe", "naïve", "日本", "plain", "Ω"] * N
    d = {}
    for w in words:
        d[w] = d.get(w, 0) + len(w)
        if w.startswith("gr"):
            d["n"] = d.get("n", 0) + 1
    return d


def case_clock():
    s = 0.0
    last = time.perf_counter()
    good = True
    for i in range(N):
        now = time.perf_counter()
        good = good and now >= last
        last = now
        s += i * 0.5
    return s, good


def case_globals():
    global table, members
    table = {}
    members = set()
    for i in range(N):
        table[i % 5] = table.get(i % 5, 0) + i
        members.add(i % 3)
    return table, members


def case_in_a_callee():
    cache = {}

    def squared(k):
        if k in cache:
            return cache[k]
        v = k * k * 0.5
        cache[k] = v
        return v

    s = 0.0
    for i in range(N):
        s += squared(i % 13)
    return s, cache


def case_many_values_are_kept():
    d = {}
    out = []
    for i in range(40 * N):
        d[i % 3] = i * 0.5
        out.append(d[i % 3])
        if len(out) > 50:
            out = [out[-1]]
    return d, out




def case_dict_of_an_instance():
    class Box:
        pass

    o = Box()
    o.total = 0
    d = o.__dict__
    out = []
    for i in range(N):
        o.total += i
        d["total"] = d["total"] + 1
        if i % 10 == 3:
            d["more"] = i
            out.append(o.more)
        out.append((o.total, len(d)))
    return out, d


def case_dict_of_globals():
    global limit_of_all
    limit_of_all = 1
    g = globals()
    s = 0
    for i in range(N):
        limit_of_all = i
        s += g["limit_of_all"]
        g["limit_of_all"] = i * 2
        s += limit_of_all
        if "not_there" in g:
            s += 1
    return s


def case_draws_of_many():
    rng = np.random.default_rng(18)
    s = 0.0
    for i in range(N):
        s += rng.normal(0.0, 1.0, 2).sum() + rng.random(3)[0] + rng.uniform(0.0, 1.0, size=2)[1]
    return s


def forward(t, y, *args):
    return tuple(v + t for v in y) if args == () else (y[0] + args[0], y[1] * args[1])


def lorenz(t, s, sigma, rho, beta):
    x, y, z = s
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def euler(f, y, t, h, *args):
    k = f(t, y, *args)
    m = f(t + h, [y[i] + h * k[i] for i in range(len(y))], *args)
    out = []
    for i in range(len(y)):
        out.append(y[i] + h / 2 * (k[i] + m[i]))
    return out


def case_functions_with_more_arguments():
    state = (1.0, 1.0, 1.0)
    track = np.zeros((N, 3))
    for step in range(N):
        state = euler(lorenz, state, step * 0.01, 0.01, 10, 28, 8 / 3)
        track[step] = state
    return state, track.tolist()


def case_spread_calls():
    y = (1.0, 2.0)
    more = (0.5, 1.001)
    s = 0.0
    for i in range(N):
        y = forward(i, y, *more)
        s += max(*y)
    return y, s


def case_tuple_or_new_tuple():
    def step(state, i):
        a, b = state
        if i % 3 == 0:
            return (a + 0.5, b * 0.5 + 1.0), True
        return state, False

    state = (0.0, 1.0)
    out = []
    taken = 0
    for i in range(N):
        state, new = step(state, i)
        taken += new
        if i % 7 == 0:
            out.append(state)
    return state, taken, out, out[-1] is state


def case_rows_of_floats():
    a = np.zeros((5, 3))
    b = np.zeros((5, 2), dtype=np.float32)
    bad = 0
    for i in range(N):
        a[i % 5] = (i * 0.5, 1.0 / (i + 1), i - 0.25)
        b[i % 5] = (i * 0.1, i * 0.3)
        if i == N - 3:
            try:
                a[0] = (1.0, 2.0)
            except ValueError as e:
                bad = str(e)
    return a.tolist(), b.tolist(), bad


def case_unpacked_rows():
    points = np.arange(3.0 * N).reshape(N, 3) * 0.5
    s = 0.0
    for x, y, z in points:
        s += x * y - z
    for k, (x, y, z) in enumerate(points):
        s += k * z - y
    try:
        for x, y in points:
            s += x
    except ValueError as e:
        return s, str(e), x, type(z)
    return s


def case_slices():
    a = list(range(N))
    t = tuple(a)
    text = "abcdefghij" * N
    raw = text.encode()
    out = []
    total = 0
    for i in range(N):
        total += len(a[i:i + 3]) + len(t[-3:]) + len(text[i:]) + len(raw[:i])
        total += sum(a[2:5]) + len(a[:]) + raw[i:i + 2][0]
        out.append(text[i:i + 2])
        out.append(t[i:] is t)
    return total, out, a[1:] is a


def case_constant_slices():
    s = 0
    for i in range(N):
        for level in (0, 85, 170, 255)[1:]:
            s += level * i
    return s


def case_joined_and_repeated():
    out = []
    for i in range(N):
        a = [i] * 3
        b = a + [1, 2]
        c = (i, 2) + (3,)
        s = "x" * (i % 4) + "y"
        out.append((a, b, c, s, len(b)))
    return out


def case_growing_text():
    s = ""
    for i in range(N):
        s += "ab"
        if i % 2:
            s = s + "c"
    return s


def case_formatting():
    out = []
    for i in range(N):
        x = i * 0.37
        out.append("%.2f" % x)
        out.append("%d:%s" % (i, x))
        out.append(b"key%d" % i)
    return out


def case_conversions():
    texts = ["1.5", "2", "-3e2", "nan"] * N
    s = 0.0
    out = []
    for i in range(N):
        s += float(texts[i % 3]) + int("12") + int(texts[1])
        out.append(str(i))
        out.append(repr(s))
        out.append(str(i * 0.5))
        out.append(list((i, s)))
        out.append(tuple([i, s]))
    return s, out


def case_conversion_fails_at_times():
    texts = ["1.5", "x", "2.5", "", "7"] * N
    read = 0.0
    bad = {}
    i = 0
    while i < N:
        try:
            v = float(texts[i])
        except ValueError:
            bad[texts[i]] = bad.get(texts[i], 0) + 1
            i += 1
            continue
        read += v
        i += 1
    return read, bad


class Meters(float):
    pass


def case_isinstance():
    items = [1, 2.5, "x", None, (1, 2), [3], True, np.float64(2.0), Meters(3.0)] * N
    out = []
    n = 0
    for i in range(N):
        x = i * 0.5
        if isinstance(x, float) and not isinstance(i, (float, str)):
            n += 1
        out.append(isinstance(items[i], (int, float)))
        out.append(isinstance(items[i], str))
    return n, out


def case_stored_tuples_stay_one_object():
    out, d = [], {}
    same = 0
    for i in range(N):
        t = (i * 0.5, i)
        out.append(t)
        d["t"] = t
        pair = [t, (t, t)]
        same += (out[-1] is t) + (d["t"] is t) + (pair[0] is t) + (pair[1][0] is pair[1][1])
        same += out[-1][0] is t[0]
    return same, t is out[-1], pair


def case_items_outlive_their_containers():
    x = y = 0.5
    text = ""
    s = 0.0
    for i in range(40 * N):
        p = [i * 1000.25, "t%d" % i, (i * 0.5, i + 5000)]
        if i % 700 == 3:
            x = p[0]
            text = p[1]
            y = p[2][1]
        s += p[2][0] + x
    return x, y, text, s


def case_popped_containers():
    todo = [[k * 1000.5, [k + 3000]] for k in range(N)]
    kept = None
    for i in range(40 * N):
        p = todo.pop()
        if i % 911 == 7:
            kept = p[1]
            first = p[0]
        todo.append([i * 10.5, [i]])
        if i % 2:
            todo.append([i * 10.5, [i]])
            todo.pop(0)
    return kept, first, len(todo), p


def case_walks_over_globals():
    global walked
    walked = 0
    out = []
    for i in range(N):
        walked = i
        for name, value in globals().items():
            if name == "walked":
                out.append(value)
    return out


class Looks:
    def __str__(self):
        return str(sys._getframe(1).f_locals["n"])


def case_formatting_of_a_class_at_times():
    out = []
    n = 0
    for x in ["a"] * (N - 3) + [Looks(), "b"]:
        n += 3
        out.append("%s" % x)
        out.append("%s:%d" % (x, n))
    return out


class Mask:
    def __getattribute__(self, name):
        return str if name == "__class__" else object.__getattribute__(self, name)


def case_isinstance_by_class_attribute():
    mask = Mask()
    n = 0
    for i in range(N):
        n += isinstance(mask, str) + 2 * isinstance(MASK, str)
    return n


MASK = Mask()
