"""Rules as text: what they compute, and the cotangents that their pullbacks give."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable, is_nothing
from autodiff_hook.semantics.fusing.tree import Assign, If, Node
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.pullbacks import bind_pullback, pullback_body, results_of
from autodiff_hook.transform.specialise.templates import Instance, instance_of

ONE: Final = "1.0"
_INFIX: Final = frozenset({"binary", "compare"})
_TESTS: Final = {"is": "is", "is_not": "is not"}


class Names:
    """The names of values in a text, and the objects that it refers to."""

    def __init__(self, numbers: Iterator[int], globals_: dict[str, Any]) -> None:
        self.known: dict[Operand, str] = {}
        self._numbers, self._globals = numbers, globals_
        self._objects: dict[int, str] = {}

    def new(self, letter: str) -> str:
        """A name that nothing has."""
        return f"{letter}{next(self._numbers)}"

    def name(self, variable: Variable | None, letter: str = "x") -> str:
        """A new name for a variable."""
        assert variable is not None
        self.known[variable] = self.new(letter)
        return self.known[variable]

    def of(self, operand: Operand) -> str:
        """The text of an operand."""
        return self.object(operand.value) if isinstance(operand, Constant) else self.known[operand]

    def object(self, value: Any) -> str:
        """The text of an object: a literal, or a global of the function."""
        cls = type(value)
        if cls is float and math.isfinite(value) or cls in (int, bool, str) or value is None:
            text = repr(value)
            return f"({text})" if text.startswith("-") else text
        name = self._objects.get(id(value))
        if name is None:
            name = self._objects[id(value)] = self.new("c")
            self._globals[name] = value
        return name

    def used(self, *operands: Operand) -> frozenset[str]:
        """The names of the variables among some operands."""
        return frozenset([self.known[x] for x in operands if isinstance(x, Variable)])


def use_of_rule(rule: Any, arguments: list[Operand]) -> Instance | None:
    """A use of a rule of a fixed number of arguments; None if it is not straight code."""
    if type(rule) is not FunctionType or rule.__code__.co_argcount != len(arguments) or _takes_more(rule):
        return None
    instance = instance_of(rule)
    if instance is None or pullback_body(instance) is None:
        return None
    return instance.again(dict(zip(instance.params, arguments)))


def _takes_more(rule: FunctionType) -> bool:
    code = rule.__code__
    return bool(code.co_kwonlyargcount or code.co_flags & 12)


def assigned(names: Names, s: Statement, keep: bool = False) -> list[Node]:
    """A statement of a rule as text; one to ``keep`` is of the program, where 1.0 makes a float of a whole number."""
    operands = s.operands
    if s.op == "binary" and s.data == "*" and not keep:
        # The factor one is the cotangent of what the run gives.
        for one, other in (operands, operands[::-1]):
            if names.of(one) == ONE:
                names.known[s.made] = names.of(other)
                return []
    text, uses = _text(names, s), names.used(*operands)
    return [Assign(names.name(s.result), text, uses, keep)]


def _text(names: Names, s: Statement) -> str:
    texts = list(map(names.of, s.operands))
    if s.op in _INFIX:
        return f"{texts[0]} {s.data} {texts[1]}"
    if s.op in _TESTS:
        return f"{texts[0]} {_TESTS[s.op]} {texts[1]}"
    if s.op == "unary":
        return f"{s.data}{texts[0]}"
    if s.op in ("not", "truth"):
        return f"{'not' if s.op == 'not' else 'not not'} {texts[0]}"
    if s.op == "call" and s.data == ():
        return f"{texts[0]}({', '.join(texts[1:])})"
    raise Refused(f"{s.op} in a rule", s)


def pulled(names: Names, instance: Instance, cotangent: str) -> tuple[list[Node], list[str | None]]:
    """The pullback of one use of a rule for a cotangent: the texts of what it gives, None for zero."""
    body = pullback_body(instance)
    assert body is not None
    given: Operand = Constant(1.0)
    if cotangent != ONE:
        given = Variable()
        names.known[given] = cotangent
    bind_pullback(body, instance.captured, given)
    returns = {b: results_of(b) for b in body.blocks if b.terminator.kind == "return"}
    if len(body.blocks) == 1:
        (block,) = body.blocks
        nodes = [node for s in block.statements for node in assigned(names, s)]
        return nodes, [None if is_nothing(x) else names.of(x) for x in returns[block]]
    columns = list(zip(*returns.values()))
    targets = [None if all(is_nothing(x) for x in column) else names.new("p") for column in columns]
    return _Branches(names, returns, targets).nodes(body.blocks[0], ()), targets


class _Branches:
    """Blocks without loops as nested branches; what follows a join is written behind each way to it."""

    def __init__(self, names: Names, returns: dict[Block, list[Operand]], targets: list[str | None]) -> None:
        self.names, self.returns, self.targets = names, returns, targets

    def nodes(self, block: Block, before: tuple[Block, ...]) -> list[Node]:
        if block in before:
            raise Refused("a loop in a pullback")
        names, terminator = self.names, block.terminator
        found = [node for s in block.statements for node in assigned(names, s)]
        if terminator.kind == "return":
            for target, operand in zip(self.targets, self.returns[block]):
                if target is not None:
                    found.append(Assign(target, names.of(operand), names.used(operand)))
            return found
        ways: list[list[Node]] = []
        for edge in terminator.edges:
            # A join is written behind each of its ways, under the same names.
            passed: list[Node] = []
            for param, arg in zip(edge.target.params, edge.args):
                text, uses = names.of(arg), names.used(arg)
                passed.append(Assign(names.known.get(param) or names.name(param), text, uses))
            ways.append(passed + self.nodes(edge.target, (*before, block)))
        if len(ways) == 1:
            return found + ways[0]
        test = terminator.operands[0]
        return [*found, If(names.of(test), names.used(test), *ways)]
