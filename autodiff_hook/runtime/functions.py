"""Python functions in scope: compiled at their first differentiated call, then called.

What is compiled is kept by the identity of the code object and of its globals, weakly: nothing here
keeps a function, a closure or an array alive.
"""

from __future__ import annotations

import builtins
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, Protocol

from autodiff_hook import config
from autodiff_hook.emit import emit
from autodiff_hook.errors import LIBRARIES, Unsupported, located, place_of
from autodiff_hook.ir.types import IR, Signature, Statement
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import run
from autodiff_hook.runtime.generators import Run
from autodiff_hook.runtime.opaque import call_opaque
from autodiff_hook.runtime.sharing import ByNamespace
from autodiff_hook.runtime.slots import loaded
from autodiff_hook.runtime.tracebacks import DEBUG
from autodiff_hook.transform.generic.forward import Primal, forward_pass
from autodiff_hook.transform.generic.normalise import normalise
from autodiff_hook.transform.generic.reverse import reverse_pass

OWN_MODULES: Final = (
    "autodiff_rules",
    "autodiff_hook.api",
    "autodiff_hook.runtime.equivalents",
    "autodiff_hook.runtime.pushing",
    "autodiff_hook.runtime.engine",
    "autodiff_hook.semantics.library",
    "autodiff_hook.algebras.hessians",
    "autodiff_hook.runtime.trees",
    "autodiff_hook.tangent",
)
_OWN_PREFIXES: Final = tuple(f"{own}." for own in OWN_MODULES)
_CONSTANT_GLOBALS: Final = (FunctionType, type, ModuleType, type(len))


class Compiled:
    """The forward and reverse programs of one code object with one set of globals."""

    __slots__ = ("__weakref__", "facts", "forward", "kind", "reverse", "signature", "simple", "unsupported")

    def __init__(self, code: CodeType, globals_: dict[str, Any]) -> None:
        self.unsupported: str | None = None
        self.facts = GlobalFacts(code, globals_)
        try:
            primal = analyse(code, globals_)
            self.signature: Signature = primal.ir.signature
            self.kind = primal.ir.kind
            table = runtime_table()
            forward, reverse = forward_pass(primal, table), reverse_pass(primal, table)
            if DEBUG:
                verify(forward)
                verify(reverse)
            self.forward: CodeType = emit(forward)
            self.reverse: Any = FunctionType(emit(reverse, release=True), {"__builtins__": builtins})
        except Unsupported as error:
            self.unsupported = str(error)
            return
        s = self.signature
        self.simple = len(s.names) == s.positional


def analyse(code: CodeType, globals_: dict[str, Any], observes: bool = True, carried: bool = False) -> Primal:
    """Lift a code object and find out what of it can carry a derivative."""
    ir: IR = lift(code, lifetimes=carried)
    if ir.kind not in ("function", "generator") and not (carried and ir.kind == "coroutine"):
        place = place_of(ir.filename, ir.first_line, ir.qualname)
        raise Unsupported(located(f"a {ir.kind.replace('_', ' ')} is not differentiated", place))
    for block in ir.blocks:
        for statement in block.statements:
            if statement.op in _ASYNCHRONOUS:
                _refuse_statement(ir, statement, "async for and async with are not differentiated")
        if block.terminator is not None and block.terminator.kind == "send" and not carried:
            line = block.terminator.position.line if block.terminator.position else code.co_firstlineno
            place = place_of(ir.filename, line, ir.qualname)
            raise Unsupported(located("yield from is not differentiated", place))
    refuse_frame_access(ir, globals_)
    exit_block = normalise(ir)
    return Primal(ir, exit_block, lambda name: _is_constant(name, globals_), observes, carried)


_ASYNCHRONOUS: Final = ("aiter", "anext", "enter_async")
_FRAME_READERS: Final = {"locals": 0, "vars": 0, "dir": 0, "eval": 1, "exec": 1}
"""Builtins that look at the caller's frame when they are called with no more arguments than this."""


def refuse_frame_access(ir: IR, globals_: dict[str, Any]) -> None:
    """Raise ``Unsupported`` for a function that looks at its own frame, which is another one here."""
    readers = {}
    for block in ir.blocks:
        for statement in block.statements:
            name, operands = str(statement.data), statement.operands
            if statement.op == "global" and name in _FRAME_READERS and name not in globals_:
                readers[statement.result] = name
            elif statement.op in ("call_method", "load_method"):
                called = statement.data[0] if statement.op == "call_method" else name
                if called in ("_getframe", "currentframe"):
                    _refuse_frame(ir, statement, called)
            elif statement.op == "call" and operands[0] in readers:
                called = readers[operands[0]]
                if len(operands) - 1 <= _FRAME_READERS[called]:
                    _refuse_frame(ir, statement, called)


