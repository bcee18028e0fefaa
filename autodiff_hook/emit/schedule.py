"""Stack scheduling: which values stay on the value stack, which go through a local.

A chain is read backwards with the list of values that the code read so far expects on the stack.
A value with one use in the same chain that lies on top when its statement is reached stays there;
what is in the way is demoted to a local. The order of the statements never changes.
"""

from __future__ import annotations

from typing import TypeGuard

from autodiff_hook.emit.graph import Chain, Graph, Step
from autodiff_hook.emit.items import NO_ARG, Copies, Entry, Item, Load, Op, Pending, Segment, Store
from autodiff_hook.emit.select import Context, Selection, select, to_items
from autodiff_hook.ir.types import Block, Edge, Operand, Position, Variable


class Candidates:
    """The variables that may stay on the stack: defined and used once, in one chain.

    With ``keep``, what has a name goes to its local, because the user's variable would keep the object.
    """

    def __init__(self, graph: Graph, keep: bool) -> None:
        self._keep = keep
        self._definition: dict[Variable, Chain] = {}
        self._uses: dict[Variable, int] = {}
        self._user: dict[Variable, Chain] = {}
        for chain in graph.chains:
            for variable in chain.received:
                self._definition[variable] = chain
            for step in chain.steps:
                for variable in step.results:
                    self._definition[variable] = chain
            for operands in (*(s.operands for s in chain.steps), graph.last_operands(chain)):
                self._count(operands, chain, 1)
            for step in chain.steps:
                if step.handler is not None:
                    self._count(step.handler.args, chain, 2)
            for edge in (*chain.terminator.edges, *([chain.handler] if chain.handler else [])):
                self._count(edge.args, chain, 1 if chain.terminator.kind == "jump" else 2)
        user, definition = self._user, self._definition
        self._once = {x for x, count in self._uses.items() if count == 1 and definition.get(x) is user[x]}
        self.stackable = {x for x in self._once if x.name is None} if keep else self._once

    def _count(self, operands: list[Operand], chain: Chain, weight: int) -> None:
        for x in operands:
            if isinstance(x, Variable):
                self._uses[x] = self._uses.get(x, 0) + weight
                self._user[x] = chain

    def __contains__(self, variable: object) -> bool:
        return variable in self.stackable

    def used_once(self, variable: object) -> TypeGuard[Variable]:
        """Whether the variable is defined and used in one chain."""
        return variable in self._once

    def needs_local(self, variable: Variable) -> bool:
        """Whether anything reads the variable, or its name keeps it."""
        return variable in self._uses or (self._keep and variable.name is not None)


class Scheduler:
    """The instructions of one chain, made from the last to the first."""

    def __init__(
        self, candidates: Candidates, context: Context, handlers: dict[Block, tuple[Segment, list[Variable], bool]]
    ) -> None:
        self.candidates = candidates
        self._stackable = candidates.stackable
        self.context = context
        self.handlers = handlers
        self.items: list[Item] = []
        self.expected: list[Entry] = []
        self.demoted: set[Variable] = set()
        self.forced: set[Variable] = set()
        self.position: Position | None = None

    def on_stack(self, entry: object) -> bool:
        """Whether the value is meant to come from the stack, not from a local."""
        return (entry in self._stackable or entry in self.forced) and entry not in self.demoted

    def expect(self, entries: list[Entry]) -> None:
        """The code made so far wants these values on top of the stack."""
        self.expected.extend(entries)
        self.settle(len(self.expected))

    def settle(self, limit: int) -> None:
        """Emit what can be pushed here, from the top down; everything above ``limit`` must be."""
        expected = self.expected
        while expected:
            entry = expected[-1]
            if self.on_stack(entry):
                if len(expected) <= limit:
                    break
                assert isinstance(entry, Variable)
                self.demoted.add(entry)
            expected.pop()
            if isinstance(entry, Pending):
                self.items.extend(reversed(entry.items))
            else:
                self.items.append(Load(entry, self.position))

    def produce(self, results: list[Variable]) -> None:
        """Take what a statement left on the stack (the last on top) to where it is wanted."""
        keep = self._matching(results)
        for variable in results[keep:]:
            if variable in self.expected:
                self.demoted.add(variable)
                self.settle(self.expected.index(variable))
                keep = min(keep, self._matching(results))
        del self.expected[len(self.expected) - keep :]
        for variable in results[keep:]:
            used = self.candidates.needs_local(variable)
            self.items.append(Store(variable, self.position) if used else Op("POP_TOP", NO_ARG, self.position))

    def _matching(self, results: list[Variable]) -> int:
        """How many of the results, from the lowest, are what is expected on top."""
        expected = self.expected
        for count in range(min(len(results), len(expected)), 0, -1):
            if expected[-1] is results[count - 1]:
                if all(a is b and self.on_stack(b) for a, b in zip(expected[-count:], results)):
                    return count
        return 0

    def step(self, step: Step) -> None:
        """One statement."""
        self.position = step.position
        selection = select(step, self.context)
        if len(step.results) == 1 and selection.values == 1:
            self._clear_above(step.results[0])
        if selection.values:
            if not step.results:
                self.items.extend([Op("POP_TOP", NO_ARG, step.position)] * selection.values)
            else:
                self.produce(step.results)
        self.operate(selection, step.handler, step.position)

    def _clear_above(self, variable: Variable) -> None:
        if variable in self.expected and self.on_stack(variable):
            self.settle(self.expected.index(variable) + 1)

    def operate(self, selection: Selection, handler: Edge | None, position: Position | None) -> None:
        """The instructions of a selection and, before them, what they need."""
        items = to_items(selection.codes, position)
        operands = selection.operands
        if handler is not None:
            segment, _, closed = self.handlers[handler.target]
            operands = self._cover(operands, segment, self.copies(handler), closed)
            for item in items:
                if isinstance(item, Op):
                    item.handler = segment
        self.items.extend(reversed(items))
        self.expect(operands)

    def copies(self, edge: Edge) -> Copies | None:
        """What an exception edge does before the statement that may raise."""
        _, params, _ = self.handlers[edge.target]
        pairs = [(p, a) for p, a in zip(params, edge.args) if p is not a]
        return Copies(pairs, position=self.position) if pairs else None

    def _cover(self, operands: list[Entry], segment: Segment, copies: Copies | None, closed: bool) -> list[Entry]:
        """Put copies before what the handler covers; unless it reads nothing, nothing may come between them."""
        lookup = next((i for i, x in enumerate(operands) if isinstance(x, Pending)), len(operands))
        for entry in operands[lookup:]:
            if isinstance(entry, Pending):
                for op in entry.items:
                    if isinstance(op, Op):
                        op.handler = segment
            elif not closed and isinstance(entry, Variable) and self.on_stack(entry):
                self.demoted.add(entry)
        if copies is None:
            return operands
        return [*operands[:lookup], Pending([copies]), *operands[lookup:]]

    def finish(self, received: list[Variable]) -> list[Item]:
        """The chain in order, after what it receives on the stack."""
        if not (len(self.expected) <= len(received) and self._matching(received) == len(self.expected)):
            self.settle(0)
        self.produce(received)
        assert not self.expected, "a value is expected on the stack that nothing produces"
        self.items.reverse()
        return self.items
