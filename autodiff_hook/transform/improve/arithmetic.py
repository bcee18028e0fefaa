"""Arithmetic of numbers in a block, in fewer operations.

What is computed twice is computed once. A negation moves outwards through products and quotients, and turns a
sum into a difference: ``s + (-a) * b`` is ``s - a * b``, bit for bit. In the adjoint constant factors move, too,
and become one: ``a * 0.5 * b / 3.0`` is ``a * b * 0.1666``, which may differ in the last digit.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from autodiff_hook.ir.analysis import count_uses
from autodiff_hook.ir.substituting import key_of, resolve, share, substitute
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable

_PRODUCTS = ("*", "/")
_ARITHMETIC = ("binary", "unary")
_MODERATE = 1024.0
"""Factors up to this size, and down to its inverse, may move: few products are that close to the ends of floats."""


def economise(ir: IR, essential: set[Statement], adjoint: set[Statement]) -> None:
    """Rewrite the arithmetic of ``ir``, a program of numbers; ``essential`` statements stay as they are.

    Digits may change in ``adjoint`` statements, whose operands are floats.
    """
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        _share(block, known, essential)
    substitute(ir.blocks, known)
    used = count_uses(ir.blocks)
    for block in ir.blocks:
        _Factors(block, essential, adjoint, used, known).run()
    substitute(ir.blocks, known)


def _share(block: Block, known: dict[Operand, Operand], essential: set[Statement]) -> None:
    fresh = {s.result for s in block.statements if s.op == "build_list"}

    def key(s: Statement) -> Any:
        plain = all(isinstance(x, Variable) or type(x.value) in (int, float) for x in s.operands)
        own = s.op in _ARITHMETIC and plain and fresh.isdisjoint(s.operands)
        return (s.op, s.data, *map(key_of, s.operands)) if own else None

    share(block, key, known, lambda s: s not in essential)


class _Factors:
    """Moves constant factors outwards; ``parts[v]`` are a factor and a variable whose product ``v`` is."""

    def __init__(
        self,
        block: Block,
        essential: set[Statement],
        adjoint: set[Statement],
        uses: Counter[Operand],
        known: dict[Operand, Operand],
    ) -> None:
        self.block, self.essential, self.adjoint, self.uses, self.known = block, essential, adjoint, uses, known
        self.parts: dict[Operand, tuple[float, Operand]] = {}

    def run(self) -> None:
        """Rewrite the block; a product that is still used stays where it was."""
        kept: list[Statement] = []
        for s in self.block.statements:
            s.operands = [resolve(x, self.known) for x in s.operands]
            if s.result is not None and s not in self.essential and s.op in _ARITHMETIC:
                self._rewrite(s, kept)
            kept.append(s)
        self.block.statements = kept

    def _rewrite(self, s: Statement, kept: list[Statement]) -> None:
        if s.op == "unary":
            if s.data == "-" and isinstance(s.operands[0], Variable):
                self._scaled(s, -1.0, s.operands[0], kept)
        elif s.data not in _PRODUCTS:
            self._sum(s)
        elif not any(isinstance(x, Constant) for x in s.operands):
            self._product(s, kept)
        elif s in self.adjoint:
            a, b = s.operands
            if isinstance(b, Constant) and _is_moderate(b.value):
                self._scaled(s, b.value if s.data == "*" else 1.0 / b.value, a, kept)
            elif isinstance(a, Constant) and _is_moderate(a.value) and s.data == "*":
                self._scaled(s, a.value, b, kept)

    def _split(self, s: Statement, x: Operand) -> tuple[float, Operand]:
        """The factor of an operand that may move through ``s``, and the rest."""
        factor, rest = self.parts.get(x, (1.0, x))
        free = s in self.adjoint and self.uses[x] == 1
        if not free:
            return (factor, rest) if factor == -1.0 else (1.0, x)
        if factor == -1.0 and self.uses[rest] == 1 and rest in self.parts:
            inner, rest = self.parts[rest]
            factor = -inner
        return factor, rest

    def _scaled(self, s: Statement, factor: float, x: Operand, kept: list[Statement]) -> None:
        """``s`` is a variable times a constant."""
        before, rest = self._split(s, x) if s in self.adjoint else (1.0, x)
        if before != 1.0 and _is_moderate(before * factor):
            factor, x = before * factor, rest
            self._write(s, x, factor, kept)
        if factor == 1.0:
            self.known[s.made] = x
        elif s.made not in self.parts:
            self.parts[s.made] = factor, x

    def _product(self, s: Statement, kept: list[Statement]) -> None:
        """The product of the rests, before the product of the factors, which disappears if only sums use it."""
        (f, a), (g, b) = (self._split(s, x) for x in s.operands)
        factor = f * g if s.data == "*" else f / g
        if f == g == 1.0 or not _is_moderate(factor):
            return
        if factor == 1.0:
            s.operands = [a, b]
            return
        rest = Variable(s.made.name)
        kept.append(Statement("binary", [a, b], rest, s.data, s.position))
        self._write(s, rest, factor, kept)

    def _write(self, s: Statement, x: Operand, factor: float, kept: list[Statement]) -> None:
        """Let ``s`` scale ``x``: a negative factor is a negation of its own, which sums take in."""
        if factor < 0.0 and factor != -1.0:
            positive = Variable(s.made.name)
            kept.append(Statement("binary", [x, Constant(-factor)], positive, "*", s.position))
            self.uses[positive] = 1
            self.parts[positive] = -factor, x
            factor, x = -1.0, positive
        self.parts[s.made] = factor, x
        _scale(s, x, factor)

    def _sum(self, s: Statement) -> None:
        a, b = s.operands
        if s.data == "+" and self._is_negation(b):
            self._replace(s, "-", [a, self.parts[b][1]])
        elif s.data == "+" and self._is_negation(a):
            self._replace(s, "-", [b, self.parts[a][1]])
        elif s.data == "-" and self._is_negation(b):
            self._replace(s, "+", [a, self.parts[b][1]])

    def _is_negation(self, x: Operand) -> bool:
        return x in self.parts and self.parts[x][0] == -1.0

    def _replace(self, s: Statement, data: str, operands: list[Operand]) -> None:
        s.data, s.operands = data, operands


def _scale(s: Statement, x: Operand, factor: float) -> None:
    if factor == -1.0:
        s.op, s.data, s.operands = "unary", "-", [x]
    else:
        s.op, s.data, s.operands = "binary", "*", [x, Constant(float(factor))]


def _is_moderate(factor: object) -> bool:
    return type(factor) in (float, int) and 1.0 / _MODERATE <= abs(factor) <= _MODERATE  # type: ignore[arg-type]
