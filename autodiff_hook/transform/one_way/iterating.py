"""Iteration on one way through a program: as lazy as that of Python, over what is known to be there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.transform.one_way import inert
from autodiff_hook.transform.one_way.asked import is_listed
from autodiff_hook.transform.one_way.containers import (
    KEYED,
    changeable,
    elements_of,
    guarded_length,
    is_adopted,
    parts,
    seen_through,
    shown_keys,
)
from autodiff_hook.transform.one_way.derived import rows
from autodiff_hook.transform.one_way.held import held_by
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, done, is_container
from autodiff_hook.transform.specialise import records
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Container, Fresh, List, Lookup, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import look, written
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.wording import named


def get_iter(inf: Path, s: Statement) -> Abstract:
    """The beginning of an iteration."""
    return alias(inf, s, inf.iterator(items(inf, s.operands[0])))


def items(inf: Path, operand: Operand) -> Iterator[Operand]:
    """The items of an iteration, as it comes to them."""
    if operand in inf.iterators:
        return inf.iterators[operand]
    value = inf.type_of(operand)
    if is_listed(value):
        return inert.listed(inf, operand)
    if isinstance(value, Container):
        held = inf.content(operand)
        if isinstance(held, np.ndarray):
            return (inf.perform("getitem", [operand, Constant(i)]) for i in range(done(len, held)))
        return _live(held) if value.cls is list else _viewed(Keys(inf, held) if value.cls in KEYED else held)
    if isinstance(value, Array) and np.ndim(value.example):
        return _rows(inf, operand, value)
    if isinstance(value, Lookup):
        return elements_of(inf, operand, value.name, value.receiver)
    if isinstance(value, (Outside, Tuple, List)) and value.cls in (list, dict, set):
        return items(inf, changeable(inf, operand))
    if isinstance(value, Outside) and records.has_rows(inf, operand, value):
        inf.world.length(inf.final(operand), value.example)
        return (inf.perform("getitem", [operand, Constant(i)]) for i in range(len(value.example)))
    if isinstance(value, (Fresh, Outside)) and not is_container(value.cls) and not is_adopted(value):
        found = rows(inf, operand)
        held = held_by(inf, operand, "__iter__") or seen_through(inf, operand)
        if held is not None:
            return items(inf, held)
        return _of_object(inf, operand, value) if found is None else found
    return iter(parts(inf, operand))


def _rows(inf: Path, operand: Operand, value: Array) -> Iterator[Operand]:
    """The rows of an array, each as it is when the iteration comes to it."""
    for i in range(guarded_length(inf, operand, value)):
        yield inf.perform("getitem", [operand, Constant(i)])


def _of_object(inf: Path, operand: Operand, value: Fresh | Outside) -> Iterator[Operand]:
    """The items of an object whose class says how it is iterated over."""
    at = look(inf, value.cls, "__getitem__")
    if look(inf, value.cls, "__iter__") is None:
        is_closed = has_in_type(value.cls, "__iter__")
        if is_closed or not has_in_type(value.cls, "__getitem__"):
            raise Raised(TypeError(f"{named(value)} is not iterable"))
        if type(at) is FunctionType:
            return _by_index(inf, operand, at)
    started = begun(inf, operand)
    if started is None:
        raise Refused(f"an iteration over {named(value)}")
    return _going_on(inf, started)


def _going_on(inf: Path, started: Operand) -> Iterator[Operand]:
    """The items that an iterator goes on to give."""
    if started in inf.iterators:
        return items(inf, started)
    step = step_of(inf, inf.type_of(started))
    if step is None:
        raise Refused(f"an iteration over {named(inf.type_of(started))}")
    return stepped(inf, started, step)


def begun(inf: Path, operand: Operand) -> Operand | None:
    """What the ``__iter__`` of an object gives; None if no Python code says it."""
    begin = _method(inf, inf.type_of(operand), "__iter__")
    return None if begin is None else inf.call(Constant(begin), [operand])


def is_iterated_by_code(inf: Path, operand: Operand) -> bool:
    """Whether an ``__iter__`` of Python code begins an iteration over an object."""
    return operand not in inf.iterators and _method(inf, inf.type_of(operand), "__iter__") is not None


def step_of(inf: Path, kind: Abstract) -> FunctionType | None:
    """The ``__next__`` of an object, if it is Python code."""
    return _method(inf, kind, "__next__")


def _method(inf: Path, kind: Abstract, name: str) -> FunctionType | None:
    return written(inf, kind.cls, name) if isinstance(kind, (Fresh, Outside)) and not is_container(kind.cls) else None


def _by_index(inf: Path, operand: Operand, at: FunctionType) -> Iterator[Operand]:
    """The items of an object that only says what it has at an index."""
    for index in count():
        try:
            item = inf.call(Constant(at), [operand, Constant(index)])
        except Raised as raised:
            if not issubclass(raised.cls, (IndexError, StopIteration)):
                raise
            return
        yield item


def stepped(inf: Path, operand: Operand, step: FunctionType) -> Iterator[Operand]:
    """What an object gives step by step."""
    while True:
        try:
            item = inf.call(Constant(step), [operand])
        except Raised as raised:
            if not issubclass(raised.cls, StopIteration):
                raise
            return
        yield item


def _viewed(held: Any) -> Iterator[Operand]:
    """The items of a dict, which must not grow or shrink meanwhile."""
    try:
        yield from held
    except RuntimeError as error:
        raise Raised(error) from None


_EMPTY: Final[dict[Any, Any]] = {}
KEYS: Final = type(_EMPTY.keys())
VALUES: Final = type(_EMPTY.values())
ITEMS: Final = type(_EMPTY.items())


class Keys:
    """The keys of a dict as they are at each moment."""

    def __init__(self, inf: Path, held: Any) -> None:
        self.inf, self.held = inf, held

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Iterator[Operand]:
        return shown_keys(self.inf, self.held)


class Items(Keys):
    """The pairs of a dict as they are at each moment."""

    def __iter__(self) -> Iterator[Operand]:
        return (self.inf.perform("build_tuple", [self.inf.shown(k), v]) for k, v in self.held.items())


def _live(held: list[Operand]) -> Iterator[Operand]:
    index = 0
    while index < len(held):
        yield held[index]
        index += 1


def backwards(inf: Path, operand: Operand) -> Iterator[Operand]:
    """The items from the last that there is to the first, as the iteration comes to them."""
    value = inf.type_of(operand)
    if isinstance(value, (Fresh, Outside)):
        method = written(inf, value.cls, "__reversed__")
        if method is not None:
            return _going_on(inf, inf.call(Constant(method), [operand]))
        is_denied = has_in_type(value.cls, "__reversed__") and look(inf, value.cls, "__reversed__") is None
        if is_denied or written(inf, value.cls, "__iter__"):
            raise Refused(f"{named(value)} backwards")
    if operand in inf.iterators or isinstance(value, Container) and value.cls in (set, frozenset):
        raise Raised(TypeError(f"{named(value)} is not reversible"))
    if not isinstance(value, Container) or value.cls is not list:
        return iter(parts(inf, operand)[::-1])
    held = inf.content(operand)
    return _live_backwards(held, len(held) - 1)


def _live_backwards(held: list[Operand], index: int) -> Iterator[Operand]:
    while 0 <= index < len(held):
        yield held[index]
        index -= 1
