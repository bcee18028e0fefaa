"""Arithmetic of numbers in a block, with the same digits in fewer operations.

What is computed twice is computed once. A negation moves outwards through products and quotients, and turns a
sum into a difference: ``s + (-a) * b`` is ``s - a * b``, bit for bit.
"""

from __future__ import annotations

from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.bodies import resolve, substitute

_PRODUCTS = ("*", "/")
_ARITHMETIC = ("binary", "unary")


def economise(ir: IR, essential: set[Statement]) -> None:
    """Rewrite the arithmetic of ``ir``, a program of numbers; ``essential`` statements stay as they are."""
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        _share(block, known, essential)
    substitute(ir.blocks, known)
    for block in ir.blocks:
        _Negations(block, essential).run()


def _key(operand: Operand) -> object:
    return operand if isinstance(operand, Variable) else (type(operand.value), repr(operand.value))


def _share(block: Block, known: dict[Operand, Operand], essential: set[Statement]) -> None:
    seen: dict[object, Variable] = {}
    fresh: set[Operand] = set()
    kept = []
    for s in block.statements:
        if s.op == "build_list" and s.result is not None:
            fresh.add(s.result)
        s.operands = [resolve(x, known) for x in s.operands]
        plain = all(isinstance(x, Variable) or type(x.value) in (int, float) for x in s.operands)
        if s.op not in _ARITHMETIC or s.result is None or not plain or not fresh.isdisjoint(s.operands):
            kept.append(s)
            continue
        key = (s.op, s.data, *map(_key, s.operands))
        if key in seen and s not in essential:
            known[s.result] = seen[key]
            continue
        seen.setdefault(key, s.result)
        kept.append(s)
    block.statements = kept


class _Negations:
    """Moves negations outwards; ``base[v]`` is a variable whose negation ``v`` is."""

    def __init__(self, block: Block, essential: set[Statement]) -> None:
        self.block, self.essential = block, essential
        self.base: dict[Operand, Operand] = {}

    def run(self) -> None:
        """Rewrite the block; a negation whose result is still used stays where it was, or follows its base."""
        kept: list[Statement] = []
        for s in self.block.statements:
            if s.result is None or s in self.essential or s.op not in _ARITHMETIC:
                kept.append(s)
                continue
            if s.op == "unary":
                if s.data == "-" and isinstance(s.operands[0], Variable):
                    self.base[s.result] = s.operands[0]
                kept.append(s)
                continue
            kept += self._binary(s)
        self.block.statements = kept

    def _binary(self, s: Statement) -> list[Statement]:
        a, b = s.operands
        if s.data in _PRODUCTS and (a in self.base) != (b in self.base):
            return self._product(s, a, b)
        if s.data == "+" and b in self.base:
            self._replace(s, "-", [a, self.base[b]])
        elif s.data == "+" and a in self.base:
            self._replace(s, "-", [b, self.base[a]])
        elif s.data == "-" and b in self.base:
            self._replace(s, "+", [a, self.base[b]])
        return [s]

    def _product(self, s: Statement, a: Operand, b: Operand) -> list[Statement]:
        """The product of what is not negated; its negation, which disappears if only sums use it."""
        assert s.result is not None
        if any(isinstance(x, Constant) for x in (a, b)):
            return [s]
        positive = Variable(s.result.name)
        product = Statement("binary", [self.base.get(a, a), self.base.get(b, b)], positive, s.data, s.position)
        self.base[s.result] = positive
        return [product, Statement("unary", [positive], s.result, "-", s.position)]

    def _replace(self, s: Statement, data: str, operands: list[Operand]) -> None:
        s.data, s.operands = data, operands
