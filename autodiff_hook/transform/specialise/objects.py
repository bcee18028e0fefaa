"""Objects that the program makes: constructors inlined, attributes as values.

An attribute that is assigned once is a value; those that are assigned again are items of a dict.
"""

from __future__ import annotations

import operator
import threading
from abc import ABCMeta
from dataclasses import is_dataclass
from inspect import isabstract
from types import FunctionType, MemberDescriptorType, SimpleNamespace
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.lookup import (
    asked_in_turn,
    find_in_type,
    has_in_type,
    home_after,
    is_plainly,
    shows_another_dictionary,
)
from autodiff_hook.semantics.operations import BINARY, METHODS, UNARY, UNARY_METHODS
from autodiff_hook.transform.specialise import dicts
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Dict,
    Fresh,
    Known,
    Number,
    Outside,
    Record,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Alias, Inference
from autodiff_hook.transform.specialise.lattice import built_class
from autodiff_hook.transform.specialise.wording import named

_PLAIN: Final = [
    cls.__dict__["__getattribute__"]
    for cls in (
        *(object, tuple, list, dict, set, frozenset, int, float, complex, str, bytes, BaseException),
        *(SimpleNamespace, threading.local),
    )
    if "__getattribute__" in cls.__dict__
]


_ARGS: Final = BaseException.__dict__["args"]
"""What exceptions are made with, which nothing else assigns."""


def lookup(cls: type, name: str, hooked: bool = False) -> Any:
    """What the classes of ``cls`` have by a name; ``Refused`` if attributes are not looked up plainly.

    ``hooked``: what ``__getattr__`` does where nothing is found is seen to.
    """
    own = [base.__dict__ for base in cls.__mro__]
    getattribute = next(d["__getattribute__"] for d in own if "__getattribute__" in d)
    if not hooked and any("__getattr__" in d for d in own) or getattribute not in _PLAIN:
        raise Refused(f"{cls.__qualname__} looks up attributes by itself")
    if shows_another_dictionary(cls):
        raise Refused(f"{cls.__qualname__} shows a __dict__ of its own")
    return find_in_type(cls, name)


def look(inf: Inference, cls: type, name: str) -> Any:
    """``lookup``, and a guard that it goes on to find the same."""
    found = lookup(cls, name, inf.one_way)
    inf.world.members(cls)
    if is_descriptor(found):
        inf.world.attribute(cls, name)
    return found


def is_descriptor(found: Any) -> bool:
    """Whether what a class has under a name decides how an attribute is read or assigned."""
    return hasattr(type(found), "__get__") or hasattr(type(found), "__set__")


def look_after(inf: Inference, cls: type, after: type, name: str) -> Any:
    """``lookup_after``, and a guard."""
    found = lookup_after(cls, after, name)
    order = cls.__mro__
    for base in order[order.index(after) + 1 :]:
        if base is not object:
            inf.world.members(base)
        if name in base.__dict__:
            if base is not object:
                inf.world.attribute(base, name)
            break
    return found


def lookup_after(cls: type, after: type, name: str) -> Any:
    """What ``super(after, …).name`` finds."""
    home = home_after(cls, after, name)
    return None if home is None else find_in_type(home, name)


def is_simple(inf: Inference, cls: type) -> bool:
    """Whether making an instance is ``object.__new__`` and an ``__init__`` written in Python."""
    if type(cls) not in (type, ABCMeta) or isabstract(cls) or type(lookup(cls, "__init__")) is not FunctionType:
        return False
    inf.world.members(cls)
    return (
        lookup(cls, "__new__") is object.__dict__["__new__"]
        and (assigns_plainly(cls) or is_dataclass(cls))
        and lookup(cls, "__del__") is None
    )


def assigns_plainly(cls: type) -> bool:
    """Whether assigning an attribute is no call of Python code."""
    return lookup(cls, "__setattr__") in (object.__setattr__, BaseException.__setattr__)


def read(inf: Inference, s: Statement, value: Fresh, name: str) -> tuple[str, Any]:
    """What an attribute of an object is: ``field`` and its operand, ``slot`` and a dict, or what the class has."""
    if (value.cls, name) in inf.program.changed and value.made in inf.records:
        return "slot", inf.records[value.made]
    stored = inf.fields.get((value.made, name))
    field = None if stored is None else stored[0]
    found = look(inf, value.cls, name)
    if field is not None and stored is not None and (found is _ARGS or not is_set_by_code(found)):
        if stored[1] is not None:
            inf.orders.append((stored[1], s))
        return "field", field
    if is_plainly(found, property) and type(found.fget) is FunctionType:
        return "property", found.fget
    if not has_in_type(value.cls, name) or isinstance(found, MemberDescriptorType):
        raise Refused(f"the attribute {name} of {value.cls.__qualname__} is not assigned")
    return "class", found


