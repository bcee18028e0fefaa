"""Generators that are context managers: one half stands where ``with`` begins, the other one at each of its ends.

A program that raises is run again carried, so all ends are those where nothing was raised.
"""

from __future__ import annotations

from autodiff_hook.ir.analysis import closure, successors
from autodiff_hook.ir.substituting import copy_blocks
from autodiff_hook.ir.types import Args, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.records import record
from autodiff_hook.semantics.equivalents import managing
from autodiff_hook.transform.specialise import producers
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Producer
from autodiff_hook.transform.specialise.bodies import Body, Refused
from autodiff_hook.transform.specialise.infer import Inference


@record(frozen=True)
class Second:
    """What a generator does behind its ``yield``: blocks that are copied for each end, and the first of them."""

    first: Block
    blocks: list[Block]


def make(inf: Inference, s: Statement, called: object, args: Args) -> Abstract:
    """The manager that a generator is for: it can only be entered."""
    inf.leave_nothing(s)
    return Bound(managing.manager, args[0])


def begin(inf: Inference, s: Statement, called: object, args: Args) -> None:
    """The first half stands in the place of the statement."""
    made, block = _made(inf, args[0]), inf.block
    assert s.result is not None
    if any(made is other for other, _ in inf.consumed):
        raise Refused("a generator is used more than once")
    body = producers.resumable(inf, made.data)
    yields = [(b, x) for b in body.blocks for x in b.statements if x.op == "yield"]
    name = made.data.code.co_qualname
    if len(yields) != 1:
        raise Refused(f"{name} is a context manager with several yields")
    home, yielded = yields[0]
    place = home.statements.index(yielded)
    resumed = Block([], home.statements[place + 1 :], home.terminator)
    body.blocks.append(resumed)
    second = closure([resumed], successors)
    first = [b for b in body.blocks if b not in second]
    if home in second or any(b.terminator.kind == "return" for b in first if b is not home):
        raise Refused(f"{name} is a context manager that may yield more than once, or not at all")
    rest = _rest(inf, block, [s.result])
    home.statements[place:] = []
    home.terminator = Terminator("jump", [], [Edge(rest, [yielded.operands[0]])], yielded.position)
    inf.consumed.append((made, block))
    inf.halves[made] = Second(resumed, [b for b in body.blocks if b in second])
    inf._bind(body, made.data.call, made.data.cells, block)
    _enter(inf, block, rest, made, first, s)


def end(inf: Inference, s: Statement, called: object, args: Args) -> None:
    """The second half stands in the place of the statement."""
    made, block = _made(inf, args[0]), inf.block
    second: Second = inf.halves[made]
    names: dict[Operand, Operand] = {}
    copies = copy_blocks(second.blocks, names)
    producers.rename_tests(inf, names)
    rest = _rest(inf, block, [s.result or Variable("nothing")])
    for b in copies.values():
        if b.terminator.kind == "return":
            b.terminator = Terminator("jump", [], [Edge(rest, [Constant(None)])], b.terminator.position)
    first = copies[second.first]
    _enter(inf, block, rest, made, [first, *(b for b in copies.values() if b is not first)], s)


def _made(inf: Inference, operand: Operand) -> Statement:
    kind = inf.type_of(operand)
    if not isinstance(kind, Producer) or kind.made not in inf.suspended:
        raise Refused("a context manager that is not known")
    inf.assumptions.called.append((operand, kind))
    return kind.made


def _rest(inf: Inference, block: Block, params: list[Variable]) -> Block:
    """What is behind the statement at hand, which is taken out of its block."""
    rest = Block(params, block.statements[inf.index + 1 :], block.terminator, block.handler)
    del block.statements[inf.index :]
    return rest


def _enter(inf: Inference, block: Block, rest: Block, made: Statement, body: list[Block], s: Statement) -> None:
    inf._admit(Body(body, [], []), made.data.chain, made.data.globals, block)
    block.terminator = Terminator("jump", [], [Edge(body[0])], s.position)
    inf.add(block, rest)
    inf.pending.place_after(rest, block)
    inf.ends.leave(block)
