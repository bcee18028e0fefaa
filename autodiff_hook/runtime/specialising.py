"""Specialised joint programs: made at the first gradient of a function, entered through guards afterwards.

A program that is specialised has no effects. So at any point, a guard that fails or an exception, it may be
given up, and the generic path runs the function from the start.
"""

from __future__ import annotations

import builtins
import os
import threading
import time
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, Final

from autodiff_hook import config
from autodiff_hook.emit import emit
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify
from autodiff_hook.registry import registry
from autodiff_hook.runtime import functions
from autodiff_hook.runtime.handlers import HANDLERS
from autodiff_hook.runtime.session import prepare as prepare_session
from autodiff_hook.runtime.specialised_runtime import RUNTIME, uniform
from autodiff_hook.runtime.tracebacks import DEBUG
from autodiff_hook.transform.abstract import Abstract, Array, Instance, Known, List, Number, Tuple, number_types
from autodiff_hook.transform.activity import needed
from autodiff_hook.transform.bodies import Load, Refused, is_plain
from autodiff_hook.transform.infer import Inference
from autodiff_hook.transform.joint import joint_pass
from autodiff_hook.transform.prepare import prepare
from autodiff_hook.transform.resolve import evaluate
from autodiff_hook.transform.results import abstract_of
from autodiff_hook.transform.simplify import simplify

MISS: Final = object()
"""What a specialised program returns if a guard fails."""

_GENERIC: Final = bool(os.environ.get("AUTODIFF_GENERIC"))
_SPECIALISATIONS: Final = 8
_FAILURES: Final = 3
Entry = Callable[[Any, tuple[Any, ...]], Any]


def constant_kind(value: Any) -> bool:
    """Whether code refers to a value by identity: a function, a class, a module."""
    return isinstance(value, (FunctionType, type, ModuleType, BuiltinFunctionType)) or (
        callable(value) and type(value).__module__ in ("numpy", "builtins", "functools", "operator")
    )


def described(value: Any) -> Abstract:
    """The abstract value of an argument, or of data in a global or a closure cell."""
    if value is None or isinstance(value, (bool, str)) or constant_kind(value):
        return Known(value)
    if type(value) is tuple:
        return Tuple(tuple(map(described, value)), example=value)
    if type(value) is list:
        types = set(map(type, value))
        if types == {float} or types == {int}:
            return List(Number(frozenset(types), example=value[0]), example=value)
        raise Refused("a list of other things than numbers of one type")
    return abstract_of(value)


