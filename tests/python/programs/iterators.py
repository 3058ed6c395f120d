"""enumerate, zip, reversed and their nests over ranges and arrays: values, what is left after the loop, sharing."""
import numpy as np

N = TRIPS
M = min(N, 300)  # for nests whose trips are a square


def floats(n=N):
    return np.linspace(-2.0, 3.0, n)


def case_enumerate_array():
    s = 0.0
    for i, x in enumerate(floats()):
        s += i * x
    return s, i, x


def case_enumerate_index_back():
    a = floats()
    b = np.zeros(N)
    for i, x in enumerate(a):
        b[i] = x + a[i - 1]
    return b, i, x


def case_enumerate_from():
    out = []
    for first in (1, -5, 10**6):
        s = 0
        for i, k in enumerate(range(3, N), first):
            s += i * k
        out.append((s, i, k))
    return out


def case_enumerate_start_keyword():
    s = 0
    for i, k in enumerate(range(N), start=7):
        s += i - k
    return s, i, k


def case_enumerate_np_start():
    s = 0
    for i, x in enumerate(floats(), np.int64(3)):
        s += i
    return s, type(i)


def case_enumerate_bool_start():
    s = 0
    for i, x in enumerate(floats(), True):
        s += i
    return s, type(i)


def case_enumerate_near_the_limit():
    out = []
    for first in (2**62, 2**63 - N // 2, 2**63 - 1, 2**63, 2**70, -2**63, -2**63 - 3):
        last = 0
        for i, k in enumerate(range(N), first):
            last = i ^ k
        out.append((last, i, k))
    return out


def case_enumerate_near_the_limit_inner():
    out = []
    for first in (2**62, 2**63 - 4, 2**63 - 1, -2**63):
        last = 0
        for rounds in range(N):
            for i, k in enumerate(range(7), first):
                last = i + k
        out.append((last, i, k))
    return out


def case_enumerate_steps():
    out = []
    for r in (range(0, 3 * N, 3), range(N, -N, -2), range(N, 0, -1), range(5, 5), range(N, 0)):
        s = 0
        for i, k in enumerate(r):
            s += i * k + 1
        out.append(s)
    return out


def case_enumerate_pair_kept():
    last = None
    for pair in enumerate(floats()):
        last = pair
    return pair, last, type(pair)


def case_enumerate_of_enumerate():
    s = 0
    for i, (j, x) in enumerate(enumerate(range(2, N), 10), 100):
        s += i * 3 + j * 5 + x
    return s, i, j, x


def case_enumerate_deep():
    s = 0
    for i, (j, (k, (l, x))) in enumerate(enumerate(enumerate(enumerate(range(N))))):
        s += i + j + k + l + x
    return s


def case_zip_arrays():
    a, b = floats(), np.arange(N)
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    return s, x, y


def case_zip_lengths():
    out = []
    for p, q, r in ((N, N - 3, N + 2), (N - 3, N, N), (N, N, N - 5), (0, N, N), (N, 0, N), (N, N, 0), (1, N, N), (N, 2, 1)):
        s = x = y = z = 0
        for x, y, z in zip(range(p), floats(q), np.arange(r)):
            s += x + z
        out.append((s, x, y, z))
    return out


def case_zip_one():
    s = 0
    for (x,) in zip(range(N)):
        s += x
    return s, x


def case_zip_none():
    for x in zip():
        return x
    return "nothing"


def case_zip_steps():
    s = []
    for x, y in zip(range(0, 4 * N, 4), range(7 * N, 0, -7)):
        s.append(x * y)
    t = 0
    for x, y, z in zip(range(0, 4 * N, 4), range(7 * N, 0, -7), range(N, 0, -1)):
        t += x * y - z
    return s, t, x, y, z


def case_zip_steps_native():
    t = 0
    for rounds in range(5):
        for x, y in zip(range(0, 5 * N, 5), range(7 * N, 0, -7)):
            t += x * y - rounds
    return t, x, y, rounds


def case_zip_unknown_steps():
    t = 0
    for step in (1, 2, 3, -1, -2, 7):
        for x, y in zip(range(0, step * N, step), range(N // 2)):
            t += x * y
        for i, x in enumerate(range(N * step, 0, -step)):
            t -= i * x
    return t, x, y, i


def case_zip_nested():
    a, b, c = floats(), np.arange(N - 2), np.arange(2 * N)[::-1]
    s = 0
    for i, (x, (j, y), z) in enumerate(zip(a, enumerate(b, 3), c)):
        s += i + j * y - z
    return s, i, x, j, y, z


def case_zip_strict():
    out = []
    for n in (N, N - 1):
        s = 0
        try:
            for x, y in zip(range(N), range(n), strict=True):
                s += x * y
        except ValueError as e:
            out.append(str(e))
        out.append((s, x, y))
        for x, y in zip(range(N), range(n), strict=False):
            s += x - y
        out.append((s, x, y))
    return out


def case_reversed_range():
    out = []
    for r in (range(N), range(3, N, 4), range(N, 3, -5), range(0), range(5, 2), range(N, 0, -1), range(2, 3)):
        s = i = 0
        for i in reversed(r):
            s = s * 3 % 1000 + i
        out.append((s, i))
    return out


def case_reversed_inner():
    t = 0
    for n in range(M):
        for i in reversed(range(n)):
            t = (t * 3 + i) % 10007
        for i in reversed(range(n, -n, -3)):
            t = (t * 5 + i) % 10007
    return t, i


def case_reversed_array():
    a = np.arange(N)
    t = 0
    for x in reversed(a):
        t = (t * 3 + int(x)) % 1009
    for i, x in enumerate(reversed(a[::2])):
        t = (t * 3 + int(x) - i) % 1009
    for x, y in zip(reversed(a), a):
        t = (t * 3 + int(x) * int(y)) % 1009
    return t, x, y, i


def case_reversed_while_stored():
    a = np.arange(N)
    for i, x in enumerate(reversed(a)):
        a[i] = x
    b = np.arange(N)
    for i, x in enumerate(b):
        b[N - 1 - i] = x + 1
    return a, b


def case_negative_strides_and_read_only():
    a = np.arange(3 * N)[::-3]
    b = floats()
    b.flags.writeable = False
    s = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        s += x * y - i
    return s, i, x, y


def case_empty_arrays():
    s = 0
    for rounds in range(N):
        for i, x in enumerate(np.zeros(0)):
            s += 1
        for x, y in zip(np.zeros(rounds % 3), np.ones(2)):
            s += int(y)
    return s, x, y


def case_break_keeps_nothing():
    a = np.arange(N)
    s = 0
    for i, x in enumerate(a):
        if x == N - 4:
            break
        s += i
    return s, i, x


def case_continue_where_it_was():
    out = []
    for make in (lambda: iter(range(N)), lambda: enumerate(np.arange(N)), lambda: zip(range(N), np.arange(2 * N)),
                 lambda: reversed(np.arange(N)), lambda: iter(floats()), lambda: reversed(range(N)),
                 lambda: enumerate(zip(range(N), reversed(np.arange(N))), 5)):
        it = make()
        for x in it:
            if repr(x).find(str(N // 2)) >= 0:
                break
        out.append((x, next(it), next(it), list(it), list(it)))
    return out


def case_two_loops_one_iterator():
    it = enumerate(np.arange(N))
    s = 0
    for i, x in it:
        s += x
        if i == N // 2:
            break
    for i, x in it:
        s -= x
    return s, i, x, list(it)


def case_component_held():
    a = iter(np.arange(N))
    z = zip(a, range(N // 3))
    s = 0
    for x, y in z:
        s += x * y
    return s, x, y, list(a), list(z)


def case_component_advanced_by_one():
    rest = []
    for lengths in ((N, N - 3), (N - 3, N), (N, N)):
        p, q = iter(range(lengths[0])), iter(np.arange(lengths[1]))
        s = 0
        for x, y in zip(p, q):
            s += int(y) - x
        rest.append((s, x, y, list(p), list(q)))
    return rest


def case_zip_with_itself():
    it = iter(range(N))
    s = 0
    for x, y in zip(it, it):
        s += x * y
    jt = iter(np.arange(N - 1))
    for x, y in zip(jt, jt):
        s -= x * y
    return s, x, y


def case_iterator_advanced_inside():
    it = iter(range(N))
    s = 0
    for x in it:
        s += x
        if x % 3 == 0:
            s += 1000 * next(it, 0)
    return s, x


def case_inner_iterators_left_early():
    a = np.arange(M)
    s = 0
    for k in range(M):
        for i, (x, y) in enumerate(zip(a, range(k, M))):
            if x + y > M:
                break
            s += i
        else:
            s += 1000
    return s, i, x, y, k


def total(pairs, limit):
    s = 0
    for i, x in pairs:
        if i > limit:
            return s + x
        s += i * x
    return s


def case_iterator_as_argument():
    a = np.arange(M)
    out = []
    for limit in range(M):
        it = enumerate(a)
        out.append(int(total(it, limit)))
        out.append(len(list(it)))
    return out


def case_iterator_straight_as_argument():
    a = np.arange(M)
    s = 0
    for limit in range(M):
        s += total(enumerate(a), limit)
    return s


def case_walrus():
    s = 0
    for rounds in range(N):
        for i, x in (it := enumerate(range(5))):
            s += i * x
            if i == 2:
                break
    return s, list(it)


def case_error_inside():
    a = floats()
    b = np.zeros(N - 2)
    for i, x in enumerate(a):
        b[i] = 1 / (x + 10)
    return b


def case_error_not_iterable():
    s = 0
    for k in range(N):
        for i, x in enumerate(5 if k == N - 2 else range(3)):
            s += i
    return s


def case_wrong_unpacking():
    s = 0
    for i, j, k in zip(range(N), range(N)):
        s += i
    return s


def case_nonlocal_types():
    s = 0
    for i, x in enumerate(np.arange(N, dtype=np.uint8)):
        s = s + x
    t = 0
    for x, y in zip(np.arange(N, dtype=np.int32), np.arange(N, dtype=np.float32)):
        t = t + x * y
    u = 0
    for i, x in enumerate(np.arange(N) % 3 == 0):
        if x:
            u += i
    return s, type(s), t, type(t), u


def case_module_like_swap():
    a, b = np.arange(N), np.arange(N) * 2
    s = 0
    for rounds in range(5):
        for i, (x, y) in enumerate(zip(a, b)):
            s += x - y * i
        a, b = b, a
    return s


def case_map_and_filter():
    s = 0
    for x in map(abs, range(-N, N)):
        s += x
    for x in filter(None, range(N)):
        s += x
    for i, x in enumerate(map(float, range(N))):
        s += i * x
    return s


def case_lists_and_others():
    s = 0
    for i, x in enumerate([k * 2 for k in range(N)]):
        s += i * x
    for x, y in zip(tuple(range(N)), {k: k for k in range(N)}):
        s += x * y
    for x in reversed([1] * N):
        s += x
    return s
