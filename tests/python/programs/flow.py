"""break, continue, else, early return, nested exits, pass, match, assert."""
import numpy as np

N = TRIPS
K = N - 6


def case_break():
    for i in range(N):
        if i == K:
            break
    return i


def case_break_never():
    for i in range(N):
        if i > 5 * N:
            break
    else:
        i = -i
    return i


def case_break_skips_else():
    done = "no"
    for i in range(N):
        if i == K:
            break
    else:
        done = "yes"
    return i, done


def case_continue():
    s = 0
    for i in range(N):
        if i % 3 == 0:
            continue
        s += i
        if i % 5 == 0:
            continue
        s -= 1
    return s, i


def case_continue_in_while():
    i = 0
    s = 0
    while i < N:
        i += 1
        if i & 1:
            continue
        s += i
    return s


def case_inner_break():
    s = 0
    for i in range(N):
        for j in range(20):
            if i * j > 50:
                break
            s += j
        else:
            s += 1000
    return s, i, j


def case_inner_continue_outer():
    s = 0
    for i in range(N):
        for j in range(8):
            if (i + j) % 3:
                continue
            if j > i:
                break
            s += i - j
        if s % 2:
            continue
        s += 1
    return s


def case_early_return():
    a = np.arange(N)
    for i in range(N):
        if a[i] * 2 > N + 10:
            return i, a[i]
    return None


def case_early_return_in_nest():
    for i in range(N):
        for j in range(i):
            if i * j > N * 5:
                return i, j
    return "none"


def find(a, x):
    for k in range(len(a)):
        if a[k] == x:
            return k
    return -1


def case_search_function():
    a = np.arange(30) * 7 % 30
    s = 0
    for i in range(N):
        s += find(a, i % 33)
    return s


def case_elif_chain():
    c = [0] * 5
    for i in range(N):
        if i % 11 == 0:
            c[0] += 1
        elif i % 7 == 0:
            c[1] += 1
        elif i % 5 == 0:
            c[2] += 1
        elif i % 2 == 0:
            c[3] += 1
        else:
            c[4] += 1
    return c


def case_rare_branch():
    s = 0
    for i in range(N):
        if i == K:
            s += 1000000
        else:
            s += 1
    return s


def case_branch_flips_after_recording():
    s = 0
    for i in range(N):
        if i < N // 2:
            s += 1
        else:
            s += 0.5
    return s


def case_branch_never_recorded_new_name():
    s = 0
    for i in range(N):
        if i > K:
            fresh = i * 2
            s += fresh
        else:
            s += 1
    return locals()


def case_while_true():
    i = 0
    while True:
        i += 1
        if i >= N:
            break
    return i


def case_while_else():
    i = N
    while i:
        i -= 1
    else:
        i = "over"
    return i


def case_while_float():
    x = 1.0
    k = 0
    while x > 1e-9 and k < N:
        x *= 0.97
        k += 1
    return x, k


def case_while_not_flag():
    done = False
    k = 0
    while not done:
        k += 1
        done = k * k > N * N
    return k


def case_while_numpy_condition():
    a = np.arange(N, 0, -1)
    i = 0
    while a[i] > 3:
        i += 1
    return i


def case_nested_while():
    i = 0
    s = 0
    while i < N:
        j = i
        while j > 0:
            j //= 2
            s += 1
        i += 1
    return s


def case_for_in_while_in_for():
    s = 0
    for i in range(N // 3):
        k = 3
        while k > 0:
            for j in range(k):
                s += i * j
            k -= 1
    return s


def case_assert_fails():
    s = 0
    for i in range(N):
        s += i
        assert i != K, f"trip {i}"
    return s


def case_raise_explicit():
    for i in range(N):
        if i == K:
            raise ValueError(f"bad row {i}")
    return i


def case_match_ints():
    s = 0
    for i in range(N):
        match i % 4:
            case 0:
                s += 1
            case 1 | 2:
                s += 10
            case _:
                s += 100
    return s


def case_pass_only():
    for i in range(N):
        pass
    return i


def case_binary_search():
    a = np.arange(0, 3 * N, 3)
    s = 0
    for x in range(N):
        lo, hi = 0, len(a)
        while lo < hi:
            mid = (lo + hi) // 2
            if a[mid] < x:
                lo = mid + 1
            else:
                hi = mid
        s += lo
    return s


def case_bubble_sort():
    n = min(N, 60)
    a = np.arange(n)[::-1] * 7 % 31
    swaps = 0
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
    return a, swaps


def case_insertion_sort():
    n = min(N, 60)
    a = np.sin(np.arange(n) * 1.0)
    for i in range(1, n):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a


def case_two_loops_same_function():
    s = 0
    for i in range(N):
        s += i
    for i in range(N):
        s -= 2 * i
    while s < 0:
        s += 7
    return s


def case_loop_entered_many_times():
    def inner(n):
        t = 0
        for i in range(n):
            t += i
        return t
    s = 0
    for k in range(N):
        s += inner(k % 9)
    return s


def case_return_from_while_true():
    def newton(x):
        g = x
        while True:
            n = 0.5 * (g + x / g)
            if abs(n - g) < 1e-12:
                return n
            g = n
    s = 0.0
    for i in range(1, N):
        s += newton(float(i))
    return s
