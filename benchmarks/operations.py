"""Loops over one kind of operation each: what one of it costs where types are hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.minimal import Tape, Variable


@dataclass(frozen=True)
class Operation:
    """``program(x, count)`` does something ``count`` times; ``x`` is a number, or an array of this length."""

    name: str
    program: Callable[..., Any]
    length: int | None = None

    def argument(self) -> Any:
        """The argument that is differentiated."""
        return 0.9 if self.length is None else np.linspace(0.5, 0.9, self.length)

    def looped(self, count: int) -> Callable[[Any], Any]:
        """The loop as a function of what is differentiated."""
        program = self.program
        return lambda x: program(x, count)

    def by_hand(self, x: Any, count: int) -> Any:
        """The gradient by the minimal tape."""
        tape = Tape()
        leaf = tape.variable(x)
        result: Variable = self.program(leaf, count)
        return tape.sweep(result)[leaf.node]


class Point:
    def __init__(self, a, b):
        self.a = a
        self.b = b


def scalar(x, count):
    y = x
    for _ in range(count):
        y = y * x + 0.1
    return y


def array(x, count):
    y = x
    for _ in range(count):
        y = y * x + 0.1
    return y.sum()


def list_item(x, count):
    xs = [x, x * 2.0, x * 3.0]
    y = x
    for i in range(count):
        y = y + xs[i % 3]
    return y


def dict_item(x, count):
    named = {"a": x, "b": x * 2.0}
    y = x
    for _ in range(count):
        y = y + named["b"]
    return y


def array_item(x, count):
    y = x[0]
    for i in range(count):
        y = y + x[i % 10]
    return y


def attribute(x, count):
    point = Point(x, x * 2.0)
    y = x
    for _ in range(count):
        y = y + point.b
    return y


def scaled(x, y):
    return x * y


def call(x, count):
    y = x
    for _ in range(count):
        y = scaled(y, x)
    return y


def constructor(x, count):
    y = x
    for _ in range(count):
        y = Point(y * x, x).a
    return y


def append(x, count):
    ys = [x]
    y = x
    for _ in range(count):
        y = y * x
        ys.append(y)
    return ys[count // 2]


def array_store(x, count):
    y = x.copy()
    z = x[3]
    for i in range(count):
        y[i % 10] = z
    return y.sum()


def stored_array_item(x, count):
    y = x.copy()
    z = y[3]
    y[3] = z
    for i in range(count):
        z = z + y[i % 10]
    return z


OPERATIONS = (
    Operation("scalar arithmetic", scalar),
    Operation("arrays of 10", array, 10),
    Operation("arrays of 1000", array, 1000),
    Operation("list item", list_item),
    Operation("dict item", dict_item),
    Operation("array item", array_item, 10),
    Operation("item after a store", stored_array_item, 10),
    Operation("attribute", attribute),
    Operation("call", call),
    Operation("constructor", constructor),
    Operation("append", append),
    Operation("array store", array_store, 10),
)
