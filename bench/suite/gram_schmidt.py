"""Gram-Schmidt orthogonalisation by columns: every inner access has the stride of a row.

Seen in: polybench and npbench gramschmidt.
"""
import math

import numpy as np


def make(n):
    rng = np.random.default_rng(77)
    m = n + n // 4
    return rng.random((m, n)) + 0.1, np.zeros((m, n)), np.zeros((n, n))


def run(A, Q, R):
    m, n = A.shape
    for k in range(n):
        nrm = 0.0
        for i in range(m):
            nrm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(nrm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] -= Q[i, k] * R[k, j]
    return Q, R


SIZES = {"small": 36, "large": 140}