class Prologue:
    """The start of a specialised program: loads what it needs from outside, and guards."""

    def __init__(self, f: FunctionType) -> None:
        self.f = f
        self.function, self.args = Variable("f"), Variable("args")
        self.miss = Block(terminator=Terminator("return", [Constant(MISS)]))
        self.block = Block([self.function, self.args])
        self.blocks = [self.block]
        self.types: dict[Variable, Abstract] = {}
        self.loaded: dict[tuple[Any, ...], Operand] = {}
        self.closure: Variable | None = None
        self.modules = {functions.module_name(f.__globals__)}

    # What the inference asks

    def load(self, globals_: dict[str, Any]) -> Load:
        """How code with these globals loads a global name."""

        def load(name: str) -> Operand | None:
            key = ("global", id(globals_), name)
            if key not in self.loaded:
                found = self._global(globals_, name)
                if found is None:
                    return None
                self.loaded[key] = found
            return self.loaded[key]

        return load

    def _global(self, globals_: dict[str, Any], name: str) -> Operand | None:
        own = globals_ is self.f.__globals__
        if name in globals_:
            value = globals_[name]
            here = self.emit("global", data=name) if own else self.emit("getitem", Constant(globals_), Constant(name))
        elif hasattr(builtins, name):
            value = getattr(builtins, name)
            if own:
                here = self.emit("global", data=name)
            else:
                self.require(self.emit("not_in", Constant(name), Constant(globals_)))
                return Constant(value)
        else:
            return None
        return self.guarded(here, value)

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of a module or a class."""
        key = ("attribute", id(owner), name)
        if key not in self.loaded:
            try:
                value = getattr(owner, name)
            except AttributeError as error:
                raise Refused(str(error)) from error
            if not (constant_kind(value) or is_plain(value)):
                raise Refused(f"the attribute {name} of {owner!r}")
            self.require_same(self.emit("getattr", Constant(owner), data=name), value)
            self.loaded[key] = Constant(value)
        return self.loaded[key].value  # type: ignore[union-attr]

    def captured(self, cell: CellType) -> Operand:
        """What a closure cell holds."""
        key = ("cell", id(cell))
        if key not in self.loaded:
            try:
                value = cell.cell_contents
            except ValueError as error:
                raise Refused("an empty closure cell") from error
            own = self.f.__closure__ or ()
            index = next((i for i, c in enumerate(own) if c is cell), None)
            if index is None:
                here: Operand = Constant(cell)
            else:
                if self.closure is None:
                    self.closure = self.emit("getattr", self.function, data="__closure__")
                here = self.emit("getitem", self.closure, Constant(index))
            self.loaded[key] = self.guarded(self.emit("getattr", here, data="cell_contents"), value)
        return self.loaded[key]

    def in_scope(self, function: FunctionType) -> bool:
        """Whether a Python function is followed."""
        known = functions.in_scope(self, function) or functions.in_library(function)
        return known and id(function) not in HANDLERS

    def function_(self, function: FunctionType) -> None:
        """Guard that a function still has its code and defaults."""

    # Guards

    def emit(self, op: str, *operands: Operand, data: Any = None) -> Variable:
        """A statement of the prologue."""
        result = Variable()
        self.block.statements.append(Statement(op, list(operands), result, data))
        return result

    def require(self, test: Operand) -> None:
        """Go on only if ``test`` holds."""
        rest = Block()
        self.block.terminator = Terminator("branch", [test], [Edge(rest), Edge(self.miss)])
        self.block = rest
        self.blocks.append(rest)

    def require_same(self, operand: Operand, value: Any) -> None:
        """Go on only if an operand is this object."""
        self.require(self.emit("is", operand, Constant(value)))

    def guarded(self, operand: Variable, value: Any) -> Operand:
        """A value from outside: the object itself if it is code, else a value of its type."""
        abstract = described(value)
        self.check(operand, abstract)
        if isinstance(abstract, Known):
            return Constant(value)
        self.types[operand] = abstract
        return operand

    def check(self, operand: Variable, abstract: Abstract) -> None:
        """Guard that a value is of the kind that ``abstract`` describes."""
        if isinstance(abstract, Known):
            self.require_same(operand, abstract.value)
            return
        cls = self.emit("call", Constant(type), operand, data=())
        self.require_same(cls, _class_of(abstract))
        if isinstance(abstract, Array):
            self.require_same(self.emit("getattr", operand, data="dtype"), abstract.dtype)
            ndim = self.emit("getattr", operand, data="ndim")
            self.require(self.emit("compare", ndim, Constant(abstract.ndim), data="=="))
        elif isinstance(abstract, Tuple):
            count = self.emit("call", Constant(len), operand, data=())
            self.require(self.emit("compare", count, Constant(len(abstract.items)), data="=="))
            for i, item in enumerate(abstract.items):
                part = self.emit("getitem", operand, Constant(i))
                self.check(part, item)
        elif isinstance(abstract, List):
            item_type = next(iter(number_types(abstract.item) or ()))
            self.require(self.emit("call", Constant(uniform), operand, Constant(item_type), data=()))

    def parameters(self, types: list[Abstract]) -> list[Variable]:
        """Take the arguments apart and guard their types."""
        count = self.emit("call", Constant(len), self.args, data=())
        self.require(self.emit("compare", count, Constant(len(types)), data="=="))
        taken = []
        whole = self.emit("unpack", self.args, data=(len(types), None)) if types else None
        for i in range(len(types)):
            assert whole is not None
            taken.append(self.emit("project", whole, data=i))
        for variable, abstract in zip(taken, types):
            self.check(variable, abstract)
        lists = [v for v, t in zip(taken, types) if isinstance(t, List)]
        for i, a in enumerate(lists):
            for b in lists[:i]:
                self.require(self.emit("is_not", a, b))
        return taken


def _class_of(abstract: Abstract) -> type:
    import numpy as np

    if isinstance(abstract, Number):
        (cls,) = abstract.types
        return cls
    if isinstance(abstract, Array):
        return np.ndarray
    if isinstance(abstract, Tuple):
        return tuple
    if isinstance(abstract, List):
        return list
    if isinstance(abstract, Instance):
        return abstract.cls
    raise Refused(f"no guard for {abstract!r}")


class _World:
    """The prologue as the inference sees it."""

    def __init__(self, prologue: Prologue) -> None:
        self.load, self.attribute, self.captured = prologue.load, prologue.attribute, prologue.captured
        self.in_scope, self.function = prologue.in_scope, prologue.function_


def joint_ir(f: FunctionType, args: tuple[Any, ...], with_value: bool) -> tuple[IR, dict[str, float]]:
    """The joint program of ``f`` for arguments like these, and how long each stage took."""
    times: dict[str, float] = {}
    clock = _Clock(times)
    if any(callable(x) and not isinstance(x, type) for x in args):
        raise Refused("a callable as an argument")
    types = [described(x) for x in args]
    if f.__code__.co_argcount != len(args) or f.__code__.co_kwonlyargcount or f.__code__.co_flags & 0x2C:
        raise Refused("a signature with optional parameters")
    prologue = Prologue(f)
    taken = prologue.parameters(types)
    inference = Inference(_World(prologue), evaluate, prologue.types)
    params = inference.run(f.__code__, f.__globals__, f.__closure__, types)
    clock("infer")
    shape = prepare(inference)
    needs = needed(inference.program, shape, params)
    clock("activity")
    builder, last, found, value = joint_pass(inference.program, shape, params, needs, RUNTIME)
    primal = builder.blocks[: len(shape.ir.blocks)]
    essential = {s for block in primal for s in block.statements if _may_raise(s, inference)}
    grads = [_finished(builder, last, p, found[p], inference) for p in params]
    result: Operand = builder.emit(last, "build_tuple", *grads)
    if with_value:
        result = builder.emit(last, "build_tuple", value, result)
    last.terminator = Terminator("return", [result])
    blocks = builder.finish()
    _join_prologue(prologue, blocks, dict(zip(params, taken)))
    name = f.__code__.co_name
    ir = IR(name, Signature(("f", "args"), 2, 2), f.__qualname__, f.__code__.co_filename, f.__code__.co_firstlineno)
    ir.blocks = [
        *prologue.blocks[:-1],
        *([] if not prologue.blocks[:-1] else []),
        prologue.blocks[-1],
        *blocks,
        prologue.miss,
    ]
    clock("adjoint")
    simplify(ir, essential, lambda x: _is_float(x, inference))
    if DEBUG:
        verify(ir)
    clock("simplify")
    return ir, times


def _is_float(operand: Operand, inference: Inference) -> bool:
    """Whether an operand is a float or an array of floats; what the types do not know is a cotangent."""
    if isinstance(operand, Constant):
        return type(operand.value) is float
    abstract = inference.types.get(operand)
    if isinstance(abstract, Number):
        return not abstract.types & {int, bool}
    return abstract is None or isinstance(abstract, Array) and abstract.dtype is not None and abstract.dtype.kind == "f"


def _join_prologue(prologue: Prologue, blocks: list[Block], mapping: dict[Variable, Variable]) -> None:
    first = blocks[0]
    args: list[Operand] = [mapping[p] for p in first.params]
    prologue.block.terminator = Terminator("jump", [], [Edge(first, args)])
    for param in mapping:
        if param not in first.params:
            first.params.append(param)
            args.append(mapping[param])
    prologue.block.terminator.edges[0].args = args


class _Clock:
    def __init__(self, times: dict[str, float]) -> None:
        self.times, self.last = times, time.perf_counter()

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.times[stage] = now - self.last
        self.last = now


def _may_raise(s: Statement, inference: Inference) -> bool:
    """Whether a statement of the primal must happen even if nobody reads its result."""
    if s.op in ("build_tuple", "project", "unpack", "is", "is_not", "build_slice", "list_append"):
        return False
    if s.op in ("binary", "inplace", "unary", "compare", "truth", "not"):
        plain = frozenset({float, int, bool})
        numbers = all((number_types(inference.type_of(x)) or {None}) <= plain for x in s.operands)
        return not (numbers and s.data in ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=", None))
    return True


def _finished(builder: Builder, out: Block, param: Variable, cotangent: Operand, inference: Inference) -> Operand:
    """The gradient in the form of the argument."""
    return _in_form(builder, out, inference.types[param], param, cotangent, inference)


def _in_form(
    builder: Builder, out: Block, abstract: Abstract, value: Operand, cotangent: Operand, inference: Inference
) -> Operand:
    if isinstance(abstract, Number) and bool not in abstract.types:
        if isinstance(cotangent, Constant) and type(cotangent.value) is float and abstract.types <= {float, int}:
            return cotangent
        if abstract.types <= {float, int} and _only_floats(inference):
            return cotangent
        return builder.emit(out, "call", Constant(RUNTIME["number_gradient"]), value, cotangent, data=())
    if isinstance(abstract, Array) and (abstract.dtype is None or abstract.dtype.kind != "b"):
        return builder.emit(out, "call", Constant(RUNTIME["array_gradient"]), value, cotangent, data=())
    if isinstance(abstract, Tuple):
        parts = []
        for i, item in enumerate(abstract.items):
            part = builder.emit(out, "getitem", value, Constant(i))
            piece = builder.emit(out, "getitem", cotangent, Constant(i))
            parts.append(_in_form(builder, out, item, part, piece, inference))
        return builder.emit(out, "build_tuple", *parts)
    if isinstance(abstract, List):
        if isinstance(cotangent, Constant):
            return builder.emit(out, "call", Constant(RUNTIME["zero_list"]), value, data=())
        return (
            cotangent
            if _only_floats(inference)
            else builder.emit(out, "call", Constant(RUNTIME["float_list"]), cotangent, data=())
        )
    return Constant(None)


def _only_floats(inference: Inference) -> bool:
    """Whether no number of NumPy's takes part, so that all cotangents are plain floats."""
    plain = {float, int, bool}
    for abstract in inference.types.values():
        if isinstance(abstract, Array) or (isinstance(abstract, Number) and not abstract.types <= plain):
            return False
    return True


