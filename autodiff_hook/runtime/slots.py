"""Loads from and stores into the slots of references, and their pullbacks.

Every function here returns what a pullback needs as a callable ``pullback(sweep, cotangent)`` that gives
a tuple of the operands' cotangents, or None if there are none to give.
"""

from __future__ import annotations

from types import FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, Final

from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.kinds import kind_of


class Load:
    """Pullback of reading a slot."""

    __slots__ = ("key", "reference")

    def __init__(self, reference: Any, key: Any) -> None:
        self.reference, self.key = reference, key

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        sweep.add(self.reference, self.key, cotangent)


class Store:
    """Pullback of writing a slot; the written value was operand number ``position`` of ``count``."""

    __slots__ = ("count", "key", "position", "reference")

    def __init__(self, reference: Any, key: Any, position: int, count: int) -> None:
        self.reference, self.key, self.position, self.count = reference, key, position, count

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        result: list[Any] = [None] * self.count
        result[self.position] = sweep.pop(self.reference, self.key)
        return tuple(result)


class Fill:
    """Pullback of making a reference whose slots hold the operands, in the order of ``keys``."""

    __slots__ = ("keys", "reference")

    def __init__(self, reference: Any, keys: Any) -> None:
        self.reference, self.keys = reference, keys

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        return tuple(None if key is None else sweep.pop(self.reference, key[0]) for key in self.keys)


def loaded(ctx: Context, reference: Any, key: Any, value: Any) -> Pullback | None:
    """The pullback of having read ``value`` from a slot; None if it is a constant."""
    if id(reference) in ctx.dictionaries:
        reference, key = attribute_slot(ctx, reference, key)
    mark = ctx.marks.get(id(reference))
    if mark is not None and mark.loss is not None:
        ctx_taint(ctx, value, mark.loss)
        return mark.loss
    if mark is None or not mark.covers(key):
        if ctx.given is not None and id(value) in ctx.given.ids:
            ctx.given.met(ctx, reference, key, value)
        return None
    return received(ctx, value, Load(reference, key), deep=mark.keys is None)


def dictionary_of(ctx: Context, owner: Any, dictionary: Any) -> None:
    """The program got hold of the ``__dict__`` of an object: its slots are the attributes of the object."""
    if type(dictionary) is dict and not isinstance(owner, (type, ModuleType)):
        ctx.dictionaries[id(dictionary)] = (owner, dictionary)


def attribute_slot(ctx: Context, dictionary: Any, key: Any) -> tuple[Any, Any]:
    """The object, and the key among its slots, that an item of its ``__dict__`` is."""
    return ctx.dictionaries[id(dictionary)][0], Attribute(key)


class Attribute:
    """The key of an attribute among the slots of its object."""

    __slots__ = ("name",)
    _known: ClassVar[dict[str, Attribute]] = {}
    name: str

    def __new__(cls, name: str) -> Attribute:
        found = cls._known.get(name)
        if found is None:
            found = super().__new__(cls)
            found.name = name
            cls._known[name] = found
        return found

    def __repr__(self) -> str:
        return f".{self.name}"


def received(ctx: Context, value: Any, pullback: Pullback, deep: bool) -> Pullback | None:
    """The pullback of having got ``value`` from somewhere that carries derivatives."""
    kind = kind_of(type(value))
    if kind in ("number", "array"):
        return pullback
    if kind == "tuple":
        if deep:
            for item in value:
                received(ctx, item, pullback, deep)
        return pullback
    if deep and kind != "inert":
        mark_reference(ctx, value)
    return None


def mark_reference(ctx: Context, value: Any) -> None:
    """All that a reference holds carries a derivative; a function holds what it captured."""
    if type(value) is FunctionType:
        for cell in value.__closure__ or ():
            ctx.mark_all(cell)
    elif type(value) is MethodType:
        mark_reference(ctx, value.__self__)
    else:
        ctx.mark_all(value)


def ctx_taint(ctx: Context, value: Any, loss: Pullback) -> None:
    """Remember that ``value`` came out of a call through which derivatives are lost."""
    kind = kind_of(type(value))
    if kind == "tuple":
        for item in value:
            ctx_taint(ctx, item, loss)
    elif kind not in ("number", "inert", "array"):
        ctx.mark_all(value).loss = loss


