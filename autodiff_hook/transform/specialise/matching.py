"""``match``: what patterns ask is known of the types; what they bind are attributes and items."""

from __future__ import annotations

from typing import Final

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.semantics.matching import matched_names
from autodiff_hook.transform.specialise.abstract import Abstract, Known, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.instances import classes_of, isinstance_of
from autodiff_hook.transform.specialise.plans import alias, is_hashable, known_as

_FLAGS: Final = {"match_sequence": 1 << 5, "match_mapping": 1 << 6}


def of_kind(inf: Inference, s: Statement) -> Abstract:
    """Whether ``case [...]`` or ``case {...}`` may match: a flag of the class says so."""
    found = {bool(cls.__flags__ & _FLAGS[s.op]) for cls in classes_of(inf.type_of(s.operands[0]))}
    if len(found) != 1:
        raise Refused("a pattern of what may be of several types")
    return known_as(inf, s, found.pop())


def length(inf: Inference, s: Statement) -> Abstract | None:
    """How many items a pattern of items finds."""
    s.op, s.operands, s.data = "call", [Constant(len), s.operands[0]], ()
    return inf.evaluate(inf, s)


def by_class(inf: Inference, s: Statement) -> Abstract:
    """``case Point(x, y=0.0)``."""
    subject, cls, names = s.operands[0], *map(inf.type_of, s.operands[1:])
    if not isinstance(cls, Known) or not isinstance(cls.value, type) or not isinstance(names, Known):
        raise Refused("a pattern of a class that is not known")
    found = {isinstance_of(c, cls.value, inf.world.is_subclass) for c in classes_of(inf.type_of(subject))}
    if len(found) != 1:
        raise Refused("a pattern of what may be of several types")
    if not found.pop():
        return known_as(inf, s, None)
    if hasattr(cls.value, "__match_args__"):
        inf.world.attribute(cls.value, "__match_args__")
    try:
        bound = matched_names(s.data, cls.value, names.value)
    except TypeError as error:
        raise Refused(str(error)) from error
    return _bound(inf, s, [subject if x is None else inf.before(s, "getattr", [subject], x) for x in bound])


def by_keys(inf: Inference, s: Statement) -> Abstract:
    """``case {"name": name}``."""
    subject, keys = map(inf.type_of, s.operands)
    if not isinstance(keys, Known) or not all(map(is_hashable, keys.value)):
        raise Refused("a pattern of keys that are not known")
    if isinstance(subject, Tuple) and subject.cls is dict:
        if not set(keys.value) <= set(subject.keys):
            return known_as(inf, s, None)
    elif not (isinstance(subject, Outside) and subject.cls is dict and set(keys.value) <= subject.example.keys()):
        raise Refused("a pattern of keys that may be there")
    parts = [inf.before(s, "getitem", [s.operands[0], Constant(key)]) for key in keys.value]
    return _bound(inf, s, parts)


def _bound(inf: Inference, s: Statement, parts: list[Operand]) -> Abstract:
    # The pattern itself stays, to be asked again when more types come here.
    return alias(inf, s, inf.before(s, "build_tuple", parts))
