"""Subscripts: tuples give parts, lists and dicts slots, arrays have rules, other objects methods."""

from __future__ import annotations

import operator
from itertools import islice
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime.applying import apply_rule
from autodiff_hook.runtime.buffers import Part, frozen_key, root_of, store_item
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.handlers import HANDLERS
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.opaque import Loss, array_mutation, call_opaque, live
from autodiff_hook.runtime.slots import attribute_slot, ctx_taint, loaded, stored

Result = tuple[Any, Pullback | None]

_ARRAY_GETITEM: Final = np.ndarray.__dict__["__getitem__"]


def getitem(ctx: Context, w: Any, data: Any, owner: Any, key: Any) -> Result:
    """``owner[key]``."""
    if w[0] is None and w[1] is None and ctx.idle():
        return owner[key], None
    cls = type(owner)
    if kind_of(cls) == "array" and find_in_type(cls, "__getitem__") is _ARRAY_GETITEM:
        return _array_part(ctx, w[0], owner, key)
    if isinstance(owner, np.generic) and kind_of(cls) == "number":
        return _scalar_part(ctx, w, owner, key)
    rule = registry.rule(operator.getitem, (cls, type(key)))
    if rule is not None:
        return apply_rule(ctx, w, 0, rule, operator.getitem, (owner, key), {})
    kind = kind_of(cls)
    method = find_in_type(cls, "__getitem__")
    if isinstance(method, FunctionType):
        return call_special(ctx, w, method, (owner, key))
    if kind == "tuple":
        return tuple_item(owner, key, w[0])
    if kind == "list":
        return list_item(ctx, owner, key)
    if kind == "dict":
        return dict_item(ctx, owner, key)
    if w[0] is None and not ctx.reaches(owner):
        return owner[key], None
    return call_opaque(ctx, w, operator.getitem, (owner, key), {}, f"which has no rule for {describe(cls)}")


def _array_part(ctx: Context, witness: Any, owner: Any, key: Any) -> Result:
    value = owner[key]
    stored_to = ctx.buffers.is_stored(owner)
    if (witness is None and not stored_to) or owner.dtype.kind not in "fciuOV":
        return value, None
    if owner.dtype.kind in _ELEMENTS:
        return value, None if witness is None and owner.dtype.kind == "V" else element_of(ctx, owner, value)
    pullback = Part(owner, frozen_key(key), stored_to)
    if kind_of(type(value)) == "array" and root_of(value) is not root_of(owner):
        ctx.buffers.made(value, pullback, None)
    return value, pullback


def _scalar_part(ctx: Context, w: Any, owner: Any, key: Any) -> Result:
    """``scalar[key]`` of a NumPy scalar: that of a 0-d array."""
    from autodiff_hook.runtime.calls import apply

    array, made = apply(ctx, (None, w[0]), np.asarray, (owner,), {})
    value, pullback = _array_part(ctx, made, array, key)
    if pullback is None:
        return value, None

    def scalar_part_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        return None if given is None or made is None else (made(sweep, given[0])[1], None)

    return value, scalar_part_pullback


def call_special(ctx: Context, w: Any, method: Any, args: tuple[Any, ...]) -> Result:
    """Call a special method; the pullback has one cotangent for each of ``args``."""
    from autodiff_hook.runtime.calls import apply

    value, pullback = apply(ctx, (None, *w), method, args, {})
    if pullback is None:
        return value, None

    def special_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = pullback(sweep, cotangent)
        return None if given is None else given[1:]

    return value, special_pullback


def tuple_item(owner: tuple[Any, ...], key: Any, witness: Any) -> Result:
    """``owner[key]`` of a tuple."""
    value = tuple.__getitem__(owner, key)
    if witness is None:
        return value, None
    count = len(owner)
    positions = range(count)[key]

    def tuple_item_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if cotangent is None:
            return None
        parts: list[Any] = [None] * count
        if isinstance(positions, range):
            for position, part in zip(positions, cotangent):
                parts[position] = part
        else:
            parts[positions] = cotangent
        return tuple(parts), None

    return value, tuple_item_pullback


def list_item(ctx: Context, owner: list[Any], key: Any) -> Result:
    """``owner[key]`` of a list."""
    value = list.__getitem__(owner, key)
    if isinstance(key, slice):
        return copied(ctx, value, owner, range(list.__len__(owner))[key], operands=2)
    index = operator.index(key)
    return value, loaded(ctx, owner, index + list.__len__(owner) if index < 0 else index, value)


def dict_item(ctx: Context, owner: dict[Any, Any], key: Any) -> Result:
    """``owner[key]`` of a dict."""
    missing = find_in_type(type(owner), "__missing__")
    if key not in owner and missing is not None:
        if isinstance(missing, FunctionType):
            return call_special(ctx, (None, None), missing, (owner, key))
        return _default_item(ctx, owner, key)
    value = dict.__getitem__(owner, key)
    return value, loaded(ctx, owner, key, value)


def _default_item(ctx: Context, owner: Any, key: Any) -> Result:
    value = owner[key]
    return value, loaded(ctx, owner, key, value)


