"""Arrays that a program has made and that nobody reads any more are overwritten, not left for new ones.

What is not made by the program itself (arguments, what is captured, constants) and what may be kept elsewhere is
never written to. ``ownership.py`` says what may be overwritten. Views of one part of an array are taken once: it does
not matter when a view has been taken, which shows what is in the array when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from autodiff_hook import budget
from autodiff_hook.ir.analysis import count_uses, statements_of
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable, value_of
from autodiff_hook.transform.improve.economy import economise_arrays
from autodiff_hook.transform.improve.facts import ArrayFact
from autodiff_hook.transform.improve.ownership import Ownership
from autodiff_hook.transform.improve.schedule import changes, merge_factors, sink, with_out
from autodiff_hook.transform.improve.shortcuts import INTO, ZEROS, declared
from autodiff_hook.transform.improve.sinking import do_once
from autodiff_hook.transform.improve.site import Site, is_elementwise

_COMMUTATIVE: Final = ("+", "*")
_IN_PLACE: Final = ("+", "-", "*", "/", "**")


def reuse(ir: IR, site: Site) -> None:
    """Let operations of ``ir`` overwrite what is dead, if it does not ask how arrays lie in memory."""
    if any(_shows_order(s) for s in statements_of(ir.blocks)):
        share_views(ir, site)
        _drop_shapes(ir)
        return
    economise_arrays(ir, site)
    merge_factors(ir, site)
    owners = Ownership(ir, site)
    _add_into(ir, site, owners)
    sink(ir, site)
    owners = Ownership(ir, site)
    gone: dict[Operand, Operand] = {}
    for block in ir.blocks:
        kept, lifetimes = [], owners.lifetimes(block)
        for place, s in enumerate(block.statements):
            budget.check()
            free = partial(owners.is_free, lifetimes=lifetimes, place=place, result=s.result)
            if _is_copy(s) and free(s.operands[0]):
                gone[s.result] = s.operands[0]  # type: ignore[index]
                continue
            _overwrite(s, site, free)
            kept.append(s)
        block.statements = kept
    substitute(ir.blocks, gone)
    share_views(ir, site)
    _drop_shapes(ir)


def _shows_order(s: Statement) -> bool:
    """Whether what a statement gives depends on how the items of an array lie in memory."""
    if s.op == "getattr":
        return s.data in ("flags", "strides")
    calls = s.op == "call" or s.op == "call_method" and s.data[0] != "copy"
    return calls and any(isinstance(x, Constant) and type(x.value) is str and x.value in ("K", "A") for x in s.operands)


def _drop_shapes(ir: IR) -> None:
    """Shapes that nobody reads any more."""
    used = count_uses(ir.blocks)
    for block in ir.blocks:
        block.statements = [s for s in block.statements if s.op != "getattr" or s.data != "shape" or s.result in used]


def _is_copy(s: Statement) -> bool:
    return s.op == "call_method" and s.data == ("copy", ()) and s.result is not None


def add_into(buffer: Any, index: Any, value: Any) -> Any:
    """Add to a part of a buffer, no element of which is there twice."""
    buffer[index] += value
    return buffer


INTO.add(add_into)


def _overwrite(s: Statement, site: Site, is_free: Callable[[Operand], bool]) -> None:
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
            and is_free(operand)
        )

    if s.op == "binary" and s.data in _IN_PLACE:
        _overwrite_binary(s, free)
    elif s.op == "unary" and s.data == "-" and free(s.operands[0]):
        with_out(s, s.operands[0])
    elif not s.data and is_elementwise(s.callee):
        operands = s.operands[1:]
        if len(operands) == s.callee.nin:
            for out in [x for x in operands if free(x)][:1]:
                with_out(s, out)


def _overwrite_binary(s: Statement, free: Any) -> None:
    a, b = s.operands
    if free(a):
        s.op = "inplace"
    elif free(b) and s.data in _COMMUTATIVE:
        s.op, s.operands = "inplace", [b, a]
    elif free(b):
        with_out(s, b)


# Sums with zeros of which a part is set


def _add_into(ir: IR, site: Site, owners: Ownership) -> None:
    """``a + z``, ``z`` being zeros but for a part, adds to that part of ``a``."""
    uses = count_uses(ir.blocks)
    for block in ir.blocks:
        gone: set[Statement] = set()
        lifetimes = owners.lifetimes(block)
        parts = _parts_of_zeros(block, uses)
        passed: dict[Statement, int] = {}
        for place, s in enumerate(block.statements):
            if s.op == "setitem":
                passed[s] = place
            found = _part_added(s, parts, site) if s.op == "binary" and s.data == "+" else None
            if found is None or found[2] not in passed or not owners.is_free(found[0], lifetimes, place, s.result):
                continue
            a, zeros, setting = found
            if changes(block.statements[passed[setting] + 1 : place], setting.operands[1:], owners):
                continue
            s.op, s.data, s.operands = "call", (), [Constant(add_into), a, *setting.operands[1:]]
            gone |= {zeros, setting}
            lifetimes.last.update((x, max(place, lifetimes.last[x])) for x in setting.operands[1:])
            owners.joined(s.made, a)
        block.statements = [s for s in block.statements if s not in gone]


_Part = tuple[Statement, Statement]


def _parts_of_zeros(block: Block, uses: dict[Operand, int]) -> dict[Operand, _Part]:
    """Zeros that are made in a block, of which a part is set once, and that are used once more."""
    made = {
        s.result: s
        for s in block.statements
        if declared(ZEROS, s.callee) and uses.get(s.result) == 2  # type: ignore[arg-type]
    }
    settings = [s for s in block.statements if s.op == "setitem" and s.operands[0] in made]
    return {s.operands[0]: (made[s.operands[0]], s) for s in settings}  # type: ignore[index]


def _part_added(s: Statement, parts: dict[Operand, _Part], site: Site) -> tuple[Variable, Statement, Statement] | None:
    """The array that zeros but for a part are added to, what makes the zeros, and what sets the part."""
    for a, z in (s.operands, s.operands[::-1]):
        part = parts.get(z)
        if part is None or not isinstance(a, Variable) or a is z:
            continue
        facts = site.facts.get(a), site.facts.get(z)  # type: ignore[arg-type]
        if not all(isinstance(f, ArrayFact) for f in facts) or facts[0].dtype != facts[1].dtype:  # type: ignore[union-attr]
            continue
        if site.shapes.known_equal(facts[0].dims, facts[1].dims):  # type: ignore[union-attr]
            return a, *part
    return None


def share_views(ir: IR, site: Site) -> None:
    """Let ``ir`` take each view once."""
    do_once(ir, lambda s: (s.operands[0], repr(value_of(s.operands[1]))) if _is_view(s, site) else None)


def _is_view(s: Statement, site: Site) -> bool:
    """Whether a statement takes a part out of an array by slices alone, which cannot raise."""
    if s.op != "getitem" or s.result is None or not site.is_array(s.operands[0]) or not site.is_array(s.result):
        return False
    index = value_of(s.operands[1])
    parts = index if type(index) is tuple else (index,)
    dims = site.dims(s.operands[0])
    return dims is not None and len(parts) <= len(dims) and all(_is_plain(part) for part in parts)


def _is_plain(part: object) -> bool:
    bounds = (part.start, part.stop, part.step) if type(part) is slice else (part,)
    return type(part) is slice and all(type(x) in (int, type(None)) for x in bounds) and part.step != 0
