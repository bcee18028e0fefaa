"""What guards ask of references: of what kind they are, and whether two of them are one."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from operator import attrgetter, countOf, itemgetter
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.restoring import HOLDERS
from autodiff_hook.runtime.buffers import is_writeable, lender_of, root_of
from autodiff_hook.runtime.kinds import DICTS, kind_of
from autodiff_hook.runtime.lookup import dictionary_of, reader_of_dictionary
from autodiff_hook.runtime.memories import hides
from autodiff_hook.runtime.mirror import attributes_of

_FEW: Final = 16
"""For how many items it is fastest to have one iterator each."""


class Kind:
    """Of what kind a value has to be: known when all is known that a program reads of it."""

    spec: Any = frozenset()


Later = dict[Kind, list[Any]]
"""What else has to be of some kind: what objects hold that are of the kind of these objects."""
Test = Callable[[Any], bool]


def test_of(kind: Kind) -> Test:
    """What tells whether a value of the class that is asked for is of a kind."""
    spec = kind.spec
    if type(spec) is tuple and spec[0] == "record":
        return _test_of_parts(spec) or partial(is_of, kind)
    if type(spec) is tuple and spec[0] is list:
        of_rows = type(spec[1]) is tuple and spec[1][0] is list
        types = spec[1][1] if of_rows else spec[1]
        if type(types) is frozenset:
            return partial(_are_rows if of_rows else _are_items, types)
    return partial(is_of, kind)


def _test_of_parts(spec: Any) -> Test | None:
    """Of objects whose attributes are of one type each; None if more is asked of them."""
    _, _, kinds, absent = spec
    if not kinds or absent or not all(type(kind) is frozenset and len(kind) == 1 for _, kind in kinds):
        return None
    names = [name for name, _ in kinds]
    # Of one name it would be no tuple.
    read, types = attrgetter(*names, names[0]), tuple([*kind][0] for _, kind in (*kinds, kinds[0]))

    def are_of_types(value: Any) -> bool:
        try:
            return tuple(map(type, read(value))) == types
        except AttributeError:
            return False

    return are_of_types


def _are_items(types: frozenset[type], items: Any) -> bool:
    return _are(items, types, len(items))


def _are_rows(types: frozenset[type], rows: Any) -> bool:
    return countOf(map(type, rows), list) == len(rows) and _are(chain.from_iterable(rows), types, sum(map(len, rows)))


def is_of(kind: Kind, value: Any) -> bool:
    """Whether a value is of a kind."""
    later: Later = {}
    if not fits((value,), kind.spec, later):
        return False
    seen: dict[Kind, dict[int, Any]] = {}
    while later:
        kind, items = later.popitem()
        held = dict(zip(map(id, items), items))
        known = seen.setdefault(kind, {})
        new = [x for key, x in held.items() if key not in known]
        known.update(held)
        if new and not fits(new, kind.spec, later):
            return False
    return True


def fits(items: Any, kind: Any, later: Later) -> bool:
    """Whether all items are of one kind: a set of types, one object, or lists, dicts, tuples, objects of such kinds."""
    if type(kind) is frozenset:
        return _are(items, kind, len(items))
    if type(kind) is Kind:
        later.setdefault(kind, []).extend(items)
        return True
    cls, *inner = kind
    if cls == "among":
        known = set(map(id, inner[0]))
        return all([id(x) in known for x in items])
    if cls == "mixed":
        (kinds,) = inner
        of_class = {each: [x for x in items if type(x) is each] for each in kinds}
        count = sum(map(len, of_class.values()))
        return count == len(items) and all([fits(of_class[each], x, later) for each, x in kinds.items()])
    if cls == "absent":
        return fits([x for x in items if x is not None], inner[0], later)
    if cls == "record":
        return _are_objects(items, later, *inner)
    if countOf(map(type, items), cls) != len(items):
        return False
    if issubclass(cls, tuple):
        if countOf(map(len, items), len(inner)) != len(items):
            return False
        if len(items) <= _FEW:
            return all([fits(part, x, later) for part, x in zip(zip(*items), inner)])
        return all([_parts_fit(itemgetter(i), items, x, later) for i, x in enumerate(inner)])
    if issubclass(cls, dict):
        made_by, *parts = inner
        return all([default_of(x) is made_by for x in items]) and _are_dicts(items, later, *parts)
    if cls is list:
        if len(items) == 1:
            return fits(items[0], inner[0], later)
        held, kinds = chain.from_iterable(items), inner[0]
        return _are(held, kinds, sum(map(len, items))) if type(kinds) is frozenset else fits([*held], kinds, later)
    return all([x.dtype == inner[0] and x.ndim == inner[1] for x in items])


def _are(items: Iterable[Any], types: frozenset[type], count: int) -> bool:
    """Whether so many items are of these types; one type is counted, which takes no list of them."""
    if len(types) != 1:
        return types.issuperset(map(type, items))
    (only,) = types
    return countOf(map(type, items), only) == count


def _parts_fit(part: Callable[[Any], Any], items: Any, kind: Any, later: Later) -> bool:
    """Whether one part of all items is of a kind."""
    found = map(part, items)
    return _are(found, kind, len(items)) if type(kind) is frozenset else fits(list(found), kind, later)


def _are_dicts(items: Any, later: Later, item: Any, key: Any, named: dict[str, Any]) -> bool:
    """Whether all items of dicts are of one kind, or those by each name; None: of whatever kind."""
    keys = list(chain.from_iterable(items))
    if not fits(keys, key, later):
        return False
    if not named:
        return fits(list(chain.from_iterable(map(dict.values, items))), item, later)
    known = [name for name, kind in named.items() if kind is not None]
    held = {name: [x[name] for x in items if name in x] for name in known}
    return named.keys() >= set(keys) and all([fits(values, named[name], later) for name, values in held.items()])


def default_of(value: Any) -> Any:
    """What makes the items of a dict that are not there."""
    return value.default_factory if type(value) is defaultdict else None


def _are_objects(
    items: Any, later: Later, cls: type, kinds: tuple[tuple[str, Any], ...], absent: frozenset[str]
) -> bool:
    if countOf(map(type, items), cls) != len(items):
        return False
    if absent and not _are_absent(items, absent, cls):
        return False
    try:
        if len(items) == 1:
            (only,) = items
            return _has_parts(only, kinds, later)
        if len(kinds) < 2:
            return all([_parts_fit(attrgetter(name), items, kind, later) for name, kind in kinds])
        columns = zip(*map(attrgetter(*[name for name, _ in kinds]), items))
        return all([fits(column, kind, later) for column, (_, kind) in zip(columns, kinds)])
    except AttributeError:
        return False


def _are_absent(items: Any, absent: frozenset[str], cls: type) -> bool:
    """Whether no item, all of which are of a class, has an attribute of its own by one of these names."""
    own = reader_of_dictionary(cls)
    if own is not None:
        return all(map(absent.isdisjoint, map(own, items)))
    return all([absent.isdisjoint(dictionary_of(x) or ()) for x in items])


def _has_parts(value: Any, kinds: tuple[tuple[str, Any], ...], later: Later) -> bool:
    for name, kind in kinds:
        part = getattr(value, name)
        if type(part) not in kind if type(kind) is frozenset else not fits((part,), kind, later):
            return False
    return True


def ids_if_apart(*references: Any) -> set[int] | None:
    """What ``given_ids`` finds; None if two of the lists, dicts and objects are one."""
    seen: set[int] = set()
    for reference in references:
        held = within(reference)
        if held is None or not seen.isdisjoint(held):
            return None
        seen |= held
    return seen


def elsewhere(outside: Any, given: set[int]) -> bool:
    """Whether what is from outside is none of what is given, and holds none of it."""
    mine = given_ids(outside) if type(outside) in (tuple, *_CONTAINERS) else {id(outside)}
    return mine.isdisjoint(given)


def has_keys(held: dict[Any, Any], keys: tuple[Any, ...]) -> bool:
    """Whether a dict has these keys in this order, objects among them by identity."""
    return len(held) == len(keys) and all(map(_is_key, held, keys))


def _is_key(key: Any, other: Any) -> bool:
    if key is other:
        return True
    if type(key) is tuple is type(other):
        return len(key) == len(other) and all(map(_is_key, key, other))
    return type(key) is type(other) and type(key) in _ATOMS and bool(key == other)


def are_elsewhere(given: set[int], *outside: Any) -> bool:
    """Whether none of some lists, dicts and objects is given."""
    return given.isdisjoint(map(id, outside))


def are_distinct(*objects: Any) -> bool:
    """Whether no two of some objects are one."""
    return len({*map(id, objects)}) == len(objects)


def are_no_attributes(dicts: tuple[Any, ...], *owners: Any) -> bool:
    """Whether none of some dicts is that of the attributes of one of these objects."""
    return {id(dictionary_of(x)) for x in owners}.isdisjoint(map(id, dicts))


def itself(reference: Any) -> set[int]:
    """The identity of a list, as a set."""
    return {id(reference)}


def is_alone(array: Any, *others: Any) -> bool:
    """Whether an array may be rewritten: its items lie in memory of their own, which nothing else shows or holds."""
    if not (is_writeable(array) and array.flags.forc) or lender_of(array) is not None or HOLDERS.of(root_of(array)):
        return False
    return not any([_shows(x, array) for x in everything(others)])


def _shows(value: Any, array: Any) -> bool:
    return np.may_share_memory(value, array) if isinstance(value, np.ndarray) else hides(value)


def everything(references: Iterable[Any]) -> list[Any]:
    """What can be reached: each list, dict and object once, and what they hold as often as it is held."""
    seen, pending, found = set[int](), list(references), list[Any]()
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls in _ATOMS or cls not in (tuple, np.ndarray) and id(x) in seen:
            continue
        found.append(x)
        seen.add(id(x))
        kind = kind_of(cls)
        if kind in ("list", "tuple", "set") or isinstance(x, deque):
            pending += x
        elif kind == "dict":
            pending += x.values()
        if kind not in ("number", "array", "inert"):
            pending += [part for _, part in attributes_of(x)]
    return found


def within(reference: Any, once: bool = True) -> set[int] | None:
    """The lists, dicts and objects that can be reached from one, and the dicts of their attributes.

    None if a list or a dict is met twice.
    """
    if type(reference) is list:
        inner = reference if {*map(type, reference)} == {list} else []
        if _ATOMS.issuperset(map(type, chain.from_iterable(inner) if inner else reference)):
            ids = {id(reference), *map(id, inner)}
            return None if once and len(ids) <= len(inner) else ids
    seen: set[int] = set()
    pending = [reference]
    while pending:
        found = pending.pop()
        cls = type(found)
        if cls is tuple:
            pending += [x for x in found if type(x) not in _ATOMS]
        elif id(found) in seen:
            if once and (cls in _CONTAINERS or kind_of(cls) in _ITEMS):
                return None
        elif cls in _CONTAINERS:
            seen.add(id(found))
            items = found if cls is list else found.values()
            kinds = set(map(type, items))
            if kinds == {list} and len(rows := set(map(id, items))) == len(items) and rows.isdisjoint(seen):
                seen |= rows
                items = list(chain.from_iterable(items))
                kinds = set(map(type, items))
            if kinds == {tuple}:
                kinds = set(map(type, chain.from_iterable(items)))
            if not kinds <= _ATOMS:
                pending += [x for x in items if type(x) not in _ATOMS]
        elif cls not in _ATOMS and ((kind := kind_of(cls)) == "object" or kind in _ITEMS):
            seen.add(id(found))
            if kind in _ITEMS:
                pending += _ITEMS[kind](found)
            own = dictionary_of(found)
            if own is not None:
                if once and id(own) in seen:
                    return None
                seen.add(id(own))
            held = attributes_of(found)
            if not _ATOMS.issuperset([type(x) for _, x in held]):
                pending += [x for _, x in held]
    return seen


def given_ids(*references: Any) -> set[int]:
    """The lists, dicts and objects that a program was given, and those in them."""
    return set[int]().union(*[within(reference, False) or () for reference in references])


_CONTAINERS: Final = frozenset({list, *DICTS})
_ITEMS: Final[dict[str, Callable[[Any], Iterable[Any]]]] = {
    "list": list.__iter__,
    "tuple": tuple.__iter__,
    "dict": dict.values,
}
"""What gives the items of objects of derived classes, whatever these say."""
_ATOMS: Final = frozenset({float, int, str, bool, type(None)})