class Specialisations:
    """What has been specialised of one code object, newest first."""

    __slots__ = ("entries", "failures", "given_up", "lock")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.failures = 0
        self.given_up: str | None = None
        self.lock = threading.Lock()


_gradients: Final[dict[int, Entry]] = {}
_known: Final[dict[tuple[int, bool], Specialisations]] = {}


def entries() -> dict[int, Entry]:
    """The newest entry of each code object, by identity."""
    return _gradients


def specialised(f: Any, args: tuple[Any, ...], error: Exception | None = None, with_value: bool = False) -> Any:
    """The gradient of ``f`` by a specialised program; ``MISS`` if there is none for these arguments.

    ``error`` is what the newest one has raised.
    """
    if _GENERIC or type(f) is not FunctionType or registry.has_rules(f) or registry.is_constant(f) or id(f) in HANDLERS:
        return MISS
    key = (id(f.__code__), with_value)
    known = _known.get(key)
    if known is None:
        known = _known.setdefault(key, Specialisations())
        weakref.finalize(f.__code__, _forget, id(f.__code__)).atexit = False
    elif error is not None and known.entries:
        _failed(known, f, error)
        return MISS
    if known.given_up is not None:
        return MISS
    for entry in known.entries:
        result = _run(entry, known, f, args)
        if result is not MISS:
            return result
    if len(known.entries) >= _SPECIALISATIONS or known.given_up is not None or known.failures:
        return MISS
    with known.lock:
        made = _specialise(known, f, args, with_value)
    return MISS if made is None else _run(made, known, f, args)


