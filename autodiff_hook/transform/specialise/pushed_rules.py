"""The tangents of what rules give, and where tangents are found.

The tangent of a number made of numbers is the sum of the partial derivatives, which the pullback has for the cotangent
one, times the tangents; where complex numbers take part, that of each of its real parts is. That of an array is made by
the forward forms of the function, where it has some; where it has none, by the transpose of the pullback.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import reduce
from inspect import signature
from typing import Any, Final, Literal

import numpy as np

from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable, is_nothing
from autodiff_hook.registry import LINEAR, Form, describe, registry
from autodiff_hook.strong import times
from autodiff_hook.transform.lazy import lazy
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, Number, Reference, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.joint_primal import NONE, ZERO, PrimalHalf
from autodiff_hook.transform.specialise.lattice import (
    content_of,
    differentiable,
    is_number_of,
    may_be_complex,
    number_types,
)
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.prepare import Shape
from autodiff_hook.transform.specialise.program import READ, Program, RulePlan
from autodiff_hook.transform.specialise.pullbacks import passes_on
from autodiff_hook.transform.specialise.splice import Use, called, splice, use_of
from autodiff_hook.transform.specialise.templates import body_of

Path = tuple[int, ...]
ONE: Final = Constant(1.0)
_Way = Literal["constant", "arithmetic", "partials", "diagonal", "halves", "forms", "transpose"]
_ARITHMETIC: Final[dict[Any, str]] = {
    **dict.fromkeys((operator.add, operator.iadd), "+"),
    **dict.fromkeys((operator.sub, operator.isub), "-"),
    **dict.fromkeys((operator.truediv, operator.itruediv), "/"),
}
_VARIADIC: Final = 4
"""The flag of code that takes any number of arguments by position."""


class Rules(PrimalHalf):
    """Finds tangents, and makes those of the results of rules."""

    def __init__(self, program: Program, shape: Shape, needs: set[Variable], runtime: Mapping[str, Any]) -> None:
        super().__init__(program, shape, needs, runtime, None)
        self.tangents: dict[tuple[Variable, Path], Operand] = {}
        self.moved: dict[Statement, list[tuple[int, Operand]]] = {}
        """The arguments of rules that have tangents, with their places."""
        self.ways: dict[Statement, _Way] = {}

    def _is_numbered(self, item: Abstract) -> bool:
        return True

    def _moving(self, variable: Variable) -> list[Path]:
        """The parts of a value that have tangents."""
        return [path for path in self._paths(variable) if _moves(self._type_at(variable, path))]

    def _tangent(self, operand: Operand, path: Path, out: Block) -> Operand:
        """The tangent of a part of a value."""
        found = self.tangents.get((operand, path)) if isinstance(operand, Variable) else None
        return self._zero(operand, path, out) if found is None else found

    def _kind_at(self, operand: Operand, path: Path) -> Abstract:
        kind = content_of(self.program.type_of(operand))
        for index in path:
            if isinstance(kind, Known):
                kind = Known(kind.value[index])
                continue
            assert isinstance(kind, Tuple)
            kind = content_of(kind.items[index])
        return kind

    def _zero(self, operand: Operand, path: Path, out: Block) -> Operand:
        """The tangent of what is constant."""
        kind = self._kind_at(operand, path)
        if number_types(kind) is not None:
            return ZERO
        if not _moves(kind):
            return NONE
        whole = operand if not path else self._part(operand, self.program.type_of(operand), path, out)
        blank = np.zeros_like if isinstance(kind, Array) else self.runtime["zero_tangent"]
        return self.builder.emit(out, "call", Constant(blank), whole, data=())

    def _whole(self, operand: Operand, path: Path, out: Block) -> Operand:
        """The tangent of a value in its form."""
        kind = self._kind_at(operand, path)
        if isinstance(kind, Known) and type(kind.value) is tuple:
            return self.builder.emit(out, "build_tuple", *[self._whole(Constant(x), (), out) for x in kind.value])
        if not isinstance(kind, Tuple):
            return self._tangent(operand, path, out)
        parts = [self._whole(operand, (*path, i), out) for i in range(len(kind.items))]
        if kind.cls is dict:
            named = [x for key, part in zip(kind.keys, parts) for x in (Constant(key), part)]
            return self.builder.emit(out, "build_map", *named)
        return self.builder.emit(out, "build_list" if kind.cls is list else "build_tuple", *parts)

    def _spread(self, variable: Variable, whole: Operand, out: Block, path: Path = ()) -> None:
        """Let the tangent of a value, or of a part of it, be this."""
        kind = self._type_at(variable, path)
        if isinstance(kind, Tuple):
            for i, item in enumerate(kind.items):
                if differentiable(item):
                    key = Constant(kind.keys[i] if kind.keys else i)
                    self._spread(variable, self.builder.emit(out, "getitem", whole, key), out, (*path, i))
        elif _moves(kind):
            self.tangents[variable, path] = whole

    # Rules

    def _rule(self, s: Statement, plan: RulePlan, block: Block, out: Block) -> None:
        """A call with a rule: as it is, unless its pullback is asked for."""
        use = self.uses[s] = use_of(plan, s, self.runtime)
        passes = passes_on(use.instance, use.strong) if use.instance is not None else [True] * len(use.arguments)
        moved = [(i, x) for i, x in enumerate(use.arguments) if x in self.needs and passes[i]]
        self.moved[s] = [(i, x) for i, x in moved if not self._is_place(plan, i, x)]
        numbers, diagonal = self._is_of_numbers(s, use), self._is_diagonal(s, plan, use)
        by_parts = (numbers or diagonal) and self._is_complex(s, use)
        if not self.moved[s]:
            self.ways[s] = "constant"
        elif numbers and plan.target in _ARITHMETIC and not self.runtime["strong"]:
            self.ways[s] = "arithmetic"
        elif numbers and not by_parts:
            self.ways[s] = "partials"
        elif diagonal and not by_parts:
            self.ways[s] = "diagonal"
        elif by_parts and not self._is_product(s, plan):
            self.ways[s] = "halves"
        elif self._has_forms(s, plan):
            self.ways[s] = "forms"
            op = "binary" if s.op == "inplace" else s.op
            out.statements.append(Statement(op, list(s.operands), s.made, s.data, s.position))
            return
        else:
            self.ways[s] = "transpose"
            kind = self.program.types[s.made]
            if isinstance(kind, Reference) or isinstance(kind, Tuple) and kind.cls in (list, dict):
                raise Refused("a tangent of a list that a rule gives", s)
            if use.instance is not None:
                use = self.uses[s] = called(plan, s, use.arguments, self.runtime)
        out.statements += use.statements

    def _has_forms(self, s: Statement, plan: RulePlan) -> bool:
        """Whether the tangent is a sum of what forms give; lists and tuples cannot be added."""
        forms = [self._form(plan, place) for place, _ in self.moved[s]]
        kind = self.program.type_of(s.result)
        if isinstance(kind, Reference) or isinstance(kind, Tuple) and kind.cls in (list, dict):
            return forms == [LINEAR]
        return None not in forms and (len(forms) == 1 or not isinstance(kind, Tuple))

    def _is_product(self, s: Statement, plan: RulePlan) -> bool:
        """Whether the tangent is the same function of that of an argument, for each of these."""
        return all(self._form(plan, place) is LINEAR for place, _ in self.moved[s])

    def _is_of_numbers(self, s: Statement, use: Use) -> bool:
        """Whether a number is made of numbers."""
        kinds = [self.program.type_of(x) for x in (s.result, *use.arguments) if x is not None]
        return all(number_types(kind) is not None for kind in kinds)

    def _is_diagonal(self, s: Statement, plan: RulePlan, use: Use) -> bool:
        """Whether each element of the result is made of one of the argument: the pullback is its own transpose."""
        target, result = plan.target, self.program.types[s.made]
        return (
            isinstance(target, np.ufunc)
            and (target.nin, target.nout, target.signature) == (1, 1, None)
            and isinstance(result, Array)
            and isinstance(self.program.type_of(use.arguments[0]), Array)
        )

    def _is_complex(self, s: Statement, use: Use) -> bool:
        """Whether the result or an argument may be complex."""
        return any(may_be_complex(self.program.type_of(x)) for x in (s.result, *use.arguments) if x is not None)

    def _is_place(self, plan: RulePlan, place: int, operand: Operand) -> bool:
        """Whether an argument only says where: a whole number beside the one that the function is linear in."""
        whole = place and is_number_of(self.program.type_of(operand), WHOLE)
        return bool(whole) and registry.forms(plan.target) == (LINEAR,)

    def _form(self, plan: RulePlan, place: int) -> Form:
        """The forward form for an argument; one that is linear is for all further ones, too."""
        forms, code = registry.forms(plan.target), plan.rule.__code__
        if place >= code.co_argcount and forms and forms[-1] is LINEAR and code.co_flags & _VARIADIC:
            return LINEAR
        if place >= len(forms) or forms[place] is None:
            return None
        if forms[place] is LINEAR:
            listed = place >= code.co_argcount or isinstance(plan.values[place], (list, dict))
            return None if listed or _asks_for_memory(plan) else LINEAR
        fits = forms[place].__code__.co_argcount == 2 + len(_by_position(plan))  # type: ignore[union-attr]
        return forms[place] if fits and _has_no_options(plan) else None

    def _push_rule(self, s: Statement, plan: RulePlan, out: Block) -> Block:
        """The tangent of what a rule gives."""
        tangent: Operand
        if self.ways[s] == "constant":
            tangent = self._zero(s.made, (), out)
        elif self.ways[s] in ("partials", "diagonal"):
            tangent, out = self._by_pullback(s, out)
        elif self.ways[s] == "arithmetic":
            tangent = self._by_arithmetic(s, plan, out)
        elif self.ways[s] == "halves":
            tangent, out = self._by_halves(s, out)
        elif self.ways[s] == "forms":
            tangent = self._by_forms(s, plan, out)
        else:
            tangent = self._by_transpose(s, out)
        self._spread(s.made, self._stored_into(s, tangent, out), out)
        return out

    def _stored_into(self, s: Statement, tangent: Operand, out: Block) -> Operand:
        """The tangent of a result: its own where that is changed, and complex if that is, for what is stored there."""
        kind = self.program.types[s.made]
        if not isinstance(kind, Array):
            return tangent
        is_complex = not kind.scalar and kind.dtype is not None and kind.dtype.kind == "c"
        options = {"dtype": Constant(kind.dtype)} if is_complex else {}
        if not (is_complex or self._may_change(s)):
            return tangent
        made = Constant(np.array if self._may_change(s) else np.asarray)
        return self.builder.emit(out, "call", made, tangent, *options.values(), data=tuple(options))

    def _may_change(self, s: Statement) -> bool:
        """Whether the tangent of a result, which may be that of an argument, may be changed where the result is not."""
        if s.result in self.memory.volatile or s.result in self.memory.copied:
            return True
        return any(x in self.changing for _, x in self.moved[s])

    @lazy
    def changing(self) -> set[Operand]:
        """The arrays that the program changes, and what it reads from them."""
        read = {s.result for s, plan in self.program.plans.items() if plan == READ and s.result is not None}
        return {*self.memory.volatile, *read}

    def _by_pullback(self, s: Statement, out: Block) -> tuple[Operand, Block]:
        """The sum of partial derivatives times tangents."""
        numbers = self.ways[s] == "partials"
        cotangent = ONE if numbers else self._tangent(self.uses[s].arguments[0], (), out)
        slopes, out = self._slopes(s, cotangent, out)
        parts = [self._product(slope, self._tangent(x, (), out), out) if numbers else slope for x, slope in slopes]
        return self._sum(s, parts, out), out

    def _slopes(self, s: Statement, cotangent: Operand, out: Block) -> tuple[list[tuple[Operand, Operand]], Block]:
        """The arguments that have tangents, each with what the pullback gives for it; where to go on."""
        use, places = self.uses[s], {place for place, _ in self.moved[s]}
        wanted = [place in places for place in range(len(use.arguments))]
        found, out, sure = splice(self.builder, use, cotangent, wanted, lambda v, o: v, out, s.position)
        slopes = []
        like = [s.made] if isinstance(self.program.type_of(s.made), Array) else []
        for place, operand in self.moved[s]:
            slope = found[place]
            if not is_nothing(slope):
                slopes.append((operand, slope if sure[place] else self._call("partial", slope, *like, out)))
        return slopes, out

    def _sum(self, s: Statement, parts: list[Operand], out: Block) -> Operand:
        """The sum of what the arguments contribute."""
        return reduce(lambda a, b: self._binary(a, "+", b, out), parts) if parts else self._zero(s.made, (), out)

    def _by_arithmetic(self, s: Statement, plan: RulePlan, out: Block) -> Operand:
        """The tangent of a sum, a difference or a quotient of numbers."""
        x, y = self.uses[s].arguments
        dx, dy = self._tangent(x, (), out), self._tangent(y, (), out)
        op = _ARITHMETIC[plan.target]
        if op != "/":
            return dy if op == "+" and dx is ZERO else dx if dy is ZERO else self._binary(dx, op, dy, out)
        shifted = dx if dy is ZERO else self._binary(dx, "-", self._binary(s.made, "*", dy, out), out)
        return self._binary(shifted, "/", y, out)

    def _binary(self, x: Operand, op: str, y: Operand, out: Block) -> Operand:
        return self.builder.emit(out, "binary", x, y, data=op)

    def _by_halves(self, s: Statement, out: Block) -> tuple[Operand, Block]:
        """The tangents of the real and of the imaginary part, each the sum of its slopes times tangents."""
        tangent, out = self._half(s, ONE, out)
        if may_be_complex(self.program.type_of(s.made)):
            imaginary, out = self._half(s, Constant(1j), out)
            tangent = self._binary(tangent, "+", self._binary(imaginary, "*", Constant(1j), out), out)
        return tangent, out

    def _half(self, s: Statement, unit: Constant, out: Block) -> tuple[Operand, Block]:
        cotangent: Operand = unit
        if isinstance(self.program.type_of(s.made), Array):
            cotangent = self._call("units", s.made, unit, out)
        slopes, out = self._slopes(s, cotangent, out)
        parts: list[Operand] = [self._call("along_slope", slope, self._tangent(x, (), out), out) for x, slope in slopes]
        return self._sum(s, parts, out), out

    def _product(self, partial: Operand, tangent: Operand, out: Block) -> Operand:
        if self.runtime["strong"]:
            return self.builder.emit(out, "call", Constant(times), tangent, partial, data=())
        return self._binary(partial, "*", tangent, out)

    def _by_forms(self, s: Statement, plan: RulePlan, out: Block) -> Operand:
        """The sum of what the tangents of the arguments contribute."""
        moved = self.moved[s]
        return self._sum(s, [self._contribution(s, plan, i, self._whole(x, (), out), out) for i, x in moved], out)

    def _contribution(self, s: Statement, plan: RulePlan, place: int, tangent: Operand, out: Block) -> Operand:
        form: Any = self._form(plan, place)
        if form is LINEAR:
            return self._repeated(s, plan, place, tangent, out)
        body = body_of(form.__code__, form.__globals__)
        given = [tangent, s.result, *_by_position(plan)]
        if body is None or len(body.blocks) != 1 or body.frees or len(body.params) != len(given):
            raise Refused(f"the forward form of {describe(plan.target)} is not an expression", s)
        substitute(body.blocks, dict(zip(body.params, given)))
        block = body.blocks[0]
        for statement in block.statements:
            statement.position = s.position
        out.statements += block.statements
        return block.terminator.operands[0]

    def _repeated(self, s: Statement, plan: RulePlan, place: int, tangent: Operand, out: Block) -> Operand:
        """The same with a tangent in the place of an argument, in which it is linear."""
        operands, index = list(s.operands), place + (s.op == "call")
        value = self.uses[s].arguments[place]
        if index >= len(operands) or operands[index] is not value:
            found = [i for i, x in enumerate(operands) if x is value]
            if len(found) != 1:
                raise Refused(f"an argument of {describe(plan.target)} that is passed twice", s)
            index = found[0]
        operands[index] = tangent
        op = "binary" if s.op == "inplace" else s.op
        return self.builder.emit(out, op, *operands, data=s.data, position=s.position)

    def _by_transpose(self, s: Statement, out: Block) -> Operand:
        use = self.uses[s]
        assert use.called is not None
        moved = dict(self.moved[s])
        tangents = [self._whole(x, (), out) if i in moved else NONE for i, x in enumerate(use.arguments)]
        given = self.builder.emit(out, "build_tuple", *tangents)
        return self._call("transposed", use.called, s.made, given, out)


def _by_position(plan: RulePlan) -> list[Any]:
    """What is given by position."""
    code = plan.rule.__code__
    rest: Any = plan.values[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & _VARIADIC else []
    return [*plan.values[: code.co_argcount], *rest]


def _has_no_options(plan: RulePlan) -> bool:
    """Whether nothing is given that a rule takes by keyword only, which forms do not know of."""
    code, defaults = plan.rule.__code__, plan.rule.__kwdefaults__ or {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    values = plan.values[code.co_argcount :]
    return all(
        isinstance(value, Constant) and name in defaults and value.value is defaults[name]
        for name, value in zip(names, values)
    ) and not any(isinstance(value, dict) and value for value in values[len(names) :])


def _asks_for_memory(plan: RulePlan) -> bool:
    """Whether elements are to be taken as they lie in memory, where those of a tangent may lie otherwise."""
    parameters, code = signature(plan.rule).parameters, plan.rule.__code__
    if "order" not in parameters:
        return False
    order = plan.values[code.co_varnames.index("order")]
    return not isinstance(order, Constant) or order.value not in ("C", "F", parameters["order"].default)


def _moves(value: Abstract) -> bool:
    """Whether a value, which is no tuple, has a tangent."""
    value = content_of(value)
    return isinstance(value, (Number, Array, Reference)) and differentiable(value)
