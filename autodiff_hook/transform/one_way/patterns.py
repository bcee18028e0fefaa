"""Regular expressions on one way: what they find in a text that is known is known, too."""

from __future__ import annotations

import re
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.transform.one_way import containers
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Instance, Known
from autodiff_hook.transform.specialise.lattice import example_of
from autodiff_hook.transform.specialise.plans import alias, known_as

_FUNCTIONS: Final = (re.compile, re.match, re.fullmatch, re.search, re.findall, re.split, re.sub, re.escape)
_CLASSES: Final = (re.Pattern, re.Match)


def called(inf: Path, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]) -> Abstract | None:
    """``re.match(…)``, or a method of what that gives; None if it is none, or of what is not known."""
    home = getattr(function, "__objclass__", None)
    if home not in _CLASSES and not any(function is x for x in _FUNCTIONS):
        return None
    given = [*args, *kwargs.values()]
    if not all(_is_text(inf.type_of(x)) for x in given):
        return None
    values = [example_of(inf.type_of(x)) for x in given]
    try:
        found = function(*values[: len(args)], **dict(zip(kwargs, values[len(args) :])))
    except Exception as error:
        list(map(inf.pin, given))
        raise Raised(error) from None
    if type(found) in (str, re.Match, type(None)) and not all(isinstance(inf.type_of(x), Known) for x in given):
        return alias(inf, s, _of_this_kind(inf, function, given, tuple(kwargs), found))
    list(map(inf.pin, given))
    return containers.new(inf, list, list(map(Constant, found))) if type(found) is list else known_as(inf, s, found)


def _of_this_kind(inf: Path, function: Any, given: list[Operand], names: tuple[str, ...], found: Any) -> Operand:
    """What is found in a text that may be another one the next time, guarded to be of the same kind."""
    kind = Instance(type(found), example=found)
    made = inf.emit("call", Constant(function), *given, abstract=kind, data=names)
    found_class = inf.emit("call", Constant(type), made, abstract=Instance(type), data=())
    inf.guard(inf.emit("is", found_class, Constant(type(found)), abstract=BOOL), True)
    return Constant(None) if found is None else made


def _is_text(value: Abstract) -> bool:
    if isinstance(value, Known):
        return type(value.value) in (str, int, re.RegexFlag, type(None), *_CLASSES)
    return isinstance(value, Instance) and value.cls in (str, *_CLASSES)


def method(
    inf: Path, s: Statement, owner: Operand, name: str, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """A method of a pattern or of a match; None if the owner is neither."""
    value = inf.type_of(owner)
    if not isinstance(value, (Known, Instance)) or type(example_of(value)) not in _CLASSES:
        return None
    count = len(args) - len(names)
    function = getattr(type(example_of(value)), name, None)
    return called(inf, s, function, [owner, *args[:count]], dict(zip(names, args[count:])))
