"""Option prices: maths functions on scalars and an inlined helper with a branch, called twice.

Seen in: numba-examples finance/blackscholes, numba-benchmark bench_blackscholes.
"""
import math

import numpy as np


def cnd(d):
    """Cumulative normal distribution by a polynomial of degree five."""
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    value = (0.3989422804014327 * math.exp(-d * d / 2)
             * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))))
    if d > 0:
        value = 1.0 - value
    return value


def make(n):
    rng = np.random.default_rng(5)
    price = rng.uniform(5, 30, n)
    strike = rng.uniform(1, 100, n)
    years = rng.uniform(0.25, 10, n)
    return price, strike, years, 0.02, 0.3, np.zeros(n), np.zeros(n)


def run(price, strike, years, rate, volatility, call, put):
    for i in range(price.shape[0]):
        root = math.sqrt(years[i])
        d1 = ((math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i])
              / (volatility * root))
        d2 = d1 - volatility * root
        n1 = cnd(d1)
        n2 = cnd(d2)
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)
    return call, put


SIZES = {"small": 7_500, "large": 450_000}
