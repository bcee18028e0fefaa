"""What functions that only compute give of constants: it is written out in the place of the call.

Lists and dicts are made anew at each call, as the function makes them, so the program may change them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import Enum, EnumMeta, Flag
from functools import reduce
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Instance, Known, Number
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import item_like, join
from autodiff_hook.transform.specialise.lattice import known as known_value
from autodiff_hook.transform.specialise.plans import is_hashable, known_as, pure
from autodiff_hook.transform.specialise.wording import named

_NAMES: Final = {"json": ("loads",), "ast": ("literal_eval",)}
_MOST: Final = 500
"""How many parts are written out."""


def written_out(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """The result of a call; None if it is of another function, or not of constants."""
    values = [known_value(inf.type_of(x)) for x in args]
    if kwargs or not values or any(x is MISSING for x in values):
        return None
    if type(function) is EnumMeta and len(values) == 1 and is_hashable(values[0]):
        if type(values[0]) is function:
            return known_as(inf, s, values[0])
        return member(inf, s, function, function._value2member_map_, values[0])
    if inf.one_way or not _only_computes(function):
        return None
    return computed(inf, s, function, values)


def computed(inf: Inference, s: Statement, function: Any, values: list[Any]) -> Abstract | None:
    """What a function that only computes gives of these values."""
    try:
        found = function(*values)
    except Exception as error:
        raise Refused(f"{named(function)} raised {error}") from error
    if _size(found) > _MOST:
        raise Refused(f"{named(function)} gives too much to be written out")
    return _written(inf, s, found)


def member(inf: Inference, s: Statement, cls: EnumMeta, known: Mapping[Any, Any], key: Any) -> Abstract:
    """``Colour("red")`` and ``Colour["RED"]``: a member, which is the same each time."""
    if key not in known:
        raise Refused(f"{cls.__qualname__} has no member {key}")
    return known_as(inf, s, inf.world.attribute(cls, known[key].name))


def members(inf: Inference, operand: Operand) -> Operand:
    """What is iterated over: the members of an Enum are a tuple; other operands are as they are."""
    kind = inf.type_of(operand)
    if not isinstance(kind, Known) or type(kind.value) is not EnumMeta:
        return operand
    inf.world.members(kind.value)
    return Constant(tuple(kind.value))


def of_a_member(inf: Inference, s: Statement, cls: type[Enum], name: str) -> Abstract:
    """The name or the value of a member, of which no more than the class is known."""
    plain = name in ("name", "value") and find_in_type(cls, name) is Enum.__dict__[name]
    inf.world.members(cls)
    if not plain or issubclass(cls, Flag):
        raise Refused(f"the attribute {name} of a member of {cls.__qualname__}")
    held: list[Abstract] = [Known(getattr(x, name)) for x in cls]
    found = item_like(reduce(join, held))
    if not isinstance(found, (Number, Instance)):
        raise Refused(f"values of several kinds in {cls.__qualname__}")
    return pure(inf, s, found)


def _only_computes(function: Any) -> bool:
    home = getattr(function, "__module__", None)
    name = getattr(function, "__name__", None)
    return name in _NAMES.get(home, ()) and getattr(sys.modules[home], name) is function  # type: ignore[index, arg-type]


def _size(value: Any) -> int:
    parts = [*value, *value.values()] if type(value) is dict else value if type(value) in (list, tuple) else ()
    return 1 + sum(map(_size, parts))


def _written(inf: Inference, s: Statement, value: Any) -> Abstract | None:
    if type(value) in (list, dict):
        s.op, s.data = ("build_list" if type(value) is list else "build_map"), None
        s.operands = [_operand(inf, s, x) for x in _parts(value)]
        return inf.evaluate(inf, s)
    if not is_plain(value):
        raise Refused(f"a constant of type {type(value).__qualname__}")
    return known_as(inf, s, value)


def _parts(value: Any) -> list[Any]:
    return [x for pair in value.items() for x in pair] if type(value) is dict else value


def _operand(inf: Inference, s: Statement, value: Any) -> Operand:
    if type(value) not in (list, dict):
        if not is_plain(value):
            raise Refused(f"a constant of type {type(value).__qualname__}")
        return Constant(value)
    made = Statement("call", [], Variable(), None, s.position)
    found = _written(inf, made, value)
    assert found is not None
    inf.insert(made, found)
    return made.made
