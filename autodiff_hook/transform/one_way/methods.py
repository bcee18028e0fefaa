"""Methods of lists and dicts on one way through a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.growing import extend, update
from autodiff_hook.transform.one_way.iterating import ITEMS, KEYS, VALUES, Items, Keys
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.sequences import found
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.bodies import Refused

Method = Callable[[Path, Operand, list[Operand]], Operand]


def _append(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    inf.changed(owner).append(args[0])
    return Constant(None)


def _extend(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    extend(inf, owner, args[0])
    return Constant(None)


def _insert(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    inf.changed(owner).insert(inf.pin(args[0]), args[1])
    return Constant(None)


def _list_pop(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    try:
        found: Operand = inf.changed(owner).pop(*map(inf.pin, args))
    except IndexError as error:
        raise Raised(error) from None
    return found


def _clear(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    inf.changed(owner).clear()
    return Constant(None)


def _reverse(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    inf.changed(owner).reverse()
    return Constant(None)


def _list_copy(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    return inf.made(list, list(inf.content(owner)))


def _index(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    if len(args) > 1:
        raise Refused("list.index with bounds")
    place = next(found(inf, inf.content(owner), args[0]), None)
    if place is None:
        raise Raised(ValueError("x not in list"))
    return Constant(place)


def _count(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    return Constant(len(list(found(inf, inf.content(owner), args[0]))))


def _remove(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    place = next(found(inf, inf.content(owner), args[0]), None)
    if place is None:
        raise Raised(ValueError("list.remove(x): x not in list"))
    del inf.changed(owner)[place]
    return Constant(None)


def _dict_get(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    found: Operand = inf.content(owner).get(inf.pin(args[0]), args[1] if len(args) > 1 else Constant(None))
    return found


def _dict_pop(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    held, key = inf.changed(owner), inf.pin(args[0])
    if key not in held and len(args) < 2:
        raise Raised(KeyError(key))
    found: Operand = held.pop(key, *args[1:])
    return found


def _setdefault(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    found: Operand = inf.changed(owner).setdefault(inf.pin(args[0]), *args[1:] or (Constant(None),))
    return found


def _keys(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    return inf.made(KEYS, Keys(inf.content(owner)))


def _values(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    return inf.made(VALUES, inf.content(owner).values())


def _items(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    return inf.made(ITEMS, Items(inf, inf.content(owner)))


def _update(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    for source in args:
        update(inf, owner, source)
    return Constant(None)


def _dict_copy(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    return inf.made(dict, dict(inf.content(owner)))


def _add(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    inf.changed(owner).add(inf.pin(args[0]))
    return Constant(None)


def _discard(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    inf.changed(owner).discard(inf.pin(args[0]))
    return Constant(None)


def _set_remove(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    try:
        inf.changed(owner).remove(inf.pin(args[0]))
    except KeyError as error:
        raise Raised(error) from None
    return Constant(None)


def _set_update(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
    for source in args:
        inf.changed(owner).update(map(inf.pin, parts(inf, source)))
    return Constant(None)


def _of_sets(name: str) -> Method:
    """A method of sets that changes none."""

    def method(inf: Path, owner: Operand, args: list[Operand]) -> Operand:
        others = [set(map(inf.pin, parts(inf, x))) for x in args]
        value = getattr(set(inf.content(owner)), name)(*others)
        return inf.made(set, value) if isinstance(value, set) else Constant(value)

    return method


_SETS: Final = ("issubset", "issuperset", "isdisjoint", "union", "intersection", "difference", "symmetric_difference")
METHODS: Final[dict[tuple[type, str], Method]] = {
    (list, "append"): _append,
    (list, "extend"): _extend,
    (list, "insert"): _insert,
    (list, "pop"): _list_pop,
    (list, "clear"): _clear,
    (list, "reverse"): _reverse,
    (list, "copy"): _list_copy,
    (list, "index"): _index,
    (list, "count"): _count,
    (list, "remove"): _remove,
    (dict, "get"): _dict_get,
    (dict, "pop"): _dict_pop,
    (dict, "setdefault"): _setdefault,
    (dict, "keys"): _keys,
    (dict, "values"): _values,
    (dict, "items"): _items,
    (dict, "update"): _update,
    (dict, "copy"): _dict_copy,
    (dict, "clear"): _clear,
    (set, "add"): _add,
    (set, "discard"): _discard,
    (set, "remove"): _set_remove,
    (set, "update"): _set_update,
    (set, "clear"): _clear,
    **{(set, name): _of_sets(name) for name in _SETS},
    **{(frozenset, name): _of_sets(name) for name in ("issubset", "issuperset", "isdisjoint")},
}
