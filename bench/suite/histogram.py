"""Histogram: a scatter with conflicts, float to integer conversion, a guarded store.

Seen in: numba-examples density_estimation/histogram, numba gtc2017 notebook 4.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(14)
    x = rng.standard_normal(n)
    x[rng.random(n) < 0.01] = np.nan
    return x, np.zeros(100, np.int64)


def run(x, hist):
    bins = hist.shape[0]
    lo = x[0]
    hi = x[0]
    for i in range(x.shape[0]):
        if x[i] < lo:
            lo = x[i]
        if x[i] > hi:
            hi = x[i]
    width = (hi - lo) / bins
    for i in range(x.shape[0]):
        v = x[i]
        if v != v or v < lo or v > hi:
            continue
        b = int((v - lo) / width)
        if b >= bins:
            b = bins - 1
        hist[b] += 1
    return hist, lo, hi


SIZES = {"small": 40_000, "large": 2_500_000}
