"""Rows of arrays of two and more dimensions: used by element, kept in variables, stored to, of any layout."""
import numpy as np

N = TRIPS
K = 7


def table(order="C"):
    return np.array(np.arange(N * K, dtype=float).reshape(N, K) % 11, order=order)


def case_rows_by_index():
    a = table()
    s = 0.0
    for row in a:
        for j in range(K):
            s += row[j] * j
    return s, row, row.base is a, row.flags.writeable


def case_rows_of_fortran_order():
    a = table("F")
    s = 0.0
    for row in a:
        s += row[0] * row[-1] + len(row)
    return s, row, row.strides


def case_rows_by_value():
    s = 0.0
    for row in table():
        for x in row:
            s = (s * 3 + x) % 1009
    return s, row, x


def case_rows_enumerated():
    a = table()
    b = np.zeros((K, N))
    for i, row in enumerate(a):
        for j, x in enumerate(row):
            b[j, i] = x * 2
    return b, i, j, x, row


def case_rows_stored_to():
    a = table()
    for i, row in enumerate(a):
        row[i % K] = -1.0
        row[-1] += i
    return a


def case_rows_read_only():
    a = table()
    a.flags.writeable = False
    out = 0
    try:
        for row in a:
            out += 1
            if out == N - 2:
                row[0] = 1
    except ValueError as e:
        return out, str(e), row


def case_row_of_subscript():
    a = table()
    s = 0.0
    for i in range(N):
        row = a[i]
        s += row[2] - row[i % K]
    return s, row, row.base is a


def case_row_index_negative_and_bad():
    a = table()
    s = 0.0
    for i in range(N):
        row = a[-i]
        s += row[-1 - i % K]
    try:
        for i in range(N + 3):
            row = a[i]
            s += row[0]
    except IndexError as e:
        return s, str(e), i, row


def case_bad_column():
    a = table()
    s = 0.0
    for row in a:
        for j in range(K + 1):
            s += row[j]
    return s


def case_chained_subscripts():
    a = table()
    s = 0.0
    for i in range(N):
        for j in range(K):
            s = (s + a[i][j] * 3) % 1009
            a[i][j] = s
    return s, a


def case_three_dimensions():
    a = np.arange(N * 3 * 4).reshape(N, 3, 4)
    s = 0
    for plane in a:
        for row in plane:
            for x in row:
                s = (s * 3 + int(x)) % 10007
        s += int(plane[1, 2]) + int(plane[2][3])
    return s, plane, row, x


def case_three_dimensions_partial():
    a = np.arange(N * 3 * 4).reshape(N, 3, 4)
    s = 0
    for i in range(N):
        row = a[i, 1]
        sub = a[i][2]
        s += int(row[3]) * int(sub[0])
    return s, row, sub, row.base is sub.base


def case_rows_with_shape():
    a = table()
    s = 0
    for row in a:
        s += row.shape[0] + row.ndim + row.size
    return s


def case_rows_zipped():
    a, b = table(), table("F")[::-1]
    s = 0.0
    for i, (p, q) in enumerate(zip(a, b)):
        for x, y in zip(p, q):
            s = (s + x * y + i) % 1009
    return s, p, q


def case_rows_reversed():
    a = table()
    s = 0.0
    for row in reversed(a):
        s = (s * 2 + row[1]) % 1009
        for x in reversed(row):
            s = (s * 2 + x) % 1009
    return s, row


def case_row_kept():
    a = table()
    best = None
    top = -1.0
    for row in a:
        if row[3] >= top:
            top = row[3]
            best = row
    return top, best, best is row, best.base is a


def case_row_from_before():
    a = table()
    row = a[3]
    s = 0.0
    for k in range(N):
        s += row[k % K]
        row = a[k]
    return s, row


def case_same_row_twice():
    a = table()
    for row in a:
        p = row
    return p is row, p.base is a


def case_same_row_twice_inside():
    a = table()[:200]
    n = 0
    for k in range(N):
        for row in a:
            p = row
        n += p is row
        n += 2 * (p is a)
    return n


def dot(p, q):
    s = 0.0
    for k in range(len(p)):
        s += p[k] * q[k]
    return s


def case_rows_as_arguments():
    a = table()
    s = 0.0
    for row in a:
        s += dot(row, a[0])
    return s


def case_row_is_seen_whole():
    a = table()
    s = 0.0
    for i, row in enumerate(a):
        if i % 16 == 15:
            s += float(row.sum())
        s += row[0]
    return s


def case_empty_rows():
    s = 0
    for row in np.zeros((N, 0)):
        for x in row:
            s += 1
        s += len(row)
    for row in np.zeros((0, 5)):
        s += 1
    return s


def case_views_of_views():
    a = np.arange(4 * N * K).reshape(2 * N, 2 * K)[::-2, 1::2]
    s = 0
    for row in a:
        s += int(row[0]) - int(row[-1])
    return s, row, row.base is a.base


def case_frombuffer():
    a = np.frombuffer(bytes(range(200)) * 2, dtype=np.uint8).reshape(100, 4)
    s = 0
    for row in a:
        s += int(row[1])
    return s, row, type(row.base)


def case_zero_dimensional():
    a = np.array(3.0)
    s = 0
    try:
        for k in range(N):
            s += k
            if k == N - 2:
                for x in a:
                    s += x
    except TypeError as e:
        return s, str(e)


def case_structured():
    a = np.zeros(N, dtype=[("x", float), ("n", int)])
    s = 0
    for i, rec in enumerate(a):
        s += i + rec["n"]
    return s
