"""Runs of statements that are evaluated at once give what their statements give one by one."""

from __future__ import annotations

import gc
import math
import random
import signal
import traceback

import numpy as np
import pytest

from autodiff_hook import NotDifferentiable, gradient, hvp, jvp, nondifferentiable, rrule
from autodiff_hook.algebras import typed
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import registry
from autodiff_hook.semantics.fusing import functions
from autodiff_hook.signatures import Real

NEVER = 10**9


class Recorded:
    """A number of the program's own, which says what is done to it."""

    log: list[str] = []

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        self.log.append("add")
        return Recorded(self.value + getattr(other, "value", other))

    def __radd__(self, other):
        self.log.append("radd")
        return Recorded(other + self.value)

    def __mul__(self, other):
        self.log.append("mul")
        return Recorded(self.value * getattr(other, "value", other))

    __rmul__ = __mul__

    def __neg__(self):
        self.log.append("neg")
        return Recorded(-self.value)

    def __float__(self):
        self.log.append("float")
        return float(self.value)


def made(source, **names):
    """The function ``f`` of a source, as a code object that nothing is known of."""
    namespace = {"__name__": "fused_program", "math": math, "sin": math.sin, "np": np, **names}
    exec(compile(source, "fused_program.py", "exec"), namespace)
    return namespace["f"]


@pytest.fixture
def carried(monkeypatch):
    """Differentiates a source, evaluated at once from the second time on, or never: value, gradients, functions."""
    monkeypatch.setattr(typed, "GENERIC", True)
    written: list[functions.Fused] = []
    write = functions.Fused.code

    def code(self):
        found = write(self)
        written.append(self)
        return found

    monkeypatch.setattr(functions.Fused, "code", code)

    def run(source, args, often, **names):
        monkeypatch.setattr(functions, "OFTEN", often)
        written.clear()
        session = Reverse(made(source, **names), args, {})
        return session.value, session.back(type(session.value)(1)), list(written)

    return run


def outcome(run, *given, **names):
    """What came out of it, error or not."""
    Recorded.log.clear()
    try:
        value, gradients, _ = run(*given, **names)
    except Exception as error:
        lines = [
            entry.lineno for entry in traceback.extract_tb(error.__traceback__) if "fused_program" in entry.filename
        ]
        return type(error), str(error), lines, list(Recorded.log)
    return value, gradients, list(Recorded.log)


def same(fused, plain):
    assert len(fused) == len(plain)
    for mine, other in zip(fused, plain):
        if isinstance(mine, (list, type, str)):
            assert mine == other
            continue
        assert type(mine) is type(other)
        if isinstance(mine, tuple):
            same(mine, other)
            continue
        np.testing.assert_allclose(np.asarray(mine, float), np.asarray(other, float), rtol=1e-12, atol=1e-300)


LOOP = """
def f(x, y):
    s = x
    for k in range(5):
        s = s * 0.5 + ({expression})
    return s
"""


def test_an_expression_is_one_node(carried):
    source = LOOP.format(expression="x * sin(y) - y / (1.0 + x * x) + k")
    value, gradients, written = carried(source, (0.7, 1.3), 1)
    assert written[-1].text().count("numbers(") == 1
    same((value, gradients), carried(source, (0.7, 1.3), NEVER)[:2])


def test_nothing_is_recorded_of_constants(carried, monkeypatch):
    monkeypatch.setattr(functions, "OFTEN", 1)
    source = "def f(x, a):\n for k in range(9):\n  a = a * 0.5 + sin(a)\n return x + a\n"
    session = Reverse(made("def g(x):\n return h(x, 0.3)\n" + source.replace("f(", "h(") + "f = g\n"), (1.0,), {})
    assert len(session.tape.nodes) == 2


