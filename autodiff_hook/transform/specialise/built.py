"""Objects that a program makes and puts into lists or dicts: dicts of the program that stand for their class.

Others that the program makes are never built (``objects.py``); these are many, and known by what they are put into.
"""

from __future__ import annotations

from types import FunctionType, MemberDescriptorType
from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.lookup import is_plainly
from autodiff_hook.transform.specialise import dicts
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Dict, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import call_with, inline_call
from autodiff_hook.transform.specialise.infer import LOAD, STORE, Alias, Inference
from autodiff_hook.transform.specialise.instances import shown
from autodiff_hook.transform.specialise.lattice import built_class
from autodiff_hook.transform.specialise.objects import has, is_set_by_code, look
from autodiff_hook.transform.specialise.plans import alias, known_as


def attribute(inf: Inference, s: Statement, value: Dict, owner: Operand, name: str) -> Abstract | None:
    """``owner.name``: data of the object, a property, or a method."""
    cls = built_class(value)
    assert cls is not None
    if name == "__class__":
        return known_as(inf, s, shown(cls))
    found = look(inf, cls, name)
    if is_plainly(found, property) and isinstance(found.fget, FunctionType):
        inf.assume(owner)
        return inline_call(inf, s, found.fget, [owner], {})
    method = _method(value, found, name)
    if method is not None:
        inf.assume(owner)
        if isinstance(found, staticmethod):
            return known_as(inf, s, method)
        inf.plans[s] = Alias(Constant(None))
        return Bound(method, owner if found is method else Constant(cls))
    if name not in value.site.named and has(cls, name) and not hasattr(type(found), "__get__"):
        return alias(inf, s, inf.world.part(Constant(cls), cls, name, False))
    if has(cls, name) and not isinstance(found, MemberDescriptorType):
        raise Refused(f"the attribute {name} of objects and of their class")
    kind = dicts.item_of_dict(inf, value, Known(name))
    inf.program.slots[s] = owner, name
    inf.plans[s] = LOAD
    return kind


def method_call(
    inf: Inference, s: Statement, value: Dict, name: str, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)``."""
    cls, owner = built_class(value), s.operands[0]
    assert cls is not None
    found = look(inf, cls, name)
    method = _method(value, found, name)
    if method is None:
        raise Refused(f"the method {name} of an object")
    inf.assume(owner)
    receiver = [] if isinstance(found, staticmethod) else [owner if found is method else Constant(cls)]
    return call_with(inf, s, Constant(method), [*receiver, *args], names)


def _method(value: Dict, found: Any, name: str) -> FunctionType | None:
    """The function behind what a class has, if it is a method that no object hides."""
    method = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    if not isinstance(method, FunctionType):
        return None
    if name in value.site.named:
        raise Refused(f"the attribute {name} hides a method")
    return method


def write(inf: Inference, s: Statement, target: Dict, name: str) -> Abstract | None:
    """``owner.name = value``."""
    owner, value = s.operands
    cls = built_class(target)
    assert cls is not None
    found = look(inf, cls, name)
    if is_plainly(found, property, "__set__") and isinstance(found.fset, FunctionType):
        inf.assume(owner)
        return inline_call(inf, s, found.fset, [owner, value], {})
    if is_set_by_code(found) or has(cls, name) and not isinstance(found, MemberDescriptorType):
        raise Refused(f"the attribute {name} of objects and of their class")
    dicts.into_dict(inf, target, Known(name), inf.type_of(value))
    inf.program.slots[s] = owner, name
    inf.plans[s] = STORE
    return Known(None)
