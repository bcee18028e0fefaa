"""The order of what a program does with arrays, such that fewer of them are alive at once.

Products with constants are merged, and operations go to where their result is used.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import count_uses, definitions, statements_of
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable, value_of
from autodiff_hook.transform.improve.facts import constant_fact, is_number
from autodiff_hook.transform.improve.ownership import FOREIGN, Ownership
from autodiff_hook.transform.improve.shortcuts import EFFECTS, INTO, declared
from autodiff_hook.transform.improve.site import ARITHMETIC, Site, is_elementwise

UFUNCS: Final = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "power"}


# Products with constants


def merge_factors(ir: IR, site: Site) -> None:
    """``-x * 3`` and ``(x * 2) * 3`` as one product, where that is as exact."""
    uses = count_uses(ir.blocks)
    made = definitions(statements_of(ir.blocks))
    gone: set[Statement] = set()
    for block in ir.blocks:
        for s in block.statements:
            inner = _merged(s, made, uses, site)
            if inner is not None:
                gone.add(inner)
        block.statements = [s for s in block.statements if s not in gone]


def _merged(s: Statement, made: dict[Operand, Statement], uses: dict[Operand, int], site: Site) -> Statement | None:
    outer = _scaling(s, site)
    if outer is None:
        return None
    array, factor = outer
    source = made.get(array) if isinstance(array, Variable) and uses.get(array) == 1 else None
    inner = _scaling(source, site) if source is not None and not site.is_volatile(source) else None
    if source is None or inner is None or not (_is_exact(inner[1]) or _is_exact(factor)):
        return None
    s.op, s.data, s.operands = "binary", "*", [inner[0], Constant(inner[1] * factor)]
    return source


def _scaling(s: Statement, site: Site) -> tuple[Operand, Any] | None:
    """The array and the constant that a statement multiplies."""
    if s.result is None or not site.is_double(s.result):
        return None
    if s.op == "unary" and s.data == "-":
        return s.operands[0], -1.0
    if s.op == "binary" and s.data == "*":
        for constant, array in (s.operands, s.operands[::-1]):
            value = value_of(constant)
            if isinstance(constant, Constant) and is_number(constant_fact(value)) and site.is_double(array):
                return array, value
    return None


def _is_exact(factor: Any) -> bool:
    """Whether multiplying by a number rounds nothing: it is a small power of two."""
    return abs(factor) in (0.25, 0.5, 1.0, 2.0, 4.0)


def changes(statements: list[Statement], operands: list[Operand], owners: Ownership) -> bool:
    """Whether statements change what lies in the memory of some operands."""
    changed = [x for x in map(_target, statements) if x is not None]
    return any(owners.of(x) & owners.of(y) for x in changed for y in operands)


# Operations where their results are used


def sink(ir: IR, site: Site) -> None:
    """Move operations that read one array of the program's own to where their result is used."""
    uses, owners = count_uses(ir.blocks), Ownership(ir, site)
    for block in ir.blocks:
        for s in reversed(list(block.statements)):
            if _is_light(s, site, owners) and uses.get(s.result) == 1:  # type: ignore[arg-type]
                _sink(s, block, owners)


def _is_light(s: Statement, site: Site, owners: Ownership) -> bool:
    if s.result is None or not site.is_double(s.result) or not is_operation(s):
        return False
    own = [x for x in s.operands if site.is_array(x) and FOREIGN not in owners.of(x)]
    return len(own) <= 1


def is_operation(s: Statement) -> bool:
    """Whether a statement works element by element, and makes a new array."""
    if s.op == "call" and not s.data:
        function = s.callee
        return is_elementwise(function) and len(s.operands) == 1 + function.nin
    return (s.op == "binary" and s.data in ARITHMETIC) or (s.op == "unary" and s.data == "-")


def _sink(s: Statement, block: Block, owners: Ownership) -> None:
    start = block.statements.index(s)
    read = frozenset[Variable]().union(*(owners.of(x) for x in s.operands))
    for place in range(start + 1, len(block.statements)):
        other = block.statements[place]
        if s.result in other.operands:
            block.statements.insert(place, s)
            del block.statements[start]
            return
        if _target(other) is not None and owners.of(_target(other)) & read:  # type: ignore[arg-type]
            return


def _target(s: Statement) -> Operand | None:
    """What a statement changes."""
    if s.op in ("setitem", "inplace"):
        return s.operands[0]
    if declared(INTO, s.callee) or declared(EFFECTS, s.callee):
        return s.operands[1]
    return s.operands[-1] if is_elementwise(s.callee) else None


def with_out(s: Statement, out: Operand) -> None:
    """Let an operation put its result into ``out``."""
    if s.op == "call":
        s.operands.append(out)
        if s.callee in (np.maximum, np.minimum):
            s.data = ("out",)  # by place it is deprecated
        return
    name = "negative" if s.op == "unary" else UFUNCS[s.data]
    s.op, s.data, s.operands = "call", (), [Constant(getattr(np, name)), *s.operands, out]
