"""Ints beyond 64 bits inside expressions, and variables of 0 .. 2^64 - 1: hashes, generators of random numbers, modular products."""
import numpy as np

M32 = 0xFFFFFFFF
M64 = (1 << 64) - 1
M61 = (1 << 61) - 1
TWO64 = 1 << 64
DATA = bytes((k * 37 + 11) & 255 for k in range(TRIPS))


def case_fnv32():
    h = 2166136261
    for byte in DATA:
        h ^= byte
        h = (h * 16777619) & M32
    return h


def case_fnv64():
    h = 0xCBF29CE484222325
    for byte in DATA:
        h = ((h ^ byte) * 0x100000001B3) & M64
    return h, h >> 3


def case_fnv64_from_small():
    h = 1
    seen = []
    for byte in DATA:
        h = ((h ^ byte) * 0x100000001B3) & M64
        seen.append(h)
    return seen


def case_fnv64_statements():
    h = 0xCBF29CE484222325
    for byte in DATA:
        h ^= byte
        h *= 0x100000001B3
        h &= 0xFFFFFFFFFFFFFFFF
    return h


def rotl32(x, r):
    return ((x << r) | (x >> (32 - r))) & M32


def rotl64(x, r):
    return ((x << r) | (x >> (64 - r))) & M64


def case_murmur():
    h = 3
    for i in range(0, len(DATA) - len(DATA) % 4, 4):
        k = DATA[i] | DATA[i + 1] << 8 | DATA[i + 2] << 16 | DATA[i + 3] << 24
        k = (k * 0xCC9E2D51) & M32
        k = rotl32(k, 15)
        k = (k * 0x1B873593) & M32
        h ^= k
        h = rotl32(h, 13)
        h = (h * 5 + 0xE6546B64) & M32
    return h


def case_xxhash_round():
    acc = 0x9E3779B185EBCA87
    for i in range(TRIPS):
        lane = (i * 0xC2B2AE3D27D4EB4F) & M64
        acc = (acc + lane * 0xC2B2AE3D27D4EB4F) & M64
        acc = rotl64(acc, 31)
        acc = acc * 0x9E3779B185EBCA87 & M64
    return acc


def case_xorshift64():
    state = 88172645463325252
    out = np.zeros(TRIPS, dtype=np.uint64)
    for i in range(TRIPS):
        state ^= (state << 13) & M64
        state ^= state >> 7
        state ^= (state << 17) & M64
        out[i] = state
    return state, out


def case_xorshift_statements():
    x = 88172645463325252
    for _ in range(TRIPS):
        x ^= x << 13
        x &= M64
        x ^= x >> 7
        x ^= x << 17
        x = x & M64
    return x


def case_splitmix():
    state = 42
    total = 0.0
    for _ in range(TRIPS):
        state = (state + 0x9E3779B97F4A7C15) & M64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        z ^= z >> 31
        total += (z >> 11) * (1.0 / (1 << 53))
    return state, z, total


def case_lcg64():
    x = 1
    acc = 0
    for _ in range(TRIPS):
        x = (x * 6364136223846793005 + 1442695040888963407) & M64
        acc ^= x >> 33
    return x, acc


def case_lcg_modulo_power():
    x = 12345
    y = 12345
    for _ in range(TRIPS):
        x = (x * 6364136223846793005 + 1) % 2**64
        y = (y * 1103515245 + 12345) % 2**31
    return x, y


def case_lcg_negative():
    x = -5
    for _ in range(TRIPS):
        x = (x * -6364136223846793005 - 1) & M64
    return x


def case_park_miller():
    x = 1
    for _ in range(TRIPS):
        x = 16807 * x % 2147483647
    return x


def case_mersenne61():
    h = 7
    base = 911382323 * 972663749 % M61
    for byte in DATA:
        h = (h * base + byte) % M61
    return h


def case_modular_power():
    m = 2**61 - 1
    out = []
    for i in range(TRIPS):
        base, e, r = i + 3, 65537, 1
        while e:
            if e & 1:
                r = r * base % m
            base = base * base % m
            e >>= 1
        out.append(r)
    return out


def case_modulus_beyond_63_bits():
    m = 2**64 - 59
    x = 3
    for i in range(TRIPS):
        x = x * (x + i) % m
    return x


def case_pow3():
    out = []
    for i in range(TRIPS):
        out.append(pow(i - 5, 10 + i, 2**61 - 1) ^ pow(3, i, 7) ^ pow(i, 0, 1))
    return out


def case_pow3_raises():
    out = []
    for i in range(TRIPS):
        if i == TRIPS - 3:
            out.append(pow(3, -i, 7))
        out.append(pow(i, 2, TRIPS - 1 - i))
    return out


