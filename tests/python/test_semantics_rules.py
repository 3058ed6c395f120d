"""NumPy's and Python's rules for scalars and single elements, each inside a hot loop, compiled, against the interpreter.

One test per rule (its name says which) and threshold. A rule is some expressions of x, y (or statements on an element of `a`) and the
values to run them on; ordinary values come first, so that native code is there when the remarkable ones come. Compared: type, bits,
exceptions, warnings, the array's bytes. Native code must have been entered.
"""

import dataclasses
import functools
import itertools
import math
import time
import warnings

import hotloop
import numpy as np
import pytest
from test_semantics_table import exact, observe

f2, f4, f8, c8, c16 = np.float16, np.float32, np.float64, np.complex64, np.complex128
i1, i2, i4, i8, u1, u2, u4, u8, b1 = np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool
inf, nan = math.inf, math.nan
SIGNED, UNSIGNED, FLOATS, COMPLEX = (i1, i2, i4, i8), (u1, u2, u4, u8), (f2, f4, f8), (c8, c16)
INTS = SIGNED + UNSIGNED
ALL = (b1, *INTS, *FLOATS, *COMPLEX)


@dataclasses.dataclass
class Rule:
    """`text`: expressions (or statements on a[i]); `x`, `y`: values; `raises`: at once, always, so that no loop gets hot."""

    name: str
    text: list
    x: list
    y: list = dataclasses.field(default_factory=lambda: [None])
    dtypes: list = dataclasses.field(default_factory=lambda: [None])  # of the array `a`, for statements
    raises: bool = False


def of(kinds, *values):
    """Each value in each kind; what a kind cannot hold is left out."""
    result = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in kinds:
            for value in values:
                try:
                    result.append(kind(value))
                except (OverflowError, ValueError):
                    pass
    return result


def edges(kinds):
    return [kind(v) for kind in kinds for v in (1, 7, np.iinfo(kind).max, np.iinfo(kind).min, 0)]


