"""Objects that the program makes: constructors inlined, attributes as values.

An attribute that is assigned once is a value; those that are assigned again are items of a dict.
"""

from __future__ import annotations

import copyreg
import functools
import math
import operator
import threading
from abc import ABCMeta
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import is_engines_file
from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.lookup import (
    HEAP_TYPE,
    asked_in_turn,
    find_in_type,
    getter_of,
    has_in_type,
    home_after,
    home_of,
    is_plainly,
    shows_another_dictionary,
)
from autodiff_hook.runtime.oddities import hands_on
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.operations import BINARY, COMPARE, COMPARING_METHODS, MIRRORED, UNARY, UNARY_METHODS
from autodiff_hook.semantics.operations import METHODS as OPERATORS
from autodiff_hook.transform.specialise import dicts
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Dict,
    Fresh,
    Known,
    Mixed,
    Number,
    Outside,
    Record,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import Objects, built_class
from autodiff_hook.transform.specialise.origins import is_numpy
from autodiff_hook.transform.specialise.program import Alias
from autodiff_hook.transform.specialise.results import MOMENTS
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.world import World

_PLAIN: Final = [
    cls.__dict__["__getattribute__"]
    for cls in (
        *(object, type, tuple, list, dict, set, frozenset, int, float, complex, str, bytes, BaseException),
        *(SimpleNamespace, threading.local, MappingProxyType, defaultdict, *MOMENTS),
    )
    if "__getattribute__" in cls.__dict__
]


_ARGS: Final = BaseException.__dict__["args"]
"""What exceptions are made with, which nothing else assigns."""
METHODS: Final = (FunctionType, MethodDescriptorType, functools._lru_cache_wrapper)
"""The classes of functions that are bound to an object."""


def lookup(cls: type, name: str, hooked: bool = False) -> Any:
    """What the classes of ``cls`` have by a name; ``Refused`` if attributes are not looked up plainly.

    ``hooked``: what ``__getattr__`` does where nothing is found is seen to, and what ``__getattribute__`` does instead.
    """
    own = [base.__dict__ for base in cls.__mro__]
    getattribute = next(d["__getattribute__"] for d in own if "__getattribute__" in d)
    plain = getattribute in _PLAIN or hooked and type(getattribute) is FunctionType
    if not hooked and any("__getattr__" in d for d in own) or not plain:
        raise Refused(f"{cls.__qualname__} looks up attributes by itself")
    if shows_another_dictionary(cls):
        raise Refused(f"{cls.__qualname__} shows a __dict__ of its own")
    return find_in_type(cls, name)


def look(inf: Inference, cls: type, name: str) -> Any:
    """``lookup``, and a guard that it goes on to find the same."""
    found = lookup(cls, name, inf.one_way)
    inf.world.members(cls)
    if is_descriptor(found) and not (decides_alone(found) and not inf.one_way):
        (inf.world.kept if is_asked_by_code(found) else inf.world.attribute)(cls, name)
    return found


def written(inf: Inference, cls: type, name: str) -> FunctionType | None:
    """What a class has under a name, if that is Python code."""
    found = look(inf, cls, name)
    return found if type(found) is FunctionType else None


def decides_alone(found: Any) -> bool:
    """Whether a descriptor that a class has, written in Python, says alone how an attribute is read and assigned."""
    return is_asked_by_code(found) and type(find_in_type(type(found), "__set__")) is FunctionType


def is_asked_by_code(found: Any) -> bool:
    """Whether what a class has under a name is a descriptor whose ``__get__`` is written in Python."""
    return type(find_in_type(type(found), "__get__")) is FunctionType


def deciding(inf: Inference, cls: type, found: Any, name: str, method: str) -> tuple[FunctionType, Operand]:
    """A method of such a descriptor, and the descriptor, as it is loaded from the class that has it."""
    held = vars(home_of(cls, name))
    return look(inf, type(found), method), inf.world.part(Constant(held), held, name, True)


def is_descriptor(found: Any) -> bool:
    """Whether what a class has under a name decides how an attribute is read or assigned."""
    return hasattr(type(found), "__get__") or hasattr(type(found), "__set__")


