"""Random programs of numbers, as source text."""

from __future__ import annotations

import random


class Writer:
    """Writes a random program of numbers: nested loops, branches, early exits."""

    def __init__(self, seed, whiles):
        self.random, self.whiles = random.Random(seed), whiles
        self.names, self.indices, self.count, self.budget = ["x", "y", "a", "b", "c"], [], 0, 26
        self.lines = ["def f(x, y):", "    a, b, c = x, 0.5, y"]

    def source(self):
        for _ in range(self.random.randint(2, 5)):
            self.statement(1, 3, False)
        factors = (f"{self.random.choice(['1.5', '-0.5', '2'])} * {name}" for name in self.names)
        return "\n".join([*self.lines, "    return " + " + ".join(factors)])

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def expression(self, depth=2):
        kind = self.random.randrange(9 if depth else 3)
        if kind < 2:
            return self.random.choice(self.names)
        if kind == 2:
            return self.random.choice(["0.5", "1.25", "-0.7", "2", "1.0", "x"])
        forms = ["({} + {})", "({} - {})", "({} * {})", "math.sin({})", "({} / (1.5 + {} ** 2))", "h({}, {})"]
        return forms[kind - 3].format(self.expression(depth - 1), self.expression(depth - 1))

    def condition(self):
        forms = ["{} > {}", "{} < 0.4", "-0.3 < {} < 0.6", "{} > 0 and {} < 0.8", "not {} > 0.2"]
        forms += [f"{i} % 2" for i in self.indices[-1:]] + [f"{i} == 1" for i in self.indices[-1:]]
        return self.random.choice(forms).format(self.expression(1), self.expression(0))

    def block(self, indent, depth, loop):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth, loop)

    def statement(self, indent, depth, loop):
        self.budget -= 1
        kind = self.random.randrange(14 if depth > 0 and self.budget > 0 else 6)
        a, b, c = self.random.sample(self.names, 3)
        if kind < 3:
            self.line(indent, f"{a} = math.tanh({self.expression()})")
        elif kind == 3:
            self.line(indent, f"{a} {self.random.choice(['+=', '-=', '*='])} math.tanh({self.expression(1)})")
        elif kind == 4:
            moves = [f"{a}, {b} = {b}, math.tanh({a} + {b})", f"{a}, {b}, {c} = {b}, {c}, {a}"]
            self.line(indent, self.random.choice(moves))
        elif kind == 5:
            leave = ["break", "continue", f"return {a} * {b}"] if loop else [f"return {a} * {b}"]
            self.line(indent, f"if {self.condition()}: {self.random.choice(leave)}")
        elif kind < 9:
            self.line(indent, f"if {self.condition()}:")
            self.block(indent + 1, depth - 1, loop)
            self.otherwise(indent, depth, loop)
        else:
            self.loop(indent, depth, kind > 11 and self.whiles)
            self.otherwise(indent, depth, loop)

    def otherwise(self, indent, depth, loop):
        if self.random.random() < 0.4:
            self.line(indent, "else:")
            self.block(indent + 1, depth - 1, loop)

    def loop(self, indent, depth, repeat):
        self.count += 1
        index = f"i{self.count}"
        if repeat:
            self.line(indent, f"{index} = 0")
            test = self.random.choice([f"{index} < 3", "True", f"{index} < 3 and {self.condition()}"])
            self.line(indent, f"while {test}:")
            self.line(indent + 1, f"{index} += 1")
            self.line(indent + 1, f"if {index} > 3: break")
        else:
            self.line(indent, f"for {index} in range({self.random.randrange(4)}):")
        self.indices.append(index)
        self.block(indent + 1, depth - 1, True)
        self.indices.pop()