RULES = [
    Rule("D1_1_weak_numbers_keep_the_dtype", ["x + 1", "x * True", "2 - x"], of((*INTS, *FLOATS, *COMPLEX), 1, 3)),
    Rule("D1_1_weak_floats_and_complex", ["x + 1.5", "1e-9 * x"], of((*FLOATS, *COMPLEX), 1, 2.5)),
    Rule("D1_2_weak_numbers_of_higher_kind", ["x + 1.0", "x * 0.5"], of((b1, *INTS), 1, 100)),
    Rule("D1_2_weak_complex", ["x + 1j", "x - 2j", "x * (1.5+2j)"], of((b1, *INTS, *FLOATS), 1, 2.5)),
    Rule("D1_2_bool_with_int", ["x + 1", "x - 3", "x & 5"], [b1(1), b1(0)]),
    Rule("D1_3_numpy_scalars_are_strong", ["x + y"], of(ALL, 1, 3), of(ALL, 2)),
    Rule("D1_5_python_int_out_of_range", ["x + 300", "300 - x", "x & -1", "x // 70000", "x << 200", "x ** 300"], of(INTS, 1, 7)),
    Rule("D1_6_python_float_too_large", ["x + 3e38", "x + 3e100", "x * 70000.0"], of(FLOATS, 0, 1)),
    Rule("D1_7_exact_comparison_with_ints", ["x < 300", "x == -1", "x >= -5", "-1 < x", "x != 255"], of(INTS, 1, 0, 255)),
    Rule("D1_8_mixed_signs", ["x + y", "x * y", "x // y", "x % y"], edges(SIGNED), of(UNSIGNED, 1, 2, 255)),
    Rule("D1_8_mixed_sign_bits", ["x | y", "x & y", "x ^ y", "x >> y"], edges(SIGNED), of((u1, u2, u4), 1, 255)),
    Rule("D1_8_int64_uint64_bits", ["x | y"], [i8(1)], [u8(1)], raises=True),
    Rule("D1_8_mixed_sign_comparisons", ["x < y", "x == y", "y > x", "x >= y", "y != x", "y <= x"], [i8(1), i8(-1), i8(2**62 + 1)],
         [u8(1), u8(2**64 - 1), u8(2**62), u8(2**63)]),
    Rule("D1_9_true_division_of_integers", ["x / y", "x / 2", "7 / x"], of((b1, *INTS), 1, 7), of((b1, *INTS), 1, 3)),
    Rule("D1_9_true_division_with_floats", ["x / y"], of(FLOATS, 7), of((i1, i2, i4), 2)),
    Rule("D1_10_unary_functions_choose_the_float", ["np.sqrt(x)", "np.exp(x)", "np.tanh(x)"], [*of((b1, *INTS, *FLOATS), 1, 4), 4, 4.0, True]),
    Rule("D1_10_rounding_functions", ["np.floor(x)", "np.ceil(x)", "np.trunc(x)", "np.rint(x)"], of((*INTS, *FLOATS), 3, -1)),
    Rule("D1_10_hypot_of_integers", ["np.hypot(x, y)"], of(INTS, 3), of(INTS, 4)),
    Rule("D1_12_bool_operators", ["x + y", "x * y", "x & y", "x | y", "x ^ y", "x / y", "x < y", "x == y"], [b1(1), b1(0)], [b1(1), True]),
    Rule("D1_12_bool_operators_in_int8", ["x // y", "x % y", "x ** y", "x << y", "x >> y"], [b1(1), b1(0)], [b1(1), True, b1(0)]),
    Rule("D1_12_bool_subtract", ["x - y"], [b1(1)], [b1(1)], raises=True),
    Rule("D1_12_invert_and_abs", ["~x", "abs(x)", "not x"], [b1(1), b1(0)]),
    Rule("D2_1_elements_are_scalars", ["a[i]", "a[i].item()", "a[i].real"], [None], dtypes=list(ALL)),
    Rule("D2_3_round_to_int", ["round(x)", "int(x)"], of((*INTS, *FLOATS), 2.5, 3, -1.5, inf, nan)),
    Rule("D2_3_round_to_digits", ["round(x, 2)", "round(x, 0)"], [*of(FLOATS, 2.675, -1.005, 1e38), 2.675, -1.005, 2.5, 1e300, nan]),
    Rule("D2_3_floor_and_ceil_of_scalars", ["math.floor(x)", "math.ceil(x)"], of((*INTS, *FLOATS), 2, 3.5, -7)),
    Rule("D2_4_min_and_max_return_an_operand", ["min(x, y)", "max(x, y)", "max(y, x)"], [f8(1), f8(nan), f8(-0.0), f4(2)], [f8(2), f8(nan), f8(0.0), 1.5]),
    Rule("D2_5_float64_is_a_float", ["x == 0.1", "x == y", "x < 1"], [f4(0.1), f8(0.1), f2(0.1)], [f8(0.1), f4(0.1)]),
    Rule("D2_5_complex_order_is_lexicographic", ["x < y", "x >= y", "x == y", "x != y"], [c16(1 + 2j), c16(1 + 3j), c16(nan), c8(1)], [c16(1 + 2j), c8(2 - 1j)]),
    Rule("D2_7_unary_plus_makes_a_scalar", ["+x"], of((*INTS, *FLOATS, *COMPLEX), 1, -0.0)),
    Rule("D2_8_unsafe_pairs_go_through_the_ufunc", ["x + y", "x / y", "x * y", "x ** y"], [f4(1.5), i8(3), f8(2.5)], [i4(3), 2.5, c8(1 + 2j), 1.5j]),
    Rule("D3_1_python_integer_errors", ["x // y", "x % y", "divmod(x, y)", "x / y"], [7, -7, 2**62, -(2**63)], [2, -3, 0, -1]),
    Rule("D3_1_shifts_of_python_ints", ["x << y", "x >> y"], [1, -5, 2**40, 0], [1, 3, 63, 64, 200, -1]),
    Rule("D3_1_powers_of_python_ints", ["x ** y", "pow(x, y)"], [2, -3, 1, -1, 0, 10], [2, 5, 18, 63, 64, -1, 0]),
    Rule("D3_2_scalars_wrap_and_warn", ["x + y", "x - y", "x * y"], edges(INTS), [1, 2]),
    Rule("D3_2_negative_and_absolute", ["-x", "abs(x)"], edges(INTS)),
    Rule("D3_3_division_by_zero", ["x // y", "x % y", "divmod(x, y)"], edges(INTS), [1, 3, 0]),
    Rule("D3_3_minimum_by_minus_one", ["x // y", "x % y", "divmod(x, y)"], edges(SIGNED), [2, -1]),
    Rule("D3_4_ufunc_calls_wrap_silently", ["np.add(x, y)", "np.multiply(x, y)", "np.subtract(x, y)", "np.negative(x)", "np.abs(x)"], edges(INTS), [1]),
    Rule("D3_5_integer_powers", ["x ** y", "x ** 2", "x ** 9"], of(INTS, 2, 3, 11, 0), [*of(INTS, 3, 7), 2]),
    Rule("D3_5_negative_integer_powers", ["x ** y", "x ** -1"], [i8(2), i8(0), u1(3)], [i8(2), i8(-1)]),
    Rule("D3_5_integer_with_float_exponent", ["x ** 1.5", "x ** y", "2.5 ** x"], of(INTS, 2, 9), [0.5, -1.0, f8(2.5)]),
    Rule("D3_6_shift_counts", ["x << y", "x >> y"], edges(INTS), of((i1, i4, u1, u8), 1, 7, 8, 31, 64, -1)),
    Rule("D3_7_floats_with_ints", ["x == 2**53 + 1", "x < 2**53 + 1", "x == 16777217"], [f8(2**53), f4(2**24), f8(1), 2.0**53]),
    Rule("D3_8_int_to_float_rounds_once", ["float(x)", "np.float64(x)", "np.float32(x)", "x + 0.0"], [i8(2**53 + 1), i8(2**40 + 2**16 + 1), u8(2**64 - 1), u8(2**63 + 1025)]),
    Rule("D4_1_python_float_division", ["x / y", "x // y", "x % y", "divmod(x, y)"], [1.5, -7.0, 1e308, inf], [2.0, -0.3, 0.0, inf, nan]),
    Rule("D4_2_scalar_division_warns", ["x / y", "x // y", "x % y", "divmod(x, y)"], of(FLOATS, 1.5, -7, 0, inf), [2.0, -0.25, 0.0]),
    Rule("D4_2_scalar_overflow_and_invalid", ["x * 10", "x - inf", "x + x"], of(FLOATS, 1.5, 65504, 3e38, 1e308, inf, nan)),
    Rule("D4_10_arithmetic_is_two_roundings", ["x * y + x", "x * x - y * y"], of(FLOATS, 1.1, 0.3), of(FLOATS, 0.7, 3)),
    Rule("D4_11_half_is_single_rounded_once", ["x + y", "x * y", "x / y", "x // y", "x % y", "x ** y", "np.sqrt(x)", "-x", "abs(x)"],
         of([f2], 1.1, 0.3, 2049, 6e-8, 65504, -2.5), of([f2], 0.7, 3, 6.1e-5)),
    Rule("D4_12_powers_are_c_pow", ["x ** y", "x ** 2", "x ** 3", "x ** 0.5", "x ** -1", "math.pow(x, y)"], [1.1, 3.7, f8(1.1), f8(2.3), f4(1.7), 0.0, f8(-8)],
         [2, 0.5, f8(2.0), f4(3), 1 / 3]),
    Rule("D4_14_np_power", ["np.power(x, y)"], [f8(1.1), f4(1.7), f2(1.5), i8(3), 2.5], [2, 2.0, 0.5, -1.0, f8(3)]),
    Rule("D4_15_complex_scalars", ["x + y", "x - y", "x * y", "x / y", "x ** 2", "abs(x)", "-x", "x.conjugate()"], of(COMPLEX, 1.1 + 2.3j, 0.7 - 1e-3j, 0j),
         [*of(COMPLEX, 3.3 + 4.1j, -1.9 + 0.3j), 1.5, 2 - 1j, 0, f8(0.1), i4(3)]),
    Rule("D4_15_python_complex", ["x * y", "x / y", "x + y", "x ** 2", "abs(x)"], [1.1 + 2.3j, 0.7 - 1e-3j, 0j], [3.3 + 4.1j, -1.9 + 0.3j, 2.5, 0j]),
    Rule("D4_15_attributes_of_complex", ["x.real", "x.imag", "x.real * x.imag", "complex(x)", "bool(x)"], [*of(COMPLEX, 1.5 - 2j, 0j), 1.5 - 2j]),
    Rule("D4_4_complex_division_by_zero", ["x / 0", "x / y"], of(COMPLEX, 1, 1 + 1j, 0), of(COMPLEX, 2, 0)),
    Rule("D4_5_rounding_keeps_floats", ["np.floor(x)", "np.ceil(x)", "np.trunc(x)", "np.rint(x)", "np.round(x, 2)", "np.round(x)"], of(FLOATS, -0.5, 2.5, 1.15)),
    Rule("D4_6_minimum_and_maximum", ["np.maximum(x, y)", "np.minimum(x, y)", "np.maximum(y, x)"], of(FLOATS, 1, -0.0, nan), of(FLOATS, 2, 0.0, nan)),
    Rule("D4_6_sign_and_tests", ["np.sign(x)", "np.isnan(x)", "np.isinf(x)", "np.isfinite(x)"], of((*FLOATS, i1, u1, i8), 2, -0.0, nan, inf, -3)),
    Rule("D4_17_math_functions_take_doubles", ["math.sqrt(x)", "math.sin(x)", "math.log(x)", "math.hypot(x, 3)"], [*of((*INTS, *FLOATS), 2, 4), 2, 2.5, True, -1.0]),
    Rule("D5_4_one_warning_per_scalar_operation", ["x / 0 + x / 0", "(x * 10) / 0"], of(FLOATS, 1, 6e4)),
    Rule("D6_1_python_int_into_an_element", ["a[i] = x"], [1, 100, 200, 300, -1, 70000, 2**40], dtypes=list(ALL)),
    Rule("D6_2_numpy_int_into_an_element", ["a[i] = x"], of(INTS, 1, 100, 300, -1), dtypes=list(ALL)),
    Rule("D6_3_float_into_an_element", ["a[i] = x"], [3.9, -3.9, 300.7, 1e30, nan, inf, *of(FLOATS, 3.9, -1.0, 300.7, nan)], dtypes=list(ALL)),
    Rule("D6_5_complex_into_an_element", ["a[i] = x"], [1 + 2j, c16(1.5 - 2j), c8(3)], dtypes=[c8, c16, b1]),
    Rule("D6_5_complex_into_a_real_element", ["a[i] = x"], [c16(1 + 2j)], dtypes=[f8], raises=True),
    Rule("D6_5_bool_into_an_element", ["a[i] = x"], [True, False, b1(1)], dtypes=list(ALL)),
    Rule("D6_6_augmented_elements", ["a[i] += x", "a[i] *= x", "a[i] -= x"], [1, 2, f8(1.5), i8(3), u1(100), True], dtypes=list(ALL)),
    Rule("D6_6_augmented_division", ["a[i] /= x", "a[i] //= x", "a[i] %= x"], [2, 3, f8(1.5), 0], dtypes=[*INTS, *FLOATS]),
    Rule("D6_6_augmented_bits", ["a[i] |= x", "a[i] &= x", "a[i] ^= x", "a[i] <<= x"], [1, 3, i1(2), True], dtypes=[b1, *INTS]),
    Rule("D6_9_swap_of_elements", ["a[i], a[0] = a[0], a[i]"], [None], dtypes=list(ALL)),
    Rule("D7_1_indices", ["a[x]"], [0, -1, 2, 3, -4, 5, *of(INTS, 1, -1, 5)], dtypes=[f8, c16, i2, f2]),
]  # fmt: skip


