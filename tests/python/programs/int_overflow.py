"""Python ints that outgrow 64 bits, shrink again, and the operators that make them."""
N = TRIPS


def case_doubling():
    x = 1
    for i in range(N + 70):
        x += x
    return x


def case_doubling_negative():
    x = -1
    for i in range(N + 70):
        x = x + x
    return x


def case_multiply():
    x = 1
    for i in range(1, N):
        x *= i
    return x


def case_fibonacci():
    a, b = 0, 1
    for i in range(N + 60):
        a, b = b, a + b
    return a, b


def case_exact_edge_add():
    x = 2 ** 63 - 1 - N + 5
    for i in range(N):
        x += 1
    return x


def case_exact_edge_sub():
    x = -2 ** 63 + N - 5
    for i in range(N):
        x -= 1
    return x


def case_edge_not_crossed():
    x = 2 ** 63 - 1 - N
    for i in range(N):
        x += 1
    return x == 2 ** 63 - 1, x


def case_negate_min():
    x = -2 ** 63 + N - 4
    out = 0
    for i in range(N):
        out = -x
        x -= 1
    return out, x


def case_abs_min():
    x = -2 ** 63 + N - 3
    for i in range(N):
        y = abs(x)
        x -= 1
    return x, y


def case_grow_and_shrink():
    x = 1
    peak = 0
    for i in range(N):
        x = x * 3 if i % 50 < 45 else x >> 40
        if x > peak:
            peak = x
    return x, peak


def case_lcg_masked():
    s = 12345
    for i in range(N):
        s = (s * 6364136223846793005 + 1442695040888963407) & (2 ** 64 - 1)
    return s


def case_lcg_masked_63():
    s = 12345
    for i in range(N):
        s = (s * 3935559000370003845 + 2691343689449507681) & (2 ** 63 - 1)
    return s


def case_xorshift():
    x = 88172645463325252
    for i in range(N):
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
    return x


def case_fnv_hash():
    h = 0xCBF29CE484222325
    for i in range(N):
        h = ((h ^ (i & 255)) * 0x100000001B3) % 2 ** 64
    return h


def case_modmul_big():
    m = 2 ** 61 - 1
    x = 3
    for i in range(N):
        x = x * x % m
    return x


def case_shift_left_grows():
    out = 0
    for i in range(N):
        out ^= 1 << i % 80
    return out


def case_shift_left_value():
    s = 0
    for i in range(N):
        s += i << 58
    return s


def case_shift_right_by_many():
    s = 0
    for i in range(N):
        s += (123456789 >> i) + (-123456789 >> i)
    return s


def case_negative_shift_raises():
    s = 0
    for i in range(N):
        s += 1000 >> (N - 3 - i)
    return s


def case_negative_left_shift_raises():
    s = 0
    for i in range(N):
        s = 1 << (N - 3 - i) & 63
    return s


def case_power_ints():
    s = 0
    for i in range(N):
        s += i ** 3 + 2 ** (i % 70)
    return s


def case_power_negative_exponent():
    s = 0.0
    for i in range(1, N):
        s += i ** -2
    return s


def case_sum_of_squares_overflow():
    s = 0
    for i in range(N):
        s += (i + 2 ** 31) ** 2 * 3
    return s


def case_bit_ops_negative():
    a = 0
    for i in range(N):
        a += (~i & 0xFF) + (-i | 3) + (-i ^ i)
    return a


def case_mixed_big_compare():
    c = 0
    big = 2 ** 64
    for i in range(N):
        x = big - N // 2 + i
        if x < big:
            c += 1
        elif x == big:
            c += 100
    return c, x


def case_collatz():
    longest = 0
    for start in range(1, N):
        n = start
        k = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            k += 1
        if k > longest:
            longest = k
            at = start
    return longest, at


def case_int_to_float_exactness():
    s = 0.0
    x = 2 ** 53 - N // 2
    for i in range(N):
        s += x
        s -= x - 1
        x += 1
    return s, float(x)


def case_int_true_division():
    s = 0.0
    for i in range(1, N):
        s += (2 ** 60 + i) / i
        s += i / (2 ** 55 + 1)
    return s


def case_overflow_in_inner_exits_outer():
    t = 1
    for i in range(N):
        for j in range(4):
            t += t // 3 + 1
    return t


def case_counter_plus_big_constant():
    s = 0
    for i in range(N):
        s = i + 0x7FFFFFFFFFFFFFF0
    return s
