"""Random programs whose arguments are objects beside lists, tuples, dicts and arrays of several classes.

Callees have default values, decorators and attributes; what is given is used whole, in parts and by several names.
All numbers stay small, so that finite differences are meaningful.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np


class Part:
    """An object among the arguments."""

    unit = 0.5

    def __init__(self, k: Any, ws: Any, inner: Any = None) -> None:
        self.k, self.ws, self.inner = k, ws, inner
        self.total = sum
        self.label = "part"

    @property
    def scaled(self) -> Any:
        return self.k * self.unit

    def weigh(self, t: Any, p: float = 0.7, *, q: Any = None) -> Any:
        return t * self.k * p + (0.0 if q is None else q) + self.ws[0]

    def __call__(self, t: Any) -> Any:
        return math.tanh(t * self.ws[1])

    def __getitem__(self, index: int) -> Any:
        return self.ws[index]

    def __len__(self) -> int:
        return len(self.ws)


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("a", "pair")

    def __init__(self, a: Any, pair: Any) -> None:
        self.a, self.pair = a, pair


class Derived(Part):
    """An object of a class that takes over and calls what it overrides."""

    def weigh(self, t: Any, p: float = 0.3, *, q: Any = None) -> Any:
        return super().weigh(t, p, q=q) - self.scaled


class Sub(np.ndarray):
    """Arrays of a class of its own."""


def counted(f: Any) -> Any:
    """A decorator that counts."""

    @functools.wraps(f)
    def inner(*args: Any, **kwargs: Any) -> Any:
        inner.calls += 1  # type: ignore[attr-defined]
        return f(*args, **kwargs)

    inner.calls = 0  # type: ignore[attr-defined]
    return inner


def scaling(factor: Any) -> Any:
    """A decorator with an argument, which may carry a derivative."""

    def decorate(f: Any) -> Any:
        @functools.wraps(f)
        def inner(*args: Any) -> Any:
            return f(*args) * factor

        return inner

    return decorate


NAMES: dict[str, Any] = {
    **{"np": np, "math": math, "functools": functools, "counted": counted, "scaling": scaling},
    **{"Part": Part, "Derived": Derived, "Slotted": Slotted},
}
TAKEN = {"x": 1, "xs": 3, "ts": 2, "rows": 4, "table": 3, "a": 3, "o": 5, "s": 3, "e": 0}


def arguments(names: str, kinds: int, values: Iterator[float]) -> list[Any]:
    """The arguments of a program, made of numbers; ``kinds`` chooses classes."""

    def some(count: int) -> list[float]:
        return [next(values) for _ in range(count)]

    def array(count: int) -> Any:
        found = np.array(some(count))
        return found.view(Sub) if kinds % 3 == 2 else found

    made = {
        "x": lambda: next(values),
        "xs": lambda: some(3),
        "ts": lambda: tuple(some(2)),
        "rows": lambda: [some(2), some(2)],
        "table": lambda: {"p": next(values), "ws": some(2)},
        "a": lambda: array(3),
        "o": lambda: (Part, Derived)[kinds % 2](next(values), some(2), Slotted(next(values), next(values))),
        "s": lambda: Slotted(array(2), (next(values), "text")),
        "e": lambda: (object(), {1, 2}, np.random.default_rng(0), "text", print)[kinds % 4],
    }
    return [made[name]() for name in names.split()]


NUMBERS = {
    "x": ("x", "x * x"),
    "xs": ("xs[0]", "sum(xs)", "max(xs)", "math.prod(xs)", "sum(v * v for v in xs)", "np.array(xs).sum()", "xs[-1]"),
    "ts": ("ts[1]", "sum(ts)", "math.prod(ts)", "np.dot(ts, [0.5, 2.0])", "math.hypot(*ts)"),
    "rows": (
        "np.array(rows).sum()",
        "sum(map(sum, rows))",
        "rows[1][0]",
        "np.concatenate(rows).prod()",
        "sum(rows[0])",
    ),
    "table": (
        "table['p']",
        "sum(table['ws'])",
        "np.sum(table['ws'])",
        "table.get('p', 0.1)",
        "len(table) * table['p']",
    ),
    "a": ("np.sum(a * a)", "float(a[1])", "np.dot(a, a)", "np.asarray(a).sum()", "sum(a)", "a.sum()", "a.max()"),
    "o": (
        *("o.k", "sum(o.ws)", "o.scaled", "o.weigh({0})", "o.weigh({0}, 0.2)", "o.weigh(0.3, q={0})", "o(0.5)", "o[1]"),
        *(
            "o.total(o.ws)",
            "np.array(o.ws).sum()",
            "o.inner.a",
            "max(o.ws)",
            "math.prod(o.ws) + len(o)",
            "o.inner.pair",
        ),
        *("functools.partial(o.weigh, {0})()", "getattr(o, 'k')", "vars(o)['k']", "np.stack([o.ws, [{0}, 1.0]]).sum()"),
    ),
    "s": ("np.sum(s.a)", "s.pair[0]", "float(np.dot(s.a, s.a))", "s.a[0] * s.pair[0]", "np.asarray(s.a).prod()"),
    "e": ("0.5",),
}
COMBINED = (
    *("math.sin({0})", "{0} * {1}", "{0} + {1}", "math.tanh({0}) - {1}", "max({0}, {1})", "g({0})", "g({0}, {1})"),
    *(
        "h({0})",
        "w({0})",
        "g.also({0})",
        "functools.partial(g, k={0})({1})",
        "np.array([{0}, {1}]).prod()",
        "sum([{0}, {1}])",
    ),
)
DEFINED = (
    "def g(t, k={0}): return t * k\ng.also = lambda t, p={1}: t * p",
    "@counted\ndef g(t, k={0}): return t + k\ng.also = g",
    "@scaling({0})\ndef g(t, *k): return math.sin(t) + sum(k)\ng.also = functools.partial(g, 0.3)",
    "def g(t, k={0}, *, n={1}): return t * k + n\ng.also = functools.wraps(g)(lambda *a: g(*a, n=0.2))",
    "class G:\n    def __call__(self, t, k=0.4): return t * k\n    also = staticmethod(lambda t: t * 0.5)\ng = G()",
)
CHANGES = {
    "xs": ("xs[0] = {0}", "xs.append({0})", "xs[1] *= {0}", "xs.sort()", "xs = [*xs, {0}]"),
    "rows": ("rows[0][1] = {0}", "rows[1] = [{0}, 0.5]", "rows[0], rows[1] = rows[1], rows[0]"),
    "table": ("table['p'] = {0}", "table['ws'].append({0})", "table['q'] = {0}"),
    "o": ("o.k = {0}", "o.ws[0] = {0}", "o.ws = [{0}, o.k]", "o.inner = Slotted({0}, o.k)", "o.k *= {0}"),
    "s": ("s.pair = ({0}, 'other')",),
    "a": ("a = a * {0}", "a[0] = {0}"),
}


def program(seed: int) -> tuple[str, str, int]:
    """The text of a random program with a function ``f``, the names of its arguments, and the classes of these."""
    choice = random.Random(seed)
    names = choice.sample(sorted(TAKEN), choice.randint(2, 5))
    if not any(TAKEN[name] for name in names):
        names.append("xs")

    def number(depth: int) -> str:
        if depth and choice.random() < 0.6:
            return "(" + choice.choice(COMBINED).format(number(depth - 1), number(depth - 1)) + ")"
        text = choice.choice(NUMBERS[choice.choice(names)])
        return text.format(number(0)) if "{0}" in text else text

    def indented(text: str) -> list[str]:
        return ["    " + line for line in text.split("\n")]

    own = [text for text in NUMBERS if text in names]
    first = [choice.choice([t for t in NUMBERS[choice.choice(own)] if "{" not in t]) for _ in range(2)]
    lines = [
        *indented(choice.choice(DEFINED).format(*first)),
        *indented(f"def h(t): return t * {first[1]} + 0.1"),
        *indented("w = counted(h)" if choice.random() < 0.5 else "w = functools.wraps(h)(lambda t, k=0.6: h(t) * k)"),
    ]
    for place in range(choice.randint(1, 4)):
        changed = [name for name in names if name in CHANGES]
        if changed and choice.random() < 0.4:
            lines += indented(choice.choice(CHANGES[choice.choice(changed)]).format(number(1)))
        elif choice.random() < 0.3:
            lines += indented(
                f"v{place} = 0.0\nfor i in range(3):\n    v{place} += math.tanh({number(1)}) * i\nr{place} = v{place}"
            )
        else:
            lines += indented(f"r{place} = math.tanh({number(2)})")
    kept = [line.split(" = ")[0].strip() for line in lines if line.startswith("    r") and line[5].isdigit()]
    lines.append("    return " + " + ".join([*kept, number(2)]))
    return f"def f({', '.join(names)}):\n" + "\n".join(lines) + "\n", " ".join(names), choice.randint(0, 11)
