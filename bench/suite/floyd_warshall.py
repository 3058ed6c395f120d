"""All shortest paths in place on int32: row k is read while row i is written, and i may be k.

Seen in: polybench and npbench floyd_warshall.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(41)
    p = rng.integers(1, 60, (n, n)).astype(np.int32)
    p[rng.random((n, n)) < 0.7] = 999
    for i in range(n):
        p[i, i] = 0
    return (p,)


def run(p):
    n = p.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if p[i, k] + p[k, j] < p[i, j]:
                    p[i, j] = p[i, k] + p[k, j]
    return p


def run_slices(p):
    n = p.shape[0]
    for k in range(n):
        for i in range(n):
            p[i, :] = np.minimum(p[i, :], p[i, k] + p[k, :])
    return p


SIZES = {"small": 42, "large": 170}
VARIANTS = {"slices": (make, run_slices)}
