"""How long one entry of native code takes: JUMP callback, native code for one trip, exit; 3 arrays, 4 scalars live in.

A function with a loop is called from C, so that no loop around it can be compiled. Under hotloop the first trip of
each call is interpreted, its back edge enters native code, which runs the other trips and leaves. hotloop gives up
loops that do too little per entry, so calls of 300 and of 900 trips are timed and the straight line through them is
followed to one native trip; the same function with one trip by the plain interpreter is subtracted. What is
left is one entry. Prints JSON.
"""
import json
import time
from collections import deque
from itertools import repeat

import hotloop
import numpy as np


def work(a, b, c, x, y, z, w, n):
    for i in range(n):
        c[i] = a[i] * x + b[i] * y + z * w


def per_call(args, counts, calls):
    """The best time of one call for each number of trips; their turns alternate, so that noise meets all of them."""
    columns = [repeat(v) for v in args]
    best = [1e9] * len(counts)
    for _ in range(21):
        for k, n in enumerate(counts):
            t0 = time.perf_counter()
            deque(map(work, *columns, repeat(n, calls)), maxlen=0)
            best[k] = min(best[k], time.perf_counter() - t0)
    return [seconds / calls for seconds in best]


def main():
    rng = np.random.default_rng(1)
    args = (*rng.random((3, 4096)), 0.5, 1.5, 2.5, 3.5)
    calls = 20_000
    (plain_one,) = per_call(args, [1], calls)
    hotloop.enable(threads=1)
    for _ in range(20):
        work(*args, 4096)      # compiled here
    few, many = 300, 900
    before = hotloop.stats()["entries"]
    short, long = per_call(args, [few, many], calls)
    entries = (hotloop.stats()["entries"] - before) / (42 * calls)
    hotloop.disable()
    plain_one = min(plain_one, *per_call(args, [1], calls))
    trip = (long - short) / (many - few)
    print(json.dumps({"latency": short - (few - 2) * trip - plain_one, "entries_per_call": entries, "native_trip": trip,
                      "call_one_trip_interpreted": plain_one, "trips": [few, many], "calls": [short, long]}))


if __name__ == "__main__":
    main()
