"""Lists that change: every method of ``list``, as movements of slots; and what makes lists and tuples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from autodiff_hook.interpreter import TUPLES_ASK_LENGTH
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate, tuple_cotangent
from autodiff_hook.runtime.growing import appending, grown
from autodiff_hook.runtime.items import Copied, copied
from autodiff_hook.runtime.iteration import Drained, get_iter, sized
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.slots import loaded, stored

Result = tuple[Any, Pullback | None]
Args = tuple[Any, ...]


class Splice:
    """Pullback of replacing ``removed`` slots of a list from ``start`` on by ``inserted`` ones."""

    __slots__ = ("inserted", "kept", "owner", "removed", "start")

    def __init__(self, owner: list[Any], start: int, removed: int, inserted: int) -> None:
        self.owner, self.start, self.removed, self.inserted = owner, start, removed, inserted
        self.kept: list[Any] = []

    def __call__(self, sweep: Sweep, cotangent: Any) -> list[Any]:
        """The cotangents of the inserted slots; the slots behind them move back."""
        shadow = sweep.shadow(self.owner)
        given = [shadow.pop(self.start + i, None) for i in range(self.inserted)]
        shift = self.removed - self.inserted
        if shift:
            behind = {k: shadow.pop(k) for k in places_of(shadow) if k >= self.start + self.inserted}
            shadow.update({k + shift: c for k, c in behind.items()})
        return given


def places_of(keys: Iterable[Any]) -> list[int]:
    """The places of items among the slots of a list, which may have attributes, too."""
    return [key for key in keys if type(key) is int]


def move_places(ctx: Context, owner: list[Any], moved: Callable[[set[int]], set[int]]) -> None:
    """The items of a list have moved to other places."""
    ctx.move(owner, lambda keys: moved(set(places := places_of(keys))) | keys.difference(places))


def plain_items(owner: list[Any]) -> list[Any]:
    """What is in a list, whatever its class says of iteration."""
    return list.__getitem__(owner, slice(None))


def splice(ctx: Context, owner: list[Any], start: int, removed: int, witnesses: list[Any]) -> Splice | None:
    """Note that slots of a list were replaced; None if no derivative is concerned."""
    live = {start + i for i, x in enumerate(witnesses) if x is not None}
    if not live and id(owner) not in ctx.marks:
        return None
    stop, shift = start + removed, len(witnesses) - removed
    move_places(ctx, owner, lambda keys: live | {k if k < start else k + shift for k in keys if not start <= k < stop})
    ctx.effects += 1
    return Splice(owner, start, removed, len(witnesses))


def listed(ctx: Context, witness: Any, value: Any, hinted: bool = True) -> tuple[list[Any], Pullback | None]:
    """The items of an iterable (``hinted``: asked for its length) as a new list with their derivatives in its slots.

    The pullback gives a tuple of one: the cotangent of the iterable.
    """
    if type(value) is list:
        items = list(value)
        return copied(ctx, items, value, range(len(items)), operands=1)
    if type(value) is tuple:
        items = list(value)
        return items, None if witness is None else from_parts(ctx, items, [witness] * len(items), _edge)
    if kind_of(type(value)) == "inert":
        return list(value), None
    pairs, started = get_iter(ctx, (witness,), None, value)
    drained = Drained(ctx, pairs, sized(ctx, value, started) if hinted else started)
    items = list(drained.values)
    if drained.is_constant():
        return items, None

    def drained_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return (drained(sweep, cotangent),)

    return items, from_parts(ctx, items, drained.pullbacks, drained_pullback)


def _edge(sweep: Sweep, cotangent: Any) -> Any:
    return (cotangent,)


def from_parts(ctx: Context, items: list[Any], witnesses: list[Any], gathered: Pullback) -> Pullback:
    """The pullback of a new list; ``gathered`` takes the tuple of the cotangents of its items."""
    for index, witness in enumerate(witnesses):
        if witness is not None:
            ctx.mark(items, index)
    ctx.effects += 1
    count = len(items)

    def list_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return gathered(sweep, tuple_cotangent(*(sweep.pop(items, i) for i in range(count))))

    return list_pullback


def _mark_held(ctx: Context, items: list[Any]) -> None:
    """What the slots of a list refer to carries derivatives if these do."""
    for index, item in enumerate(plain_items(items)):
        loaded(ctx, items, index, item)


def to_slots(ctx: Context, items: list[Any], gathered: Pullback) -> Pullback:
    """The pullback of a tuple of what is in a list; what that refers to carries derivatives as before."""
    _mark_held(ctx, items)

    def tuple_pullback(sweep: Sweep, cotangent: Any) -> Any:
        for index, part in enumerate(cotangent or ()):
            sweep.add(items, index, part)
        return gathered(sweep, None)

    return tuple_pullback


def copy_of(ctx: Context, w: Any, args: Args, make: Any) -> Result:
    """``list(x)`` or ``tuple(x)``."""
    if not args:
        return make(), None
    if make is tuple and type(args[0]) is tuple:
        return args[0], _edge if w[0] is not None else None
    items, gathered = listed(ctx, w[0], args[0], make is list or TUPLES_ASK_LENGTH)
    if make is list:
        return items, gathered
    return tuple(items), None if gathered is None else to_slots(ctx, items, gathered)


def concatenate(ctx: Context, a: list[Any], b: list[Any]) -> Result:
    """``a + b`` of lists."""
    result = plain_items(a) + plain_items(b)
    pullbacks = [
        p
        for p in (
            copied(ctx, result, a, range(list.__len__(a)), 2)[1],
            copied(ctx, result, b, range(list.__len__(b)), 2, start=list.__len__(a))[1],
        )
        if p is not None
    ]
    return result, _all(pullbacks) if pullbacks else None


def _all(pullbacks: list[Pullback]) -> Pullback:
    def all_pullback(sweep: Sweep, cotangent: Any) -> None:
        for pullback in reversed(pullbacks):
            pullback(sweep, None)

    return all_pullback


def repeat(ctx: Context, w: Any, a: Any, b: Any) -> Result:
    """``sequence * n`` or ``n * sequence``."""
    first = kind_of(type(a)) in ("list", "tuple")
    source, times = (a, b) if first else (b, a)
    plain: Any = list if isinstance(source, list) else tuple
    result = plain.__mul__(source, times)
    count = plain.__len__(source)
    if isinstance(source, list):
        return copied(ctx, result, source, [i % count for i in range(len(result))], 2)
    if w[0 if first else 1] is None:
        return result, None

    def repeat_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if cotangent is None:
            return None
        parts: list[Any] = [None] * count
        for index, part in enumerate(cotangent):
            parts[index % count] = accumulate(parts[index % count], part)
        return (tuple(parts), None) if first else (None, tuple(parts))

    return result, repeat_pullback


def slots_of(ctx: Context, items: list[Any]) -> list[Any]:
    """A witness for each slot of a list that carries a derivative; what it refers to carries them as before."""
    mark = ctx.marks.get(id(items))
    _mark_held(ctx, items)
    return [None if mark is None or not mark.covers(i) else mark for i in range(list.__len__(items))]


def replace_slice(ctx: Context, owner: list[Any], key: slice, items: list[Any]) -> Pullback | None:
    """``owner[key] = items``, for a list made for this purpose."""
    start, stop, step = key.indices(list.__len__(owner))
    places = range(start, stop, step)
    list.__setitem__(owner, key, items)
    witnesses = slots_of(ctx, items)
    if step == 1:
        return _moved_into(items, splice(ctx, owner, start, len(places), witnesses))
    if all(x is None for x in witnesses) and id(owner) not in ctx.marks:
        return None
    live = {place for place, x in zip(places, witnesses) if x is not None}
    move_places(ctx, owner, lambda keys: live | keys.difference(places))
    ctx.effects += 1
    return Copied(owner, items, [(place, i) for i, place in enumerate(places)], 0)


def _moved_into(items: list[Any], noted: Splice | None) -> Pullback | None:
    if noted is None:
        return None

    def slice_pullback(sweep: Sweep, cotangent: Any) -> None:
        for index, part in enumerate(noted(sweep, None)):
            sweep.add(items, index, part)

    return slice_pullback


def delete_items(ctx: Context, owner: list[Any], key: Any) -> Pullback | None:
    """``del owner[key]`` of a list."""
    places = range(list.__len__(owner))
    list.__delitem__(owner, key)
    if id(owner) not in ctx.marks:
        return None
    if not isinstance(key, slice):
        return _effect(splice(ctx, owner, places[key], 1, []))
    gone = set(places[key])
    return permuted(ctx, owner, [place for place in places if place not in gone])


def list_append(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.append``."""
    owner, value = args
    list.append(owner, value)
    return None, stored(ctx, w[1], owner, list.__len__(owner) - 1, value, 1, 2)


