"""Texts: what they say of numbers is constant, and what is asked of them has a type of its own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Statement
from autodiff_hook.transform.specialise import constants, exceptions, lists
from autodiff_hook.transform.specialise.abstract import BOOL, INT, MISSING, Abstract, Instance, Known, Tuple
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of, inert_class
from autodiff_hook.transform.specialise.plans import known_as, pure, require_inert
from autodiff_hook.transform.specialise.results import outcome

TEXT: Final = Instance(str, example="…")
_TEXTS: Final = Instance(list, example=["…"])
_METHODS: Final[dict[str, Abstract]] = {
    **dict.fromkeys("format join lower upper strip lstrip rstrip title capitalize swapcase casefold".split(), TEXT),
    **dict.fromkeys("replace zfill center ljust rjust expandtabs removeprefix removesuffix".split(), TEXT),
    **dict.fromkeys("count find rfind index rindex".split(), INT),
    **dict.fromkeys("startswith endswith isalnum isalpha isascii isdecimal isdigit isidentifier".split(), BOOL),
    **dict.fromkeys("islower isnumeric isprintable isspace istitle isupper".split(), BOOL),
    **dict.fromkeys(("split", "rsplit", "splitlines"), _TEXTS),
    **dict.fromkeys(("partition", "rpartition"), Tuple((TEXT, TEXT, TEXT), example=("…", "…", "…"))),
}
"""What methods return, whatever the text."""
_OPERATORS: Final = {"+": operator.add, "*": operator.mul, "%": operator.mod}


def method(inf: Inference, s: Statement, value: Abstract, name: str, args: list[Abstract]) -> Abstract | None:
    """``text.name(...)``."""
    names = s.data[1]
    count = len(args) - len(names)

    def run(text: Any, *given: Any) -> Any:
        return getattr(text, name)(*given[:count], **dict(zip(names, given[count:])))

    run.__qualname__ = f"str.{name}"
    if all(isinstance(x, Known) for x in (value, *args)):
        return constants.computed(inf, s, run, list(map(example_of, (value, *args))))
    require_inert(*args)
    if name not in _METHODS or _METHODS[name] is _TEXTS and inf.one_way:
        raise Refused(f"the method {name} of a string")
    found = _like(inf, _METHODS[name], run, [value, *args])
    if isinstance(found, Instance) and found.cls is list:
        found = lists.new(inf, s, found.example, Instance(str, example=(*found.example, "…")[0]))
    return pure(inf, s, found)


def _like(inf: Inference, kind: Abstract, run: Callable[..., Any], values: list[Abstract]) -> Abstract:
    """A value of this kind, with an example if there is one; on one way nothing else stands for it."""
    unknown = Instance(str) if inf.one_way and kind is TEXT else kind
    if any(example_of(x) is MISSING for x in values):
        return unknown
    try:
        return replace(kind, example=outcome(run, values, {}).example)
    except Refused:
        return unknown


def operation(inf: Inference, s: Statement) -> Abstract | None:
    """``text + text``, ``text % values``, ``text * count``; None if it is something else."""
    values = [inf.type_of(x) for x in s.operands]
    places = [i for i, x in enumerate(values) if inert_class(x) in (str, np.str_)]
    if not places or s.data not in _OPERATORS or s.data != "*" and places[0]:
        return None
    if s.data == "%":
        s.operands[1] = exceptions.shown(inf, s, s.operands[1])
        values = [inf.type_of(x) for x in s.operands]
    if all(isinstance(x, Known) and is_plain(x.value) for x in values):
        try:
            return known_as(inf, s, _OPERATORS[s.data](*map(example_of, values)))
        except (TypeError, ValueError) as error:
            raise Refused(f"an operation that fails: {error}") from error
    require_inert(*values)
    return pure(inf, s, _like(inf, TEXT, _OPERATORS[s.data], values))


def formatted(inf: Inference, s: Statement) -> Abstract:
    """A part of an f-string, or all of it."""
    s.operands = [exceptions.shown(inf, s, x) for x in s.operands]
    values = [inf.type_of(x) for x in s.operands]
    require_inert(*values)
    known = [x.value for x in values if isinstance(x, Known) and type(x.value) in _SHOWN]
    if s.op == "build_string":
        if len(known) == len(values):
            return known_as(inf, s, "".join(known))
        return pure(inf, s, _like(inf, TEXT, lambda *parts: "".join(parts), values))
    shown = _CONVERSIONS[s.data or ""]
    if len(known) == len(values) == 1:
        return known_as(inf, s, format(shown(known[0])))
    return pure(inf, s, _like(inf, TEXT, lambda value, *spec: format(shown(value), *spec), values))


_SHOWN: Final = (int, str, bool)
_CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {"": lambda x: x, "r": repr, "s": str, "a": ascii}


def item(inf: Inference, s: Statement, text: Abstract, key: Abstract) -> Abstract:
    """``text[key]``."""
    if isinstance(text, Known) and isinstance(key, Known):
        return known_as(inf, s, text.value[key.value])
    require_inert(key)
    return pure(inf, s, _like(inf, TEXT, operator.getitem, [text, key]))
