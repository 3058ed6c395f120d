"""Pi by throwing darts, with a 64-bit linear congruential generator in Python ints.

The product exceeds 64 bits before the mask. Seen in: numba-benchmark, pyperformance scimark MonteCarlo,
numba gtc2017 notebook 6. Constants: Knuth's MMIX generator.
"""


def make(n):
    return n, 20240607


def run(n, seed):
    state = seed
    inside = 0
    for i in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        x = (state >> 11) / 2**53
        state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        y = (state >> 11) / 2**53
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n, state


SIZES = {"small": 40_000, "large": 2_200_000}
