"""Attributes and methods: of modules and classes, of arrays and numbers, of objects from outside and of the program."""

from __future__ import annotations

import importlib.util
import sys
from enum import Enum
from types import FunctionType, MethodDescriptorType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.registry import registry
from autodiff_hook.runtime.lookup import dictionary_of, find_in_type
from autodiff_hook.semantics.meanings import DEFINITIONS
from autodiff_hook.transform.improve.shortcuts import METHODS, lookup
from autodiff_hook.transform.specialise import (
    apart,
    attributes,
    changing,
    constants,
    dicts,
    dividing,
    draws,
    named_tuples,
    of_containers,
    patterns,
    records,
    several,
    texts,
)
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    INT,
    MISSING,
    Abstract,
    Array,
    Bound,
    Dict,
    Fresh,
    Instance,
    Known,
    List,
    Lookup,
    Mixed,
    Number,
    OneOf,
    Outside,
    Record,
    Super,
    Tuple,
    same_dtype,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import call_with
from autodiff_hook.transform.specialise.certain import lacks
from autodiff_hook.transform.specialise.dividing import is_of_several
from autodiff_hook.transform.specialise.fitting import require_method_fits
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import REAL, built_class, inert_class, number_types, plain_types
from autodiff_hook.transform.specialise.lengths import of_as_many_axes, shape_of
from autodiff_hook.transform.specialise.objects import class_of, is_followed, is_object, keeps_number, look
from autodiff_hook.transform.specialise.of_containers import VIEWS
from autodiff_hook.transform.specialise.plans import alias, is_hashable, is_only_iterated, known_as, pure
from autodiff_hook.transform.specialise.program import Alias
from autodiff_hook.transform.specialise.results import FLAGS, abstract_of, exact_types, is_fixed, outcome
from autodiff_hook.transform.specialise.ruled import by_rule
from autodiff_hook.transform.specialise.wording import named

_DESCRIBING: Final = (np.dtype, np.finfo, np.iinfo)
_COMPLEX: Final = frozenset({complex, np.complex128})
_OF_DTYPE_CLASS: Final = ("names", "fields", "subdtype", "kind", "char", "num", "type", "itemsize", "hasobject")
"""What all dtypes of a class of numbers have in common."""


def _is_dtype_of_numbers(value: Any) -> bool:
    return isinstance(value, np.dtype) and value.kind in "biufc"


def attribute_of(inf: Inference, s: Statement) -> Abstract | None:
    """``getattr``."""
    return attribute(inf, s, s.operands[0], str(s.data))


_OF_SCALARS: Final = ("ndim", "shape", "size", "dtype", "itemsize", "nbytes", "strides")
"""What the type alone says of a scalar of NumPy's."""


def attribute(inf: Inference, s: Statement, owner: Operand, name: str) -> Abstract | None:
    """``owner.name``."""
    owner = draws.taken(inf, s, owner)
    value = inf.type_of(owner)
    if isinstance(value, Known) and (isinstance(value.value, (ModuleType, type)) or keeps_number(value.value, name)):
        return attributes.of_class_or_module(inf, s, value.value, name)
    method = draws.bound(inf, s, owner, name)
    if method is not None:
        return method
    if not inf.one_way and _is_builtin(value):
        if isinstance(getattr(exact_types(value)[0], name, None), MethodDescriptorType):
            inf.plans[s] = Alias(Constant(None))
            return Lookup(name, owner)
    if isinstance(value, Array):
        return _array_attribute(inf, s, value, owner, name)
    if isinstance(value, OneOf) and owner in s.operands:
        dividing.by_code(inf, s, owner)
        return None
    if isinstance(value, Mixed):
        return dividing.divided(inf, s, owner)
    if isinstance(value, Dict) and is_of_several(value):
        return several.attribute(inf, s, owner, value, name)
    if isinstance(value, Outside) and records.is_field(inf, owner, value, name):
        return alias(inf, s, inf.world.part(inf.final(owner), value.example, name, True))
    if _is_object(value):
        return attributes.attribute(inf, s, value, owner, name)
    if isinstance(value, Known) and isinstance(value.value, Enum):
        return attributes.attribute(inf, s, *attributes.of_member(inf, value.value, owner, name))
    if isinstance(value, Super) and not inf.one_way:
        return attributes.super_attribute(inf, s, value, name)
    if isinstance(value, Instance) and issubclass(value.cls, Enum) and not inf.one_way:
        return constants.of_a_member(inf, s, value.cls, name)
    if isinstance(value, Known) and isinstance(value.value, np.ufunc) and name == "__call__":
        return alias(inf, s, owner)
    if isinstance(value, Known) and isinstance(value.value, _DESCRIBING) and hasattr(value.value, name):
        return known_as(inf, s, getattr(value.value, name))
    if isinstance(value, Instance) and _is_dtype_of_numbers(value.example) and name in _OF_DTYPE_CLASS:
        return known_as(inf, s, getattr(value.example, name))
    scalar = _sole_scalar(value)
    if scalar is not None and name in _OF_SCALARS:
        return known_as(inf, s, getattr(scalar(0), name))
    types = number_types(value)
    descriptor = None if types is None else _descriptor_of(types, name)
    if descriptor is not None:
        return by_rule(inf, s, descriptor, [owner], {}, lambda x: getattr(x, name))
    if types is not None and name == "imag" and not any(issubclass(cls, complex) for cls in types):
        return pure(inf, s, outcome(lambda x: x.imag, [value], {}))
    if isinstance(value, Instance) and value.cls is FLAGS and name in LAYOUT:
        return layout(inf, s, value, name)
    if isinstance(value, Instance) and value.cls is np.ndarray:
        found = getattr(value.example, name)
        return pure(inf, s, Instance(np.ndarray, example=found) if type(found) is np.ndarray else abstract_of(found))
    if isinstance(value, Known) and lookup(METHODS, getattr(type(value.value), name, None)) is not None:
        inf.plans[s] = Alias(Constant(None))
        return Bound(inf.world.attribute(type(value.value), name), owner)
    if isinstance(value, Known) and (inf.one_way or is_fixed(value.value)):
        return attributes.of_class_or_module(inf, s, value.value, name)
    raise Refused(f"the attribute {name} of {named(value)}")


