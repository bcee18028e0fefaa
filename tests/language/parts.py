"""What random programs are made of: classes, functions and generators."""

from __future__ import annotations

import copy
import functools  # noqa: F401
import itertools  # noqa: F401
import math
from typing import NamedTuple

import numpy as np  # noqa: F401

scale = 0.5
total = 0.0


class Cell:
    shared = 0.25

    def __init__(self, a, b=0.5):
        self.a, self.b = a, b
        self.log = [a]

    def step(self, k, *rest, gain=1.0):
        self.a, self.b = math.tanh(self.b * k * gain), math.sin(self.a + sum(rest))
        self.log.append(self.a)
        return self.a * self.b

    @property
    def both(self):
        return self.a * self.b + self.log[-1]

    @both.setter
    def both(self, value):
        self.b = value / 2

    def __add__(self, other):
        if isinstance(other, Cell):
            return Cell(self.a + other.b, self.b)
        return NotImplemented if other is None else Cell(math.sin(self.a + other), self.b)

    __radd__ = __add__

    def __getitem__(self, i):
        return self.log[i]

    def __setitem__(self, i, value):
        self.log[i] = value

    def __len__(self):
        return len(self.log)

    def __iter__(self):
        yield self.a
        yield self.b

    def __call__(self, v):
        return self.a * v

    def __lt__(self, other):
        return self.a < other.a

    def __enter__(self):
        self.a = math.sin(self.a)
        return self

    def __exit__(self, *info):
        self.b = self.b * 0.9
        return False


class Sub(Cell):
    def step(self, k, *rest, **options):
        return super().step(k * 0.5, *rest, **options) + self.shared


def mix(u, v=0.5, *rest, w=1.0, **named):
    return math.sin(u * v) * w + sum(rest) * 0.1 + sum(named.values()) * 0.2


def power(u, n):
    return u if n <= 0 else math.tanh(u) * power(u * 0.9, n - 1)


def walk(u, n):
    v = u
    for i in range(n):
        v = math.sin(v + i)
        yield v * u


def pairs(items):
    seen = []
    for i, item in enumerate(items):
        seen.append(item)
        yield i, item * seen[0]


class Row(NamedTuple):
    a: float
    b: float = 0.5


def push(items, value):
    items.append(value)
    items[0] = items[-1] * 0.5
    return items


def counter(step):
    total = step

    def advance():
        nonlocal total
        total = math.sin(total + step)
        return total

    return advance


def flat(tree):
    found = {}
    for key, value in tree.items():
        if isinstance(value, list):
            found.update({f"{key}{i}": v for i, v in enumerate(value) if isinstance(v, float)})
            found.update(value[-1])
        else:
            found[key] = value
    return found


def tree(u, n):
    yield u
    if n:
        for v in tree(math.sin(u), n - 1):
            yield v * u


def copied(cell):
    twin = copy.copy(cell)
    twin.log = list(cell.log)
    return twin


def kind(value):
    match value:
        case float(v):
            return v * 0.3
        case [first, *_, last]:
            return first * last
        case (1, v) | {"p": v}:
            return v * 0.7
        case Cell(a=a, b=b):
            return a * b
        case _:
            return 0.1
