"""Arrays of classes derived from ``ndarray`` on one way: objects of the program, with an array that computes.

What NumPy makes of such an array is worked out on the array, and is of the class that NumPy gives it on examples; the
class's own ``__array_finalize__`` and ``__array_wrap__`` are followed, like all methods that are written in Python.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.registry import registry
from autodiff_hook.runtime.losses import stores_into_part
from autodiff_hook.runtime.native import apart_by_name
from autodiff_hook.semantics.operations import BINARY, COMPARE, COMPARING_METHODS, MIRRORED, NAMES, UNARY, UNARY_METHODS
from autodiff_hook.transform.one_way import overrides
from autodiff_hook.transform.one_way.containers import guarded_length, known_value, pairs, parts
from autodiff_hook.transform.one_way.derived_values import (
    array_of,
    computed,
    example_in,
    holds,
    is_derived,
    is_derived_class,
    made_array,
    plainly,
)
from autodiff_hook.transform.one_way.items import INTERFACE
from autodiff_hook.transform.one_way.overrides import ARRAY
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.stores import of_shape
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Bound,
    Fresh,
    Known,
    Lookup,
    Outside,
    Super,
    same_dtype,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.inlining import implementation
from autodiff_hook.transform.specialise.objects import UNARY_DUNDERS, look, look_after, receiver_class, written
from autodiff_hook.transform.specialise.plans import alias, is_hashable, known_as
from autodiff_hook.transform.specialise.wording import named

_FUNCTIONS: Final[dict[Any, Any]] = {
    ARRAY["__len__"]: len,
    **{ARRAY[name]: COMPARE[symbol] for symbol, name in COMPARING_METHODS.items()},
}


# Operations


def step(inf: Path, s: Statement) -> Abstract | None:
    """What an operation means with arrays of derived classes; None without such, or if it is for a class to say."""
    meaning = _MEANINGS.get(s.op)
    if meaning is None:
        return None
    if s.op in _OF_SUPER and isinstance(inf.type_of(s.operands[0]), Super):
        return _OF_SUPER[s.op](inf, s)
    count = 1 if s.op in _OF_OWNER else len(s.operands)
    return meaning(inf, s) if any(is_derived(inf.type_of(x), inf) for x in s.operands[:count]) else None


def _method(inf: Path, operand: Operand, name: str) -> FunctionType | None:
    """What the class of an array says, in Python, of an operation."""
    value = inf.type_of(operand)
    return written(inf, value.cls, name) if is_derived(value, inf) else None


def _binary(inf: Path, s: Statement) -> Abstract | None:
    left, right = s.operands
    name, kind = NAMES[s.data], inf.type_of(left)
    is_array = isinstance(kind, Array) and not kind.scalar or is_derived(kind, inf)
    if s.op == "inplace" and is_array:
        return _in_place(inf, s, name)
    own, reflected = _method(inf, left, f"__{name}__"), _method(inf, right, f"__r{name}__")
    if own is None and reflected is None:
        return computed(inf, s, BINARY[s.data], s.operands)
    if reflected is not None and isinstance(kind, Array) and not kind.scalar:
        result = inf.call(Constant(reflected), [right, left])
        found = inf.type_of(result)
        if not isinstance(found, Known) or found.value is not NotImplemented:
            return alias(inf, s, result)
        raise Refused(f"__r{name}__ of {named(inf.type_of(right))}")
    return None


def _in_place(inf: Path, s: Statement, name: str) -> Abstract | None:
    """What changes an array: NumPy asks no class for the operators that are not in place."""
    left, right = s.operands
    if _method(inf, left, f"__i{name}__"):
        return None
    value = inf.type_of(left)
    asked = overrides.asked(inf, s, BINARY[s.data], s.operands, {"out": left})
    if asked is not None:
        return asked
    if is_derived(value, inf):
        if not isinstance(value, Fresh) or written(inf, value.cls, "__array_wrap__"):
            raise Refused("an array of a derived class is changed in place")
        inf.perform("inplace", [array_of(inf, left, value), plainly(inf, right)], s.data)
        return alias(inf, s, left)
    if _method(inf, right, f"__r{name}__"):
        raise Refused(f"an array is changed in place by {named(inf.type_of(right))}")
    return computed(inf, s, BINARY[s.data], s.operands)


def _compare(inf: Path, s: Statement) -> Abstract | None:
    names = COMPARING_METHODS[s.data], COMPARING_METHODS[MIRRORED[s.data]]
    if any(_method(inf, x, name) for x, name in zip(s.operands, names)):
        return None
    return computed(inf, s, COMPARE[s.data], s.operands)


def _unary(inf: Path, s: Statement) -> Abstract | None:
    return None if _method(inf, s.operands[0], UNARY_METHODS[s.data]) else computed(inf, s, UNARY[s.data], s.operands)


def _getitem(inf: Path, s: Statement) -> Abstract | None:
    if _method(inf, s.operands[0], "__getitem__"):
        return None
    return computed(inf, s, operator.getitem, s.operands)


def _setitem(inf: Path, s: Statement) -> Abstract | None:
    kind = inf.type_of(s.operands[0])
    if _method(inf, s.operands[0], "__setitem__") or not (isinstance(kind, Array) or is_derived(kind, inf)):
        return None
    return _stored(inf, s, *s.operands)


def _stored(inf: Path, s: Statement, owner: Operand, key: Operand, value: Operand) -> Abstract:
    """``array[key] = value``, whose class is asked for the part that is stored into."""
    kind, array = inf.type_of(owner), plainly(inf, owner)
    if is_derived(kind, inf) and stores_into_part(kind.cls, inf.type_of(array).example.ndim, example_in(inf, key)):
        array, key = plainly(inf, inf.perform("getitem", [owner, key])), Constant(Ellipsis)
    return alias(inf, s, inf.perform("setitem", [array, plainly(inf, key), plainly(inf, value)]))


def _of_content(inf: Path, s: Statement) -> Abstract | None:
    """An operation that is about what the array holds, and gives nothing of its class."""
    name = _CONTENT[s.op]
    if any(_method(inf, x, name) for x in s.operands):
        return None
    return alias(inf, s, inf.perform(s.op, [plainly(inf, x) for x in s.operands]))


_CONTENT: Final = {
    **{"truth": "__bool__", "not": "__bool__", "get_len": "__len__"},
    **{"in": "__contains__", "not_in": "__contains__"},
}


def _get_iter(inf: Path, s: Statement) -> Abstract | None:
    found = rows(inf, s.operands[0])
    return None if found is None else alias(inf, s, inf.iterator(found))


def rows(inf: Path, operand: Operand) -> Iterator[Operand] | None:
    """What an iteration over an array comes to; None if it is none, or for its class to say."""
    value = inf.type_of(operand)
    if not is_derived(value, inf) or _method(inf, operand, "__iter__"):
        return None
    array = inf.present(array_of(inf, operand, value))
    kind = inf.type_of(array)
    assert isinstance(kind, Array)
    return (inf.perform("getitem", [operand, Constant(i)]) for i in range(guarded_length(inf, array, kind)))


def _getattr(inf: Path, s: Statement) -> Abstract | None:
    owner, name = s.operands[0], str(s.data)
    value = inf.type_of(owner)
    assert isinstance(value, (Fresh, Outside))
    found = look(inf, value.cls, name) if name in ARRAY else None
    if found is None or found is not ARRAY[name]:
        return None
    if isinstance(found, _METHODS):
        return Bound(found, owner)
    if name == INTERFACE:
        return Lookup(name, array_of(inf, owner, value))
    return computed(inf, s, operator.attrgetter(name), [owner], lambda array: inf.perform("getattr", array, name))


_METHODS: Final = (MethodDescriptorType, WrapperDescriptorType)


def _setattr(inf: Path, s: Statement) -> Abstract | None:
    """``array.shape = shape``: the array that computes is a view of what it was."""
    owner, shape = s.operands
    value = inf.type_of(owner)
    if s.data != "shape" or not isinstance(value, Fresh) or look(inf, value.cls, "shape") is not ARRAY["shape"]:
        return None
    inf.numbers[value.made] = of_shape(inf, inf.present(inf.numbers[value.made]), shape)
    return known_as(inf, s, None)


def _call_method(inf: Path, s: Statement) -> Abstract | None:
    name, owner = s.data[0], s.operands[0]
    value = inf.type_of(owner)
    assert isinstance(value, (Fresh, Outside))
    return _called_by(inf, s, look(inf, value.cls, name), owner)


def _called_by(inf: Path, s: Statement, found: Any, owner: Operand) -> Abstract | None:
    """The call of a method that is one of all arrays; None if it is none."""
    (name, names), (_, *args) = s.data, s.operands
    if not isinstance(found, _METHODS) or found is not ARRAY.get(name):
        return None
    given, options = apart_by_name([owner, *args], names)
    return alias(inf, s, inf.call(Constant(found), given, options))


def _super_method(inf: Path, s: Statement) -> Abstract | None:
    """``super().name(...)`` that is the method of all arrays."""
    name, value = s.data[0], inf.type_of(s.operands[0])
    assert isinstance(value, Super)
    if not is_derived(inf.type_of(value.receiver), inf):
        return None
    found = look_after(inf, receiver_class(inf.type_of(value.receiver)), value.after, name)
    if name == "__array_finalize__" and found is ARRAY.get(name):
        return known_as(inf, s, None)
    return _called_by(inf, s, found, value.receiver)


def _super_attribute(inf: Path, s: Statement) -> Abstract | None:
    """``super().name`` that says of an array what is no array itself."""
    name, value = str(s.data), inf.type_of(s.operands[0])
    assert isinstance(value, Super)
    receiver = inf.type_of(value.receiver)
    if not is_derived(receiver, inf) or name not in _PLAIN:
        return None
    if look_after(inf, receiver_class(receiver), value.after, name) is not ARRAY[name]:
        return None
    return alias(inf, s, inf.perform("getattr", [array_of(inf, value.receiver, receiver)], name))


_PLAIN: Final = ("dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides")
_OF_SUPER: Final[dict[str, Callable[[Path, Statement], Abstract | None]]] = {
    **{"call_method": _super_method, "getattr": _super_attribute},
}
_MEANINGS: Final[dict[str, Callable[[Path, Statement], Abstract | None]]] = {
    **{"binary": _binary, "inplace": _binary, "compare": _compare, "unary": _unary},
    **{"getitem": _getitem, "setitem": _setitem, "get_iter": _get_iter},
    **dict.fromkeys(_CONTENT, _of_content),
    **{"getattr": _getattr, "load_method": _getattr, "call_method": _call_method, "setattr": _setattr},
}
_OF_OWNER: Final = ("getattr", "load_method", "call_method", "setattr")


# Calls


def called(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """What NumPy makes of arrays of derived classes; None without such, or if other code is called."""
    if function is ARRAY[overrides.FUNCTION] and len(args) == 5:
        return _whatever_is_said(inf, s, args)
    if function is ARRAY["__setitem__"] and len(args) == 3:
        return _stored(inf, s, *args)
    if function is ARRAY["view"]:
        return _viewed(inf, s, args, kwargs)
    if function is np.ndarray.__new__:
        return _in_memory(inf, s, {**dict(zip(_OF_NEW, args)), **kwargs})
    if not is_hashable(function) or not any(holds(inf, x) for x in (*args, *kwargs.values())):
        return None
    if function in UNARY_DUNDERS and _method(inf, args[0], UNARY_DUNDERS[function]):
        return None
    if function is ARRAY["__getitem__"]:
        return computed(inf, s, function, args, lambda plain: inf.perform("getitem", plain))
    function = _FUNCTIONS.get(function, function)
    if function in _CONVERSIONS and not kwargs and not _method(inf, args[0], f"__{function.__name__}__"):
        return alias(inf, s, inf.call(Constant(function), [plainly(inf, x) for x in args]))
    if not _is_of_numpy(function) or not (registry.has_rules(function) or registry.is_constant(function)):
        return None
    code = implementation(function)
    if code is not None and any(_is_said_by_methods(inf, x, function.__name__) for x in args):
        return alias(inf, s, inf.call(Constant(code), args, kwargs))
    return computed(
        inf,
        s,
        function,
        args,
        lambda plain: inf.call(Constant(function), plain[: len(args)], dict(zip(kwargs, plain[len(args) :]))),
        kwargs,
    )


def _is_said_by_methods(inf: Path, operand: Operand, name: str) -> bool:
    """Whether what a function of NumPy's makes of an array may be what Python code of its class says."""
    value = inf.type_of(operand)
    if not is_derived(value, inf) or not _method(inf, operand, "__array_wrap__"):
        return False
    return issubclass(value.cls, np.ma.MaskedArray) or name in ARRAY and _method(inf, operand, name) is not None


