"""Exceptions that are raised and handled within a program: a jump to the handler, with the exception as a value.

Until the program is understood its blocks keep their exception edges; what is put in the place of a call is covered by
those of the call. A handler's blocks stand once for each kind of exception that comes, so which clause matches is
known. Where nobody in the program handles what is raised, it gives up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from autodiff_hook.ir.analysis import closure, dominates, dominators, successors
from autodiff_hook.ir.types import (
    HANDLER_RECEIVED,
    IR,
    Block,
    Constant,
    Edge,
    Operand,
    Signature,
    Statement,
    Terminator,
    Variable,
)
from autodiff_hook.transform.specialise import producers
from autodiff_hook.transform.specialise.abstract import Abstract, Error, Fresh, Known, Tuple
from autodiff_hook.transform.specialise.bodies import Body, Refused

if TYPE_CHECKING:
    from autodiff_hook.transform.specialise.infer import Inference

UNHANDLED: Final = "handlers are left out"
"""What is known of a program that is followed again without its handlers, beside the places that it changes."""
_MOST: Final = 6
"""For how many kinds of exceptions the blocks of a handler are written."""


def settle(body: Body) -> None:
    """Name what ``raise`` alone raises; what covers the body of ``with`` gives the program up."""
    elsewhere = Block([], [], Terminator("raise"))
    for block in body.blocks:
        if block.handler is not None and any(s.op == "exit_call" for s in block.handler.target.statements):
            block.handler = Edge(elsewhere)
    handled: dict[Block, tuple[Operand, ...]] = {body.blocks[0]: ()}
    for block in closure([body.blocks[0]], lambda b: _noting(b, handled)):
        if block.terminator.kind == "raise" and not block.terminator.operands and handled[block]:
            block.terminator.operands = [handled[block][-1]]
    reached = closure([body.blocks[0]], successors)
    body.blocks[:] = [b for b in body.blocks if b in reached]
    if elsewhere in reached:
        body.blocks.append(elsewhere)


def _noting(block: Block, handled: dict[Block, tuple[Operand, ...]]) -> list[Block]:
    """What follows a block, of which is noted which exceptions are being handled there."""
    now = handled[block]
    for s in block.statements:
        if s.op == "push_exc":
            now = (*now, s.operands[0])
        elif s.op == "pop_exc":
            now = now[:-1]
    for edge in block.edges():
        handled.setdefault(edge.target, now)
    return successors(block)


def cover(blocks: list[Block], handler: Edge | None) -> None:
    """What stands in the place of a call is covered by the handler of the call."""
    for block in blocks if handler is not None else ():
        if block.handler is None:
            block.handler = Edge(handler.target, list(handler.args))  # type: ignore[union-attr]


def leave(inf: Inference, block: Block) -> None:
    """Go on where what a block raises is handled."""
    terminator = block.terminator
    kind = inf.type_of(terminator.operands[0]) if terminator.operands else Known(None)
    inf.index = len(block.statements)
    if isinstance(kind, Known) and isinstance(kind.value, type) and issubclass(kind.value, BaseException):
        if block.handler is not None and is_met(inf, block.handler, kind.value):
            made = Statement("call", [terminator.operands[0]], Variable("error"), (), terminator.position)
            block.statements.append(made)
            terminator.operands[0] = made.made
            inf.pending.add(block)
        return
    cls = kind_of(kind)
    if cls is None:
        raise Refused("what is raised is not known")
    handler = block.handler
    if handler is None or not is_met(inf, handler, cls):
        raise Refused(f"it raises {cls.__qualname__}")
    error = terminator.operands[0]
    edge = Edge(_written_for(inf, handler, kind), [error, Constant(None), *handler.args])
    block.terminator, block.handler = Terminator("jump", [], [edge], terminator.position), None
    inf.ends.flow(block, edge, [])


def is_met(inf: Inference, handler: Edge, cls: type) -> bool:
    """Whether a clause matches exceptions of a class, or may."""
    pending, seen = [handler.target], {handler.target}
    while pending:
        block = pending.pop()
        edges = [*block.terminator.edges]
        asked = next((s for s in block.statements if s.op == "exc_match"), None)
        if asked is not None:
            classes = classes_of_clause(inf, asked.operands[1], block)
            if classes is None or issubclass(cls, classes):
                return True
            edges = edges[1:]
        elif block.terminator.kind == "reraise" and block.handler is not None:
            edges = [block.handler]
        pending += [e.target for e in edges if e.target not in seen]
        seen.update(e.target for e in edges)
    return False


def _written_for(inf: Inference, handler: Edge, error: Abstract) -> Block:
    """The blocks of a handler for a kind of exceptions: it has those that it came with for the first kind."""
    kind = kind_of(error), *_form(inf, error)
    first = handler.target
    written = inf.written.setdefault(first, {})
    if kind not in written:
        if written and first in inf.visited or len(written) == _MOST:
            raise Refused("exceptions of several kinds are handled in one place")
        written[kind] = _copy(inf, first) if written else first
        # Those that bring the parts of exceptions of another kind are not among them.
        del written[kind].params[len(handler.args) + HANDLER_RECEIVED :]
    return written[kind]


def _form(inf: Inference, error: Abstract) -> tuple[tuple[str, ...], int]:
    """What an exception holds: its attributes, and how many arguments."""
    if not isinstance(error, Fresh):
        return (), 0
    args = inf.type_of(inf.fields[error.made, "args"][0])
    count = len(args.items) if isinstance(args, Tuple) else len(args.value) if isinstance(args, Known) else 0
    return tuple(sorted(name for owner, name in inf.fields if owner is error.made)), count


def _copy(inf: Inference, first: Block) -> Block:
    """A copy of a handler, and of all that is only come to by it."""
    immediate = dominators(IR("", Signature(), blocks=inf.program.blocks))
    blocks, _ = producers.copies(inf, [b for b in immediate if dominates(immediate, first, b)])
    for block, new in blocks.items():
        inf.pending.place_as(new, block)
    return blocks[first]


def kind_of(error: Abstract) -> type | None:
    """The class of an exception that is known; None for what is none."""
    cls = error.cls if isinstance(error, (Fresh, Error)) else type(error.value) if isinstance(error, Known) else None
    return cls if cls is not None and issubclass(cls, BaseException) else None


def classes_of_clause(inf: Inference, operand: Operand, block: Block | None = None) -> tuple[type, ...] | None:
    """The classes of a clause, which may stand in a block that is not visited yet."""
    made = next((s for s in block.statements if s.result is operand), None) if block is not None else None
    if made is not None and made.op == "build_tuple":
        parts = [classes_of_clause(inf, x, block) for x in made.operands]
        return None if None in parts else tuple(cls for part in parts for cls in part)  # type: ignore[union-attr]
    kind = inf.type_of(operand)
    items = list(kind.items) if isinstance(kind, Tuple) else [kind]
    if len(items) == 1 and isinstance(kind, Known) and type(kind.value) is tuple:
        items = [Known(x) for x in kind.value]
    found = [x.value for x in items if isinstance(x, Known) and isinstance(x.value, type)]
    return tuple(found) if len(found) == len(items) and all(issubclass(x, BaseException) for x in found) else None
