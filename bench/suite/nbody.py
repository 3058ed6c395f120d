"""Gravity between all pairs, then a leap-frog step: three scalar accumulators, parallel over bodies.

Seen in: numba-benchmark bench_nbody, npbench nbody, numba-examples legacy/nbody.
"""
import math

import numpy as np


def _make(n, dtype):
    rng = np.random.default_rng(9)
    pos = rng.standard_normal((n, 3)).astype(dtype)
    vel = np.zeros((n, 3), dtype)
    acc = np.zeros((n, 3), dtype)
    mass = (rng.random(n) + 0.5).astype(dtype)
    return pos, vel, acc, mass, 0.01, 1e-3, 2


def make(n):
    return _make(n, np.float64)


def make_float32(n):
    return _make(n, np.float32)


def run(pos, vel, acc, mass, eps, dt, steps):
    n = pos.shape[0]
    for s in range(steps):
        for i in range(n):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(n):
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                dz = pos[j, 2] - pos[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + eps
                f = mass[j] / (r2 * math.sqrt(r2))
                ax += f * dx
                ay += f * dy
                az += f * dz
            acc[i, 0] = ax
            acc[i, 1] = ay
            acc[i, 2] = az
        for i in range(n):
            for d in range(3):
                vel[i, d] += dt * acc[i, d]
                pos[i, d] += dt * vel[i, d]
    return pos, vel


SIZES = {"small": 90, "large": 720}
VARIANTS = {"float32": (make_float32, run)}
