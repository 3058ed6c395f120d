"""Conway's game on a torus: small-integer scatter through a helper with three branches.

Seen in: numba-benchmark bench_gameoflife.
"""
import numpy as np


def wrap(k, size):
    if k == -1:
        return size - 1
    if k == size:
        return 0
    return k


def make(n):
    rng = np.random.default_rng(31)
    return (rng.random((n, n)) < 0.3).astype(np.uint8), 8


def make_bool(n):
    board, generations = make(n)
    return board.astype(np.bool_), generations


def run(board, generations):
    height, width = board.shape
    for g in range(generations):
        counts = np.zeros((height, width), np.int8)
        for y in range(height):
            for x in range(width):
                if board[y, x]:
                    for dy in range(-1, 2):
                        for dx in range(-1, 2):
                            if dy != 0 or dx != 0:
                                counts[wrap(y + dy, height), wrap(x + dx, width)] += 1
        following = np.zeros_like(board)
        for y in range(height):
            for x in range(width):
                c = counts[y, x]
                if c == 3 or (c == 2 and board[y, x]):
                    following[y, x] = 1
        board = following
    return board


SIZES = {"small": 46, "large": 380}
VARIANTS = {"bool": (make_bool, run)}
