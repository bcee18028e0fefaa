"""Random programs that raise and handle exceptions, and change what is outside meanwhile, as source."""

from __future__ import annotations

import random

START = """
import random

class Low(Exception):
    pass

class Held(Low):
    def __init__(self, value, weight=1.0):
        super().__init__(value)
        self.value, self.weight = value, weight

class Other(ValueError):
    pass

class Thing:
    def __init__(self, p):
        self.p, self.count = p, 0
    def risky(self, value, most):
        self.p = self.p * 0.9 + 0.1 * value
        if value > most:
            raise Held(value * self.p, weight=self.p)
        self.count += 1
        return value * 0.5 + self.p
    def __enter__(self):
        self.count += 1
        return self
    def __exit__(self, cls, error, traceback):
        self.p = self.p + 0.01
        return cls is not None and issubclass(cls, Other)

def deep(value, most, depth):
    if depth > 0:
        return deep(value * 0.9, most, depth - 1) * 1.1
    if value > most:
        raise Low(value * value)
    return value

def through(value, most):
    try:
        return deep(value, most, 1)
    except Held as error:
        return error.value
    finally:
        table["a"] = table["a"] + 0.01

def yielding(value, count):
    try:
        for i in range(count):
            if value * i > 1.5:
                raise Other(value)
            yield value * i
    finally:
        table["b"] = table["b"] * 1.01

one, table = Thing(0.3), {"a": 0.4, "b": 1.2}
new, plain = np.random.default_rng(0), random.Random(1)

def state():
    return repr([vars(one), table, new.bit_generator.state["state"], plain.getstate()[1]])
"""
NUMBERS = ["x", "y", "s", "t", "0.7", "1.3", "own.p", "one.p", "float(i)", "table['a']"]
BOUNDS = ["0.3", "0.8", "1.5", "-0.2", "y"]
OPERATIONS = ["({} + {})", "({} - {})", "({} * {})", "math.sin({}) * {}", "math.exp(-(({}) ** 2)) + {}"]
DRAWS = ["new.random()", "plain.random()", "new.standard_normal()"]
CHANGES = ["own.p = {}", "one.p = {}", "one.count += 1", "table['a'] = table['a'] * 0.9", "s += {}", "t = {}", "s = {}"]
RAISING = ["if {c}: raise Low({})", "if {c}: raise Held({}, weight={})", "if {c}: raise Other({})"]
RAISING += ["t = deep({}, 1.0, 2)", "t = deep({}, 0.5, 0)", "t = through({}, 0.6)", "s = s + own.risky({}, 0.5)"]
RAISING += ["t = table['a' if {c} else 'z'] * {}", "t = {} / (0.0 if {c} else 2.0)", "t = math.sqrt({})"]
RAISING += ["t = [x, y, s][i] * {}", "t = [x, {}][int(abs(s) * 2) % 5]"]
CLAUSES = {"Low as error": "s = s + error.args[0]", "Held as error": "s = s + error.value * error.weight"}
CLAUSES |= {"Other as error": "s = s * error.args[0]", "(Low, ValueError) as error": "t = 0.3", "KeyError": "t = s"}
CLAUSES |= {"ZeroDivisionError": "t = 0.1", "(KeyError, IndexError)": "s = 0.2 * s", "Exception": "s = s * 1.1"}
LOOPS = ["for i in range(3):", "for i in range(5):"]
AFTER = ["raise", "raise Low(s)", "raise Other(t) from None"]


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random, self.count = random.Random(seed), 0

    def source(self) -> str:
        body = [*self.body(8, False, self.random.randint(3, 6)), "    except (Low, Other) as error:"]
        body.append("        s = s + 2.0 * error.args[0]")
        if self.random.random() < 0.5:
            body += ["    except Exception:", "        s = s * 1.5 + t"]
        head = ["def f(x, y):", "    s, t, i, own = 0.0, 1.0, 0, Thing(x)", "    try:"]
        return "\n".join([START, *head, *body, "    return s + t * 0.5 + own.p"])

    def body(self, indent: int, looping: bool, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement(indent, looping)]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def number(self) -> str:
        choose = self.random.choice
        if self.chance(0.1):
            return choose(DRAWS)
        return choose(NUMBERS) if self.chance(0.5) else choose(OPERATIONS).format(choose(NUMBERS), choose(NUMBERS))

    def filled(self, line: str) -> str:
        condition = f"{self.random.choice(NUMBERS)} {self.random.choice('<>')} {self.random.choice(BOUNDS)}"
        return line.format(self.number(), self.number(), c=condition)

    def statement(self, indent: int, looping: bool) -> list[str]:
        self.count += 1
        roll, space, choose = self.random.random(), " " * indent, self.random.choice
        inner = indent + 4
        if roll < 0.3 or self.count > 30 or indent > 24:
            return [space + self.filled(choose(CHANGES if self.chance(0.7) else RAISING))]
        if roll < 0.65:
            return self.handled(indent, looping)
        if roll < 0.8:
            return [space + choose(LOOPS), *self.body(inner, True, 2)]
        if roll < 0.9:
            return [space + choose(["with one:", "with own:"]), *self.body(inner, looping, 2)]
        loop = [self.filled("for q in yielding({}, 4):"), "    s += q"]
        return [space + line for line in (*loop, *[self.filled("    if {c}: break")] * self.chance(0.3))]

    def handled(self, indent: int, looping: bool) -> list[str]:
        space, inner, choose = " " * indent, " " * (indent + 4), self.random.choice
        leaving = [*AFTER, *["break", "continue"] * looping]
        found = [space + "try:", *self.body(indent + 4, looping, self.random.randint(0, 2))]
        found.append(inner + self.filled(choose(RAISING)))
        if self.chance(0.4):
            found += self.body(indent + 4, looping, 1)
        for clause in self.random.sample(list(CLAUSES), self.random.randint(1, 3)):
            found += [f"{space}except {clause}:", inner + CLAUSES[clause], *self.body(indent + 4, looping, 1)]
            if self.chance(0.2):
                found.append(inner + choose(leaving))
        if self.chance(0.3):
            found += [space + "else:", *self.body(indent + 4, looping, 1)]
        if self.chance(0.35):
            found += [space + "finally:", inner + self.filled(choose(CHANGES))]
        return found
