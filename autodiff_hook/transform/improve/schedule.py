"""The order of what a program does with arrays, such that fewer of them are alive at once.

Products with constants are merged, operations go to where their result is used, sums into a buffer take first what is
there first, and what is only made to be a part of a new array is made there.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import count_uses, definitions, statements_of
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable, value_of
from autodiff_hook.transform.improve.facts import ArrayFact, constant_fact, is_number
from autodiff_hook.transform.improve.ownership import FOREIGN, Ownership
from autodiff_hook.transform.improve.shortcuts import EFFECTS, INTO, ZEROS, declared
from autodiff_hook.transform.improve.site import ARITHMETIC, Site, is_elementwise
from autodiff_hook.transform.improve.transfer import sliced

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


# The order of sums into a buffer


def order_sums(ir: IR, owners: Ownership) -> None:
    """Of two parts that are added to one buffer, the one that is there first comes first."""
    uses = count_uses(ir.blocks)
    for block in ir.blocks:
        _order_sums(block, uses, owners)


def _order_sums(block: Block, uses: dict[Operand, int], owners: Ownership) -> None:
    place = {s.result: i for i, s in enumerate(block.statements)}
    sums = [s for s in block.statements if declared(INTO, s.callee)]
    for _ in sums:
        for later in sums:
            made = place.get(later.operands[1])  # type: ignore[arg-type]
            first = block.statements[made] if made is not None else None
            if first is None or first not in sums or uses[later.operands[1]] != 1:
                continue
            if _place(later, place) >= _place(first, place):
                continue
            if not changes(block.statements[made : place[later.result]], first.operands[2:], owners):
                first.operands[2:], later.operands[2:] = later.operands[2:], first.operands[2:]


def changes(statements: list[Statement], operands: list[Operand], owners: Ownership) -> bool:
    """Whether statements change what lies in the memory of some operands."""
    changed = [x for x in map(_target, statements) if x is not None]
    return any(owners.of(x) & owners.of(y) for x in changed for y in operands)


def _place(s: Statement, place: dict[Variable | None, int]) -> int:
    return max([place.get(x, -1) for x in s.operands[2:] if isinstance(x, Variable)], default=-1)


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


# Parts of new arrays, made in place


def write_through(ir: IR, site: Site) -> None:
    """What is made, and then copied to be a part of new zeros, is made in that part."""
    for block in ir.blocks:
        made = definitions(block.statements)
        for s in list(block.statements):
            if s.op == "setitem" and s.operands[0] in made:
                _write_through(s, block, ir, site, made)


def _write_through(setting: Statement, block: Block, ir: IR, site: Site, made: dict[Operand, Statement]) -> None:
    array, index, value = setting.operands
    zeros = made[array]
    if not declared(ZEROS, zeros.callee) or not _is_most(value_of(index)):
        return
    shape = made.get(zeros.operands[1])
    if shape is None or shape.op != "getattr" or shape.operands[0] in made:
        return
    if not _fits(array, index, value, site):
        return
    before = block.statements[: block.statements.index(setting)]
    if any(array in s.operands for s in before):
        return
    maker = _maker(value, before, ir)
    if maker is None:
        return
    part = Variable("part")
    get = Statement("getitem", [array, index], part, None, setting.position)
    site.facts[part] = site.facts.get(value)  # type: ignore[arg-type]
    rest = [s for s in block.statements if s not in (setting, zeros, shape)]
    start = rest.index(maker)
    block.statements = [*rest[:start], shape, zeros, get, *rest[start:]]
    with_out(maker, part)


def _is_most(index: Any) -> bool:
    """Whether an index takes all but a few elements."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        type(p) is slice and p.step in (None, 1) and (p.start or 0) in range(9) and (p.stop or -1) in range(-8, 0)
        for p in parts
    )


def _fits(array: Operand, index: Operand, value: Operand, site: Site) -> bool:
    whole, part = site.fact(array), site.fact(value)
    if not (isinstance(whole, ArrayFact) and isinstance(part, ArrayFact)) or part.dtype != whole.dtype:
        return False
    dims = sliced(site, whole.dims, value_of(index))
    return not part.optional and dims is not None and site.shapes.known_equal(dims, part.dims)


def _maker(value: Operand, before: list[Statement], ir: IR) -> Statement | None:
    """The operation that made the array ``value``, which others may have changed since, if nobody else keeps it."""
    chain: list[Operand] = []
    found: Statement | None = None
    while found is None:
        chain.append(value)
        s = next((x for x in before if x.result is value), None)
        if s is None:
            return None
        if is_operation(s):
            found = s
        elif s.op == "inplace" or is_elementwise(s.callee):
            value = s.operands[0] if s.op == "inplace" else s.operands[-1]
        else:
            return None
    total = count_uses(ir.blocks)
    reading = [x for s in before for x in s.operands if s.op in ("inplace", "binary", "unary") or _is_ufunc(s)]
    if any(total.get(x, 0) != reading.count(x) + (x is chain[0]) for x in chain):
        return None
    return found


def _is_ufunc(s: Statement) -> bool:
    return is_elementwise(s.callee)


def with_out(s: Statement, out: Operand) -> None:
    """Let an operation put its result into ``out``."""
    if s.op == "call":
        s.operands.append(out)
        if s.callee in (np.maximum, np.minimum):
            s.data = ("out",)  # by place it is deprecated
        return
    name = "negative" if s.op == "unary" else UFUNCS[s.data]
    s.op, s.data, s.operands = "call", (), [Constant(getattr(np, name)), *s.operands, out]
