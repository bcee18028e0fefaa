"""Random programs that store into arrays and lists which they have made, as source text."""

from __future__ import annotations

import random

PLACES = ("0", "1", "-1", "-2", "(i + 2) % 6", "i - 3")
PARTS = {6: (":", "::-1", "..."), 4: ("1:-1", "2:", ":-2", "i:i + 4"), 3: ("::2", "1::2", "3:", ":3"), 2: ("1:3", "4:")}
ARRAYS, LISTS = ("u", "v", "w"), ("a", "b")
HELPERS = """
def scaled(p, q):
    k = np.zeros(6)
    k[0] = q
    k[1:] = p[:-1] * q
    return k
def fill(p, q, r):
    p[0] = q
    p[1:4] += r * q
def gathered(p, q):
    k = np.zeros((2, 3))
    for a in range(2):
        for b in range(3):
            k[a, b] = p[a * 3 + b] * q
    k[0] *= 0.5
    k[:, 1] -= p[2:4]
    return k.ravel()
"""
START = """
def f(x, y, n=3):
    s, t, i = x * y, 0.3, 1
    c = np.arange(6.0) * 0.1 + 0.2
"""
END = """
    return u @ c + np.sum(np.sin(v)) + w @ c + s + np.sum(m * m) * 0.1 + sum(a) * 0.3 + sum(q * q for q in b) * 0.2
"""


