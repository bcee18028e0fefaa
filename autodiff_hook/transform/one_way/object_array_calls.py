"""Calls of NumPy's functions, and of builtin ones, that make arrays of objects or are given such, on one way."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.semantics.operations import BINARY, COMPARE, UFUNCS
from autodiff_hook.transform.one_way.containers import known_value, parts, sequence_of
from autodiff_hook.transform.one_way.object_arrays import converted, is_objects, key_of, operand_of, spread
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import done
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import inert_class, is_none, number_types
from autodiff_hook.transform.specialise.plans import alias, is_hashable, known_as
from autodiff_hook.transform.specialise.wording import named


def called(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """What NumPy makes arrays of objects, and what it makes of them; None of what has nothing to do with them."""
    if not is_hashable(function):
        return None
    if function in _FILLED:
        return _filled(inf, s, function, args, kwargs)
    if function in _ARRAYS and args:
        return _array(inf, s, function, args, kwargs)
    if not any(is_objects(inf.type_of(x)) for x in args) and not _listed_in(inf, args):
        return None
    if function in _OPERATIONS and not kwargs:
        op, symbol = _OPERATIONS[function]
        return alias(inf, s, inf.perform(op, args, symbol))
    if function in _ORDERED and len(args) == 1:
        return alias(inf, s, inf.call(Constant(function), [inf.made(list, parts(inf, args[0]))], kwargs))
    if function in _FOLDED and len(args) == 1 and not kwargs:
        return _folded(inf, s, function, args[0])
    if function is np.nditer and len(args) == 1 and set(kwargs) == {"flags"}:
        return alias(inf, s, inf.iterator(_visited(inf, inf.content(args[0]), key_of(inf, kwargs["flags"]))))
    if function in _SHAPED:
        given = [_moved(inf, x) for x in args]
        by_name = {name: key_of(inf, x) for name, x in kwargs.items()}
        found = done(lambda: function(*given, **by_name))
        is_array = isinstance(found, np.ndarray)
        return alias(inf, s, operand_of(inf, found)) if is_array else known_as(inf, s, found)
    if getattr(function, "__module__", None) == "numpy" or isinstance(function, np.ufunc):
        raise Refused(f"{named(function)} of an array of objects")
    return None


def _listed_in(inf: Path, args: Args) -> bool:
    listed = [x for x in args if sequence_of(inf, x) is not None]
    return any(is_objects(inf.type_of(item)) for x in listed for item in parts(inf, x))


def _moved(inf: Path, operand: Operand) -> Any:
    """An argument of a function that only moves what arrays hold."""
    if is_objects(inf.type_of(operand)):
        return inf.content(operand)
    if sequence_of(inf, operand) is not None and _listed_in(inf, [operand]):
        return [spread(inf, x) for x in parts(inf, operand)]
    return key_of(inf, operand)


def _filled(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.empty(shape, dtype=object)`` and its kin."""
    given = {**dict(zip(_FILLED[function], args)), **kwargs}
    dtype = known_value(inf, given["dtype"]) if "dtype" in given else None
    if function is np.full and "dtype" not in given and known_value(inf, given.get("fill_value", Constant(0))) is None:
        dtype = object
    needed = {"shape", "fill_value"} & set(_FILLED[function])
    if not _is_of_objects(dtype) or not needed <= given.keys() <= set(_FILLED[function]):
        return None
    made = np.empty(key_of(inf, given["shape"]), object)
    made.fill(Constant(_BLANK.get(function)))
    if function is np.full:
        done(operator.setitem, made, ..., spread(inf, given["fill_value"]))
    return alias(inf, s, operand_of(inf, made))


_FILLED: Final[dict[Any, tuple[str, ...]]] = {
    **dict.fromkeys((np.empty, np.zeros, np.ones), ("shape", "dtype")),
    np.full: ("shape", "fill_value", "dtype"),
}
_BLANK: Final = {np.empty: None, np.zeros: 0, np.ones: 1}


def _is_of_objects(dtype: Any) -> bool:
    """Whether what is given as a ``dtype`` stands for objects: as a class does that is none of NumPy's numbers."""
    try:
        return dtype is not None and np.dtype(dtype) == np.dtype(object)
    except TypeError:
        return False


