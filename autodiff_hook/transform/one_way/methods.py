"""Methods of lists and dicts on one way through a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Operand
from autodiff_hook.transform.one_way.containers import (
    UNKNOWN,
    as_item,
    as_key,
    as_place,
    known_value,
    parts,
    sequence_of,
    taken_at_once,
)
from autodiff_hook.transform.one_way.growing import add_all, extend, update
from autodiff_hook.transform.one_way.held import held_by, is_derived
from autodiff_hook.transform.one_way.iterating import ITEMS, KEYS, VALUES, Items, Keys
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.sequences import found
from autodiff_hook.transform.one_way.trail import Raised, done
from autodiff_hook.transform.specialise.abstract import List
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.wording import named

Method = Callable[[Path, Operand, list[Operand]], Operand]


def _changes(method: Any, pinned: int = 0) -> Method:
    """A method that does to its owner what Python's own does; the first arguments, which decide the way, are pinned."""

    def changing(inf: Path, owner: Operand, args: Args) -> Operand:
        held = inf.changed(owner)
        given = [*(as_place(inf, x, held) for x in args[:pinned]), *args[pinned:]]
        found: Operand | None = done(method, held, *given)
        return Constant(None) if found is None else found

    return changing


def _of_item(method: Any) -> Method:
    """A method that does something to a set with one item."""

    def changing(inf: Path, owner: Operand, args: Args) -> Operand:
        held = inf.changed(owner)
        done(method, held, *[as_item(inf, x, held) for x in args])
        return Constant(None)

    return changing


