"""Matrix product in i, j, k order with a scalar accumulator; B is walked down its columns.

Seen in: polybench gemm, numba-examples legacy/cudajit/matmul.
"""
import numpy as np


def _make(n, dtype):
    rng = np.random.default_rng(8)
    a = rng.standard_normal((n, n + 1)).astype(dtype)
    b = rng.standard_normal((n + 1, n + 2)).astype(dtype)
    return a, b, np.zeros((n, n + 2), dtype)


def make(n):
    return _make(n, np.float64)


def make_float32(n):
    return _make(n, np.float32)


def run(A, B, C):
    n, k = A.shape
    m = B.shape[1]
    for i in range(n):
        for j in range(m):
            acc = 0.0
            for l in range(k):
                acc += A[i, l] * B[l, j]
            C[i, j] = acc
    return C


SIZES = {"small": 42, "large": 170}
VARIANTS = {"float32": (make_float32, run)}