class Copied:
    """Pullback of a shallow copy: slots of the new reference belong to slots of the old one."""

    __slots__ = ("operands", "pairs", "source", "target")

    def __init__(self, target: Any, source: Any, pairs: list[tuple[Any, Any]], operands: int) -> None:
        self.target, self.source, self.pairs, self.operands = target, source, pairs, operands

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...] | None:
        for key, origin in self.pairs:
            sweep.add(self.source, origin, sweep.pop(self.target, key))
        return (None,) * self.operands or None


class LostItems:
    """Pullback of a shallow copy of what came out of an opaque call."""

    __slots__ = ("loss", "target")

    def __init__(self, target: Any, loss: Pullback) -> None:
        self.target, self.loss = target, loss

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        self.loss(sweep, tuple(sweep.peek(self.target).values()))


def copied(ctx: Context, target: Any, source: Any, origins: Any, operands: int, start: int = 0) -> Result:
    """``target[start + i]`` was copied from ``source[origins[i]]``; the pullback and the marks of it."""
    mark = ctx.marks.get(id(source))
    if mark is None:
        return target, None
    if mark.loss is not None:
        ctx.mark_all(target).loss = mark.loss
        return target, LostItems(target, mark.loss)
    pairs = list(enumerate(origins, start))
    if mark.keys is None:
        ctx.mark_all(target)
    else:
        for key, origin in pairs:
            if origin in mark.keys:
                ctx.mark(target, key)
    ctx.effects += 1
    return target, Copied(target, source, pairs, operands)


def setitem(ctx: Context, w: Any, data: Any, owner: Any, key: Any, value: Any) -> tuple[None, Pullback | None]:
    """``owner[key] = value``."""
    kind = kind_of(type(owner))
    method = find_in_type(type(owner), "__setitem__")
    if isinstance(method, FunctionType):
        return None, call_special(ctx, w, method, (owner, key, value))[1]
    if kind == "array":
        return None, store_into_array(ctx, w, owner, key, value)
    if type(owner) is np.flatiter and owner.base.flags.c_contiguous:
        return None, store_into_array(ctx, (True, None, w[2]), owner.base.reshape(-1), key, value)
    if kind == "list":
        return None, list_store(ctx, w, owner, key, value)
    if kind == "dict":
        owner[key] = value
        return None, stored(ctx, w[2], owner, key, value, 2, 3)
    if all(x is None for x in w) and not ctx.reaches(owner):
        owner[key] = value
        return None, None
    return None, call_opaque(
        ctx, w, operator.setitem, (owner, key, value), {}, f"which has no rule for {describe(type(owner))}"
    )[1]


def store_into_array(ctx: Context, w: Any, owner: Any, key: Any, value: Any) -> Pullback | None:
    """``owner[key] = value`` for an array; ``w`` has the witnesses of the three."""
    if kind_of(type(value)) in ("list", "tuple") and (w[2] is not None or ctx.reaches(value)):
        from autodiff_hook.runtime.calls import apply

        array, made = apply(ctx, (None, w[2]), np.array, (value,), {})
        pullback = store_into_array(ctx, (w[0], w[1], made), owner, key, array)
        return None if pullback is None else _through(pullback, made)
    if owner.dtype.kind in "OV" and (live(ctx, w[2], value) or w[0] is not None):
        raise array_mutation(f"this store writes to an array of {_ELEMENTS[owner.dtype.kind]}:")
    return store_item(ctx, live(ctx, w[2], value), owner, key, value, w[0] is not None)


_ELEMENTS: Final = {"O": "objects", "V": "records"}


def element_of(ctx: Context, owner: Any, value: Any) -> Loss:
    """The pullback of having taken ``value`` out of an array whose elements are no numbers."""
    loss = Loss(operator.getitem, f"of an array of {_ELEMENTS[owner.dtype.kind]}", [])
    if kind_of(type(value)) in ("list", "tuple", "dict", "set"):
        ctx_taint(ctx, value, loss)
    return loss


def _through(store: Pullback, made: Pullback | None) -> Pullback:
    def converted_store_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = store(sweep, None)
        if made is None:
            return None
        converted = made(sweep, None if given is None else given[2])
        return None if converted is None else (None, None, converted[1])

    return converted_store_pullback


def list_store(ctx: Context, w: Any, owner: list[Any], key: Any, value: Any) -> Pullback | None:
    """``owner[key] = value`` of a list."""
    if isinstance(key, slice):
        return _slice_store(ctx, w, owner, key, value)
    index = operator.index(key)
    list.__setitem__(owner, index, value)
    return stored(ctx, w[2], owner, index + len(owner) if index < 0 else index, value, 2, 3)


def _slice_store(ctx: Context, w: Any, owner: list[Any], key: slice, value: Any) -> Pullback | None:
    """``owner[a:b] = value``: a removal, then an insertion of a copied list."""
    from autodiff_hook.runtime.sequences import listed, replace_slice

    items, gathered = listed(ctx, w[2], value)
    replaced = replace_slice(ctx, owner, key, items)
    if gathered is None and replaced is None:
        return None

    def slice_store_pullback(sweep: Sweep, cotangent: Any) -> Any:
        if replaced is not None:
            replaced(sweep, None)
        given = gathered(sweep, None) if gathered is not None else None
        return (None, None, given[0] if given else None)

    return slice_store_pullback


