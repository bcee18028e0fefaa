"""Python functions in scope: compiled at their first differentiated call, then called.

What is compiled is kept by the identity of the code object and of its globals, weakly: nothing here
keeps a function, a closure or an array alive.
"""

from __future__ import annotations

import builtins
import sys
import threading
import weakref
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, Protocol

from autodiff_hook import config
from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import IR, Signature, Statement
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import run
from autodiff_hook.runtime.generators import Run
from autodiff_hook.runtime.opaque import call_opaque
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
    "autodiff_hook.runtime.trees",
    "autodiff_hook.tangent",
)
_LIBRARY: Final = frozenset(sys.stdlib_module_names) | {"numpy", "scipy"}
_CONSTANT_GLOBALS: Final = (FunctionType, type, ModuleType, type(len))


class Compiled:
    """The forward and reverse programs of one code object with one set of globals."""

    __slots__ = ("__weakref__", "forward", "kind", "reverse", "signature", "simple", "unsupported")

    def __init__(self, code: CodeType, globals_: dict[str, Any]) -> None:
        self.unsupported: str | None = None
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


def analyse(code: CodeType, globals_: dict[str, Any], observes: bool = True) -> Primal:
    """Lift a code object and find out what of it can carry a derivative."""
    ir: IR = lift(code)
    if ir.kind not in ("function", "generator"):
        raise Unsupported(
            f"{code.co_filename}:{code.co_firstlineno} in {code.co_qualname}: "
            f"a {ir.kind.replace('_', ' ')} is not differentiated"
        )
    for block in ir.blocks:
        if block.terminator is not None and block.terminator.kind == "send":
            line = block.terminator.position.line if block.terminator.position else code.co_firstlineno
            raise Unsupported(f"{code.co_filename}:{line} in {code.co_qualname}: yield from is not differentiated")
    refuse_frame_access(ir, globals_)
    exit_block = normalise(ir)
    return Primal(ir, exit_block, lambda name: _is_constant(name, globals_), observes)


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
            elif statement.op == "call_method":
                called = statement.data[0]
                if called in ("_getframe", "currentframe"):
                    _refuse_frame(ir, statement, called)
            elif statement.op == "call" and operands[0] in readers:
                called = readers[operands[0]]
                if len(operands) - 1 <= _FRAME_READERS[called]:
                    _refuse_frame(ir, statement, called)


def _refuse_frame(ir: IR, statement: Statement, name: str) -> None:
    line = statement.position.line if statement.position else ir.first_line
    raise Unsupported(f"{ir.filename}:{line} in {ir.qualname}: {name}() looks at the frame of the function")


def _is_constant(name: str, globals_: dict[str, Any]) -> bool:
    value = globals_.get(name, _MISSING)
    if value is _MISSING:
        value = getattr(builtins, name, _MISSING)
    return isinstance(value, _CONSTANT_GLOBALS)


shortcuts: Final[list[Any]] = []
"""What knows faster ways to call some functions: asked first, each gives a result or None."""

_MISSING: Final = object()
_CACHE_SIZE: Final = 8192
_compiled: dict[tuple[int, int], Compiled] = {}
_compiling: dict[tuple[int, int], threading.Lock] = {}


def compiled_for(code: CodeType, globals_: dict[str, Any]) -> Compiled:
    """The compiled form of a code object, from the cache or made now; one thread makes it, others wait."""
    key = (id(code), id(globals_))
    found = _compiled.get(key)
    if found is not None:
        return found
    with _compiling.setdefault(key, threading.Lock()):
        found = _compiled.get(key)
        if found is None:
            found = Compiled(code, globals_)
            config.trace(f"lifted {code.co_qualname} ({code.co_filename}:{code.co_firstlineno})")
            while len(_compiled) >= _CACHE_SIZE:
                _compiled.pop(next(iter(_compiled)), None)
            _compiled[key] = found
            weakref.finalize(code, _compiled.pop, key, None).atexit = False
    _compiling.pop(key, None)
    return found


def runtime_table() -> dict[str, Any]:
    """What generated code calls, by the name of the operation."""
    from autodiff_hook.runtime.table import TABLE

    return TABLE


class Scope(Protocol):
    """What knows the modules of the functions that were handed in."""

    modules: set[str]


def module_name(globals_: dict[str, Any]) -> str:
    """The name of the module with these globals; executed code without one is a module by itself."""
    return globals_.get("__name__") or f"<{id(globals_)}>"


def in_scope(ctx: Scope, function: Any) -> bool:
    """Whether a Python function belongs to what is to be differentiated."""
    globals_ = function.__globals__
    name = module_name(globals_)
    if name in ctx.modules or config.in_scope(globals_):
        return True
    return is_own(name)


def is_own(module: str) -> bool:
    """Whether a module is part of the engine, and written to be entered."""
    return any(module == own or module.startswith(f"{own}.") for own in OWN_MODULES)


def in_library(function: Any) -> bool:
    """Whether a Python function belongs to the standard library, to NumPy or to SciPy."""
    name = function.__globals__.get("__name__", "") or ""
    # collections.namedtuple gives each class it makes a namespace of this name.
    return name.partition(".")[0] in _LIBRARY or name.startswith("namedtuple_")


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
    compiled = _compiled.get((id(code), id(function.__globals__))) or compiled_for(code, function.__globals__)
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
            ctx.lost = (
                f"{code.co_filename}:{code.co_firstlineno} in {code.co_qualname}: it stored what carries a derivative "
                f"and then raised an exception, and the program went on; this is not differentiated"
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
