"""The workloads of bench/suite against independent NumPy references, at tiny sizes."""
import glob
import importlib.util
import math
import os

import numpy as np
import pytest

SUITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "suite")
NAMES = sorted(os.path.splitext(os.path.basename(f))[0] for f in glob.glob(os.path.join(SUITE, "*.py")))


def load(name):
    spec = importlib.util.spec_from_file_location(f"suite_{name}", os.path.join(SUITE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_workloads_are_there():
    assert len(NAMES) == 18


@pytest.mark.parametrize("name", NAMES)
def test_form(name):
    m = load(name)
    assert callable(m.make) and callable(m.run) and set(m.SIZES) == {"small", "large"}
    with open(os.path.join(SUITE, name + ".py"), encoding="utf-8") as f:
        assert "hotloop" not in f.read()
    for make, run in getattr(m, "VARIANTS", {}).values():
        assert callable(make) and callable(run)


def test_mandelbrot():
    m = load("mandelbrot")
    args = m.make(12)
    image = m.run(*args)
    h, w = image.shape
    c = (-2 + 3 * np.arange(w) / w)[None, :] + 1j * (-1 + 2 * np.arange(h) / h)[:, None]
    z = np.zeros_like(c)
    expected = np.full(c.shape, 80)
    for k in range(80):
        z = np.where(expected == 80, z * z + c, z)
        expected[(np.abs(z) >= 2) & (expected == 80)] = k
    assert np.count_nonzero(image != expected) <= 2     # pixel coordinates may round differently
    np.testing.assert_array_equal(m.run_power(*m.make(12)), image)


def jacobi(A, steps):
    for _ in range(steps):
        B = A.copy()
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A = B
    return A


def test_jacobi():
    m = load("jacobi_2d")
    A, B, steps = m.make(9)
    expected = jacobi(A.copy(), 2 * steps)
    np.testing.assert_array_equal(m.run(A, B, steps), expected)
    A, B, tol, limit = m.make_error(9)
    got, error, it = m.run_error(A, B, tol, limit)
    assert it == limit
    np.testing.assert_array_equal(got, expected)
    assert error == np.abs(expected - jacobi(m.make(9)[0], it - 1)).max()


def test_seidel():
    m = load("seidel_2d")
    A, steps = m.make(7)
    expected = A.copy()
    for _ in range(steps):
        for i in range(1, 6):
            for j in range(1, 6):
                expected[i, j] = expected[i - 1:i + 2, j - 1:j + 2].sum() / 9
    np.testing.assert_allclose(m.run(A, steps), expected, rtol=1e-13)


def test_hdiff():
    m = load("hdiff")
    field, coeff, out, steps = m.make(6)
    steps = 1
    f = field.copy()
    got = m.run(field, coeff, out, steps)
    n, _, k = got.shape

    def lap(i, j):
        return 4 * f[i, j] - (f[i + 1, j] + f[i - 1, j] + f[i, j + 1] + f[i, j - 1])

    def flux(i, j, di, dj):
        d = lap(i + di, j + dj) - lap(i, j)
        return np.where(d * (f[i + di, j + dj] - f[i, j]) > 0, 0, d)
    for i in range(n):
        for j in range(n):
            y, x = i + 2, j + 2
            e = f[y, x] - coeff[i, j] * (flux(y, x, 1, 0) - flux(y - 1, x, 1, 0) + flux(y, x, 0, 1) - flux(y, x - 1, 0, 1))
            np.testing.assert_allclose(got[i, j], e, rtol=1e-12)


def test_floyd_warshall():
    m = load("floyd_warshall")
    p = m.make(11)[0].copy()
    d = p.astype(int)
    for k in range(11):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
    got = m.run(*m.make(11))
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, d)
    np.testing.assert_array_equal(m.run_slices(*m.make(11)), d)


def test_lu():
    m = load("lu")
    A = m.make(9)[0]
    lu = m.run(*m.make(9))
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(9)) @ np.triu(lu), A, rtol=1e-10, atol=1e-10)


def test_gram_schmidt():
    m = load("gram_schmidt")
    A = m.make(8)[0]
    Q, R = m.run(*m.make(8))
    np.testing.assert_allclose(Q @ R, A, atol=1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(8), atol=1e-8)


@pytest.mark.parametrize("make", ["make", "make_float32"])
def test_nbody(make):
    m = load("nbody")
    pos, vel, acc, mass, eps, dt, steps = getattr(m, make)(9)
    p, v = pos.astype(float), vel.astype(float)
    for _ in range(steps):
        d = p[None] - p[:, None]
        r2 = (d ** 2).sum(-1) + eps
        a = (mass[None, :, None] * d / (r2 ** 1.5)[:, :, None]).sum(1)
        v = v + dt * a
        p = p + dt * v
    got, _ = m.run(pos, vel, acc, mass, eps, dt, steps)
    np.testing.assert_allclose(got, p, rtol=1e-4 if make == "make_float32" else 1e-11, atol=1e-5)


