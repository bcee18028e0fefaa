"""Random programs that assign attributes, items and globals outside, and change lists and arrays there, as source."""

from __future__ import annotations

import random

START = """
class Thing:
    kind = 0.5
    def __init__(self, p, q):
        self.p, self.q, self.log, self.name, self.done = p, q, [], "start", False
        self.row, self.grid = [0.1 * i for i in range(5)], np.linspace(0.1, 0.5, 5)
    def step(self, d):
        self.p = self.p + d * self.q
        self.q -= d * math.sin(self.p)
    def note(self, value):
        self.log.append(value)
        self.name = "noted"
    @property
    def energy(self):
        return self.q * self.q - math.cos(self.p)

class Part(Thing):
    def step(self, d):
        super().step(0.5 * d)
        self.done = not self.done

class Pair:
    __slots__ = ("first", "second", "t")
    def __init__(self, first, second):
        self.first, self.second, self.t = first, second, 0.0

total, count = 0.2, 0
table = {"k": 0.3, "m": 0.4}
cells = [0.2, 0.4, 0.6, 0.8, 1.0]
field = np.array([0.3, 0.5, 0.7, 0.9, 1.1])
log = []
one, two = Thing(0.4, 0.2), Part(0.6, 0.1)
pair = Pair(one, two)

def state():
    return repr([vars(one), vars(two), pair.t, total, count, table, cells, field, log])
"""
NUMBERS = "one.p one.q two.p two.q one.kind pair.t pair.first.p total table['k'] table['m'] cells[1] cells[-1]".split()
NUMBERS += "cells[i%5] field[2] field[i%5] one.row[2] two.grid[1] x y s two.energy len(cells) count".split()
PLACES = "one.p one.q two.q two.p pair.t total table['k'] table['m'] cells[0] cells[i%5] field[1] field[i%5]".split()
PLACES += "one.row[3] two.row[i%5] two.grid[0] one.grid[i%5] s s s pair.second.q one.new table['new']".split()
CALLS = ["one.step({})", "two.step({})", "pair.first.step({})", "one.note({})", "log.append({})", "two.log.append({})"]
CALLS += ["cells.append({})", "count += 1", "one.row.append({})", "field[1:3] += {}", "two.grid *= 1.0 + 0.1 * ({})"]
CALLS += ["log.append((i, {}))", "one.name = 'x' if {} > 0.4 else 'y'", "two.done = {} > 0.3", "one.row = [{}, 0.5]"]
CALLS += ["one.grid = field * ({})", "two.row = cells", "table['k'] *= {}", "one.late = {}", "s += one.late"]


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random, self.depth = random.Random(seed), 0

    def source(self) -> str:
        body = [line for _ in range(self.random.randint(2, 6)) for line in self.statement("    ")]
        head = ["def f(x, y):", "    global total, count", "    s, i = x * y, 1"]
        end = ["    return s + 0.3 * one.p + two.q * 0.2 + total * 0.1 + table['k'] + sum(cells) * 0.1 + np.sum(field)"]
        if self.random.random() < 0.5:
            end = [f"    return s * s + {self.number()} * {self.number()}"]
        return "\n".join([START, *head, *body, *end])

    def number(self) -> str:
        choose = self.random.choice
        if self.random.random() < 0.4:
            return choose(NUMBERS)
        return choose(["({} + {})", "{} * 0.3 * {}", "math.sin({}) - {}", "({} - 0.5 * {})"]).format(
            choose(NUMBERS), choose(NUMBERS)
        )

    def statement(self, indent: str) -> list[str]:
        roll = self.random.random()
        if roll < 0.2 and self.depth < 2:
            self.depth += 1
            inner = [x for _ in range(self.random.randint(1, 3)) for x in self.statement(indent + "    ")]
            self.depth -= 1
            head = self.random.choice(["for i in range(3):", "for i in range(2):", f"if {self.number()} > 0.4:"])
            return [indent + head, *inner]
        if roll < 0.6:
            place = self.random.choice(PLACES)
            fits = [" = {}", " += 0.1 * {}", " = 0.2 * {}"][:: 2 if "new" in place else 1]
            return [indent + place + self.random.choice(fits).format(self.number())]
        return [indent + self.random.choice(CALLS).format(self.number())]
