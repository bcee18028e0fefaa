"""Captured variables: a value if they are assigned once, else an item of a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.ir.analysis import closure, statements_of, successors
from autodiff_hook.ir.types import UNBOUND, Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Cell, Dict, Known, Site
from autodiff_hook.transform.specialise.bodies import Changes, Refused
from autodiff_hook.transform.specialise.dicts import into_dict, item_of_dict
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.program import ITEMS, LOAD, STORE, Alias

_CONTENT: Final = Constant("content")


def make_cell(inf: Inference, s: Statement) -> Abstract:
    """Begin a captured variable."""
    value = s.operands[0]
    place = inf.cell_places[s.made] = (inf.chains[inf.block][-1], _cell_name(inf, s))
    given = [] if isinstance(value, Constant) and value.value is UNBOUND else [value]
    if place in inf.program.changed:
        return _cell(inf, s, given)
    if given:
        inf.cells[s.made] = value
    inf.plans[s] = Alias(Constant(None))
    return Cell()


def _cell_name(inf: Inference, s: Statement) -> Any:
    """The name of a captured variable."""
    value = s.operands[0]
    if isinstance(value, Variable) and value.name is not None:
        return value.name
    uses = (x for x in statements_of(inf.program.blocks) if x.op in ("cell_set", "cell_get"))
    return next((x.data for x in uses if x.operands[0] is s.result), None)


def ask_for_lasting(inf: Inference, cell: Operand) -> None:
    """A captured variable is read later: it stays a value if it has one now, and gets no other."""
    place, store = inf.cell_places.get(cell), inf.stores.get(cell)
    if place is None or store is None and cell in inf.cells:
        return
    if store is None or _is_repeated(inf, store, cell):
        raise Changes("a captured variable is read after it has been assigned again", place)


def _is_repeated(inf: Inference, store: Statement, cell: Operand) -> bool:
    """Whether a captured variable may be assigned by a statement more than once."""
    making, storing = (_block_of(inf, lambda s: s.result is cell), _block_of(inf, lambda s: s is store))

    def going_on(block: Block) -> list[Block]:
        return [x for x in successors(block) if x is not making]

    return storing is not making and storing in closure(going_on(storing), going_on)


def _block_of(inf: Inference, holds: Callable[[Statement], bool]) -> Block:
    return next(block for block in inf.program.blocks if any(map(holds, block.statements)))


def cell_set(inf: Inference, s: Statement) -> Abstract:
    """Assign a captured variable."""
    cell, value = s.operands
    assert isinstance(cell, Variable)
    if isinstance(inf.type_of(cell), Dict):
        return _set_cell(inf, s)
    if inf.cells.setdefault(cell, value) is not value:
        place = inf.cell_places.get(cell)
        if place is None:
            raise Refused("a captured variable that is assigned twice")
        raise Changes("a captured variable is assigned twice", place)
    inf.stores[cell] = s
    inf.plans[s] = Alias(Constant(None))
    return ANY


def cell_get(inf: Inference, s: Statement) -> Abstract:
    """Read a captured variable."""
    if isinstance(inf.type_of(s.operands[0]), Dict):
        return _get_cell(inf, s)
    found = inf.cells.get(s.operands[0])
    if found is None:
        raise Refused("a captured variable that is not assigned")
    store = inf.stores.get(s.operands[0])
    if store is not None:
        inf.order(store, s)
    return alias(inf, s, found)


def _cell(inf: Inference, s: Statement, given: list[Operand]) -> Abstract:
    """A captured variable that is assigned again: a dict with one item, once it has a value."""
    s.op, s.operands, s.data = "build_map", [x for value in given for x in (_CONTENT, value)], None
    made = Dict(Site())
    for value in given:
        into_dict(inf, made, Known(_CONTENT.value), inf.type_of(value))
    inf.plans[s] = ITEMS
    return made


def _set_cell(inf: Inference, s: Statement) -> Abstract:
    """Assign a captured variable."""
    owner, value = s.operands
    kind = inf.type_of(owner)
    assert isinstance(kind, Dict)
    into_dict(inf, kind, Known(_CONTENT.value), inf.type_of(value))
    s.op, s.operands, s.data = "setitem", [owner, _CONTENT, value], None
    inf.plans[s] = STORE
    return Known(None)


def _get_cell(inf: Inference, s: Statement) -> Abstract:
    """Read a captured variable."""
    kind = inf.type_of(s.operands[0])
    assert isinstance(kind, Dict)
    s.op, s.operands, s.data = "getitem", [s.operands[0], _CONTENT], None
    inf.plans[s] = LOAD
    return item_of_dict(inf, kind, Known(_CONTENT.value))
