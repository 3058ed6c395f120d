"""Sparse matrix times vector: irregular rows, a gather, loop bounds read from an array.

Seen in: npbench spmv, pyperformance scimark SparseCompRow.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(66)
    per_row = rng.integers(0, 12, n)
    per_row[rng.random(n) < 0.1] = 0
    indptr = np.zeros(n + 1, np.int32)
    indptr[1:] = np.cumsum(per_row)
    indices = rng.integers(0, n, indptr[n]).astype(np.int32)
    values = rng.standard_normal(indptr[n])
    return indptr, indices, values, rng.standard_normal(n), np.zeros(n), 5


def run(indptr, indices, values, x, y, iters):
    rows = y.shape[0]
    for it in range(iters):
        for r in range(rows):
            total = 0.0
            for k in range(indptr[r], indptr[r + 1]):
                total += values[k] * x[indices[k]]
            y[r] = total
        for r in range(rows):
            y[r] = y[r] * 0.125
        x, y = y, x
    return x


SIZES = {"small": 2_400, "large": 150_000}
