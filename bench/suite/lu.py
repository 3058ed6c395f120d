"""LU decomposition in place without pivoting: triangular bounds, a reduction kept in memory.

Seen in: polybench lu, pyperformance scimark LU.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(6)
    a = rng.random((n, n)) - 0.5
    for i in range(n):
        a[i, i] += n
    return (a,)


def run(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
    return A


SIZES = {"small": 56, "large": 230}
