"""Arrays that are stored into where several may have come: each is copied on arrival, if nobody can see that.

``u, v = v, u`` in a loop, or an array that one branch makes anew. The copy is what the program goes on with; the array
that came must not be known by another name there, and the program must have made it.
"""

from __future__ import annotations

from typing import TypeGuard

from autodiff_hook.ir.analysis import closure, definitions, dominates, dominators, homes_of, predecessors, statements_of
from autodiff_hook.ir.liveness import live_from, live_out
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import IR, Block, Edge, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Array, Iterator
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.memory import replaced
from autodiff_hook.transform.specialise.origins import heirs, makes_new, may_hold
from autodiff_hook.transform.specialise.program import (
    APPEND,
    COPY,
    IN_ITS_ORDER,
    ITEMS,
    STORE,
    STRUCTURAL,
    Program,
    RulePlan,
)


def settle_owners(ir: IR, program: Program) -> None:
    """Copy what arrives as a parameter and is stored into; ``Refused`` if somebody could see the difference."""
    while True:
        params = {p: block for block in ir.blocks for p in block.params}
        stored = [s.operands[0] for s in statements_of(ir.blocks) if program.plans.get(s) == STORE]
        owner = next((x for x in stored if x in params and isinstance(program.type_of(x), Array)), None)
        if not isinstance(owner, Variable):
            return
        _Arrival(ir, program, owner, params[owner]).copy()


class _Arrival:
    """One parameter that arrays arrive as."""

    def __init__(self, ir: IR, program: Program, param: Variable, block: Block) -> None:
        self.ir, self.program, self.param, self.block = ir, program, param, block
        self.incoming = predecessors(ir)
        self.homes = homes_of(ir.blocks)
        self.made = definitions(statements_of(ir.blocks))
        self.immediate = dominators(ir)

    def copy(self) -> None:
        """Go on with a copy."""
        names = self._names(set(closure(list[Operand]([self.param]), self._sources)))
        live = live_from(self.block, live_out(self.ir.blocks))
        for name in names & live - {self.param}:
            if name not in self.block.params or not self._distinct(self.param, name, set()):
                raise Refused(self._text("is changed in place, and comes by several names"))
        own = Variable(self.param.name)
        self.program.types[own] = self.program.types[self.param]
        substitute(self.ir.blocks, {self.param: own})
        for plan in self.program.plans.values():
            if isinstance(plan, RulePlan):
                plan.values = [replaced(x, self.param, own) for x in plan.values]
        statement = Statement("call_method", [self.param, IN_ITS_ORDER], own, ("copy", ()))
        self.program.plans[statement] = COPY
        self.block.statements.insert(0, statement)

    def _bound(self, param: Variable) -> list[Operand]:
        """What a parameter is bound to, over all edges."""
        block = self.homes[param]
        found = []
        for _, edge in self.incoming[block]:
            place = _place(param, block, edge)
            if place is None:
                raise Refused(self._text("comes out of an iteration and is changed in place"))
            found.append(edge.args[place])
        return found

    def _text(self, what: str) -> str:
        return f"the array {self.param.name} {what}" if self.param.name is not None else f"an array {what}"

    def _sources(self, x: Operand) -> list[Operand]:
        """Where what arrives comes from: nowhere else, if it is made there."""
        made = self.made.get(x) if isinstance(x, Variable) else None
        if made is None and self._arrives(x) and self.incoming[self.homes[x]]:
            return self._bound(x)
        if made is None or not makes_new(made, self.program.type_of):
            raise Refused(self._text("is changed in place, and others may hold it, too"))
        return []

    def _arrives(self, x: Operand) -> TypeGuard[Variable]:
        """Whether a value is a parameter of a block: others that nothing makes were loaded on entry."""
        return x in self.homes and x not in self.made

    def _names(self, origins: set[Operand]) -> set[Operand]:
        """All that may lie in the memory of one of these arrays, and the parameters on their way."""
        handed_on = heirs(self.program, self.ir.blocks, lambda kind: isinstance(kind, Iterator) or may_hold(kind))
        found = set(closure(origins, lambda x: handed_on.get(x, ())))
        for block in self.ir.blocks:
            for s in block.statements:
                if s.operands and s.operands[-1] in found and self._keeps(s):
                    raise Refused(self._text("is changed in place after a list was given it"))
        return found

    def _keeps(self, s: Statement) -> bool:
        """Whether a statement puts something into a list or a tuple."""
        plan = self.program.plans.get(s)
        stores = plan == STORE and not isinstance(self.program.type_of(s.operands[0]), Array)
        return stores or plan in (APPEND, ITEMS, STRUCTURAL)

    def _distinct(self, a: Variable, b: Variable, assumed: set[frozenset[Variable]]) -> bool:
        """Whether two parameters of a block are two arrays, whichever way the program comes there."""
        pair = frozenset({a, b})
        if pair in assumed:
            return True
        assumed = assumed | {pair}
        return all(self._are_two(x, y, assumed) for x, y in zip(self._bound(a), self._bound(b)))

    def _are_two(self, a: Operand, b: Operand, assumed: set[frozenset[Variable]]) -> bool:
        if a is b or not isinstance(a, Variable) or not isinstance(b, Variable):
            return False
        made = [x in self.made and makes_new(self.made[x], self.program.type_of) for x in (a, b)]
        if all(made):
            return True
        if any(made):
            new, param = (a, b) if made[0] else (b, a)
            return self._arrives(param) and dominates(self.immediate, self.homes[param], self.homes[new])
        return (
            self._arrives(a) and self._arrives(b) and self.homes[a] is self.homes[b] and self._distinct(a, b, assumed)
        )


def _place(param: Variable, block: Block, edge: Edge) -> int | None:
    place = block.params.index(param) - len(block.params) + len(edge.args)
    return place if place >= 0 else None
