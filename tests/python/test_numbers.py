"""Numbers beyond the tables: dtypes that are refused by name, decimal rounding and integer functions on many values, complex kernels.

Each function runs hot with hotloop and is compared with the interpreter.
"""

import math
import time

import hotloop
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def low_threshold():
    hotloop.enable(threshold=2)
    time.sleep(0.03)  # a recording that was left open gives way
    yield
    hotloop.disable()


def both(function, *args):
    with hotloop.paused():
        expected = function(*args)
    return function(*args), expected


def swapped(n):
    return np.arange(n, dtype=np.dtype("f8").newbyteorder())


def unaligned(n):
    return np.frombuffer(b"x" + np.arange(float(n)).tobytes(), dtype=np.uint8)[1:].view("f8")


def structured(n):
    return np.zeros(n, dtype=[("a", "f8"), ("b", "i4")])


class Sub(np.ndarray):
    pass


REFUSED = {
    "longdouble": (lambda n: np.arange(n, dtype=np.longdouble), "UnsupportedDtype", "longdouble" if np.longdouble is np.float64 else "float128"),
    "clongdouble": (lambda n: np.arange(n, dtype=np.clongdouble), "UnsupportedDtype", "complex256"),
    "object": (lambda n: np.array([1, 2.5, 3] * n, dtype=object), "UnsupportedDtype", "object"),
    "datetime": (lambda n: np.arange(n).astype("datetime64[s]"), "UnsupportedDtype", "datetime64[s]"),
    "timedelta": (lambda n: np.arange(n).astype("timedelta64[ms]"), "UnsupportedDtype", "timedelta64[ms]"),
    "string": (lambda n: np.array(["ab"] * n), "UnsupportedDtype", "<U2"),
    "bytes": (lambda n: np.array([b"ab"] * n), "UnsupportedDtype", "|S2"),
    "structured": (structured, "UnsupportedDtype", "[('a', '<f8'), ('b', '<i4')]"),
    "swapped": (swapped, "ArrayLayout", ">f8"),
    "unaligned": (unaligned, "ArrayLayout", "float64"),
    "subclass": (lambda n: np.arange(float(n)).view(Sub), "ArraySubclass", "Sub"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_dtypes_refused_by_name(name):
    make, reason, detail = REFUSED[name]
    space = {}
    exec(f"def f_{name}(a, n):\n    r = None\n    for i in range(n):\n        r = a[i]\n    return r\n", space)
    function = space[f"f_{name}"]
    array = make(40)
    for _ in range(8):  # another loop may be the one that is recorded
        actual, expected = both(function, array, 40)
        assert repr(actual) == repr(expected) and type(actual) is type(expected)
        if detail in str(hotloop.explain(function)):
            break
    assert detail in str(hotloop.explain(function))
    assert hotloop.stats()["refusals"].get(reason, 0) > 0


def test_round_to_digits_of_many_floats():
    def rounded(values, digits, out, n):
        for i in range(n):
            out[i] = round(float(values[i]), digits)
        return out

    generator = np.random.default_rng(7)
    values = np.concatenate([
        generator.standard_normal(400) * 10.0 ** generator.integers(-12, 12, 400), np.arange(-100, 100) / 8, np.arange(200) * 0.005 + 0.0005,
        generator.random(100) * 1e16, [0.0, -0.0, 5e-324, 2.675, 1.005, 1e22, 1.7976931348623157e308],
    ])  # fmt: skip
    for digits in (0, 1, 2, 3, 5, 10, 15, 17, 22, 50):
        actual, expected = both(lambda: rounded(values, digits, np.zeros(len(values)), len(values)).tobytes())
        assert actual == expected
    assert hotloop.stats()["entries"] > 0


def test_integer_functions_of_many_values():
    def functions(values, n):
        total = []
        for i in range(n - 1):
            x = int(values[i])
            y = int(values[i + 1])
            g = math.gcd(x, y)
            h = math.isqrt(abs(x))
            k = x.bit_length() * 100 + y.bit_count()
            c = math.comb(abs(x) % 70, abs(y) % 40)
            p = (x % 11) ** (y % 16)
            total.append((g, h, k, c, p, math.perm(abs(x) % 20, abs(y) % 15), math.factorial(abs(x) % 22)))
        return total

    generator = np.random.default_rng(3)
    values = np.concatenate([generator.integers(-(2**62), 2**62, 60), generator.integers(-1000, 1000, 60), np.arange(60) ** 2, [2**63 - 1, -(2**63) + 1, 3037000499**2]])
    actual, expected = both(functions, values, len(values))
    assert actual == expected


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("step", [1, -2])
def test_complex_kernel(dtype, step):
    def kernel(a, b, out, n):
        s = a[0] * 0
        for i in range(n):
            z = a[i] * b[i] + a[i] / b[n - 1 - i]
            out[i] = z * z - b[i].conjugate()
            s = s + out[i]
            if abs(z) > 50:
                out[i] = z.real
        for z in out:
            s += z
        return s, out.tobytes()

    generator = np.random.default_rng(5)
    parts = generator.standard_normal((4, 300)) * 3
    a = (parts[0] + 1j * parts[1]).astype(dtype)[::step]
    b = (parts[2] + 1j * parts[3]).astype(dtype)[::step]
    before = hotloop.stats()["entries"]
    for _ in range(10):  # other loops may be recorded meanwhile
        actual, expected = both(lambda: kernel(a, b, np.zeros(len(a), dtype), len(a)))
        assert actual[1] == expected[1] and actual[0].tobytes() == expected[0].tobytes() and type(actual[0]) is type(expected[0])
    assert hotloop.stats()["entries"] > before, (hotloop.stats(), hotloop.explain(kernel))


def test_half_kernel():
    def kernel(a, out, n):
        s = np.float16(0)
        for i in range(1, n):
            out[i] = a[i] * a[i - 1] + out[i - 1] / 2
            s = s + out[i] * 0.001
        return s, out.tobytes()

    a = (np.random.default_rng(1).standard_normal(500) * 4).astype("float16")
    before = hotloop.stats()["entries"]
    actual, expected = both(lambda: kernel(a, np.zeros(len(a), "float16"), len(a)))
    assert actual == expected and type(actual[0]) is np.float16
    assert hotloop.stats()["entries"] > before


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.uint16, np.complex64, np.complex128, np.bool])
def test_items_of_lists(kind):
    def total(items, n):
        s = items[0]
        for i in range(n):
            s = items[i] if i % 3 else s
            if items[i] != items[0]:
                s = items[i]
        return s

    items = [kind(v) for v in (1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0)]
    for _ in range(3):
        actual, expected = both(total, items, len(items))
        assert actual == expected and type(actual) is type(expected)