_CONVERSIONS: Final = (float, int, complex, bool)


def _whatever_is_said(inf: Path, s: Statement, args: Args) -> Abstract:
    """``ndarray.__array_function__``, which a class calls from its own: what NumPy does with whatever arrays."""
    function, classes, by_place, by_name = inf.pin(args[1]), inf.pin(args[2]), parts(inf, args[3]), pairs(inf, args[4])
    if not overrides.are_overridden(inf, by_place):
        return alias(inf, s, inf.call(Constant(function), by_place, by_name))
    code = getattr(function, "_implementation", None)
    if registry.is_constant(function):
        return alias(inf, s, inf.call(Constant(function), [plainly(inf, x) for x in by_place], by_name))
    if type(code) is not FunctionType or not all(issubclass(x, np.ndarray) for x in classes):
        raise Refused(f"{named(function)} of what says by itself what NumPy makes of it")
    before, inf.world.asking = inf.world.asking, True
    try:
        return alias(inf, s, inf.call(Constant(code), by_place, by_name))
    finally:
        inf.world.asking = before


def _is_of_numpy(function: Any) -> bool:
    """Whether a function computes with arrays, and asks no questions about objects."""
    home = getattr(function, "__objclass__", None)
    module = getattr(function, "__module__", None) or type(function).__module__
    return home is np.ndarray or function in (abs, len) or module.partition(".")[0] in ("numpy", "_operator")


