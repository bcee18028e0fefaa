"""Containers that take the items of an iteration, on one way: each is there before the next is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Final

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.semantics.operations import BINARY, INPLACE
from autodiff_hook.transform.one_way.containers import (
    are_sets,
    as_item,
    as_key,
    has_keys,
    is_adopted,
    new,
    pairs,
    pairs_for,
    parts,
    taken_at_once,
)
from autodiff_hook.transform.one_way.iterating import items
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, is_container, is_open
from autodiff_hook.transform.specialise.abstract import Abstract, Container, Fresh, List, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named


def dict_merge(inf: Path, s: Statement) -> Abstract:
    """``f(**mapping)``: no name is given twice."""
    owner, source, _ = s.operands
    require_mapping(inf, source)
    given = pairs(inf, source)
    if not given.keys().isdisjoint(inf.content(owner)):
        raise Raised(TypeError("multiple values for a keyword argument"))
    inf.changed(owner).update(given)
    return known_as(inf, s, None)


def require_mapping(inf: Path, operand: Operand) -> None:
    """Raise what Python raises where what is no mapping is unpacked as one, though it may hold pairs."""
    value = inf.type_of(operand)
    if isinstance(value, List) or isinstance(value, (Container, Tuple)) and not issubclass(value.cls, dict):
        raise Raised(TypeError(f"{named(value)} is not a mapping"))


def extend(inf: Path, owner: Operand, source: Operand) -> None:
    """``owner.extend(source)``."""
    taken = _taken(inf, source)
    _ask_length(inf, source)
    for item in taken:
        inf.changed(owner).append(item)


def add_all(inf: Path, owner: Operand, source: Operand) -> None:
    """``owner.update(source)`` of sets."""
    held = None if any(isinstance(x, Variable) for x in inf.content(owner)) else taken_at_once(inf, source)
    if held is not None:
        inf.changed(owner).update(held)
        return
    for item in _taken(inf, source):
        held = inf.changed(owner)
        held.add(as_item(inf, item, held))


def taken_in_turn(inf: Path, source: Operand) -> list[Operand]:
    """The items that a list or a tuple is made of."""
    if length_of(inf, source) is None:
        return list(parts(inf, source))
    taken = _taken(inf, source)
    _ask_length(inf, source)
    return list(taken)


def _ask_length(inf: Path, source: Operand) -> None:
    """Lists ask an object how many items it has before they take any."""
    method = length_of(inf, source)
    if method is not None:
        inf.call(Constant(method), [source])


def length_of(inf: Path, source: Operand) -> FunctionType | None:
    """What an object is asked by who takes its items into a list, if it is Python code."""
    value = inf.type_of(source)
    if not isinstance(value, (Fresh, Outside)) or is_container(value.cls):
        return None
    method = look(inf, value.cls, "__len__") or look(inf, value.cls, "__length_hint__")
    return method if type(method) is FunctionType else None


def update(inf: Path, owner: Operand, source: Operand) -> None:
    """``owner.update(source)`` of dicts."""
    if has_keys(inf.type_of(source)) or not _is_lazy(inf, source):
        cls: type = inf.type_of(owner).cls  # type: ignore[attr-defined]
        inf.changed(owner).update(pairs_for(inf, cls, source))
        return
    for item in items(inf, source):
        key, value = parts(inf, item)
        inf.changed(owner)[as_key(inf, key)] = value


def augmented(inf: Path, s: Statement) -> Abstract | None:
    """``a |= b`` of dicts, and what a set does to itself for another one; None if ``a`` is no container."""
    owner, source = s.operands
    value = inf.type_of(owner)
    if not isinstance(value, Container):
        return None
    cls, held = value.cls, taken_at_once(inf, source)
    if cls is dict and s.data == "|":
        update(inf, owner, source)
    elif cls is set and s.data == "|" and isinstance(held, (set, frozenset)):
        add_all(inf, owner, source)
    elif cls is set and isinstance(held, (set, frozenset)) and not any(map(is_open, inf.content(owner))):
        INPLACE[str(s.data)](inf.changed(owner), held)
    else:
        raise Refused("a container is changed in place")
    return alias(inf, s, owner)


def merged(inf: Path, s: Statement) -> Abstract | None:
    """``a | b`` of dicts, and the operators of sets; None if they are not such."""
    if s.data in _OF_SETS and are_sets(inf, s.operands):
        both = [taken_at_once(inf, x) for x in s.operands]
        made = None if any(x is None for x in both) else BINARY[str(s.data)](*both)
        return None if made is None else new(inf, type(made), made)
    if s.data != "|" or not all(_is_dict(inf.type_of(x)) for x in s.operands):
        return None
    return new(inf, dict, {key: held for x in s.operands for key, held in pairs(inf, x).items()})


_OF_SETS: Final = ("|", "&", "-", "^")


def _is_dict(value: Abstract) -> bool:
    return isinstance(value, (Container, Outside, Tuple)) and value.cls is dict


def _taken(inf: Path, source: Operand) -> Iterator[Operand]:
    """The items of ``source``: all at once, if no code of the program runs meanwhile."""
    return items(inf, source) if _is_lazy(inf, source) else iter(list(parts(inf, source)))


def _is_lazy(inf: Path, source: Operand) -> bool:
    value = inf.type_of(source)
    if isinstance(value, Outside) and is_adopted(value):
        return False
    return source in inf.iterators or isinstance(value, (Fresh, Outside)) and not is_container(value.cls)
