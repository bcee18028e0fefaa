"""A run as the text of one function: its values, and one node for each number that is used behind.

The partial derivatives of such a number are found by a sweep over the statements that made it (Griewank and Walther,
*Evaluating Derivatives*, section 10: preaccumulation), down to inputs, to what was loaded, and to other such numbers.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.semantics.fusing.derived import ONE, Names, assigned, pulled, use_of_rule
from autodiff_hook.semantics.fusing.loading import Loading, Types
from autodiff_hook.semantics.fusing.observed import COMPARED, NUMBERS, SIZED, Observed, Unfit
from autodiff_hook.semantics.fusing.tree import Assign, If, Leave, Node
from autodiff_hook.semantics.operations import BINARY, UNARY
from autodiff_hook.transform.generic.runs import Run
from autodiff_hook.transform.specialise.templates import Instance

_EXTREMES: Final = {max: ">", min: "<"}
FLOAT: Final = frozenset({float})


class Writer(Loading):
    """Writes the nodes of one function."""

    def __init__(self, run: Run, seen: Observed, names: Names, missed: str) -> None:
        super().__init__(seen, names, missed)
        self.run = run
        self.steps = list(run.statements)
        self.sources: dict[Operand, bool] = {}
        """Whether a number that the sweeps end at surely has a token; those that have none are not here."""
        self.instances: dict[Statement, Instance] = {}
        self.choices: dict[Statement, str] = {}
        self.moving: set[Operand] = set()

    def facts(self) -> tuple[dict[Operand, Any], ...]:
        """What is known of what was loaded."""
        return *super().facts(), self.sources

    def moves(self, operand: Operand) -> bool:
        """Whether a number may have a token."""
        if operand in self.moving or operand in self.sources:
            return True
        token = self.tokens.get(operand)
        if token is None or token == "None":
            return False
        assert isinstance(operand, Variable)
        seen = self.seen.moved[operand]
        if seen != {True}:
            if seen == {False}:
                self.guard(f"{token} is not None", token)
                self.tokens[operand] = "None"
                return False
        else:
            self.guard(f"{token} is None", token)
        if int in self.seen.types[operand]:
            # What is made of an unknown whole number (a hash) is unknown, whatever its partial derivative.
            name = self.names.of(operand)
            self.leave(f"{token} is not None and type({name}) is int and alg.is_unknown({token})", token, name)
        self.sources[operand] = seen == {True}
        return True

    def step(self, s: Statement) -> None:
        """Write one statement."""
        if self.load(s):
            return
        if s.op == "call":
            self._call(s)
        elif s.op == "compare":
            for operand in s.operands:
                self.require(s, operand, COMPARED)
            self._primal(s, frozenset({bool}))
        elif s.op != "global":
            self._operation(s)

    def _primal(self, s: Statement, types: Types) -> None:
        self.nodes += assigned(self.names, Statement(_SHOWN.get(s.op, s.op), s.operands, s.result, s.data), keep=True)
        self.types[s.made] = types

    def _operation(self, s: Statement) -> None:
        types = [self.require(s, x, NUMBERS) for x in s.operands]
        function = UNARY[s.data] if s.op == "unary" else BINARY[s.data]
        self._by_rule(s, function, list(s.operands), types)
        result = _result_types(s, types)
        if result is None:
            self.require(s, s.made, NUMBERS)
        else:
            self.types[s.made] = result

    def _by_rule(self, s: Statement, function: Any, arguments: list[Operand], types: list[Types]) -> None:
        """What the rule of a function says, which is one of those that are tested."""
        rules = {registry.rule(function, combination) for combination in product(*types)}
        rule = rules.pop()
        if rules or id(rule) not in registry.tested:
            raise Unfit(s)
        instance = use_of_rule(rule, arguments)
        if instance is None:
            raise Unfit(s)
        for statement in instance.statements:
            self.nodes += assigned(self.names, statement, keep=True)
        self.names.known[s.made] = self.names.of(instance.value)
        self.instances[s] = instance
        if any([self.moves(x) for x in arguments]):
            self.moving.add(s.made)

    def _call(self, s: Statement) -> None:
        callee, *arguments = s.operands
        function: Any = callee.value if isinstance(callee, Constant) else self.seen.functions[s]
        if isinstance(callee, Variable):
            name = self.names.of(callee)
            self.guard(f"{name} is not {self.names.object(function)}", name)
        if function is len:
            for x in arguments:
                self.only(s, x, SIZED)
            self._primal(Statement("call", [Constant(function), *arguments], s.made, ()), frozenset({int}))
            return
        types = [self.require(s, x, NUMBERS) for x in arguments]
        if function in _EXTREMES:
            self._extreme(s, function, arguments, types)
            return
        if registry.is_constant(function):
            for x in arguments:
                self.moves(x)
            self._primal(Statement("call", [Constant(function), *arguments], s.made, ()), frozenset())
            del self.types[s.made]
            return
        self._by_rule(s, function, arguments, types)
        if function.__module__ == "math" or function is float:
            self.types[s.made] = FLOAT
        elif function is abs:
            self.types[s.made] = types[0]

    def _extreme(self, s: Statement, function: Any, arguments: list[Operand], types: list[Types]) -> None:
        """``max`` or ``min`` of some numbers: the first of equal ones is chosen."""
        rules = {registry.rule(function, combination) for combination in product(*types)}
        if len(arguments) < 2 or len(rules) > 1 or id(rules.pop()) not in registry.tested:
            raise Unfit(s)
        names = self.names
        value, choice = names.name(s.result), self.names.new("i")
        self.assign(value, names.of(arguments[0]), *names.used(arguments[0]), keep=True)
        self.assign(choice, "0")
        for place, x in enumerate(arguments[1:], 1):
            chosen: list[Node] = [
                Assign(value, names.of(x), names.used(x), True),
                Assign(choice, str(place), frozenset()),
            ]
            test = f"{names.of(x)} {_EXTREMES[function]} {value}"
            self.nodes.append(If(test, names.used(x) | {value}, chosen, []))
        self.choices[s] = choice
        self.types[s.made] = frozenset().union(*types)
        if any([self.moves(x) for x in arguments]):
            self.moving.add(s.made)

    def token(self, variable: Variable) -> str:
        """The token of what is used behind."""
        return self.tokens.get(variable, "None")

    def node(self, variable: Variable) -> None:
        """The token of a number that is used behind."""
        before, self.nodes = self.nodes, []
        partials = self._partials(variable)
        inside, self.nodes = self.nodes, before
        token = self.tokens[variable] = self.names.new("t")
        if not partials:
            self.tokens[variable] = "None"
            return
        tokens = [self.tokens[x] for x, _ in partials]
        texts = [text for _, text in partials]
        if texts == [ONE]:
            self.tokens[variable] = tokens[0]
            self.sources[variable] = self.sources[partials[0][0]]
            return
        computed = [text for text in texts if text.isidentifier()]
        if computed:
            # What is infinite or too large is multiplied step by step, in the order of the sweep.
            inside.append(Leave(f"not ({' + '.join(computed)}) * 0.0 == 0.0", "None", frozenset(computed)))
        text = f"numbers({tuple_of(texts)}, {tuple_of(tokens)})"
        inside.append(Assign(token, text, frozenset([*texts, *tokens])))
        sure = any(self.sources[x] for x, _ in partials)
        if sure:
            self.nodes += inside
        else:
            test = " and ".join(f"{t} is None" for t in tokens)
            none: list[Node] = [Assign(token, "None", frozenset())]
            self.nodes.append(If(test, frozenset(tokens), none, inside))
        self.sources[variable] = sure

    def _partials(self, variable: Variable) -> list[tuple[Operand, str]]:
        """By what a number is differentiated, and the partial derivatives."""
        sums: dict[Operand | None, str] = {variable: ONE}
        for s in reversed(self.steps):
            is_end = s.result in self.sources or s not in self.instances and s not in self.choices
            if is_end or s.result not in sums:
                continue
            adjoint = sums.pop(s.result)
            arguments = s.arguments
            for x, text in zip(arguments, self._cotangents(s, adjoint, len(arguments))):
                if text is not None and self.moves(x):
                    sums[x] = text if x not in sums else self._sum(sums[x], text)
        return [(x, text) for x, text in sums.items() if x is not None]

    def _sum(self, first: str, second: str) -> str:
        return self.assign(self.names.new("a"), f"{first} + {second}", first, second)

    def _cotangents(self, s: Statement, adjoint: str, count: int) -> list[str | None]:
        choice = self.choices.get(s)
        if choice is None:
            nodes, given = pulled(self.names, self.instances[s], adjoint)
            self.nodes += nodes
            return given
        return [
            self.assign(self.names.new("a"), f"{adjoint} if {choice} == {place} else 0.0", adjoint, choice)
            for place in range(count)
        ]


_SHOWN: Final = {"inplace": "binary"}


def tuple_of(texts: list[str]) -> str:
    """The text of a tuple."""
    return f"({', '.join(texts)},)"


def _result_types(s: Statement, types: list[Types]) -> Types | None:
    """The types of the result of an operation with numbers; None if that depends on their values."""
    if s.op == "unary":
        return types[0]
    if s.data == "/":
        return FLOAT
    if s.data == "**":
        return FLOAT if types == [FLOAT, frozenset({int})] else None
    if FLOAT in types:
        return FLOAT
    return NUMBERS if float in types[0] | types[1] else frozenset({int})