def _descriptor_of(types: frozenset[type], name: str) -> Any:
    """What has a rule for an attribute of numbers of these types; None if nothing has one for them all."""
    if name == "real" and types <= REAL | {bool}:
        return float.real
    if name in ("real", "imag") and types & _COMPLEX and types <= REAL | _COMPLEX | {bool}:
        return getattr(complex, name)
    descriptors = {id(found): found for found in (find_in_type(cls, name) for cls in types)}
    (first, *others) = descriptors.values()
    return first if not others and registry.has_rules(first) else None


def _is_real(value: Abstract) -> bool:
    """Whether a value is an array of real numbers."""
    return isinstance(value, Array) and not value.scalar and value.dtype is not None and value.dtype.kind in "fiu"


LAYOUT: Final = ("contiguous", "c_contiguous", "f_contiguous", "fortran", "fnc", "forc", "aligned")
"""What the flags of an array say of how its items lie."""


def layout(inf: Inference, s: Statement, flags: Instance, name: str) -> Abstract:
    """``a.flags.c_contiguous``: how the items of an array lie."""
    return pure(inf, s, Number(BOOL.types, example=getattr(flags.example, name)))


def _sole_scalar(value: Abstract) -> Any:
    """The one class of NumPy's scalars that a value is of; None if it may be something else."""
    found = plain_types(value)
    cls = next(iter(found)) if len(found) == 1 else None
    return cls if cls is not None and issubclass(cls, (np.number, np.bool_)) else None


def _array_attribute(inf: Inference, s: Statement, value: Array, owner: Operand, name: str) -> Abstract | None:
    if value.scalar:
        raise Refused(f"the attribute {name} of an array or a scalar")
    if name == "shape" and value.ndim is not None:
        return shape_of(inf, s, value, value.ndim)
    if name == "shape" and not inf.one_way and value.example is not MISSING:
        return of_as_many_axes(inf, s, value, owner)
    if name in ("shape", "strides") and value.ndim is None and not inf.one_way:
        raise Refused(f"the {name} of an array of any number of axes")
    if name == "ndim" and value.ndim is not None:
        return known_as(inf, s, value.ndim)
    if name == "size":
        return pure(inf, s, Number(INT.types, example=np.size(value.example)))
    if name == "dtype" and value.dtype is not None:
        return known_as(inf, s, value.dtype)
    if name == "real" and _is_real(value):
        return alias(inf, s, owner)
    if name == "flat" and not inf.one_way and is_only_iterated(inf, s):
        s.op, s.operands, s.data = "call_method", [owner], ("ravel", ())
        return method_call(inf, s)
    if name == "flat" and not inf.one_way:
        inf.leave_nothing(s)
        return Lookup(name, owner)
    descriptor = getattr(np.ndarray, name, None)
    if descriptor is not None and registry.is_constant(descriptor):
        return pure(inf, s, outcome(lambda x: getattr(x, name), [value], {}))
    if descriptor is not None and registry.has_rules(descriptor):
        return by_rule(inf, s, descriptor, [owner], {}, lambda x: getattr(x, name))
    raise Refused(f"the attribute {name} of an array")


