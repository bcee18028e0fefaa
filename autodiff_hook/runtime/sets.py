"""Sets: members keep their derivative; the slots of a set are its members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.growing import adding, grown
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.items import removed
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.sequences import listed, slots_of
from autodiff_hook.runtime.slots import loaded, stored

Result = tuple[Any, Pullback | None]
Args = tuple[Any, ...]


def _sources(ctx: Context, w: Any, args: Args) -> tuple[list[list[Any]], list[Pullback | None]]:
    """The arguments as lists, with the pullbacks of having made them."""
    made = [listed(ctx, x, value) for x, value in zip(w, args)]
    return [items for items, _ in made], [pullback for _, pullback in made]


def _moved(
    ctx: Context, target: Any, members: Any, sources: list[list[Any]], gathered: list[Pullback | None]
) -> Pullback | None:
    """Note that ``members`` came into the set ``target``, each from the first of the sources that has it."""
    origins: dict[Any, tuple[int, int]] = {}
    for number, items in enumerate(sources):
        for index, item in enumerate(items):
            origins.setdefault(item, (number, index))
    live = [slots_of(ctx, items) for items in sources]
    pairs = [(m, *origins[m]) for m in members if live[origins[m][0]][origins[m][1]] is not None]
    if not pairs and all(p is None for p in gathered):
        return None
    for member, _, _ in pairs:
        ctx.mark(target, member)
    ctx.effects += 1

    def moved_pullback(sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        for member, number, index in pairs:
            sweep.add(sources[number], index, sweep.pop(target, member))
        given = [None if p is None else p(sweep, None) for p in reversed(gathered)]
        return tuple(None if g is None else g[0] for g in reversed(given))

    return moved_pullback


@handles(set, frozenset)
def make_set(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any], make: Any = set) -> Result:
    """``set(...)``."""
    sources, gathered = _sources(ctx, w, args)
    result = make(*sources)
    return result, _moved(ctx, result, result, sources, gathered)


def _combining(function: Callable[..., Any]) -> Any:
    def combine(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        result = function(*args)
        if result is NotImplemented or kind_of(type(result)) != "set":
            return result, None
        if not any(id(x) in ctx.marks for x in args) and all(x is None for x in w):
            return result, None
        sources, gathered = _sources(ctx, w, args)
        return result, _moved(ctx, result, result, sources, gathered)

    return combine


for _cls in (set, frozenset):
    for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
        handles(getattr(_cls, _name))(_combining(getattr(_cls, _name)))
    for _name in ("__or__", "__and__", "__sub__", "__xor__"):
        handles(getattr(_cls, _name))(_combining(getattr(_cls, _name)))


@handles(set.add)
def set_add(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``set.add``: a member that is there already stays."""
    owner, value = args
    if set.__contains__(owner, value):
        return None, None
    set.add(owner, value)
    return None, stored(ctx, w[1], owner, value, value, 1, 2)


@handles(set.update)
def set_update(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``set.update``."""
    owner, *others = args
    return None, grown(ctx, w[1:], [list(x) if x is owner else x for x in others], adding(ctx, owner))


def _dropping(method: Callable[..., Any]) -> Any:
    """The handler of a method that takes members out of a set, and puts none in."""

    def drop(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
        owner = args[0]
        mark = ctx.marks.get(id(owner))
        if mark is None:
            return method(*args), None
        before = list(owner)
        result = method(*args)
        gone = [member for member in before if member not in owner]
        load = loaded(ctx, owner, result, result) if method is set.pop else None
        effects = [effect for member in gone if (effect := removed(ctx, owner, member)) is not None]
        if load is None and not effects:
            return result, None

        def drop_pullback(sweep: Sweep, cotangent: Any) -> None:
            for effect in effects:
                effect(sweep, None)
            if load is not None:
                load(sweep, cotangent)

        return result, drop_pullback

    return drop


for _method in (
    *(set.pop, set.discard, set.remove, set.clear),
    *(set.difference_update, set.intersection_update, set.__isub__, set.__iand__),
):
    handles(_method)(_dropping(_method))


@handles(set.__ior__)
def set_ior(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``set |= set``."""
    _, pullback = set_update(ctx, w, args, kwargs)
    return args[0], pullback
