"""Arrays that a program has made and that nobody reads any more are overwritten, not left for new ones.

What is not made by the program itself (arguments, what is captured, constants) and what may be kept elsewhere is
never written to. ``ownership.py`` says what may be overwritten.
"""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.facts import ArrayFact, value_of
from autodiff_hook.transform.improve.ownership import Ownership
from autodiff_hook.transform.improve.schedule import merge_factors, order_sums, sink, with_out, write_through
from autodiff_hook.transform.improve.shortcuts import INTO, ZEROS, declared
from autodiff_hook.transform.improve.site import Site, is_elementwise
from autodiff_hook.transform.specialise.bodies import substitute

_COMMUTATIVE: Final = ("+", "*")
_IN_PLACE: Final = ("+", "-", "*", "/", "**")


def reuse(ir: IR, site: Site) -> None:
    """Let operations of ``ir`` overwrite what is dead."""
    merge_factors(ir, site)
    _add_into(ir, site)
    order_sums(ir)
    sink(ir, site)
    owners = Ownership(ir, site)
    gone: dict[Operand, Operand] = {}
    for block in ir.blocks:
        kept = []
        for s, live in zip(block.statements, owners.live_after(block)):
            if _is_copy(s) and owners.is_free(s.operands[0], live, s.result):
                gone[s.result] = s.operands[0]  # type: ignore[index]
                continue
            _overwrite(s, site, owners, live)
            kept.append(s)
        block.statements = kept
    substitute(ir.blocks, gone)
    write_through(ir, site)
    _drop_shapes(ir)


def _drop_shapes(ir: IR) -> None:
    """Shapes that nobody reads any more."""
    used = {x for b in ir.blocks for s in b.statements for x in s.operands}
    used |= {x for b in ir.blocks for e in b.edges() for x in e.args}
    used |= {x for b in ir.blocks if b.terminator is not None for x in b.terminator.operands}
    for block in ir.blocks:
        block.statements = [s for s in block.statements if s.op != "getattr" or s.data != "shape" or s.result in used]


def _is_copy(s: Statement) -> bool:
    return s.op == "call_method" and s.data == ("copy", ()) and s.result is not None


def add_into(buffer: Any, index: Any, value: Any) -> Any:
    """Add to a part of a buffer, no element of which is there twice."""
    buffer[index] += value
    return buffer


INTO.add(add_into)


def _overwrite(s: Statement, site: Site, owners: Ownership, live: set[Variable]) -> None:
    result = site.facts.get(s.result) if s.result is not None else None
    if not isinstance(result, ArrayFact) or result.optional or not result.dims:
        return

    def free(operand: Operand) -> bool:
        fact = site.fact(operand)
        return (
            isinstance(fact, ArrayFact)
            and not fact.optional
            and fact.dtype == result.dtype
            and site.shapes.known_equal(fact.dims, result.dims)
            and owners.is_free(operand, live, s.result)
        )

    if s.op == "binary" and s.data in _IN_PLACE:
        _overwrite_binary(s, free)
    elif s.op == "unary" and s.data == "-" and free(s.operands[0]):
        with_out(s, s.operands[0])
    elif s.op == "call" and not s.data and is_elementwise(value_of(s.operands[0])):
        operands = s.operands[1:]
        if len(operands) == value_of(s.operands[0]).nin:
            s.operands += [x for x in operands if free(x)][:1]


def _overwrite_binary(s: Statement, free: Any) -> None:
    a, b = s.operands
    if free(a):
        s.op = "inplace"
    elif free(b) and s.data in _COMMUTATIVE:
        s.op, s.operands = "inplace", [b, a]
    elif free(b):
        with_out(s, b)


# Sums with zeros of which a part is set


def _add_into(ir: IR, site: Site) -> None:
    """``a + z``, ``z`` being zeros but for a part, adds to that part of ``a``."""
    owners = Ownership(ir, site)
    for block in ir.blocks:
        place = 0
        while place < len(block.statements):
            place = _next_sum(ir, block, place, site, owners)


def _next_sum(ir: IR, block: Block, place: int, site: Site, owners: Ownership) -> int:
    s = block.statements[place]
    if s.op != "binary" or s.data != "+" or s.result is None:
        return place + 1
    for a, z in (s.operands, s.operands[::-1]):
        found = _partly_zeros(z, block, place, ir)
        if found is None or not isinstance(a, Variable) or a is z:
            continue
        zeros, setting = found
        facts = site.facts.get(a), site.facts.get(z)  # type: ignore[arg-type]
        if not all(isinstance(f, ArrayFact) for f in facts) or facts[0].dtype != facts[1].dtype:  # type: ignore[union-attr]
            continue
        if not site.shapes.known_equal(facts[0].dims, facts[1].dims):  # type: ignore[union-attr]
            continue
        if not owners.is_free(a, owners.live_behind(block, place), s.result):
            continue
        s.op, s.data, s.operands = "call", (), [Constant(add_into), a, *setting.operands[1:]]
        block.statements = [x for x in block.statements if x not in (zeros, setting)]
        owners.joined(s.result, a)
        return place - 1
    return place + 1


def _partly_zeros(z: Operand, block: Block, place: int, ir: IR) -> tuple[Statement, Statement] | None:
    """The statements that make ``z`` and set a part of it, if nothing else but the sum uses it."""
    before = block.statements[:place]
    zeros = next((x for x in before if x.result is z and x.op == "call"), None)
    if zeros is None or not declared(ZEROS, value_of(zeros.operands[0])):
        return None
    setting = [x for x in before if x.op == "setitem" and x.operands[0] is z]
    uses = sum(_uses(x, z) for x in ir.blocks)
    return (zeros, setting[0]) if len(setting) == 1 and uses == 2 else None


def _uses(block: Block, operand: Operand) -> int:
    terminator = block.terminator
    assert terminator is not None
    found = [x for s in block.statements for x in s.operands] + terminator.operands
    found += [x for edge in block.edges() for x in edge.args]
    return sum(x is operand for x in found)