def delitem(ctx: Context, w: Any, data: Any, owner: Any, key: Any) -> tuple[None, Pullback | None]:
    """``del owner[key]``."""
    from autodiff_hook.runtime.sequences import delete_items

    method = find_in_type(type(owner), "__delitem__")
    if isinstance(method, FunctionType):
        return None, call_special(ctx, w, method, (owner, key))[1]
    if kind_of(type(owner)) == "list":
        return None, delete_items(ctx, owner, key)
    del owner[key]
    if kind_of(type(owner)) == "dict":
        return None, removed(ctx, owner, key)
    return None, None


def removed(ctx: Context, owner: Any, key: Any) -> Pullback | None:
    """Note that a slot of a reference is no more."""
    if id(owner) in ctx.dictionaries:
        owner, key = attribute_slot(ctx, owner, key)
    mark = ctx.mark_for(owner, key)
    if mark is None:
        return None
    if mark.keys is not None:
        mark.keys.discard(key)
    ctx.effects += 1
    return Removed(owner, key)


class Removed:
    """Pullback of the removal of a slot: what it received later is not its own."""

    __slots__ = ("key", "reference")

    def __init__(self, reference: Any, key: Any) -> None:
        self.reference, self.key = reference, key

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        sweep.pop(self.reference, self.key)


def unpack(ctx: Context, w: Any, data: tuple[int, int | None], value: Any) -> Result:
    """Take a sequence apart: a tuple of its items."""
    before, after = data
    if type(value) is tuple:
        items: Any = value
        gathered = None if w[0] is None else _edge
    else:
        items, gathered = _taken(ctx, w[0], value, before + 1 if after is None else None)
    if after is None:
        if len(items) != before:
            _wrong_count(items, before)
        return items, gathered
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    return _unpack_star(ctx, items, before, after, gathered)


def _taken(ctx: Context, witness: Any, value: Any, limit: int | None) -> tuple[tuple[Any, ...], Pullback | None]:
    """The first items of an iterable, and the pullback of the tuple of them."""
    from autodiff_hook.runtime.iteration import Drained, get_iter

    try:
        pairs, started = get_iter(ctx, (witness,), None, value)
    except TypeError:
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
    drained = Drained(ctx, pairs if limit is None else islice(pairs, limit), started)
    if drained.is_constant():
        return drained.values, None

    def taken_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return (drained(sweep, cotangent),)

    return drained.values, taken_pullback


def _edge(sweep: Sweep, cotangent: Any) -> Any:
    return (cotangent,)


def _unpack_star(ctx: Context, items: tuple[Any, ...], before: int, after: int, pullback: Pullback | None) -> Result:
    stop = len(items) - after
    rest = list(items[before:stop])
    result = (*items[:before], rest, *items[stop:])
    if pullback is None:
        return result, None
    for index in range(len(rest)):
        ctx.mark(rest, index)
    ctx.effects += 1

    def unpack_star_pullback(sweep: Sweep, cotangent: Any) -> Any:
        given = cotangent or (None,) * len(result)
        middle = [sweep.pop(rest, i) for i in range(len(rest))]
        whole = (*given[:before], *middle, *given[before + 1 :])
        return pullback(sweep, whole if any(c is not None for c in whole) else None)

    return result, unpack_star_pullback


def _wrong_count(items: tuple[Any, ...], expected: int) -> None:
    if len(items) < expected:
        raise ValueError(f"not enough values to unpack (expected {expected}, got {len(items)})")
    raise ValueError(f"too many values to unpack (expected {expected})")


def sequence_operator(ctx: Context, w: Any, op: str, a: Any, b: Any) -> Result | None:
    """Concatenation, repetition and union of containers; None if these are not such."""
    from autodiff_hook.runtime.sequences import concatenate, repeat

    kinds = kind_of(type(a)), kind_of(type(b))
    if op == "+" and kinds == ("tuple", "tuple"):
        return _tuple_sum(a, b, w)
    if op == "+" and kinds == ("list", "list"):
        return concatenate(ctx, a, b)
    if op == "*" and ("list" in kinds or "tuple" in kinds):
        return repeat(ctx, w, a, b)
    if kinds == ("set", "set") or kinds == ("dict", "dict") and op == "|":
        handler = HANDLERS.get(id(find_in_type(type(a), _SET_METHODS.get(op, ""))))
        return handler(ctx, w, (a, b), {}) if handler is not None else None
    return None


_SET_METHODS: Final = {"|": "__or__", "&": "__and__", "-": "__sub__", "^": "__xor__"}


def _tuple_sum(a: tuple[Any, ...], b: tuple[Any, ...], w: Any) -> Result:
    if w[0] is None and w[1] is None:
        return a + b, None
    count = len(a)

    def tuple_sum_pullback(sweep: Sweep, cotangent: Any) -> Any:
        return cotangent and (cotangent[:count], cotangent[count:])

    return a + b, tuple_sum_pullback
