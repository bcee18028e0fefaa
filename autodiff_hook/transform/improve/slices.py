"""Views of one part of an array are taken once: before the loop in which the array stays the same, or at the first use.

A view shows what is in the array when it is read, so it does not matter when it has been taken.
"""

from __future__ import annotations

from autodiff_hook.ir.analysis import Loop, natural_loops, predecessors
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.facts import value_of
from autodiff_hook.transform.improve.site import Site
from autodiff_hook.transform.specialise.bodies import resolve, substitute


def share_views(ir: IR, site: Site) -> None:
    """Let ``ir`` take each view once."""
    if not any(_is_view(s, site) for block in ir.blocks for s in block.statements):
        return
    incoming = predecessors(ir)
    for loop in reversed(natural_loops(ir)):
        before = [block for block, _ in incoming[loop.header] if block not in loop.body]
        if len(before) == 1:
            _move_out(loop, before[0], site)
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        _share(block, site, known)
    substitute(ir.blocks, known)


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


def _move_out(loop: Loop, before: Block, site: Site) -> None:
    inside = {x for block in loop.body for x in block.params}
    inside.update(s.result for block in loop.body for s in block.statements if s.result is not None)
    for block in loop.body:
        moved = [s for s in block.statements if _is_view(s, site) and s.operands[0] not in inside]
        before.statements += moved
        block.statements = [s for s in block.statements if s not in moved]


def _share(block: Block, site: Site, known: dict[Operand, Operand]) -> None:
    seen: dict[tuple[Operand, str], Variable] = {}
    kept = []
    for s in block.statements:
        s.operands = [resolve(x, known) for x in s.operands]
        if s.result is None or not _is_view(s, site):
            kept.append(s)
            continue
        assert isinstance(s.operands[1], Constant)
        key = s.operands[0], repr(s.operands[1].value)
        if key in seen:
            known[s.result] = seen[key]
        else:
            seen[key] = s.result
            kept.append(s)
    block.statements = kept