def is_set_by_code(found: Any) -> bool:
    """Whether assigning an attribute means a call; a slot only holds what is assigned."""
    return hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType)


def write_plainly(inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """``object.__setattr__(owner, name, value)``, as frozen dataclasses have it."""
    target, name = map(inf.type_of, args[:2])
    cls = built_class(target)
    if isinstance(target, Dict) and cls is not None and isinstance(name, Known) and len(args) == 3:
        if is_set_by_code(look(inf, cls, name.value)):
            raise Refused("a data descriptor is assigned")
        return dicts.store_slot(inf, s, args[0], target, name.value, args[2])
    if not isinstance(target, Fresh) or not isinstance(name, Known) or len(args) != 3:
        return None
    if (target.cls, name.value) in inf.program.changed:
        raise Refused("an attribute of a frozen object is assigned again")
    return assign(inf, s, target, name.value, args[2])


def assign(inf: Inference, s: Statement, target: Fresh, name: str, value: Operand) -> Abstract:
    """``owner.name = value`` of an object that the program has made."""
    found = look(inf, target.cls, name)
    if is_set_by_code(found):
        raise Refused("a data descriptor is assigned")
    if (target.cls, name) in inf.program.changed and target.made in inf.records:
        record = inf.records[target.made]
        kind = inf.type_of(record)
        assert isinstance(kind, Dict)
        return dicts.store_slot(inf, s, record, kind, name, value)
    before, first = inf.fields.setdefault((target.made, name), (value, s))
    if first is s:
        inf.fields[target.made, name] = value, s
    elif first is not None and inf.final(before) is inf.final(value):
        inf.orders.append((first, s))
    else:
        inf.wanted[target.cls, name] = None
    inf.plans[s] = Alias(Constant(None))
    return Known(None)


DUNDERS: Final = {BINARY[op]: name for op, name in METHODS.items()}
UNARY_DUNDERS: Final = {
    **{UNARY[op]: name for op, name in UNARY_METHODS.items()},
    **{str: "__str__", repr: "__repr__", abs: "__abs__", operator.getitem: "__getitem__", len: "__len__"},
}


def class_of(value: Abstract) -> type | None:
    """The class of an object; None for what is none."""
    return value.cls if isinstance(value, (Fresh, Outside, Record, Tuple)) else built_class(value)


def object_class(value: Abstract) -> type | None:
    """The class that the special methods of an object are looked up in; None for lists, dicts and tuples."""
    cls = None if isinstance(value, Tuple) else class_of(value)
    return None if cls in (list, dict) else cls


def special_method(
    inf: Inference, function: Any, types: list[Abstract], args: list[Operand]
) -> tuple[FunctionType, list[Operand]] | None:
    """The method of an object that an operator calls, and its arguments."""
    first = class_of(types[0])
    if function in UNARY_DUNDERS and first is not None:
        found = look(inf, first, UNARY_DUNDERS[function])
        return (found, args) if type(found) is FunctionType else None
    if function not in DUNDERS:
        return None
    name = DUNDERS[function]
    left, right = types
    own, reflected = _method_of(inf, left, name), _method_of(inf, right, f"__r{name[2:]}")
    second = class_of(right)
    if first is not None and second is not None:
        place, _ = asked_in_turn(first, second, name, f"__r{name[2:]}")[0]
        method = (own, reflected)[place]
        return None if method is None else (method, args[::-1] if place else args)
    if own is not None:
        return own, args
    if reflected is not None:
        _require_deferring(left, right)
        return reflected, args[::-1]
    return None


def _method_of(inf: Inference, value: Abstract, name: str) -> FunctionType | None:
    cls = class_of(value)
    found = look(inf, cls, name) if cls is not None else None
    if type(found) is not FunctionType:
        return None
    if not inf.one_way and "NotImplemented" in found.__code__.co_names:
        raise Refused(f"{name} may not be implemented")
    return found


def _require_deferring(left: Abstract, right: Abstract) -> None:
    """Refuse what NumPy does by itself with an object on its right: it takes it for an array of objects."""
    numpy = isinstance(left, Array) or isinstance(left, Number) and any(c.__module__ == "numpy" for c in left.types)
    if numpy and getattr(receiver_class(right), "__array_ufunc__", False) is not None:
        raise Refused("an array of objects")


def receiver_class(value: Abstract) -> type:
    """The class of the object that a method is looked up for."""
    cls = class_of(value)
    if cls is None:
        raise Refused(f"super() of {named(value)}")
    return cls


def super_of(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    """``super(cls, self)``."""
    if len(args) != 2:
        raise Refused("super without arguments")
    cls = inf.type_of(args[0])
    if not isinstance(cls, Known) or not isinstance(cls.value, type):
        raise Refused("super of an unknown class")
    inf.leave_nothing(s)
    return Super(cls.value, args[1])
