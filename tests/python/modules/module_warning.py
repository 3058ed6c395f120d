"""NumPy warnings from module-level loops."""
import numpy as np

N = TRIPS
a = np.arange(N) % 6 * 1.0
out = np.zeros(N)
for i in range(N):
    v = 1.0 / a[i]
    out[i] = v if v < 1e300 else -1.0
x = np.uint8(0)
for i in range(N):
    x = x + np.uint8(9)
