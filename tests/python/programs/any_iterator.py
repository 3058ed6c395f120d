"""Loops over iterators that native code does not walk over itself: generators, classes, dictionaries, sets, itertools, files."""
import collections
import csv
import io
import itertools
import operator
import sys

import numpy as np

N = TRIPS
M = min(N, 300)


def numbers(n=N):
    for i in range(n):
        yield i * 0.5


class Steps:
    def __init__(self, n, fail=None):
        self.i, self.n, self.fail = 0, n, fail

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i == self.fail:
            raise self.failure()
        if self.i > self.n:
            raise StopIteration("ignored")
        return self.i

    def failure(self):
        return ValueError(f"at {self.i}")


def add_up(it, s=0.0):
    x = None
    for x in it:
        s = s * 0.5 + x
    return s, x


def pairs(it, s=0.0):
    x = y = None
    for x, y in it:
        s = s * 0.5 + x * y
    return s, x, y


def case_generator():
    return add_up(numbers())


def case_generator_expression():
    return add_up(k * k for k in range(N))


def case_generator_of_tuples():
    return pairs((k, k * 0.25) for k in range(N))


def case_class():
    return add_up(Steps(N))


def case_class_raises():
    s, x = 0.0, None
    for x in Steps(N, fail=N - 3):
        s = s * 0.5 + x
    return s, x


