from __future__ import annotations

import pytest

from autodiff_hook.ir.types import IR, Block, Constant, Edge, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import VerificationError, verify


def ir_of(*blocks: Block) -> IR:
    names = tuple(f"p{i}" for i in range(len(blocks[0].params)))
    return IR("f", Signature(names, len(names)), blocks=list(blocks))


def returning(value: Variable | Constant = Constant(None)) -> Terminator:  # noqa: B008
    return Terminator("return", [value])


def refused(message: str, *blocks: Block) -> None:
    with pytest.raises(VerificationError, match=message):
        verify(ir_of(*blocks))


def test_accepts() -> None:
    x, y = Variable(), Variable()
    verify(ir_of(Block([x], [Statement("unary", [x], y, "-")], returning(y))))


def test_terminators() -> None:
    refused("no terminator", Block())
    refused("return with 0 operands", Block([], [], Terminator("return")))
    refused("jump with 0 edges", Block([], [], Terminator("jump")))


def test_edges() -> None:
    x = Variable()
    target = Block([x], [], returning(x))
    refused("0 arguments for 1", Block([], [], Terminator("jump", [], [Edge(target)])), target)
    refused("out of the function", Block([], [], Terminator("jump", [], [Edge(target, [Constant(1)])])))
    entry = Block()
    entry.terminator = Terminator("jump", [], [Edge(entry)])
    refused("to the entry", entry)
    both = [Edge(target, [Constant(1)]), Edge(target, [Constant(2)])]
    refused("two edges to one block", Block([], [], Terminator("branch", [Constant(True)], both)), target)


def test_received_parameters() -> None:
    item, other = Variable(), Variable()
    iterator = Variable()
    body, done = Block([item], [], returning(item)), Block([], [], returning())
    verify(ir_of(Block([iterator], [], Terminator("next", [iterator], [Edge(body), Edge(done)])), body, done))
    wrong = Block([other], [], returning())
    entry = Block([iterator], [], Terminator("next", [iterator], [Edge(body), Edge(wrong)]))
    refused("0 arguments for 1", entry, body, wrong)


def test_dominance() -> None:
    c, x = Variable(), Variable()
    join = Block([], [], returning(x))
    one = Block([], [Statement("build_tuple", [], x)], Terminator("jump", [], [Edge(join)]))
    entry = Block([c], [], Terminator("branch", [c], [Edge(one), Edge(join)]))
    refused("may not be assigned yet", entry, one, join)
    refused("nothing assigns", Block([], [], returning(Variable())))
    y = Variable()
    refused(
        "may not be assigned yet", Block([], [Statement("unary", [y], x, "-"), Statement("truth", [x], y)], returning())
    )


def test_single_assignment() -> None:
    x = Variable()
    refused("assigned twice", Block([x], [Statement("truth", [x], x)], returning()))


def test_handlers() -> None:
    x, y, z, error, lasti = (Variable() for _ in range(5))
    handler = Block([error, lasti], [], Terminator("reraise", [error, lasti]))
    last = Block([], [], returning(y))
    calls = [Statement("call", [x], y), Statement("call", [x], z)]
    jump = Terminator("jump", [], [Edge(last)])
    refused("not its last statement", Block([x], calls, jump, Edge(handler)), last, handler)
    verify(ir_of(Block([x], calls[:1], jump, Edge(handler)), last, handler))
    raising = Terminator("raise", [x])
    refused("not its last statement", Block([x], calls[:1], raising, Edge(handler)), handler)
    handler.params.append(Variable())
    refused("may not be assigned yet", Block([x], calls[:1], jump, Edge(handler, [y])), last, handler)


def test_unknown_operation() -> None:
    refused("unknown operation", Block([], [Statement("frobnicate", [])], returning()))
