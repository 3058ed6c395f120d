"""An error in a module-level loop, late; the names it leaves behind are compared too."""
N = TRIPS
s = 0
for i in range(N):
    t = i * 2
    s += 100 // (N - 6 - i)
    last = t
never = True
