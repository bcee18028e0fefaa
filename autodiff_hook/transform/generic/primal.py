"""A function that is to be carried, and what of it can carry a derivative.

Operations fall into three groups. *Plain* ones have no derivative and stay as they are (tests of identity,
imports, …). *Structural* ones (tuples put together and taken apart) are the same for values and for tokens.
All others are *tracked*: the carried program hands them to the runtime, which looks at the actual values.

A variable is *live* if it may carry a derivative: beside it there is a token. What is not live is certainly constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from autodiff_hook.ir.analysis import closure, edges_with_received
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Statement, Variable
from autodiff_hook.transform.generic.runs import Lookup, Run, runs_of

_PLAIN: Final = frozenset(
    "delete_global cell_del is is_not get_len check yield "
    "build_class_function import_name push_exc pop_exc eg_match prep_reraise_star "
    "match_mapping match_sequence aiter anext end_async_for enter_async intrinsic "
    "cleanup_throw forget".split()
)

_COMPARING: Final = frozenset({"not", "truth", "compare", "in", "not_in"})
"""Constants, but for classes that write them in Python: those may store what carries a derivative."""

_BOOLEANS: Final = _COMPARING | {"is", "is_not"}
"""What gives a bool, of all that user code is likely to do; its truth needs no look."""

STRUCTURAL: Final = frozenset({"build_tuple", "project"})


class Primal:
    """A function as it was lifted, with what the carried program needs to know of it."""

    def __init__(self, ir: IR, constant_global: Callable[[str], bool], lookup: Lookup | None = None) -> None:
        self.ir = ir
        self.runs: list[Run] = [] if lookup is None else runs_of(ir, lookup)
        self._constant_global = constant_global
        self._booleans = {s.result for s in self._statements() if s.op in _BOOLEANS}
        self._own_globals = {s.result for s in self._statements() if s.op == "global" and s.data == "globals"}
        self.tracked = {s for s in self._statements() if self._is_tracked(s)}
        self.live = self._find_live()
        self.escaping = self._find_escaping()
        """The iterators that something else than a ``for`` uses."""

    def _statements(self) -> Iterator[Statement]:
        for block in self.ir.blocks:
            yield from block.statements

    def _is_tracked(self, statement: Statement) -> bool:
        op, operands = statement.op, statement.operands
        if op == "call":
            return not self._calls_globals(operands[0])
        if op in _COMPARING:
            return not all(isinstance(x, Constant) or x in self._booleans for x in operands)
        if op == "global":
            return not self._constant_global(str(statement.data))
        if op == "make_function":
            return isinstance(operands[0], Variable)
        if op == "build_slice":
            return any(isinstance(part, Variable) for part in operands)
        return op not in _PLAIN and op not in STRUCTURAL

    def _calls_globals(self, function: Operand) -> bool:
        """Whether this is ``globals()``, which is about the code that it stands in."""
        if isinstance(function, Constant):
            return function.value is globals
        return function in self._own_globals and self._constant_global("globals")

    def _find_live(self) -> set[Variable]:
        """What is reached from where derivatives come in: parameters, tracked statements, what is received and sent."""
        ir, flows = self.ir, dict[Operand, list[Variable]]()
        pending = ir.entry.params[: len(ir.signature.names)]
        for statement in self._statements():
            result = statement.result
            if result is None:
                continue
            if statement in self.tracked or statement.op == "yield" and not is_delegated(statement):
                pending.append(result)
            elif statement.op == "check" or statement.op in STRUCTURAL:
                for operand in statement.operands:
                    flows.setdefault(operand, []).append(result)
        for block in ir.blocks:
            pending += _received(block)
            for edge, count in edges_with_received(block):
                for param, arg in zip(edge.target.params[count:], edge.args):
                    flows.setdefault(arg, []).append(param)
        return set(closure(pending, lambda variable: flows.get(variable, ())))

    def _find_escaping(self) -> set[Variable]:
        used: set[Operand] = {x for s in self._statements() for x in s.operands}
        for block in self.ir.blocks:
            for edge in block.edges():
                used.update(edge.args)
            if block.terminator.kind != "next":
                used.update(block.terminator.operands)
        made = {s.result for s in self._statements() if s.op == "get_iter"}
        return {x for x in used if isinstance(x, Variable) and x in made}


def received_edge(block: Block) -> Edge | None:
    """The edge over which ``block`` hands on an item or what a delegate returned, with its token.

    What a delegate yields has none here: it is yielded at once, and the delegate has left its token.
    """
    terminator = block.terminator
    if terminator.kind not in ("next", "send"):
        return None
    return terminator.edges[0 if terminator.kind == "next" else 1]


def _received(block: Block) -> list[Variable]:
    edge = received_edge(block)
    return [] if edge is None else edge.target.params[:1]


def is_delegated(statement: Statement) -> bool:
    """Whether a statement yields what another generator does, whose delegate has left the token."""
    return statement.op == "yield" and statement.data is not None and statement.data[1] & 3 >= 2
