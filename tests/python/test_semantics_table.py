"""Every operator, builtin, math and NumPy function that has a model, on every pair of operand kinds and on interesting values,
inside a hot loop, against the interpreter: type, bits, exception, warnings.

One generated function per (operation, operand kinds), so that each has a loop and compiled code of its own. The same function is
called with hotloop paused and with hotloop at work; whatever differs is a wrong answer.
"""

import cmath
import itertools
import math
import struct
import time
import warnings

import hotloop
import numpy as np
import pytest

TRIPS = 8

INTS = [0, 1, -1, 2, 3, -7, 10, 63, 64, 255, 2**31, -(2**31), 2**53, 2**53 + 1, 2**62, -(2**63), 2**63 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e308, -1e308, 5e-324, 1e-310, 2.0**53 + 2, 1e20, math.inf, -math.inf, math.nan]


def _np_ints(kind):
    info = np.iinfo(kind)
    return [kind(v) for v in (0, 1, 2, 3, 7, 10, info.max, info.max - 1, info.min, info.min // 2, info.max // 2 + 1)] + (
        [] if info.min == 0 else [kind(-1), kind(-7)]
    )


COMPLEX = [0j, 1 + 0j, -0.0 - 0.0j, 0.5 - 2j, 3e38 + 3e38j, complex(math.inf, 1), complex(math.nan, 0.0), 3 - 4j, -1.25 + 1e-3j]

VALUES = {
    "bool": [False, True],
    "int": INTS,
    "uint": [2**63, 2**63 + 1, 2**64 - 1, 2**63 + 2**62 + 2**10, 2**63 + 3 * 2**10, 5, 2**64],
    "float": FLOATS,
    "complex": [0j, 1 + 0j, -0.0 - 0.0j, 0.5 - 2j, complex(1e308, 1e308), complex(math.inf, 1), complex(math.nan, 0.0), 3 - 4j],
    "np.bool": [np.False_, np.True_],
    "np.float16": [np.float16(v) for v in (0, -0.0, 1, -2.5, 3.7, 65504, -65504, 6e-8, 6.1e-5, math.inf, -math.inf, math.nan, 2049)],
    "np.float32": [np.float32(v) for v in (0, -0.0, 1, -2.5, 3.7, 3e38, -3e38, 1e-45, 1e-38, math.inf, -math.inf, math.nan, 2**24)],
    "np.float64": [np.float64(v) for v in FLOATS],
    "np.complex64": [np.complex64(v) for v in COMPLEX],
    "np.complex128": [np.complex128(v) for v in COMPLEX],
}
for _kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    VALUES["np." + _kind.__name__] = _np_ints(_kind)

BINARY = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", ">="]
UNARY = ["-a", "+a", "~a", "not a", "abs(a)", "int(a)", "float(a)", "bool(a)", "complex(a)", "round(a)", "a.real", "a.imag", "1 if a else 2",
         "a.conjugate()", "a.is_integer()", "a.bit_length()", "a.bit_count()", "a.item()", "round(a, 2)", "round(a, None)"]  # fmt: skip
MATH_1 = (
    "sqrt fabs floor ceil trunc isnan isinf isfinite degrees radians sin cos tan asin acos atan sinh cosh tanh exp expm1 log log2"
    " log10 log1p erf erfc asinh acosh atanh cbrt exp2 gamma lgamma ulp isqrt factorial frexp modf"
).split()
CMATH_1 = "sqrt exp log log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh phase polar isnan isinf isfinite".split()
NUMPY_1 = (
    "sqrt exp log sin cos tan abs floor ceil trunc rint float64 float32 float16 int64 int32 int8 uint8 uint64 bool complex64 complex128 log2 log10"
    " log1p expm1 exp2 sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh cbrt negative positive square reciprocal sign isnan isinf"
    " isfinite conjugate real imag round angle"
).split()
CALLS_2 = [
    "min(a, b)", "max(a, b)", "divmod(a, b)", "pow(a, b)", "complex(a, b)", "math.pow(a, b)", "math.fmod(a, b)", "math.atan2(a, b)",
    "math.copysign(a, b)", "np.arctan2(a, b)", "np.minimum(a, b)", "np.maximum(a, b)", "a < b <= a",
    "math.hypot(a, b)", "math.nextafter(a, b)", "math.remainder(a, b)", "math.gcd(a, b)", "math.lcm(a, b)", "math.comb(a, b)", "math.perm(a, b)",
    "math.ldexp(a, b)", "math.isclose(a, b)", "math.log(a, b)", "np.power(a, b)", "np.add(a, b)", "np.multiply(a, b)", "np.divide(a, b)",
    "np.floor_divide(a, b)", "np.mod(a, b)", "np.bitwise_and(a, b)", "np.left_shift(a, b)", "np.right_shift(a, b)", "np.hypot(a, b)",
    "np.copysign(a, b)", "np.nextafter(a, b)", "np.logaddexp(a, b)", "np.fmod(a, b)", "a and b", "a or b", "a is b",
]  # fmt: skip
KNOWN_RIGHT = ["a + 1", "a - 2.5", "a * 3", "a // 2", "a % 7", "a ** 2", "a ** 3", "a ** 0.5", "a ** -1", "a / 3", "2 ** a", "1 << a", "a >> 1",
               "a & 255", "a == 0", "a < 1.5", "a * 2j", "a + True", "a // -1", "a % -3", "1 / a", "0.0 - a", "300 + a", "a != a"]  # fmt: skip


GROWING = ("**", "<<", "pow(")
COUNTING = ("comb(", "perm(", "factorial(")


def exact(value):
    """A comparable description of a value: its type and its bits (one NaN is as good as another)."""
    if isinstance(value, tuple):
        return tuple(exact(v) for v in value)
    if isinstance(value, (complex, np.complexfloating)):
        return type(value).__name__, exact(float(value.real)), exact(float(value.imag))
    if isinstance(value, (float, np.floating)):
        return type(value).__name__, "nan" if value != value else struct.pack("d", float(value)).hex()
    return type(value).__name__, repr(value)


def observe(function, *args):
    """What one call does: result or exception, and the warnings in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = exact(function(*args))
        except Exception as error:  # noqa: BLE001 - any exception is part of the answer
            outcome = type(error).__name__, str(error), error.__traceback__.tb_next.tb_lineno
    return outcome, [(w.category.__name__, str(w.message), w.lineno) for w in caught]


def make(expression, parameters):
    source = f"def f({parameters}, n):\n    r = None\n    for i in range(n):\n        r = {expression}\n    return r\n"
    space = {"math": math, "cmath": cmath, "np": np}
    exec(compile(source, f"<{expression}>", "exec"), space)
    return space["f"]


def sample(values, count, seed):
    if len(values) <= count:
        return values
    return [values[k] for k in sorted(np.random.default_rng(seed).choice(len(values), count, replace=False))]


def check(expression, columns):
    """Runs `expression` of a (and b) on all combinations of the columns of values."""
    function = make(expression, "a, b" if len(columns) == 2 else "a")
    wrong = []
    for args in itertools.product(*columns):
        if any(text in expression for text in GROWING) and type(args[-1]) is int and abs(args[-1]) > 64:
            continue  # a number with billions of digits
        if any(text in expression for text in COUNTING) and any(isinstance(a, (int, np.integer)) and int(a) > 64 for a in args):
            continue
        with hotloop.paused():
            expected = observe(function, *args, TRIPS)
        actual = observe(function, *args, TRIPS)
        if actual != expected:
            wrong.append((expression, [exact(a) for a in args], expected, actual))
    return wrong


@pytest.fixture(autouse=True)
def low_threshold():
    hotloop.enable(threshold=2)
    yield
    hotloop.disable()


def quick(kept, values):
    """Parameters of which quick runs take only the kept ones."""
    return [pytest.param(value, marks=() if value in kept else pytest.mark.slow) for value in values]


def finish(wrong, before, least):
    assert not wrong, f"{len(wrong)} wrong answers, the first: {wrong[:3]}"
    entries = hotloop.stats()["entries"] - before
    assert entries >= least, f"native code was entered {entries} times only: the table tested the interpreter"


@pytest.mark.parametrize("op", quick(("+", "//", "**", "&", "<<", "<="), BINARY))
def test_binary_operator(op):
    before = hotloop.stats()["entries"]
    wrong = []
    for seed, (ka, kb) in enumerate(itertools.product(VALUES, VALUES)):
        if any("complex" in k for k in (ka, kb)) and op in ("&", "|", "^", "<<", ">>", "//", "%"):
            continue
        wrong += check(f"a {op} b", [sample(VALUES[ka], 6, seed), sample(VALUES[kb], 6, seed + 1)])
    finish(wrong, before, 1 if op == "**" else 20)


@pytest.mark.parametrize("expression", UNARY)
def test_unary(expression):
    before = hotloop.stats()["entries"]
    wrong = [w for kind in VALUES for w in check(expression, [VALUES[kind]])]
    finish(wrong, before, 2)


@pytest.mark.parametrize("expression", KNOWN_RIGHT)
def test_with_a_constant(expression):
    before = hotloop.stats()["entries"]
    wrong = [w for kind in VALUES for w in check(expression, [VALUES[kind]])]
    finish(wrong, before, 0)


@pytest.mark.parametrize("name", MATH_1)
def test_math(name):
    before = hotloop.stats()["entries"]
    wrong = [w for kind in VALUES if "complex" not in kind for w in check(f"math.{name}(a)", [VALUES[kind]])]
    finish(wrong, before, 2)


@pytest.mark.parametrize("name", CMATH_1)
def test_cmath(name):
    before = hotloop.stats()["entries"]
    more = [complex(*np.random.default_rng(k).normal(0, 10.0 ** (k % 5 - 2), 2)) for k in range(40)]
    branches = [complex(re, im) for re in (-2.0, -1.0, -0.0, 0.0, 0.5, 1.0) for im in (-0.0, 0.0, 1e-300, -1e-320, 2.0)]
    wrong = [w for kind in VALUES for w in check(f"cmath.{name}(a)", [VALUES[kind]])]
    wrong += check(f"cmath.{name}(a)", [more + branches + [710 + 1j, -800 + 2j, 1e-310 + 1e-315j, 1e308 + 1e308j]])
    finish(wrong, before, 20)


@pytest.mark.parametrize("kind", [complex, np.complex128, np.complex64])
def test_complex_powers(kind):
    before = hotloop.stats()["entries"]
    rng = np.random.default_rng(5)
    bases = [kind(complex(*rng.normal(0, 2, 2))) for _ in range(8)] + [kind(0j), kind(1), kind(-1.0), kind(1j)]
    right = [0, 1, 2, 3, 5, 8, 9, 40, -1, -2, 101, 0.5, -1.5, 2.0, 1j, 2 - 1j, np.float64(1.5), np.int64(3), np.complex64(0.5j), np.complex128(2 + 1j)]
    wrong = check("a ** b", [bases, right]) + check("b ** a", [bases, right]) + check("pow(a, b)", [bases, right])
    for text in ("a ** 2", "a ** 3", "a ** 0.5", "a ** -1", "a ** -2.5", "a ** (1+2j)", "2 ** a", "1.5 ** a", "a ** 20", "a ** 100"):
        wrong += check(text, [bases])
    finish(wrong, before, 20)


@pytest.mark.parametrize("name", NUMPY_1)
def test_numpy_function(name):
    before = hotloop.stats()["entries"]
    wrong = [w for kind in VALUES for w in check(f"np.{name}(a)", [VALUES[kind]])]
    rng = np.random.default_rng(7)
    for kind in (np.complex128, np.complex64):
        wrong += check(f"np.{name}(a)", [[kind(complex(*rng.normal(0, 10.0 ** (k % 5 - 2), 2))) for k in range(30)]])
    finish(wrong, before, 2)


@pytest.mark.parametrize("expression", quick(CALLS_2[::3], CALLS_2))
def test_two_operands(expression):
    before = hotloop.stats()["entries"]
    wrong = []
    for seed, (ka, kb) in enumerate(itertools.product(VALUES, VALUES)):
        if ka != kb and seed % 5:  # equal kinds all, mixed kinds a fifth
            continue
        wrong += check(expression, [sample(VALUES[ka], 5, seed), sample(VALUES[kb], 5, seed + 1)])
    finish(wrong, before, 1)


DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_store_into_an_element(dtype):
    source = "def NAME(value, out, n):\n    for i in range(n):\n        out[i % 3] = value\n    return out.tobytes()\n"
    wrong = []
    before = hotloop.stats()["entries"]
    for kind, values in VALUES.items():
        space = {}
        name = f"f_{dtype}_{kind}".replace(".", "_")  # equal code would share its loops
        exec(source.replace("NAME", name), space)
        function = space[name]
        for value in values:
            with hotloop.paused():
                expected = observe(function, value, np.zeros(4, dtype), TRIPS)
            actual = observe(function, value, np.zeros(4, dtype), TRIPS)
            if actual != expected:
                wrong.append((dtype, exact(value), expected, actual))
    finish(wrong, before, 5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_augmented_element(dtype):
    wrong = []
    before = hotloop.stats()["entries"]
    for op, (kind, values) in itertools.product(["+=", "-=", "*=", "/=", "//=", "%="], VALUES.items()):
        space = {}
        name = f"f_{dtype}_{ord(op[0])}_{len(op)}_{kind}".replace(".", "_")  # equal code would share its loops
        exec(f"def {name}(value, out, n):\n    for i in range(n):\n        out[i % 3] {op} value\n    return out.tobytes()\n", space)
        function = space[name]
        for value in sample(values, 7, len(kind)):
            start = (np.arange(4) * 3 + 1).astype(dtype)
            with hotloop.paused():
                expected = observe(function, value, start.copy(), TRIPS)
            actual = observe(function, value, start.copy(), TRIPS)
            if actual != expected:
                wrong.append((dtype, op, exact(value), expected, actual))
    finish(wrong, before, 5)


@pytest.mark.parametrize("kind", VALUES)
def test_index_kinds(kind):
    # The name makes the code another one for each kind: equal code shares its versions, which are few.
    source = f"def f(i, a, n, name={kind!r}):\n    r = {kind!r}\n    for k in range(n):\n        r = a[i]\n    return r\n"
    time.sleep(0.03)  # a recording that was left open gives way
    before = hotloop.stats()["entries"]
    space = {}
    exec(source, space)
    wrong = []
    for value in VALUES[kind]:
        for array in (np.arange(11), np.arange(3.0)):
            with hotloop.paused():
                expected = observe(space["f"], value, array, TRIPS)
            for _ in range(20):  # other loops, this one too, are recorded meanwhile
                actual = observe(space["f"], value, array, TRIPS)
                if actual[1] != expected[1] or repr(actual[0]) != repr(expected[0]):
                    wrong.append((exact(value), expected, actual))
    finish(wrong, before, 1 if "int" in kind else 0)
