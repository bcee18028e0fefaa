"""Arrays of objects on one way: arrays of operands, so that views, keys and shapes are NumPy's own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, TypeGuard

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.runtime.native import apart_by_name
from autodiff_hook.transform.one_way.containers import known_value, parts, sequence_of
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, done
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Container, Instance, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import inert_class, is_number_of, number_types
from autodiff_hook.transform.specialise.objects import is_deferred_to
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named

_OBJECT: Final = np.dtype(object)


def is_objects(value: Abstract) -> TypeGuard[Container]:
    """Whether a value is an array of objects that the program has made."""
    return isinstance(value, Container) and value.cls is np.ndarray


def step(inf: Path, s: Statement) -> Abstract | None:
    """What an operation means with arrays of objects; None without such."""
    meaning = _MEANINGS.get(s.op)
    asked = s.operands[:1] if s.op in _OF_OWNER else s.operands
    if meaning is None or not any(is_objects(inf.type_of(x)) for x in asked):
        return None
    return meaning(inf, s)


def operand_of(inf: Path, found: Any) -> Operand:
    """The operand of what NumPy gives: an array of operands, or one of them."""
    return inf.made(np.ndarray, found) if isinstance(found, np.ndarray) else found


def key_of(inf: Path, operand: Operand) -> Any:
    """A key, which decides about the way."""
    if operand in inf.slices:
        return slice(*map(inf.pin, inf.slices[operand]))
    value = inf.type_of(operand)
    if is_objects(value):
        raise Refused("an array of objects as a key")
    if isinstance(value, Array) and not value.scalar and value.ndim and value.dtype is not None:
        if value.dtype.kind in "bi":
            return np.array([key_of(inf, x) for x in parts(inf, operand)], value.dtype)
    if inert_class(value) is np.bool_ or is_number_of(value, {np.int64}):
        return inf.pin(inf.call(Constant(bool if inert_class(value) is np.bool_ else int), [operand]))
    kind = None if isinstance(value, Known) else sequence_of(inf, operand)
    return inf.pin(operand) if kind is None else kind(key_of(inf, x) for x in parts(inf, operand))


def _getitem(inf: Path, s: Statement) -> Abstract:
    owner, key = s.operands
    return alias(inf, s, operand_of(inf, done(operator.getitem, inf.content(owner), key_of(inf, key))))


def _setitem(inf: Path, s: Statement) -> Abstract:
    owner, key, value = s.operands
    held, where = inf.changed(owner), key_of(inf, key)
    chosen = done(operator.getitem, held, where)
    several = isinstance(chosen, np.ndarray)
    depth = chosen.ndim if several and sequence_of(inf, value) is not None else None
    done(operator.setitem, held, where, spread(inf, value, depth) if several else value)
    return known_as(inf, s, None)


def _getattr(inf: Path, s: Statement) -> Abstract:
    owner, name = s.operands[0], str(s.data)
    if name == "dtype":
        return known_as(inf, s, _OBJECT)
    if name in ("shape", "ndim", "size"):
        return known_as(inf, s, getattr(inf.content(owner), name))
    if name == "T":
        return alias(inf, s, operand_of(inf, inf.content(owner).T))
    if name == "flat":
        return alias(inf, s, inf.iterator(iter(inf.content(owner).flat)))
    if not hasattr(np.ndarray, name):
        raise Raised(AttributeError)
    raise Refused(f"{name} of an array of objects")


def _call_method(inf: Path, s: Statement) -> Abstract:
    (name, names), (owner, *args) = s.data, s.operands
    given, options = apart_by_name(args, names)
    held = inf.content(owner)
    if name in _MOVING:
        by_name = {k: key_of(inf, x) for k, x in options.items()}
        return alias(
            inf, s, operand_of(inf, done(lambda: getattr(held, name)(*[key_of(inf, x) for x in given], **by_name)))
        )
    if name == "tolist" and not args:
        return alias(inf, s, _listed(inf, held.tolist()))
    if name == "fill" and len(given) == 1:
        inf.changed(owner).fill(given[0])
        return known_as(inf, s, None)
    if name == "astype" and len(given) == 1 and not options:
        return alias(inf, s, converted(inf, held, known_value(inf, given[0])))
    if hasattr(np, name) and name in ("sum", "prod"):
        return alias(inf, s, inf.call(Constant(getattr(np, name)), [owner, *given], options))
    if not hasattr(np.ndarray, name):
        raise Raised(AttributeError)
    raise Refused(f"{name} of an array of objects")


_MOVING: Final = (
    *("copy", "diagonal", "flatten", "item", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "take", "transpose"),
)


def _listed(inf: Path, held: Any) -> Operand:
    return inf.made(list, [_listed(inf, x) for x in held]) if isinstance(held, list) else held


def converted(inf: Path, held: np.ndarray[Any, Any], dtype: Any) -> Operand:
    """An array of numbers made of what an array of objects holds."""
    if np.dtype(dtype) == _OBJECT:
        return operand_of(inf, held.copy())
    if not all(number_types(inf.type_of(x)) for x in held.flat):
        raise Refused(f"an array of {np.dtype(dtype)} made of objects")
    made = inf.call(Constant(np.array), [inf.made(list, list(held.flat))], {"dtype": Constant(dtype)})
    return made if held.ndim == 1 else inf.call(Constant(np.reshape), [made, Constant(held.shape)])


def spread(inf: Path, operand: Operand, depth: int | None = None) -> Any:
    """What NumPy makes of a value among objects: an array of operands.

    ``depth``: the axes that there are to be filled; what comes then is an element, whatever it is.
    """
    value = inf.type_of(operand)
    if depth == 0:
        return _single(operand)
    deeper = None if depth is None else depth - 1
    if is_objects(value):
        return inf.content(operand)
    if sequence_of(inf, operand) is not None:
        return _stacked([spread(inf, x, deeper) for x in parts(inf, operand)])
    if isinstance(value, Array) and not value.scalar:
        rows = parts(inf, operand) if value.ndim else [inf.perform("getitem", [operand, Constant(())])]
        if (value.ndim or 0) > 1:
            return _stacked([spread(inf, x, deeper) for x in rows])
        numbers = [_single(_as_object(inf, x)) for x in rows]
        return _stacked(numbers) if value.ndim else numbers[0]
    if is_object(value) and any(has_in_type(value.cls, name) for name in ("__len__", "__array__", "__array_ufunc__")):
        raise Refused(f"{named(value)} in an array of objects")
    if not (number_types(value) or is_object(value) or isinstance(value, (Known, Instance))):
        raise Refused(f"{named(value)} in an array of objects")
    return _single(operand)


def _single(operand: Operand) -> Any:
    found = np.empty((), object)
    found[()] = operand
    return found


def _stacked(rows: list[Any]) -> Any:
    if len({row.shape for row in rows}) > 1:
        raise Refused("an array of objects made of rows of several shapes")
    found = np.empty((len(rows), *(rows[0].shape if rows else ())), object)
    for i, row in enumerate(rows):
        found[i] = row if row.ndim else row[()]
    return found


def _as_object(inf: Path, operand: Operand) -> Operand:
    """A number of NumPy's, as it comes to the operators of objects."""
    types = number_types(inf.type_of(operand)) or {inert_class(inf.type_of(operand))}
    plain = _PLAIN.get(next(iter(types))) if len(types) == 1 else None
    return operand if plain is None else inf.call(Constant(plain), [operand])


