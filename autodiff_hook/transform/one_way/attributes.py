"""Attributes on one way through a program: of objects that it makes, and of objects from outside that it changes.

What is assigned to an attribute of an object from outside is kept until the program has come to its end, where
nothing can fail any more.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.lookup import behind, dictionary_of, find_in_type, has_in_type, is_plainly, slots_of
from autodiff_hook.transform.one_way.namespaces import namespace
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Container,
    Fresh,
    Known,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.instances import classes_of, shown
from autodiff_hook.transform.specialise.objects import (
    METHODS,
    PLAIN_STORES,
    is_set_by_code,
    is_slot,
    keeps_number,
    look,
    written,
)
from autodiff_hook.transform.specialise.wording import named


def attribute(inf: Path, owner: Operand, value: Fresh | Outside, name: str) -> Operand | None:
    """What ``owner.name`` is: what the program has assigned, or code of its class gives; None if neither says."""
    if looks_up(inf, value):
        return _by_itself(inf, owner, value, name)
    return plain_attribute(inf, owner, value, name, look(inf, value.cls, "__getattr__"))


def looks_up(inf: Path, value: Fresh | Outside) -> bool:
    """Whether a class looks up all attributes by code of its own, ``__getattribute__``."""
    return written(inf, value.cls, "__getattribute__") is not None


def _by_itself(inf: Path, owner: Operand, value: Fresh | Outside, name: str) -> Operand:
    if isinstance(value, Outside):
        raise Refused(f"{value.cls.__qualname__} looks up attributes by itself")
    try:
        return inf.call(Constant(look(inf, value.cls, "__getattribute__")), [owner, Constant(name)])
    except Raised as raised:
        hook = written(inf, value.cls, "__getattr__")
        if not issubclass(raised.cls, AttributeError) or hook is None:
            raise
        return inf.call(Constant(hook), [owner, Constant(name)])


def plain_attribute(inf: Path, owner: Operand, value: Fresh | Outside, name: str, hook: Any = None) -> Operand | None:
    """``object.__getattribute__(owner, name)``; ``hook`` is asked for what is not there."""
    found = field_read(inf, owner, value, name) or _looked_up(inf, owner, value, name, hook)
    return _described(inf, owner, value, name) if found is None else found


def field_read(inf: Path, owner: Operand, value: Fresh | Outside, name: str) -> Operand | None:
    """What the program has assigned to an attribute, None if it has not."""
    if isinstance(value, Fresh):
        if name == "__dict__":
            if slots_of(value.cls):
                raise Refused("the dictionary of an object that has slots as well")
            return inf.made(dict, inf.members(value.made))
        known = inf.members(value.made)
        if name in known and (value.made in inf.results or not _is_read_by_code(look(inf, value.cls, name))):
            return known[name]
        return None
    key = inf.assigned_as(inf.final(owner), name)
    inf.looked.add((key, name))
    assigned = inf.assigned.get((key, name))
    return _dictionary(inf, key, value) if name == "__dict__" and assigned is None else assigned


def _dictionary(inf: Path, owner: Operand, value: Outside) -> Operand | None:
    """The dictionary of an object from outside; None if its class shows another one."""
    if type(find_in_type(value.cls, "__dict__")) is not GetSetDescriptorType:
        if inf.world.is_given(owner):
            raise Refused("the dictionary of an object of the arguments")
        return None
    inf.world.members(value.cls)
    if inf.world.is_given(owner):
        inf.looked.discard((owner, "__dict__"))
        return inf.token("__dict__", namespace(owner))
    return inf.world.part(owner, value.example, "__dict__", False)


def _looked_up(inf: Path, owner: Operand, value: Fresh | Outside, name: str, hook: Any) -> Operand | None:
    """What was assigned to the class, or what ``__getattr__`` gives for an attribute that is nowhere else."""
    assigned = of_class(inf, value.cls, name)
    if assigned is not None and not (
        isinstance(value, Outside) and inf.world.has(inf.final(owner), value.example, name)
    ):
        return assigned
    is_empty = is_slot(look(inf, value.cls, name)) and isinstance(value, Fresh)
    if not is_empty and _is_there(inf, owner, value, name):
        return None
    if type(hook) is FunctionType:
        return inf.call(Constant(hook), [owner, Constant(name)])
    if hook is not None:
        raise Refused(f"{value.cls.__qualname__} looks up attributes by itself")
    if shown(value.cls) is not value.cls and has_in_type(shown(value.cls), name):
        raise Refused(f"the attribute {name} of a {shown(value.cls).__qualname__}")
    raise Raised(AttributeError)


def _is_there(inf: Path, owner: Operand, value: Fresh | Outside, name: str) -> bool:
    """Whether an object has an attribute, of its own or by its class, without ``__getattr__``."""
    if has_in_type(value.cls, name) or name in ("__class__", "__dict__"):
        return True
    if isinstance(value, Outside) and inf.world.has(inf.final(owner), value.example, name):
        return True
    return not hasattr(type(value.cls), name) and inf.world.answers(value.cls, name)


def of_class(inf: Path, owner: type | FunctionType, name: str) -> Operand | None:
    """What the program has assigned to an attribute of a function or a class, or of the one that this has it from."""
    for base in owner.__mro__ if isinstance(owner, type) else (owner,):
        if (base, name) in inf.class_attributes:
            return inf.class_attributes[base, name]
        if name in base.__dict__:
            return None
    return None


def class_written(inf: Path, owner: type | FunctionType, name: str, value: Operand) -> None:
    """``owner.name = value`` of a class or a function, where there is a number already."""
    if not keeps_number(owner, name):
        raise Refused(f"an attribute of {named(owner)} is assigned")
    inf.require_not_shown(behind(vars(owner)))
    inf.class_attributes[owner, name] = value


def _described(inf: Path, owner: Operand, value: Fresh | Outside, name: str) -> Operand | None:
    """What a descriptor that is written in Python gives; None if there is no such."""
    found = look(inf, value.cls, name)
    if is_plainly(found, functools.cached_property):
        return _cached(inf, owner, value, name, found)
    getter = getattr(type(found), "__get__", None)
    if found is None or getter is None or issubclass(type(found), _FOLLOWED) and type(getter) is not FunctionType:
        return None
    if isinstance(value, Outside) and not hasattr(type(found), "__set__"):
        if inf.world.has(inf.final(owner), value.example, name):
            return None
    if type(getter) is not FunctionType:
        if found in _BY_NAME:
            return inf.token(name, Bound(found, owner))
        if isinstance(value, Outside):
            return None
        if value.made in inf.numbers and found is float.__dict__.get(name):
            return inf.perform("getattr", [inf.plain(owner)], name)
        raise Refused(f"the descriptor {name} of {value.cls.__qualname__}")
    return inf.call(Constant(getter), [Constant(found), owner, Constant(value.cls)])


def _cached(
    inf: Path, owner: Operand, value: Fresh | Outside, name: str, found: functools.cached_property[Any]
) -> Operand:
    """A property that is an attribute from its first reading on."""
    if isinstance(value, Outside) and inf.world.has(inf.final(owner), value.example, name):
        return inf.world.part(inf.final(owner), value.example, name, False)
    result = inf.call(Constant(inf.world.attribute(found, "func")), [owner])
    _assign(inf, owner, value, name, result)
    return result


def _assign(inf: Path, owner: Operand, target: Fresh | Outside, name: str, value: Operand) -> None:
    """Let an object have an attribute of its own."""
    if isinstance(target, Fresh):
        inf.members(target.made)[name] = value
    elif dictionary_of(target.example) is target.example:
        raise Refused("an attribute of a dict that holds its attributes itself is assigned")
    else:
        inf.require_not_shown(getattr(target.example, "__dict__", None))
        inf.assigned[inf.assigned_as(inf.final(owner), name), name] = value


_BY_NAME: Final = (object.__getattribute__, object.__setattr__, object.__delattr__)
_FOLLOWED: Final = (*METHODS, property, staticmethod, classmethod)


def _is_read_by_code(found: Any) -> bool:
    """Whether what a class has under a name comes before an attribute of the object, which only assigning may set."""
    return is_set_by_code(found) and hasattr(type(found), "__get__")


def field_written(inf: Path, owner: Operand, target: Abstract, name: str, value: Operand) -> Operand:
    """``owner.name = value``."""
    if isinstance(target, (Number, Array, Tuple)) and not any(has_in_type(cls, name) for cls in classes_of(target)):
        raise Raised(AttributeError)
    if isinstance(target, Known) and isinstance(target.value, (type, FunctionType)):
        class_written(inf, target.value, name, value)
        return Constant(None)
    if (
        isinstance(target, Container)
        and (target.cls, name) == (defaultdict, "default_factory")
        and owner not in inf.origins
    ):
        inf.set_factory(owner, value)
        return Constant(None)
    if not isinstance(target, (Fresh, Outside)):
        raise Refused(f"an attribute of {named(target)} is assigned")
    setter = look(inf, target.cls, "__setattr__")
    if setter in PLAIN_STORES:
        return plainly_written(inf, owner, target, name, value)
    if type(setter) is not FunctionType:
        raise Refused(f"{target.cls.__qualname__} assigns attributes by itself")
    return inf.call(Constant(setter), [owner, Constant(name), value])


def field_deleted(inf: Path, target: Abstract, name: str) -> None:
    """``del owner.name`` of an object that the program has made."""
    if not isinstance(target, Fresh) or look(inf, target.cls, "__delattr__") is not object.__delattr__:
        raise Refused(f"an attribute of {named(target)} is deleted")
    if is_set_by_code(look(inf, target.cls, name)):
        raise Refused("a data descriptor is deleted")
    if inf.members(target.made).pop(name, None) is None:
        raise Raised(AttributeError)


def plainly_written(inf: Path, owner: Operand, target: Fresh | Outside, name: str, value: Operand) -> Operand:
    """``object.__setattr__(owner, name, value)``."""
    found = look(inf, target.cls, name)
    if is_plainly(found, property, "__set__") and type(found.fset) is FunctionType:
        inf.world.attribute(target.cls, name)
        return inf.call(Constant(found.fset), [owner, value])
    if is_set_by_code(found):
        store = type(found).__set__
        if type(store) is not FunctionType:
            raise Refused("a data descriptor is assigned")
        inf.world.attribute(target.cls, name)
        return inf.call(Constant(store), [Constant(found), owner, value])
    if not isinstance(found, MemberDescriptorType) and not any("__dict__" in vars(c) for c in target.cls.__mro__):
        raise Raised(AttributeError)
    _assign(inf, owner, target, name, value)
    return Constant(None)