def _refuse_frame(ir: IR, statement: Statement, name: str) -> None:
    _refuse_statement(ir, statement, f"{name}() looks at the frame of the function")


def _refuse_statement(ir: IR, statement: Statement, why: str) -> None:
    line = statement.position.line if statement.position else ir.first_line
    raise Unsupported(located(why, place_of(ir.filename, line, ir.qualname)))


class GlobalFacts:
    """Which globals of a code object are functions, classes and modules, and which are builtins for want of others."""

    __slots__ = ("_absent", "_names", "_types")

    def __init__(self, code: CodeType, globals_: dict[str, Any]) -> None:
        self._names = [name for name in code.co_names if name in globals_ and _is_constant(name, globals_)]
        self._types = {type(globals_[name]) for name in self._names}
        self._absent = [name for name in code.co_names if name not in globals_ and hasattr(builtins, name)]

    def hold(self, globals_: dict[str, Any]) -> bool:
        """Whether these globals have nothing else by those names."""
        found = self._types.issuperset(map(type, map(globals_.get, self._names)))
        return found and globals_.keys().isdisjoint(self._absent)


def _is_constant(name: str, globals_: dict[str, Any]) -> bool:
    value = globals_.get(name, _MISSING)
    if value is _MISSING:
        value = getattr(builtins, name, _MISSING)
    return isinstance(value, _CONSTANT_GLOBALS)


shortcuts: Final[list[Any]] = []
"""What knows faster ways to call some functions: asked first, each gives a result or None."""

_MISSING: Final = object()


def _compile(code: CodeType, globals_: dict[str, Any]) -> Compiled:
    compiled = Compiled(code, globals_)
    config.trace(f"lifted {code.co_qualname} ({code.co_filename}:{code.co_firstlineno})")
    return compiled


_compiled: Final = ByNamespace(_compile)


def runtime_table() -> dict[str, Any]:
    """What generated code calls, by the name of the operation."""
    from autodiff_hook.runtime.table import TABLE

    return TABLE


class Scope(Protocol):
    """What knows the modules of the functions that were handed in."""

    modules: set[str]


def module_of(function: Any) -> str:
    """The name of the module of a Python function; executed code of none is a module by itself."""
    return config.module_of(function) or f"<{id(function.__globals__)}>"


def in_scope(ctx: Scope, function: Any) -> bool:
    """Whether a Python function belongs to what is to be differentiated."""
    own = function.__globals__.get("__name__")
    if type(own) is str and own in ctx.modules:
        return True
    name = module_of(function)
    return name in ctx.modules or config.function_in_scope(function) or is_own(name)


def is_own(module: str) -> bool:
    """Whether a module is part of the engine, and written to be entered."""
    return f"{module}.".startswith(_OWN_PREFIXES)


def in_library(function: Any) -> bool:
    """Whether a Python function belongs to the standard library, to NumPy or to SciPy, or to no module.

    Nobody can opt in what is of no module (``sympy.lambdify`` makes such functions): it is entered where derivatives
    need it, as library code is.
    """
    name = config.module_of(function)
    if name is None:
        return True
    # collections.namedtuple gives each class it makes a namespace of this name.
    return name.partition(".")[0] in LIBRARIES or name.startswith("namedtuple_")


class FunctionPullback:
    """The reverse sweep of one call of a Python function: the cotangents of its parameters."""

    __slots__ = ("compiled", "tape")

    def __init__(self, compiled: Compiled, tape: list[Any]) -> None:
        self.compiled, self.tape = compiled, tape

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        result: tuple[Any, ...] = self.compiled.reverse(sweep, self.tape, cotangent)
        return result


class Realigned:
    """The cotangents of parameters, put where the arguments stood in the call.

    ``plan`` says for each parameter: the index of its argument, the pullback of having loaded its default
    (None if that is constant), ``(first,)`` for ``*args``, a dict from index to ``(mapping, name)`` for
    ``**kwargs``. No plan: one to one.
    """

    __slots__ = ("count", "plan", "pullback")

    def __init__(self, pullback: Pullback, plan: list[Any] | None, count: int) -> None:
        self.pullback, self.plan, self.count = pullback, plan, count

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        cotangents = run(self.pullback, sweep, cotangent)
        if self.plan is None:
            return (None, *cotangents)
        result: list[Any] = [None] * self.count
        for source, value in zip(self.plan, cotangents):
            if isinstance(source, int):
                result[source] = value
            elif isinstance(source, tuple):
                for offset, item in enumerate(value or ()):
                    result[source[0] + offset] = item
            elif isinstance(source, dict):
                for place, (mapping, name) in source.items():
                    result[place] = sweep.pop(mapping, name)
            elif source is not None:
                source(sweep, value)
        return tuple(result)