def method_call(inf: Inference, s: Statement) -> Abstract | None:
    """``owner.name(...)``."""
    name, names = s.data
    s.operands[0] = draws.taken(inf, s, s.operands[0])
    owner, *args = s.operands
    value = inf.type_of(owner)
    if isinstance(value, Known) and isinstance(value.value, (ModuleType, type)):
        if is_object(inf.world, getattr(value.value, name, None)):
            return call_with(inf, s, inf.world.part(owner, value.value, name, False), args, names)
        return call_with(inf, s, Constant(inf.world.attribute(value.value, name)), args, names)
    require_method_fits(inf, value, s)
    if name in VIEWS and not args:
        parts = apart.entries(inf, s, name)
        if parts is not None:
            return apart.begin(inf, s, parts)
    if isinstance(value, Outside):
        if name in VIEWS:
            dicts.ask_for_any_key(inf, value)
        if value.cls is list:
            changing.ask_for_list(inf, owner, value, name)
        if value.cls is dict and name == "get" and not names and len(args) in (1, 2):
            return _item_or_default(inf, s, value, owner, *args)
    if isinstance(value, Tuple) and named_tuples.is_named(value) and name == "_replace" and len(args) == len(names):
        return named_tuples.replaced(inf, s, value, dict(zip(names, args)))
    if isinstance(value, Tuple) and named_tuples.is_named(value) and name == "_asdict" and not args:
        return named_tuples.as_dict(inf, s, value)
    if isinstance(value, OneOf):
        dividing.by_code(inf, s, owner)
        return None
    if isinstance(value, Mixed):
        return dividing.divided(inf, s, owner)
    if isinstance(value, Dict) and is_of_several(value):
        return several.method_call(inf, s, value, name, args, names)
    if _is_object(value):
        return attributes.method_call(inf, s, value, name, args, names)
    if isinstance(value, Known) and isinstance(value.value, Enum):
        member, s.operands[0], name = attributes.of_member(inf, value.value, owner, name)
        return attributes.method_call(inf, s, member, name, args, names)
    if isinstance(value, (Dict, List, Tuple)):
        return of_containers.method_call(inf, s, value, name, args, names)
    if isinstance(value, Super):
        return attributes.super_method(inf, s, value, name, args, names)
    if inert_class(value) in (str, np.str_):
        return texts.method(inf, s, value, name, [inf.type_of(x) for x in args])
    if not inf.one_way and patterns.is_of_patterns(value):
        return patterns.method(inf, s, value, name, [inf.type_of(x) for x in args])
    return _native_method_call(inf, s, value, name, args, names)


