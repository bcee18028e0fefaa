"""Loops whose first iteration stands before them, as a variable is an array only behind it: ``total = 0``.

Where there is no iteration, the program gives up.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any, Final

from autodiff_hook.ir.analysis import Loop, natural_loops, reachable
from autodiff_hook.ir.substituting import copy_blocks
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Terminator
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Array
from autodiff_hook.transform.specialise.bodies import Body, Changes
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.program import Given
from autodiff_hook.transform.specialise.versions import Versions

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference

_PEELED: Final = "peeled"


def ask_for(inf: Inference, block: Block, before: Abstract, abstract: Abstract, together: Abstract) -> None:
    """Ask for the first iteration of a loop apart if what is a number before it is an array from then on."""
    place = _place(inf.chains[block][-1], block)
    if together is not ANY or number_types(before) is None or not isinstance(abstract, Array):
        return
    if block.terminator.kind == "next" and not block.statements and place not in inf.program.changed:
        raise Changes("a number becomes an array", place)


def _place(code: Any, block: Block) -> tuple[Any, ...]:
    return _PEELED, id(code), block.terminator.position


def peel(body: Body, code: Any, changed: Set[Any]) -> None:
    """Set the first iterations apart that were asked for, of inner loops before those of outer ones."""
    done = set[Block]()
    while any(type(place) is tuple and place[0] is _PEELED for place in changed):
        loops = natural_loops(IR("", Signature(), blocks=body.blocks))
        asked = [loop for loop in loops if loop.header not in done and _place(code, loop.header) in changed]
        if not asked:
            return
        copies = _set_apart(body, asked[-1])
        done |= {asked[-1].header, *(copies[header] for header in done if header in copies)}


def _set_apart(body: Body, loop: Loop) -> dict[Block, Block]:
    names: dict[Operand, Operand] = {}
    inside = [block for block in body.blocks if block in loop.body]
    copies = copy_blocks(inside, names)
    first, none = copies[loop.header], Block()
    none.terminator = Terminator("raise", [Constant(Given)], [], loop.header.terminator.position)
    first.terminator.edges[1] = Edge(none)
    for block in body.blocks:
        if block not in loop.body:
            for edge in block.edges():
                edge.target = first if edge.target is loop.header else edge.target
    for latch in loop.latches:
        for edge in copies[latch].edges():
            edge.target = loop.header if edge.target is first else edge.target
    body.blocks += [*copies.values(), none]
    origin: Any = {old: old for old in names} | {new: old for old, new in names.items()}
    Versions(reachable(body.blocks), origin).settle()
    return copies
