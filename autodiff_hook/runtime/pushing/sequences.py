"""Lists that change, with the parallel list of tangents; and what makes lists, tuples and sets."""

from __future__ import annotations

from typing import Any

from autodiff_hook.interpreter import TUPLES_ASK_LENGTH
from autodiff_hook.runtime import sequences as in_reverse
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep_all, kind, known, some, to_change
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.items import ask_length, materialised
from autodiff_hook.runtime.pushing.iteration import get_iter

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

doubles = bookkeeping(in_reverse.doubles)


def order_of(ctx: TangentContext, items: list[Any], tangents: Any, key: Any = None, reverse: bool = False) -> Any:
    """The stable permutation that sorts ``items``."""
    from autodiff_hook.runtime.pushing.calls import apply

    keys = items
    if key is not None:
        moving = [None] * len(items) if tangents is None else tangents
        keys = [apply(ctx, (None, tangent), key, (item,), {})[0] for item, tangent in zip(items, moving)]
    return sorting(keys, reverse)


@bookkeeping
def sorting(keys: list[Any], reverse: bool) -> list[int]:
    """The stable permutation that sorts ``keys``."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


@pushes(list)
def list_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list(...)``."""
    if not args:
        return [], None
    items, tangents = materialised(ctx, t[0], args[0], hinted=True)
    keep_all(ctx, items, tangents)
    return items, None


@pushes(tuple)
def tuple_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``tuple(...)``."""
    if not args:
        return (), None
    items, tangents = materialised(ctx, t[0], args[0], hinted=TUPLES_ASK_LENGTH)
    return tuple(items), tuple(tangents) if some(tangents) else None


def concatenate(ctx: TangentContext, t: Any, a: Any, b: Any) -> Result:
    """``a + b`` of two lists or of two tuples."""
    first, second = materialised(ctx, t[0], a)[1], materialised(ctx, t[1], b)[1]
    if kind(a) == "tuple":
        result = a + b
        return result, (*first, *second) if some(first) or some(second) else None
    joined = list.__add__(a, b)
    keep_all(ctx, joined, [*first, *second])
    return joined, None


def repeat(ctx: TangentContext, t: Any, a: Any, b: Any) -> Result:
    """``sequence * n`` or ``n * sequence``."""
    first = kind(a) in ("list", "tuple")
    source, times = (a, b) if first else (b, a)
    tangents = materialised(ctx, t[0] if first else t[1], source)[1] * times
    if kind(source) == "tuple":
        return tuple.__mul__(source, times), tuple(tangents) if some(tangents) else None
    result = list.__mul__(source, times)
    keep_all(ctx, result, tangents)
    return result, None


@pushes(list.append)
def list_append(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.append``."""
    owner, value = args
    found = to_change(ctx, owner, t[1:])
    list.append(owner, value)
    if found is not None:
        found.append(t[1])
    return None, None


@pushes(list.insert)
def list_insert(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.insert``."""
    owner, index, value = args
    found = to_change(ctx, owner, t[2:])
    list.insert(owner, index, value)
    if found is not None:
        found.insert(index, t[2])
    return None, None


@pushes(list.extend)
def list_extend(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.extend``, ``+=`` and unpacking into a list display."""
    owner, value = args
    if one_by_one(owner, value):
        pairs = get_iter(ctx, t[1:], None, value)[0]
        ask_length(ctx, value)
        for item, tangent in pairs:
            list_append(ctx, (None, tangent), (owner, item), {})
        return None, None
    if doubles(owner, value):
        return list_imul(ctx, (None, None), (owner, 2), {})
    items, tangents = materialised(ctx, t[1], value)
    found = to_change(ctx, owner, tangents)
    list.extend(owner, items)
    if found is not None:
        found.extend(tangents)
    return None, None


@bookkeeping
def one_by_one(owner: Any, value: Any) -> bool:
    """Whether the program may see a container while it takes the items of ``value``."""
    return not (type(value) in (list, tuple) or value is owner or kind(value) in ("inert", "array"))


@pushes(list.__iadd__)
def list_iadd(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list += iterable``."""
    list_extend(ctx, t, args, kwargs)
    return args[0], None


@pushes(list.__imul__)
def list_imul(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list *= n``."""
    owner, count = args
    found = known(ctx, owner)
    list.__imul__(owner, count)
    if found is not None:
        found[:] = found * count
    return owner, None


@pushes(list.pop)
def list_pop(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.pop``."""
    owner, *index = args
    found = known(ctx, owner)
    value = list.pop(owner, *index)
    return value, None if found is None else found.pop(*index)


@pushes(list.remove)
def list_remove(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.remove``."""
    owner, value = args
    found = known(ctx, owner)
    index = list.index(owner, value)
    list.pop(owner, index)
    if found is not None:
        del found[index]
    return None, None


@pushes(list.clear)
def list_clear(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.clear``."""
    found = known(ctx, args[0])
    list.clear(args[0])
    if found is not None:
        found.clear()
    return None, None


@pushes(list.reverse)
def list_reverse(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.reverse``."""
    found = known(ctx, args[0])
    list.reverse(args[0])
    if found is not None:
        found.reverse()
    return None, None


@pushes(list.sort)
def list_sort(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.sort``."""
    owner = args[0]
    found = known(ctx, owner)
    items = list.__getitem__(owner, slice(None))
    order = order_of(ctx, items, found, **kwargs)
    list.__setitem__(owner, slice(None), [items[i] for i in order])
    if found is not None:
        found[:] = [found[i] for i in order]
    return None, None


@pushes(list.copy)
def list_copy(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``list.copy``."""
    return list_(ctx, t, args, kwargs)


@pushes(sorted)
def sorted_(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """The builtin ``sorted``."""
    items, tangents = materialised(ctx, t[0], args[0], hinted=True)
    order = order_of(ctx, items, tangents, **kwargs)
    result = [items[i] for i in order]
    keep_all(ctx, result, [tangents[i] for i in order])
    return result, None