def _list_copy(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.made(list, list(inf.content(owner)))


def _index(inf: Path, owner: Operand, args: Args) -> Operand:
    if len(args) > 1:
        raise Refused("index with bounds")
    place = next(found(inf, parts(inf, owner), args[0]), None)
    if place is None:
        raise Raised(ValueError("what is searched for is not in the sequence"))
    return Constant(place)


def _count(inf: Path, owner: Operand, args: Args) -> Operand:
    return Constant(len(list(found(inf, parts(inf, owner), args[0]))))


def _remove(inf: Path, owner: Operand, args: Args) -> Operand:
    place = next(found(inf, inf.content(owner), args[0]), None)
    if place is None:
        raise Raised(ValueError("list.remove(x): x not in list"))
    del inf.changed(owner)[place]
    return Constant(None)


def _dict_get(inf: Path, owner: Operand, args: Args) -> Operand:
    found: Operand = inf.content(owner).get(as_key(inf, args[0]), args[1] if len(args) > 1 else Constant(None))
    return found


def _by_operation(op: str, swapped: bool = False) -> Method:
    """A special method that is called by its name: the operation that it stands for."""
    return lambda inf, owner, args: inf.perform(op, [*args, owner] if swapped else [owner, *args])


def _by_function(function: Any) -> Method:
    """A special method that is called by its name: the builtin function that asks it."""
    return lambda inf, owner, args: inf.call(Constant(function), [owner])


def _compared(cls: type, op: str) -> Method:
    """``dict.__eq__(a, b)``, which asks no class what it says of that, and knows nothing but dicts."""

    def method(inf: Path, owner: Operand, args: Args) -> Operand:
        value = inf.type_of(args[0])
        other = held_by(inf, args[0]) if is_derived(value) else args[0]
        if other is None:
            raise Refused(f"a comparison with {named(value)}")
        kind = list if isinstance(value, List) else getattr(value, "cls", object)
        return inf.perform("compare", [owner, other], op) if issubclass(kind, cls) else Constant(NotImplemented)

    return method


def _list_add(inf: Path, owner: Operand, args: Args) -> Operand:
    """``list.__add__(a, b)``."""
    value = inf.type_of(args[0])
    other = held_by(inf, args[0]) if is_derived(value) else args[0]
    if other is None or sequence_of(inf, other) is not list:
        raise Refused(f"list.__add__ of {named(value)}")
    return inf.made(list, [*parts(inf, owner), *parts(inf, other)])


def _setdefault(inf: Path, owner: Operand, args: Args) -> Operand:
    found: Operand = inf.changed(owner).setdefault(as_key(inf, args[0]), *args[1:] or (Constant(None),))
    return found


def _keys(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.made(KEYS, Keys(inf, inf.content(owner)))


def _values(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.made(VALUES, inf.content(owner).values())


def _items(inf: Path, owner: Operand, args: Args) -> Operand:
    return inf.made(ITEMS, Items(inf, inf.content(owner)))


def _of_each(change: Callable[[Path, Operand, Operand], None]) -> Method:
    """A method that changes its owner by each of its arguments."""

    def changing(inf: Path, owner: Operand, args: Args) -> Operand:
        for source in args:
            change(inf, owner, source)
        return Constant(None)

    return changing


def _pop_only(inf: Path, owner: Operand, args: Args) -> Operand:
    """``set.pop`` where there is no choice."""
    held = inf.changed(owner)
    if len(held) > 1:
        raise Refused("set.pop of several items, whose order is the set's own")
    return inf.shown(done(held.pop))


def _of_sets(name: str) -> Method:
    """A method of sets that changes none."""

    def method(inf: Path, owner: Operand, args: Args) -> Operand:
        others = [taken_at_once(inf, x) for x in args]
        others = [
            [as_key(inf, item) for item in parts(inf, x)] if held is None else held for x, held in zip(args, others)
        ]
        if known_value(inf, owner) is UNKNOWN and taken_at_once(inf, owner) is None:
            raise Refused(f"{name} of a set of what is not known")
        value = getattr(inf.content(owner), name)(*others)
        return inf.made(set, value) if isinstance(value, set) else Constant(value)

    return method


_SETS: Final = (
    *("issubset", "issuperset", "isdisjoint"),
    *("union", "intersection", "difference", "symmetric_difference", "copy"),
)
METHODS: Final[dict[tuple[type, str], Method]] = {
    (list, "append"): _changes(list.append),
    (list, "extend"): _of_each(extend),
    (list, "insert"): _changes(list.insert, 1),
    (list, "pop"): _changes(list.pop, 1),
    (list, "clear"): _changes(list.clear),
    (list, "reverse"): _changes(list.reverse),
    (list, "copy"): _list_copy,
    (list, "__add__"): _list_add,
    **dict.fromkeys([(list, "index"), (tuple, "index")], _index),
    **dict.fromkeys([(list, "count"), (tuple, "count")], _count),
    (list, "remove"): _remove,
    (dict, "get"): _dict_get,
    (dict, "pop"): _changes(dict.pop, 1),
    (dict, "setdefault"): _setdefault,
    (dict, "keys"): _keys,
    (dict, "values"): _values,
    (dict, "items"): _items,
    (dict, "update"): _of_each(update),
    (dict, "clear"): _changes(dict.clear),
    (dict, "__setitem__"): _changes(dict.__setitem__, 1),
    **{(cls, name): _compared(cls, op) for cls in (list, dict) for name, op in (("__eq__", "=="), ("__ne__", "!="))},
    **{(cls, "__getitem__"): _by_operation("getitem") for cls in (list, tuple, dict)},
    **{(cls, "__iter__"): _by_operation("get_iter") for cls in (list, tuple, dict, set, frozenset)},
    **{(cls, "__len__"): _by_function(len) for cls in (list, tuple, dict, set, frozenset)},
    **{(cls, "__contains__"): _by_operation("in", swapped=True) for cls in (list, dict, set)},
    **{(set, name): _of_item(getattr(set, name)) for name in ("add", "discard", "remove")},
    (set, "pop"): _pop_only,
    (set, "update"): _of_each(add_all),
    (set, "clear"): _changes(set.clear),
    **{(set, name): _of_sets(name) for name in _SETS},
    **{(frozenset, name): _of_sets(name) for name in ("issubset", "issuperset", "isdisjoint")},
}
