"""``explain``: by source line what is typed, what is carried and why, and what compiling cost."""

from __future__ import annotations

import math
import struct
import sys

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook import reports
from autodiff_hook.runtime.specialising import GENERIC, ONE_WAY

typed = pytest.mark.skipif(GENERIC, reason="there are no specialised programs")


def helper(x):
    y = math.sin(x)
    return y * x


def total(x):
    result = 0.0
    for _ in range(4):
        result += helper(x)
    return result


def compiles(x):
    y = helper(x)
    compile("0", "", "eval")
    return y * y


def packs(x):
    data = struct.pack("d", x)
    return x * struct.unpack("d", data)[0]


def mixed(x, items):
    result = 0.0
    for item in items:
        result += x if item == "a" else x * x
    return result


def rare(x):
    if x > 100.0:
        return x * eval("2.0", {})
    return x


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def by_name(found):
    return {function.name: function for function in found.functions}


@typed
def test_what_is_typed_is_listed_by_line_with_what_is_inlined():
    found = by_name(ad.explain(total, 2.0))
    assert [line.number for line in found["total"].lines] == [line_of(total, n) for n in (1, 2, 3, 4)]
    assert {line.how for function in found.values() for line in function.lines} == {"typed"}
    assert found["helper"].what == "within total" and not found["helper"].times
    assert found["total"].seconds > 0.0 and {"infer", "adjoint", "emit"} <= found["total"].times.keys()


@typed
def test_the_line_that_keeps_a_function_from_being_typed_has_the_reason():
    found = by_name(ad.explain(compiles, 2.0))
    carried = {line.number: line.reason for line in found["compiles"].lines if line.reason}
    assert found["compiles"].how == "carried" and list(carried) == [line_of(compiles, 2)]
    assert carried[line_of(compiles, 2)].startswith("a call of compile")
    assert found["compiles"].times.keys() == {"refused", "carry"}
    assert (found["helper"].how, found["helper"].what) == ("typed", "apart")


@typed
def test_one_way_and_lines_at_which_a_program_gives_up():
    found = by_name(ad.explain(mixed, 1.5, ["a", 1]))
    assert (found["mixed"].how, found["mixed"].what) == ("typed", "for one way")
    if not ONE_WAY:
        lines = {line.number: line for line in by_name(ad.explain(rare, 1.5))["rare"].lines}
        assert lines[line_of(rare, 1)].how == lines[line_of(rare, 3)].how == "typed"
        assert lines[line_of(rare, 2)].how == "carried" and "a call of eval" in lines[line_of(rare, 2)].reason


def test_native_calls_and_the_error_are_part_of_it():
    found = ad.explain(packs, 2.0)
    lines = {line.number: line for line in by_name(found)["packs"].lines}
    assert lines[line_of(packs, 1)].how == "native" and "struct.pack" in lines[line_of(packs, 1)].reason
    assert found.error is not None and "struct.pack" in found.error


def test_what_the_function_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        ad.explain(lambda x: x / 0.0, 1.0)


@typed
def test_what_is_no_python_code():
    found = ad.explain(math.sin, 1.0)
    assert found.functions == () and "math.sin" in "".join(found.notes)


def test_under_a_debugger():
    before = sys.gettrace()
    sys.settrace(lambda *event: None)
    try:
        found = ad.explain(helper, 2.0)
    finally:
        sys.settrace(before)
    assert [function.how for function in found.functions] == ["carried"]
    assert GENERIC or "debugger" in found.notes[0]


@typed
def test_why_it_was_given_up_before():
    def fails(x, given):
        return x * len({given[0]})

    for n in range(30):
        ad.gradient(fails, 1.5, [float(n)])
    assert ad.explain(fails, 1.5, [1.0]).functions


def test_the_trace_has_the_same_text(monkeypatch, capsys):
    monkeypatch.setenv("AUTODIFF_TRACE", "1")
    with reports.collecting() as told:
        ad.gradient(lambda x: x * len(str(np.float64(x))), 2.0)
    said = capsys.readouterr().err.splitlines()
    assert told and [f"autodiff: {report}" for report in told] == said


@pytest.mark.parametrize("columns", [60, 100])
def test_the_text_fits(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for function, args in ((total, (2.0,)), (compiles, (2.0,)), (packs, (2.0,))):
        text = str(ad.explain(function, *args))
        # File names have no place to be broken at.
        assert all(len(line) <= columns for line in text.splitlines() if __file__ not in line), text
        assert text == repr(ad.explain(function, *args)) or "ms" in text