numbers = itertools.count()


@functools.cache
def make(name, text, kinds):
    """One function for each combination of kinds, so that each has a loop of its own (equal code shares its loops)."""
    body = f"{text}\n        r = a[i]" if is_statement(text) else f"r = {text}"
    function = f"f{next(numbers)}"
    source = f"def {function}(x, y, a, n):\n    r = None\n    for k in range(n):\n        i = k % 3\n        {body}\n    return r\n"
    space = {"math": math, "np": np}
    exec(compile(source, f"<{name} {text} {kinds}>", "exec"), space)
    return space[function]


def is_statement(text):
    return text.startswith("a[i]") and "=" in text.replace("==", "")


def array(dtype):
    if dtype is None:
        return None
    values = np.array([1, 2, 3, 0]) if dtype is b1 else np.array([1, 2, 5, 7])
    return values.astype(dtype) * (dtype(1 + 2j) if dtype in COMPLEX else dtype(1))


def differences(rule, trips):
    wrong = []
    for text in rule.text:
        for x, y, dtype in itertools.product(rule.x, rule.y, rule.dtypes):
            function = make(f"{rule.name} {trips}", text, (type(x), type(y), dtype))
            results = []
            for native in (False, True):
                a = array(dtype)
                if native:
                    seen = observe(function, x, y, a, trips)
                else:
                    with hotloop.paused():
                        seen = observe(function, x, y, a, trips)
                results.append((seen, None if a is None else a.tobytes()))
            if results[0] != results[1]:
                wrong.append((text, exact(x), exact(y), dtype, *results))
    return wrong