_PLAIN: Final[dict[Any, type]] = {np.float64: float, np.int64: int, np.bool_: bool}


def _mapped(function: Callable[[Any], Operand], array: Any) -> Any:
    found = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        found[index] = function(array[index])
    return found


def _each(inf: Path, operands: Iterable[Operand], perform: Callable[[list[Operand]], Operand]) -> Any:
    """What is done with each of the elements that belong together; an array of the results."""
    arrays = []
    for operand in operands:
        array = spread(inf, operand)
        arrays.append(array if is_objects(inf.type_of(operand)) else _mapped(partial(_as_object, inf), array))
    together = done(np.broadcast_arrays, *arrays)
    found = np.empty(together[0].shape, object)
    for index in np.ndindex(found.shape):
        found[index] = perform([array[index] for array in together])
    return found


def _result(inf: Path, found: Any) -> Operand:
    return operand_of(inf, found) if found.ndim else found[()]


def _binary(inf: Path, s: Statement) -> Abstract:
    left, right = s.operands
    value = inf.type_of(right)
    if s.data == "@":
        raise Refused("a product of matrices of objects")
    if is_object(value) and is_deferred_to(inf, value.cls):
        raise Refused(f"an array of objects beside {named(value)}")
    first = inf.type_of(left)
    if s.op == "inplace" and isinstance(first, Array) and not first.scalar:
        raise Raised(TypeError("an array of numbers cannot hold objects"))
    found = _each(inf, s.operands, lambda items: inf.perform("binary", items, s.data))
    if s.op == "inplace" and is_objects(inf.type_of(left)):
        inf.changed(left)[...] = found
        return alias(inf, s, left)
    return alias(inf, s, _result(inf, found))


def _unary(inf: Path, s: Statement) -> Abstract:
    return alias(inf, s, _result(inf, _each(inf, s.operands, lambda items: inf.perform("unary", items, s.data))))


def _compare(inf: Path, s: Statement) -> Abstract:
    def decided(items: list[Operand]) -> Operand:
        return Constant(bool(inf.pin(inf.perform("truth", [inf.perform("compare", items, s.data)]))))

    found = _each(inf, s.operands, decided)
    if not found.ndim:
        return alias(inf, s, inf.call(Constant(np.bool_), [found[()]]))
    return alias(inf, s, converted(inf, found, np.bool_))


def _truth(inf: Path, s: Statement) -> Abstract:
    held = inf.content(s.operands[0])
    if held.size > 1:
        raise Raised(ValueError("The truth value of an array with more than one element is ambiguous."))
    return alias(inf, s, inf.perform(s.op, [held.flat[0] if held.size else Constant(done(bool, held))]))


def _contains(inf: Path, s: Statement) -> Abstract:
    item, owner = s.operands
    if not is_objects(inf.type_of(owner)):
        raise Refused("a search for an array of objects")
    equal = inf.perform("compare", [owner, item], "==")
    return alias(inf, s, inf.perform("truth" if s.op == "in" else "not", [inf.call(Constant(np.any), [equal])]))


_MEANINGS: Final[dict[str, Callable[[Path, Statement], Abstract | None]]] = {
    **{"getitem": _getitem, "setitem": _setitem, "getattr": _getattr, "call_method": _call_method},
    **{"binary": _binary, "inplace": _binary, "unary": _unary, "compare": _compare},
    **{"truth": _truth, "not": _truth, "in": _contains, "not_in": _contains},
}
_OF_OWNER: Final = ("getitem", "setitem", "getattr", "call_method", "truth", "not", "unary")
