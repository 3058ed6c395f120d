"""Characters of strings and bytes in loops: iteration, subscripts, comparisons, what is left afterwards."""
N = TRIPS
DNA = "ACGTTGCAAGCTNACG" * (N // 4)
WIDE = "na\u00efve \u4e2d\u6587 caf\u00e9 \U0001f600!" * (N // 8)
LATIN = "\u00e4\u00f6\u00fcabc\u00df" * (N // 4)
DATA = bytes(range(256)) * (N // 32 + 1)


def case_count():
    a = c = other = 0
    for ch in DNA:
        if ch == "A":
            a += 1
        elif ch == "C":
            c += 1
        else:
            other += 1
    return a, c, other, ch


def case_membership():
    n = m = 0
    for ch in DNA:
        if ch in "GC":
            n += 1
        if ch not in ("A", "T"):
            m += 1
        if ch in {"N", "T"}:
            m += 10
    return n, m, ch


def case_order():
    s = 0
    for ch in "The quick Brown fox, 1234!" * (N // 4):
        if "a" <= ch <= "z":
            s += 1
        elif ch >= "A" and ch < "[":
            s += 100
        elif ch != " ":
            s += 10000
    return s, ch


def case_hash():
    h = 5381
    for ch in DNA:
        h = (h * 33 + ord(ch)) & 0xFFFFFFFF
    return h, ch


def case_latin_and_wide():
    out = []
    for text in (LATIN, WIDE, DNA, "", "x", "\u00e9"):
        h = 0
        ch = None
        for ch in text:
            h = (h * 31 + ord(ch)) % 1000003
        out.append((h, ch))
    return out


def case_known_wide_inside():
    h = 0
    for k in range(N):
        for ch in WIDE[:200]:
            h = (h * 31 + ord(ch) + k) % 1000003
        for ch in LATIN[:200]:
            h = (h * 31 + ord(ch)) % 1000003
        h += ord(WIDE[k % len(WIDE)])
    return h, ch


def count(text, wanted):
    n = 0
    for ch in text:
        if ch == wanted:
            n += 1
    return n, ch


def case_text_as_argument():
    return [count(DNA[k:], w) for k in range(min(N // 4, 40)) for w in "ANx"] + [count(DNA, "AC"), count(DNA, "")]


def by_index(text):
    n = 0
    for i in range(len(text)):
        if text[i] == text[-1 - i]:
            n += i
    return n


def case_by_index():
    return [by_index(DNA[k:]) for k in range(min(N // 4, 40))] + [by_index(LATIN), by_index(WIDE)]


def case_index_error():
    text = DNA[:N]
    s = 0
    for i in range(N + 5):
        s += ord(text[i])
    return s


def case_enumerate_and_zip():
    s = t = 0
    for i, ch in enumerate(DNA):
        if ch == "T":
            s += i
    for p, q in zip(DNA, DNA[1:]):
        if p == q:
            t += 1
    for i, (p, q) in enumerate(zip(DNA, DATA)):
        t += ord(p) * q - i
    return s, t, i, p, q, ch


def case_reversed():
    h = 0
    for ch in reversed(DNA):
        h = (h * 3 + ord(ch)) % 1009
    for b in reversed(DATA):
        h = (h * 3 + b) % 1009
    return h, ch, b


def case_bytes():
    s = 0
    for b in DATA:
        s = (s * 7 + b) % 10007
    for i in range(len(DATA)):
        s = (s + DATA[i] * i - DATA[-i]) % 10007
    return s, b


def case_bytes_as_argument():
    def total(data):
        s = 0
        for b in data:
            if b > 200:
                s += b
        return s
    return [total(DATA[k:]) for k in range(min(N // 4, 40))] + [total(bytearray(DATA)), total(memoryview(DATA)), total(b"")]


def case_chr():
    out = 0
    for k in range(N):
        ch = chr(k * 37)
        if ch == "\u0250":
            out += k
    try:
        for k in range(0x110000 - N // 2, 0x110000 + N):
            ch = chr(k)
    except ValueError as e:
        return out, ch, str(e)
    return out, ch


def case_character_kept():
    last = ""
    runs = 0
    for ch in DNA:
        if ch != last:
            runs += 1
        last = ch
    return runs, last, last is ch


def case_character_from_before():
    ch = "q"
    n = 0
    for k in range(N):
        if ch == "q":
            n += 1
        ch = DNA[k]
    return n, ch


def case_truth_and_len():
    n = 0
    text, none = DNA, ""
    for k in range(N):
        if text:
            n += len(text)
        if none:
            n += 1000000
        n += len(DATA)
        if text == "":
            n += 7
    return n


def case_mixed_kinds():
    n = 0
    for ch in DNA:
        x = ch if ch != "T" else 1
        if x == 1:
            n += 1
    return n, x


def case_of_words():
    n = 0
    for word in "the cat sat on the mat".split() * (N // 4):
        for ch in word:
            if ch == "t":
                n += len(word)
    return n, word, ch


def case_concatenation():
    out = ""
    for ch in DNA:
        if ch != "A":
            out += ch
    return out


def case_iterator_shared():
    it = iter(DNA)
    n = 0
    for ch in it:
        n += 1
        if ch == "N":
            break
    return n, next(it), "".join(it)


def case_methods():
    n = 0
    for ch in "a1b2" * N:
        if ch.isdigit():
            n += int(ch)
    return n


def case_modes(mode="fast"):
    n = 0
    for k in range(N):
        if mode == "fast":
            n += k
        elif mode == "s":
            n -= k
    return n


def case_one_letter_modes():
    out = []
    for mode in ("r", "w", "rw", "r"):
        n = 0
        for k in range(N):
            if mode == "r":
                n += k
            elif mode == "w":
                n -= k
        out.append((mode, n))
    return out