@pytest.fixture
def trips(request):
    hotloop.disable()
    hotloop.enable(**({"threshold": request.param} if request.param else {}))
    yield 8 if request.param else 1600
    hotloop.disable()


def rules_and_thresholds():
    """Every rule at both thresholds; quick runs take a fifth of the long loops."""
    for k, rule in enumerate(RULES):
        yield pytest.param(rule, 2, id=f"threshold2-{rule.name}")
        yield pytest.param(rule, None, id=f"default-{rule.name}", marks=pytest.mark.slow if k % 5 else ())


@pytest.mark.parametrize("rule, trips", list(rules_and_thresholds()), indirect=["trips"])
def test_rule(rule, trips):
    if trips > 100 and len(rule.text) * len(rule.x) * len(rule.y) * len(rule.dtypes) > 60:
        rule = dataclasses.replace(rule, text=rule.text[:3], x=rule.x[:: 1 + len(rule.x) // 6], y=rule.y[:: 1 + len(rule.y) // 3])
    before = hotloop.stats()["entries"]
    for _ in range(3):
        wrong = differences(rule, trips)
        assert not wrong, f"{len(wrong)} wrong answers, the first: {wrong[:3]}"
        if rule.raises or hotloop.stats()["entries"] > before:
            return
        time.sleep(0.03)  # a recording that was left open by an earlier test gives way
    raise AssertionError("the rule was not run by native code")
