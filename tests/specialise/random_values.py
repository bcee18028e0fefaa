"""Random programs of numbers, values that may be None, small objects and named tuples, with loops and branches."""

from __future__ import annotations

import random

START = """
import math
from collections import namedtuple

class Vector:
    def __init__(self, a, b):
        self.a = a
        self.b = b
    def plus(self, other):
        return Vector(self.a + 0.3 * other.a, self.b - 0.2 * other.b)

Pair = namedtuple("Pair", "a b")

def f(x, y):
    u, v, k = x, y, 0
    o, p = None, x
    r, s = Vector(x, y), Vector(y, 1.0)
    t, w = Pair(x, y), Pair(y, 2.0)
"""
END = "    return u + v * r.a + s.b * t.a + w[1] * u + (o if o is not None else 0.5) + (p or x)\n"


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def program(self) -> str:
        """The source of a function ``f(x, y)``."""
        lines = ["for k in range(4):"]
        lines += [line for _ in range(self.rng.randint(3, 6)) for line in self.statement(1)]
        lines += [line for _ in range(self.rng.randint(0, 3)) for line in self.statement(0)]
        return START + "".join(f"    {line}\n" for line in lines) + END

    def any_of(self, *choices: str) -> str:
        """One of several texts."""
        return self.rng.choice(choices)

    def number(self) -> str:
        """An expression that is a number."""
        a, b, c = (self.any_of("u", "v", "x", "y") for _ in range(3))
        part, item = self.any_of("r", "s", "t", "w") + self.any_of(".a", ".b"), self.any_of("t[0]", "w[1]")
        sign = f"float(({a} > 0.2) - ({b} < 0.1))"
        return self.any_of(a, f"{a} * 0.5", f"math.sin({b})", part, item, f"({a} + {c})", "0.1 * k", sign, f"{a} * {b}")

    def test(self) -> str:
        """An expression that decides about the way."""
        o, x = self.any_of("o", "p"), self.number()
        return self.any_of(
            f"{x} > 0.4",
            f"k % {self.any_of('2', '3')} == 0",
            f"{o} is None",
            f"{o} is not None",
            f"{o} is None or {x} > 0.3",
            f"isinstance({o}, float)",
            f"k > 1 and not {x} < 0.5",
        )

    def statement(self, depth: int) -> list[str]:
        """The lines of a statement."""
        s, o, x = "    " * depth, self.any_of("o", "p"), self.number()
        one, other = self.any_of("r", "s"), self.any_of("r", "s")
        pair = self.any_of("t", "w")
        choice = self.rng.randrange(9 if depth < 3 else 7)
        simple = [
            [f"{s}{self.any_of('u', 'v')} = 0.8 * {x}"],
            [f"{s}{o} = {self.any_of('None', x, 'o', 'p')}"],
            [f"{s}{one} = {self.any_of(other, f'Vector({x}, {self.number()})', f'{other}.plus({one})')}"],
            [f"{s}{pair} = {self.any_of('t', 'w', f'Pair({x}, {self.number()})', f'{pair}._replace(a={x})')}"],
            [f"{s}if {o} is not None:", f"{s}    u = 0.7 * u + {o} * {x}"],
            [f"{s}v = v * 0.5 + ({x} if {o} is None else {o})"],
            [f"{s}u = u * 0.9"],
        ]
        if choice < len(simple):
            return simple[choice]
        body = [line for _ in range(self.rng.randint(1, 2)) for line in self.statement(depth + 1)]
        if choice == 7:
            return [f"{s}for k in range({self.any_of('1', '3')}):", *body]
        otherwise = [f"{s}else:", *self.statement(depth + 1)] if self.rng.random() < 0.6 else []
        return [f"{s}if {self.test()}:", *body, *otherwise]