_OF_VIEW: Final = ("dtype", "type")
_OF_NEW: Final = ("subtype", "shape", "dtype", "buffer")


def _in_memory(inf: Path, s: Statement, given: dict[str, Operand]) -> Abstract | None:
    """``ndarray.__new__(cls, shape, dtype, buffer)``: an array in all of the memory of another one."""
    order = known_value(inf, given.pop("order", Constant("C")))
    if order not in ("C", "F") or set(given) != set(_OF_NEW):
        return None
    array = given["buffer"]
    cls, dtype, value = (known_value(inf, given["subtype"]), known_value(inf, given["dtype"]), inf.type_of(array))
    if not isinstance(value, Array) or value.scalar or not is_derived_class(cls) or np.dtype(dtype) != value.dtype:
        return None
    asked, held = (
        tuple(map(inf.pin, parts(inf, x))) for x in (given["shape"], inf.perform("getattr", [array], "shape"))
    )
    flags = inf.perform("getattr", [array], "flags")
    in_order = inf.pin(inf.perform("getattr", [flags], f"{order.lower()}_contiguous"))
    if math.prod(asked) != math.prod(held) or not in_order or order == "F" and asked != held:
        return None
    shown = array if asked == held else inf.call(Constant(np.reshape), [array, given["shape"]])
    return alias(inf, s, made_array(inf, cls, shown, Constant(None)))


def _viewed(inf: Path, s: Statement, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``array.view(cls)``, or with its own ``dtype``, too."""
    owner, *rest = args
    value, given = inf.type_of(owner), dict(zip(_OF_VIEW, rest)) | kwargs
    shows = is_derived(value, inf) or isinstance(value, Array) and not value.scalar
    if not shows or not given.keys() <= set(_OF_VIEW):
        return None
    asked = given.pop("type", None) or given.pop("dtype", None)
    cls = None if asked is None else inf.type_of(asked)
    if not isinstance(cls, Known) or not isinstance(cls.value, type) or not issubclass(cls.value, np.ndarray):
        return None
    array = array_of(inf, owner, value) if is_derived(value, inf) else owner
    kind = inf.type_of(array)
    if "dtype" in given and not (isinstance(kind, Array) and same_dtype(known_value(inf, given["dtype"]), kind.dtype)):
        return None
    if cls.value is np.ndarray:
        return alias(inf, s, array)
    return alias(inf, s, made_array(inf, cls.value, array, owner)) if is_derived_class(cls.value) else None
