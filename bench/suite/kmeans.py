"""k-means: argmin in a loop, scatter-add by a data-dependent index, integer to float division.

Seen in: numba-examples legacy/k-means.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(19)
    k, d = 6, 3
    points = rng.standard_normal((n, d)) + rng.integers(0, 4, n)[:, None] * 2.0
    return points, points[:k].copy(), np.zeros(n, np.int64), np.zeros((k, d)), np.zeros(k, np.int64), 3


def run(points, centres, label, sums, count, iters):
    n, d = points.shape
    k = centres.shape[0]
    for it in range(iters):
        for c in range(k):
            count[c] = 0
            for q in range(d):
                sums[c, q] = 0.0
        for i in range(n):
            best = 0
            best_dist = 1e300
            for c in range(k):
                dist = 0.0
                for q in range(d):
                    diff = points[i, q] - centres[c, q]
                    dist += diff * diff
                if dist < best_dist:
                    best_dist = dist
                    best = c
            label[i] = best
            count[best] += 1
            for q in range(d):
                sums[best, q] += points[i, q]
        for c in range(k):
            if count[c] > 0:
                for q in range(d):
                    centres[c, q] = sums[c, q] / count[c]
    return label, centres


SIZES = {"small": 1_000, "large": 70_000}
