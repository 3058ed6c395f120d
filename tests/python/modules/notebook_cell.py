"""Loops at module level: names are module variables, created in program order."""
import math

import numpy as np

N = TRIPS
rng = np.random.default_rng(3)
data = np.round(rng.standard_normal(N), 3)
total = 0
for i in range(N):
    total += data[i]
    if data[i] > 1:
        peak = data[i]
        where = i
count = 0
level = 0.0
levels = np.zeros(N)
for i in range(N):
    level = max(level + data[i] - 0.01, 0)
    levels[i] = level
    if level == 0:
        count += 1
k = 0
while k * k < N * 20:
    k += 1
    odd = k % 2 == 1
grid = np.zeros((8, 9))
for r in range(8):
    for c in range(9):
        grid[r, c] = math.sin(r) * c
for t in range(N):
    swap_a, swap_b = (t, t + 1) if t % 2 else (t + 1, t)
names = sorted(n for n in globals() if not n.startswith("_"))
print("total", float(total), count)
