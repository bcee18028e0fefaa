"""Functions that are differentiated within a typed program: their gradients and tangents, as code to be put there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from autodiff_hook.emit import emit
from autodiff_hook.ir.analysis import definitions, free_variables, statements_of
from autodiff_hook.ir.types import IR, Args, Block, Constant, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.registry import registry
from autodiff_hook.runtime.deriving import cell_of
from autodiff_hook.runtime.finishing import only_numbers, simplified, take_parameters
from autodiff_hook.runtime.forms import Forms, aimed
from autodiff_hook.runtime.inner_values import (
    generalised,
    is_made_of_numbers,
    require_more,
    require_numbers,
    require_one_buffer_each,
    require_one_shape,
)
from autodiff_hook.runtime.specialised_runtime import RUNTIME
from autodiff_hook.runtime.tangents import TANGENTS
from autodiff_hook.runtime.undefined import may_be_undefined
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Closure,
    Fresh,
    Known,
    Partial,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.activity import needed
from autodiff_hook.transform.specialise.bodies import Parameters, Refused, bind, made_before
from autodiff_hook.transform.specialise.draws import is_own
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.invariants import sites_changed
from autodiff_hook.transform.specialise.joint import joint_pass
from autodiff_hook.transform.specialise.lattice import example_of, is_real, number_types
from autodiff_hook.transform.specialise.prepare import Shape, prepare
from autodiff_hook.transform.specialise.pushforward import Pushforward
from autodiff_hook.transform.specialise.resolve import evaluate
from autodiff_hook.transform.specialise.results import abstract_of
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.world import bind_to


class Result(NamedTuple):
    """What gradients are returned as: the one that was chosen, or a tuple; with the value, with what else there is."""

    single: bool = False
    valued: bool = False
    has_aux: bool = False


class Within:
    """A function that is differentiated within a program, with values of that program as its parameters."""

    def __init__(self, outer: Inference, s: Statement) -> None:
        self.outer, self.statement = outer, s
        self.inner = Inference(outer.world, evaluate, outer.types, outer.program.changed)
        self.params: dict[Variable, Operand] = {}
        """The parameters, each with the operand that it stands for."""
        self.fixed: list[tuple[Operand, Abstract]] = []
        self._making: list[Closure] = []
        """The functions whose captured variables are looked up."""
        self._sources: set[Operand] = set()
        """The lists and dicts that are differentiated."""

    def place_gradients(
        self, function: Operand, primals: list[Operand], chosen: tuple[int, ...], result: Result
    ) -> None:
        """Put the gradients by the arguments ``chosen`` in the place of the call."""
        params = {}
        for i in {i % len(primals) for i in chosen}:
            params[i] = self._parameter(primals[i])
            self._require_one_name(primals[i])
        shape = self._prepared(function, primals, params)
        self._put(*self._gradients(shape, [params[i % len(primals)] for i in chosen], result))

    def place_tangent(self, function: Operand, primals: list[Operand], tangents: Mapping[int, Operand]) -> None:
        """Put value and tangent in the place of the call, where some arguments have tangents like them."""
        params = {i: self._parameter(primals[i]) for i in tangents}
        seeds = {params[i]: self._parameter(tangent) for i, tangent in tangents.items()}
        self._put(*self._tangent(self._prepared(function, primals, params), seeds))

    def _put(self, code: CodeType, operands: list[Operand]) -> None:
        """Put a program in the place of the call."""
        self.outer.assumptions.fixed += self.fixed
        self.outer.inline(self.statement, code, self.outer.globals_here, Parameters([*operands]), [])

    def _gradients(self, shape: Shape, sources: list[Variable], result: Result) -> tuple[CodeType, list[Operand]]:
        """Code that gives the gradients by some parameters, and the operands that it is called with."""
        inner = self.inner
        aim, value = aimed(inner.type_of(shape.exit.params[0]), result.has_aux)
        if not is_real(value):
            raise Refused("a derivative of what is no real scalar")
        require_more(inner)
        needs = needed(inner.program, shape, sources)
        joint = joint_pass(inner.program, shape, [*self.params], needs, RUNTIME | {"strong": False}, None, [], aim)
        primal = joint.builder.blocks[: len(shape.ir.blocks)]
        own = list(statements_of(primal))
        cotangents = {p: joint.cotangents[p] for p in sources}
        last = joint.last
        if may_be_undefined(inner, primal, only_numbers(inner)):
            last = require_numbers(joint.builder, last, [(inner.types[p], x) for p, x in cotangents.items()])
        grads = Forms(joint.builder, last, inner, joint.table).gradients(sources, cotangents, {})
        found: Operand = grads[0] if result.single else joint.builder.emit(last, "build_tuple", *grads)
        if result.valued:
            found = joint.builder.emit(last, "build_tuple", joint.value, found)
        elif result.has_aux:
            aux = joint.builder.emit(last, "project", joint.value, data=1)
            found = joint.builder.emit(last, "build_tuple", found, aux)
        last.terminator = Terminator("return", [found])
        return self._finished(joint.builder.finish(), shape, own)

    def _tangent(self, shape: Shape, seeds: Mapping[Variable, Operand]) -> tuple[CodeType, list[Operand]]:
        """Code that gives value and tangent, where some parameters have tangents."""
        inner = self.inner
        value = inner.type_of(shape.exit.params[0])
        require_more(inner)
        if not is_made_of_numbers(value):
            raise Refused(f"the tangent of {named(value)}")
        needs = needed(inner.program, shape, [*seeds])
        program = Pushforward(inner.program, shape, needs, RUNTIME | TANGENTS | {"strong": False})
        builder, last, result, tangent = program.build(dict(seeds))
        for param, seed in seeds.items():
            if isinstance(inner.types[param], Array):
                last = require_one_shape(builder, last, param, seed)
        last = require_numbers(builder, last, [(value, tangent)])
        tangent = Forms(builder, last, inner, Constant(None)).form(value, result, tangent)
        last.terminator = Terminator("return", [builder.emit(last, "build_tuple", result, tangent)])
        return self._finished(builder.finish(), shape, program.primal)

    def alone(self, function: Operand, likes: list[Operand]) -> tuple[CodeType, list[Operand]]:
        """Code that gives the value for any arguments like these, its last parameters; the operands of the others."""
        params = {i: self._like(x) for i, x in enumerate(likes)}
        self.inner.values_only = True
        shape = self._prepared(function, likes, params)
        statements = list(statements_of(shape.ir.blocks))
        if self._draws(shape):
            raise Refused("native code that calls back what draws random numbers")
        changed = any(sites_changed(s, self.inner.program) for s in statements)
        if changed and any(isinstance(self.inner.types[p], Reference) for p in self.params):
            raise Refused("native code that calls back what may change what the program has made")
        program = Pushforward(self.inner.program, shape, set(), RUNTIME | TANGENTS | {"strong": False})
        builder, last, result, _ = program.build({})
        last.terminator = Terminator("return", [result])
        for param in params.values():
            self.params[param] = self.params.pop(param)
        code, operands = self._finished(builder.finish(), shape, program.primal)
        return code, operands[: len(operands) - len(likes)]

    def value(self, function: Operand, primals: list[Operand]) -> Abstract:
        """What is known of the value of the function."""
        return self.inner.type_of(self._prepared(function, primals, {}).exit.params[0])

    def require_repeatable(self, function: Operand, primals: list[Operand]) -> None:
        """Refuse a function that may give another value, or another derivative, when it runs once more."""
        shape = self._prepared(function, primals, {})
        if self._draws(shape):
            raise Refused("what draws random numbers is run again by what was made of it")
        if any(isinstance(self.inner.types[p], Reference) for p in self.params):
            raise Refused("what reads lists or dicts is run again by what was made of it")

    def _draws(self, shape: Shape) -> bool:
        """Whether random numbers are drawn from what the program has made."""
        statements = list(statements_of(shape.ir.blocks))
        return any(is_own([self.inner.type_of(x)]) for s in statements for x in s.operands)

    def _prepared(self, function: Operand, primals: list[Operand], params: Mapping[int, Variable]) -> Shape:
        """The function followed for its arguments, those that are differentiated as ``params``."""
        self._follow(function, [params[i] if i in params else self._constant(x) for i, x in enumerate(primals)])
        shape = prepare(self.inner)
        if self.inner.acts:
            raise Refused("a derivative of what has effects")
        read = free_variables(shape.ir.blocks)
        changing = self.outer.stores_outside or not self.outer.world.changing.keys().isdisjoint(read)
        if self.inner.outer.holders or changing:
            raise Refused("a derivative of what reads what the program around changes outside")
        return shape

    def _finished(self, blocks: list[Block], shape: Shape, own: list[Statement]) -> tuple[CodeType, list[Operand]]:
        """The code of a program, whose ``own`` statements are those of the function, and what it is called with."""
        merge(blocks)
        ir = self._empty()
        ir.blocks = blocks
        require_one_buffer_each(ir, self.inner)
        taken = list(self.params)
        take_parameters(ir, taken)
        simplified(ir, self.inner, shape, blocks, own, polished=False)
        # What is dead may have named what is nowhere made.
        operands = [*take_parameters(ir, taken), *self.params.values()]
        verify(ir)
        return emit(ir), operands

    def _empty(self) -> IR:
        """A program without blocks, in the place of the call."""
        position = self.statement.position
        line = position.line if position is not None else None
        return IR("gradient", Signature(), "gradient", self.outer.code_here.co_filename, line or 1)

    def _parameter(self, operand: Operand) -> Variable:
        """A parameter for a value, of a type that does not become another one."""
        operand = self.outer.frozen(operand)
        kind = generalised(self.outer.type_of(operand))
        param = Variable(operand.name if isinstance(operand, Variable) else None)
        self.params[param] = operand
        self.inner.types[param] = kind
        self.fixed.append((operand, kind))
        return param

    def _like(self, operand: Operand) -> Variable:
        """A parameter for any value of a type."""
        param, kind = Variable(), abstract_of(example_of(self.outer.type_of(operand)))
        self.params[param] = operand
        self.inner.types[param] = kind
        return param

    def _require_one_name(self, source: Operand) -> None:
        """Refuse a list or a dict that is differentiated under two names: these are one variable of the function."""
        kind = self.outer.type_of(source)
        if isinstance(kind, Tuple) and kind.cls in (list, dict):
            source = self._origin(source)
            if source in self._sources:
                raise Refused("what is differentiated has another name")
            self._sources.add(source)

    def _origin(self, operand: Operand) -> Operand:
        """Where a value comes from that was put into tuples of arguments and taken out again."""
        made = definitions(statements_of(self.outer.program.blocks))
        while True:
            operand = self.outer.final(operand)
            s = made.get(operand) if isinstance(operand, Variable) else None
            whole = made.get(s.operands[0]) if s is not None and s.op == "project" else None
            if s is None or whole is None or whole.op != "build_tuple":
                return operand
            operand = whole.operands[s.data]

    def _constant(self, operand: Operand) -> Operand:
        """What the function has captured, or is bound to."""
        given, operand = operand, self.outer.final(operand)
        if self._sources and self._origin(operand) in self._sources:
            raise Refused("what is differentiated has another name, by which it is read")
        operand = self.outer.frozen(operand)
        kind = self.outer.type_of(operand)
        if isinstance(operand, Constant):
            return operand if isinstance(given, Constant) or self.outer.one_way else self._so_far(given, operand)
        if isinstance(kind, Known) and number_types(kind) is None:
            self.fixed.append((operand, kind))
            return Constant(kind.value)
        if self.outer.world.is_outside(operand):
            return operand
        if not isinstance(kind, (Closure, Bound, Partial, Fresh)):
            return self._parameter(operand)
        made = Variable()
        self.inner.types[made] = self._object(made, kind) if isinstance(kind, Fresh) else self._function(kind)
        return made

    def _so_far(self, operand: Operand, constant: Constant) -> Operand:
        """A value that is known when the call is first met, as the one that a loop begins with is."""
        if type(constant.value) is float:
            return self._parameter(operand)
        self.fixed.append((operand, Known(constant.value)))
        return constant

    def _object(self, made: Variable, kind: Fresh) -> Abstract:
        """An object of the program around, as it is then."""
        for name, value, store in list(self.outer.held_by(kind.made)):
            self._read_after(store)
            self.inner.fields[made, name] = self._constant(value), None
        return Fresh(kind.cls, made)

    def _read_after(self, store: Statement | None) -> None:
        if store is not None:
            self.outer.order(store, self.statement)

    def _function(self, kind: Closure | Bound | Partial) -> Abstract:
        """A function of the program around, as one of the program within."""
        if isinstance(kind, Bound):
            return Bound(kind.function, self._constant(kind.receiver))
        if isinstance(kind, Partial):
            named = {name: self._constant(x) for name, x in kind.kwargs.items()}
            return Partial(self._constant(kind.function), tuple(map(self._constant, kind.args)), named)
        if kind.keyword_defaults:
            raise Refused("a derivative of a function with defaults by keyword")
        if any(kind is other for other in self._making):
            raise Refused("a derivative of a function that has captured itself")
        self._making.append(kind)
        cells, defaults = tuple(map(self._cell, kind.cells)), tuple(map(self._constant, kind.defaults))
        self._making.pop()
        return Closure(kind.code, kind.globals, cells, defaults)

    def _cell(self, cell: Operand) -> Operand:
        """A captured variable, which has the value that it has then."""
        return cell_of(self.inner, self._constant(self.outer.before(self.statement, "cell_get", [cell])))

    def _follow(self, function: Operand, args: Args) -> None:
        """Interpret the function."""
        inner, kind, options = self.inner, self.outer.type_of(function), dict[str, Operand]()
        while isinstance(kind, Partial):
            args = [*map(self._constant, kind.args), *args]
            options = {name: self._constant(x) for name, x in kind.kwargs.items()} | options
            kind = self.outer.type_of(kind.function)
        if isinstance(kind, Bound):
            args = [self._constant(kind.receiver), *args]
            kind = Known(kind.function)
        types = {p: inner.types[p] for p in self.params}
        if isinstance(kind, Closure):
            made = self._function(kind)
            assert isinstance(made, Closure)
            types = {p: inner.types[p] for p in self.params}
            call = bind(kind.code, args, options, made.defaults, None, made_before)
            inner.interpret(kind.code, kind.globals, types, call, list(made.cells))
            return
        f = kind.value if isinstance(kind, Known) else None
        if registry.has_rules(f) and not options:
            f, args = _called, [Constant(f), *args]
        elif type(f) is not FunctionType or not inner.world.in_scope(f):
            raise Refused(f"a derivative of {named(kind)}")
        inner.world.function(f)
        call = bind_to(inner.world, f, args, options)
        inner.run(f.__code__, f.__globals__, f.__closure__, types, call)


def _called(f: Callable[..., Any], *args: Any) -> Any:
    """What has a rule, as Python code."""
    return f(*args)
