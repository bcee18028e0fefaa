"""Random programs over lists of lists, of pairs and of objects, dicts and their names, as source text.

Half of them have a deque, a heap and a set, too.

``a``, ``b``, ``c`` are lists of numbers, ``rows`` and ``others`` of such lists, ``pairs`` of tuples, ``d`` and ``e``
dicts of numbers and of lists; each may be the same as, or be held by, another one.
"""

from __future__ import annotations

import random
from typing import Any

LISTS = ("a", "b", "c", "rows[0]", "rows[-1]", "others[i % 2]", "e[0]", "e[1]")
KEYS = ("0", "1", "(i, 1)", "i % 2")


class Thing:
    """An object with numbers, a list, a pair and perhaps another one."""

    unit = 0.5
    common = [0.4, 0.6]

    def __init__(self, k: Any, ws: Any, pair: Any, inner: Any = None) -> None:
        self.k, self.ws, self.pair, self.inner = k, ws, pair, inner

    @property
    def scaled(self) -> Any:
        return self.k * self.unit

    def parts(self, t: Any) -> Any:
        return self.k * t, self.ws[0]

    def sought(self, t: Any) -> Any:
        for w in self.ws:
            if w > t:
                return w
        return None


class Other(Thing):
    """An object of another class."""

    unit = 0.25


