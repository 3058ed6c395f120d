"""Names deleted and made again in module-level loops; annotations; redefinition of functions."""
N = TRIPS
order = []
for i in range(N):
    tmp = i
    del tmp
    x: int = i
    if i % 20 == 0:
        def f(v, _k=i):
            return v + _k
    x = f(x)
    if i == N - 3:
        made_late = x
        order = [k for k in globals() if not k.startswith("_")]