class Writer:
    """Writes one program: arrays of six doubles, a matrix of three by four, two lists, numbers."""

    def __init__(self, seed: int) -> None:
        self.random, self.loops, self.views = random.Random(seed), 0, list[tuple[str, int]]()

    def source(self) -> str:
        choose, lines = self.random.choice, [*HELPERS.splitlines(), *START.splitlines()]
        lines.append(f"    u = {choose(['np.zeros(6)', 'np.full(6, x)', 'np.linspace(0.1, 0.9, 6) * x'])}")
        lines.append(f"    v = {choose(['np.ones(6)', 'np.array([x, y, x * y, 0.1, 0.2, 0.3])', 'u.copy()', 'u * 2'])}")
        lines.append(f"    w = {choose(['np.sin(c * x)', 'np.zeros_like(u)', 'np.copy(c)'])}")
        lines.append(f"    m = {choose(['np.zeros((3, 4))', 'np.ones((3, 4)) * x'])}")
        lines.append(f"    a = {choose(['[0.0] * 6', '[x] * 6', '[x, y, 0.1, 0.2, 0.3, 0.4]'])}")
        lines.append(f"    b = {choose(['[0.5] * 6', '[float(k) for k in range(6)]'])}")
        for _ in range(self.random.randint(3, 9)):
            lines += self.statement(1)
        return "\n".join([*lines, *END.splitlines()])

    def place(self) -> str:
        return self.random.choice(PLACES)

    def number(self, depth: int = 0) -> str:
        choose = self.random.choice
        if depth > 2 or self.random.random() < 0.3:
            return choose(["x", "y", "s", "t", "0.5"])
        forms = ["math.sin({0})", "({0} * {1})", "({0} - {1})", "({0} + {1}) * 0.5"]
        forms += [f"{choose(ARRAYS)}[{self.place()}]", f"{choose(LISTS)}[{self.place()}]", "m[1, 2]", "m[-1, 0]"]
        forms += [
            f"np.sum({self.array(choose([6, 4, 3]), depth + 1)}) * 0.1",
            f"sum({choose(LISTS)}) * 0.1",
            "u @ v * 0.1",
        ]
        return choose(forms).format(self.number(depth + 1), self.number(depth + 1))

    def array(self, count: int, depth: int = 0) -> str:
        choose = self.random.choice
        if depth > 2 or self.random.random() < 0.35:
            known = [name for name, length in self.views if length == count]
            rows = {4: [f"m[{choose('012')}]"], 3: [f"m[:, {choose('0123')}]"], 6: list(ARRAYS)}.get(count, [])
            return choose([*known, *rows, f"{choose(ARRAYS)}[{choose(PARTS[count])}]"])
        forms = [
            "np.sin({0})",
            "({0} * {1})",
            "({0} - {1})",
            "({0} + {2})",
            "({2} * {0})",
            "np.where({0} > 0.1, {0}, {1})",
            "-{0}",
            "({0} * 0.5)",
            "np.exp({0} * 0.2)",
            "np.tanh({0})",
            "np.sqrt(1.0 + {0} ** 2)",
            "({0} / (1.5 + {1} ** 2))",
            "np.cumprod({0} * 0.5)",
        ]
        return choose(forms).format(self.array(count, depth + 1), self.array(count, depth + 1), self.number(depth + 1))

    def body(self, indent: int, count: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, count)) for line in self.statement(indent)]

    def statement(self, indent: int) -> list[str]:
        if self.random.random() < 0.3 and indent < 4:
            return self.compound(indent)
        return ["    " * indent + self.simple(indent)]

    def simple(self, indent: int) -> str:
        choose, name = self.random.choice, self.random.choice(ARRAYS)
        count = choose([6, 4, 3, 2])
        part, sign = choose(PARTS[count]), choose(["=", "=", "+=", "-=", "*="])
        view = f"z{len(self.views)}"
        forms = [
            *(f"{name}[{self.place()}] {sign} {self.number()}", f"{name}[{part}] {sign} {self.array(count)}"),
            *(f"{name}[{part}] {sign} {self.number()}", f"{name} {choose(['+=', '*='])} {self.array(6)}"),
            *(f"{choose(LISTS)}[{self.place()}] {sign} {self.number()}", f"{choose(LISTS)}.append({self.number()})"),
            *(f"m[{choose('012')}, {choose('0123')}] {sign} {self.number()}", f"m[i % 3] {sign} {self.array(4)}"),
            *(
                f"m[:, 1] {sign} {self.array(3)}",
                f"m {choose(['+=', '*='])} {self.array(4)}",
                f"m[0] = [x, {self.number()}, 1, s]",
            ),
            *(f"s = s * 0.5 + {self.number()}", f"t = {self.number()}", f"s = {self.number()}"),
            *(
                f"{name}[{name} > {self.number()}] {sign} {self.number()}",
                f"fill({name}, {self.number()}, {self.array(3)})",
            ),
            *(
                f"{name}[[0, {choose('24')}]] {sign} {self.array(2)}",
                f"{name}[np.array([1, i % 6, 4])] {sign} {self.array(3)}",
                f"m[np.array([0, 2]), {choose(['1:3', 'i % 4', 'np.array([3, -1])'])}] {sign} {self.number()}",
            ),
            *(f"{name} = {self.array(6)}", f"{name} = {choose(['scaled', 'gathered'])}({name}, {self.number()})"),
            *(f"{name} = {choose(['np.zeros(6)', 'np.full(6, y)', name + '.copy()'])}", f"{view} = {name}[{part}]"),
        ]
        if self.views and self.random.random() < 0.3:
            return self.change_of_view()
        if self.random.random() < 0.08 and indent == 1:
            of_matrix = {4: "m[1]", 3: choose(["m[:, 2]", "m.T[1]"]), 6: "m.reshape(12)[::2]", 2: "m[0, ::-1][1:3]"}
            self.views.append((view, count))
            return f"{view} = {of_matrix[count]}"
        found = choose(forms)
        if found.startswith("z"):
            if indent > 1:
                return f"z = {name}[{part}]"
            self.views.append((view, count))
        return found

    def change_of_view(self) -> str:
        choose = self.random.choice
        name, count = choose(self.views)
        return choose(
            [
                f"{name} {choose(['+=', '*='])} {self.array(count)}",
                f"{name}[:] = {self.array(count)}",
                f"{name}[{choose(['0', '-1', 'i % 2', '1:', '::-1'])}] {choose(['=', '+='])} {self.number()}",
                f"{name}[{name} > {self.number()}] *= 0.5",
            ]
        )

    def compound(self, indent: int) -> list[str]:
        pad, kind = "    " * indent, self.random.randrange(5)
        if kind < 2:
            lines = [
                pad + f"if {self.number()} > {self.random.choice(['0.2', 's', '0.5'])}:",
                *self.body(indent + 1, 2),
            ]
            return lines if kind else [*lines, pad + "else:", *self.body(indent + 1, 2)]
        if self.loops == 2:
            return self.body(indent, 2)
        self.loops += 1
        inner = self.body(indent + 1, 3)
        self.loops -= 1
        leave = [pad + f"    if {self.number()} > 1.5:", pad + "        break"] if self.random.random() < 0.3 else []
        if kind == 4:
            return [pad + f"for i, t in enumerate({self.random.choice(ARRAYS)}):", *inner, *leave]
        return [pad + f"for i in range({self.random.choice(['3', '1, 4', 'n'])}):", *inner, *leave]
