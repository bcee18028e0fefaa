"""Random programs of generators, functions that iterate, and methods of lists and dicts."""

from __future__ import annotations

import random

START = """
import itertools
import math
from collections import defaultdict

def multiples(a, count):
    for i in range(count):
        yield a * i + 0.3

def some(a, b):
    yield a
    yield a * b
    if b > a:
        yield b

def endless(a):
    while True:
        a = a * 0.7 + 0.2
        yield a

def delegating(a, b):
    yield from multiples(a, 2)
    yield b

def f(x, y):
    s = 0.5
"""


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = 0

    def source(self) -> str:
        """The source of a function ``f(x, y)``."""
        lines = [line for _ in range(5) for line in self.statement(["x", "y", "s"], 0)]
        return START + "".join(f"    {line}\n" for line in lines) + "    return s\n"

    def number(self, names: list[str]) -> str:
        """A number."""
        a, b = self.rng.choice(names), self.rng.choice(names)
        return self.rng.choice([a, a, "0.5", "1.0", f"{a} * {b}", f"math.sin({a})", f"({a} - 0.4 * {b})"])

    def items(self, names: list[str], depth: int = 0) -> str:
        """What gives some numbers when it is iterated over."""
        a, b, c = (self.number(names) for _ in range(3))
        simple = [f"[{a}, {b}, {c}]", f"({a}, {b})", f"multiples({a}, 3)", f"some({a}, {b})", f"delegating({a}, {b})"]
        if depth > 1:
            return self.rng.choice(simple)
        one, other = self.items(names, depth + 1), self.items(names, depth + 1)
        return self.rng.choice(
            [
                *simple,
                f"itertools.islice(endless({a}), {self.rng.randint(1, 4)})",
                f"map(lambda w: w * {a}, {one})",
                f"filter(lambda w: w > {a}, {one})",
                f"(w * {a} for w in {one} if w < 3)",
                f"itertools.chain({one}, {other})",
                f"itertools.accumulate({one})",
                f"itertools.takewhile(lambda w: w < {a} + 1, {one})",
                f"sorted({one}, key=lambda w: -w * w)",
                f"(p * q for p, q in itertools.pairwise({one}))",
                f"(p * q for p, q in itertools.product({one}, [{a}, 2.0]))",
                f"(p + q * q for p, q in itertools.combinations([{a}, {b}, {c}], 2))",
                f"(p * i for i, p in enumerate({one}, 1))",
                f"(p * q for p, q in zip({one}, [{a}, {b}]))",
                f"tuple({one})[1:]",
            ]
        )

    def statement(self, names: list[str], depth: int) -> list[str]:
        """The lines of a statement."""
        s, a, items = "    " * depth, self.number(names), self.items(names)
        self.count += 1
        v = f"v{self.count}"
        simple = [
            [f"{s}s = s * 0.5 + sum({items})"],
            [f"{s}s = s * 0.5 + max({items}, key=lambda w: w * w, default=0.3)"],
            [f"{s}s = s * 0.5 + next((w * {a} for w in {items} if w > {self.number(names)}), {a})"],
            [f"{s}if any(w > {a} for w in {items}):", f"{s}    s = s * 0.8 + {a}"],
            [f"{s}{v} = [{a}, {self.number(names)}]", *self.changes(v, names, s)],
            [f"{s}{v} = defaultdict(float)", f"{s}for i, w in enumerate({items}):", f"{s}    {v}[i % 2] += w * {a}"]
            + [f"{s}s = s * 0.5 + sum({v}.values()) + {v}[0]"],
        ]
        if depth > 1 or self.rng.random() < 0.5:
            return self.rng.choice(simple)
        lines = [f"{s}for {v} in {items}:", f"{s}    s = s * 0.6 + {v} * {a}"]
        if self.rng.random() < 0.5:
            lines.append(f"{s}    if {v} > {self.number(names)}: {self.rng.choice(['break', 'continue'])}")
        lines += self.statement([*names, v], depth + 1)
        return [*lines, f"{s}else:", f"{s}    s = s * 0.9 + 0.1"] if self.rng.random() < 0.3 else lines

    def changes(self, items: str, names: list[str], s: str) -> list[str]:
        """Lines that change a list, and one that reads it."""
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            a, more = self.number(names), self.items(names, 1)
            change = [
                f".insert({self.rng.randint(-2, 2)}, {a})",
                ".sort()",
                ".reverse()",
                f".extend({more})",
                f" += {more}",
            ]
            lines.append(f"{s}{items}{self.rng.choice(change)}")
        return [*lines, f"{s}s = s * 0.5 + {items}.pop({self.rng.choice(['', '0'])})"] + [
            f"{s}s = s * 0.5 + sum(w * (j + 1) for j, w in enumerate({items}))"
        ]