HELPERS = """
def total(items):
    s = 0.0
    for v in items:
        s += v
    return s
def grown(items, v):
    items.append(v)
    return items
def found(items, limit):
    for v in items:
        if v > limit:
            return v
"""
START = """
def f(x, xs, m, os):
    s, t, i = x * 0.5, xs[0], 1
    o = os[0]
    a = [v * x for v in xs]
    b = {b}
    c = [0.3, x, t]
    rows = [{row}, list(m[1]), a]
    others = {others}
    pairs = [(x, t), (s, 0.5)]
    d = {{0: x, 1: t, (1, 1): s}}
    e = {{0: {first}, 1: [x, s, t]}}
"""
QUEUES = """
    q, u, h = deque([x, t, s], {longest}), {{0, 2}}, [(s, 0)]
"""
END_OF_QUEUES = """
    for v in q:
        z += v * v * 0.2
    while h:
        z = z * 0.7 + heapq.heappop(h)[0]
    return z
"""
END = """
    z = s + t * 0.5 + total(a) * 0.3 + sum(b) * 0.7 + c[0] * c[-1]
    for k, row in enumerate(rows):
        z += (k + 1) * total(row) * 0.1
    for row in others:
        z += row[0] * row[-1]
    for p, r in pairs:
        z += p * r * 0.3
    for k, v in d.items():
        z += v * v
    for k, row in e.items():
        z += (k + 1) * row[0]
    return z
"""


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random, self.loops, self.queues = random.Random(seed), 0, seed % 2 == 1

    def source(self) -> str:
        choose = self.random.choice
        start = START.format(
            b=choose(["a", "[x] * 3", "list(a)", "a[1:] + [s]", "[v for v in a]"]),
            row=choose(["list(m[0])", "a", "b", "[x, s, 0.2]", "[v * s for v in m[0]]"]),
            others=choose(["rows", "[rows[0], rows[1]]", "rows[1:]", "[c, b]", "[[x, t, s] for _ in range(2)]"]),
            first=choose(["a", "b", "rows[1]", "[s, s, x]"]),
        )
        if self.queues:
            start += QUEUES.format(longest=choose(["2", "3", "None"]))
        lines = [*HELPERS.splitlines(), *start.splitlines()]
        for _ in range(self.random.randint(3, 8)):
            lines += self.statement(1)
        if not self.queues:
            return "\n".join([*lines, *END.splitlines()])
        # Keys are of one kind, which leaves more programs typed.
        text = "\n".join([*lines, END.removesuffix("    return z\n"), END_OF_QUEUES])
        return text.replace("(1, 1)", "11").replace("(i, 1)", "i + 10")

    def number(self, depth: int = 0) -> str:
        choose = self.random.choice
        if depth > 1 or self.random.random() < 0.3:
            return choose(["x", "s", "t", "0.5", "xs[0]", "xs[-1]", "m[0][1]", "m[i % 2][0]"])
        items = choose(LISTS)
        forms = [
            *("math.tanh({0} + {1})", "{0} * {1}", "({0} - {1})", f"{items}[{choose('012')}]", f"{items}[-1]"),
            *(f"sum({items}) * 0.1", f"total({items}) * 0.1", f"max({items})", f"np.dot({items}, {items}) * 0.1"),
            *(f"math.fsum({items}) * 0.2", f"math.hypot(*{items})", f"np.array({items}).sum() * 0.1", "d[1]"),
            *(f"sorted({items})[0]", f"min(v * v for v in {items})", f"sum([v * x for v in {items}]) * 0.2"),
            *("pairs[0][1]", "pairs[-1][0]", "d.get(0, {0})", "d[(1, 1)]", f"len({items}) * 0.1", "total(xs) * 0.2"),
            *(
                "o.k",
                "o.ws[0]",
                "o.pair[1]",
                "o.scaled",
                "o.parts({0})[1]",
                "os[-1].k",
                "sum(o.ws) * 0.3",
                "o.common[1]",
            ),
        ]
        if self.queues:
            forms += [
                "q[0]",
                "q[-1]",
                "sum(q) * 0.2",
                "(x if i in u else {0})",
                "len(u) * 0.1",
                "(h[0][0] if h else s)",
            ]
        return choose(forms).format(self.number(depth + 1), self.number(depth + 1))

    def bounded(self) -> str:
        return f"math.tanh({self.number()})"

    def rows(self) -> str:
        items = self.random.choice(LISTS)
        return self.random.choice(
            ["a", "b", "c", items, f"{items}[:]", f"{items}[-3:]", "[x, s, t]", f"[t] + {items}[:2]"]
        )

    def simple(self) -> str:
        choose = self.random.choice
        items, many = choose(LISTS), choose(["rows", "others"])
        place, sign = choose(["0", "-1", "i % 3", "1"]), choose(["=", "=", "+=", "*="])
        forms = [
            *(f"{items}[{place}] {sign} {self.bounded()}", f"{items}.append({self.bounded()})"),
            *(f"{many}[{choose(['0', '-1', 'i % 2'])}] = {self.rows()}", f"{many}.append({self.rows()})"),
            *(f"{choose('abc')} = {self.rows()}", "a, b = b, a", "b, c, a = a, b, c", "rows, others = others, rows"),
            *(f"{many}[0], {many}[1] = {many}[1], {many}[0]", f"others = {many}[{choose([':', '::-1', ':2'])}]"),
            *(f"pairs.append(({self.bounded()}, s))", f"pairs[{choose(['0', '-1'])}] = ({self.bounded()}, t)"),
            *("pairs = pairs + pairs[:1]", "(s, t), i = pairs[0], 1", "s, t, *_ = [x, s, t]", "pairs = pairs[:2] * 2"),
            *(f"d[{choose(KEYS)}] {choose(['=', '='])} {self.bounded()}", f"e[{choose('01')}] = {self.rows()}"),
            *(f"s = {self.bounded()}", f"t = {self.bounded()}", f"s {choose(['+=', '-='])} {self.bounded()}"),
            *(f"a = grown({items}, {self.bounded()})", f"t = found({items}, 0.2) or s", f"{many}[0].append(s)"),
            *(
                "s, t = o.parts(s)",
                "o = os[-1]",
                "t = o.sought(0.3) or t",
                "s += o.inner.k if o.inner is not None else x",
            ),
        ]
        if self.queues:
            forms += [
                *(f"q.append({self.bounded()})", f"q.appendleft({self.bounded()})", f"q.extend({items}[:2])"),
                *(f"q[0] = {self.bounded()}", "t = q.popleft() if len(q) > 1 else t", "u.add(i)", "u.discard(i + 1)"),
                *("q.rotate(i)", "q.reverse()", "t = heapq.heappop(h)[0] if h else s", "s = d.pop(3, s)"),
                *(f"heapq.heappush(h, ({self.bounded()}, i))", f"d = {{**d, 3: {self.bounded()}}}"),
                f"d |= {{i % 2: {self.bounded()}}}",
            ]
        return choose(forms)

    def statement(self, indent: int) -> list[str]:
        if self.random.random() < 0.4 and indent < 4:
            return self.compound(indent)
        return ["    " * indent + self.simple()]

    def body(self, indent: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(indent)]

    def compound(self, indent: int) -> list[str]:
        pad, choose = "    " * indent, self.random.choice
        if self.loops == 2 or self.random.random() < 0.35:
            lines = [f"{pad}if {self.number()} > {choose(['0.2', 's', '0.5'])}:", *self.body(indent + 1)]
            return lines if self.random.random() < 0.5 else [*lines, f"{pad}else:", *self.body(indent + 1)]
        self.loops += 1
        inner = self.body(indent + 1)
        self.loops -= 1
        items, other = choose(LISTS), choose(LISTS)
        heads = [
            *(
                f"for i in range({choose('23')})",
                f"for i, t in enumerate({items})",
                f"for s, t in zip({items}, {other})",
            ),
            *(f"for t in {items}", f"for t in reversed({items})", "for s, t in pairs", "for s in d.values()"),
            *("for c in rows", "for i, c in enumerate(others)", "for i, c in e.items()", f"for t in {items}[1:]"),
            *("for k in d", "for o in os", "for c in m"),
        ]
        head = choose(heads)
        over = head.split(" in ")[1].split("(")[-1].rstrip(")")
        leave = [
            f"{pad}    if {self.number()} > {choose(['0.9', '0.4'])}: {choose(['break', 'continue', 'return s * t'])}"
        ]
        stop = [f"{pad}    if len({over}) > 6: break"] if over in (*LISTS, "rows", "others", "pairs") else []
        if "zip" in head:
            stop = [f"{pad}    if len({items}) + len({other}) > 16: break"]
        if "m" == over:
            inner = [line for line in inner if "c[" not in line and "c.append" not in line] or [f"{pad}    s += c[0]"]
        lines = [f"{pad}{head}:", *stop, *(leave if self.random.random() < 0.4 else []), *inner]
        return [*lines, f"{pad}else:", *self.body(indent + 1)] if self.random.random() < 0.15 else lines


def given(values: Any, kind: int = 0) -> list[Any]:
    """The arguments of a program, made of an iterator of twelve numbers; ``kind`` chooses what they are."""

    def some(count: int) -> list[Any]:
        return [next(values) for _ in range(count)]

    x, xs, m = next(values), some(3), [some(3), some(3)]
    if kind == 1:
        xs, m = [xs[0], 1, *xs[2:], 0.5], [*m, [0.1, 0.2, 0.3, 0.4]]
    cls = Other if kind == 2 else Thing
    inner = Thing(next(values), [0.2, 0.3], (0.1, 0.2)) if kind != 1 else None
    thing = cls(0.4, [0.2, next(values)], (0.3, 0.7), inner)
    if kind == 2:
        return [x, xs, m, [thing, thing]]
    return [x, xs, m, [thing, cls(0.2, [0.7, 0.1], (x, 0.2), thing)]]
