"""Builtin functions that ask about types and lengths, or begin iterations."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from types import UnionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.transform.specialise import lists
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    INT,
    Abstract,
    Array,
    Bound,
    Closure,
    Container,
    Error,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Number,
    Outside,
    OwnDict,
    OwnList,
    Tuple,
    example_of,
    join,
    number_types,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.objects import (
    super_of,
)
from autodiff_hook.transform.specialise.plans import alias, items_of, known_as, pure
from autodiff_hook.transform.specialise.results import abstract_of, outcome
from autodiff_hook.transform.specialise.wording import named


def _len(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    (value,) = map(inf.type_of, args)
    items = value.items if isinstance(value, Tuple) else items_of(value)
    if items is not None:
        return known_as(inf, s, len(items))
    if isinstance(value, Known) and type(value.value) in (str, bytes, range):
        return known_as(inf, s, len(value.value))
    if isinstance(value, OwnList):
        return pure(inf, s, Number(INT.types, example=max(1, len(value.example))))
    if isinstance(value, (Array, List)) and not (isinstance(value, Array) and value.scalar):
        return pure(inf, s, Number(INT.types, example=len(value.example)))
    raise Refused(f"the length of {named(value)}")


def _range(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    types = [inf.type_of(x) for x in args]
    if any((number_types(t) or {None}) - {int, bool} for t in types):
        raise Refused("a range of what may not be ints")
    examples = [example_of(t) for t in types]
    known = all(type(e) is int for e in examples)
    return pure(inf, s, Instance(range, example=range(*examples) if known else range(2)))


def _enumerate(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    item = item_of(inf, inf.type_of(args[0]))
    return pure(inf, s, Iterator(Tuple((Number(INT.types, example=0), item))))


def _zip(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    return pure(inf, s, Iterator(Tuple(tuple(item_of(inf, inf.type_of(x)) for x in args))))


def _reversed(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    return pure(inf, s, Iterator(item_of(inf, inf.type_of(args[0]))))


def item_of(inf: Inference, value: Abstract) -> Abstract:
    """What comes out of an iteration over a value."""
    if isinstance(value, Iterator):
        return value.item
    if isinstance(value, OwnList):
        return lists.item_of_own(inf, value)
    if isinstance(value, Instance) and value.cls is range:
        return Number(INT.types, example=value.example[0] if value.example else 0)
    if isinstance(value, List):
        return value.item
    items = items_of(value)
    if items:
        return reduce(join, items)
    if isinstance(value, Array) and value.ndim and len(value.example):
        return abstract_of(value.example[0])
    raise Refused(f"an iteration over {named(value)}")


def _isinstance(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    value, classes = map(inf.type_of, args)
    if not isinstance(classes, Known):
        raise Refused("isinstance with an unknown class")
    found = {isinstance_of(cls, classes.value) for cls in classes_of(value)}
    if len(found) != 1:
        return pure(inf, s, BOOL)
    return known_as(inf, s, found.pop())


def isinstance_of(cls: type, classes: Any) -> bool:
    """Whether instances of exactly ``cls`` are instances of ``classes``."""
    for c in classes if isinstance(classes, tuple) else (classes,):
        if isinstance(c, (UnionType, tuple)):
            if isinstance_of(cls, c if isinstance(c, tuple) else c.__args__):
                return True
            continue
        if not isinstance(c, type):
            raise Refused("isinstance of what is not a class")
        if (
            type(c) is not type
            and type(c).__instancecheck__ is not type.__instancecheck__
            and type(c).__module__ != "abc"
        ):
            raise Refused("a class that decides by itself what its instances are")
        if issubclass(cls, c):
            return True
    return False


def classes_of(value: Abstract) -> list[type]:
    """The exact types that a value may have."""
    types = number_types(value)
    if types is not None:
        return list(types)
    if isinstance(value, Array):
        return [np.ndarray, np.float64] if value.scalar else [np.ndarray]
    if isinstance(value, Tuple):
        return [value.cls]
    if isinstance(value, (Outside, Fresh, Container, Error)):
        return [value.cls]
    if isinstance(value, (List, OwnList)):
        return [list]
    if isinstance(value, OwnDict):
        return [dict]
    if isinstance(value, Instance):
        return [value.cls]
    if isinstance(value, Known):
        return [type(value.value)]
    raise Refused(f"the type of {named(value)}")


def _callable(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    value = inf.type_of(args[0])
    if isinstance(value, Known):
        return known_as(inf, s, callable(value.value))
    if isinstance(value, (Closure, Bound)):
        return known_as(inf, s, True)
    return known_as(inf, s, any("__call__" in base.__dict__ for cls in classes_of(value) for base in cls.__mro__))


def _int(inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """``int(x)``: an int itself, or a float cut off, which has no derivative."""
    types = number_types(inf.type_of(args[0])) if len(args) == 1 else None
    if types == INT.types:
        return alias(inf, s, args[0])
    if types is not None and types <= {float, np.float64, bool, np.int64}:
        return pure(inf, s, outcome(int, [inf.type_of(args[0])], {}))
    return None


QUESTIONS: Final[dict[Any, Callable[[Inference, Statement, list[Operand]], Abstract | None]]] = {
    len: _len,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    isinstance: _isinstance,
    int: _int,
    callable: _callable,
    super: super_of,
}