def case_string_hash():
    h = 5381
    g = 0
    for ch in "the quick brown fox" * (TRIPS // 10):
        h = ((h << 5) + h + ord(ch)) & M32
        g = (31 * g + ord(ch)) & 0x7FFFFFFF
    return h, g


def case_crc32():
    table = []
    for n in range(64):
        c = n
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table.append(c)
    crc = M32
    for byte in DATA:
        crc = table[(crc ^ byte) & 63] ^ (crc >> 8)
    return crc ^ M32


def case_crc64():
    crc = M64
    for byte in DATA:
        crc ^= byte
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xC96C5795D7870F42
            else:
                crc >>= 1
    return crc ^ M64


def case_crc16():
    crc = 0xFFFF
    for byte in DATA:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def case_invert_and_negate():
    x = 0xF0F0F0F0F0F0F0F0
    out = []
    for i in range(TRIPS):
        x = (~x * 3 + i) & M64
        y = -x & M64
        z = ~x & M64
        w = ~i & M64
        out.append((x, y, z, w, -(x >> 3), ~(x >> 3)))
    return out


def case_signed_again():
    out = []
    h = 1
    for i in range(TRIPS):
        h = (h * 0x9E3779B97F4A7C15 + i) & M64
        s = h - (1 << 63)
        t = h if h < 2**63 else 2**63 - 1
        out.append((s, t, h > i, h == i, h != t, i <= h, h >= h, -i < h, h < -i))
    return out


def case_uses():
    out = []
    h = 1
    a = np.zeros(TRIPS, dtype=np.uint64)
    b = np.zeros(TRIPS, dtype=np.float64)
    for i in range(TRIPS):
        h = (h * 0xD1342543DE82EF95 + 1) & M64
        a[i] = h
        b[i] = h
        k = h % TRIPS
        a[k] ^= np.uint64(h >> 1)
        out.append((float(h), int(h), bool(h), h // 7, h // (h | 1), h % 1000, h * 0.5, abs(h), h & 255, h | 1, h ^ -1 & 7, int(a[i]), k))
    return out, a, b


def case_uint64_scalars():
    a = np.arange(TRIPS, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    total = 0
    weight = 0
    for x in a:
        v = int(x)
        total = (total + v) & M64
        while v:
            v &= v - 1
            weight += 1
        total ^= (x >> np.uint64(3)).item() & 1
    return total, weight


def case_store_too_big():
    a = np.zeros(TRIPS, dtype=np.int64)
    h = 1
    for i in range(TRIPS):
        h = (h * 3) & M64
        a[i] = h
    return a


def case_grows():
    """No mask: the interpreter takes over where a word no longer holds it."""
    h = 2**63 + 5
    out = []
    for i in range(TRIPS):
        h = h + 2**57
        out.append(h)
    return out


def case_wide_is_seen():
    """A wide int that other instructions look at, too."""
    out = []
    x = 3
    for i in range(TRIPS):
        t = x * 0x9E3779B97F4A7C15
        x = t & M64
        if t > 100:
            out.append(t)
        out.append(t - x)
    return out


def case_wide_is_left_over():
    x = 3
    t = 0
    for i in range(TRIPS):
        t = x * 0x100000001B3
        x = t & 0xFFFFFFFFFFFF
    return x, t


def case_wide_is_left_over_beyond():
    x = 3
    t = 0
    for i in range(TRIPS):
        t = x * 0x9E3779B97F4A7C15
        x = t & M64
    return x, t


def case_fixed_point():
    x = 1 << 40
    out = []
    for i in range(TRIPS):
        x = (x * 4294967295 + i * 12345678901) >> 32
        y = (x * x) >> 47
        z = (x << (i & 63)) >> 20
        w = (-x << (i & 31)) >> (i & 15)
        out.append((x, y, z, w))
    return out


def case_shift_counts():
    out = []
    h = 0x8000000000000001
    for i in range(TRIPS):
        out.append((h << i) & M64)
        out.append((i << i) & M64)
        out.append(h >> i)
        out.append((h >> (i & 63)) | ((h << (64 - (i & 63))) & M64))
    return out


def case_shift_count_negative():
    out = []
    for i in range(TRIPS):
        out.append((i << (TRIPS - 2 - i)) & M64)
    return out


def case_unknown_ints():
    """Ints of which nothing is known: from lists, some of them negative or beyond a word."""
    items = [k * 7919 % 251 for k in range(TRIPS)]
    items[TRIPS // 2] = -3
    items[TRIPS // 3] = 2**63 + 11
    h, g, f = 0xCBF29CE484222325, 1, 5
    for v in items:
        h = ((h ^ v) * 0x100000001B3) & M64
        g = ((g + v) * 0x100000001B3) & M64
        f = (f | v << 3 | v << 40) * 5 & M64
    return h, g, f


def case_multiply_with_carry():
    x, c = 123456789, 362436
    for i in range(TRIPS):
        t = 1791398085 * x + c
        c = t >> 32
        x = t & M32
    return x, c


def case_masks_in_variables():
    mask = M64
    small = 0xFFFF
    negative = -256
    x = 7
    out = []
    for i in range(TRIPS):
        x = (x * 0x9E3779B97F4A7C15 + i) & mask
        out.append((x & small, x & negative, (x * 3) & negative, (i * i) & negative, (x * 3) & small))
    return out


def case_mixed_forms():
    x = 1
    out = []
    for i in range(TRIPS):
        if i % 3 == 0:
            x = (x * 0x9E3779B97F4A7C15) & M64
        elif i % 3 == 1:
            x = x >> 40
        else:
            x = i
        out.append(x)
    return out


def case_sometimes_negative():
    x = 1
    out = []
    for i in range(TRIPS):
        if i % 7 == 6:
            x = -i
        else:
            x = (x * 0x9E3779B97F4A7C15) & M64
        out.append(x)
    return out


def case_becomes_float():
    x = 1
    for i in range(TRIPS):
        x = (x * 0x9E3779B97F4A7C15) & M64
        if i == TRIPS - 4:
            x = 0.5
            break
    return x


def case_three_products():
    x, y, z = 0x123456789ABCDEF, 0xFEDCBA987654321, 0x1F2E3D4C5B6A798
    out = []
    for i in range(TRIPS):
        x = (x * y * z + i) & M64
        out.append(x)
    return out


def case_mask_of_more_bits():
    x = 3
    for i in range(TRIPS):
        x = (x * 0x9E3779B97F4A7C15 + i) & ((1 << 96) - 1)
    return x


def case_identity():
    x = 1
    same = 0
    for i in range(TRIPS):
        x = (x * 0x9E3779B97F4A7C15) & M64
        y = x
        same += y is x
    return same, y is x


def step(state):
    return (state * 6364136223846793005 + 1442695040888963407) & M64


def case_in_functions():
    s = 1
    t = 0
    for _ in range(TRIPS):
        s = step(s)
        t = (t + (step(s) >> 11)) & M64
    return s, t


class Generator:
    def __init__(self):
        self.state = 1

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & M64
        return self.state >> 33


def case_in_attributes():
    g = Generator()
    total = 0
    for _ in range(TRIPS):
        total += g.next()
    return total, g.state


def case_in_lists():
    seeds = [1, 2**63 + 1, 5, 2**64 - 1]
    out = [0] * TRIPS
    for i in range(TRIPS):
        seeds[i & 3] = (seeds[i & 3] * 0x9E3779B97F4A7C15 + i) & M64
        out[i] = seeds[i & 3] >> 1
    return seeds, out


def case_xoshiro():
    s = [0x180EC6D33CFD0ABA, 0xD5A61266F0C9392C, 0xA9582618E03FC9AA, 0x39ABDC4529B1661C]
    total = 0
    for _ in range(TRIPS):
        total ^= (rotl64(s[1] * 5 & M64, 7) * 9) & M64
        t = (s[1] << 17) & M64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl64(s[3], 45)
    return total, s


def case_lists_of_words():
    words = [(k * 0x9E3779B97F4A7C15) & M64 for k in range(TRIPS)]
    odd = list(words)
    odd[TRIPS - 9] = -1
    odd[TRIPS - 7] = 2**64
    odd[TRIPS - 5] = 2.5
    out = []
    h = 1
    for w in words:
        h = (h ^ w) * 3 & M64
    for w in odd:
        out.append(w)
        try:
            h = (h ^ w) & M64
        except TypeError:
            h += 1
    return h, out, max(words), [w for w in words if w > 2**63]


def case_words_in_tuples():
    keys = (0xA0761D6478BD642F, 5, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3)
    h = 7
    for i in range(TRIPS):
        h = (h * keys[i & 3] + keys[(i + 1) & 3]) & M64
    return h


def case_no_room_for_a_sign():
    x = 1
    out = []
    for i in range(-3, TRIPS):
        x = (x * 0x9E3779B97F4A7C15 + i) & M64
        out.append(x)
    for i in range(TRIPS, -3, -1):
        x = (i + x * 0x9E3779B97F4A7C15) & M64
        out.append(x)
    return out


def case_global_state():
    global G
    G = 1
    for _ in range(TRIPS):
        G = (G * 0x9E3779B97F4A7C15) & M64
    return G
