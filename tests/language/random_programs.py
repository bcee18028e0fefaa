"""Random programs as source text: loops, branches, containers, closures, objects, generators, exceptions.

All numbers stay small, so that finite differences are meaningful.
"""

from __future__ import annotations

from collections.abc import Callable

BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / (2.5 + {} ** 2)", "max({}, {})", "min({}, {})", "mix({}, {})")
UNARY = (
    *("math.sin({})", "math.tanh({})", "math.cos({})", "-({})", "abs({})", "power({}, 2)", "math.exp(-abs({}))"),
    *("float({})", "({}) ** 2 * 0.3", "sum(walk({}, 3)) * 0.3", "mix(*[{}], w=0.7)", "(lambda t, k=0.5: t * k)({})"),
)
FROM_LIST = (
    *(
        "{0}[0]",
        "{0}[-1]",
        "sum({0}) * 0.2",
        "max({0})",
        "sum({0}[1:]) * 0.1",
        "{0}[len({0}) // 2]",
        "min(map(abs, {0}))",
    ),
    *("sum(v * i for i, v in enumerate({0})) * 0.05", "sorted({0})[0]", "sorted({0}, key=lambda t: -t)[0]"),
    *("functools.reduce(lambda s, t: math.sin(s + t), {0})", "sum(a * b for a, b in zip({0}, {0}[1:])) * 0.1"),
    *(
        "next(iter({0}))",
        "[math.sin(v) for v in {0} if v > -5][-1]",
        "max({0}, key=abs)",
        "sum(v for _, v in pairs({0})) * 0.1",
    ),
    *("sum(itertools.islice(itertools.cycle({0}), 5)) * 0.1", "next((v for v in {0} if v > 9), {0}[0])"),
    *(
        "list(itertools.accumulate({0}))[-1] * 0.2",
        "mix(*{0}) * 0.5",
        "sum(filter(None, {0})) * 0.1",
        "reversed({0}).__next__()",
    ),
)
FROM_DICT = (
    *("{0}['p']", "{0}.get('q', 0.5)", "sum({0}.values()) * 0.2", "mix(0.5, **{{k + 'z': v for k, v in {0}.items()}})"),
    *(
        "max({0}.values())",
        "{{**{0}, 'p': 0.5}}['p'] + dict({0})['p']",
        "sum(v * len(k) for k, v in {0}.items()) * 0.1",
    ),
)
FROM_OBJECT = (
    *("{0}.a", "{0}.b", "{0}.both", "{0}.step(0.7)", "{0}.step(0.7, {0}.a, gain=0.5)", "sum({0}.log) * 0.1", "{0}[-1]"),
    *(
        "({0} + 0.5).a",
        "({0} + {0}).both",
        "{0}(0.5)",
        "sum({0}) * 0.3",
        "(0.3 + {0}).a",
        "getattr({0}, 'a')",
        "len({0}) * {0}.b",
    ),
    *("functools.partial({0}.step, 0.3)() + {0}.shared", "max({0}, {0}).a", "[t for t in {0}][0]"),
)
ON_LIST = (
    *(
        "{0}.append({1})",
        "{0}[0] = {1}",
        "{0}[-1] = {1}",
        "{0}.insert(0, {1})",
        "{0}[-1] *= {1}",
        "{0}.extend([{1}, {0}[0]])",
    ),
    *(
        "{0} = {0} + [{1}]",
        "{0} += [{1}]",
        "{0}.sort()",
        "{0}.reverse()",
        "{0} = {0}[::-1]",
        "{0} = [v * 0.9 for v in {0}]",
    ),
    *(
        "{0}.append({0}.pop(0) * {1})",
        "{0}[1:2] = [{1}, {1}]",
        "{0} = list(map(math.sin, {0}))",
        "{0}.append({1}); del {0}[0]",
    ),
    *(
        "{0}[0], {0}[-1] = {0}[-1], {0}[0] * {1}",
        "{0} = sorted({0}, key=abs)",
        "{0} = [*{0}, {1}]",
        "{0} = {0} * 2; del {0}[3:]",
    ),
    *(
        "{0}[::2] = [t * {1} for t in {0}[::2]]",
        "{0} = {0}.copy(); {0}.append(0.1)",
        "w = {1}; {0}.clear(); {0}.extend((0.3, w, 0.2))",
    ),
    *(
        "{0}[:] = walk({1}, 3)",
        "{0} = list({0}); {0}.insert(1, 0.7)",
        "{0} = [0.2, 0.4] + {0}",
        "{0}.append({1}); {0}.remove({0}[0])",
    ),
)
ON_DICT = (
    *(
        "{0}['p'] = {1}",
        "{0}['p'] += {1}",
        "{0}[f'k{{len({0})}}'] = {1}",
        "{0}.update(p={1}, r=0.5)",
        "{0} = {{**{0}, 's': {1}}}",
    ),
    *(
        "{0} = {{k: math.sin(v * {1}) for k, v in {0}.items()}}",
        "{0}['p'] = {0}.pop('q', 0.1) * {1}",
        "{0}.setdefault('q', {1})",
    ),
    *(
        "{0} = dict({0}, p={1})",
        "{0} |= {{'q': {1}}}",
        "{0}['q'], {0}['p'] = {0}['p'], {1}",
        "{0} = {0} | {{'p': {1}}}",
    ),
    "w = {1}; {0}.popitem(); {0}['p'] = w",
)
ON_OBJECT = (
    *(
        "{0}.a = {1}",
        "{0}.b *= {1}",
        "{0}.both = {1}",
        "{0}.log[0] = {1}",
        "{0}[-1] = {1}",
        "{0} = {0} + {1}",
        "{0}.step({1})",
    ),
    *(
        "setattr({0}, 'b', {1})",
        "{0} = Sub({1}, {0}.b)",
        "{0}.log = {0}.log + [{1}]",
        "vars({0})['a'] = {1}",
        "{0}.extra = {1}",
    ),
    "{0} = min({0}, Cell({1}, 0.1))",
)
SHARING = (
    "xs, ys = ys, xs",
    "zs = xs; zs.append({0})",
    "m = [xs, ys, d]; m[0].append({0}); m[2]['p'] = m[1][0]",
    "ys = xs[:]",
    "box = {{'l': xs, 'o': o}}; box['o'].a *= {0}; box['l'][0] = {0}",
    "o, p = p, o",
    "d['q'] = push(xs, {0})[0]",
    "ys = push(ys, {0})",
    "rows = [[{0}, t] for t in xs[:3]]; rows[0][1] *= 0.5; ys.extend(r[0] * r[1] for r in rows)",
    "g = walk({0}, 4); next(g); ys[0] = next(g) + sum(g)",
    "g = (t * {0} for t in xs[:3]); xs[0] *= 0.5; ys.append(sum(g))",
    "it = iter(xs); xs[-1] *= {0}; ys.append(next(it)); xs.append(0.2); xs.extend(list(it)[:2])",
    "Cell.shared = {0}",
    "s = {{{0}, 0.5}}; s.add({0} + 2); s |= {{0.7}}; total = math.sin(total + sum(s) + max(s))",
    "o.other = p; o.other.a *= {0}",
    "a = np.array(xs[:3]); a[0] = {0}; a *= 0.5; ys.append(float(a.sum()))",
    "a = np.array(ys); total = math.sin(total + (a @ a))",
    "r = Row({0}, 0.5); u, v = r; ys.append(u * r.b + v * r[0])",
    "u, (v, *w) = {0}, (0.3, *xs); ys[-1] = u * v + sum(w) * 0.1",
    "c = counter({0}); c(); ys.append(c() * c())",
    "xs = [*xs, *ys][:5]",
    "d = {{'p': {0}, 'n': [d['p'], {{'z': {0}}}]}}; d = flat(d)",
    "ys.append(sum(tree({0}, 2)))",
    "fs = [lambda t, k=k: t * k * {0} for k in (0.3, 0.6)]; ys[0] = sum(f(0.5) for f in fs)",
    "q = copied(o); q.a *= {0}; o.log.append(q.a)",
    "ys.append(kind(xs) + kind({0}) + kind((1, {0})) + kind(d) + kind(o))",
)
CONDITIONS = (
    *(
        "{0} > 0.1",
        "{0} < 0.3 or {1} > 0.2",
        "not {0} < {1}",
        "-0.5 < {0} < 0.9",
        "{0} > 0 and {1} > -0.5",
        "isinstance({0}, float)",
    ),
    *("{0} is not None and {0} > 0.25", "{0} in (0.1, 0.2)", "any(t > 0.5 for t in ({0}, {1}))"),
)


