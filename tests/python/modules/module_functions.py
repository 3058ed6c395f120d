"""Module-level loop that calls functions which read and write module variables."""
N = TRIPS
calls = 0
factor = 2


def scale(x):
    global calls
    calls += 1
    return x * factor


s = 0
for i in range(N):
    s += scale(i)
    if i == N - 5:
        factor = 2.5
for i in range(N):
    if i == N - 4:
        del factor
        factor = 1
    s += scale(i)
del i