def _forget(key: int) -> None:
    _gradients.pop(key, None)
    for with_value in (False, True):
        _known.pop((key, with_value), None)


def _out_of_date() -> None:
    """A rule that changed, or a module that was opted in, makes all of it out of date."""
    _gradients.clear()
    _known.clear()


registry.when_changed(_out_of_date)
config.when_changed(_out_of_date)


def _run(entry: Entry, known: Specialisations, f: Any, args: tuple[Any, ...]) -> Any:
    try:
        return entry(f, args)
    except Exception as error:
        _failed(known, f, error)
        return MISS


def _failed(known: Specialisations, f: Any, error: Exception) -> None:
    """A specialised program raised: the generic path says what of it is the program's own."""
    known.failures += 1
    if known.failures >= _FAILURES:
        known.given_up = f"it raised {type(error).__name__}: {error}"
        _gradients.pop(id(f.__code__), None)
        config.trace(f"not specialised any more: {f.__qualname__}: {known.given_up}")


def _specialise(known: Specialisations, f: FunctionType, args: tuple[Any, ...], with_value: bool) -> Entry | None:
    start = time.perf_counter()
    try:
        prepare_session()
        ir, times = joint_ir(f, args, with_value)
    except Refused as reason:
        known.given_up = str(reason)
        config.trace(
            f"not specialised: {f.__qualname__} ({f.__code__.co_filename}:{f.__code__.co_firstlineno}): {reason}"
        )
        return None
    before = time.perf_counter()
    entry = FunctionType(emit(ir, release=True), f.__globals__, f.__name__)
    times["emit"] = time.perf_counter() - before
    stages = ", ".join(f"{stage} {1000 * t:.1f}" for stage, t in times.items())
    total = 1000 * (time.perf_counter() - start)
    config.trace(
        f"specialised {f.__qualname__} ({f.__code__.co_filename}:{f.__code__.co_firstlineno}) "
        f"in {total:.1f} ms: {stages}"
    )
    known.entries.insert(0, entry)
    if not with_value:
        _gradients[id(f.__code__)] = entry
    return entry
