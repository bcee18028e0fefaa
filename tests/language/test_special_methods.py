"""What special methods of objects store while a builtin asks them: it has its derivative, or is an error."""

import io
import logging
import math
import operator
from functools import cached_property

import pytest
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient


class Lazy:
    """An object that computes a part of itself when it is first looked at."""

    def __init__(self, x):
        self.x = x

    @cached_property
    def grid(self):
        return [self.x * self.x, self.x]

    def __repr__(self):
        return f"Lazy of {len(self.grid)}"

    def __hash__(self):
        return len(self.grid)

    def __index__(self):
        return len(self.grid)

    __floor__ = __ceil__ = __trunc__ = __index__


class Formatted(Lazy):
    def __format__(self, spec):
        return f"{self.grid!s:{spec}}"


class Remembering:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        value = self.x * len(name)
        setattr(self, name, value)
        return value


ASKED = {
    "str": str,
    "repr": repr,
    "format": format,
    "of a conversion": lambda o: f"{o!r:>20}",
    "in a text": lambda o: f"{o}",
    "by its own format": lambda o: f"{Formatted(o.x)}" and str(o),
    "print": lambda o: print("it is", o, file=io.StringIO()),
    "hash": hash,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "index": operator.index,
    "hasattr": lambda o: hasattr(o, "grid"),
    "key": lambda o: sorted([o, Lazy(1.0)], key=str),
    "map": lambda o: list(map(str, [o])),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asked", ASKED)
def test_what_a_special_method_keeps(asked, mode):
    ask = ASKED[asked]

    def f(x):
        o = Lazy(x)
        ask(o)
        return o.grid[0] * o.grid[1]

    for x in (0.7, 1.3):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_hasattr_asks_the_class(mode):
    def f(x):
        o = Remembering(x)
        return o.some * x if hasattr(o, "some") else x

    assert MODES[mode](f, 0.7) == pytest.approx({"hvp": 8.0}.get(mode, 8.0 * 0.7))


def test_hasattr_of_what_is_not_there():
    def f(o):
        return o.x if hasattr(o, "other") else 2.0 * o.x

    assert gradient(f, Lazy(0.7))[0].x == 2.0


HIDDEN = {
    "in a list": lambda o: str([o]),
    "by %": lambda o: operator.mod("%s", o),
    "by % of several": lambda o: operator.mod("%s, %r", (1, o)),
    "str.format": "{!r}".format,
    "logging": lambda o: logging.getLogger(__name__).error("%s", o),
    "range": range,
}


@pytest.mark.parametrize("hidden", HIDDEN)
def test_native_code_that_asks_is_an_error(hidden):
    ask = HIDDEN[hidden]

    def f(x):
        o = Lazy(x)
        ask(o)
        return o.grid[0]

    with pytest.raises(NotDifferentiable, match="runs code of objects that stores"):
        gradient(f, 0.7)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_was_kept_before_is_known(hidden):
    ask = HIDDEN[hidden]

    def f(x):
        o = Lazy(x)
        o.grid[1] *= x
        ask(o)
        return o.grid[0] * o.grid[1]

    assert gradient(f, 0.7) == pytest.approx((differences(f, 0.7, 1),))


def test_what_is_no_text_is_what_python_raises():
    class Odd:
        def __init__(self, x):
            self.x = x

        def __str__(self):
            return self.x

    def f(x):
        return len(str(Odd(x))) * x

    with pytest.raises(TypeError, match="__str__ returned non-string"):
        gradient(f, 0.7)