def list_insert(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.insert``."""
    owner, index, value = args
    count = list.__len__(owner)
    start = min(index, count) if index >= 0 else max(0, index + count)
    list.insert(owner, index, value)
    noted = splice(ctx, owner, start, 0, [w[2]])
    if noted is None:
        return None, None

    def insert_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return None, None, noted(sweep, None)[0]

    return None, insert_pullback


def doubles(owner: list[Any], value: Any) -> bool:
    """Whether ``owner.extend(value)`` repeats the list, whatever its class says of iteration, as CPython 3.13 does."""
    return value is owner and sys.version_info >= (3, 13)


def list_extend(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.extend``, ``+=`` and unpacking into a list display."""
    owner, value = args
    if not (type(value) in (list, tuple) or value is owner or kind_of(type(value)) in ("inert", "array")):
        return None, grown(ctx, w[1:], (value,), appending(ctx, owner), hinted=True)
    items, gathered = list_copy(ctx, w[1:], (owner,), {}) if doubles(owner, value) else listed(ctx, w[1], value)
    start = list.__len__(owner)
    list.extend(owner, items)
    moved = _moved_into(items, splice(ctx, owner, start, 0, slots_of(ctx, items)))
    if moved is None and gathered is None:
        return None, None

    def extend_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if moved is not None:
            moved(sweep, None)
        given = gathered(sweep, None) if gathered is not None else None
        return None, given[0] if given else None

    return None, extend_pullback


def list_iadd(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list += iterable``."""
    _, pullback = list_extend(ctx, w, args, kwargs)
    return args[0], pullback


def list_pop(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.pop``."""
    owner = args[0]
    before = list.__len__(owner)
    value = list.pop(owner, *args[1:])
    if id(owner) not in ctx.marks:
        return value, None
    index = range(before)[args[1] if len(args) > 1 else -1]
    load = loaded(ctx, owner, index, value)
    noted = splice(ctx, owner, index, 1, [])
    assert noted is not None

    def pop_pullback(sweep: Sweep, cotangent: Any) -> None:
        noted(sweep, None)
        if load is not None:
            load(sweep, cotangent)

    return value, pop_pullback


def list_remove(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.remove``."""
    owner, value = args
    if not list.__contains__(owner, value):
        raise ValueError("list.remove(x): x not in list")
    index = list.index(owner, value)
    list.__delitem__(owner, index)
    return None, _effect(splice(ctx, owner, index, 1, []))


def list_clear(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.clear``."""
    count = list.__len__(args[0])
    list.clear(args[0])
    return None, _effect(splice(ctx, args[0], 0, count, []))


def _effect(noted: Splice | None) -> Pullback | None:
    if noted is None:
        return None

    def effect_pullback(sweep: Sweep, cotangent: Any) -> None:
        noted(sweep, None)

    return effect_pullback


def list_reverse(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.reverse``."""
    owner = args[0]
    list.reverse(owner)
    return None, permuted(ctx, owner, list(reversed(range(list.__len__(owner)))))


def list_sort(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.sort``."""
    owner = args[0]
    order, called = sorting_order(ctx, plain_items(owner), slots_of(ctx, owner), **kwargs)
    items = plain_items(owner)
    list.__setitem__(owner, slice(None), [items[i] for i in order])
    return None, _after(called, permuted(ctx, owner, order))


def sorting_order(
    ctx: Context, items: list[Any], witnesses: list[Any], key: Any = None, reverse: bool = False
) -> tuple[list[int], Pullback | None]:
    """The stable permutation that sorts ``items``, and the pullback of having called ``key``."""
    keys, called = items, None
    if key is not None:
        keys, called = called_on(ctx, key, items, witnesses)
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse), called


def called_on(ctx: Context, function: Any, items: list[Any], witnesses: list[Any]) -> tuple[list[Any], Pullback | None]:
    """What ``function`` gives for each item of a list, when only its effects have derivatives."""
    from autodiff_hook.runtime.calls import apply

    effects = ctx.effects
    results = [apply(ctx, (None, x), function, (item,), {}) for x, item in zip(witnesses, items)]
    values = [value for value, _ in results]
    if ctx.effects == effects:
        return values, None

    def called_pullback(sweep: Sweep, cotangent: Any) -> None:
        for index in reversed(range(len(results))):
            pullback = results[index][1]
            given = pullback(sweep, None) if pullback is not None else None
            if given is not None:
                sweep.add(items, index, given[1])

    return values, called_pullback


def _after(first: Pullback | None, second: Pullback | None) -> Pullback | None:
    """Two effects, the second after the first."""
    if first is None or second is None:
        return first or second

    def both_pullback(sweep: Sweep, cotangent: Any) -> None:
        second(sweep, None)
        first(sweep, None)

    return both_pullback


def permuted(ctx: Context, owner: list[Any], order: list[int]) -> Pullback | None:
    """Note that slot ``i`` of a list now holds what was in ``order[i]``."""
    if id(owner) not in ctx.marks:
        return None
    move_places(ctx, owner, lambda keys: {i for i, origin in enumerate(order) if origin in keys})
    ctx.effects += 1

    def permuted_pullback(sweep: Sweep, cotangent: Any) -> None:
        shadow = sweep.shadow(owner)
        shadow.update({order[k]: c for k, c in [(k, shadow.pop(k)) for k in places_of(shadow)]})

    return permuted_pullback


def list_copy(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list.copy``."""
    result = plain_items(args[0])
    return copied(ctx, result, args[0], range(len(result)), 1)


def sorted_(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """The builtin ``sorted``."""
    items, gathered = listed(ctx, w[0], args[0])
    order, called = sorting_order(ctx, items, slots_of(ctx, items), **kwargs)
    result, moved = copied(ctx, [items[i] for i in order], items, order, 1)
    before = _after(called, moved)
    if gathered is None and before is None:
        return result, None

    def sorted_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if before is not None:
            before(sweep, None)
        given = gathered(sweep, None) if gathered is not None else None
        return (given[0] if given else None, *(None,) * (len(args) + len(kwargs) - 1))

    return result, sorted_pullback


def list_imul(ctx: Context, w: Any, args: Args, kwargs: dict[str, Any]) -> Result:
    """``list *= n``."""
    owner, times = args
    count = list.__len__(owner)
    list.__imul__(owner, times)
    if id(owner) not in ctx.marks:
        return owner, None
    if not list.__len__(owner):
        return owner, _effect(splice(ctx, owner, 0, count, []))
    move_places(ctx, owner, lambda keys: {i for i in range(list.__len__(owner)) if i % count in keys})
    ctx.effects += 1

    def imul_pullback(sweep: Sweep, cotangent: Any) -> None:
        for index in range(count, count * times):
            sweep.add(owner, index % count, sweep.pop(owner, index))

    return owner, imul_pullback
