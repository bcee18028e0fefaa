"""Derivatives within typed programs.

The gradient of a function, for arguments of the types at hand, is a program of its own; it becomes a function that is
put in the place of the call like any function of the user's, and is differentiated with what is around it. Derivatives
within it have been put in their places by then, so there may be any number of levels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook import api, operators
from autodiff_hook.emit import emit
from autodiff_hook.ir.analysis import natural_loops
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.registry import registry
from autodiff_hook.runtime import adjoint_steps as adjoint_steps
from autodiff_hook.runtime.finishing import only_numbers, simplified, take_parameters
from autodiff_hook.runtime.forms import Forms, holds_objects
from autodiff_hook.runtime.specialised_runtime import RUNTIME, Undefined
from autodiff_hook.runtime.undefined import go_on_if, leaves, may_be_undefined
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Fresh,
    Known,
    List,
    Number,
    Site,
    Tuple,
)
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Parameters, Refused, bind
from autodiff_hook.transform.specialise.calling import BODIES, inline_call
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.joint import joint_pass
from autodiff_hook.transform.specialise.lattice import item_like, number_types
from autodiff_hook.transform.specialise.plans import items_of, spread
from autodiff_hook.transform.specialise.prepare import prepare
from autodiff_hook.transform.specialise.wording import named

_REAL: Final = {float, int, np.float64}


def _gradients(inf: Inference, s: Statement, called: Any, args: list[Operand]) -> None:
    """``gradient``."""
    _require_function(args)
    _place(inf, s, args[0], args[1:], tuple(range(len(args) - 1)), False)


def _value_and_gradients(inf: Inference, s: Statement, called: Any, args: list[Operand]) -> None:
    """``withgradient``."""
    _require_function(args)
    _place(inf, s, args[0], args[1:], tuple(range(len(args) - 1)), True)


def _require_function(args: list[Operand]) -> None:
    if not args:
        raise Refused("a derivative of no function")


def _chosen(valued: bool, inf: Inference, s: Statement, called: Any, args: list[Operand]) -> None:
    """What an operator does when it is called."""
    function, argnums, has_aux, whole, options = args
    numbers, primals, named = map(inf.type_of, (argnums, whole, options))
    aux, items = inf.type_of(has_aux), items_of(primals)
    if not isinstance(numbers, Known) or not isinstance(aux, Known) or aux.value or items is None or _some(named):
        raise Refused("an operator whose options are not known")
    _place(inf, s, function, spread(inf, whole, range(len(items)), items), numbers.value, valued)


def _operated(inf: Inference, s: Statement, called: Any, args: list[Operand]) -> None:
    """What an operator from outside has made, called; or the class of that, where an operator makes one."""
    if not isinstance(called, operators.Operator):
        raise Refused("an operator that is neither grad nor value_and_grad")
    valued = called._work is operators._value_and_grad
    if called._has_aux or not valued and called._work is not operators._grad:
        raise Refused(f"a call of {called!r}")
    _place(inf, s, Constant(called._f), args, called._argnums, valued)


def _some(named: Abstract) -> bool:
    """Whether there are arguments by name."""
    return not isinstance(named, Tuple) or bool(named.items)


def _place(inf: Inference, s: Statement, function: Operand, primals: list[Operand], argnums: Any, valued: bool) -> None:
    """Put the gradients of a function, with its value or without it, in the place of a call."""
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    if inf.one_way or inf.block is None or type(chosen) is not tuple:
        raise Refused("a derivative within one way")
    if not all(type(i) is int and -len(primals) <= i < len(primals) for i in chosen):
        raise Refused("argnums that do not fit")
    inf.assume(function)
    inner = _Within(inf, s)
    code, operands = inner.program(function, primals, chosen, isinstance(argnums, int), valued)
    inf.fixed += inner.fixed
    inf.inline(s, code, inf.globals_of[inf.block], Parameters([*operands]), [])


class _Within:
    """A function that is differentiated within a program, with values of that program as its parameters."""

    def __init__(self, outer: Inference, s: Statement) -> None:
        self.outer, self.statement = outer, s
        self.inner = Inference(outer.world, outer.evaluate, outer.types, outer.program.changed)
        self.params: dict[Variable, Operand] = {}
        """The parameters, each with the operand that it stands for."""
        self.fixed: list[tuple[Operand, Abstract]] = []

    def program(
        self, function: Operand, primals: list[Operand], chosen: tuple[int, ...], single: bool, valued: bool
    ) -> tuple[CodeType, list[Operand]]:
        """Code that gives the gradients by the arguments ``chosen``, and the operands that it is called with."""
        places = {i % len(primals) for i in chosen}
        params = {i: self._parameter(primals[i]) for i in places}
        self._follow(function, [params[i] if i in places else self._constant(x) for i, x in enumerate(primals)])
        sources = [params[i % len(primals)] for i in chosen]
        inner = self.inner
        shape = prepare(inner)
        if inner.warnings or inner.commits or inner.quiet:
            raise Refused("a derivative of what has effects")
        types = number_types(inner.type_of(shape.exit.params[0]))
        if types is None or not types <= _REAL:
            raise Refused("a derivative of what is no real scalar")
        needs = needed(inner.program, shape, sources)
        runtime = RUNTIME | {"strong": False}
        joint = joint_pass(inner.program, shape, [*self.params], needs, runtime, None, [])
        primal = joint.builder.blocks[: len(shape.ir.blocks)]
        own = {s for block in primal for s in block.statements}
        cotangents = {p: joint.cotangents[p] for p in sources}
        last = joint.last
        if may_be_undefined(inner, primal, only_numbers(inner)):
            last = _require_numbers(joint.builder, last, [(inner.types[p], x) for p, x in cotangents.items()])
        grads = Forms(joint.builder, last, inner, joint.table).gradients(sources, cotangents, {})
        result = grads[0] if single else joint.builder.emit(last, "build_tuple", *grads)
        if valued:
            result = joint.builder.emit(last, "build_tuple", joint.value, result)
        last.terminator = Terminator("return", [result])
        blocks = joint.builder.finish()
        merge(blocks)
        ir = self._empty()
        ir.blocks = blocks
        _require_one_buffer_each(ir, inner)
        taken = list(self.params)
        take_parameters(ir, taken)
        derivatives = {s for block in blocks for s in block.statements} - own
        simplified(ir, inner, shape, derivatives, own, polished=False)
        # What is dead may have named what is nowhere made.
        operands = [*take_parameters(ir, taken), *self.params.values()]
        verify(ir)
        return emit(ir), operands

    def _empty(self) -> IR:
        """A program without blocks, in the place of the call."""
        assert self.outer.block is not None
        position = self.statement.position
        line = position.line if position is not None else None
        return IR("gradient", Signature(), "gradient", self.outer.filename_of(self.outer.block), line or 1)

    def _parameter(self, operand: Operand) -> Variable:
        """A parameter for a value, of a type that does not become another one."""
        general = _general(self.outer.type_of(operand))
        param = Variable(operand.name if isinstance(operand, Variable) else None)
        self.params[param] = operand
        self.inner.types[param] = general
        self.fixed.append((operand, general))
        return param

    def _constant(self, operand: Operand) -> Operand:
        """What the function has captured, or is bound to."""
        operand = self.outer.final(operand)
        kind = self.outer.type_of(operand)
        if isinstance(operand, Constant):
            return operand
        if isinstance(kind, Known) and number_types(kind) is None:
            self.fixed.append((operand, kind))
            return Constant(kind.value)
        if self.outer.world.is_outside(operand):
            return operand
        if not isinstance(kind, (Closure, Bound, Fresh)):
            return self._parameter(operand)
        made = Variable()
        self.inner.types[made] = self._object(made, kind) if isinstance(kind, Fresh) else self._function(kind)
        return made

    def _object(self, made: Variable, kind: Fresh) -> Abstract:
        """An object of the program around, as it is then."""
        if kind.made in self.outer.records:
            raise Refused(f"a derivative of a function of a {named(kind)} whose attributes are assigned again")
        for (owner, name), (value, store) in list(self.outer.fields.items()):
            if owner is kind.made:
                self._read_after(store)
                self.inner.fields[made, name] = self._constant(value), None
        return Fresh(kind.cls, made)

    def _read_after(self, store: Statement | None) -> None:
        if store is not None:
            self.outer.orders.append((store, self.statement))

    def _function(self, kind: Closure | Bound) -> Abstract:
        """A function of the program around, as one of the program within."""
        if isinstance(kind, Bound):
            return Bound(kind.function, self._constant(kind.receiver))
        if kind.keyword_defaults:
            raise Refused("a derivative of a function with defaults by keyword")
        cells, defaults = tuple(map(self._cell, kind.cells)), tuple(map(self._constant, kind.defaults))
        return Closure(kind.code, kind.globals, cells, defaults)

    def _cell(self, cell: Operand) -> Operand:
        """A captured variable, which has the value that it has then."""
        made = Variable()
        self.inner.types[made] = Cell(None)
        self.inner.cells[made] = self._constant(self.outer.before(self.statement, "cell_get", [cell]))
        return made

    def _follow(self, function: Operand, args: list[Operand]) -> None:
        """Interpret the function."""
        inner, kind = self.inner, self.outer.type_of(function)
        if isinstance(kind, Bound):
            args = [self._constant(kind.receiver), *args]
            kind = Known(kind.function)
        types = {p: inner.types[p] for p in self.params}
        if isinstance(kind, Closure):
            made = self._function(kind)
            assert isinstance(made, Closure)
            types = {p: inner.types[p] for p in self.params}
            call = bind(kind.code, args, {}, made.defaults, None)
            inner.interpret(kind.code, kind.globals, types, call, list(made.cells))
            return
        f = kind.value if isinstance(kind, Known) else None
        if not isinstance(f, FunctionType) or not inner.world.in_scope(f) or registry.has_rules(f):
            raise Refused(f"a derivative of {named(kind)}")
        inner.world.function(f)
        call = bind(f.__code__, args, {}, inner.defaults(f), f.__kwdefaults__)
        inner.run(f.__code__, f.__globals__, f.__closure__, types, call)


def _require_one_buffer_each(ir: IR, inner: Inference) -> None:
    """Refuse lists whose cotangents are looked up more than once: who holds them is known by identity alone."""
    repeated = {block for loop in natural_loops(ir) for block in loop.body}
    found = set[Site]()
    for block in ir.blocks:
        for s in block.statements:
            callee = s.operands[0] if s.op == "call" else None
            if isinstance(callee, Constant) and callee.value is RUNTIME["buffer"]:
                kind = inner.type_of(s.operands[2])
                if block in repeated or not isinstance(kind, List) or kind.site.root() in found:
                    raise Refused("a derivative of a function whose lists may be one")
                found.add(kind.site.root())


def _general(kind: Abstract) -> Abstract:
    """What is known of values like one, whatever number it is."""
    if isinstance(kind, Tuple):
        return Tuple(tuple(map(_general, kind.items)), kind.cls, kind.keys, example=kind.example, place=kind.place)
    if isinstance(kind, Known) and type(kind.value) is int:
        return Number(frozenset({int, float}), example=kind.value)
    general = kind if isinstance(kind, (Array, Known)) and number_types(kind) is None else item_like(kind)
    if general is None or holds_objects(general):
        raise Refused(f"a derivative of a function of {named(kind)}")
    return general


def _require_numbers(builder: Builder, last: Block, cotangents: list[tuple[Abstract, Operand]]) -> Block:
    """Give up if a cotangent is nan: it may be zero."""
    made = {s.result: s for s in last.statements}
    total: Operand | None = None
    for kind, cotangent in (leaf for abstract, operand in cotangents for leaf in leaves(abstract, operand, made)):
        part = cotangent
        if not isinstance(kind, Number):
            total_of = Constant(np.sum if isinstance(kind, Array) else sum)
            part = builder.emit(last, "call", total_of, cotangent, data=())
        total = part if total is None else builder.emit(last, "binary", total, part, data="+")
    if total is None:
        return last
    after, stop = go_on_if(builder, last, builder.emit(last, "compare", total, total, data="=="))
    stop.terminator = Terminator("raise", [Constant(Undefined)])
    return after


def _gradient_of(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """``grad`` as what is followed."""

    def gradient_of_f(*args: Any, **kwargs: Any) -> Any:
        return operators._grad(f, argnums, False, args, kwargs)

    return gradient_of_f


def _value_and_gradient_of(f: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """``value_and_grad`` as what is followed."""

    def value_and_gradient_of_f(*args: Any, **kwargs: Any) -> Any:
        return operators._value_and_grad(f, argnums, False, args, kwargs)

    return value_and_gradient_of_f


def _operator(followed: Any, inf: Inference, s: Statement, called: Any, args: list[Operand]) -> None:
    """Make a function that gives gradients."""
    if inf.one_way:
        raise Refused("a derivative within one way")
    inline_call(inf, s, followed, args, {})


BODIES.update(
    {
        api.gradient: _gradients,
        api.withgradient: _value_and_gradients,
        operators.Operator: _operated,
        operators.grad: partial(_operator, _gradient_of),
        operators.value_and_grad: partial(_operator, _value_and_gradient_of),
        operators._grad: partial(_chosen, False),
        operators._value_and_grad: partial(_chosen, True),
    }
)
