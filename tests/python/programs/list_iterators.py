"""Loops over lists and tuples: items of one type and of several, lists that change while they are walked over, compound iterators."""
import numpy as np

N = TRIPS


def floats():
    return [k * 0.5 - 3 for k in range(N)]


def case_sum():
    s = 0.0
    for x in floats():
        s += x
    return s, x


def case_ints():
    s = 0
    for x in list(range(N)):
        s = (s * 3 + x) % 10007
    return s, x


def case_tuple():
    s = 0
    for x in tuple(range(N)):
        s = (s * 3 + x) % 10007
    return s, x


def case_enumerate_and_zip():
    a, b, c = floats(), tuple(range(N)), np.arange(N)
    s = 0.0
    for i, x in enumerate(a):
        s += i * x
    for x, y, z in zip(a, b, c):
        s += x * y - z
    for i, (x, y) in enumerate(zip(b, reversed(a)), 3):
        s += i * x * y
    for i, x in enumerate(a):
        a[i] = x + i
    return s, i, x, y, z, a


def case_reversed():
    s = 0.0
    for x in reversed(floats()):
        s = s * 0.5 + x
    for x in reversed(tuple(range(N))):
        s = s * 0.5 + x
    return s, x


def case_inner():
    a = floats()[:200]
    t = (1, 2, 3)
    s = 0.0
    for k in range(N):
        for x in a:
            s += x * k
        for i, j in enumerate(t):
            s -= i * j
        for x, j in zip(a, t):
            s += x * j
        for x in reversed(a):
            s = s * 0.5 + x
    return s, x, i, j


def case_known_tuple():
    s = 0
    for k in range(N):
        for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            s = (s * 3 + dx * k + dy) % 1009
        for w in (0.25, 0.5, 0.25):
            s += w
        for q in 2, 3, 5:
            s += q
    return s, dx, dy, w, q


def case_known_tuple_identity():
    ws = (1000.5, 2000.5, 1000.5)
    for k in range(N):
        for w in ws:
            last = w
    return last is ws[2], w is ws[2]


def case_nested_lists():
    table = [[i * j * 0.5 for j in range(5)] for i in range(N)]
    s = 0.0
    for row in table:
        for x in row:
            s += x
    for i, row in enumerate(table):
        for j, x in enumerate(row):
            s += i * x - j
            row[j] = x + 1
    for p, q in zip(table, table[1:]):
        for x, y in zip(p, q):
            s += x * y
    return s, table, row is table[-1], i, j, x, y


def case_pairs():
    pairs = [(k, k * 0.5) for k in range(N)]
    s = 0.0
    for a, b in pairs:
        s += a * b
    for i, (a, b) in enumerate(pairs):
        s -= a * b * i
    return s, a, b, i


def case_items_are_the_objects():
    a = [float(k) + 0.5 for k in range(N)]
    for i, x in enumerate(a):
        y = x
    return x is a[-1], y is a[-1], [p is q for p, q in zip(a, list(a))] == [True] * N


def case_types_change():
    s = 0
    for x in [k if k % 7 else k * 0.5 for k in range(N)]:
        s += x
    for x in [True, 2, 3.5, np.float64(2.5), np.int64(4)] * (N // 4):
        s += x
    return s, x


def case_strings_and_none():
    n = m = 0
    for x in [None, 1, 2, None] * (N // 4):
        if x is None:
            n += 1
        else:
            m += x
    for word in ["a", "bc", "def"] * (N // 4):
        n += len(word)
    return n, m, x, word


def case_arrays_in_list():
    arrays = [np.arange(4) * k for k in range(N)]
    s = 0
    for a in arrays:
        s += int(a[1]) + int(a[-1])
    return s, a is arrays[-1]


def case_grows_while_walked():
    a = [1.0, 2.0]
    n = 0
    for x in a:
        n += 1
        if n < N:
            a.append(x + 1)
    return n, x, len(a)


def case_grows_while_walked_inside():
    total = 0
    for k in range(N):
        a = [1, 2]
        n = 0
        for i, x in enumerate(a):
            n += 1
            if n < 20:
                a.append(x + 1)
        total += n * x + i
    return total, n, x, i


def case_shrinks_while_walked():
    a = list(range(N))
    n = 0
    for x in a:
        n += x
        if x % 3 == 0:
            a.pop()
    b = list(range(N))
    for x in b:
        n += x
        if x == N // 2:
            b.clear()
    c = list(range(N))
    for x in reversed(c):
        n += x
        if x % 5 == 0:
            del c[-2:]
    return n, x, a, b, c


def case_grows_elsewhere():
    a, b = floats(), []
    for x in a:
        b.append(x * 2)
    for i, x in enumerate(b):
        if i % 2:
            a.append(x)
    return a, b


def case_zip_with_growing():
    a, b = [1, 2, 3], list(range(N))
    s = 0
    for x, y in zip(a, b):
        s += x * y
        a.append(x + y)
    for x, y in zip(b, a):
        s += x * y
        if len(a) < 2 * N:
            a.append(1)
    return s, a, x, y


def case_items_replaced():
    a = floats()
    for i, x in enumerate(a):
        a[i - 1] = x * 2
        if i + 3 < N:
            a[i + 3] = x
    return a, i, x


def case_break_and_go_on():
    a = floats()
    it = iter(a)
    s = 0.0
    for x in it:
        if x > 5:
            break
        s += x
    rest = list(it)
    for i, x in enumerate(a):
        if x > 5:
            break
    return s, rest, i, x


def case_exhausted_stays_out():
    a = list(range(N))
    it = iter(a)
    for x in it:
        pass
    a.append(1)
    return list(it), x


def case_empty():
    s = 0
    for k in range(N):
        for x in []:
            s += 1
        for x in ():
            s += 1
        for i, x in enumerate([]):
            s += 1
    return s


class Numbers(list):
    def __iter__(self):
        return iter([7, 8])


class Plain(list):
    pass


def case_subclasses():
    s = 0
    for k in range(N):
        for x in Numbers([1, 2, 3]):
            s += x
    for x in Plain(range(N)):
        s += x
    return s, x


def case_big_ints():
    s = 0
    for x in [2**70, 2**62, -2**63, 2**63, 5] * (N // 4):
        s = (s + x) % 1000003
    return s, x


def case_raises_inside():
    a = [1, 2, 0, 4] * (N // 4) + [0]
    s = 0.0
    for i, x in enumerate(a):
        if x or i > N - 2:
            s += 1 / x
    return s


def total(items):
    s = 0
    for x in items:
        s += x
    return s


def case_as_argument():
    a, t = list(range(7)), (1.5, 2.5)
    s = 0
    for k in range(N):
        s += total(a) + total(t)
    return s
