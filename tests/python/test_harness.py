"""The differential harness itself: it sees each kind of difference and survives crashes and hangs."""
import struct

import harness
import numpy as np
import pytest
from encode import differences, encode

PROGRAM = """
import warnings, sys
import numpy as np

def case_value():
    return [1, 2.5, np.float64(2.5), np.zeros(3, np.uint8)]

def case_error():
    a = 5
    for i in range(TRIPS):
        b = 1 // (40 - i)

def case_warning():
    return np.float64(1) / np.float64(0)

def case_output():
    print("text")

def case_caught_state():
    return locals()
"""


def other(old, new):
    assert old in PROGRAM
    return PROGRAM.replace(old, new)


def run(source):
    return harness.run_batch([harness.program(source=source, name="p")], harness.PLAIN)


@pytest.fixture(scope="module")
def reference():
    return run(PROGRAM)


def test_equal_programs_are_equal(reference):
    assert set(reference.cases) == {f"p::case_{x}" for x in ("value", "error", "warning", "output", "caught_state")}
    assert harness.compare(reference, run(PROGRAM)) == {}


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize("case, old, new", [
    ("value", "2.5,", "2.5000000000000004,"),
    slow("value", "2.5,", "np.float64(2.5),"),
    slow("value", "np.uint8", "np.int8"),
    slow("value", "[1,", "[True,"),
    ("error", "1 //", "1 %"),
    slow("error", "40 - i", "41 - i"),
    slow("error", "a = 5", "a = 5.0"),
    slow("error", "    a = 5\n", "    a = 5\n\n"),
    ("warning", "np.float64(1) /", "np.float64(0) /"),
    slow("warning", "    return np.float64(1)", "\n    return np.float64(1)"),
    ("output", '"text"', '"texts"'),
])
def test_each_difference_is_seen(reference, case, old, new):
    diffs = harness.compare(reference, run(other(old, new)))
    assert f"p::case_{case}" in diffs


def test_crash_and_hang_are_blamed_and_the_rest_runs():
    source = """
import os, time
def case_a(): return 1
def case_b(): os.kill(os.getpid(), 11)
def case_c(): return 3
def case_d(): time.sleep(60)
def case_e(): return 5
"""
    jobs = [harness.program(source=source, name="p"), harness.program(source="def case(): return 7", name="q")]
    r = harness.run_batch(jobs, harness.PLAIN, timeout=2)
    assert [("crash" in r.cases[f"p::case_{x}"]) for x in "abcde"] == [False, True, False, True, False]
    assert r.cases["p::case_d"]["crash"] == "hung"
    assert r.cases["q::case"]["value"] == "int 7"


def test_module_variables_are_compared():
    a = harness.run_batch([harness.program(source="for i in range(3): s = i", name="m", entry="module")], harness.PLAIN)
    b = harness.run_batch([harness.program(source="for i in range(3): s = i + 1", name="m", entry="module")],
                          harness.PLAIN)
    assert a.cases["m::module"]["module"] == [["i", "int 2"], ["s", "int 2"]]
    assert harness.compare(a, b)


NAN2 = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]


@pytest.mark.parametrize("a, b", [
    (0.0, -0.0), (1, 1.0), (1, True), (1, np.int64(1)), (1.0, np.float64(1)), (np.float32(1), np.float64(1)),
    (0j, -0j), (np.zeros(2), np.zeros(2, np.float32)), (np.zeros(2), np.array([0.0, -0.0])), ([1], (1,)),
    (np.zeros((2, 3)), np.zeros((2, 3), order="F")), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (2 ** 70, 2 ** 70 + 1),
    (np.True_, True), (iter(range(3)), iter(range(1, 3))), (np.zeros(3)[::-1], np.zeros(3)), (None, 0),
])
def test_encoding_tells_apart(a, b):
    assert encode(a) != encode(b)
    assert differences(encode([a]), encode([b]))


def test_encoding_of_nan_and_cycles():
    assert encode(float("nan")) == encode(NAN2)
    assert encode(float("nan"), nan_bits=True) != encode(NAN2, nan_bits=True)
    assert encode(np.array([np.nan, 1])) == encode(np.array([NAN2, 1]))
    x = []
    x.append(x)
    assert encode(x) == ["list", "cycle"]


def test_large_arrays_by_digest():
    a = np.arange(10000.0)
    b = a.copy()
    b[9999] = np.nextafter(b[9999], 0)
    assert encode(a) != encode(b)
