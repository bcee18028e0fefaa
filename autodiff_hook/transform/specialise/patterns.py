"""Regular expressions: what they find in texts has no derivative."""

from __future__ import annotations

import re
from typing import Any, Final

from autodiff_hook.ir.types import Args, Statement
from autodiff_hook.transform.specialise import constants, lists
from autodiff_hook.transform.specialise.abstract import INT, Abstract, Instance, Iterator, Known, Optional, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import inert_class, known
from autodiff_hook.transform.specialise.plans import known_as, pure, require_inert
from autodiff_hook.transform.specialise.texts import TEXT

_MATCH: Final = Instance(re.Match, example=re.match("", ""))


def is_of_patterns(value: Abstract) -> bool:
    """Whether a value is a regular expression that is known, or what one has found."""
    return isinstance(value, Known) and type(value.value) is re.Pattern or inert_class(value) is re.Match


def compiled(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``re.compile(text)`` and what else begins with it: a regular expression is made while the program is."""
    given = [known(inf.type_of(x)) for x in args]
    if len(given) != 2 or type(given[0]) is not str or not isinstance(given[1], int):
        return None
    try:
        return known_as(inf, s, re.compile(*given))
    except re.error as error:
        raise Refused(str(error)) from error


def method(inf: Inference, s: Statement, value: Abstract, name: str, args: list[Abstract]) -> Abstract | None:
    """``pattern.name(...)`` and ``match.name(...)``."""
    require_inert(*args)
    if isinstance(value, Instance):
        found = _of_match(name, args)
    elif all(isinstance(x, Known) for x in args) and name in ("findall", "split", "sub") and not s.data[1]:
        given: list[Any] = [x.value for x in args]  # type: ignore[attr-defined]
        return constants.computed(inf, s, getattr(value.value, name), given)  # type: ignore[attr-defined]
    else:
        found = _of_pattern(inf, s, value.value, name, args)  # type: ignore[attr-defined]
    if found is None:
        raise Refused(f"the method {name} of a regular expression")
    return pure(inf, s, found)


def _of_pattern(inf: Inference, s: Statement, pattern: Any, name: str, args: list[Abstract]) -> Abstract | None:
    if not isinstance(pattern.pattern, str) or any(inert_class(x) is not str for x in args[:2]):
        return None
    if name in ("match", "search", "fullmatch"):
        return Optional(_MATCH, example=_MATCH.example)
    if name == "finditer":
        return Iterator(_MATCH)
    if name == "findall":
        item = TEXT if pattern.groups < 2 else Tuple((TEXT,) * pattern.groups, example=("…",) * pattern.groups)
        return lists.new(inf, s, [item.example], item)
    if name == "split" and not pattern.groups:
        return lists.new(inf, s, ["…"], TEXT)
    return TEXT if name == "sub" else None


def _of_match(name: str, args: list[Abstract]) -> Abstract | None:
    if name == "group" and len(args) < 2:
        whole = not args or isinstance(args[0], Known) and args[0].value == 0
        return TEXT if whole else Optional(TEXT, example="…")
    return INT if name in ("start", "end") else None
