"""Cotangents as Python's floats, where they would be NumPy's only for where they come from.

What is read out of an array, or multiplied by a scalar of NumPy's, is one; so is all that follows, at three times the
cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import predecessors
from autodiff_hook.ir.types import IR, Constant, Edge, Operand, Statement, Variable
from autodiff_hook.transform.improve.facts import NumberFact, is_number
from autodiff_hook.transform.improve.site import Site
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Number

PLAIN: Final = "plain"
"""The mark of functions that compute with the numbers they are given, and are faster with Python's."""
_PLAIN: Final = frozenset({float, int})
_WHOLE_OR_DOUBLE: Final = "d?" + np.typecodes["AllInteger"]
_OTHERS: Final = frozenset({np.float16, np.float32, np.longdouble})
_FLOAT: Final = NumberFact(frozenset({float}))
_ARITHMETIC: Final = {"binary": ("+", "-", "*", "/"), "inplace": ("+", "-", "*", "/"), "unary": ("-",)}
_TAKING: Final = frozenset({"binary", "inplace", "unary", "compare", "call", "list_append", "build_tuple"})
"""What takes either kind of float."""


def make_plain(ir: IR, site: Site, adjoint: set[Statement]) -> bool:
    """Convert cotangents where they become NumPy's, so that the arithmetic that follows is Python's; whether any were.

    Not beside numbers of other precisions, which Python's take on (NEP 50).
    """
    return all(map(_is_double, site.types.values())) and _Plain(ir, site, adjoint).run()


def _is_double(value: Abstract) -> bool:
    """Whether a value is no number and no array, or of doubles or whole numbers."""
    if isinstance(value, Array):
        return value.dtype is not None and value.dtype.char in _WHOLE_OR_DOUBLE
    return not isinstance(value, Number) or value.types.isdisjoint(_OTHERS)


class _Plain:
    def __init__(self, ir: IR, site: Site, adjoint: set[Statement]) -> None:
        self.ir, self.site, self.adjoint = ir, site, adjoint
        self.sources: dict[Variable, list[Operand]] = {}
        """What a value that may become plain is made of: what it comes from, or the operands of its arithmetic."""
        self.made: dict[Variable, Statement] = {}
        self.params: dict[Variable, list[tuple[Edge, int]]] = {}
        self.kept: set[Variable] = set()
        """What is used where it matters of which kind it is."""
        self.targets: dict[Variable, set[Variable]] = {}
        """The parameters that a value is passed to."""

    def run(self) -> bool:
        self._statements()
        self._parameters()
        plain = self._plain()
        used: dict[Operand, Operand] = {}
        for variable in plain:
            self.site.facts[variable] = _FLOAT
            for operand in self.sources[variable]:
                if isinstance(operand, Variable) and operand not in plain and not self._is_float(operand):
                    used[operand] = Variable("plain")
        for variable in plain & self.made.keys():
            s = self.made[variable]
            s.operands = [used.get(x, x) for x in s.operands]
        for variable in plain & self.params.keys():
            for edge, place in self.params[variable]:
                edge.args[place] = used.get(edge.args[place], edge.args[place])
        return self._convert(used)

    def _statements(self) -> None:
        for block in self.ir.blocks:
            for s in block.statements:
                # What iterations leave may be absent where another way was taken.
                if s.result is not None and s.op != "recall" and s in self.adjoint and self._is_doubled(s.result):
                    self.made[s.result] = s
                    if s.data in _ARITHMETIC.get(s.op, ()):
                        self.sources[s.result] = s.operands
                self.kept.update(_kept(s, s in self.adjoint))
            self.kept |= {x for x in block.terminator.operands if isinstance(x, Variable)}

    def _parameters(self) -> None:
        for block, edges in predecessors(self.ir).items():
            count = max((len(block.params) - len(edge.args) for _, edge in edges), default=len(block.params))
            for i, param in enumerate(block.params[count:]):
                places = [(edge, i + count - len(block.params)) for _, edge in edges]
                args = [edge.args[place] for edge, place in places]
                for x in args:
                    if isinstance(x, Variable):
                        self.targets.setdefault(x, set()).add(param)
                if self.site.inferred(param) is None and self._is_doubled(param):
                    self.params[param], self.sources[param] = places, args

    def _plain(self) -> set[Variable]:
        """The values that become plain."""
        plain = self.sources.keys() - self.kept
        while True:
            lost = {x for x in plain if not self._may_be_plain(x, plain)}
            if not lost:
                return plain
            plain -= lost

    def _may_be_plain(self, variable: Variable, plain: set[Variable]) -> bool:
        sources = [x for x in self.sources[variable] if not (x in plain or self._is_float(x))]
        if any(x not in self.made for x in sources) or not self.targets.get(variable, set()) <= plain:
            return False
        # Two conversions cost more than one operation.
        return variable in self.params or len(sources) < 2

    def _is_float(self, operand: Operand) -> bool:
        fact = self.site.fact(operand)
        return isinstance(fact, NumberFact) and fact.types <= _PLAIN

    def _is_doubled(self, variable: Variable) -> bool:
        fact = self.site.facts.get(variable)
        return is_number(fact) and np.float64 in fact.types

    def _convert(self, used: dict[Operand, Operand]) -> bool:
        before = len(self.adjoint)
        for block in self.ir.blocks:
            statements, block.statements = block.statements, []
            for s in statements:
                if _is_faster(s.callee):
                    s.operands[1:] = [self._converted(x, s, block.statements) for x in s.operands[1:]]
                block.statements.append(s)
                found = used.get(s.made) if s.result is not None else None
                if isinstance(found, Variable):
                    block.statements.append(self._conversion(s.made, found, s))
        return len(self.adjoint) > before

    def _converted(self, operand: Operand, s: Statement, out: list[Statement]) -> Operand:
        if not isinstance(operand, Variable) or not self._is_doubled(operand):
            return operand
        out.append(self._conversion(operand, Variable("plain"), s))
        return out[-1].made

    def _conversion(self, operand: Operand, result: Variable, s: Statement) -> Statement:
        self.site.facts[result] = _FLOAT
        made = Statement("call", [Constant(float), operand], result, (), s.position)
        if s.op == "getitem" and operand == s.result:
            made = Statement("call_method", [*s.operands], result, ("item", ()), s.position)
        self.adjoint.add(made)
        return made


def _is_faster(function: Any) -> bool:
    return type(function) is FunctionType and PLAIN in function.__dict__


def _kept(s: Statement, derivative: bool) -> Iterator[Variable]:
    operands: Iterable[Operand] = s.operands
    if derivative and s.op in _TAKING:
        return
    if derivative and s.op == "setitem":
        operands = s.operands[:2]
    yield from (x for x in operands if isinstance(x, Variable))
