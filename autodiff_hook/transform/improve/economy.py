"""Operations of the adjoint with arrays, and with numbers beside them, that need not be done.

What the primal has computed is not computed again. Negations are left out where what they negate does as well in all
that is made of it: products and sums over axes are then the negative of what they were, and so on, until sums become
differences and other negations go, too. Rounding is symmetric, so no digit changes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook import budget
from autodiff_hook.ir.analysis import count_uses, statements_of
from autodiff_hook.ir.substituting import resolve, share, substitute
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable, value_of
from autodiff_hook.transform.improve.ownership import FOREIGN, Ownership, Roots
from autodiff_hook.transform.improve.shortcuts import EFFECTS, INTO, LOOKING, declared
from autodiff_hook.transform.improve.site import Site, is_elementwise

_PRODUCTS: Final = ("*", "/")
_PLAIN: Final = (int, float, bool, type(None))


def economise_arrays(ir: IR, site: Site) -> None:
    """Leave out what need not be done."""
    _share_products(ir, site)
    _move_signs(ir, site)


def _is_double(operand: Operand | None, site: Site) -> bool:
    return operand is not None and (site.is_double(operand) or site.is_floating(operand))


def _is_adjoint(s: Statement, site: Site) -> bool:
    """Whether a statement has been added to those of the program."""
    return s.result is not None and s.result not in site.types


def _changed(ir: IR, owners: Ownership) -> Roots:
    """The memory that the program writes to after it has made it."""
    targets = [x for s in statements_of(ir.blocks) for x in _targets(s)]
    return frozenset().union(*map(owners.of, targets))


def _targets(s: Statement) -> list[Operand]:
    function = s.callee
    if s.op in ("setitem", "inplace"):
        return s.operands[:1]
    if declared(INTO, function) or declared(EFFECTS, function) and not declared(LOOKING, function):
        return s.operands[1:2]
    return s.operands[1 + function.nin :] if function is not None and is_elementwise(function) else []


# What is there already


def _share_products(ir: IR, site: Site) -> None:
    """Products, quotients and sums over axes in the adjoint that the same block has computed before."""
    owners = Ownership(ir, site)
    changed = _changed(ir, owners)
    known: dict[Operand, Operand] = {}

    def key(s: Statement) -> Any:
        found = _key(s, site)
        if s.result is None or found is None or site.is_volatile(s) or s.result in site.volatile:
            return None
        roots = owners.of(s.result).union(*map(owners.of, s.operands))
        return found if roots.isdisjoint(changed) else None

    for block in ir.blocks:
        share(block, key, known, lambda s: _is_adjoint(s, site))
    substitute(ir.blocks, known)


def _key(s: Statement, site: Site) -> object:
    is_product = s.op == "binary" and s.data in _PRODUCTS
    operands = s.operands if is_product else s.operands[1:] if is_sum(s) else []
    if not any(map(site.is_double, operands)):
        return None
    parts = [repr(x.value) if isinstance(x, Constant) else x for x in operands]
    return None if any(isinstance(x, Constant) and type(x.value) not in _PLAIN for x in operands) else (s.data, *parts)


# Negations


def _move_signs(ir: IR, site: Site) -> None:
    """Leave out the negations of ``ir`` that can disappear: those that have nothing to do with each other at once."""
    block_of = {s: block for block in ir.blocks for s in block.statements if _is_negation(s, site)}
    while block_of:
        uses, owners = count_uses(ir.blocks), Ownership(ir, site)
        changed = _changed(ir, owners)
        known: dict[Operand, Operand] = {}
        touched: set[Operand] = set()
        for s, block in block_of.items():
            if s.result in touched:
                continue
            flip = _Flip(s, block, site, owners, changed)
            if flip.is_possible(uses) and touched.isdisjoint(flip.touched()):
                touched |= flip.touched()
                known |= flip.apply()
        if not known:
            return
        block_of = {s: block for s, block in block_of.items() if s.result not in known}
        substitute(ir.blocks, known)


def _is_negation(s: Statement, site: Site) -> bool:
    if not _negates(s) or site.is_volatile(s) or not _is_adjoint(s, site):
        return False
    return _is_double(s.result, site) and _is_double(_negated(s), site)


def _negates(s: Statement) -> bool:
    if not any(isinstance(x, Variable) for x in s.operands):
        return False
    return (
        s.op == "unary" and s.data == "-" or s.op == "binary" and s.data == "*" and any(map(_is_minus_one, s.operands))
    )


def _is_minus_one(operand: Operand) -> bool:
    value = value_of(operand)
    return type(value) in _PLAIN and value == -1.0


def _negated(s: Statement) -> Operand:
    """What a statement negates."""
    return next(x for x in s.operands if isinstance(x, Variable))


def is_sum(s: Statement) -> bool:
    """Whether a statement is a sum over axes, and nothing else."""
    return not s.data and s.callee == np.add.reduce and len(s.operands) <= 6


class _Flip:
    """What becomes of the statements of a block if one of its negations is left out."""

    def __init__(self, negation: Statement, block: Block, site: Site, owners: Ownership, changed: Roots) -> None:
        self.negation, self.block, self.site, self.owners, self.changed = negation, block, site, owners, changed
        self.flipped: set[Operand] = {negation.result} if negation.result is not None else set()
        """What is the negative of what it was."""
        self.dropped: list[Statement] = [negation]
        self.sums: dict[Statement, tuple[str, list[Operand]]] = {}

    def is_possible(self, uses: dict[Operand, int]) -> bool:
        """Whether all uses of what changes its sign, of which there are so many, can do with that."""
        budget.check()
        found = 0
        for s in self.block.statements[self.block.statements.index(self.negation) + 1 :]:
            read = sum(x in self.flipped for x in s.operands)
            if read and not self._takes(s):
                return False
            found += read
        return found == sum(uses.get(x, 0) for x in self.flipped) and all(map(self._may_go, self.dropped))

    def _takes(self, s: Statement) -> bool:
        if s.result is None or not _is_adjoint(s, self.site):
            return False
        signs = [x in self.flipped for x in s.operands]
        if _is_negation(s, self.site):
            self.dropped.append(s)
        elif s.op == "binary" and s.data in _PRODUCTS:
            if signs[0] != signs[1]:
                self.flipped.add(s.result)
        elif s.op == "binary" and s.data in ("+", "-"):
            self._sum(s, signs)
        elif is_sum(s) and signs.index(True) == 1:
            self.flipped.add(s.result)
        else:
            return False
        return True

    def _sum(self, s: Statement, signs: list[bool]) -> None:
        a, b = s.operands
        first, second = signs
        if first and second or first and s.data == "-":
            self.flipped.add(s.made)
            self.sums[s] = (s.data if second else "+"), [a, b]
        elif first:
            self.sums[s] = "-", [b, a]
        else:
            self.sums[s] = "-" if s.data == "+" else "+", [a, b]

    def _may_go(self, s: Statement) -> bool:
        """Whether what is negated may be there instead, which nobody writes to, or sees that it is there twice."""
        roots = self.owners.of(s.made) | self.owners.of(_negated(s))
        return roots.isdisjoint(self.changed) and (s is self.negation or FOREIGN not in roots)

    def touched(self) -> set[Operand]:
        """All that the statements which change have to do with, and the memory that it lies in."""
        found = {x for s in (*self.dropped, *self.sums) for x in (s.result, *s.operands) if isinstance(x, Variable)}
        return found.union(self.flipped, *map(self.owners.of, found)) - {FOREIGN}

    def apply(self) -> dict[Operand, Operand]:
        """Leave the negation out; what is there instead of which results."""
        for s, (data, operands) in self.sums.items():
            s.data, s.operands = data, operands
        self.block.statements = [s for s in self.block.statements if s not in self.dropped]
        known: dict[Operand, Operand] = {}
        for s in self.dropped:
            known[s.made] = resolve(_negated(s), known)
        return known