def _native_method_call(
    inf: Inference, s: Statement, value: Abstract, name: str, args: Args, names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)`` of an array, a number, a generator of random numbers, or an object that is known."""
    owner = s.operands[0]
    cls = _native_class(value)
    method = find_in_type(cls, name) if cls is not None else None
    if method is np.ndarray.view and isinstance(value, Array) and _shows_the_same(inf, value, args, names):
        s.op, s.operands, s.data = "getitem", [owner, Constant(Ellipsis)], None
        return inf.evaluate(inf, s)
    if method in (np.ndarray.conj, np.ndarray.conjugate) and not args and _is_real(value):
        return alias(inf, s, owner)
    if isinstance(value, Known) and _has_meaning(getattr(type(value.value), name, None)):
        method = inf.world.attribute(type(value.value), name)
        return call_with(inf, s, Constant(method), [owner, *args], names)
    if isinstance(value, Known) and inf.one_way and name in (dictionary_of(value.value) or ()):
        if look(inf, type(value.value), name) is None:
            return call_with(inf, s, Constant(inf.world.attribute(value.value, name)), args, names)
    if isinstance(value, Known) and is_followed(inf.world, getattr(type(value.value), name, None)):
        inf.world.method(Constant(value.value), value.value, name)
        return call_with(inf, s, Constant(look(inf, type(value.value), name)), [owner, *args], names)
    if inert_class(value) is np.bool_ and not args and name in ("any", "all", "item", "sum"):
        return pure(inf, s, outcome(lambda x: getattr(x, name)(), [value], {}))
    if method is None or type(method) is FunctionType and not draws.is_own([value]):
        raise Refused(f"the method {name} of {named(value)}")
    return call_with(inf, s, Constant(method), [owner, *args], names)


def _native_class(value: Abstract) -> Any:
    """The class of an array, of a number of one type, or of a generator of random numbers; None of what else."""
    types = number_types(value)
    if types is not None and len(types) == 1:
        return next(iter(types))
    if isinstance(value, Instance) and draws.is_own([value]):
        return value.cls
    if inert_class(value) is slice:
        return slice
    return np.ndarray if isinstance(value, Array) and not value.scalar else None


def _shows_the_same(inf: Inference, value: Array, args: Args, names: tuple[str, ...]) -> bool:
    """Whether ``a.view(...)`` has the type and the class of ``a``."""
    if not args:
        return True
    kind = inf.type_of(args[0])
    if len(args) > 1 or names not in ((), ("dtype",), ("type",)) or not isinstance(kind, Known):
        return False
    asked = kind.value
    return asked is np.ndarray or isinstance(asked, (type, np.dtype)) and same_dtype(asked, value.dtype)


def _is_builtin(value: Abstract) -> bool:
    """Whether a value is a list, a dict, a tuple or a text."""
    container = isinstance(value, (Tuple, List, Dict, Outside)) and exact_types(value)[0] in (list, dict, tuple)
    return container and built_class(value) is None or inert_class(value) in (str, np.str_)


def _has_meaning(method: Any) -> bool:
    """Whether it is known what a method does of an object that is known."""
    return lookup(METHODS, method) is not None or id(method) in DEFINITIONS or registry.has_rules(method)


def _is_object(value: Abstract) -> bool:
    """Whether a value has the attributes and methods of its class."""
    return class_of(value) is not None and (not isinstance(value, Tuple) or named_tuples.is_named(value))


def _item_or_default(
    inf: Inference, s: Statement, value: Outside, owner: Operand, named: Operand, default: Operand | None = None
) -> Abstract:
    """``owner.get(key, default)`` of a dict from outside."""
    key, home = inf.type_of(named), inf.final(owner)
    if not isinstance(key, Known) or not is_hashable(key.value):
        dicts.ask_for_any_key(inf, value)
        raise Refused("dict.get of an unknown key")
    if not inf.world.holds(home, value.example, key.value):
        return alias(inf, s, Constant(None) if default is None else default)
    return alias(inf, s, inf.world.part(home, value.example, key.value, True))


def method_loaded(inf: Inference, s: Statement) -> Abstract | None:
    """``owner.name`` in the place where it is looked up, before the arguments of its call."""
    s.operands[0] = owner = draws.taken(inf, s, s.operands[0])
    name, value = str(s.data), inf.type_of(owner)
    if isinstance(value, Known) and isinstance(value.value, (ModuleType, type)):
        return attribute(inf, s, owner, name)
    if isinstance(value, (Fresh, Record)) or isinstance(value, Outside) and value.cls not in (dict, list):
        return attribute(inf, s, owner, name)
    if lacks(value, name):
        raise Refused(f"the method {name} of {named(value)}, which has none")
    inf.plans[s] = Alias(Constant(None))
    return Lookup(name, owner)


def loaded_call(inf: Inference, s: Statement) -> Abstract | None:
    """The call of a method that was looked up before its arguments."""
    method = inf.type_of(s.operands[0])
    if isinstance(method, Lookup):
        s.op, s.operands, s.data = "call_method", [method.receiver, *s.operands[1:]], (method.name, s.data or ())
        return method_call(inf, s)
    s.op = "call"
    return call_with(inf, s, s.operands[0], s.operands[1:], s.data or ())


def imported(inf: Inference, s: Statement) -> Abstract:
    """``import name``."""
    level, names = map(inf.type_of, s.operands)
    if not (isinstance(level, Known) and isinstance(names, Known)):
        raise Refused("an import of what is not known")
    name = str(s.data)
    if level.value:
        name = importlib.util.resolve_name("." * level.value + name, inf.globals_here["__package__"])
    elif not names.value:
        name = name.partition(".")[0]
    found = inf.world.imported(name)
    if isinstance(found, ModuleType):
        return known_as(inf, s, found)
    # An object that has put itself in the place of its module.
    return alias(inf, s, inf.world.part(Constant(sys.modules), sys.modules, name, True))


def imported_from(inf: Inference, s: Statement) -> Abstract | None:
    """``from module import name``."""
    s.op = "getattr"
    return inf.evaluate(inf, s)
