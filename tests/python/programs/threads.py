"""Loops in several threads at once, each with its own data or sharing one array."""
import threading

import numpy as np

N = TRIPS


def work(a, k, out):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * k
    out[k] = s


def run_all(targets):
    ts = [threading.Thread(target=f, args=args) for f, args in targets]
    for t in ts:
        t.start()
    for t in ts:
        t.join()


def case_same_function():
    out = {}
    a = np.sin(np.arange(4 * N) * 1.0)
    run_all([(work, (a, k, out)) for k in range(5)])
    return [out[k] for k in sorted(out)]


def case_different_types():
    out = {}
    arrays = [np.arange(4 * N).astype(d) for d in (np.float64, np.int32, np.float32, np.int64)]
    run_all([(work, (a, k, out)) for k, a in enumerate(arrays)])
    return [out[k] for k in sorted(out)]


def case_slices_of_one_array():
    a = np.zeros(4 * N)

    def fill(k):
        for i in range(k * N, (k + 1) * N):
            a[i] = i * 0.5 + k
    run_all([(fill, (k,)) for k in range(4)])
    return a


def case_locked_counter():
    lock = threading.Lock()
    total = [0]

    def add():
        for i in range(N):
            with lock:
                total[0] += 1
    run_all([(add, ())] * 4)
    return total


def case_exception_in_thread():
    seen = []

    def bad(k):
        try:
            for i in range(N):
                x = 1 // (N - 6 - i)
        except ZeroDivisionError as e:
            seen.append((k, i, str(e)))
    run_all([(bad, (k,)) for k in range(3)])
    return sorted(seen)


def case_generator_across_threads():
    def gen():
        s = 0
        for k in range(4):
            for i in range(N):
                s += i
            yield s
    g = gen()
    got = []
    for k in range(4):
        run_all([(lambda: got.append(next(g)), ())])
    return got


def case_thread_local():
    loc = threading.local()
    out = {}

    def f(k):
        loc.x = 0
        for i in range(N):
            loc.x += k
        out[k] = loc.x
    run_all([(f, (k,)) for k in range(3)])
    return sorted(out.items())


def case_errstate_is_per_thread():
    out = []

    def f():
        a = np.arange(N) % 5 + 1.0
        s = 0.0
        for i in range(N):
            s += 1.0 / a[i]
        out.append(s)
    with np.errstate(all="raise"):
        run_all([(f, ())])
        f()
    return out


def case_pool():
    from concurrent.futures import ThreadPoolExecutor

    def f(k):
        s = 0
        for i in range(N):
            s = (s * 31 + i * k) % 100003
        return s
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(f, range(8)))
