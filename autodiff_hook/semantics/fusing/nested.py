"""Runs one level up: what they compute there is part of the run, and is differentiated below.

Forward, a number has a tangent, which is a number as well: the sum of partial derivatives times tangents. In reverse,
its node has the partial derivatives, which are numbers, too. Either is computed by statements that are added to the
run; so they have nodes below by the same sweep.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from autodiff_hook.algebras.levels import Pair
from autodiff_hook.ir.analysis import closure
from autodiff_hook.ir.substituting import resolve
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.semantics.fusing.derived import Names, assigned
from autodiff_hook.semantics.fusing.loading import Types
from autodiff_hook.semantics.fusing.observed import Observed, Unfit
from autodiff_hook.semantics.fusing.writing import FLOAT, Writer, tuple_of
from autodiff_hook.transform.generic.runs import Run, is_pure
from autodiff_hook.transform.specialise.bodies import Body
from autodiff_hook.transform.specialise.pullbacks import bind_pullback, pullback_body, results_of
from autodiff_hook.transform.specialise.templates import Instance

Partials = list[tuple[Operand, Operand]]
"""By what a number is differentiated, and the partial derivatives."""
_ONE: Final = Constant(1.0)
_COMPUTING: Final = frozenset({"binary", "unary", "call"})
_TESTING: Final = frozenset({"compare", "truth", "not"})


class NestedWriter(Writer):
    """Writes a run for an algebra over another one."""

    def __init__(self, run: Run, seen: Observed, names: Names, missed: str, moving: Any) -> None:
        super().__init__(run, seen, names, missed)
        self.moving_type = moving
        """The type of tangents with tokens; None for reverse mode."""
        self.whole: dict[Operand, str] = {}
        """The tokens of both levels; those of the level below are ``tokens``."""
        self.owns: dict[Operand, str] = {}
        self.tangents: dict[Operand, Operand] = {}
        self.same: dict[Operand, Variable] = {}
        """What the value of a rule is called in the run."""

    def moves(self, operand: Operand) -> bool:
        """Whether a number may have a token; those of what is given are taken apart."""
        if operand in self.sources or not super().moves(operand):
            return operand in self.sources
        if operand in self.moving:
            return True
        names, token, pair = self.names, self.tokens[operand], self.names.object(Pair)
        own, below = names.new("o"), names.new("b")
        self.leave(f"type({token}) is {pair} and {token}.level is not alg", token)
        self.assign(own, f"{token}.own if type({token}) is {pair} else None", token)
        self.assign(below, f"{token}.over if type({token}) is {pair} else {token}", token)
        self.whole[operand], self.tokens[operand], self.owns[operand] = token, below, own
        self.sources[operand] = False
        if self.moving_type is not None:
            tangent, inner = Variable(), names.new("b")
            name = self.assign(names.name(tangent, "d"), f"0.0 if {own} is None else {own}.value", own)
            self.assign(inner, f"None if {own} is None else {own}.tokens", own)
            self.leave(f"type({name}) is not float", name)
            self.tangents[operand], self.tokens[tangent], self.types[tangent] = tangent, inner, FLOAT
            self.sources[tangent] = False
        return True

    def facts(self) -> tuple[dict[Operand, Any], ...]:
        """What is known of what was loaded."""
        return *super().facts(), self.whole, self.owns, self.tangents

    def token(self, variable: Variable) -> str:
        """The token of what is used behind."""
        return self.whole.get(variable) or super().token(variable)

    def _by_rule(self, s: Statement, function: Any, arguments: list[Operand], types: list[Types]) -> None:
        super()._by_rule(s, function, arguments, types)
        self.same[self.instances[s].value] = s.made

    def node(self, variable: Variable) -> None:
        """The token of a number that is used behind, for both levels."""
        partials = self._gradient(variable)
        if not partials:
            self.tokens[variable] = "None"
            return
        owns = [self.owns[x] for x, _ in partials]
        made, uses = (
            self._forward(variable, partials) if self.moving_type is not None else self._reverse(partials, owns)
        )
        below, own = self._below(variable), self.names.new("o")
        self.sources[variable] = False
        self.owns[variable] = own
        still = " and ".join([f"{name} is None" for name in owns])
        self.assign(own, f"None if {still} else {made}", *owns, *uses)
        pair = f"{self.names.object(Pair)}(alg, {own}, {below})"
        self.whole[variable] = self.assign(self.names.new("t"), f"{below} if {own} is None else {pair}", own, below)

    def _forward(self, variable: Variable, partials: Partials) -> tuple[str, list[str]]:
        """The tangent of a number, with its token, and what that is made of."""
        tangent = self.tangents[variable] = self._tangent(partials)
        parts = [self.names.of(tangent), self._below(tangent)]
        return f"{self.names.object(self.moving_type)}({', '.join(parts)})", parts

    def _reverse(self, partials: Partials, owns: list[str]) -> tuple[str, list[str]]:
        """The node of a number, and what it is made of."""
        values, tokens = [self.names.of(p) for _, p in partials], [self._below(p) for _, p in partials]
        pairs = tuple_of([f"({value}, {token})" for value, token in zip(values, tokens)])
        return f"alg.linear({pairs}, {tuple_of(owns)})", [*values, *tokens]

    def _below(self, operand: Operand) -> str:
        """The token of a number below."""
        if operand in self.moving and operand not in self.sources and operand not in self.tokens:
            assert isinstance(operand, Variable)
            super().node(operand)
        return self.tokens.get(operand, "None")

    def _tangent(self, partials: Partials) -> Operand:
        total: Operand | None = None
        for x, partial in partials:
            part = self._computed("binary", "*", partial, self.tangents[x])
            total = part if total is None else self._computed("binary", "+", total, part)
        assert total is not None
        return total

    def _computed(self, op: str, data: Any, *operands: Operand) -> Operand:
        """One statement more."""
        if op == "binary" and data == "*":
            for one, other in (operands, operands[::-1]):
                if isinstance(one, Constant) and type(one.value) is float and one.value == 1.0:
                    return other
        statement = Statement(op, list(operands), Variable(), data)
        self.step(statement)
        self.steps.append(statement)
        return statement.made

    def _gradient(self, variable: Variable) -> Partials:
        """By what a number is differentiated, and the partial derivatives."""
        sums: dict[Operand | None, Operand] = {variable: _ONE}
        for s in reversed(self.run.statements):
            if s.result not in sums or s.result in self.sources:
                continue
            if s in self.choices:
                raise Unfit(s)
            if s not in self.instances:
                continue
            adjoint = sums.pop(s.result)
            arguments = s.arguments
            wanted = [self.moves(x) for x in arguments]
            for x, partial in zip(arguments, self._pulled(s, self.instances[s], adjoint, wanted)):
                if partial is not None:
                    sums[x] = partial if x not in sums else self._computed("binary", "+", sums[x], partial)
        return [(x, partial) for x, partial in sums.items() if x is not None]

    def _pulled(self, s: Statement, instance: Instance, adjoint: Operand, wanted: list[bool]) -> list[Operand | None]:
        """The pullback of a statement as statements, on the way where its tests are true."""
        body = pullback_body(instance)
        assert body is not None
        known = {*s.operands, s.result}
        if any(isinstance(x, Variable) and self.same.get(x, x) not in known for x in instance.captured):
            raise Unfit(s)
        bind_pullback(body, [self.same.get(x, x) for x in instance.captured], adjoint)
        way = _Way(s, body)
        results = [x if want else None for x, want in zip(way.results, wanted, strict=True)]
        for statement in way.needed([x for x in results if x is not None]):
            operands = [resolve(x, way.known) for x in statement.operands]
            if statement.op in _COMPUTING:
                way.known[statement.made] = self._computed(statement.op, statement.data, *operands)
            else:
                copy = Statement(statement.op, operands, statement.made, statement.data)
                self.nodes += assigned(self.names, copy)
            if statement.made in way.tests:
                name = self.names.of(statement.made)
                self.leave(f"not {name}", name)
        found = [None if x is None else resolve(x, way.known) for x in results]
        return [None if isinstance(x, Constant) and x.value in (None, 0.0) else x for x in found]


class _Way:
    """The statements of a pullback on the way where its tests are true."""

    def __init__(self, s: Statement, body: Body) -> None:
        self.statement = s
        returns = [b for b in body.blocks if b.terminator.kind == "return"]
        self.leads_elsewhere = len(returns) > 1
        """Whether other ways return on their own."""
        self.made: dict[Operand, Statement] = {}
        self.known: dict[Operand, Operand] = {}
        """What parameters of blocks are on this way, and what is computed of it."""
        self.tests: list[Operand] = []
        self.decided: set[Operand] = set()
        """What depends on tests."""
        self.results = self._follow(body.blocks[0], ())

    def _follow(self, block: Block, before: tuple[Block, ...]) -> list[Operand]:
        terminator = block.terminator
        if block in before:
            raise Unfit(self.statement)
        results = results_of(block) if terminator.kind == "return" else []
        for statement in block.statements:
            allowed = statement.op in _COMPUTING or statement.op in _TESTING
            if not allowed or statement.op == "call" and not is_pure(statement.callee):
                raise Unfit(self.statement)
            if statement.result is not None:
                self.made[statement.result] = statement
                if self.tests:
                    self.decided.add(statement.result)
        if terminator.kind == "return":
            return results
        edge = terminator.edges[0]
        if terminator.kind == "branch":
            self.tests.append(terminator.operands[0])
        self.known.update(zip(edge.target.params, edge.args))
        if self.tests:
            self.decided.update(edge.target.params)
        return self._follow(edge.target, (*before, block))

    def needed(self, wanted: list[Operand]) -> list[Statement]:
        """The statements that these results need, in order; with the tests, unless they come before those."""
        found = self._cone(wanted)
        if found.isdisjoint(self.decided) and not self.leads_elsewhere:
            self.tests = []
        else:
            if not self.made.keys() >= set(self.tests):
                raise Unfit(self.statement)
            found |= self._cone(self.tests)
        return [s for result, s in self.made.items() if result in found]

    def _cone(self, wanted: list[Operand]) -> set[Operand]:
        """All that some operands are made of."""

        def parts(operand: Operand) -> Iterable[Operand]:
            if operand in self.known:
                return (self.known[operand],)
            return self.made[operand].operands if operand in self.made else ()

        return set(closure(wanted, parts))