def is_object(world: World, found: Any) -> bool:
    """Whether a value that is no argument is an object of a class written in Python."""
    cls = type(found)
    if not cls.__flags__ & HEAP_TYPE or issubclass(cls, (type, ModuleType, Enum)) or hasattr(cls, "__get__"):
        return False
    if cls.__module__.partition(".")[0] in _LIBRARIES:
        return False
    call = next((base.__dict__["__call__"] for base in cls.__mro__ if "__call__" in base.__dict__), None)
    return call is None or is_followed(world, call)


def is_followed(world: World, function: Any) -> bool:
    """Whether what a class has under a name is Python code that is followed."""
    return type(function) is FunctionType and world.in_scope(function)


_LIBRARIES: Final = ("builtins", "typing", "functools", "operator", "itertools", "numpy", "scipy")


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


def is_called_plainly(inf: Inference, cls: type) -> bool:
    """Whether a call of a class makes an object by ``__new__`` and ``__init__``: its own class does nothing else."""
    meta = type(cls)
    if meta not in (type, ABCMeta):
        inf.world.members(meta)
    return find_in_type(meta, "__call__") is type.__dict__["__call__"]


def is_made_plainly(inf: Inference, cls: type) -> bool:
    """Whether ``object.__new__`` makes an object of a class that holds attributes alone."""
    if cls is SimpleNamespace:
        return True
    bases = cls.__mro__[:-1]
    written = all(base.__flags__ & HEAP_TYPE for base in bases) and not cls.__flags__ & ABSTRACT
    return written and look(inf, cls, "__del__") is None


def remembered(cls: type) -> list[str]:
    """The attributes of objects that are computed once."""
    names = dict.fromkeys(name for base in cls.__mro__ for name in vars(base))
    return [name for name in names if is_plainly(find_in_type(cls, name), functools.cached_property)]


def is_copied_plainly(inf: Inference, cls: type, hook: str, base: type = object, filled: Sequence[str] = ()) -> bool:
    """Whether a copy of an object has the same attributes, and nobody is asked, by ``hook`` or otherwise.

    ``filled``: what is asked besides of a class derived from a container, ``base``.
    """
    plain = all(look(inf, cls, name) is getattr(base, name, None) for name in (hook, *_COPYING, *filled))
    plain = plain and type(look(inf, cls, "__getattribute__")) is not FunctionType
    return plain and not inf.world.holds(Constant(copyreg.dispatch_table), copyreg.dispatch_table, cls)


_COPYING: Final = (
    *("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__", "__new__"),
    "__setattr__",
)
PLAIN_STORES: Final = tuple([cls.__setattr__ for cls in (object, BaseException, SimpleNamespace)])
"""What assigns an attribute and does nothing else."""
ABSTRACT: Final = 1 << 20


def assigns_plainly(cls: type) -> bool:
    """Whether assigning an attribute is no call of Python code."""
    return lookup(cls, "__setattr__") in PLAIN_STORES


_NUMBERS: Final = (int, float, np.float64)


def keeps_number(owner: Any, name: str) -> bool:
    """Whether an attribute of a class, or of a function, is a number, and assigning it is no call of code."""
    plain = type(owner) is FunctionType or isinstance(owner, type) and type(owner).__setattr__ is type.__setattr__
    return plain and not hasattr(type(owner), name) and type(vars(owner).get(name)) in _NUMBERS


def read(inf: Inference, s: Statement, value: Fresh, name: str) -> tuple[str, Any]:
    """What an attribute of an object is: ``field`` and its operand, ``slot`` and a dict, or what the class has."""
    if (value.cls, name) in inf.program.changed and value.made in inf.records:
        return "slot", inf.records[value.made]
    stored = inf.fields.get((value.made, name))
    field = None if stored is None else stored[0]
    found = look(inf, value.cls, name)
    # Where it is what is read here, it is what the class has.
    own = field is not None and inf.final(field) is not s.result
    if own and stored is not None and (found is _ARGS or not is_set_by_code(found)):
        if stored[1] is not None:
            inf.order(stored[1], s)
        return "field", field
    getter = getter_of(found)
    if getter is not None:
        return "property", getter
    if not has_in_type(value.cls, name) or isinstance(found, MemberDescriptorType):
        raise Refused(f"the attribute {name} of {value.cls.__qualname__} is not assigned")
    return "class", found


