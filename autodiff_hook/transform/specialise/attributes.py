"""Attributes and methods of objects: of those that the program makes, those from outside, and those in lists and dicts.

What a class has under a name is asked in one way. Whether an object has something of its own there, and where its data
is, is another thing for each kind of object.
"""

from __future__ import annotations

from collections import namedtuple
from enum import Enum
from functools import cached_property
from io import TextIOBase
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.runtime.altering import GENERATORS
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type, getter_of, has_in_type, home_of, is_plainly
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.transform.specialise import altered, assigned, dicts, several
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Bound,
    Dict,
    Fresh,
    Known,
    Mixed,
    Outside,
    Record,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import call_with
from autodiff_hook.transform.specialise.dividing import divided, is_of_several
from autodiff_hook.transform.specialise.exceptions import INITIALISERS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.instances import shown
from autodiff_hook.transform.specialise.kept import Kept, names_of
from autodiff_hook.transform.specialise.named_tuples import fields_of
from autodiff_hook.transform.specialise.objects import (
    METHODS,
    assign,
    assigns_plainly,
    class_of,
    decides_alone,
    deciding,
    is_asked_by_code,
    is_descriptor,
    is_object,
    is_set_by_code,
    keeps_number,
    look,
    look_after,
    lookup,
    read,
    receiver_class,
)
from autodiff_hook.transform.specialise.own_kinds import gather
from autodiff_hook.transform.specialise.places import ask_for_argument, is_assigned, place_of
from autodiff_hook.transform.specialise.plans import alias, known_as, part_of
from autodiff_hook.transform.specialise.program import LOAD
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS
from autodiff_hook.transform.specialise.wording import named

_TUPLE_FIELD: Final = type(vars(namedtuple("_Sample", "field"))["field"])


def attribute(inf: Inference, s: Statement, value: Abstract, owner: Operand, name: str) -> Abstract | None:
    """``owner.name`` of an object: data, a property, or a method."""
    cls = receiver_class(value)
    if isinstance(value, Dict) and issubclass(cls, Kept) and name != "__class__":
        return dicts.load_slot(inf, s, owner, value, name)
    if name == "__class__" and isinstance(value, (Fresh, Dict)):
        return known_as(inf, s, shown(cls))
    if isinstance(value, Fresh) and value.made in inf.results and (value.made, name) in inf.fields:
        return alias(inf, s, inf.fields[value.made, name][0])
    if is_assigned(inf, value, name):
        return assigned.read(inf, s, value.example, owner, name)
    found = look(inf, cls, name)
    reader = getter_of(found)
    if reader is not None:
        inf.assume(owner)
        return inline_call(inf, s, reader, [owner], {})
    if decides_alone(found):
        inf.assume(owner)
        return _given_by(inf, s, cls, found, name, owner)
    if is_plainly(found, cached_property) and isinstance(value, (Fresh, Dict)):
        inf.assume(owner)
        return inline_call(
            inf, s, operating.remembered, [owner, Constant(inf.world.attribute(found, "func")), Constant(name)], {}
        )
    home = home_of(cls, name)
    if home is not None and place_of(home, name) in inf.program.changed and not _holds(inf, s, value, name):
        return of_class_or_module(inf, s, cls, name)
    method = _method(inf, s, value, owner, name)
    if method is None:
        return _data(inf, s, value, owner, name, found)
    function, receiver = method
    if not receiver:
        return known_as(inf, s, function)
    inf.leave_nothing(s)
    return Bound(function, *receiver)


def _given_by(inf: Inference, s: Statement, cls: type, found: Any, name: str, owner: Operand) -> Abstract | None:
    """What a descriptor that a class has, written in Python, gives for an object, or None for the class."""
    getter, descriptor = deciding(inf, cls, found, name, "__get__")
    return inline_call(inf, s, getter, [descriptor, owner, Constant(cls)], {})


def _holds(inf: Inference, s: Statement, value: Abstract, name: str) -> bool:
    """Whether an object has an attribute of its own in the place of one of its class that the program assigns."""
    if isinstance(value, Fresh):
        return read(inf, s, value, name)[0] != "class"
    if not isinstance(value, Dict):
        raise Refused("an attribute of a class is assigned that objects from outside may have themselves")
    return name in value.site.named


def of_member(inf: Inference, member: Enum, owner: Operand, name: str) -> tuple[Outside, Operand, str]:
    """A member of an Enum as an object from outside; its name and value are attributes by other names."""
    inf.assume(owner)
    cls, constant = type(member), Constant(member)
    plain = name in ("name", "value") and find_in_type(cls, name) is vars(Enum)[name]
    return Outside(cls, constant, example=member), constant, f"_{name}_" if plain else name


