"""Elements of lists and tuples: kinds, identity, negative and bad indices, stores of every kind, nesting, aliasing, lengths, type changes."""
import math

import numpy as np

N = TRIPS


def floats(n=N):
    return [k * 0.5 + 0.1 for k in range(n)]


def ints(n=N):
    return [(k * 7) % 11 - 3 for k in range(n)]


def ids(a, *others):
    """Which of the others each item is."""
    return [[k for k, o in enumerate(others) if o is x] for x in a]


def case_sum_floats():
    a = floats()
    s = 0.0
    for i in range(N):
        s += a[i] * a[-i - 1]
    return s


def case_sum_ints():
    a = ints()
    s = 0
    for i in range(N):
        s += a[i] * i
    return s


def case_big_ints():
    a = [2 ** 29, 2 ** 30 - 1, 2 ** 30, 2 ** 31, -2 ** 30, 2 ** 59, 2 ** 60 - 1, 2 ** 60, -2 ** 60, 2 ** 62, 2 ** 63 - 1, -2 ** 63 + 1, -2 ** 59 - 1, 0, -1, 1]
    s = 0
    for i in range(N):
        x = a[i % 16]
        s = (s ^ x) & 0xFFFFFF
        y = x
    return s, x, y


def case_too_big_ints():
    a = [2 ** 63, -2 ** 63, 2 ** 64, 2 ** 100, -2 ** 200, 5, 6, 7]
    s = 0
    for i in range(N):
        s = (s + a[i % 8]) % 1000003
    return s


def case_bools_complex_numpy():
    flags = [k % 3 == 0 for k in range(N)]
    z = [complex(k, -k) for k in range(N)]
    h = [np.float64(k * 0.25) for k in range(N)]
    g = [np.int32(k - 9) for k in range(N)]
    f = [np.float32(k * 0.1) for k in range(N)]
    s, c, t, n = 0j, 0, 0.0, 0
    for i in range(N):
        if flags[i]:
            c += 1
        s += z[i]
        t = t + h[i] * f[i]
        n = n + g[i]
    return s, c, t, n, type(t), type(n)


def case_none_items():
    a = [None] * N
    c = 0
    for i in range(N):
        if a[i] is None:
            c += 1
    return c


