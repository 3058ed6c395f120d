"""Complex arithmetic: products, division, mixed operands, parts, zeros' signs, inf and nan."""
import cmath

import numpy as np

N = TRIPS


def mandel(x, y, limit):
    c = complex(x, y)
    z = 0.0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4:
            return i
    return limit


def case_mandelbrot_small():
    w = h = max(6, min(N // 4, 40))
    img = np.zeros((h, w), np.uint8)
    for x in range(w):
        for y in range(h):
            img[y, x] = mandel(-2 + 3 * x / w, -1 + 2 * y / h, 20)
    return img


def case_julia_power():
    n = max(6, min(N // 4, 30))
    s = 0
    for i in range(n):
        for j in range(n):
            z = complex(i * 3 / n - 1.5, j * 3 / n - 1.5)
            k = 0
            while z.real ** 2 + z.imag ** 2 < 4 and k < 30:
                z = z * z - 0.8 + 0.156j
                k += 1
            s = s * 3 % 100003 + k
    return s


def case_abs_escape():
    s = 0
    for i in range(N):
        z = 0j
        c = complex(-0.6 + i / N, 0.4)
        n = 0
        while abs(z) < 2 and n < 15:
            z = z ** 2 + c
            n += 1
        s += n
    return s, z


def case_sum_and_difference():
    z = 1 + 2j
    for i in range(N):
        z = z + (0.5 - 1j) - i * 1j
    return z


def case_product_rotates():
    z = 1 + 0j
    r = cmath.exp(0.1j)
    for i in range(N):
        z = z * r
    return z


def case_division():
    z = 100 + 50j
    s = 0j
    for i in range(1, N):
        s += z / complex(i, -i % 7 + 1)
    return s


def case_division_by_zero():
    s = 0j
    for i in range(N):
        s += 1 / complex(N - 5 - i, 0)
    return s


def case_mixed_real():
    z = 1j
    for i in range(N):
        z = 2 * z - 0.5 + z * 0.25 - 1
        z = z / 2.5
    return z


def case_int_times_complex():
    z = 0j
    for i in range(N):
        z += i * 1j + i
    return z


def case_negation_zero_signs():
    z = 0j
    out = []
    for i in range(N):
        w = -z
        v = z * -1
        u = 0.0 - z
        t = z.conjugate()
    out.append((w, v, u, t, complex(-0.0, -0.0) + 0j, -0.0 * z))
    return out


def case_inf_and_nan():
    inf = float("inf")
    z = complex(1, 1)
    for i in range(N):
        z = z * 1e20
    w = complex(inf, 0) * complex(0, 1)
    return z, w


def case_conjugate_and_parts():
    s = 0.0
    z = 0.5 + 0.25j
    for i in range(N):
        z = z.conjugate() * (1 + 0.01j)
        s += z.real - z.imag
    return s, z


def case_abs():
    s = 0.0
    for i in range(N):
        s += abs(complex(i, 3 - i))
    return s


def case_abs_overflow():
    z = 1e300 + 1e300j
    s = 0.0
    for i in range(N):
        s = abs(z)
        if i == N - 5:
            z = 1.7e308 + 1.7e308j
    return s


def case_power():
    s = 0j
    for i in range(N):
        s += (0.5 + 0.1j) ** (i % 5) + (1 + 1j) ** 0.5
    return s


def case_equality():
    n = 0
    z = 0j
    for i in range(N):
        n += (z == 0) + (z == complex(i, 0)) * 10 + (z != i) * 100
        z += 1
    return n


def case_truth():
    n = 0
    for i in range(N):
        z = complex(0, i % 3)
        if z:
            n += 1
        if not z:
            n += 100
    return n


def case_constructor_forms():
    s = 0j
    for i in range(N):
        s += complex(i) + complex(i, 2) + complex(1.5) + complex(2j) + complex(imag=i)
    return s


def case_becomes_complex_midway():
    z = 1.0
    for i in range(N):
        z = z * 0.9 + 1
        if i == N - 5:
            z = z * 1j
    return z


def case_numpy_complex_scalars():
    a = np.exp(1j * np.arange(N) / 7)
    z = 1 + 0j
    for i in range(N):
        z = z * a[i] + 0.1
    return z, type(z).__name__


def case_numpy_complex_division():
    a = np.exp(1j * np.arange(N) / 7) * 3
    z = np.complex128(1)
    out = np.zeros(N, complex)
    for i in range(N):
        out[i] = (1 + 2j) / a[i] + a[i] / (0.3 - 0.7j)
    return out


def case_numpy_complex_parts():
    a = np.exp(1j * np.arange(N) / 7) * 3
    s = 0.0
    for i in range(N):
        s += a[i].real * 2 - a[i].imag
    return s, type(a[i].real).__name__


def case_store_complex():
    a = np.zeros((N, 2), complex)
    for i in range(N):
        a[i, 0] = i
        a[i, 1] = complex(i, -i) * 0.5
    return a


def case_roots_of_unity_sum():
    s = 0j
    for k in range(N):
        s += cmath.exp(2j * cmath.pi * k / N)
    return s


def case_dft():
    n = max(6, min(N // 3, 24))
    x = np.cos(np.arange(n) * 1.3)
    out = np.zeros(n, complex)
    for k in range(n):
        t = 0j
        for m in range(n):
            ang = -2 * 3.141592653589793 * k * m / n
            t += x[m] * complex(np.cos(ang), np.sin(ang))
        out[k] = t
    return out


def case_newton_fractal():
    n = max(6, min(N // 4, 20))
    s = 0
    for i in range(n):
        for j in range(n):
            z = complex(i - n / 2 + 0.1, j - n / 2 + 0.2)
            k = 0
            while abs(z * z * z - 1) > 1e-6 and k < 40:
                z = z - (z * z * z - 1) / (3 * z * z)
                k += 1
            s = (s * 7 + k) % 1000003
    return s, z


def case_float_minus_complex_signed_zero():
    z = complex(0.0, 0.0)
    for i in range(N):
        a = 1.0 - z
        b = z - 1.0
        c = 2.0 * z
        d = -0.0 + z
    return a, b, c, d
