"""Random modules as source text: each writes its own decorators, classes, dataclasses, generators and errors.

``f`` and ``given``, which makes its arguments, are what is differentiated. All numbers stay small, so that finite
differences are meaningful.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from module_templates import (
    BASE,
    DATA,
    DECORATORS,
    DERIVED,
    END,
    FUNCTIONS,
    GENERATORS,
    HEAD,
    MIXIN,
    START,
    TROUBLE,
)
from statement_templates import ATOMS, BOUNDED, CONDITIONS, NUMBERS, PLAIN, STATEMENTS

BLOCKS = tuple(
    """
if $c:
    $body
%
if $c:
    $body
elif $c:
    $body
else:
    $body
%
for i$i in range(3):
    x = math.sin(x + i$i)
    $body
%
for v$i in $l[:3]:
    y = math.tanh(y + v$i)
    $body
%
for k$i, v$i in list(d.items())[:3]:
    x += v$i * 0.1
    $body
%
for i$i, v$i in enumerate(walk($n)):
    if $c:
        continue
    y = math.sin(y * v$i)
    $body
%
n$i = 0
while n$i < 3 and ($c):
    n$i += 1
    $body
%
for v$i in [*$o]:
    total += v$i * 0.1
    $body
    if $c:
        break
else:
    x = $b
%
for v$i in outer($b):
    y = math.sin(y + v$i)
    $body
%
try:
    $body
    x = risky($b) * 0.5
except Trouble as e:
    y = e.value
    $body
%
try:
    $body
finally:
    y = math.sin(y + $n)
%
with $o:
    $body
%
with shifted($o, $b):
    $body
%
for v$i, w$i in zip(xs, walk($n)):
    x = math.sin(x + v$i * w$i)
    $body
%
for c$i in (o, q):
    c$i.a = math.sin(c$i.a * $n)
    $body
""".strip().split("\n%\n")
)

CHOICES = {
    "l": ("xs", "ys"),
    "o": ("o", "q"),
    "mixin": ("", "Mixin, "),
    "options": ("", "(frozen=True)", "(slots=True)", "(order=True)", "(frozen=True, slots=True)"),
    "local": ("@counted", "@scaled($n)", "@Wrapped", "@retried(1)", "@logged"),
    "state": ("self.a = math.sin(self.a + t)", "self.b, self.a = self.a * t, self.b", "self.items.append(t)", "pass"),
    "update": ("t = t * 0.5", "xs.append(math.sin(t))", "o.a = math.sin(o.a + t)", "nonlocal_box[0] = t", "pass"),
    "change": ("t, k = k, t", "t *= 0.7", "rest = (*rest, t)", "named['zz'] = t", "k = k or t"),
}

SHARED = ("Wrapped", "logged")
"""Decorators that keep values between calls."""

_HOLE = re.compile(r"\$([a-z]+)")


class Module:
    """Writes one module; the same seed gives the same text.

    Without ``sharing``, calls in several threads share no values: plain runs would mix these up.
    """

    def __init__(self, seed: int, sharing: bool) -> None:
        self.choice = random.Random(seed)
        self.decorators = [name for name in DECORATORS if sharing or name not in SHARED]
        self.statements = [text for text in STATEMENTS if sharing or not text.startswith("Base.count")]
        self.count = 0
        self.depth = 2
        self.name = ""
        self.numbers: list[str] = []
        self.forms: tuple[str, ...] = PLAIN

    def source(self) -> str:
        """The text."""
        parts = [HEAD, TROUBLE, *DECORATORS.values(), BASE, MIXIN, DERIVED, DATA, GENERATORS, FUNCTIONS]
        head = "\n".join(map(self._definitions, parts))
        self.forms, self.numbers = NUMBERS, list(ATOMS)
        body = "\n".join(self._statement() for _ in range(self.choice.randint(2, 7)))
        more = "".join(f" + math.sin({name}) * 0.3" for name in self.numbers if name.startswith("v_"))
        return f"{head}\ndef f(x, y, xs, d, pt):\n{START}{_indented(body)}\n{END.replace('$more', more)}"

    def _definitions(self, text: str) -> str:
        """Classes and functions of the module; in each function its parameters are numbers."""
        found = []
        for line in text.split("\n"):
            if line.strip().startswith("def "):
                own = [name for name in ("t", "k", "w") if re.search(rf"\b{name}\b", line)]
                state = ["self.a", "self.b", "self.items[-1]"] if "self" in line else []
                state = (
                    ["a", "b"] if "def __init__" in line else ["self.p", "self.a"] if "__post_init__" in line else state
                )
                self.numbers = [*own, *state, "SCALE", "0.3"]
            found.append(self._filled(line))
        return "\n".join(found)

    def _statement(self) -> str:
        """A statement; a number that it makes exists behind it, if it is not in a block."""
        self.count += 1
        outer, self.name = self.name, f"v_{self.count}"
        blocks = self.depth and self.choice.random() < 0.35
        text = (
            self._one_of(BLOCKS if blocks else self.statements).replace("$v", self.name).replace("$i", str(self.count))
        )
        made, name = self._filled(text), self.name
        if f"{name} = " in made or f"{name}, _ = " in made or f"({name}, *ws)" in made:
            self.numbers = [*self.numbers, name]
        self.name = outer
        return made

    def _filled(self, text: str) -> str:
        """Each hole filled; what has several lines keeps the indentation of its hole."""
        found = []
        for line in text.split("\n"):
            margin = line[: len(line) - len(line.lstrip())]
            made = _HOLE.sub(lambda hole: self._hole(hole[1], 2), line.strip())
            found += [margin + part for part in made.split("\n")] if made or not line.strip() else []
        return "\n".join(found)

    def _hole(self, name: str, depth: int) -> str:
        if name == "n":
            return self._number(depth)
        if name == "b":
            return self._one_of(BOUNDED).replace("$n", self._number(depth))
        if name == "m":
            return self._one_of(("t * 0.6", "math.sin(t)", "t * t * 0.5", "t + 0.1"))
        if name == "c":
            return self._expression(self._one_of(CONDITIONS), 1)
        if name in CHOICES:
            return self._expression(self._one_of(CHOICES[name]), 1)
        if name == "decorated":
            return "\n".join(f"@{d}" for d in self.choice.sample(self.decorators, self.choice.choice((0, 1, 1, 2))))
        assert name == "body", name
        kept, self.depth = self.numbers, self.depth - 1
        made = [self._statement() for _ in range(self.choice.randint(1, 2))]
        self.numbers, self.depth = kept, self.depth + 1
        return "\n".join(made)

    def _number(self, depth: int) -> str:
        if not depth or self.choice.random() < 0.3:
            return self._one_of(self.numbers)
        return self._expression(self._one_of(self.forms), depth - 1)

    def _expression(self, text: str, depth: int) -> str:
        return _HOLE.sub(lambda hole: self._hole(hole[1], depth), text)

    def _one_of(self, options: Sequence[str]) -> str:
        return self.choice.choice(options)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def module(seed: int, sharing: bool = True) -> str:
    """The text of the module of a seed."""
    return Module(seed, sharing).source()
