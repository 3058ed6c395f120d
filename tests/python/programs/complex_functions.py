"""cmath, powers of complex numbers, and NumPy's functions on complex scalars in loops."""
import cmath

import numpy as np

N = TRIPS
Z = np.linspace(-2.0, 2.0, N) + 1j * np.linspace(3.0, -1.0, N)
Z64 = Z.astype(np.complex64)


def case_cmath_exp():
    s = 0j
    for k in range(N):
        s += cmath.exp(2j * cmath.pi * k / N) * (k + 1)
    return s


def case_cmath_sqrt():
    s = 0j
    for z in Z.tolist():
        s += cmath.sqrt(z) + cmath.sqrt(z * z - 1)
    return s


def case_cmath_many():
    s = 0j
    for z in Z.tolist():
        s += cmath.log(z) + cmath.sin(z) * cmath.cosh(z) - cmath.atan(z / 3)
        s += cmath.phase(z) + cmath.polar(z)[0]
    return s


def case_cmath_real_argument():
    s = 0j
    for k in range(-N, N):
        s += cmath.sqrt(k) + cmath.sqrt(k * 0.5) + (cmath.isnan(k) or cmath.isfinite(0.5 * k))
    return s


def case_cmath_raises():
    s = 0j
    for k in range(N, -3, -1):
        s += cmath.log(k)
    return s


def case_cmath_overflows():
    s = 0j
    try:
        for k in range(N):
            s = s + 1
            t = cmath.exp(k * 720.0 / (N - 5))
    except OverflowError as e:
        return s, t, str(e)
    return s, t


def case_power():
    s = 0j
    c = 0.3 - 0.7j
    for k in range(1, N):
        s += c ** k + c ** 0.5 + (k + 1j) ** -1 + (k + 0.5) ** c
    return s


def case_power_of_zero():
    s = 0j
    z = 3 + 0j
    for k in range(N):
        s += z ** -2
        if k == N - 5:
            z = 0j
    return s


def case_numpy_functions():
    s = np.complex128(0)
    for z in Z:
        s += np.sqrt(z) + np.exp(z) * np.sin(z) - np.log(z)
        s += np.abs(z) + np.angle(z) + np.conj(z) + np.real(z) * np.imag(z)
    return s


def case_numpy_complex64():
    s = np.complex64(0)
    for z in Z64:
        s += np.sqrt(z) + np.exp(z) * np.cos(z) - np.log(z)
        s += np.abs(z) + np.angle(z) + z ** 2 + z ** 1.5
    return s


def case_numpy_power():
    s = np.complex128(0)
    for k in range(1, N):
        s += Z[k] ** 0.5 + Z[k] ** Z[k - 1] + Z[k] ** -1 + Z[k] ** k * 1e-30
    return s


def case_numpy_warns():
    s = np.complex128(0)
    for k in range(N):
        s += np.log(Z[k] * (k != N - 3))
    return s


def case_newton():
    z = 1 + 1j
    n = 0
    for k in range(N):
        z = z - (z ** 3 - 1) / (3 * z ** 2)
        n += abs(z ** 3 - 1) < 1e-12
    return z, n


def case_two_arguments_of_cmath():
    out = []
    for r, phi, step in ((1.5, 0.25, 0.5), (2, -3, 1), (0.0, 0.0, 0.25), (1e308, 1e-5, 0.01)):
        s, n, same = 0j, 0, 0
        for k in range(TRIPS):
            z = cmath.rect(r, phi + k * step)
            s = s * 0.5 + z
            n += cmath.isclose(z, z * (1 + 1e-10 * (k % 20))) + cmath.isclose(k, k + 0j) * 2
            if z:
                same += cmath.isclose(cmath.log(z, 2.5), cmath.log(z) / cmath.log(2.5))
                s -= cmath.log(z, k + 2) * 0.25 - cmath.log(k + 1.5, z + 0.5)
        out.append((s, n, same, z))
    for base in (1, 0, 0.5, 1 + 0j, -0.0):
        try:
            for k in range(1, TRIPS):
                w = cmath.log(k, base if k > TRIPS - 9 else 3)
        except (ValueError, ZeroDivisionError) as e:
            out.append((str(e), k, w))
    for phi in (0.0, -0.0, 1.0):
        for k in range(TRIPS):
            z = cmath.rect(-2.5 if k % 2 else -0.0, phi)
        out.append(z)
    return out