def is_slot(found: Any) -> bool:
    """Whether what a class has under a name is one of the slots that a class statement names."""
    return isinstance(found, MemberDescriptorType) and "__slots__" in vars(found.__objclass__)


def is_set_by_code(found: Any) -> bool:
    """Whether assigning an attribute means a call; a slot only holds what is assigned, if no C code reads it."""
    return hasattr(type(found), "__set__") and not is_slot(found)


def write_plainly(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``object.__setattr__(owner, name, value)``, as frozen dataclasses have it."""
    target, name = map(inf.type_of, args[:2])
    cls = built_class(target)
    if isinstance(target, Dict) and cls is not None and isinstance(name, Known) and len(args) == 3:
        if is_set_by_code(look(inf, cls, name.value)):
            raise Refused("a data descriptor is assigned")
        return dicts.store_slot(inf, s, args[0], target, name.value, args[2])
    if not isinstance(target, Fresh) or not isinstance(name, Known) or len(args) != 3:
        return None
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
        inf.order(first, s)
    else:
        inf.wanted[target.cls, name] = None
    inf.plans[s] = Alias(Constant(None))
    return Known(None)


_OPERATORS: Final = {
    **{BINARY[op]: (name, f"__r{name[2:]}") for op, name in OPERATORS.items()},
    **{COMPARE[op]: (name, COMPARING_METHODS[MIRRORED[op]]) for op, name in COMPARING_METHODS.items()},
}
"""The methods that operators ask of what is on their left, and of what is on their right."""
CONVERSIONS: Final[dict[Any, str]] = {
    **{float: "__float__", complex: "__complex__", int: "__int__", str: "__str__", repr: "__repr__"},
    **{abs: "__abs__", round: "__round__", math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__"},
}
"""The method that a function of one object asks; where it is missing, Python may ask others."""
UNARY_DUNDERS: Final = {
    **{UNARY[op]: name for op, name in UNARY_METHODS.items()},
    **{operator.getitem: "__getitem__", len: "__len__", iter: "__iter__", next: "__next__"},
    **CONVERSIONS,
}
_KINDS: Final = (float, int, complex)
"""Those of which the method gives what they give."""


def class_of(value: Abstract) -> type | None:
    """The class of an object; None for what is none."""
    if isinstance(value, (Fresh, Outside, Record, Tuple)):
        return value.cls
    if built_class(value) is Objects or isinstance(value, Mixed):
        raise Refused("what depends on which of several classes an object is of")
    return built_class(value)


def object_class(value: Abstract) -> type | None:
    """The class that the special methods of an object are looked up in; None for lists, dicts and tuples."""
    cls = None if isinstance(value, Tuple) else class_of(value)
    return None if cls in (list, dict) else cls


def array_method(inf: Inference, function: Any, value: Abstract) -> FunctionType | None:
    """The ``__array__`` by which a function of NumPy's asks an object for an array; None if it does not do that."""
    if not is_numpy(function) or not isinstance(value, (Fresh, Outside, Record, Dict)):
        return None
    cls = object_class(value)
    if cls is None or not has_in_type(cls, "__array__") or cls.__mro__[-2].__flags__ & HEAP_TYPE == 0:
        return None
    is_asked = not any([look(inf, cls, name) for name in _PROTOCOLS]) and not hands_on(function, cls)
    return written(inf, cls, "__array__") if is_asked else None


_PROTOCOLS: Final = (
    *("__array_ufunc__", "__array_function__", "__array_interface__", "__array_struct__", "__buffer__"),
    "__array_wrap__",
)
"""What NumPy asks an object for before it asks for its ``__array__``, or for the result."""


def special_method(
    inf: Inference, function: Any, types: list[Abstract], args: Args
) -> tuple[Any, list[Operand]] | None:
    """What an operator of objects calls, and its arguments; None if their classes do not say it in Python."""
    first = class_of(types[0])
    if function in (iter, next) and len(types) > 1:
        return None
    if function in UNARY_DUNDERS and first is not None:
        method = written(inf, first, UNARY_DUNDERS[function])
        if method is not None and function in _KINDS:
            return operating.converted, [*args, Constant(method), Constant(function)]
        if method is not None and function is len:
            return operating.length, [*args, Constant(method)]
        return None if method is None else (method, args)
    if function not in _OPERATORS:
        return None
    compares = function not in BINARY.values()
    left, right = types
    second = class_of(right)
    asked = list(enumerate(_OPERATORS[function]))
    if first is not None and second is not None:
        asked = asked_in_turn(first, second, *_OPERATORS[function], compares)
    found = [(place, method_of(inf, types[place], name)) for place, name in asked]
    methods = [(place, method) for place, method in found if method is not None]
    if not methods or not all(type(method) is FunctionType for _, method in methods):
        return None
    if any(_is_missing(method.__code__) for _, method in methods):
        raise Refused(f"an operator of {named(left)} and {named(right)}, which stand for other objects here")
    (place, method), *others = methods
    if place:
        _require_deferring(inf, left, right)
        args = args[::-1]
    if not compares and "NotImplemented" not in method.__code__.co_names:
        return method, args
    if not compares and any(issubclass(cls, _SEQUENCES) for t in types for cls in _classes_of(t)):
        # Python puts sequences together where no method knows how to add them.
        raise Refused(f"{named(left)} and {named(right)}, of a class that may not know what to do")
    end = operating.equal if function is operator.eq else operating.operated
    return end, [*args, Constant(method), Constant(others[0][1] if others else None)]


def _is_missing(code: CodeType) -> bool:
    """Whether a method of what only stands for other objects does nothing."""
    return "NotImplementedError" in code.co_names and is_engines_file(code.co_filename)


_SEQUENCES: Final = (list, tuple, str, bytes, bytearray)


def _classes_of(value: Abstract) -> list[type]:
    """The class of an object, or of a container or a text that is known."""
    cls = type(value.value) if isinstance(value, Known) else getattr(value, "cls", None)
    return [cls] if isinstance(cls, type) else []


def asks_classes(function: Any) -> bool:
    """Whether a function stands for an operator or a special method, which the classes of its arguments define."""
    try:
        return function in UNARY_DUNDERS or function in _OPERATORS
    except TypeError:
        return False


def method_of(inf: Inference, value: Abstract, name: str) -> Any:
    """What the class of an object has by a name; None for what all objects have, and for what is no object."""
    cls = class_of(value)
    found = look(inf, cls, name) if cls is not None else None
    return None if found is getattr(object, name, None) else found


def _require_deferring(inf: Inference, left: Abstract, right: Abstract) -> None:
    """Refuse what NumPy does by itself with an object on its right: it takes it for an array of objects."""
    if is_from_numpy(left) and not is_deferred_to(inf, receiver_class(right)):
        raise Refused("an array of objects")


def is_from_numpy(value: Abstract) -> bool:
    """Whether a value may be an array or a number of NumPy's, which has a say in operators of it."""
    return isinstance(value, Array) or isinstance(value, Number) and any(c.__module__ == "numpy" for c in value.types)


def is_deferred_to(inf: Inference, cls: type) -> bool:
    """Whether NumPy leaves an operator to the object on its right."""
    if has_in_type(cls, "__array_ufunc__"):
        return look(inf, cls, "__array_ufunc__") is None
    priority = look(inf, cls, "__array_priority__")
    return isinstance(priority, (int, float)) and priority > 0


def receiver_class(value: Abstract) -> type:
    """The class of the object that a method is looked up for."""
    cls = class_of(value)
    if cls is None:
        raise Refused(f"super() of {named(value)}")
    return cls


def super_of(inf: Inference, s: Statement, args: Args) -> Abstract:
    """``super(cls, self)``."""
    if len(args) != 2:
        raise Refused("super without arguments")
    cls = inf.type_of(args[0])
    if not isinstance(cls, Known) or not isinstance(cls.value, type):
        raise Refused("super of an unknown class")
    inf.leave_nothing(s)
    return Super(cls.value, args[1])
