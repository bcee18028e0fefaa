"""Callables that are written in C, by their equivalents in Python code."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

from autodiff_hook.runtime import equivalents
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.pushing.context import Result, TangentContext
from autodiff_hook.runtime.pushing.functions import enter
from autodiff_hook.runtime.pushing.handlers import WITH_OPTIONS, bookkeeping, pushes
from autodiff_hook.runtime.pushing.opaque import call_opaque, loses

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class Substitute:
    """A Python function that is called instead."""

    def __init__(self, function: Any, lead: int = 0) -> None:
        self.function, self.lead = function, lead

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        return enter(ctx, (None, *t[self.lead :]), self.function, args[self.lead :], kwargs)


for _target, _function in equivalents.SUBSTITUTES:
    pushes(_target)(Substitute(_function).push)
for _target, _function in equivalents.WITH_OPTIONS:
    WITH_OPTIONS[id(_target)] = Substitute(_function).push
pushes(find_in_type(itertools.chain, "from_iterable"))(Substitute(equivalents.chain_from, lead=1).push)


class Getting:
    """Calling an ``itemgetter`` or ``attrgetter``."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        getter, owner = args
        return enter(ctx, (None, None, t[1]), self.function, (names_of(getter), owner), {})


@bookkeeping
def names_of(getter: Any) -> tuple[Any, ...]:
    """What an ``itemgetter`` or ``attrgetter`` gets."""
    return tuple(getter.__reduce__()[1])


for _target, _function in equivalents.GETTERS:
    pushes(_target)(Getting(_function).push)


@pushes(operator.methodcaller.__call__)
def call_method_of(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """Calling a ``methodcaller``."""
    from autodiff_hook.runtime.pushing.calls import call_method

    caller, owner = args
    if loses(ctx, (), caller, (), {}):
        return call_opaque(ctx, t, caller, args[1:], kwargs, "whose arguments have tangents")
    name, rest, named = parts_of(caller)
    values = (*rest, *named.values())
    return call_method(ctx, (t[1], *[None] * len(values)), (name, tuple(named)), owner, *values)


@bookkeeping
def parts_of(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name, the arguments and the named arguments of a ``methodcaller``."""
    made, given = caller.__reduce__()[:2]
    if isinstance(made, functools.partial):
        return made.args[0], given, made.keywords
    return given[0], given[1:], {}


for _target in equivalents.NATIVE:
    bookkeeping(_target)
bookkeeping(type(functools.cmp_to_key(max)).__call__)
