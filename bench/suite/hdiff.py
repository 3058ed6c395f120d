"""Horizontal diffusion with flux limiter, on slices inside a Python loop.

Seen in: npbench weather_stencils/hdiff.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(27)
    k = max(4, n // 2)
    return rng.random((n + 4, n + 4, k)), rng.random((n, n, k)) * 0.05, np.zeros((n, n, k)), 12


def run(field, coeff, out, steps):
    n = out.shape[0]
    for s in range(steps):
        lap = 4.0 * field[1:n + 3, 1:n + 3, :] - (
            field[2:n + 4, 1:n + 3, :] + field[0:n + 2, 1:n + 3, :]
            + field[1:n + 3, 2:n + 4, :] + field[1:n + 3, 0:n + 2, :])
        diff = lap[1:, 1:n + 1, :] - lap[:-1, 1:n + 1, :]
        flux_x = np.where(diff * (field[2:n + 3, 2:n + 2, :] - field[1:n + 2, 2:n + 2, :]) > 0, 0.0, diff)
        diff = lap[1:n + 1, 1:, :] - lap[1:n + 1, :-1, :]
        flux_y = np.where(diff * (field[2:n + 2, 2:n + 3, :] - field[2:n + 2, 1:n + 2, :]) > 0, 0.0, diff)
        out[:, :, :] = field[2:n + 2, 2:n + 2, :] - coeff[:, :, :] * (
            flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :])
        field[2:n + 2, 2:n + 2, :] = out
    return out


SIZES = {"small": 56, "large": 190}