OPERANDS = (
    "x",
    "y",
    "s",
    "k",
    "2",
    "0.5",
    "True",
    "point.a",
    "point.b",
    "xs[k % 3]",
    "xs[-1]",
    "d['p']",
    "t[1]",
    "g",
    "c",
)
PATTERNS = (
    *("({} + {})", "({} - {})", "({} * {})", "({} / (2.5 + {} ** 2))", "({} ** 2)", "(-{})", "abs({})", "({} % 1.7)"),
    *("sin({})", "math.exp(-abs({}))", "math.sqrt(abs({}) + 0.1)", "math.tanh({})", "max({}, {})", "min({}, {}, 0.3)"),
    *("float({})", "math.atan2({}, 2.0)", "((abs({}) + 0.1) ** 0.5)", "math.log(1.1 + abs({}))", "({} // 3.0)"),
)

PROGRAM = """
class Point:
    b = 0.5

    def __init__(self, a, b):
        self.a = a
        self.b = b

g = 0.9
def f(x, y):
    c = x * 0.3
    def inner():
        s = x
        xs, d, t = [x, y * 2.0, 0.3], {{"p": y}}, (0.2, x)
        point = Point(x * y, 0.25)
        for k in range(6):
            a = {first}
            s = s * 0.25 + a * 0.125
            b = {second}
            s = s + 0.0625 * b - a * b * 0.001
            xs[k % 3] = s * 0.5
            if s > 3.0:
                s = s * 0.1
        return s + c * 0.1
    return inner()
"""


def expression(random_, depth):
    if depth == 0 or random_.random() < 0.15:
        return random_.choice(OPERANDS)
    pattern = random_.choice(PATTERNS)
    return pattern.format(*[expression(random_, depth - 1) for _ in range(pattern.count("{}"))])


ARGUMENTS = (
    (0.7, -0.4),
    (2, 0.6),
    (0.3, 3),
    (np.float64(0.8), 0.5),
    (0.4, np.float32(0.5)),
    (np.array([0.4, 0.9]), 0.3),
    (1.0, 1e200),
)


@pytest.mark.parametrize("seed", range(30))
def test_random_expressions(carried, seed):
    random_ = random.Random(seed)
    source = PROGRAM.format(first=expression(random_, 3), second=expression(random_, 4))
    args = ARGUMENTS[seed % len(ARGUMENTS)]
    if isinstance(args[0], np.ndarray):
        source = source.replace("return s + c * 0.1", "return np.sum(s + c * 0.1)").replace(
            "if s > 3.0", "if np.max(s) > 3.0"
        )
    same(outcome(carried, source, args, 1), outcome(carried, source, args, NEVER))


@pytest.mark.parametrize("seed", range(10))
def test_random_expressions_forward(monkeypatch, seed):
    random_ = random.Random(1000 + seed)
    source = PROGRAM.format(first=expression(random_, 3), second=expression(random_, 3))
    found = []
    for often in (1, NEVER):
        monkeypatch.setattr(functions, "OFTEN", often)
        found.append(jvp(made(source), (0.7, -0.4), (0.3, 1.1)))
    same(*found)


def gradient_of_gradient(f, args, direction):
    return gradient(lambda *args: sum(d * g for d, g in zip(direction, gradient(f, *args))), *args)


def jvp_of_jvp(f, args, direction):
    return jvp(lambda *args: jvp(f, args, direction)[1], args, direction)


@pytest.mark.parametrize(
    "power", ["x**k", "x ** (k * 1.0)", "(x + 2.0) ** k", "(k + 1) ** x", "abs(x) ** 0.5", "(-x) ** k"]
)
def test_powers_of_second_order(monkeypatch, power):
    found = []
    for often in (1, NEVER):
        monkeypatch.setattr(functions, "OFTEN", often)
        f = made(LOOP.format(expression=f"{power} * sin(y)"))
        found.append((hvp(f, (0.7, 0.3), (1.0, 0.4)), jvp_of_jvp(f, (0.7, 0.3), (1.0, 0.4))))
    same(*found)


@pytest.mark.parametrize("second", [hvp, gradient_of_gradient, jvp_of_jvp])
@pytest.mark.parametrize("seed", range(20))
def test_random_expressions_of_second_order(monkeypatch, second, seed):
    random_ = random.Random(2000 + seed)
    source = PROGRAM.format(first=expression(random_, 3), second=expression(random_, 3))
    found = []
    for often in (1, NEVER):
        monkeypatch.setattr(functions, "OFTEN", often)
        found.append(second(made(source), (0.7, -0.4), (0.3, 1.1)))
    same(*found)


