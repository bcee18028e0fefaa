"""Large arrays that nobody reads any more give their memory to new ones.

The system hands out large pieces of memory page by page, as they are first written to, which takes longer than the
operation itself. So a dead array of the same shape is kept until the next one is made.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import IR, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.facts import LARGE, ArrayFact, value_of
from autodiff_hook.transform.improve.ownership import Lifetimes, Ownership
from autodiff_hook.transform.improve.site import Site, is_elementwise

_UFUNCS: Final = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_PRODUCTS: Final = (np.matmul, np.dot)


def recycled(buffer: Any, function: Any, *operands: Any) -> Any:
    """``function(*operands)``, in ``buffer`` if it lies in memory as the result would."""
    arrays = operands[:1] if function in _PRODUCTS else operands
    if buffer.flags.c_contiguous and all(x.flags.c_contiguous for x in arrays if type(x) is np.ndarray):
        return function(*operands, buffer)
    return function(*operands)


def recycle(ir: IR, site: Site) -> None:
    """Let operations of ``ir`` write to dead arrays of the shape of their result."""
    if not any(_large(s, site) for block in ir.blocks for s in block.statements):
        return
    owners = Ownership(ir, site)
    for block in ir.blocks:
        lifetimes, own = owners.lifetimes(block), list[Variable]()
        for place, s in enumerate(block.statements):
            fact = _large(s, site)
            if fact is None or s.result is None:
                continue
            dead = _dead(own, s, fact, site, owners, lifetimes, place)
            if dead is not None:
                s.operands = [Constant(recycled), dead, *_operation(s)]
                s.op, s.data = "call", ()
                lifetimes.last[dead] = max(place, lifetimes.last.get(dead, place))
                owners.joined(s.result, dead)
            elif owners.of(s.result) == {s.result}:
                own.append(s.result)


def _large(s: Statement, site: Site) -> ArrayFact | None:
    """What is known of the result, if that is a large array."""
    fact = site.facts.get(s.result) if s.result is not None else None
    if not isinstance(fact, ArrayFact) or fact.optional or not fact.dims:
        return None
    return fact if (site.shapes.count(fact.dims) or 0) >= LARGE else None


def _dead(
    own: list[Variable],
    s: Statement,
    fact: ArrayFact,
    site: Site,
    owners: Ownership,
    lifetimes: Lifetimes,
    place: int,
) -> Variable | None:
    """The array that has died last and that the result of ``s`` may be written to."""
    read: set[Variable] = set().union(*map(owners.of, s.operands))
    if not _operation(s):
        return None
    for candidate in sorted(own, key=lambda v: -lifetimes.last.get(v, -1)):
        other = site.facts.get(candidate)
        if candidate in read or not isinstance(other, ArrayFact) or other.dtype != fact.dtype:
            continue
        alike = site.shapes.known_equal(fact.dims, other.dims)
        if alike and owners.is_free(candidate, lifetimes, place, s.result):
            return candidate
    return None


def _operation(s: Statement) -> list[Operand]:
    """The function that makes a new array, and its operands."""
    if s.op == "binary" and s.data in _UFUNCS:
        return [Constant(_UFUNCS[s.data]), *s.operands]
    if s.op == "unary" and s.data == "-":
        return [Constant(np.negative), *s.operands]
    function: Any = value_of(s.operands[0]) if s.op == "call" and not s.data else None
    if function in _PRODUCTS and len(s.operands) == 3:
        return s.operands
    return s.operands if is_elementwise(function) and len(s.operands) == 1 + function.nin else []
