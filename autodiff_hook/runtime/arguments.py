"""Abstract values of arguments, and of what stands outside of a program."""

from __future__ import annotations

import enum
from types import BuiltinFunctionType, FunctionType, GenericAlias, ModuleType, UnionType
from typing import Any

from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Known,
    List,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.results import abstract_of


def constant_kind(value: Any) -> bool:
    """Whether code refers to a value by identity: a function, a class, a module."""
    return issubclass(type(value), (FunctionType, type, ModuleType, BuiltinFunctionType, UnionType, GenericAlias)) or (
        type(value).__module__ == "typing"
        or callable(value)
        and type(value).__module__ in ("numpy", "builtins", "functools", "operator")
    )


def described(value: Any) -> Abstract:
    """The abstract value of an argument, or of data in a global or a closure cell."""
    if value is None or issubclass(type(value), (bool, str)) or constant_kind(value):
        return Known(value)
    if type(value) is tuple:
        return Tuple(tuple(map(described, value)), example=value)
    if type(value) is list:
        types = set(map(type, value))
        if types == {float} or types == {int}:
            return List(Number(frozenset(types), example=value[0]), example=value)
    if issubclass(type(value), enum.Enum):
        return Known(value)
    try:
        return abstract_of(value)
    except Refused:
        return Outside(type(value), example=value)


def arguments(args: tuple[Any, ...], one_way: bool = False) -> list[Abstract]:
    """The abstract values of arguments, no two of which are one list or dict."""
    seen: set[int] = set()

    def visit(value: Any) -> None:
        if type(value) in (list, dict):
            if id(value) in seen:
                raise Refused("a list or a dict that is passed twice")
            seen.add(id(value))
        if type(value) in (tuple, dict, list):
            for item in value.values() if type(value) is dict else value:
                visit(item)

    for value in args:
        visit(value)
    found = [argument(x, one_way=one_way) for x in args]
    if not any(isinstance(x, Outside) for x in found):
        return found
    # A list may be an attribute of an object that is passed, too: what is read of it belongs to both.
    return [Outside(type(v), example=v) if isinstance(x, (Tuple, List)) else x for v, x in zip(args, found)]


def argument(value: Any, nested: bool = False, one_way: bool = False) -> Abstract:
    """The abstract value of an argument.

    What has parts with derivatives is known in all its parts; or if there are objects among them, it is ``Outside``,
    and parts are loaded as the program reads them.
    """
    if constant_kind(value) and not issubclass(type(value), type):
        raise Refused("a callable as an argument")
    if type(value) is dict and all(type(key) is str for key in value):
        return _of_parts(value, tuple(value.values()), tuple(value), one_way)
    if type(value) is tuple or type(value) is list and one_way:
        return _of_parts(value, tuple(value), (), one_way)
    found = described(value)
    if nested and isinstance(found, List):
        raise Refused("a list within an argument")
    if isinstance(found, Tuple) and found.cls is list:
        found = Outside(list, example=value)
    if isinstance(found, Outside) and not one_way:
        raise Refused(f"an argument of type {type(value).__qualname__}")
    return found


def _of_parts(value: Any, parts: tuple[Any, ...], keys: tuple[str, ...], one_way: bool) -> Abstract:
    items = tuple(argument(x, True, one_way) for x in parts)
    if any(isinstance(item, Outside) for item in items):
        return Outside(type(value), example=value)
    return Tuple(items, type(value), keys, example=value)
