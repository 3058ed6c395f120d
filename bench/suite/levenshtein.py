"""Edit distance: builtin min of three, a serial inner recurrence, rows that swap names.

Textbook dynamic programming (Wagner and Fischer) over integer arrays.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(50)
    a = rng.integers(97, 101, n).astype(np.uint8)
    b = rng.integers(97, 101, n + n // 8).astype(np.uint8)
    return a, b, np.zeros(len(b) + 1, np.int64), np.zeros(len(b) + 1, np.int64)


def run(a, b, prev, cur):
    for j in range(len(b) + 1):
        prev[j] = j
    for i in range(len(a)):
        cur[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1, prev[j] + cost)
        prev, cur = cur, prev
    return prev[len(b)], prev


SIZES = {"small": 250, "large": 1_500}
