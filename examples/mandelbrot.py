#!/usr/bin/env python3
"""The Mandelbrot set in plain Python: first by the interpreter, then by the same code under hotloop.

The program of interest is `mandel` and `create_fractal`: ordinary Python, nothing added for speed. The
rest of the file measures it and writes the picture. Needs NumPy and hotloop.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import time
import zlib

import numpy as np


def mandel(x, y, limit):
    """How many steps z = z*z + c stays within radius 2, at most `limit`."""
    c = complex(x, y)
    z = 0.0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return limit


def create_fractal(min_x, max_x, min_y, max_y, image, limit):
    height = image.shape[0]
    width = image.shape[1]
    pixel_x = (max_x - min_x) / width
    pixel_y = (max_y - min_y) / height
    for x in range(width):
        real = min_x + x * pixel_x
        for y in range(height):
            imag = min_y + y * pixel_y
            image[y, x] = mandel(real, imag, limit)


AREA = (-2.0, 1.0, -1.0, 1.0)


def run(width, height, limit):
    image = np.zeros((height, width), dtype=np.uint8)
    t0 = time.perf_counter()
    create_fractal(*AREA, image, limit)
    return image, time.perf_counter() - t0


# ---- what follows measures, compares and draws ----

def cold_child(width, height, limit, path):
    """Runs in a fresh process: from `import hotloop` to the finished image, then warm; saves the image."""
    t0 = time.perf_counter()
    import hotloop
    hotloop.enable()
    t1 = time.perf_counter()
    image, first = run(width, height, limit)
    cold = time.perf_counter() - t0
    warm = min(run(width, height, limit)[1] for _ in range(5))
    image_warm, _ = run(width, height, limit)
    np.save(path, np.stack([image, image_warm]))
    from importlib.metadata import version

    stats = hotloop.stats()
    print(json.dumps({
        "enable": t1 - t0, "first": first, "cold": cold, "warm": warm, "version": version("hotloop"),
        "stats": stats, "explain": "\n".join(str(hotloop.explain(f)) for f in (create_fractal, mandel)),
    }, default=str))


def palette(limit):
    """One RGB colour per step count: deep blue through gold to white, black inside the set."""
    stops = np.array([(0.0, 4, 6, 40), (0.16, 22, 62, 150), (0.36, 84, 170, 222), (0.52, 246, 246, 220),
                      (0.70, 255, 190, 40), (0.86, 176, 60, 12), (1.0, 60, 10, 30)])
    t = np.sqrt(np.arange(limit + 1) / limit)
    colours = np.stack([np.interp(t, stops[:, 0], stops[:, k]) for k in (1, 2, 3)], axis=1)
    colours[limit] = 0
    return np.rint(colours).astype(np.uint8)


def write_png(path, rgb):
    """An RGB image as a PNG file, with nothing but the standard library."""
    height, width = rgb.shape[:2]

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + 3 * width), np.uint8)      # filter type 0 before every row
    rows[:, 1:] = rgb.reshape(height, 3 * width)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def say(text=""):
    print(text, flush=True)


def row(label, seconds, reference=None):
    text = f"{seconds * 1e3:10.1f} ms" if seconds < 10 else f"{seconds:10.2f} s "
    return f"  {label:<34}{text}" + (f"{reference / seconds:10.1f}x" if reference else "")


def interesting(stats):
    """The plain numbers of stats() worth a line, without zeros."""
    return {k: v for k, v in stats.items() if isinstance(v, (int, float)) and v}


def under_hotloop(a):
    """Start the fresh process; return its measurements and its two images."""
    path = os.path.join(os.path.dirname(os.path.abspath(a.output)), f".mandelbrot-{os.getpid()}.npy")
    child = [sys.executable, os.path.abspath(__file__), "--child", path, "--width", str(a.width),
             "--height", str(a.height), "--limit", str(a.limit)]
    t0 = time.perf_counter()
    done = subprocess.run(child, stdout=subprocess.PIPE, text=True)
    whole = time.perf_counter() - t0
    if done.returncode:
        sys.exit(f"the process under hotloop ended with code {done.returncode}")
    result = json.loads(done.stdout.splitlines()[-1])
    result["process"] = whole
    images = np.load(path)
    os.remove(path)
    return result, images


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--width", type=int, default=1536)
    p.add_argument("--height", type=int, default=1024)
    p.add_argument("--limit", type=int, default=20, help="largest number of steps per pixel (default 20)")
    p.add_argument("--quick", action="store_true", help="a quarter of the width and height")
    p.add_argument("--output", default="mandelbrot.png", help="PNG file to write (default mandelbrot.png)")
    p.add_argument("--child", metavar="FILE", help=argparse.SUPPRESS)
    a = p.parse_args()
    if not 1 <= a.limit <= 255:
        p.error("--limit must be 1 to 255: step counts are stored as uint8")
    if a.child:
        return cold_child(a.width, a.height, a.limit, a.child)
    if a.quick:
        a.width, a.height = a.width // 4, a.height // 4
    say(f"Mandelbrot set, {a.width} x {a.height} uint8, up to {a.limit} steps on [-2, 1] x [-1, 1]")
    say(f"Python {sys.version.split()[0]}, NumPy {np.__version__}")
    say("\n[1/3] interpreter ...")
    plain, interpreter = run(a.width, a.height, a.limit)
    say(row("interpreter", interpreter))
    say("\n[2/3] the same functions in a fresh process under hotloop ...")
    r, images = under_hotloop(a)
    say(row("interpreter", interpreter, interpreter))
    say(row("hotloop cold (import to image)", r["cold"], interpreter))
    say(row("  of it import and enable()", r["enable"]))
    say(row("  of it first call", r["first"], interpreter))
    say(row("hotloop warm (best of 5 calls)", r["warm"], interpreter))
    say(f"\nWhat hotloop {r['version']} compiled:")
    for line in r["explain"].splitlines():
        say("  " + line)
    say("  " + ", ".join(f"{k} {v:.6g}" for k, v in interesting(r["stats"]).items()))
    say("\n[3/3] comparing and drawing ...")
    for name, image in zip(("cold", "warm"), images):
        wrong = int(np.count_nonzero(image != plain))
        if image.dtype != plain.dtype or wrong:
            sys.exit(f"FAILED: the {name} image differs from the interpreter's in {wrong} of {plain.size} pixels")
    say(f"  images equal byte for byte ({plain.size} pixels, cold and warm)")
    write_png(a.output, palette(a.limit)[plain])
    say(f"  wrote {a.output}")


if __name__ == "__main__":
    main()
