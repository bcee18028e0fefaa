"""Attributes of objects that are of one of several classes: what all of them hold, or have in common."""

from __future__ import annotations

from types import FunctionType, MemberDescriptorType
from typing import Any

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.lookup import getter_of, has_in_type
from autodiff_hook.transform.specialise import dicts
from autodiff_hook.transform.specialise.abstract import Abstract, Dict
from autodiff_hook.transform.specialise.calling import call_with
from autodiff_hook.transform.specialise.dividing import divided
from autodiff_hook.transform.specialise.families import TAG
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import built_classes
from autodiff_hook.transform.specialise.objects import assigns_plainly, look


def attribute(inf: Inference, s: Statement, owner: Operand, value: Dict, name: str) -> Abstract | None:
    """``owner.name``: what all objects hold, or have of a class that their classes have in common."""
    if name == TAG:
        return dicts.load_slot(inf, s, owner, value, name)
    same, found = _common(inf, value, name)
    if not same or name == "__class__":
        return divided(inf, s, owner)
    if found is None or isinstance(found, MemberDescriptorType):
        return dicts.load_slot(inf, s, owner, value, name)
    getter = getter_of(found)
    if getter is not None and _asks_no_class(getter):
        inf.assume(owner)
        return inline_call(inf, s, getter, [owner], {})
    return divided(inf, s, owner)


def method_call(
    inf: Inference, s: Statement, value: Dict, name: str, args: Args, names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)``."""
    owner = s.operands[0]
    same, found = _common(inf, value, name)
    if same and type(found) is FunctionType and name not in value.site.named and _asks_no_class(found):
        inf.assume(owner)
        return call_with(inf, s, Constant(found), [owner, *args], names)
    return divided(inf, s, owner)


def write(inf: Inference, s: Statement, value: Dict) -> Abstract | None:
    """``owner.name = x``."""
    owner, name = s.operands[0], str(s.data)
    same, found = _common(inf, value, name)
    plain = all(assigns_plainly(cls) and has_in_type(cls, "__dict__") for cls in built_classes(value))
    if same and plain and found is None:
        return dicts.store_slot(inf, s, owner, value, name, s.operands[1])
    return divided(inf, s, owner)


def _common(inf: Inference, value: Dict, name: str) -> tuple[bool, Any]:
    """Whether the classes of an object have the same by a name, and what."""
    found = [look(inf, cls, name) for cls in built_classes(value)]
    return all(x is found[0] for x in found), found[0]


def _asks_no_class(function: FunctionType) -> bool:
    """Whether a method is the same for all objects: ``super()`` depends on the class."""
    return "__class__" not in function.__code__.co_freevars
