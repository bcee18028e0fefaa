"""Registers the Python equivalents of callables that are written in C."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from autodiff_hook.runtime import equivalents
from autodiff_hook.runtime.builtins import native
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.functions import enter
from autodiff_hook.runtime.handlers import LAZY, WITH_OPTIONS, Handler, handles
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.opaque import call_opaque

Result = tuple[Any, Pullback | None]
Args = tuple[Any, ...]


def _entering(function: Any) -> Handler:
    """The handler that calls a Python function instead."""

    def enter_substitute(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        value, pullback = enter(ctx, (None, *w), function, args, kwargs)
        return value, None if pullback is None else _Rest(pullback, 1)

    return enter_substitute


class _Rest:
    """A pullback without the cotangents of its first operands."""

    __slots__ = ("lead", "pullback")

    def __init__(self, pullback: Pullback, lead: int) -> None:
        self.pullback, self.lead = pullback, lead

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = self.pullback(sweep, cotangent)
        return None if given is None else given[self.lead :]


for _target, _function in equivalents.SUBSTITUTES:
    handles(_target)(_entering(_function))
    LAZY.add(id(_target))
handles(find_in_type(itertools.chain, "from_iterable"))(
    lambda ctx, w, args, kwargs: _with_class(_entering(equivalents.chain_from), ctx, w, args, kwargs)
)
for _target, _function in equivalents.WITH_OPTIONS:
    WITH_OPTIONS[id(_target)] = _entering(_function)


def _with_class(handler: Handler, ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """A class method: the class in front has no cotangent."""
    value, pullback = handler(ctx, w[1:], args[1:], kwargs)
    return value, None if pullback is None else _Led(pullback)


class _Led:
    """A pullback with no cotangent for the first operand."""

    __slots__ = ("pullback",)

    def __init__(self, pullback: Pullback) -> None:
        self.pullback = pullback

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        given = self.pullback(sweep, cotangent)
        return None if given is None else (None, *given)


def _getting(function: Callable[..., Any]) -> Handler:
    """The handler of calling an ``itemgetter`` or ``attrgetter``."""

    def get(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        getter, owner = args
        value, pullback = enter(ctx, (None, None, w[1]), function, (getter.__reduce__()[1], owner), {})  # type: ignore[arg-type]
        return value, None if pullback is None else _Rest(pullback, 1)

    return get


for _target, _function in equivalents.GETTERS:
    handles(_target)(_getting(_function))


@handles(operator.methodcaller.__call__)
def call_method_of(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """Calling a ``methodcaller``."""
    caller, owner = args
    if id(caller) in ctx.marks:
        return call_opaque(ctx, w, caller, args[1:], kwargs, "whose arguments carry derivatives")
    name, *rest = caller.__reduce__()[1]
    named = getattr(caller.__reduce__()[0], "keywords", {})
    if named:
        rest = list(caller.__reduce__()[0].args[1:])
        name = caller.__reduce__()[0].args[0]
    function: Any = equivalents.method_of
    value, pullback = enter(ctx, (None, None, None, None, w[1]), function, (name, tuple(rest), named, owner), {})
    return value, None if pullback is None else _Rest(pullback, 3)


for _target in equivalents.NATIVE:
    handles(_target)(native(_target))
