"""Mandelbrot set: two counted loops around a called function with a loop and two returns.

Seen in: numba/nvidia-cuda-tutorial session 1, numba-examples legacy/mandel, npbench mandelbrot1/2.
"""
import numpy as np


def escape_time(x, y, limit):
    c = complex(x, y)
    z = 0j
    for k in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return k
    return limit


def escape_time_power(x, y, limit):
    c = complex(x, y)
    z = 0j
    for k in range(limit):
        z = z * z + c
        if z.real**2 + z.imag**2 >= 4:
            return k
    return limit


def make(n):
    return np.zeros((n, n + n // 2), np.uint8), -2.0, 1.0, -1.0, 1.0, 80


def run(image, left, right, bottom, top, limit):
    height, width = image.shape
    dx = (right - left) / width
    dy = (top - bottom) / height
    for row in range(height):
        y = bottom + row * dy
        for col in range(width):
            image[row, col] = escape_time(left + col * dx, y, limit)
    return image


def run_power(image, left, right, bottom, top, limit):
    height, width = image.shape
    dx = (right - left) / width
    dy = (top - bottom) / height
    for row in range(height):
        y = bottom + row * dy
        for col in range(width):
            image[row, col] = escape_time_power(left + col * dx, y, limit)
    return image


SIZES = {"small": 50, "large": 400}
VARIANTS = {"power": (make, run_power)}
