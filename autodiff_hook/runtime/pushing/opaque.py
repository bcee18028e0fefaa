"""Calls that no derivative is known of: an error at once if something with a tangent goes in."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import describe
from autodiff_hook.runtime.effects import written_by
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.opaque import Loss
from autodiff_hook.runtime.pushing.context import Result, TangentContext, reaches, some
from autodiff_hook.runtime.pushing.handlers import bookkeeping


def call_opaque(
    ctx: TangentContext, t: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> Result:
    """Call natively; a result without numbers in it is a constant whatever went in."""
    lost = loses(ctx, t, function, args, kwargs)
    if lost == "references":
        fail(function, reason)
    value = function(*args, **kwargs)
    if lost and not is_plain(value):
        fail(function, reason)
    return value, None


@bookkeeping
def loses(ctx: TangentContext, t: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How derivatives would be lost in a call: in what it may write to, in its result alone, or not at all."""
    if not some(t) and not any(reaches(ctx, value) for value in (function, *args, *kwargs.values())):
        return ""
    return "references" if any(map(_keeps, written_by(function, args, kwargs)[1:])) else "values"


def _keeps(value: Any) -> bool:
    """Whether a call could leave something in ``value``."""
    kind = kind_of(type(value))
    if kind == "tuple":
        return any(map(_keeps, value))
    return kind not in ("number", "inert") and type(value) is not FunctionType


@bookkeeping
def is_plain(value: Any) -> bool:
    """Whether no number can be got out of ``value``."""
    if type(value) in (tuple, list):
        return all(map(is_plain, value))
    return kind_of(type(value)) == "inert" and not issubclass(type(value), (BaseException, bytes, bytearray))


@bookkeeping
def fail(function: Any, reason: str) -> None:
    """Raise for a call through which a derivative would be lost."""
    raise failure(function, reason)


def failure(function: Any, reason: str) -> NotDifferentiable:
    """What is wrong, where, and what helps."""
    return Loss(function, reason, []).error()


def describe_type(value: Any) -> str:
    """The name of the type of a value."""
    return describe(type(value))


bookkeeping(describe_type)