def test_third_order(monkeypatch):
    source = LOOP.format(expression="x * sin(y) - y / (1.0 + x * x) + k")
    source += "\ng = f\ndef f(x):\n return gradient(lambda z: g(z, 1.3), x)[0]\n"
    found = []
    for often in (1, NEVER):
        monkeypatch.setattr(functions, "OFTEN", often)
        found.append(hvp(made(source, gradient=gradient), (0.7,), (1.0,)))
    same(*found)


INNER = ("f(x * 1.0, 1.3)", "f(0.4, x * 1.0) + x", "f(0.4, 0.5) + x", "f(y, x)", "f(y, 0.1) * x")


@pytest.mark.parametrize("inner", INNER)
def test_levels_that_are_not_concerned(monkeypatch, inner):
    source = LOOP.format(expression="x * sin(y) - y / (1.0 + x * x) + k")
    found = []
    for often in (1, NEVER):
        monkeypatch.setattr(functions, "OFTEN", often)
        text = f"{source}\ng = f\ndef f(y):\n return lambda x: {inner.replace('f(', 'g(')}\n"
        of = made(text, __name__=__name__)
        found.append(
            (
                gradient(lambda y: jvp(of(y), (0.7,), (1.0,))[1] * y, 0.3),
                gradient(lambda y: gradient(of(y), 0.7)[0] * y, 0.3),
                jvp(lambda y: gradient(of(y), 0.7)[0] * y, (0.3,), (1.0,)),
            )
        )
    same(*found)


@pytest.mark.parametrize(
    "wrong", ["1 / (k - 3)", "math.log(3 - k)", "xs[k]", "d[k]", "late", "10.0 ** (100 * k)", "x + None"]
)
def test_errors_in_the_midst(carried, wrong):
    source = f"""
def f(x):
    xs, d = [x, x, x], {{0: x, 1: x, 2: x}}
    s = x
    for k in range(6):
        if k > 6:
            late = x
        s = (s * 0.5
             + {wrong} * x
             - sin(s))
    return s
"""
    fused, plain = (outcome(carried, source, (0.7,), often) for often in (1, NEVER))
    assert isinstance(plain[0], type)
    assert fused == plain


@pytest.mark.parametrize("operand", ["box", "2.0 + box * x", "-box + x", "x * 3.0 + box"])
def test_classes_with_operators_see_each_once(carried, operand):
    source = f"""
def f(x):
    s = x
    for k in range(5):
        box = Recorded(x) if k > 2 else 0.5
        s = s * 0.5 + float(x * 0.1 + ({operand}))
    return s
"""
    same(
        outcome(carried, source, (0.7,), 1, Recorded=Recorded),
        outcome(carried, source, (0.7,), NEVER, Recorded=Recorded),
    )


def test_a_rule_of_the_user_wins(carried, monkeypatch):
    source = "def f(x):\n s = x\n for k in range(4):\n  s = s * 0.5 + sin(x) * 2.0\n return s\n"
    usual = carried(source, (0.7,), 1)[1]
    rules, known = dict(registry._rules), dict(registry.tested)
    try:

        @rrule(math.sin, Real)
        def sin_rule(x):
            def sin_pullback(_):
                return (100.0,)

            return 0.25, sin_pullback

        found = [carried(source, (0.7,), often)[:2] for often in (1, NEVER)]
    finally:
        registry._rules, registry.tested = rules, known
        registry._forget_answers()
    same(*found)
    assert found[0][1] != usual
    same((carried(source, (0.7,), 1)[1],), (usual,))


def test_a_rule_that_comes_later_wins(carried):
    source = (
        "def f(x, n, between):\n s = x\n for k in range(n):\n  between(k)\n  s = s * 0.5 + sin(x) * 2.0\n return s\n"
    )
    rules, known = dict(registry._rules), dict(registry.tested)

    def between(k):
        if k == 4:

            @rrule(math.sin, Real)
            def sin_rule(x):
                return math.sin(x), lambda ȳ: (ȳ * 7.0,)

    try:
        found = []
        for often in (1, NEVER):
            registry._rules, registry.tested = dict(rules), dict(known)
            registry._forget_answers()
            found.append(carried(source, (0.7, 8, between), often)[:2])
    finally:
        registry._rules, registry.tested = rules, known
        registry._forget_answers()
    assert found[0][0] == found[1][0]
    assert found[0][1][0] == pytest.approx(found[1][1][0], rel=1e-14)