def enter(
    ctx: Context, w: Any, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Pullback | None]:
    """Call a Python function with derivatives; ``w`` has the witnesses of function, args, kwargs."""
    if not kwargs and w[0] is None:
        for shortcut in shortcuts:
            result: tuple[Any, Pullback | None] | None = shortcut(ctx, w, function, args)
            if result is not None:
                return result
    return enter_generic(ctx, w, function, args, kwargs)


def enter_generic(
    ctx: Context, w: Any, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Pullback | None]:
    """``enter`` without specialisation."""
    code = function.__code__
    compiled = _compiled(code, function.__globals__)
    if compiled.unsupported is not None:
        return call_opaque(ctx, w[1:], function, args, kwargs, f"which is not supported: {compiled.unsupported}")
    plan: list[Any] | None = None
    values: Any = args
    witnesses: Any = w[1:]
    if not compiled.simple or kwargs or len(args) != compiled.signature.positional:
        bound = bind(ctx, compiled.signature, function, args, kwargs, w)
        if bound is None:
            return function(*args, **kwargs), None
        values, witnesses, plan = bound
    forward = FunctionType(compiled.forward, function.__globals__, function.__name__, None, function.__closure__)
    effects, tape = ctx.effects, list[Any]()
    if compiled.kind == "generator":
        made = Run(ctx, compiled, forward(ctx, witnesses, tape, *values), tape)
        return made.iteration(), Realigned(made, plan, 1 + len(args) + len(kwargs))
    try:
        result, witness = forward(ctx, witnesses, tape, *values)
    except BaseException:
        if ctx.effects != effects:
            ctx.lost = located(
                "it stored what carries a derivative and then raised an exception, and the program went on; this is "
                "not differentiated",
                place_of(code.co_filename, code.co_firstlineno, code.co_qualname),
            )
        raise
    if witness is None and ctx.effects == effects:
        return result, None
    return result, Realigned(FunctionPullback(compiled, tape), plan, 1 + len(args) + len(kwargs))


def bind(
    ctx: Context, signature: Signature, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any], w: Any
) -> tuple[list[Any], tuple[Any, ...], list[Any]] | None:
    """Values and witnesses of all parameters, and where each came from; None if the call does not fit."""
    names, positional = signature.names, signature.positional
    rest = dict(kwargs)
    places = {name: 1 + len(args) + i for i, name in enumerate(kwargs)}
    values: list[Any] = []
    plan: list[Any] = []
    defaults = function.__defaults__ or ()
    if len(args) > positional and not signature.varargs:
        return None
    for index, name in enumerate(names[: positional + signature.keyword_only]):
        default_index = index - positional + len(defaults)
        if index < len(args) and index < positional:
            values.append(args[index])
            plan.append(1 + index)
            if name in rest and index >= signature.positional_only:
                return None
        elif name in rest and index >= signature.positional_only:
            values.append(rest.pop(name))
            plan.append(places[name])
        elif index < positional and default_index >= 0:
            values.append(defaults[default_index])
            plan.append(loaded(ctx, function, default_index, defaults[default_index]) if ctx.marks else None)
        elif index >= positional and name in (function.__kwdefaults__ or {}):
            named: dict[str, Any] = function.__kwdefaults__ or {}
            values.append(named[name])
            plan.append(loaded(ctx, named, name, named[name]) if ctx.marks else None)
        else:
            return None
    witnesses = [w[place] if isinstance(place, int) else place for place in plan]
    if signature.varargs:
        extra = args[positional:]
        values.append(extra)
        plan.append((1 + positional,))
        witnesses.append(next((x for x in w[1 + positional : 1 + len(args)] if x is not None), None))
    if signature.varkeywords:
        values.append(rest)
        plan.append({places[name]: (rest, name) for name in rest})
        witnesses.append(None)
        for name in rest:
            if w[places[name]] is not None:
                ctx.mark(rest, name)
                ctx.effects += 1
    elif rest:
        return None
    return values, tuple(witnesses), plan
