"""Jacobi relaxation on a square: a fully parallel five-point stencil between two arrays.

Seen in: polybench and npbench jacobi_2d, numba-examples legacy/laplace2d.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(12)
    a = rng.random((n, n))
    return a, a.copy(), 10


def run(A, B, steps):
    n = A.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
    return A


def make_error(n):
    a, b, steps = make(n)
    return a, b, 1e-9, 2 * steps


def run_error(A, B, tol, limit):
    """Until the largest change is small: the arrays swap names after each sweep."""
    n, m = A.shape
    error = 1.0
    it = 0
    while error > tol and it < limit:
        error = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
                error = max(error, abs(B[i, j] - A[i, j]))
        A, B = B, A
        it += 1
    return A, error, it


SIZES = {"small": 42, "large": 300}
VARIANTS = {"error": (make_error, run_error)}
