"""What a pullback is given cotangents of, and what forward mode gives tangents of: right, or an error."""

from __future__ import annotations

import ctypes
import functools
import types
from collections import ChainMap, Counter, UserList, deque

import numpy as np
import pytest

import autodiff_hook as ad


class Box:
    def __init__(self, a):
        self.a = a


def cyclic(x):
    box = Box(x * x)
    box.itself = box
    return box


def shared(x):
    items = [x * x]
    return [items, items]


SHOWN = {
    "deque": (lambda x: deque([x * x]), [1.0], 3.0),
    "deque with a limit": (lambda x: deque([x, x * x], maxlen=1), deque([2.0]), 6.0),
    "deque in a list": (lambda x: (1.0, [deque([x * x])]), (0.0, [[1.0]]), 3.0),
    "list in an object": (lambda x: Box([x * x, {"k": x}]), {"a": [1.0, {"k": 1.0}]}, 4.0),
    "namespace": (lambda x: types.SimpleNamespace(a=x * x), {"a": 1.0}, 3.0),
    "chain map": (lambda x: ChainMap({"a": x * x}), {"maps": [{"a": 1.0}]}, 3.0),
    "user list": (lambda x: UserList([x * x]), {"data": [1.0]}, 3.0),
    "function": (lambda x: lambda: x * x, {"x": 1.0}, 1.0),
    "method": (lambda x: Box(x * x).__init__, {"a": 1.0}, 3.0),
    "shared list": (shared, [[1.0], [2.0]], 9.0),
    "array of objects": (lambda x: np.array([x * 2, None], dtype=object), np.array([1.0, None]), 2.0),
    "object that refers to itself": (cyclic, {"a": 1.0}, 3.0),
}


@pytest.mark.parametrize("f, cotangent, expected", SHOWN.values(), ids=SHOWN)
def test_cotangents_in_the_form_of_the_result(f, cotangent, expected):
    for _ in range(2):
        _, back = ad.pullback(f, 1.5)
        assert back(cotangent) == pytest.approx((expected,))
        assert back(None) == (0.0,)


HIDDEN = {
    "set": lambda x: {x * 2},
    "frozenset": lambda x: frozenset([x * 2]),
    "keys": lambda x: {x * 2: 1.0},
    "keys that are tuples": lambda x: {(x * 2, 1): 1.0},
    "counted": lambda x: Counter([x * 2]),
    "view of keys": lambda x: {x * 2: 1.0}.keys(),
    "view of values": lambda x: {"a": x * 2}.values(),
    "proxy": lambda x: types.MappingProxyType({"a": x * 2}),
    "generator": lambda x: (x * t for t in (1.0, 2.0)),
    "iterator": lambda x: iter([x * 2]),
    "map": lambda x: map(lambda t: t * x, [2.0]),
    "partial": lambda x: functools.partial(max, x * 2),
    "exception": lambda x: ValueError(x * 2),
    "default": lambda x: lambda t=x * 2: t,
    "function in a function": lambda x: (lambda g: lambda: g())(lambda: x),
    "class": lambda x: type("T", (), {"a": x * 2}),
    "number of ctypes": lambda x: ctypes.c_double(x * 2),
    "array of sets": lambda x: np.array([{x * 2}, None], dtype=object),
    "set in an object": lambda x: Box({x * 2}),
}


@pytest.mark.parametrize("f", HIDDEN.values(), ids=HIDDEN)
def test_what_no_form_shows_is_an_error(f):
    value, back = ad.pullback(f, 1.5)
    assert back(None) == (0.0,)
    for cotangent in ({"a": 1.0}, value, dict.fromkeys(value, 1.0) if isinstance(value, dict) else 1.0):
        with pytest.raises(ad.AutodiffError):
            back(cotangent)
    with pytest.raises(ad.NotDifferentiable):
        ad.jvp(f, (1.5,), (1.0,))


@pytest.mark.parametrize("cotangent", [1.0, [1.0], {"b": 1.0}, {"a": 1.0}, Box([1.0, 1.0])])
def test_cotangents_of_objects_have_their_form(cotangent):
    with pytest.raises(ad.AutodiffError, match="the cotangent given to back"):
        ad.pullback(lambda x: Box([x, x]), 1.5)[1](cotangent)


def turned(items, x):
    items.append(x * items[0])
    items.popleft()
    items.rotate(1)
    return sum(v * (i + 1) for i, v in enumerate(items)) * x


OPERATORS = {
    "gradient": ad.gradient,
    "pullback": lambda f, *args: ad.pullback(f, *args)[1](1.0),
    "jvp": lambda f, *args: (ad.jvp(f, args, ([1.0, 0.5, 2.0], 1.0)),),
    "hvp": lambda f, *args: ad.hvp(f, args, ([1.0, 0.5, 2.0], 1.0)),
}


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_a_deque_as_an_argument(operator):
    found = operator(turned, deque([0.3, 0.4, 0.5]), 0.6)
    expected = operator(lambda items, x: turned(deque(items), x), [0.3, 0.4, 0.5], 0.6)
    for a, b in zip(found, expected, strict=True):
        assert a == pytest.approx(b)


def test_deques_in_objects_and_beside_what_matters():
    assert ad.gradient(lambda box: sum(box.a), Box(deque([1.0, 2.0])))[0].a == [1.0, 1.0]
    assert ad.gradient(lambda items, x: x, deque([1.0, 2.0]), 3.0) == ([0.0, 0.0], 1.0)


def test_jacobians_and_trees_of_deques():
    assert ad.jacobian(lambda x: deque([x, 2 * x]))(3.0) == deque([1.0, 2.0])
    made = ad.tree_map(lambda p, g: p - g, deque([1.0, 2.0], maxlen=2), [0.5, 0.5])
    assert made == deque([0.5, 1.5]) and made.maxlen == 2
