"""The carried program: what stands beside the primal, and what does not."""

from __future__ import annotations

import re

from autodiff_hook.ir.printer import to_text
from autodiff_hook.lift import lift
from autodiff_hook.semantics.analysing import analyse
from autodiff_hook.semantics.table import TABLE
from autodiff_hook.transform.generic.carrying import carrying_pass
from autodiff_hook.transform.generic.primal import Primal


def carried(f):
    text = to_text(carrying_pass(analyse(f.__code__, f.__globals__), TABLE))
    return re.sub(r"autodiff_hook\.semantics\.\w+\.", "", text).splitlines()


def operations(f):
    """What each line does, without its operands."""
    return [re.sub(r"^%\d+ = | %.*", "", line.strip()) for line in carried(f)[1:]]


def test_a_token_stands_beside_each_value():
    assert carried(lambda x: x * x) == [
        "function <lambda>(%1, %2, %3)",
        "b0(%1, %2, %3):",
        "    %4 = project[0] %2",
        "    %5 = build_tuple %4 %4",
        "    %6 = call[] binary %1 %5 '*' %3 %3",
        "    %7 = unpack[2, None] %6",
        "    %8 = project[0] %7",
        "    %9 = project[1] %7",
        "    %10 = build_tuple %8 %9",
        "    return %10",
    ]


def test_tuples_of_values_have_tuples_of_tokens():
    assert carried(lambda x: (x, 1.0))[3:-1] == [
        "    %5 = build_tuple %3 1.0",
        "    %6 = call[] tuple_token %4 None",
        "    %7 = build_tuple %5 %6",
    ]


def test_what_is_certainly_constant_has_none():
    def f(x):
        return x is None

    assert carried(f)[3:] == ["    %5 = is %3 None", "    %6 = build_tuple %5 None", "    return %6"]


def test_items_come_with_tokens():
    def f(xs):
        y = 0.0
        for x in xs:
            y = x
        return y

    text = carried(f)
    landing = next(i for i, line in enumerate(text) if "next " in line) + 1
    assert operations(f)[landing : landing + 3] == ["unpack[2, None]", "project[0]", "project[1]"]
    item, token = (text[landing + i].split(" = ")[0].strip() for i in (2, 3))
    assert re.match(rf" *jump b\d\({item}, .*{token}", text[landing + 4])


def test_each_return_gives_a_pair():
    def f(x):
        if x is None:
            return 1.0
        return x

    assert [line.strip() for line in carried(f) if "build_tuple" in line] == [
        "%6 = build_tuple 1.0 None",
        "%7 = build_tuple %3 %4",
    ]


def test_generators_yield_values_and_leave_tokens():
    def f(x):
        y = yield x
        return y

    found = [line.partition("[")[0] for line in operations(f) if re.match("setattr|getattr|yield|return", line)]
    assert found == ["setattr", "yield", "getattr", "setattr", "return"]


def test_only_what_can_raise_is_guarded():
    def f(x):
        try:
            return x * x
        except TypeError:
            return 0.0

    text = carried(f)
    guarded = [i for i, line in enumerate(text) if " handler " in line]
    assert any("call[] binary" in text[i + 1] for i in guarded)
    assert not any("unpack" in text[i + 1] for i in guarded)


def test_globals_are_those_of_the_function():
    def f():
        return globals()

    assert not any("semantics" in line or "calls" in line for line in carried(f))
    assert sum("globals" in line for line in carried(f)) == 1


def test_iterators_of_loops_do_not_escape():
    def loop(xs):
        for _ in xs:
            pass

    def expression(xs):
        return list(x for x in xs)

    assert not Primal(lift(loop.__code__), lambda name: False).escaping
    assert Primal(lift(expression.__code__), lambda name: False).escaping
