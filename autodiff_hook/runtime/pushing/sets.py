"""Sets: the tangents of their members, by the members themselves."""

from __future__ import annotations

from typing import Any

from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep, keep_all, kind, known, load
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.items import materialised
from autodiff_hook.runtime.pushing.iteration import get_iter

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def _members(ctx: TangentContext, t: Any, sources: Any) -> dict[Any, Any]:
    """The tangents of all members, of the first of equal ones."""
    found: dict[Any, Any] = {}
    for tangent, source in zip(t, sources):
        values, tangents = materialised(ctx, tangent, source)
        for value, moving in zip(values, tangents):
            if value not in found:
                found[value] = moving
    return found


@pushes(set)
def set_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set(...)``: members keep their tangents."""
    found = _members(ctx, t, args)
    result = set(found)
    keep_all(ctx, result, found)
    return result, None


@pushes(frozenset)
def frozenset_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``frozenset(...)``."""
    found = _members(ctx, t, args)
    result = frozenset(found)
    keep_all(ctx, result, found)
    return result, None


class Combining:
    """A method of sets that makes a new set of the members of several."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        found = _members(ctx, t, args) if all([kind(x) != "object" for x in args]) else {}
        result = combined(self.function, args)
        if kind(result) == "set":
            keep_all(ctx, result, {member: found.get(member) for member in result})
        return result, None


@bookkeeping
def combined(function: Any, args: Args) -> Any:
    """A set operation, by Python itself."""
    return function(*args)


for _cls in (set, frozenset):
    for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
        pushes(getattr(_cls, _name))(Combining(getattr(_cls, _name)).push)
    for _name in ("__or__", "__and__", "__sub__", "__xor__"):
        pushes(getattr(_cls, _name))(Combining(getattr(_cls, _name)).push)


@pushes(set.add)
def set_add(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set.add``: a member that is there already stays."""
    owner, value = args
    if not set.__contains__(owner, value):
        set.add(owner, value)
        keep(ctx, owner, value, t[1])
    return None, None


@pushes(set.update)
def set_update(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set.update``."""
    owner, *others = args
    for moving, source in zip(t[1:], others):
        for value, tangent in get_iter(ctx, (moving,), None, list(source) if source is owner else source)[0]:
            set_add(ctx, (None, tangent), (owner, value), {})
    return None, None


@pushes(set.__ior__)
def set_ior(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``set |= set``."""
    set_update(ctx, t, args, kwargs)
    return args[0], None


class Dropping:
    """A method that takes members out of a set, and puts none in."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def push(self, ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The pusher."""
        owner = args[0]
        before = list(owner)
        result = self.function(*args)
        tangent = load(ctx, owner, result) if self.function is set.pop else None
        found = known(ctx, owner)
        if found is not None:
            for member in before:
                if member not in owner:
                    found.pop(member, None)
        return result, tangent


for _method in (
    *(set.pop, set.discard, set.remove, set.clear),
    *(set.difference_update, set.intersection_update, set.__isub__, set.__iand__),
):
    pushes(_method)(Dropping(_method).push)
