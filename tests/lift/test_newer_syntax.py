"""What newer versions compile in ways of their own: annotations, t-strings, with statements, loops without GET_ITER."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
from sampling import rebuilt

import autodiff_hook as ad
from autodiff_hook.ir.printer import to_text
from autodiff_hook.lift import lift

SINCE_314 = pytest.mark.skipif(sys.version_info < (3, 14), reason="syntax of 3.14")


def defined(source: str) -> Callable[..., Any]:
    """The function ``f`` of a source without ``from __future__ import annotations``."""
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(textwrap.dedent(source), __file__, "exec", dont_inherit=True), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def described(function: Any) -> Any:
    return function(2.0), function.__annotations__, function.__defaults__, function.__kwdefaults__


ANNOTATED = """
    def f(scale, kind=float):
        def g(x: kind, *, y: "int" = 3, **rest: dict[str, kind]) -> tuple[kind, int]:
            z: kind = x * scale
            return z, y
        return g
"""


def test_annotations_of_inner_functions() -> None:
    f = defined(ANNOTATED)
    assert described(rebuilt(f)(3)) == described(f(3))


@SINCE_314
def test_annotations_are_made_when_they_are_asked_for() -> None:
    f = rebuilt(defined("def f():\n    def g(x: later) -> int:\n        return x\n    later = complex\n    return g"))
    assert f().__annotations__ == {"x": complex, "return": int}
    assert "__annotate__" in to_text(lift(f.__code__))
    with pytest.raises(NameError, match="nowhere"):
        print(rebuilt(defined("def f():\n    def g(x: nowhere): pass\n    return g"))().__annotations__)


def test_gradients_through_annotated_inner_functions() -> None:
    f = defined(
        """
        def f(x, n=3.0):
            def scaled(y: float, power: "int" = 2) -> float:
                return n * y**power
            square: "ignored" = lambda z: z * z
            return scaled(x) + square(x)
        """
    )
    assert ad.gradient(f, 2.0) == (16.0,)
    assert ad.hessian(f)(2.0) == 8.0


TEMPLATE = """
    def f(x, name="a"):
        t = t"{name!r:>5} is {x:.1f} {x=}{{}} {'nested' + t'{x * 2}'.strings[0]}"
        return t, t.strings, [(i.expression, i.conversion, i.format_spec, i.value) for i in t.interpolations]
"""


@SINCE_314
def test_template_strings() -> None:
    f = defined(TEMPLATE)
    again = rebuilt(f)
    for arguments in ((2.5,), (-1.0, "b")):
        assert repr(again(*arguments)) == repr(f(*arguments))
    empty = rebuilt(defined('def f(): return t"", t"text", t"{1}{2}"'))
    assert repr(empty()) == repr(defined('def f(): return t"", t"text", t"{1}{2}"')())


@SINCE_314
def test_text_has_no_derivative_but_the_values_of_a_template_may() -> None:
    plain = defined('def f(x):\n    t = t"{x:.3f} of {x * x!r}"\n    return x * x + len(t.strings)')
    assert ad.gradient(plain, 3.0) == (6.0,)
    held = defined('def f(x):\n    t = t"{x * x}"\n    return t.interpolations[0].value * 2')
    with pytest.raises(ad.NotDifferentiable, match="Interpolation"):
        ad.gradient(held, 3.0)


class Silent:
    """Has neither method of a manager."""


class Half:
    def __enter__(self) -> None:
        raise AssertionError("the exit is to be missed first")


class Odd:
    """Its exit is no function, and is looked up on the type only."""

    def __init__(self) -> None:
        self.left: list[Any] = []
        self.__exit__ = None

    def __enter__(self) -> Odd:
        return self

    @property
    def __exit__(self) -> Any:
        return lambda kind, *rest: self.left.append(kind)

    @__exit__.setter
    def __exit__(self, value: Any) -> None:
        pass


def entered(manager: Any) -> Any:
    with manager as m:
        m.left.append(1)
        raise ValueError if m is None else KeyError


async def entered_asynchronously(manager: Any) -> Any:
    async with manager as m:
        return m


@pytest.mark.parametrize("manager", [Silent, Half, lambda: 3])
def test_what_is_no_manager(manager: Callable[[], Any]) -> None:
    errors = []
    for function in (entered, rebuilt(entered)):
        with pytest.raises((TypeError, AssertionError)) as caught:
            function(manager())
        errors.append((caught.type, str(caught.value)))
    for coroutine in (entered_asynchronously, rebuilt(entered_asynchronously)):
        with pytest.raises(TypeError) as missing:
            coroutine(manager()).send(None)
        errors.append((missing.type, str(missing.value)))
    assert errors[0] == errors[1] and errors[2] == errors[3]


def test_an_exit_that_is_no_function() -> None:
    for function in (entered, rebuilt(entered)):
        odd = Odd()
        with pytest.raises(KeyError):
            function(odd)
        assert odd.left == [1, KeyError]


def quantified(xs: list[float]) -> tuple[Any, ...]:
    return all(x > 0 for x in xs), any(x > 2 for x in xs), tuple(x * x for x in xs), list(x + 1 for x in xs)


def nested(xs: list[float]) -> float:
    pairs = tuple((x, x * y) for x in xs for y in xs if any(z > y for z in xs))
    return sum([a * b for a, b in pairs]) if all(a > 0 for a, _ in pairs) else 0.0


class Once:
    """Gives an iterator that cannot be iterated over again."""

    def __iter__(self) -> Any:
        return Countdown()


class Countdown:
    left = 3

    def __next__(self) -> float:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return float(self.left)


@SINCE_314
def test_an_iterator_is_not_asked_for_another() -> None:
    f = rebuilt(defined("def f(xs): return [list(x * 2 for x in xs), sum(x for x in xs)]"))
    assert f(Once()) == [[4.0, 2.0, 0.0], 3.0]


def test_loops_over_generators() -> None:
    for xs in ([1.0, 2.0, 3.0], [1.0, -1.0], []):
        assert rebuilt(quantified)(xs) == quantified(xs)
        assert rebuilt(nested)(xs) == nested(xs)


def test_gradients_of_loops_over_generators() -> None:
    x = [1.0, 2.0, 3.0]
    slope = [(nested([*x[:i], x[i] + 1e-6, *x[i + 1 :]]) - nested(x)) / 1e-6 for i in range(3)]
    assert ad.gradient(nested, x)[0] == pytest.approx(slope, rel=1e-4)
    assert ad.gradient(lambda y: ad.gradient(nested, [y, 2.0, y])[0][0], 3.0)[0] == pytest.approx(4.0)
