"""Objects from outside, as arguments and in lists: their attributes are read, and are of one kind for all of a site."""

from __future__ import annotations

from types import FunctionType

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.lookup import dictionary_of, is_plainly
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Bound,
    Known,
    Record,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import call_with, inline_call
from autodiff_hook.transform.specialise.infer import LOAD, Alias, Inference
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as


def attribute(inf: Inference, s: Statement, value: Record, owner: Operand, name: str) -> Abstract | None:
    """``owner.name``: data of the object, a property, or a method."""
    found = look(inf, value.cls, name)
    if is_plainly(found, property) and isinstance(found.fget, FunctionType):
        inf.assume(owner)
        return inline_call(inf, s, found.fget, [owner], {})
    method = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    if isinstance(method, FunctionType):
        _require_absent(value, name)
        inf.assume(owner)
        if isinstance(found, staticmethod):
            return known_as(inf, s, method)
        inf.plans[s] = Alias(Constant(None))
        return Bound(method, owner if found is method else Constant(value.cls))
    if hasattr(type(found), "__get__") and not hasattr(found, "__objclass__"):
        raise Refused(f"the descriptor {name}")
    if found is not None and not hasattr(type(found), "__get__") and not _any_has(value, name):
        value.site.absent.add(name)
        return alias(inf, s, inf.world.part(Constant(value.cls), value.cls, name, False))
    kind = value.site.named.get(name) or inf.world.attribute_kind(value.site.examples, name)
    if kind is None:
        raise Refused(f"the attribute {name} of objects is of several kinds")
    value.site.named[name] = kind
    if isinstance(kind, Known):
        return known_as(inf, s, kind.value)
    s.op, s.operands, s.data = "getattr", [owner], name
    inf.plans[s] = LOAD
    return kind


def method_call(
    inf: Inference, s: Statement, value: Record, name: str, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)``."""
    found, owner = look(inf, value.cls, name), s.operands[0]
    method = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    if not isinstance(method, FunctionType):
        raise Refused(f"the method {name} of an object")
    _require_absent(value, name)
    inf.assume(owner)
    receiver = [] if isinstance(found, staticmethod) else [owner if found is method else Constant(value.cls)]
    return call_with(inf, s, Constant(method), [*receiver, *args], names)


def _require_absent(value: Record, name: str) -> None:
    """An attribute of an object hides a method of its class; that there is none is guarded."""
    if _any_has(value, name):
        raise Refused(f"the attribute {name} hides a method")
    value.site.absent.add(name)


def _any_has(value: Record, name: str) -> bool:
    """Whether an object has an attribute of its own."""
    return any(name in (dictionary_of(example) or ()) for example in value.site.examples)
