"""Calls that do not fit, within handlers: what a program is told does not depend on what differentiates it."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest
from in_all_modes import MODES, differences

_CALLS = """
{}.get()
{"a": x}.get("a", 1, 2)
{"a": x}.get(k="a")
{"a": x}.popitem(1)
{"a": x}.items(1)
{"a": x}.__getitem__()
{}.setdefault()
{}.update(1)
vars(x)
vars(x, x)
next(iter([x]), 1, 2)
iter([x], x)
len([x], 1)
max(x, x + 1, default=1)
min(x, x, foo=1)
sorted([x], 1)
zip([x], foo=1)
bool(x, x)
list([x], 1)
tuple([x], 1)
type(x, x)
getattr(x)
getattr(x, 5)
setattr(x, "a")
hasattr(x)
[x].insert(x, x)
[x].sort(1)
[x].copy(1)
[x].remove()
(x,).count(1, 2)
float.__add__("a", x)
"a".join()
itertools.repeat(x, 1.5)
itertools.islice([x], 1.5)
itertools.islice([x], -1)
functools.reduce(operator.add, [])
functools.partial(5)
functools.partial(5, x)
deque([x], 1, 2)
deque([x]).append()
OrderedDict(a=x).popitem(1, 2)
defaultdict(5)
defaultdict(x)
namedtuple("A", "a")(x, x)
object.__new__(1.0)
object.__new__()
np.add(x)
np.add()
np.maximum(x)
np.sin(x, x, x)
np.add.reduce(x, foo=1)
np.add.reduce()
"""
CALLS = _CALLS.strip().splitlines()
_NAMES = {
    **{"__name__": __name__, "functools": functools, "itertools": itertools, "operator": operator, "np": np},
    **{"OrderedDict": OrderedDict, "defaultdict": defaultdict, "deque": deque, "namedtuple": namedtuple},
}
_PROGRAM = """
def program(x):
    y = x
    try:
        y = x * 2
        CALL
        y = y * 3
    except TypeError:
        return x * x * y
    except Exception:
        return x * x * x * y
    return x * y
"""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("call", CALLS)
def test_calls_of_builtin_code_that_do_not_fit(call, mode):
    namespace = dict(_NAMES)
    exec(_PROGRAM.replace("CALL", call), namespace)
    program = namespace["program"]
    order = 2 if mode == "hvp" else 1
    assert MODES[mode](program, 1.3) == pytest.approx(differences(program, 1.3, order), rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_deques_that_are_compared_and_keys_that_cannot_be_hashed(mode):
    def program(x):
        try:
            same = deque([x, x]) == deque([x, x]), deque([x]) != deque([x])
        except Exception:
            return x
        try:
            return x if [] in {"a": x} else x * x
        except TypeError:
            return x**3 if same == (True, False) else x**4

    order = 2 if mode == "hvp" else 1
    assert MODES[mode](program, 1.3) == pytest.approx(differences(program, 1.3, order), rel=1e-5)


class Returning:
    def __init__(self, x):
        self.x = x
        return x


class Suspended:
    def __init__(self, x):
        self.x = x
        yield x


class Sometimes:
    def __init__(self, x):
        self.x = x
        if x > 1.0:
            return 5
        return None


class Inherited(Sometimes):
    pass


class Made(Sometimes):
    def __new__(cls, x):
        return object.__new__(cls)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cls", [Returning, Suspended, Sometimes, Inherited, Made])
@pytest.mark.parametrize("at", [0.7, 1.3])
def test_an_initialiser_returns_nothing(cls, mode, at):
    def program(x):
        try:
            return cls(x).x * x
        except TypeError:
            return x * x * x

    order = 2 if mode == "hvp" else 1
    assert MODES[mode](program, at) == pytest.approx(differences(program, at, order), rel=1e-5)


class Reflecting(tuple):
    def __new__(cls, *items):
        return tuple.__new__(cls, items)

    def __radd__(self, other):
        return NotImplemented


@pytest.mark.parametrize("mode", MODES)
def test_sequences_are_put_together_where_no_method_knows(mode):
    def program(x):
        try:
            return ((1,) + Reflecting(x, 2.0))[1] * x
        except TypeError:
            return x * x * x

    order = 2 if mode == "hvp" else 1
    assert MODES[mode](program, 1.3) == pytest.approx(differences(program, 1.3, order), rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("made", [lambda x: iter([x]), lambda x: zip([x]), lambda x: enumerate([x]), reversed])
def test_iterators_have_no_attributes(made, mode):
    def program(x):
        iterator = made([x] if made is reversed else x)
        try:
            iterator.held = x
        except AttributeError:
            return x * x
        return x if hasattr(iterator, "__dict__") else x * x * x

    order = 2 if mode == "hvp" else 1
    assert MODES[mode](program, 1.3) == pytest.approx(differences(program, 1.3, order), rel=1e-5)
