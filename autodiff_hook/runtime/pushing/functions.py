"""Python functions in scope: their pushforward is generated at its first use, then called."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook import config
from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import Signature
from autodiff_hook.runtime import functions
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep_all, load
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.pushing.iteration import generated
from autodiff_hook.runtime.pushing.opaque import call_opaque
from autodiff_hook.runtime.pushing.primitives import call_pushed, read_default
from autodiff_hook.runtime.sharing import ByNamespace
from autodiff_hook.transform.generic.pushforward import pushforward_pass


class Pushed:
    """The pushforward of one code object with one set of globals."""

    __slots__ = ("code", "facts", "kind", "signature", "unsupported")

    def __init__(self, code: CodeType, globals_: dict[str, Any]) -> None:
        self.unsupported = ""
        self.facts = functions.GlobalFacts(code, globals_)
        self.code = code
        try:
            primal = functions.analyse(code, globals_)
            self.signature: Signature = primal.ir.signature
            self.kind = primal.ir.kind
            self.code = emit(pushforward_pass(primal, runtime_table()))
        except Unsupported as error:
            self.unsupported = f"which is not supported: {error}"


def _push(code: CodeType, globals_: dict[str, Any]) -> Pushed:
    pushed = Pushed(code, globals_)
    config.trace(f"lifted {code.co_qualname} for its pushforward ({code.co_filename}:{code.co_firstlineno})")
    return pushed


_pushed_for: Final = ByNamespace(_push)


def runtime_table() -> dict[str, Any]:
    """What generated pushforwards call, by the name of the operation."""
    from autodiff_hook.runtime.pushing.table import TABLE

    return TABLE


@bookkeeping
def in_scope(ctx: TangentContext, function: Any) -> bool:
    """Whether a Python function belongs to what is to be differentiated."""
    return functions.in_scope(ctx, function)


@bookkeeping
def in_library(function: Any) -> bool:
    """Whether a Python function belongs to a library that is entered where derivatives need it."""
    return functions.in_library(function)


@bookkeeping
def unsupported(function: Any) -> str:
    """Why a Python function has no pushforward; empty if it has one."""
    return _pushed_for(function.__code__, function.__globals__).unsupported


@bookkeeping
def pushed(function: Any) -> Any:
    """The pushforward of a Python function, with its globals and its closure."""
    found = _pushed_for(function.__code__, function.__globals__)
    return FunctionType(found.code, function.__globals__, function.__name__, None, function.__closure__)


@bookkeeping
def is_generator(function: Any) -> bool:
    """Whether a Python function is a generator function."""
    return _pushed_for(function.__code__, function.__globals__).kind == "generator"


Source = tuple[str, Any]


@bookkeeping
def binding(function: Any, count: int, names: tuple[str, ...]) -> list[Source] | None:
    """Where each parameter of a function comes from in a call with ``count`` arguments and these named ones.

    None if the call does not fit. A source is ``("given", index among all arguments)``,
    ``("default", (function or mapping, key))``, ``("rest", first)`` or ``("named", {name: index})``.
    """
    signature = _pushed_for(function.__code__, function.__globals__).signature
    positional = signature.positional
    rest = {name: count + i for i, name in enumerate(names)}
    if count > positional and not signature.varargs:
        return None
    plan: list[Source] = []
    for index, name in enumerate(signature.names[: positional + signature.keyword_only]):
        source = _source(function, signature, index, name, count, rest)
        if source is None:
            return None
        plan.append(source)
    if signature.varargs:
        plan.append(("rest", positional))
    if signature.varkeywords:
        plan.append(("named", rest))
    elif rest:
        return None
    return plan


def _source(
    function: Any, signature: Signature, index: int, name: str, count: int, rest: dict[str, int]
) -> Source | None:
    positional = signature.positional
    by_name = name in rest and index >= signature.positional_only
    defaults, keyword_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
    if index < min(count, positional):
        return None if by_name else ("given", index)
    if by_name:
        return "given", rest.pop(name)
    if 0 <= index - positional + len(defaults) < len(defaults):
        return "default", (function, index - positional + len(defaults))
    if index >= positional and name in keyword_defaults:
        return "default", (keyword_defaults, name)
    return None


def enter(ctx: TangentContext, t: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """Call a Python function; ``t`` has the tangents of the function and of all arguments."""
    reason = unsupported(function)
    if reason:
        return call_opaque(ctx, t[1:], function, args, kwargs, reason)
    plan = binding(function, len(args), tuple(kwargs))
    if plan is None:
        return function(*args, **kwargs), None
    values, tangents = bound(ctx, plan, len(args), (*args, *kwargs.values()), t[1:])
    result = call_pushed(pushed(function), ctx, tangents, *values)
    return (generated(ctx, result), None) if is_generator(function) else result


def bound(
    ctx: TangentContext, plan: list[Source], count: int, values: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The values and the tangents of all parameters."""
    if is_direct(plan, len(values)):
        return values, tangents
    found: list[Any] = []
    moving: list[Any] = []
    for source, where in plan:
        if source == "given":
            found.append(values[where])
            moving.append(tangents[where])
        elif source == "default":
            reference, key = where
            found.append(read_default(reference, key))
            moving.append(load(ctx, reference, key))
        elif source == "rest":
            found.append(values[where:count])
            moving.append(tangents[where:count] if where < count else None)
        else:
            named = {name: values[place] for name, place in where.items()}
            keep_all(ctx, named, {name: tangents[place] for name, place in where.items()})
            found.append(named)
            moving.append(None)
    return tuple(found), tuple(moving)


@bookkeeping
def is_direct(plan: list[Source], count: int) -> bool:
    """Whether the arguments are the parameters, in their order."""
    return len(plan) == count and all(source == ("given", i) for i, source in enumerate(plan))
