"""Gauss-Seidel sweeps in place: each element reads values written just before, in both directions.

Seen in: polybench and npbench seidel_2d.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(3)
    return rng.random((n, n)), 8


def run(A, steps):
    n = A.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j]
                           + A[i, j + 1] + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0
    return A


SIZES = {"small": 48, "large": 380}