class Program:
    """Writes one program; ``pick(n)`` chooses a number below ``n``."""

    def __init__(self, pick: Callable[[int], int]) -> None:
        self.pick = pick
        self.lines: list[str] = []
        self.indent = 1
        self.numbers = ["x", "y"]
        self.functions: list[str] = []
        self.count = 0
        self.loops = 0

    def source(self, size: int) -> str:
        """The text of a function ``f(x, y, xs, d)``, to be executed among ``parts``."""
        self.lines = [
            "def f(x, y, xs, d):",
            "    global total",
            "    total, Cell.shared = 0.0, 0.25",
            "    ys = [y, 0.5, x]",
            "    o, p = Cell(x, y), Sub(y)",
        ]
        for _ in range(size):
            self.statement(depth=2)
        numbers = " + ".join(f"math.sin({name})" for name in self.numbers)
        self.line(f"return {numbers} + mix(*xs) + mix(*ys) + sum(d.values()) + o.both + p.both + sum(p.log) + total")
        return "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        self.lines += ["    " * self.indent + part for part in text.split("; ")]

    def one_of(self, options: tuple[str, ...] | list[str]) -> str:
        return options[self.pick(len(options))]

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def number(self) -> str:
        return self.one_of(self.numbers)

    def expression(self, depth: int = 2) -> str:
        form = self.pick(8) if depth else self.pick(2)
        if form < 2:
            return self.number() if form == 0 else self.one_of(["0.3", "scale", "1", "-0.7", "total", "o.a"])
        inner = self.expression(depth - 1)
        if form == 2:
            return "(" + self.one_of(BINARY).format(inner, self.expression(depth - 1)) + ")"
        if form == 3:
            return self.one_of(UNARY).format(inner)
        if form == 4:
            return "(" + self.one_of(FROM_LIST).format(self.one_of(["xs", "ys"])) + ")"
        if form == 5:
            return "(" + self.one_of(FROM_DICT).format("d") + ")"
        if form == 6:
            return "(" + self.one_of(FROM_OBJECT).format(self.one_of(["o", "p"])) + ")"
        if self.functions:
            return f"{self.one_of(self.functions)}({inner})"
        return f"({inner} if {self.condition()} else {self.number()})"

    def condition(self) -> str:
        return self.one_of(CONDITIONS).format(self.number(), self.number())

    def bounded(self) -> str:
        return f"{self.one_of(['math.sin', 'math.tanh'])}({self.expression()})"

    def statement(self, depth: int) -> None:
        simple = [
            self.assign,
            self.assign,
            self.augment,
            self.on_list,
            self.on_dict,
            self.on_object,
            self.unpack,
            self.globals,
            self.share,
            self.share,
        ]
        compound = [self.branch, self.count_loop, self.item_loop, self.while_loop, self.define, self.guard, self.manage]
        options = simple + compound if depth else simple
        options[self.pick(len(options))](depth - 1)

    def body(self, depth: int) -> None:
        """A block that leaves no new names behind."""
        self.indent += 1
        numbers, functions = list(self.numbers), list(self.functions)
        for _ in range(1 + self.pick(3)):
            self.statement(max(depth, 0))
        self.numbers, self.functions = numbers, functions
        self.indent -= 1

    def assign(self, depth: int) -> None:
        value = self.bounded()
        name = self.number() if self.pick(2) else self.fresh("v")
        self.line(f"{name} = {value}")
        if name not in self.numbers:
            self.numbers.append(name)

    def augment(self, depth: int) -> None:
        self.line(f"{self.number()} {self.one_of(['+=', '-=', '*='])} {self.bounded()}")

    def globals(self, depth: int) -> None:
        self.line(f"total = math.sin(total + {self.expression(1)})")

    def share(self, depth: int) -> None:
        self.line(self.one_of(SHARING).format(self.bounded()))

    def on_list(self, depth: int) -> None:
        self.line(self.one_of(ON_LIST).format(self.one_of(["xs", "ys"]), self.bounded()))

    def on_dict(self, depth: int) -> None:
        self.line(self.one_of(ON_DICT).format("d", self.bounded()))

    def on_object(self, depth: int) -> None:
        self.line(self.one_of(ON_OBJECT).format(self.one_of(["o", "p"]), self.bounded()))

    def unpack(self, depth: int) -> None:
        a, b = self.number(), self.number()
        targets = self.one_of(["{0}, {1}", "{0}, *rest, {1}", "({0}, _), {1}"])
        values = {
            "{0}, {1}": "{1}, {0}",
            "{0}, *rest, {1}": "{1}, *xs, {0}",
            "({0}, _), {1}": "(math.sin({1}), 1), {0}",
        }
        if a == b:
            self.line(f"{a} = {b}")
        else:
            self.line(f"{targets.format(a, b)} = {values[targets].format(a, b)}")

    def branch(self, depth: int) -> None:
        self.line(f"if {self.condition()}:")
        self.body(depth)
        if self.pick(2):
            self.line(f"elif {self.condition()}:")
            self.body(depth)
        if self.pick(2):
            self.line("else:")
            self.body(depth)

    def leave(self) -> None:
        """Perhaps end the loop early."""
        choice = self.pick(5)
        if choice < 2:
            self.line(f"    if {self.condition()}:")
            self.line("        " + ("break" if choice else "continue"))

    def count_loop(self, depth: int) -> None:
        index = self.fresh("i")
        self.line(f"for {index} in range({1 + self.pick(3)}):")
        self.line(f"    {self.number()} = math.sin({self.expression(1)} + {index})")
        self.leave()
        self.body(depth)
        if self.pick(4) == 0:
            self.line("else:")
            self.body(depth)

    def item_loop(self, depth: int) -> None:
        item = self.fresh("v")
        source = self.one_of(
            [
                *(
                    "xs[:4]",
                    "tuple(ys)[:4]",
                    "list(d.values())[:4]",
                    "walk(x, 3)",
                    "map(math.sin, xs[:3])",
                    "list(o)",
                    "p",
                ),
                *(
                    "(t * 0.5 for t in ys[:3])",
                    "[u * v for u, v in zip(xs, ys)][:4]",
                    "itertools.chain(xs[:2], ys[:2])",
                ),
            ]
        )
        if self.pick(3) == 0:
            self.line(f"for {item}_i, {item} in enumerate({source}):")
        else:
            self.line(f"for {item} in {source}:")
        self.numbers.append(item)
        self.leave()
        self.body(depth)
        self.numbers.remove(item)

    def while_loop(self, depth: int) -> None:
        counter = self.fresh("n")
        self.line(f"{counter} = 0")
        self.line(f"while {counter} < {1 + self.pick(3)} and ({self.condition()}):")
        self.line(f"    {counter} += 1")
        self.leave()
        self.body(depth)

    def define(self, depth: int) -> None:
        name, captured = self.fresh("g"), self.number()
        default = f"k={self.number()}" if self.pick(2) else "k=0.5"
        self.line(f"def {name}(t, {default}):")
        if captured not in ("x", "y") and self.pick(2):
            self.line(f"    nonlocal_{name} = {captured}")
        outer = self.numbers
        self.numbers = ["t", "k", *outer[:1]] if self.pick(2) else ["t", "k"]
        value = self.bounded()
        if self.pick(2):
            self.line("    xs.append(math.sin(t))")
        self.line(f"    return {value} * math.cos({captured})")
        self.numbers = outer
        self.functions.append(name)

    def guard(self, depth: int) -> None:
        self.line("try:")
        self.body(depth)
        raises = self.pick(2)
        if raises:
            self.line(f"    if {self.condition()}:")
            self.line("        raise ValueError('no')")
        self.line("except ValueError:")
        self.body(depth)
        if self.pick(2):
            self.line("finally:")
            self.body(depth)

    def manage(self, depth: int) -> None:
        self.line(f"with {self.one_of(['o', 'p', 'Cell(x)'])} as c:")
        self.line(f"    {self.number()} = math.sin(c.a)")
        self.body(depth)