def case_class_raises_caught():
    out = []
    for fail in (1, N // 2, N - 1, N, N + 1, N + 2):
        s = 0.0
        x = None
        try:
            for x in Steps(N, fail=fail):
                s = s * 0.5 + x
        except ValueError as e:
            out.append((str(e), e.__traceback__.tb_lineno - e.__traceback__.tb_frame.f_code.co_firstlineno))
        else:
            out.append("end")
        out.append((s, x))
    return out


def case_generator_raises():
    def gen():
        for k in range(N):
            if k == N - 5:
                yield 1.0 / (k - N + 5)
            yield k
    s = 0.0
    for x in gen():
        s += x
    return s


def case_generator_sees_the_frame():
    seen = []

    def gen():
        for k in range(M):
            frame = sys._getframe(1)
            seen.append((frame.f_lineno - frame.f_code.co_firstlineno, sorted(frame.f_locals)[:3], frame.f_locals.get("s"), frame.f_locals.get("x")))
            yield k + 0.5
    s = 0.0
    for x in gen():
        s = s * 0.5 + x
    return s, x, seen


TOTAL = 0.0


def case_generator_changes_a_global():
    global TOTAL
    TOTAL = 0.0

    def gen():
        global TOTAL
        for k in range(N):
            if k % 7 == 0:
                TOTAL += 1000.0
            yield k
    for x in gen():
        TOTAL += x
    return TOTAL


def case_generator_changes_an_array():
    a = np.zeros(N + 1)

    def gen():
        for k in range(N):
            a[k] += a[k - 1] * 0.5 + 1
            yield k
    for k in gen():
        a[k + 1] = a[k] * 2 + 1
    return a


def case_generator_changes_a_closure():
    factor = 1.0

    def gen():
        nonlocal factor
        for k in range(N):
            factor += 0.25
            yield k
    s = 0.0
    for k in gen():
        s += k * factor
    return s


def case_break_closes_at_the_right_moment():
    log = []

    def gen(n):
        try:
            for k in range(n):
                yield k
        finally:
            log.append(("closed", n))
    s = 0.0
    for i in range(M):
        for k in gen(5):
            s += k * i
            if k == i % 5:
                log.append(("break", i))
                break
        log.append(("after", i))
    return s, log


def case_held_generator_goes_on():
    g = numbers()
    s = 0.0
    for x in g:
        s += x
        if x > N // 4:
            break
    for y in g:
        s -= y * 0.5
    return s, x, y, list(g)


def case_iterator_advanced_inside():
    it = iter(range(3 * N))
    s = 0
    for x in it:
        s = s * 3 % 1009 + x + next(it, 0)
    return s, x


def case_shared_list_iterator():
    it = iter([k * 0.5 for k in range(N)])
    s, x = add_up(it)
    return s, x, list(it)


def case_zip_with_itself():
    it = iter(range(2 * N))
    return pairs(zip(it, it))


def case_inner_generators():
    s = 0.0
    for i in range(M):
        for x in numbers(i % 4):
            s = s * 0.75 + x * i
    return s, i, x


def case_inner_loop_in_a_generator_loop():
    a = np.linspace(0.0, 1.0, 7)
    s = 0.0
    for x in numbers(M):
        for i in range(7):
            s += a[i] * x
    return s, x, i


def case_else_and_continue():
    s = 0.0
    for x in numbers():
        if x % 2 == 0:
            continue
        s += x
    else:
        s = -s
    return s, x


def case_empty():
    out = []
    for n in (0, 1, 2, N, 0, N, 1):
        out.append(add_up(numbers(n)))
        out.append(add_up(dict.fromkeys(range(n))))
        out.append(pairs(itertools.product(range(n), range(2))))
    return out


def case_unpack_nested():
    s = 0.0
    for i, (x, (y, z)) in ((k, (k * 0.5, (k + 1, k - 1))) for k in range(N)):
        s = s * 0.5 + i * x - y * z
    return s, i, x, y, z


def case_unpack_wrong_length():
    s = 0.0
    out = []
    try:
        for x, y in ((k, 1) if k < N - 3 else (k, 1, 2) for k in range(N)):
            s += x * y
    except ValueError as e:
        out.append(str(e))
    return s, x, y, out


def case_unpack_starred():
    s = 0.0
    for x, *rest in ((k, 1, 2) for k in range(N)):
        s += x * len(rest)
    return s, x, rest


def case_target_is_an_item():
    a = np.zeros(5)
    b = [0, 0]
    for a[2] in numbers():
        a[0] += a[2]
    for b[1] in numbers():
        b[0] += 1
    return a, b


def case_types_change():
    return add_up(k if k % 5 else k + 0.5 for k in range(N)), add_up([1, 2.5, True, np.float32(3)][k % 4] for k in range(N))


def case_item_is_kept():
    last, out = None, []
    for x in (k * 0.5 for k in range(N)):
        if x % 8 == 0:
            last = x
            out.append(x)
    return last, out, last is out[-1], x


# ------------------------------------------------------------------------------------------------- dictionaries and sets

def table(n=N):
    return {f"k{i}": i * 0.5 for i in range(n)}


def case_dict_keys():
    d = {i * 3: i for i in range(N)}
    s = 0
    for k in d:
        s += k * d[k]
    return s, k


def case_dict_values():
    return add_up(table().values())


def case_dict_items():
    s, n = 0.0, 0
    for k, v in table().items():
        s += v
        n += len(k)
    return s, n, k, v


def case_dict_items_as_tuples():
    s, kept = 0.0, []
    for t in {i: i * 0.25 for i in range(N)}.items():
        s += t[0] * t[1]
        kept.append(t)
    return s, t, kept[:3], len(set(map(id, kept)))


def case_dict_reversed():
    d = {i: i * 0.5 for i in range(N)}
    return add_up(reversed(d)), add_up(reversed(d.values())), pairs(reversed(d.items()))


def case_dict_values_change():
    d = {i: i * 0.5 for i in range(N)}
    s = 0.0
    for k in d:
        d[k] = d[k] + 1.0
        s += d[k]
    return s, d


def case_dict_grows():
    d = {i: i * 0.5 for i in range(N)}
    s, out = 0.0, []
    for view in (d, d.values()):
        try:
            for k in view:
                s += k
                if k == N - 10:
                    d[-len(d) - 1] = s
        except RuntimeError as e:
            out.append((str(e), k))
    try:
        for k, v in d.items():
            s += v
            if k == N - 5:
                del d[k]
    except RuntimeError as e:
        out.append((str(e), k, v))
    return s, out, d


def case_dict_keys_replaced():
    d = {i: i * 0.5 for i in range(N)}
    s, out = 0.0, []
    try:
        for k in d:
            s += k
            v = d.pop(k)
            d[k + 10 * N] = v
    except RuntimeError as e:
        out.append((str(e), k))
    return s, out, k


def case_dict_identity():
    keys = [float(k) for k in range(1000, 1000 + N)]
    d = dict.fromkeys(keys, 2.5)
    n, last = 0, None
    for k in d:
        if k % 2:
            last = k
    for i, k in enumerate(d):
        n += k is keys[i]
    return n, last is keys[-1] or last is keys[-2], k is keys[-1]


def case_dict_of_arrays():
    d = {k: np.full(4, float(k)) for k in range(M)}
    s = 0.0
    for k, a in d.items():
        for i in range(4):
            s += a[i] * k
        a[0] = s
    return s, k, a, d[1]


def case_inner_dict():
    weights = {0: 0.5, 1: 0.25, 2: 0.125}
    s = 0.0
    for i in range(M):
        for k in weights:
            s += weights[k] * i
        for k, w in weights.items():
            s -= w * k
    return s, i, k, w


def case_defaultdict_and_ordered():
    d = collections.defaultdict(float, {i: 1.5 * i for i in range(N)})
    o = collections.OrderedDict((i, 0.5 * i) for i in range(N))
    return add_up(d), pairs(o.items()), add_up(o.values()), pairs(collections.Counter("abc" * N).items()) if False else len(d)


def case_set():
    return add_up({k * 5 % 1009 for k in range(N)}), add_up(frozenset(range(N)))


def case_set_grows():
    s, out = 0, []
    numbers_seen = set(range(N))
    try:
        for k in numbers_seen:
            s += k
            if k == N - 4:
                numbers_seen.add(-1)
    except RuntimeError as e:
        out.append((str(e), k))
    return s, out


def case_sources_go_at_the_end():
    log = []

    class Loud:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            log.append((self.name, float(TRACE[0])))
    trace = TRACE
    for i in range(M):
        trace[0] = i
        for x in itertools.chain([1.0, 2.0], (k for k in (3.0, 4.0)) if i % 3 == 0 else [5.0, 6.0]):
            trace[0] += x
        trace[0] += 1
        for k in {1.0: Loud("value")}:
            trace[0] += k
        trace[0] += 1
    return log[:20], len(log)


TRACE = np.zeros(1)


# ------------------------------------------------------------------------------------------------- itertools and others

def case_itertools():
    floats = [k * 0.5 for k in range(N)]
    return [
        add_up(itertools.islice(itertools.count(), N)), add_up(itertools.islice(itertools.count(0.5, 0.25), 3, N, 2)),
        add_up(itertools.repeat(1.5, N)), add_up(itertools.islice(itertools.repeat(2), N)), pairs(itertools.product(range(N), (0.5, 2))),
        pairs(itertools.combinations(range(30), 2)), pairs(itertools.permutations(floats[:20], 2)), pairs(itertools.combinations_with_replacement(range(20), 2)),
        add_up(itertools.chain(floats, range(N), (1, 2.5), {3.5, 4.5})), add_up(itertools.chain.from_iterable([floats, range(5)])),
        add_up(itertools.accumulate(floats)), add_up(itertools.accumulate(range(N), operator.xor)), pairs(itertools.pairwise(floats)),
        add_up(itertools.islice(itertools.cycle((1, 2, 3.5)), N)), pairs(itertools.zip_longest(floats, range(N // 2), fillvalue=-1)),
        add_up(itertools.takewhile(lambda v: v < N // 3, floats)), add_up(itertools.dropwhile(lambda v: v < N // 3, floats)),
        add_up(itertools.starmap(pow, ((k, 2) for k in range(N)))), add_up(itertools.compress(floats, [1, 0, 1] * N)),
        add_up(filter(None, floats)), add_up(filter(lambda v: v % 3, floats)), add_up(itertools.filterfalse(None, floats)), add_up(map(float, range(N))),
    ]


def case_count_with_break():
    s = 0.0
    for k in itertools.count(5):
        s = s * 0.5 + k
        if k == 5 + N:
            break
    return s, k


def case_count_beyond_64_bits():
    s = 0
    for k in itertools.count(2**63 - N // 2):
        s ^= k
        if k == 2**63 + N // 2:
            break
    return s, k


def case_repeat_identity():
    x = 1234.5
    s, n = 0.0, 0
    for y in itertools.repeat(x, N):
        s += y
    for z in itertools.chain([x] * N):
        s += z
        n += z is x
    return s, y is x, z is x, n


def case_product_of_three():
    s = 0.0
    for i, j, k in itertools.product(range(7), range(5), range(N // 10 + 1)):
        s = s * 0.5 + i * j - k
    return s, i, j, k


def case_inner_product():
    s = 0.0
    for i in range(M):
        for j, k in itertools.product((0.5, 1.5), range(2)):
            s += i * j - k
    return s, i, j, k


def case_chain_of_changed_list():
    a = [1.0] * N
    s = 0.0
    for x in itertools.chain(a, a):
        s += x
        if s < N / 2:
            a.append(s)
        a[0] = s
    return s, len(a), x, a[0]


def case_enumerate_of_others():
    d = table()
    return pairs(enumerate(numbers())), pairs(enumerate(d.values())), pairs(zip(d.values(), itertools.count())), pairs(zip(itertools.count(), numbers()))


def case_enumerate_of_dict_items():
    s = 0.0
    for i, (k, v) in enumerate(table().items()):
        s += i * v
    return s, i, k, v


def case_flat_and_numpy():
    a = np.arange(N * 2.0).reshape(2, N)
    s = 0.0
    for x in a.flat:
        s = s * 0.5 + x
        a[1, 0] = s
    for (i, j), x in np.ndenumerate(a):
        s += i * x - j
    for i, j in np.ndindex(2, N):
        s += a[i, j] * i
    for x in np.nditer(a):
        s += float(x)
    return s, i, j, x, a


def case_views_of_other_sequences():
    return (add_up(bytearray(range(M % 256))), add_up(memoryview(bytes(range(M % 256)))), add_up(collections.deque(range(N))),
            add_up(reversed(collections.deque(range(N)))), len([c for c in "äöü" * N]))


def case_text_file():
    s, n = 0.0, 0
    for line in io.StringIO("\n".join(f"{k},{k * 0.5}" for k in range(N))):
        a, b = line.split(",")
        s = s * 0.5 + float(b)
        n += int(a)
    return s, n, line


def case_csv():
    s = 0.0
    w = np.linspace(0.0, 1.0, 3)
    for row in csv.reader(io.StringIO("\n".join(f"{k},{k * 0.5},3" for k in range(M)))):
        for i in range(3):
            s += float(row[i]) * w[i]
    return s, row


def case_iter_with_sentinel():
    values = iter(range(N))
    return add_up(iter(lambda: next(values), N - 3))


def case_getitem_only():
    class Old:
        def __getitem__(self, k):
            if k >= N:
                raise IndexError
            return k * 0.5
    return add_up(Old())


def case_consumers():
    a = [k * 0.5 for k in range(N)]
    return sum(x * x for x in a), min(x - 3 for x in a), any(x > N for x in a), all(x >= 0 for x in a), [y for y in (x + 1 for x in a)][-1], max(a)


def case_stop_iteration_in_a_generator():
    def gen():
        for k in range(N):
            if k == N - 2:
                next(iter(()))
            yield k
    try:
        return add_up(gen())
    except RuntimeError as e:
        return str(e), type(e.__cause__)


def case_return_from_inside():
    def f():
        s = 0.0
        for x in numbers():
            s += x
            if s > N:
                return s, x
        return s
    return f(), f()


def case_nested_generators():
    s = 0.0
    for x in numbers(M):
        for y in numbers(3):
            s += x * y
    return s, x, y


def case_weird_items():
    s = 0
    for x in (None if k % 3 else "text" for k in range(N)):
        s += x is None
    out = []
    for x in ([k] for k in range(N)):
        s += len(x)
        if x[0] % 16 == 0:
            out.append(x)
    return s, x, out


def case_ndenumerate():
    a = np.arange(N * 2.0).reshape(N, 2)
    s = 0.0
    for (i, j), x in np.ndenumerate(a):
        s = s * 0.5 + i * x - j
        a[i - 1, j] += s * 1e-3
    for index, x in np.ndenumerate(a.T):
        s += x * index[0]
    for (i,), y in np.ndenumerate(np.arange(N)):
        s += i * y
    return s, i, j, x, y, index, a


def case_ndenumerate_of_other_layouts():
    a = np.arange(N * 6.0).reshape(N, 2, 3)
    out = []
    for view in (a[::2], a.T, a[:, :, 0], np.asfortranarray(a), a[5, 1, 2], a.astype("f4"), a[:0]):
        s = 0.0
        for index, x in np.ndenumerate(view):
            s = s * 0.5 + x + len(index)
        out.append(s)
    return out


def case_ndindex():
    a = np.arange(N * 3.0).reshape(N, 3)
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s = s * 0.5 + a[i, j] * j
        a[i, j] = s
    for index in np.ndindex(N, 2):
        s += a[index[0], index[1]]
    for (i,) in np.ndindex(N):
        s += i
    for none in np.ndindex():
        s += len(none)
    return s, i, j, index, none, a


def case_ndenumerate_held():
    a = np.arange(float(N))
    it = np.ndenumerate(a)
    s = 0.0
    for (i,), x in it:
        s += x
        if i == N // 2:
            break
    for (i,), x in it:
        s -= x
    return s, i, x, list(it)


def case_subclass_of_ndenumerate():
    class Own(np.ndenumerate):
        def __next__(self):
            index, x = super().__next__()
            return index[0], x * 2
    return pairs(Own(np.arange(float(N))))


def case_zip_ends_in_the_middle():
    first, second = iter(range(3 * N)), iter(range(N))
    s = 0
    for x, y in zip(first, second):
        s += x * y
    return s, x, y, next(first), list(second)


def case_strict_zip_raises():
    out = []
    for n, m in ((N, N - 1), (N - 1, N), (N, N)):
        first = iter(range(n))
        s = 0
        try:
            for x, y in zip(first, itertools.islice(itertools.count(), m), strict=True):
                s += x * y
        except ValueError as e:
            out.append(str(e))
        out.append((s, x, y, next(first, None)))
    return out


def case_strict_zip_of_seven():
    s = 0
    for row in zip(*[range(N + k // 6) for k in range(7)], strict=True):
        s += row[0] * row[6]
    return s


def case_enumerated_items():
    d = {k: (k * 0.5, k + 1) for k in range(N)}
    s = 0.0
    for i, (k, (x, y)) in enumerate(d.items()):
        s = s * 0.5 + i * k + x * y
    for i, t in enumerate(zip(d, d.values())):
        s += t[1][0] * i
    return s, i, k, x, y, t


def case_many_items():
    s = 0
    for k in range(3):
        for x in itertools.chain(range(300, 300 + 20 * N), range(N)):
            s = (s * 3 + x) % 1000003
        for x, y in zip(itertools.count(1000), (v * 0.5 for v in range(N))):
            s += x
    return s, x, y


def case_break_closes_before_what_follows():
    a = np.zeros(M + 1)
    log = []

    def gen(i):
        try:
            for k in range(4):
                yield k
        finally:
            log.append((i, a[i], a[i - 1]))
    for i in range(M):
        a[i] = 1.0
        for k in gen(i):
            a[i] += k
            if k == i % 5:
                break
        a[i] = -5.0
    return log, a


def case_list_items_and_stores():
    a = [k * 0.5 + 1000 for k in range(N)]
    it = iter(a)
    kept = last = 0.0
    n = 0
    for x in it:
        n += 1
        a[n - 1] = x + 1.0
        if n % 7 == 0:
            kept = x
        last = last * 0.5 + kept
        if n > 3:
            a[n - 3] = last
    return a, kept, last, x


def case_dict_items_stay():
    d = {k: k * 0.5 for k in range(1000, 1000 + N)}
    previous, same = None, 0
    for k, v in d.items():
        if previous is not None and v > previous:
            same += 1
        if k % 3:
            previous = v
        d[k] = -v
    return previous, same, k, v, d[1000]


def case_inner_loop_first_runs_late():
    # While recording the inner loop ran no trip.
    v = 1
    out = []
    b = np.ones(4)
    for p in [0] * N + [1, 2, 3]:
        for i in range(p):
            if not b[p]:
                out.append(p)
            else:
                v -= 1
        if p:
            out.append(v)
    for p in [0] * N + [1, 2, 3]:
        for x in b[:p]:
            v += x
        for k, x in enumerate(b[:p]):
            v += x * k
        if p:
            out.append(v)
    return v, out
