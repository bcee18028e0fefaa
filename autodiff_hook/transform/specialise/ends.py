"""Where blocks end: which ways go on, and what is known there; functions among data are kept before they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_hook.ir.types import RECEIVED, Block, Constant, Edge, Statement, Terminator, Variable
from autodiff_hook.transform.specialise import producers, raising
from autodiff_hook.transform.specialise.abstract import ANY, NOTHING, Abstract, Iterator, Optional, Producer, Reference
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.certain import certain_error
from autodiff_hook.transform.specialise.kept import is_to_be_kept, keep_function
from autodiff_hook.transform.specialise.lattice import is_none, is_true
from autodiff_hook.transform.specialise.program import Given

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference


class Ends:
    """The ends of the blocks of a program that is being interpreted."""

    def __init__(self, inf: Inference) -> None:
        self.inf = inf

    def leave(self, block: Block) -> None:
        """Go on where a block that has been interpreted leads to, or give up."""
        terminator = block.terminator
        produced = self.inf.type_of(terminator.operands[0]) if terminator.kind == "next" else None
        if isinstance(produced, Producer):
            self._weave(block, produced)
            terminator = block.terminator
        elif not (produced is None or isinstance(produced, Iterator)):
            self.inf.traps.put(block, Refused("an iteration by code"), terminator.position)
            return
        edges = terminator.edges
        if terminator.kind == "branch":
            truth = is_true(self.inf.type_of(terminator.operands[0]))
            if truth is not None:
                edges = edges[:1] if truth else edges[1:]
        elif self.is_empty(terminator):
            edges = edges[1:]
        elif terminator.kind == "return" and self._returns_none(block, terminator):
            return
        elif _gives_up(terminator):
            return
        elif terminator.kind in ("raise", "reraise"):
            self._is_refused(block, terminator, raising.leave, self.inf, block)
            return
        elif terminator.kind not in ("jump", "next", "return"):
            self.inf.traps.put(block, Refused(f"{terminator.kind} is not specialised"), terminator.position)
            return
        received = RECEIVED.get(terminator.kind, ())
        # Of those in one place the last is visited first: the body of a loop before what follows it.
        for edge in reversed(edges):
            count = received[terminator.edges.index(edge)]
            self.flow(block, edge, [self._item(terminator)] if count else [])

    def cut(self, block: Block, s: Statement, refused: Refused) -> None:
        """End a block before a statement that is not understood, or raises what is handled."""
        error = certain_error(self.inf, s, refused) if block.handler is not None else None
        if error is None or not raising.is_met(self.inf, block.handler, error):  # type: ignore[arg-type]
            self.inf.traps.put(block, refused, s.position)
            return
        self.inf.traps.leave(block, error, s.position)
        self.leave(block)

    def keep(self, block: Block) -> bool:
        """Whether functions go on to other blocks now for which objects are to stand."""
        terminator = block.terminator
        places = [(edge.args, i) for edge in block.edges() for i in range(len(edge.args))] if self.inf.keeps else []
        if self.inf.keeps and self.inf.give is not None and terminator.kind == "return":
            places.append((terminator.operands, 0))
        for operands, place in places:
            if is_to_be_kept(self.inf, operands[place]):
                s = Statement("call", [Constant(keep_function), operands[place]], Variable(), (), terminator.position)
                block.statements.append(s)
                operands[place] = s.made
        return self.inf.index < len(block.statements)

    def _weave(self, block: Block, produced: Producer) -> None:
        operand, self.inf.index = block.terminator.operands[0], len(block.statements)
        self.inf.assumptions.called.append((operand, produced))
        self._is_refused(block, block.terminator, producers.weave, self.inf, block, produced)

    def _returns_none(self, block: Block, terminator: Terminator) -> bool:
        """Whether the program gives up here because what it returns is, or may be, None."""
        value, self.inf.index = terminator.operands[0], len(block.statements)
        kind = self.inf.type_of(value)
        may_be_absent = isinstance(kind, Optional) and not isinstance(kind.content, Reference)
        if self.inf.give is not None and not may_be_absent:
            return self._is_refused(block, terminator, self.inf.give, value)
        self.inf.returns_none = self.inf.returns_none or is_none(kind) or isinstance(kind, Optional)
        if is_none(kind):
            self.inf.traps.put(block, Refused("the function returns None"), terminator.position)
            return True
        if isinstance(kind, Optional) and isinstance(value, Variable):
            self.inf.traps.require(block, value, terminator.position)
            return True
        return False

    def _is_refused(self, block: Block, terminator: Terminator, do: Callable[..., Any], *args: Any) -> bool:
        """Whether the program gives up where a block ends, because it does not understand what is there."""
        try:
            do(*args)
        except Refused as reason:
            if reason.is_of_whole(self.inf.program.changed):
                raise
            self.inf.traps.put(block, reason, terminator.position)
            return True
        return False

    def flow(self, source: Block, edge: Edge, received: list[Abstract]) -> None:
        """Take an edge: what comes along it is known of the parameters of the block there."""
        changed = self.inf.merging.flow(edge, received) or edge.target not in self.inf.visited
        self.inf.taken[edge] = None
        if changed:
            self.inf.pending.add(edge.target, source)

    def _item(self, terminator: Terminator) -> Abstract:
        iterator = self.inf.type_of(terminator.operands[0])
        return iterator.item if isinstance(iterator, Iterator) else ANY

    def is_empty(self, terminator: Terminator) -> bool:
        """Whether no item is known to come out of an iteration so far."""
        return terminator.kind == "next" and self._item(terminator) == NOTHING


def _gives_up(terminator: Terminator) -> bool:
    """Whether the program is given up here, of which no clause knows."""
    raised = terminator.operands[0] if terminator.kind == "raise" and terminator.operands else None
    return isinstance(raised, Constant) and isinstance(raised.value, type) and issubclass(raised.value, Given)
