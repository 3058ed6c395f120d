"""What names hold after loops: never bound, last value, rebound by else, deleted."""
import numpy as np

N = TRIPS


def case_unbound_after_empty():
    for k in range(N):
        pass
    for i in range(0):
        s = i
    return i


def case_unbound_conditionally():
    for i in range(N):
        if i < 0:
            never = i
    return never


def case_bound_late():
    for i in range(N):
        if i == N - 3:
            late = i * 2
    return late, i


def case_read_before_bound_raises():
    total = 0
    for i in range(N):
        if i > N - 5:
            total += missing
        if i < 0:
            missing = 1
    return total


def case_last_of_inner():
    for i in range(min(N, 400)):
        for j in range(i):
            pair = i, j
    return i, j, pair


def case_type_before_loop_kept():
    x = "text"
    for i in range(0):
        x = 1
    y = 2.5
    for i in range(N):
        if i > 2 * N:
            y = i
    return x, y


def case_first_trip_changes_type():
    run = 0
    a = np.linspace(0.5, 3, N)
    for i in range(N):
        run = run + a[i]
    return run, type(run).__name__


def case_first_trip_changes_type_zero_trips():
    out = []
    a = np.linspace(0.5, 3, N)
    for n in (N, N, 0, 1, N):
        run = 0
        for i in range(n):
            run = run + a[i]
        out.append((run, type(run).__name__))
    return out


def case_deleted_in_loop():
    for i in range(N):
        t = i
        del t
    try:
        return t
    except NameError as e:
        return str(e)


def case_deleted_then_read_raises():
    s = 0
    t = 0
    for i in range(N):
        s += t
        if i == N - 7:
            del t
    return s


def case_loop_variable_deleted():
    s = 0
    for i in range(N):
        s += i
        if i % 5 == 0:
            del i
        else:
            s -= i
    return s


def case_many_live_out():
    a = b = c = d = 0
    e = f = 0.0
    g = 1j
    h = False
    for i in range(N):
        a += i
        b -= a
        c ^= i
        d = a if i % 2 else b
        e += 0.1 * i
        f = e - f
        g = g * 0.5 + i
        h = i % 3 == 0
    return locals()


def case_swap_rotate():
    a, b, c = 1, 2.0, 3
    for i in range(N):
        a, b, c = b, c, a
    return locals()


def case_tuple_packed():
    t = (0, 0)
    for i in range(N):
        t = (t[1], i)
    return t


def case_unpack_nested():
    (a, b), c = (1, 2), 3
    for i in range(N):
        (a, b), c = (b, c), a + i % 3
    return locals()


def case_star_unpack():
    s = 0
    for i in range(N):
        a, *b = i, i + 1, i + 2
        s += a + len(b)
    return locals()


def case_else_sets():
    for i in range(N):
        if i > N:
            break
    else:
        i = "done"
    return i


def case_none_then_value():
    best = None
    a = np.sin(np.arange(N) * 1.0)
    for i in range(N):
        if best is None or a[i] > best:
            best = a[i]
            at = i
    return best, at


def case_bool_flag():
    found = False
    for i in range(N):
        if not found and i * i > N:
            found = True
            where = i
    return locals()


def case_chained_assignment():
    for i in range(N):
        x = y = z = i * 2
        y += 1
    return locals()


def case_walrus():
    s = 0
    for i in range(N):
        if (k := i % 7) > 3:
            s += k
    return locals()
