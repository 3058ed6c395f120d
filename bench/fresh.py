"""A fresh process from import to the finished Mandelbrot image array: python fresh.py hotloop|numba|interpreter

Prints JSON with the seconds from the first statement (NumPy's import included) to the image, and a digest.
"""
import time

T0 = time.perf_counter()
import os  # noqa: E402
import sys  # noqa: E402

kind = sys.argv[1]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import numpy as np  # noqa: E402

t_numpy = time.perf_counter()
if kind == "hotloop":
    import hotloop
    hotloop.enable(threads=1)
elif kind == "numba":
    import numba
t_import = time.perf_counter()
import mandelbrot  # noqa: E402

if kind == "numba":
    mandelbrot.mandel = numba.njit(mandelbrot.mandel)
    mandelbrot.create_fractal = numba.njit(mandelbrot.create_fractal)
image = np.zeros((1024, 1536), np.uint8)
t_first = time.perf_counter()
mandelbrot.create_fractal(*mandelbrot.AREA, image, 20)
t_done = time.perf_counter()

import hashlib  # noqa: E402
import json  # noqa: E402

result = {"seconds": t_done - T0, "numpy": t_numpy - T0, "import": t_import - t_numpy, "first": t_done - t_first,
          "digest": hashlib.sha256(image.tobytes()).hexdigest()}
warm = []
for _ in range(5):
    t0 = time.perf_counter()
    mandelbrot.create_fractal(*mandelbrot.AREA, image, 20) if kind != "interpreter" else None
    warm.append(time.perf_counter() - t0)
result["warm"] = min(warm)
if kind == "hotloop":
    s = hotloop.stats()
    result["stats"] = {k: v for k, v in s.items() if isinstance(v, (int, float))}
print(json.dumps(result))
