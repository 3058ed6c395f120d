"""Sieve of Eratosthenes: while loop, variable-step range, byte stores, compaction.

In the manner of Rosetta Code's task of that name.
"""
import numpy as np


def make(n):
    flag = np.ones(n + 1, np.bool_)
    flag[0] = flag[1] = False
    return flag, n


def run(flag, n):
    i = 2
    while i * i <= n:
        if flag[i]:
            for j in range(i * i, n + 1, i):
                flag[j] = False
        i += 1
    return collect(flag, n)


def run_slices(flag, n):
    i = 2
    while i * i <= n:
        if flag[i]:
            flag[i * i::i] = False
        i += 1
    return collect(flag, n)


def collect(flag, n):
    count = 0
    for i in range(n + 1):
        if flag[i]:
            count += 1
    primes = np.zeros(count, np.int64)
    k = 0
    for i in range(n + 1):
        if flag[i]:
            primes[k] = i
            k += 1
    return primes


SIZES = {"small": 90_000, "large": 6_000_000}
VARIANTS = {"slices": (make, run_slices)}