def _array(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``np.array`` and its kin: of an array of objects, of what has objects in it, or asked for objects."""
    given = {**dict(zip(("object", "dtype"), args)), **kwargs}
    source, dtype = args[0], known_value(inf, given["dtype"]) if "dtype" in given else None
    asked, value = _is_of_objects(dtype), inf.type_of(source)
    if not given.keys() <= {"object", "dtype", "copy"} or len(args) > 2:
        return None
    if is_objects(value):
        if dtype is not None and not asked:
            return alias(inf, s, converted(inf, inf.content(source), dtype))
        copies = function is np.array and known_value(inf, given.get("copy", Constant(True))) is True
        return alias(inf, s, operand_of(inf, inf.content(source).copy()) if copies else source)
    if sequence_of(inf, source) is None:
        return None
    if dtype is not None and not asked and _listed_in(inf, [source]):
        return alias(inf, s, converted(inf, spread(inf, source), dtype))
    if not asked and not (dtype is None and _has_objects(inf, source)):
        return None
    return alias(inf, s, operand_of(inf, spread(inf, source)))


_ARRAYS: Final = (np.array, np.asarray, np.asanyarray)


def _has_objects(inf: Path, source: Operand) -> bool:
    """Whether a list of lists holds something that is neither a number nor a text, and nothing of another form."""
    items = parts(inf, source)
    if any(sequence_of(inf, x) is not None for x in items):
        return all(sequence_of(inf, x) is not None and _has_objects(inf, x) for x in items)
    kinds = [inf.type_of(x) for x in items]
    plain = [is_none(kind) or is_object(kind) and not _converts(kind.cls) for kind in kinds]
    return any(plain) and all(each or number_types(x) or inert_class(x) is str for each, x in zip(plain, kinds))


def _converts(cls: type) -> bool:
    """Whether NumPy finds numbers or items in objects of a class."""
    asked = ("__array__", "__array_interface__", "__len__", "__getitem__", "__float__", "__buffer__")
    return issubclass(cls, (np.ndarray, float, int, list, dict, tuple)) or any(has_in_type(cls, x) for x in asked)


def _visited(inf: Path, held: Any, flags: list[str]) -> Iterator[Operand]:
    """What ``np.nditer`` shows of each element, in the order in which they lie in memory."""
    if flags != ["refs_ok"] or not held.flags.c_contiguous:
        raise Refused("np.nditer of an array of objects")
    return (inf.made(np.ndarray, held[(*index, ...)]) for index in np.ndindex(held.shape))


def _folded(inf: Path, s: Statement, function: Any, array: Operand) -> Abstract:
    """``np.sum`` and ``np.prod``, one after the other."""
    held, symbol = spread(inf, array), _FOLDED[function]
    if held.ndim != 1 or not held.size:
        raise Refused(f"{named(function)} of an array of objects with several axes")
    total = held[0]
    for item in held[1:]:
        total = inf.perform("binary", [total, item], symbol)
    return alias(inf, s, total)


_ORDERED: Final = (max, min, sorted)
_FOLDED: Final = {np.sum: "+", np.prod: "*"}
_COMPARING: Final = (np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal)
_OPERATIONS: Final[dict[Any, tuple[str, str]]] = {
    **{ufunc: ("binary", symbol) for symbol, ufunc in UFUNCS.items()},
    **{ufunc: ("compare", symbol) for symbol, ufunc in zip(COMPARE, _COMPARING)},
    **{function: ("binary", symbol) for symbol, function in BINARY.items()},
    **{function: ("compare", symbol) for symbol, function in COMPARE.items()},
    **{np.negative: ("unary", "-"), operator.neg: ("unary", "-")},
}
_SHAPED: Final = (
    *(
        np.shape,
        np.ndim,
        np.size,
        np.ravel,
        np.reshape,
        np.squeeze,
        np.transpose,
        np.copy,
        np.atleast_1d,
        np.atleast_2d,
    ),
    *(np.concatenate, np.hstack, np.vstack, np.stack, np.append, np.expand_dims, np.broadcast_to, np.swapaxes, np.take),
    *(np.flip, np.roll, np.repeat, np.tile, np.diagonal),
)
