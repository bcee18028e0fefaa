"""What specialised programs call."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.ir.types import Constant, Operand
from autodiff_hook.runtime.checking import Checking, numbers
from autodiff_hook.runtime.cotangents import accumulate, named_part, part
from autodiff_hook.runtime.given_objects import list_gradient, object_gradients
from autodiff_hook.runtime.mirror import array_gradient, number_gradient
from autodiff_hook.runtime.preparing import scalar_seed
from autodiff_hook.runtime.references import (
    add_early,
    add_item,
    add_items,
    add_run,
    add_slice,
    begin_slots,
    begun_slots,
    blank,
    buffer,
    dict_buffer,
    folded,
    record_buffer,
    slots_buffer,
    sum_of_slots,
    taken,
)
from autodiff_hook.runtime.updates import surviving
from autodiff_hook.strong import has_nan
from autodiff_hook.transform.improve.facts import NOTHING, ArrayFact, Fact, NumberFact
from autodiff_hook.transform.improve.shortcuts import (
    LOOKING,
    MIRRORING,
    SUMS,
    borrowing,
    effects,
    fresh,
    shortcut,
    typed,
)
from autodiff_hook.transform.improve.site import Site, common_dtype
from autodiff_hook.transform.specialise.program import Given


class Undefined(Given):
    """A gradient is nan, of which the carried program knows whether it is."""


def refill(container: Any, content: Any) -> None:
    """Give a list, a dict or a set another content."""
    if isinstance(container, list):
        container[:] = content
    elif isinstance(container, set):
        container.intersection_update(content)
        container.update(content)
    else:
        container.clear()
        container.update(content)


def rewritten(array: Any, content: Any, result: Any) -> Any:
    """Give an array other items; what shares its memory in a result is copied before."""
    kept = _apart(result, array)
    array[...] = content
    return kept


def _apart(value: Any, array: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy("K") if np.may_share_memory(value, array) else value
    if type(value) in (tuple, list):
        return type(value)([_apart(x, array) for x in value])
    if type(value) is dict:
        return {key: _apart(x, array) for key, x in value.items()}
    return value


def seed(value: Any) -> Any:
    """The cotangent 1 of a scalar; the carried program says what is wrong with anything else."""
    return scalar_seed(value, seed)


def zeros_like(array: Any) -> Any:
    """Where the cotangents of the items of an array are added up."""
    return np.zeros(array.shape, array.dtype if array.dtype.kind in "fc" else float)


def number(cotangent: Any) -> Any:
    """The cotangent of a number, None being zero."""
    return 0.0 if cotangent is None else cotangent


def array(cotangent: Any, value: Any) -> Any:
    """The cotangent of an array, None being zero."""
    return zeros_like(value) if cotangent is None else cotangent


def counted(present: Any, contribution: Any) -> Any:
    """The sum of cotangents, the second of which may be None or not implemented."""
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    return present if contribution is None else accumulate(present, contribution)


def add_at(buffer: Any, index: Any, cotangent: Any) -> None:
    """Add to a part of a buffer."""
    if isinstance(index, (int, slice)) or (
        isinstance(index, tuple) and all(isinstance(i, (int, slice)) for i in index)
    ):
        buffer[index] += cotangent
    else:
        np.add.at(buffer, index, cotangent)


def add_part(part: Any, cotangent: Any) -> Any:
    """Add to a part of a buffer, None being zero."""
    if isinstance(cotangent, NotImplementedCotangent):
        raise cotangent.fail()
    if cotangent is not None:
        part += cotangent
    return part


def first(cotangent: Any, value: Any) -> Any:
    """A buffer for the cotangent of an array, with a first part of it."""
    return add_part(zeros_like(value), cotangent)


def fitted(cotangent: Any, value: Any) -> Any:
    """The cotangent of an array that was broadcast to another: the sum over the axes that it was repeated along."""
    if cotangent.shape != value.shape:
        lead = cotangent.ndim - value.ndim
        axes = tuple(i for i in range(cotangent.ndim) if i < lead or value.shape[i - lead] == 1)
        cotangent = cotangent.sum(axes).reshape(value.shape)
    return cotangent.astype(value.dtype) if value.dtype.kind == "f" and value.dtype != cotangent.dtype else cotangent


def chosen(cotangent: Any, index: Any, place: int, from_end: int) -> Any:
    """The cotangent of an item of a tuple at a place, from that of the one that an index chose."""
    return cotangent if index == place or index == from_end else 0.0


def as_taken(value: Any, are_complex: tuple[bool | None, ...]) -> None:
    """Give up where a value, or a part of a tuple, is complex that was taken for real, or the other way round."""
    if type(value) is float and not are_complex[0]:
        return
    parts = value if isinstance(value, tuple) else (value,)
    for x, is_complex in zip(parts, are_complex):
        if is_complex is not None and np.iscomplexobj(x) is not is_complex:
            raise Given("a result that is complex by its value, or is not")


def no_nan(*gradients: Any) -> None:
    """Give up if a gradient is nan: it may come of a zero cotangent as ``0.0 * inf``, and is zero then."""
    for gradient in gradients:
        if type(gradient) is np.ndarray and gradient.dtype.kind == "f":
            row = gradient if gradient.ndim == 1 else gradient.ravel("K")
            gradient = np.vdot(row, row)
        elif gradient is not None and type(gradient) is not float:
            gradient = math.nan if has_nan(gradient) else None
        if gradient != gradient:
            raise Undefined


def no_nan_if_infinite(value: Any, *gradients: Any) -> None:
    """Give up if a gradient is nan, which none is if the value is finite."""
    if not math.isfinite(value):
        no_nan(*gradients)


def no_nan_in_product(product: Any, a: Any, b: Any, *sums: Any) -> None:
    """Give up if a product of arrays, or sums of a factor, may have nan: it is large, or what it is made of."""
    if product.size > a.size + b.size:
        a, b = a.ravel("K"), b.ravel("K")
        total = np.vdot(a, a) + np.vdot(b, b)
        if total - total != 0.0:
            raise Undefined
    else:
        no_nan(product, *sums)


def undefined() -> None:
    """Give up because a gradient is nan."""
    raise Undefined


def float_list(items: list[Any]) -> list[float]:
    """Cotangents as plain floats."""
    return list(map(float, items))


_CALLED: Final[tuple[Any, ...]] = (
    *(accumulate, counted, number, array, chosen, as_taken, rewritten, no_nan, no_nan_if_infinite, undefined, buffer),
    *(dict_buffer, slots_buffer, record_buffer, begin_slots, begun_slots, blank, add_items, add_slice, add_run),
    *(list_gradient, part, named_part, numbers, seed, refill, zeros_like, add_at),
    *(add_item, add_part, first, fitted, surviving, folded, taken, number_gradient, array_gradient, float_list),
    *(object_gradients, sum_of_slots, add_early),
)
RUNTIME: Final[dict[str, Any]] = {function.__name__: function for function in _CALLED} | {"checking": Checking}

# What the typed pass may know of these functions

effects(begin_slots, add_at, add_early, add_item, add_items, add_part, add_run, add_slice, refill, rewritten)
MIRRORING.add(zeros_like)
LOOKING.update((no_nan, no_nan_if_infinite, no_nan_in_product, undefined))
effects(*LOOKING)
fresh(first, folded, array_gradient, zeros_like, number_gradient, object_gradients, len, type)
SUMS.update((accumulate, counted))
borrowing(accumulate, counted, part, named_part, array, fitted)


@typed(accumulate)
def sum_typing(site: Site, a: Operand, b: Operand) -> Fact | None:
    """The sum of cotangents, None being zero."""
    x, y = site.fact(a), site.fact(b)
    if isinstance(x, NumberFact) and isinstance(y, NumberFact):
        return x if x == y else None
    if not isinstance(x, ArrayFact) or not isinstance(y, ArrayFact):
        return None
    if x is NOTHING or y is NOTHING:
        return y if x is NOTHING else x
    if x.dtype != y.dtype or len(x.dims) != len(y.dims):
        return None
    if (x.optional or y.optional) and site.shapes.equal(x.dims, y.dims):
        return ArrayFact(x.dtype, x.dims, x.optional and y.optional)
    return None if x.optional or y.optional else site.elementwise(x.dtype, a, b)


@shortcut(accumulate)
def sum_shortcut(site: Site, a: Operand, b: Operand) -> Operand | None:
    """The sum of two cotangents that are there."""
    if site.is_number(a) and site.is_number(b):
        return site.emit("binary", a, b, data="+")
    if site.is_array(a) and site.is_array(b) and common_dtype(site.fact(a), site.fact(b)) is not None:
        return site.emit("binary", a, b, data="+") if site.alike(a, b) else None
    return None


@shortcut(part)
def part_shortcut(site: Site, cotangent: Operand, index: Operand) -> Operand | None:
    """An item of a list that was made just for this."""
    made, place = site.source(cotangent), site.value(index)
    return made.operands[place] if made is not None and made.op == "build_list" and type(place) is int else None


@typed(counted)
def counted_typing(site: Site, present: Operand, contribution: Operand) -> Fact | None:
    """The sum with what may be missing."""
    return sum_typing(site, present, contribution) if _is_there(site, contribution) else None


@shortcut(counted)
def counted_shortcut(site: Site, present: Operand, contribution: Operand) -> Operand | None:
    """The sum with what is not missing."""
    if not _is_there(site, contribution):
        return None
    if site.fact(present) is NOTHING or isinstance(present, Constant) and present.value == 0.0:
        return contribution
    return site.call(accumulate, present, contribution)


def _is_there(site: Site, operand: Operand) -> bool:
    return site.is_array(operand) or site.is_number(operand)


@typed(number)
def number_typing(site: Site, cotangent: Operand) -> Fact | None:
    """What a cotangent from outside is there."""
    return NumberFact(frozenset({float, np.float64}))


@typed(array)
def array_typing(site: Site, cotangent: Operand, value: Operand) -> Fact | None:
    """A cotangent from outside has the form of the value."""
    made = site.source(cotangent)
    while made is not None and made.callee is part:
        made = site.source(made.operands[1])
    if made is not None and made.op == "resume" or site.is_double(cotangent):
        return site.fact(value) if site.is_double(value) else None
    return None


@shortcut(number_gradient)
def number_gradient_shortcut(site: Site, value: Operand, cotangent: Operand) -> Operand | None:
    """A float, if nothing else is to be done."""
    known, fact = site.fact(value), site.fact(cotangent)
    if not isinstance(known, NumberFact) or known.types != {float} or not site.is_floating(cotangent):
        return None
    return cotangent if isinstance(fact, NumberFact) and fact.types == {float} else site.call(float, cotangent)


@shortcut(array)
def array_shortcut(site: Site, cotangent: Operand, value: Operand) -> Operand | None:
    """A cotangent that is not missing."""
    return cotangent if _is_there(site, cotangent) else None


@shortcut(array_gradient)
def gradient_shortcut(site: Site, value: Operand, cotangent: Operand) -> Operand | None:
    """A copy, if nothing else is to be done; that may go if the cotangent is nobody else's."""
    if not site.is_double(value) or not site.alike(value, cotangent) or not site.is_double(cotangent):
        return None
    number = site.dense(cotangent)
    if number is not cotangent:
        return site.call(array_gradient, value, number)
    return site.method("copy", cotangent)


@typed(array_gradient, zeros_like)
def alike_typing(site: Site, array: Operand, *cotangent: Operand) -> Fact | None:
    """Like the array."""
    return site.fact(array) if site.is_double(array) else None


@shortcut(add_part)
def add_part_shortcut(site: Site, part: Operand, cotangent: Operand) -> Operand | None:
    """Add what is there."""
    if site.is_array(part) and _is_there(site, cotangent):
        return site.emit("inplace", part, site.dense(cotangent), data="+")
    return None


@shortcut(first)
def first_shortcut(site: Site, cotangent: Operand, value: Operand) -> Operand | None:
    """A copy, if that is all."""
    alike = site.is_double(value) and site.is_double(cotangent) and site.alike(value, cotangent)
    return site.method("copy", cotangent) if alike else None


@typed(first, fitted)
def first_typing(site: Site, cotangent: Operand, value: Operand) -> Fact | None:
    """Like the array."""
    return site.fact(value) if site.is_double(value) else None


@shortcut(fitted)
def fitted_shortcut(site: Site, cotangent: Operand, value: Operand) -> Operand | None:
    """What was not broadcast."""
    alike = site.is_double(value) and site.is_double(cotangent) and site.alike(value, cotangent)
    return cotangent if alike else None