def stored(
    ctx: Context, witness: Any, reference: Any, key: Any, value: Any, position: int, count: int
) -> Pullback | None:
    """The pullback of having written ``value`` to a slot; None if no derivative is concerned."""
    if id(reference) in ctx.dictionaries:
        reference, key = attribute_slot(ctx, reference, key)
    mark = ctx.marks.get(id(reference))
    live = witness is not None and kind_of(type(value)) in ("number", "array", "tuple")
    if ctx.given is not None and id(value) in ctx.given.ids:
        ctx.given.kept[id(reference), key] = reference
    if mark is None and not live:
        return None
    if live:
        ctx.mark(reference, key)
    elif mark is not None and mark.keys is not None:
        if key not in mark.keys:
            return None
        mark.keys.discard(key)
    ctx.effects += 1
    return Store(reference, key, position, count)


def filled(ctx: Context, witnesses: Any, reference: Any, keys: Any) -> Pullback | None:
    """The pullback of having made ``reference`` from operands; ``keys[i]`` is ``(key,)`` or None."""
    live = False
    for witness, key in zip(witnesses, keys):
        if witness is not None and key is not None:
            ctx.mark(reference, key[0])
            live = True
    ctx.effects += live
    return Fill(reference, keys) if live else None


def make_cell(ctx: Context, w: Any, data: Any, value: Any) -> tuple[Any, Pullback | None]:
    """A new closure cell."""
    from types import CellType

    from autodiff_hook.ir.types import UNBOUND

    cell = CellType() if value is UNBOUND else CellType(value)
    return cell, stored(ctx, w[0], cell, 0, value, 0, 1)


def function_made(ctx: Context, w: Any, data: Any, function: Any, defaults: Any) -> tuple[Any, Pullback | None]:
    """Note the default values of a new function, which are slots of it."""
    if w[0] is None:
        return function, None
    for index, value in enumerate(defaults):
        if kind_of(type(value)) in ("number", "array", "tuple"):
            ctx.mark(function, index)
    ctx.effects += 1

    def defaults_pullback(sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        parts = tuple(sweep.pop(function, index) for index in range(len(defaults)))
        return (parts if any(part is not None for part in parts) else None, None, None, None, None)

    return function, defaults_pullback


def cell_get(ctx: Context, w: Any, name: str, cell: Any) -> tuple[Any, Pullback | None]:
    """What a closure cell holds."""
    try:
        value = cell.cell_contents
    except ValueError:
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        ) from None
    return value, loaded(ctx, cell, 0, value) if ctx.marks else None


def cell_set(ctx: Context, w: Any, name: str, cell: Any, value: Any) -> tuple[None, Pullback | None]:
    """Rebind a captured variable."""
    cell.cell_contents = value
    return None, stored(ctx, w[1], cell, 0, value, 1, 2)


def global_loaded(ctx: Context, w: Any, name: str, value: Any, globals_: dict[str, Any]) -> tuple[Any, Pullback | None]:
    """Note the load of a global variable that may have been stored to."""
    return value, loaded(ctx, globals_, name, value) if ctx.marks else None


def store_global(ctx: Context, w: Any, name: str, value: Any, globals_: dict[str, Any]) -> tuple[None, Pullback | None]:
    """Rebind a global variable."""
    globals_[name] = value
    return None, stored(ctx, w[0], globals_, name, value, 0, 1)


def build_list(ctx: Context, w: Any, data: Any, *items: Any) -> tuple[list[Any], Pullback | None]:
    """A list display."""
    result = list(items)
    return result, filled(ctx, w, result, [(i,) for i in range(len(items))])


def build_slice(ctx: Context, w: Any, data: Any, *parts: Any) -> tuple[slice, Pullback | None]:
    """``start:stop:step``, whose parts may be no whole numbers, as in ``np.mgrid[0:x:3j]``."""
    result = slice(*parts)
    if _WHOLE.issuperset(map(type, parts)):
        return result, None
    return result, filled(ctx, w, result, [(Attribute(name),) for name in slice_names(len(parts))])


def slice_names(count: int) -> tuple[str, ...]:
    """Which attributes of a slice the arguments of ``slice`` are."""
    return ("stop",) if count == 1 else ("start", "stop", "step")[:count]


_WHOLE: Final = frozenset({int, bool, type(None)})


def build_set(ctx: Context, w: Any, data: Any, *items: Any) -> tuple[set[Any], Pullback | None]:
    """A set display."""
    result = set(items)
    return result, filled(ctx, w, result, [(item,) for item in items])


def build_map(ctx: Context, w: Any, data: Any, *items: Any) -> tuple[dict[Any, Any], Pullback | None]:
    """A dict display."""
    keys, values = items[::2], items[1::2]
    result = dict(zip(keys, values))
    last = {key: i for i, key in enumerate(keys)}
    slots: list[Any] = []
    for i, key in enumerate(keys):
        slots += [None, (key,) if last[key] == i else None]
    return result, filled(ctx, w, result, slots)