def test_black_scholes():
    m = load("black_scholes")
    price, strike, years, rate, vol, call, put = args = m.make(40)
    m.run(*args)
    cdf = np.vectorize(lambda d: 0.5 * (1 + math.erf(d / math.sqrt(2))))
    d1 = (np.log(price / strike) + (rate + vol * vol / 2) * years) / (vol * np.sqrt(years))
    d2 = d1 - vol * np.sqrt(years)
    expected = price * cdf(d1) - strike * np.exp(-rate * years) * cdf(d2)
    np.testing.assert_allclose(call, expected, atol=1e-4)
    np.testing.assert_allclose(call - put, price - strike * np.exp(-rate * years), atol=1e-9)


def test_histogram():
    m = load("histogram")
    x, hist = m.make(500)
    got, lo, hi = m.run(x, hist)
    good = x[~np.isnan(x)]
    assert (lo, hi) == (good.min(), good.max())
    assert got.sum() == len(good)
    assert np.abs(got - np.histogram(good, 100)[0]).sum() <= 2


def test_monte_carlo():
    m = load("monte_carlo_pi")
    value, state = m.run(5000, 1)
    assert abs(value - math.pi) < 0.1
    a, c, s = 6364136223846793005, 1442695040888963407, 1
    for _ in range(10000):
        s = (s * a + c) % 2 ** 64
    assert state == s


@pytest.mark.parametrize("make", ["make", "make_float32"])
def test_matmul(make):
    m = load("matmul")
    A, B, C = getattr(m, make)(9)
    got = m.run(A, B, C)
    assert got.dtype == A.dtype
    np.testing.assert_allclose(got, A.astype(float) @ B, rtol=1e-3 if make == "make_float32" else 1e-10, atol=1e-4)


@pytest.mark.parametrize("make", ["make", "make_bool"])
def test_game_of_life(make):
    m = load("game_of_life")
    board, generations = getattr(m, make)(10)
    b = board.astype(int)
    for _ in range(generations):
        n = sum(np.roll(b, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if y or x)
        b = ((n == 3) | ((n == 2) & (b == 1))).astype(int)
    got = m.run(board, generations)
    assert got.dtype == board.dtype
    np.testing.assert_array_equal(got, b)


def test_kmeans():
    m = load("kmeans")
    points, centres, label, sums, count, iters = m.make(60)
    c = centres.copy()
    for _ in range(iters):
        lab = ((points[:, None] - c[None]) ** 2).sum(-1).argmin(1)
        c = np.array([points[lab == k].mean(0) if (lab == k).any() else c[k] for k in range(len(c))])
    got, centres = m.run(points, centres, label, sums, count, iters)
    np.testing.assert_array_equal(got, lab)
    np.testing.assert_allclose(centres, c, rtol=1e-12)


def test_levenshtein():
    m = load("levenshtein")
    a, b, prev, cur = m.make(12)

    def distance(x, y):
        if not x or not y:
            return len(x) + len(y)
        return min(distance(x[1:], y[1:]) + (x[0] != y[0]), 1 + distance(x[1:], y), 1 + distance(x, y[1:]))
    from functools import lru_cache
    distance = lru_cache(None)(distance)
    assert m.run(a, b, prev, cur)[0] == distance(tuple(a), tuple(b))


def test_spmv():
    m = load("spmv_csr")
    indptr, indices, values, x, y, iters = m.make(20)
    dense = np.zeros((20, 20))
    for r in range(20):
        for k in range(indptr[r], indptr[r + 1]):
            dense[r, indices[k]] += values[k]
    expected = x.copy()
    for _ in range(iters):
        expected = dense @ expected * 0.125
    np.testing.assert_allclose(m.run(indptr, indices, values, x, y, iters), expected, rtol=1e-9, atol=1e-12)


def test_sieve():
    m = load("sieve")
    expected = [k for k in range(2, 501) if all(k % d for d in range(2, k))]
    assert m.run(*m.make(500)).tolist() == expected
    assert m.run_slices(*m.make(500)).tolist() == expected


def test_crc16():
    m = load("crc16")
    data, poly = m.make(50)

    def crc(bits):
        reg = 0xFFFF
        for bit in bits:
            reg = (reg >> 1) ^ (poly if (reg ^ bit) & 1 else 0)
        return reg ^ 0xFFFF
    value = crc([int(b) >> k & 1 for b in data for k in range(8)])
    assert m.run(data, poly) == (value & 0xFF) << 8 | value >> 8
    check = np.frombuffer(b"123456789", np.uint8)       # published check value of CRC-16/X-25: 0x906E
    assert m.run(check, poly) == 0x6E90
