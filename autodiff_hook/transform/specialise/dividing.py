"""Objects that are of one of several classes: where their classes differ, there is a way for each of them."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Args, Block, Constant, Edge, Kwargs, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, Mixed
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.families import TAG, tag_of
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import Objects, built_class, built_classes, codes_in
from autodiff_hook.transform.specialise.refining import Test


def is_of_several(value: Abstract) -> bool:
    """Whether a value is an object of which the class is not known."""
    return isinstance(value, Mixed) or built_class(value) is Objects


def tested(inf: Inference, s: Statement, operand: Operand, classes: list[type]) -> Abstract:
    """Whether an object is of one of these classes of its family."""
    s.op, s.operands, s.data = "in", [_tag(inf, s, operand), Constant(frozenset(map(tag_of, classes)))], None
    return inf.evaluate(inf, s)  # type: ignore[return-value]


def _tag(inf: Inference, s: Statement, operand: Operand) -> Operand:
    return inf.before(s, "getattr", [operand], TAG)


def divide(inf: Inference, s: Statement) -> bool:
    """Whether there is a way for each class of an object now, as the statement depends on it."""
    for place in DIVIDING.get(s.op, ()):
        if place < len(s.operands) and is_of_several(inf.type_of(s.operands[place])):
            divided(inf, s, s.operands[place])
            return True
    return False


DIVIDING: Final = {
    **dict.fromkeys(("binary", "inplace", "compare"), (0, 1)),
    **dict.fromkeys(
        ("unary", "getitem", "setitem", "delitem", "truth", "not", "get_iter", "unpack", "call", "call_ex"), (0,)
    ),
    **dict.fromkeys(("in", "not_in"), (1,)),
}
"""The operations whose meaning the classes of operands say, and the places of these."""


def divided(inf: Inference, s: Statement, operand: Operand) -> Abstract | None:
    """Let the statement stand twice: where the object is of the class that is derived most, and where it is not."""
    classes = built_classes(inf.type_of(operand))
    cls = max(classes, key=lambda each: (len(each.__mro__), tag_of(each)))
    if isinstance(inf.type_of(operand), Mixed):
        test = inf.before(s, "is", [inf.before(s, "call", [Constant(type), operand], ()), Constant(cls)])
    else:
        test = inf.before(s, "compare", [_tag(inf, s, operand), Constant(tag_of(cls))], "==")
    _fork(inf, s, operand, test, "class", cls)
    return None


def called(inf: Inference, s: Statement, function: Operand, args: Args, kwargs: Kwargs) -> None:
    """A call of one of several functions or objects: the same, where it is the first of them, and where it is not."""
    s.op, s.operands, s.data = "call", [function, *args, *kwargs.values()], tuple(kwargs)
    if is_of_several(inf.type_of(function)):
        divided(inf, s, function)
    else:
        by_code(inf, s, function)


def by_code(inf: Inference, s: Statement, operand: Operand) -> None:
    """The same of another statement that depends on which of several functions or classes a value is."""
    first = codes_in(inf.type_of(operand))[0]
    _fork(inf, s, operand, inf.before(s, "is", [operand, Constant(first)]), "one", first)


def _fork(inf: Inference, s: Statement, operand: Operand, test: Operand, kind: str, asked: Any) -> None:
    block, index = inf.block, inf.index
    if not isinstance(operand, Variable) or s.operands.count(operand) != 1:
        raise Refused("what depends on which of several values it is")
    result = s.result if s.result is not None else Variable("nothing")
    rest = Block([result], block.statements[index + 1 :], block.terminator, block.handler)
    ways = []
    for holds in (True, False):
        name = Variable(operand.name)
        inf.tests[name] = Test(kind, operand, holds, Constant(asked))
        ways.append(_way(s, operand, name, rest, block))
    del block.statements[index:]
    block.terminator = Terminator("branch", [test], [Edge(way, [operand]) for way in ways], s.position)
    inf.add(block, rest, *ways)
    inf.pending.place(ways, block)
    inf.pending.place_after(rest, block)
    inf.ends.leave(block)


def _way(s: Statement, operand: Variable, name: Variable, rest: Block, block: Block) -> Block:
    """A block with a copy of the statement, in which what it depends on has a name of its own."""
    operands: list[Operand] = [name if x is operand else x for x in s.operands]
    result = None if s.result is None else Variable(s.result.name)
    copy = Statement(s.op, operands, result, s.data, s.position)
    end = Terminator("jump", [], [Edge(rest, [Constant(None) if result is None else result])], s.position)
    return Block([name], [copy], end, block.handler)
