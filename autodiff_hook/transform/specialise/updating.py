"""Arrays that lie in lists, dicts and attributes, and of which items are changed there: their place is given a copy.

``xs[i][j] = v`` stores into an array that others may hold. If it lies there alone, which ``replacing`` looks after,
nobody can tell it from ``xs[i] = updated(xs[i], j, v)``.
"""

from __future__ import annotations

from typing import NamedTuple

from autodiff_hook.ir.analysis import closure, passed_on, statements_of, successors
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable
from autodiff_hook.records import record
from autodiff_hook.runtime.updates import updated, updated_rule
from autodiff_hook.transform.specialise.abstract import Array, Record, Reference, Site
from autodiff_hook.transform.specialise.memory import replaced
from autodiff_hook.transform.specialise.program import APPEND, DROP, LOAD, STORE, Program, RulePlan


class Place(NamedTuple):
    """Attributes of one name, or items, of all objects, lists or dicts of a site; all of them if the name is None."""

    site: Site
    name: str | None

    def meets(self, other: Place) -> bool:
        """Whether an array may lie in both."""
        return self.site is other.site and (self.name == other.name or None in (self.name, other.name))


@record
class Change:
    """A new array is stored where another one lies."""

    place: Place
    block: Block
    store: Statement


def update(ir: IR, program: Program) -> list[Change]:
    """Store a copy with other items where items of an array are changed."""
    _load_anew(ir, program)
    found = [_updated(program, block, s) for block in ir.blocks for s in list(block.statements)]
    return [change for change in found if change is not None]


def _updated(program: Program, block: Block, s: Statement) -> Change | None:
    """``place[key] = value`` becomes ``place = updated(place, key, value)``."""
    if not _is_store_into_array(program, s):
        return None
    old, load = s.operands[0], _load_before(program, block, s)
    place = None if load is None else _own_place(program, load)
    if load is None or place is None:
        return None
    index = block.statements.index(s)
    new, back = Variable(old.name), Statement("setitem", [*load.operands], None, None, s.position)  # type: ignore[union-attr]
    if load.op == "getattr":
        back.op, back.data = "setattr", load.data
    back.operands.append(new)
    made = Statement("call", [Constant(updated), *s.operands], new, (), s.position)
    program.types[new] = program.type_of(old)
    program.plans[made], program.plans[back] = RulePlan(updated, updated_rule, [*s.operands]), STORE
    block.statements[index : index + 1] = [made, back]
    return Change(place, block, back)


def _load_before(program: Program, block: Block, s: Statement) -> Statement | None:
    """What has read the array that a statement stores into, if nothing is changed between them."""
    for before in reversed(block.statements[: block.statements.index(s)]):
        if before.result is s.operands[0]:
            return before if _is_load(program, before) else None
        if program.plans.get(before) in (STORE, APPEND, DROP):
            break
    return None


def _is_store_into_array(program: Program, s: Statement) -> bool:
    return program.plans.get(s) == STORE and isinstance(program.type_of(s.operands[0]), Array)


def place_of(program: Program, s: Statement) -> Place | None:
    """Where a statement reads, or stores to; None if that is no list, dict or object."""
    owner = program.type_of(s.operands[0])
    if not isinstance(owner, Reference):
        return None
    name = str(s.data) if isinstance(owner, Record) else name_of(s.operands[1])
    return Place(owner.site.root(), name)


def _load_anew(ir: IR, program: Program) -> None:
    """Let what is stored into, and lies somewhere, be read of its place wherever it is used, if it stays there."""
    stored = {s.operands[0] for s in statements_of(ir.blocks) if _is_store_into_array(program, s)}
    for home in ir.blocks:
        for load in [s for s in home.statements if s.result in stored and _is_load(program, s)]:
            place = _own_place(program, load)
            if place is not None and not _changes_after(program, home, load, place):
                for block in ir.blocks:
                    _load_in(program, block, load)


def _is_load(program: Program, s: Statement) -> bool:
    """Whether a statement reads an item or an attribute."""
    return program.plans.get(s) == LOAD and s.op in ("getitem", "getattr")


def _changes_after(program: Program, home: Block, load: Statement, place: Place) -> bool:
    """Whether something else may come to lie where a statement reads, before it reads again."""
    behind = closure(successors(home), successors, [home]).keys() - {home}
    later = list(statements_of(behind))
    later += home.statements[home.statements.index(load) :]
    if any(home in [edge.target for edge in block.edges()] for block in (home, *behind)):
        later += home.statements
    return any(_changes(program, s, place) for s in later)


def _changes(program: Program, s: Statement, place: Place) -> bool:
    kind = program.type_of(s.operands[0]) if program.plans.get(s) in (STORE, APPEND, DROP) else None
    if not isinstance(kind, Reference) or kind.site.root() is not place.site:
        return False
    where = place_of(program, s) if program.plans[s] == STORE else None
    return where is None or where.meets(place)


def _load_in(program: Program, block: Block, load: Statement) -> None:
    """Read of a place before a statement of a block uses what was read, if something has been stored since."""
    statements: list[Statement] = []
    current: Variable | None = None

    def loaded() -> Variable:
        if current is not None:
            return current
        again = Statement(load.op, list(load.operands), Variable(load.made.name), load.data, load.position)
        program.types[again.made], program.plans[again] = program.types[load.made], LOAD
        statements.append(again)
        return again.made

    for s in block.statements:
        if load.result in s.operands:
            current = loaded()
            given(program, s, load.made, current)
        statements.append(s)
        current = load.made if s is load else None if _is_store_into_array(program, s) else current
    if load.result in passed_on(block):
        current, terminator = loaded(), block.terminator
        terminator.operands = [current if x is load.result else x for x in terminator.operands]
        for edge in block.edges():
            edge.args = [current if x is load.result else x for x in edge.args]
    block.statements = statements


def given(program: Program, s: Statement, old: Operand, new: Operand) -> None:
    """Let a statement have another operand."""
    plan = program.plans.get(s)
    s.operands = [new if x is old else x for x in s.operands]
    if isinstance(plan, RulePlan):
        plan.values = [replaced(x, old, new) for x in plan.values]


def _own_place(program: Program, s: Statement) -> Place | None:
    """Where a statement reads, if that is of the program's own alone."""
    place = place_of(program, s)
    return place if place is not None and not (place.site.given or place.site.examples) else None


def name_of(key: Operand) -> str | None:
    return key.value if isinstance(key, Constant) and type(key.value) is str else None