def case_mixed_items():
    a = [1, 2.5, True, 3j, np.float64(0.5), np.int8(3)] * (N // 6 + 1)
    s = 0
    for i in range(N):
        s = s + a[i]
    return s, type(s)


def case_int_then_float():
    a = [0] * N
    for i in range(0, N, 2):
        a[i] = i * 0.5
    s = 0
    for i in range(N):
        s += a[i]
    return s


def case_index_error_high():
    a = floats(N - 6)
    s = 0.0
    for i in range(N):
        s += a[i]
    return s


def case_index_error_low():
    a = floats(N - 6)
    s = 0.0
    for i in range(N):
        s += a[-i - 1]
    return s


def case_store_index_error():
    a = floats(N - 6)
    for i in range(N):
        a[i] = i * 2.0
    return a


def case_empty_list():
    a = []
    s = 0.0
    try:
        for i in range(N):
            s += 1.0
            s += a[i]
    except IndexError as e:
        return s, str(e)


def case_index_kinds():
    a = floats()
    k = np.int64(3)
    u = np.uint8(2)
    s = 0.0
    for i in range(N):
        s += a[k] + a[u] + a[True] + a[i == 4]
    return s


def case_float_index():
    a = floats()
    s = 0.0
    for i in range(N):
        x = i * 1.0 if i == N - 3 else i
        s += a[x]
    return s


def case_store_floats():
    a = floats()
    for i in range(N):
        a[i] = a[i] * 2.0 + i
    return a


def case_store_floats_shared():
    x = 1.5
    a = [x] * N
    b = list(a)
    for i in range(N):
        a[i] = a[i] + i
    return a, b, x


def case_store_keeps_old():
    a = floats()
    old = []
    last = None
    for i in range(N):
        x = a[i]
        a[i] = x * 2.0
        last = x
    return a, last, x, old


def case_store_ints():
    a = ints()
    for i in range(N):
        a[i] = a[i] * 3 + i
    return a


def case_store_small_ints_are_singletons():
    a = [1000] * N
    for i in range(N):
        a[i] = i % 5
    b = [k % 5 for k in range(N)]
    return all(x is y for x, y in zip(a, b))


def case_augmented():
    a = ints()
    b = floats()
    for i in range(N):
        a[i] += i
        b[i] *= 0.5
        b[-1] -= 0.25
    return a, b


def case_store_over_other_types():
    a = [None, True, 2, 3.0, "four", b"5", 6j, np.float64(7), np.int16(8)] * (N // 9 + 1)
    for i in range(N):
        a[i] = i * 0.5
    return a


def case_store_over_lists_and_objects():
    a = [[1], (2,), {3}, object, [4]] * (N // 5 + 1)
    for i in range(N):
        a[i] = i
    return a[:N]


def case_store_other_kinds():
    a = floats()
    t = np.float64(1.5)
    for i in range(N):
        if i % 4 == 0:
            a[i] = None
        elif i % 4 == 1:
            a[i] = i > 5
        elif i % 4 == 2:
            a[i] = t * i
        else:
            a[i] = "text"
    return a, [type(x) for x in a]


def case_identity_of_loaded():
    a = floats()
    best = a[0]
    for i in range(1, N):
        if a[i] > best:
            best = a[i]
    return best, ids(a, best)


def case_identity_of_stored():
    a = floats()
    x = 0.0
    y = 0.0
    for i in range(N):
        x = i * 0.5
        y = x
        a[i] = x
    return x is a[N - 1], y is x, a


def case_identity_of_one_stored_twice():
    a = floats()
    b = floats()
    for i in range(N):
        x = i * 1.25
        a[i] = x
        b[i] = x
    return all(p is q for p, q in zip(a, b)), x is b[-1]


def case_identity_of_two_equal():
    a = floats()
    b = floats()
    for i in range(N):
        a[i] = i * 1.25
        b[i] = i * 1.25
    return any(p is q for p, q in zip(a, b))


def case_identity_conditional():
    a = [k * 1000 + 0.5 for k in range(N)]
    b = [k * 1000 - 0.5 for k in range(N)]
    x = 0.25
    kept = x
    for i in range(N):
        if i % 3 == 0:
            x = a[i]
        elif i % 3 == 1:
            x = b[i] * 2
        b[i] = x
    return ids(b[::N // 200 + 1], *a), x is b[-1], kept, x


def case_identity_of_input():
    n = 12345.678
    a = floats()
    for i in range(N):
        a[i] = n
    return all(x is n for x in a)


def case_nan_identity():
    nan = math.nan
    a = [nan, 1.0] * N
    x = 0.0
    for i in range(N):
        x = a[2 * i]
    return x in a, [x] == [nan], x is nan


def case_swap():
    a = [k * 1000 for k in range(N)]
    b = list(a)
    for i in range(N):
        j = (i * 7) % N
        a[i], a[j] = a[j], a[i]
    return a, sorted(map(id, a)) == sorted(map(id, b))


def case_bubble_sort():
    a = [((k * 37) % 101) * 0.5 for k in range(30)]
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


def case_nested_lists():
    n = 12
    grid = [[(i * j) % 5 for j in range(n)] for i in range(n)]
    out = [[0] * n for _ in range(n)]
    for _ in range(N // 8):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                out[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) % 7
        grid, out = out, grid
    return grid, out


def case_matmul_lists():
    n = 9
    a = [[i + j * 0.5 for j in range(n)] for i in range(n)]
    b = [[i * 0.25 - j for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    for _ in range(N // 20):
        for i in range(n):
            for j in range(n):
                s = 0.0
                for k in range(n):
                    s += a[i][k] * b[k][j]
                c[i][j] = s
    return c


def case_rows_replaced():
    rows = [[1.0, 2.0], [3.0, 4.0]]
    other = [5.0, 6.0]
    s = 0.0
    for i in range(N):
        row = rows[i % 2]
        s += row[0]
        if i % 10 == 9:
            rows[i % 2] = other
            other = row
    return s, rows, other


def case_aliases():
    a = floats()
    b = a
    s = 0.0
    for i in range(N - 1):
        a[i] = s
        s += b[i] + b[i + 1]
        b[i + 1] = s * 0.5
    return a, b is a, s


def case_list_of_arrays():
    rows = [np.arange(8) * float(k) for k in range(N)]
    s = 0.0
    for i in range(N):
        r = rows[i]
        s += r[3] + r[-1]
        r[2] = i
    return s, rows


def case_list_of_arrays_that_differ():
    rows = [np.arange(8) * float(k) for k in range(N)]
    rows[N // 2] = np.arange(8)
    rows[N - 2] = rows[0][::2]
    s = 0.0
    for i in range(N):
        s = s + rows[i][3]
    return s


def case_pairs():
    pairs = [(k * 0.5, k - 3) for k in range(N)]
    s = 0.0
    for i in range(N):
        x, y = pairs[i]
        s += x * y
    return s, x is pairs[-1][0], y is pairs[-1][1]


def case_pairs_of_wrong_length():
    pairs = [(k, k + 1) for k in range(N)]
    pairs[N - 4] = (1, 2, 3)
    s = 0
    for i in range(N):
        x, y = pairs[i]
        s += x - y
    return s


def case_tuple_items():
    t = tuple(floats())
    u = (1, 2.5, 3j)
    s = 0.0
    for i in range(N):
        s = s + t[i] * u[1] - u[0]
    return s


def case_tuple_store_fails():
    t = tuple(floats())
    s = 0.0
    for i in range(N):
        s += t[i]
        if i == N - 3:
            t[i] = s
    return s


def case_len():
    a = floats()
    t = (1, 2, 3)
    s = 0
    i = 0
    while i < len(a):
        s += len(a) + len(t)
        i += 1
    return s


def case_truth():
    a = floats()
    empty = []
    c = 0
    for i in range(N):
        if a:
            c += 1
        if not empty:
            c += 10
    return c


def case_prefix_sums():
    a = ints()
    for i in range(1, N):
        a[i] = a[i] + a[i - 1]
    return a


def case_sieve():
    n = N * 3
    prime = [True] * (n + 1)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    return [k for k in range(n + 1) if prime[k]]


def case_histogram():
    counts = [0] * 10
    x = 12345
    for i in range(N):
        x = (x * 1103515245 + 12345) % 2147483648
        counts[x % 10] += 1
    return counts


def case_overflow_of_stored():
    a = [1] * 80
    for k in range(N // 40 + 1):
        for i in range(1, 80):
            a[i] = a[i - 1] * 2
    return a


def store_helper(a, i, v):
    a[i] = v
    return a[i - 1] + v


def case_store_in_callee():
    a = floats()
    s = 0.0
    for i in range(N):
        s += store_helper(a, i, i * 0.25)
    return s, a


def case_int_subclass():
    class Int(int):
        pass
    a = [Int(k) for k in range(N)]
    s = 0
    for i in range(N):
        s += a[i]
    return s


def case_list_subclass():
    class Odd(list):
        def __getitem__(self, k):
            return 7
    a = Odd(floats())
    s = 0.0
    for i in range(N):
        s += a[i]
    return s


def case_global_list():
    global table
    table = floats()
    s = 0.0
    for i in range(N):
        table[i] = table[i] + 1.0
        s += table[i]
    return s, table


def case_list_changes_in_handler():
    a = floats()
    s = 0.0
    for i in range(N * 2):
        try:
            s += a[i]
        except IndexError:
            a.extend([1.0, 2])
            s += a[i]
    return s, len(a)


def case_min_max():
    a = ints()
    b = [x * 1000.5 for x in ints()]
    lo, hi = b[0], b[0]
    for i in range(N):
        lo = min(lo, b[i])
        hi = max(hi, b[i])
    return lo, hi


def case_append():
    a = []
    b = [0]
    for i in range(N):
        a.append(i * 0.5)
        b.append(b[i] + i)
    return a, b


def case_append_kinds():
    a = []
    row = [1]
    h = np.float64(0.5)
    for i in range(N):
        a.append(i)
        a.append(row)
        a.append(None)
        a.append(h * i)
        a.append(i > 3)
        a.append("x")
    return a, all(x is row for x in a[1::6]), [type(x) for x in a[:6]]


def case_append_while_reading():
    a = [1.0]
    while len(a) < N:
        x = a[-1] * 0.5 + 1.0
        a.append(x)
    return a, x is a[-1]


def case_append_conditional():
    a = ints()
    even, odd = [], []
    for i in range(N):
        x = a[i]
        if x % 2 == 0:
            even.append(x)
        else:
            odd.append(x + 1000)
            x = odd[-1]
    return even, odd, x is odd[-1], x is even[-1]


def case_append_method_kept():
    a = []
    add = a.append
    for i in range(N):
        add(i * i)
    return a