def method_call(
    inf: Inference, s: Statement, value: Abstract, name: str, args: Args, names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)`` of an object."""
    owner, cls = s.operands[0], receiver_class(value)
    if is_assigned(inf, value, name):
        raise Refused("an attribute that is called is assigned")
    method = _method(inf, s, value, owner, name)
    if method is not None:
        return call_with(inf, s, Constant(method[0]), [*method[1], *args], names)
    found = look(inf, cls, name)
    is_code = hasattr(type(found), "__get__") and not isinstance(found, (MemberDescriptorType, _TUPLE_FIELD))
    inf.assume(owner)
    if isinstance(value, Fresh):
        kind, field = read(inf, s, value, name)
        if kind == "field":
            return _held_call(inf, s, field, args, names)
        if kind == "class" and not is_code:
            return call_with(inf, s, Constant(inf.world.attribute(cls, name)), args, names)
    elif isinstance(value, (Dict, Tuple)) and not is_code:
        return _held_call(inf, s, inf.before(s, "getattr", [owner], name), args, names)
    elif isinstance(value, Outside) and not is_code:
        return _held_call(inf, s, inf.world.part(inf.final(owner), value.example, name, False), args, names)
    if inf.one_way:
        return _held_call(inf, s, inf.before(s, "getattr", [owner], name), args, names)
    made = Statement("getattr", [owner], Variable(name), name, s.position)
    s.op, s.operands, s.data = "call", [made.made, *args], names
    return inf.first(made)


def _held_call(inf: Inference, s: Statement, function: Operand, args: Args, names: tuple[str, ...]) -> Abstract | None:
    """A call of what an object holds in an attribute."""
    s.op, s.operands, s.data = "call", [function, *args], names
    return call_with(inf, s, function, args, names)


def _method(
    inf: Inference, s: Statement, value: Abstract, owner: Operand, name: str
) -> tuple[Any, list[Operand]] | None:
    """The function of a method that an object has of its class, and what is bound; None if it has something else."""
    cls = receiver_class(value)
    found = look(inf, cls, name)
    static = issubclass(type(found), staticmethod)
    code = found.__func__ if static or issubclass(type(found), classmethod) else found
    if not static and type(code) not in METHODS or _is_hidden(inf, s, value, owner, name):
        return None
    inf.assume(owner)
    if static:
        return code, []
    return code, [owner if found is code else Constant(cls)]


def _is_hidden(inf: Inference, s: Statement, value: Abstract, owner: Operand, name: str) -> bool:
    """Whether an object has an attribute of its own in the place of a method; that it has none is guarded."""
    if isinstance(value, Fresh):
        return read(inf, s, value, name)[0] != "class"
    if isinstance(value, Outside):
        if name in (dictionary_of(value.example) or ()):
            return True
        inf.world.method(inf.final(owner), value.example, name)
    elif isinstance(value, Record):
        if _any_has(value, name):
            raise Refused(f"the attribute {name} hides a method")
        value.site.absent.add(name)
    elif isinstance(value, Dict) and name in value.site.named:
        raise Refused(f"the attribute {name} hides a method")
    return False


def _any_has(value: Record, name: str) -> bool:
    """Whether an object has an attribute of its own."""
    return any(name in (dictionary_of(example) or ()) for example in value.site.examples)


def _data(inf: Inference, s: Statement, value: Abstract, owner: Operand, name: str, found: Any) -> Abstract | None:
    """An attribute that is no method, and no property; ``found`` is what the class has."""
    if isinstance(value, Tuple):
        return _item(inf, s, value, owner, name)
    if isinstance(value, Fresh):
        return _field(inf, s, value, owner, name)
    if isinstance(value, Dict):
        return _slot(inf, s, value, owner, name, found)
    code = hasattr(type(found), "__get__") and type(found) is not FunctionType
    if code and not hasattr(found, "__objclass__") and type(found) is not _TUPLE_FIELD:
        raise Refused(f"the descriptor {name}")
    if isinstance(value, Outside):
        return alias(inf, s, inf.world.part(inf.final(owner), value.example, name, False))
    assert isinstance(value, Record)
    return _loaded(inf, s, value, owner, name, found)


def _held(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """What an object of the program holds in the place of a ``cached_property``."""
    value, name = map(inf.type_of, args)
    assert isinstance(name, Known)
    if isinstance(value, Fresh):
        return _field(inf, s, value, args[0], name.value)
    assert isinstance(value, Dict)
    return dicts.load_slot(inf, s, args[0], value, name.value)


OF_ALL_WAYS[operating.held] = _held


def _item(inf: Inference, s: Statement, value: Tuple, owner: Operand, name: str) -> Abstract:
    """A field of a named tuple."""
    fields = fields_of(value.cls)
    if name not in fields:
        raise Refused(f"the attribute {name} of {value.cls.__qualname__}")
    place = fields.index(name)
    s.op, s.operands, s.data = "getitem", [owner, Constant(place)], None
    return part_of(inf, s, value.items, place)


def _field(inf: Inference, s: Statement, value: Fresh, owner: Operand, name: str) -> Abstract | None:
    """What an object that the program has made holds, or has of its class."""
    kind, found = read(inf, s, value, name)
    if kind == "class" and is_asked_by_code(found):
        inf.assume(owner)
        return _given_by(inf, s, value.cls, found, name, owner)
    if kind == "field":
        return alias(inf, s, found)
    if kind == "slot":
        record = inf.type_of(found)
        assert isinstance(record, Dict)
        return dicts.load_slot(inf, s, found, record, name)
    if issubclass(type(found), (staticmethod, classmethod)) or is_set_by_code(found):
        raise Refused(f"the attribute {name} of an object")
    return of_class_or_module(inf, s, value.cls, name)


def _slot(inf: Inference, s: Statement, value: Dict, owner: Operand, name: str, found: Any) -> Abstract:
    """What an object that the program has built holds, or has of its class."""
    cls = receiver_class(value)
    if name not in value.site.named and has_in_type(cls, name) and not hasattr(type(found), "__get__"):
        return alias(inf, s, inf.world.part(Constant(cls), cls, name, False))
    _require_slot(cls, name, found)
    return dicts.load_slot(inf, s, owner, value, name)


def _require_slot(cls: type, name: str, found: Any) -> None:
    if (
        has_in_type(cls, name)
        and is_descriptor(found)
        and not isinstance(found, (MemberDescriptorType, cached_property))
    ):
        raise Refused(f"the attribute {name} of objects and of their class")


def _loaded(inf: Inference, s: Statement, value: Record, owner: Operand, name: str, found: Any) -> Abstract:
    """What objects in lists from outside, and arguments, hold: of one kind for all of a site."""
    if found is not None and not hasattr(type(found), "__get__") and not _any_has(value, name):
        value.site.absent.add(name)
        return alias(inf, s, inf.world.part(Constant(value.cls), value.cls, name, False))
    gather(inf, value)
    kind = value.site.named.get(name) or inf.world.attribute_kind(value.site.examples, name)
    if kind is None:
        ask_for_argument(inf, value)
        raise Refused(f"the attribute {name} of objects is of several kinds")
    value.site.named[name] = kind
    if isinstance(kind, Known):
        return known_as(inf, s, kind.value)
    s.op, s.operands, s.data = "getattr", [owner], name
    inf.plans[s] = LOAD
    return kind


def of_class_or_module(inf: Inference, s: Statement, owner: Any, name: str) -> Abstract | None:
    """An attribute of a module or a class: code, data that is loaded on entry, or what the program has assigned."""
    home = home_of(owner, name) if isinstance(owner, type) else owner if type(owner) is FunctionType else None
    if home is not None and not inf.one_way and place_of(home, name) in inf.program.changed:
        return assigned.read(inf, s, home, Constant(home), name)
    if name == "__dict__" and type(owner) is FunctionType:
        raise Refused("the attributes of a function as a dict")
    found = getattr(owner, name, None)
    held = find_in_type(owner, name) if isinstance(owner, type) else None
    if held is not found and is_asked_by_code(held):
        return _given_by(inf, s, owner, held, name, Constant(None))
    values = isinstance(found, (dict, list, float, int, tuple, np.generic)) and type(found) is not bool
    tool = issubclass(type(found), TextIOBase) or type(found) in GENERATORS
    data = values or tool or type(found) is np.ndarray or is_object(inf.world, found)
    if data or inf.one_way and isinstance(owner, (type, ModuleType)) and _is_data(found):
        return alias(inf, s, inf.world.part(Constant(owner), owner, name, False))
    return known_as(inf, s, inf.world.attribute(owner, name))


def _is_data(found: Any) -> bool:
    """Whether an attribute of a class or a module is an object like those that instances have."""
    cls = type(found)
    code = callable(found) or hasattr(cls, "__get__") or isinstance(found, ModuleType)
    return found is not None and not code and (cls.__module__ != "builtins" or cls is set)


def super_method(
    inf: Inference, s: Statement, value: Super, name: str, args: Args, names: tuple[str, ...]
) -> Abstract | None:
    """``super().name(...)`` in a method of objects, or of a class."""
    function, receiver = _of_super(inf, value, name)
    return call_with(inf, s, Constant(function), [*receiver, *args], names)


def super_attribute(inf: Inference, s: Statement, value: Super, name: str) -> Abstract | None:
    """``super().name``."""
    found, _, of_class = behind(inf, value, name)
    getter = None if of_class else getter_of(found)
    if getter is not None:
        return inline_call(inf, s, getter, [value.receiver], {})
    function, receiver = _of_super(inf, value, name)
    if not receiver:
        return known_as(inf, s, function)
    inf.leave_nothing(s)
    return Bound(function, *receiver)


def behind(inf: Inference, value: Super, name: str) -> tuple[Any, type, bool]:
    """What ``super()`` finds in the classes behind, that of its receiver, and whether this is given as a class."""
    receiver = inf.type_of(value.receiver)
    known_class = receiver.value if isinstance(receiver, Known) and isinstance(receiver.value, type) else None
    of_class = known_class is not None and issubclass(known_class, value.after)
    cls = receiver_class(receiver) if known_class is None else known_class if of_class else type(known_class)
    return look_after(inf, cls, value.after, name), cls, of_class


def _of_super(inf: Inference, value: Super, name: str) -> tuple[Any, list[Operand]]:
    """The function that ``super()`` finds in the classes behind, and what is bound."""
    found, cls, of_class = behind(inf, value, name)
    if issubclass(type(found), staticmethod) or name == "__new__" and isinstance(found, BuiltinFunctionType):
        return getattr(found, "__func__", found), []
    if issubclass(type(found), classmethod):
        return found.__func__, [Constant(cls)]
    if type(found) is not FunctionType and not _is_followed(inf, found):
        raise Refused(f"super().{name}")
    return found, [] if of_class else [value.receiver]


def _is_followed(inf: Inference, found: Any) -> bool:
    followed = (object, type, float, list, dict) if inf.one_way else (object, type, float)
    return getattr(found, "__objclass__", None) in followed or found in INITIALISERS


def write(inf: Inference, s: Statement) -> Abstract | None:
    """``owner.name = value``."""
    owner, value = s.operands
    target, name = inf.type_of(owner), str(s.data)
    if isinstance(target, Known) and keeps_number(target.value, name):
        return assigned.write(inf, s, target.value, Constant(target.value), name)
    if isinstance(target, Mixed):
        return divided(inf, s, owner)
    if isinstance(target, Dict) and is_of_several(target):
        return several.write(inf, s, target)
    cls = class_of(target)
    if cls is None or isinstance(target, Tuple):
        raise Refused(f"an attribute of {named(target)} is assigned")
    if isinstance(target, Dict) and issubclass(cls, Kept):
        if name not in names_of(cls):
            raise Refused("an attribute of a function that is made on the way is assigned")
        return dicts.store_slot(inf, s, owner, target, name, value)
    if type(lookup(cls, "__setattr__")) is FunctionType:
        inf.assume(owner)
        return inline_call(inf, s, look(inf, cls, "__setattr__"), [owner, Constant(name), value], {})
    if not assigns_plainly(cls):
        raise Refused(f"{cls.__qualname__} assigns attributes by itself")
    found = look(inf, cls, name)
    if is_plainly(found, property, "__set__") and type(found.fset) is FunctionType:
        inf.assume(owner)
        return inline_call(inf, s, found.fset, [owner, value], {})
    if decides_alone(found):
        inf.assume(owner)
        setter, descriptor = deciding(inf, cls, found, name, "__set__")
        return inline_call(inf, s, setter, [descriptor, owner, value], {})
    if not isinstance(found, MemberDescriptorType) and not has_in_type(cls, "__dict__"):
        raise Refused(f"a {cls.__qualname__} has no attribute {name}")
    if isinstance(target, Fresh):
        return assign(inf, s, target, name, value)
    if is_set_by_code(found):
        raise Refused("a data descriptor is assigned")
    if isinstance(target, Dict):
        _require_slot(cls, name, found)
        return dicts.store_slot(inf, s, owner, target, name, value)
    if isinstance(target, Record):
        return altered.write(inf, s, target, name)
    assert isinstance(target, Outside)
    return assigned.write(inf, s, target.example, owner, name)
