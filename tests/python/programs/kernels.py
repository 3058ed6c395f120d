"""Small kernels as users write them: the shapes of loops that ought to be compiled."""
import math

import numpy as np

N = TRIPS
M = max(6, min(N // 4, 40))


def case_sum_array():
    a = np.sin(np.arange(N) * 1.0)
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def case_dot():
    a = np.sin(np.arange(N) * 1.0)
    b = np.cos(np.arange(N) * 1.0)
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    return s


def case_axpy():
    a = np.sin(np.arange(N) * 1.0)
    b = np.cos(np.arange(N) * 1.0)
    for i in range(N):
        b[i] += 2.5 * a[i]
    return b


def case_prefix_sum():
    a = np.sin(np.arange(N) * 1.0)
    out = np.empty(N)
    run = 0.0
    for i in range(N):
        run += a[i]
        out[i] = run
    return out


def case_min_max_argmax():
    a = np.sin(np.arange(N) * 1.7)
    lo = hi = a[0]
    at = 0
    for i in range(1, N):
        if a[i] > hi:
            hi = a[i]
            at = i
        elif a[i] < lo:
            lo = a[i]
    return lo, hi, at


def case_histogram():
    a = (np.sin(np.arange(N) * 1.7) + 1) * 4.999
    h = np.zeros(10, np.int64)
    for i in range(N):
        h[int(a[i])] += 1
    return h


def case_jacobi():
    A = np.sin(np.arange(M * M) * 1.0).reshape(M, M)
    B = A.copy()
    for t in range(3):
        for i in range(1, M - 1):
            for j in range(1, M - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        A, B = B, A
    return A


def case_seidel():
    A = np.sin(np.arange(M * M) * 1.0).reshape(M, M)
    for t in range(3):
        for i in range(1, M - 1):
            for j in range(1, M - 1):
                A[i, j] = (A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1]
                           + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0
    return A


def case_matmul():
    n = max(6, min(N // 5, 24))
    A = np.sin(np.arange(n * n) * 1.0).reshape(n, n)
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            acc = 0.0
            for k in range(n):
                acc += A[i, k] * A[k, j]
            C[i, j] = acc
    return C


def case_matmul_in_memory():
    n = max(6, min(N // 5, 20))
    A = np.sin(np.arange(n * n) * 1.0).reshape(n, n).astype(np.float32)
    C = np.zeros((n, n), np.float32)
    for i in range(n):
        for k in range(n):
            for j in range(n):
                C[i, j] += A[i, k] * A[k, j]
    return C


def case_lu():
    n = max(6, min(N // 5, 20))
    A = np.sin(np.arange(n * n) * 1.0).reshape(n, n) + n * np.eye(n)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
    return A


def case_cholesky():
    n = max(6, min(N // 5, 20))
    A = np.cos(np.arange(n * n) * 0.1).reshape(n, n)
    A = A @ A.T + n * np.eye(n)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += L[i, k] * L[j, k]
            if i == j:
                L[i, j] = math.sqrt(A[i, i] - s)
            else:
                L[i, j] = (A[i, j] - s) / L[j, j]
    return np.round(L, 6)


def case_floyd():
    n = max(6, min(N // 5, 20))
    p = (np.arange(n * n) * 37 % 101 + 1).reshape(n, n).astype(np.int32)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if p[i, k] + p[k, j] < p[i, j]:
                    p[i, j] = p[i, k] + p[k, j]
    return p


def case_levenshtein():
    a = (np.arange(M) * 7 % 5).astype(np.uint8)
    b = (np.arange(M + 3) * 11 % 5).astype(np.uint8)
    prev = np.arange(len(b) + 1)
    cur = np.zeros(len(b) + 1, np.int64)
    for i in range(len(a)):
        cur[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1, prev[j] + cost)
        prev, cur = cur, prev
    return prev


def case_sieve():
    n = 8 * N
    flag = np.ones(n + 1, np.bool_)
    flag[:2] = False
    i = 2
    while i * i <= n:
        if flag[i]:
            for j in range(i * i, n + 1, i):
                flag[j] = False
        i += 1
    count = 0
    for i in range(n + 1):
        if flag[i]:
            count += 1
    return count


def case_spmv():
    indptr = np.cumsum(np.arange(M + 1) * 5 % 7).astype(np.int32)
    nnz = int(indptr[-1])
    indices = (np.arange(nnz) * 13 % M).astype(np.int32)
    values = np.sin(np.arange(nnz) * 1.0)
    x = np.ones(M)
    y = np.zeros(M)
    for t in range(3):
        for r in range(M):
            s = 0.0
            for k in range(indptr[r], indptr[r + 1]):
                s += values[k] * x[indices[k]]
            y[r] = s
        x, y = y, x
    return x


def case_nbody():
    n = max(5, min(N // 5, 20))
    p = np.sin(np.arange(3 * n) * 1.0).reshape(n, 3)
    acc = np.zeros((n, 3))
    for i in range(n):
        ax = ay = az = 0.0
        for j in range(n):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = 1.0 / (r2 * math.sqrt(r2))
            ax += f * dx
            ay += f * dy
            az += f * dz
        acc[i, 0] = ax
        acc[i, 1] = ay
        acc[i, 2] = az
    return acc


def case_crc():
    data = (np.arange(M) * 73 % 256).astype(np.uint8)
    crc = 0xFFFF
    for i in range(len(data)):
        b = int(data[i])
        for k in range(8):
            if (crc & 1) ^ (b & 1):
                crc = (crc >> 1) ^ 0x8408
            else:
                crc >>= 1
            b >>= 1
    return ~crc & 0xFFFF


def case_bilinear():
    img = np.sin(np.arange(M * M) * 1.0).reshape(M, M)
    out = np.zeros((M, M))
    for y in range(M):
        for x in range(M):
            sx = x * 0.77
            sy = y * 0.66
            x0 = int(sx)
            y0 = int(sy)
            fx = sx - x0
            fy = sy - y0
            out[y, x] = ((img[y0, x0] * (1 - fx) + img[y0, x0 + 1] * fx) * (1 - fy)
                         + (img[y0 + 1, x0] * (1 - fx) + img[y0 + 1, x0 + 1] * fx) * fy)
    return out


def case_convolve_uint8():
    img = (np.arange(M * M) * 31 % 256).astype(np.uint8).reshape(M, M)
    out = np.zeros((M, M), np.uint8)
    for y in range(1, M - 1):
        for x in range(1, M - 1):
            s = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    s += int(img[y + dy, x + dx])
            out[y, x] = s // 9
    return out


def case_threshold_uint8():
    img = (np.arange(M * M) * 31 % 256).astype(np.uint8).reshape(M, M)
    n = 0
    for y in range(M):
        for x in range(M):
            if img[y, x] > 128:
                img[y, x] = 255
                n += 1
            else:
                img[y, x] = 0
    return img, n


def case_gray_image():
    img = (np.arange(M * M * 3) * 31 % 256).astype(np.uint8).reshape(M, M, 3)
    out = np.zeros((M, M))
    for y in range(M):
        for x in range(M):
            out[y, x] = 0.299 * img[y, x, 0] + 0.587 * img[y, x, 1] + 0.114 * img[y, x, 2]
    return out


def case_rolling_mean():
    a = np.sin(np.arange(N) * 1.0)
    a[::9] = np.nan
    w = 5
    out = np.full(N, np.nan)
    for i in range(w, N):
        s = 0.0
        n = 0
        for k in range(i - w, i):
            if a[k] == a[k]:
                s += a[k]
                n += 1
        if n > 0:
            out[i] = s / n
    return out


def case_euler_ode():
    x, v = 1.0, 0.0
    for i in range(N):
        a = -x - 0.1 * v
        x += 0.01 * v
        v += 0.01 * a
    return x, v


def case_lorenz():
    x, y, z = 1.0, 1.0, 1.0
    out = np.zeros((N, 3))
    for i in range(N):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 8.0 / 3.0 * z
        x += 0.01 * dx
        y += 0.01 * dy
        z += 0.01 * dz
        out[i, 0], out[i, 1], out[i, 2] = x, y, z
    return out


def case_monte_carlo_pi():
    state = 42
    inside = 0
    for i in range(N):
        state = (state * 1103515245 + 12345) % 2147483648
        x = state / 2147483648
        state = (state * 1103515245 + 12345) % 2147483648
        y = state / 2147483648
        if x * x + y * y <= 1:
            inside += 1
    return inside, state


def case_black_scholes():
    def cnd(d):
        k = 1.0 / (1.0 + 0.2316419 * abs(d))
        v = 0.3989422804014327 * math.exp(-d * d / 2) * k * (0.31938153 + k * (-0.356563782 + k * 1.781477937))
        if d > 0:
            v = 1.0 - v
        return v
    price = np.linspace(5, 30, N)
    out = np.zeros(N)
    for i in range(N):
        d1 = (math.log(price[i] / 15.0) + 0.065) / 0.3
        out[i] = price[i] * cnd(d1) - 15.0 * math.exp(-0.02) * cnd(d1 - 0.3)
    return out


def case_life():
    board = ((np.arange(M * M) * 7919) % 13 < 4).astype(np.uint8).reshape(M, M)
    for g in range(2):
        nxt = np.zeros_like(board)
        for y in range(M):
            for x in range(M):
                n = 0
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        if dy or dx:
                            n += board[(y + dy) % M, (x + dx) % M]
                if n == 3 or (n == 2 and board[y, x]):
                    nxt[y, x] = 1
        board = nxt
    return board


def case_kmeans_step():
    pts = np.sin(np.arange(N * 2) * 1.3).reshape(N, 2)
    cen = pts[:3].copy()
    lab = np.zeros(N, np.int64)
    cnt = np.zeros(3, np.int64)
    sums = np.zeros((3, 2))
    for i in range(N):
        best = 1e30
        for c in range(3):
            d = 0.0
            for q in range(2):
                t = pts[i, q] - cen[c, q]
                d += t * t
            if d < best:
                best = d
                lab[i] = c
        cnt[lab[i]] += 1
        for q in range(2):
            sums[lab[i], q] += pts[i, q]
    for c in range(3):
        for q in range(2):
            if cnt[c] > 0:
                sums[c, q] /= cnt[c]
    return lab, sums, cnt


def case_transpose_in_place():
    a = np.arange(M * M).reshape(M, M) * 1.0
    for i in range(M):
        for j in range(i):
            a[i, j], a[j, i] = a[j, i], a[i, j]
    return a


def case_run_lengths():
    a = np.arange(N) // 7 % 2
    best = run = 0
    prev = -1
    for i in range(N):
        if a[i] == prev:
            run += 1
        else:
            run = 1
            prev = a[i]
        if run > best:
            best = run
    return best, prev, run


def case_compaction():
    a = np.arange(N) * 13 % 50
    out = np.zeros(N, a.dtype)
    k = 0
    for i in range(N):
        if a[i] > 20:
            out[k] = a[i]
            k += 1
    return out[:k]


def case_horner():
    c = np.array([1.0, -0.5, 0.25, 3.0, -2.0])
    out = np.zeros(N)
    for i in range(N):
        x = i / N
        r = 0.0
        for k in range(len(c)):
            r = r * x + c[k]
        out[i] = r
    return out


def case_bits_count():
    a = np.arange(N) * 2654435761 % 2 ** 32
    n = 0
    for i in range(N):
        v = int(a[i])
        while v:
            v &= v - 1
            n += 1
    return n


def case_simpson():
    a, b, n = 0.0, 3.0, N - N % 2
    h = (b - a) / n
    s = math.exp(a) + math.exp(b)
    for k in range(1, n):
        s += (4 if k % 2 else 2) * math.exp(a + k * h)
    return s * h / 3


def case_trapezoid_lookup():
    xs = np.linspace(0, 1, 20)
    ys = xs * xs
    out = 0.0
    for i in range(N):
        x = (i % 97) / 97
        j = 0
        while j < len(xs) - 2 and xs[j + 1] < x:
            j += 1
        t = (x - xs[j]) / (xs[j + 1] - xs[j])
        out += ys[j] + t * (ys[j + 1] - ys[j])
    return out