@pytest.mark.parametrize(
    ("term", "x"),
    [
        ("math.sqrt(x)", 0.0),
        ("abs(x)", 0.0),
        ("x ** 0", 0.0),
        ("x ** 1", 0.0),
        ("x ** 0.5", 0.0),
        ("0.0 * math.sqrt(x)", 0.0),
        ("max(math.sqrt(x), 1.0)", 0.0),
        ("math.asin(x)", 1.0),
        ("x * 1e200 * 1e200 * 0.0", 1e-200),
        ("(x * x) ** 0.5", 0.0),
        ("math.atan2(x, x)", 0.0),
    ],
)
def test_conventions_are_those_of_the_rules(carried, term, x):
    source = f"def f(x):\n s = 0.0\n for k in range(4):\n  s = s * 0.5 + {term}\n return s\n"
    fused, plain = (carried(source, (x,), often)[:2] for often in (1, NEVER))
    np.testing.assert_equal(fused, plain)


def test_the_exponent_of_a_negative_base(carried):
    source = "def f(x, n):\n s = 0.0\n for k in range(4):\n  s = s * 0.5 + x ** (n * 1.0)\n return s\n"
    said = []
    for often in (1, NEVER):
        with pytest.raises(NotDifferentiable) as caught:
            carried(source, (-2.0, 2.0), often)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_list_that_others_have_changed_is_an_error(carried):
    source = """
def f(x, others):
    xs = [x, x * 2.0]
    s = x
    for k in range(6):
        if k == 4:
            others(xs)
        s = s * 0.5 + xs[0] * 2.0
    return s
"""

    @nondifferentiable
    def others(xs):
        xs.append(1.0)

    for often in (1, NEVER):
        with pytest.raises(Unsupported, match="changed by code that is not differentiated"):
            carried(source, (0.7, others), often)


def test_a_property_that_a_class_gets_later(carried):
    source = """
def f(x):
    class P:
        pass
    p = P()
    p.a = x
    s = x
    for k in range(6):
        if k == 4:
            P.a = property(lambda self: 3.0)
        s = s * 0.5 + p.a * 2.0
    return s
"""
    same(carried(source, (0.7,), 1)[:2], carried(source, (0.7,), NEVER)[:2])


def test_types_that_change_within_a_loop(carried):
    source = """
def f(x, y):
    s = 0
    for k in range(12):
        v = 1 if k == 0 else x if k < 3 else 2 if k < 5 else y if k < 8 else np.float64(0.5) if k < 10 else True
        s = s * 0.5 + v * x + v
    return s
"""
    same(carried(source, (0.7, 0.3), 1)[:2], carried(source, (0.7, 0.3), NEVER)[:2])


def test_one_times_a_whole_number_is_a_float(carried):
    source = """
seen = []
def f(x):
    s = x
    for k in range(4):
        seen.append((k * 1.0, 1.0 * (k + 1), True * 1.0))
        s = s * 0.5 + (k * 1.0) * x
    return s + repr(seen[-3:]).count("3.0") * x
"""
    same(carried(source, (0.7,), 1)[:2], carried(source, (0.7,), NEVER)[:2])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
def test_a_signal_is_not_lost(carried):
    class Interrupted(Exception):
        pass

    def interrupt(number, frame):
        raise Interrupted

    @nondifferentiable
    def start():
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    source = """
def f(x):
    start()
    s = x
    for k in range(10**5):
        s = s * 0.5 + sin(x) * sin(s) + math.exp(-s * s)
    return s
"""
    before = signal.signal(signal.SIGALRM, interrupt)
    # What other tests have left may be collected within the loop: a callback that is interrupted loses the signal.
    gc.disable()
    try:
        with pytest.raises(Interrupted):
            carried(source, (0.7,), 1, start=start)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
