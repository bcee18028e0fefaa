"""Shapes by example: a function is called with arrays of other lengths, by which those of its result are recognized."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.native import apart_by_name
from autodiff_hook.transform.improve.facts import ArrayFact, Dim, Fact, NumberFact, Symbol, is_floating
from autodiff_hook.transform.improve.site import Site


class Lengths:
    """The lengths of axes in an example: each symbol has one of its own."""

    def __init__(self, site: Site, first: int, step: int) -> None:
        self.site, self.first, self.step = site, first, step
        self.known: dict[Symbol, int] = {}

    def of(self, dim: Dim) -> int:
        """The length that stands for one."""
        dim = self.site.shapes.find(dim)
        if isinstance(dim, int):
            return dim
        if dim.longer is not None:
            return max(self.of(dim.longer[0]) - dim.longer[1], 0)
        length = self.known.setdefault(dim, self.first + self.step * len(self.known))
        if length < 1:
            raise LookupError
        return length

    def example(self, operand: Operand) -> Any:
        """What stands for an operand; ``LookupError`` if the shape of what is made of it may depend on more."""
        fact, items = self.site.fact(operand), self.site.items(operand)
        if isinstance(operand, Constant) and _is_fixed(operand.value):
            return operand.value
        if isinstance(fact, ArrayFact) and not fact.optional and fact.dtype.kind in "fcb":
            shape = tuple(map(self.of, fact.dims))
            if math.prod(shape) > _LARGEST:
                raise LookupError
            return np.ones(shape, fact.dtype)
        if isinstance(fact, NumberFact) and (is_floating(fact) or fact.dim is not None):
            return 1.0 if fact.dim is None else self.of(fact.dim)
        if items is None:
            raise LookupError
        return tuple(map(self.example, items))


_EXAMPLES: Final = ((7, 1), (40, -3), (1, 0))
"""The first length, and the step to the next one, of examples: no two lengths are in one relation, or all are one.

The least of some lengths is another one in the first two.
"""
_LARGEST: Final = 100_000


def by_example(site: Site, s: Statement, function: Any, operands: list[Operand]) -> Fact | None:
    """What is known of a result whose shape follows from the operands': which of its lengths are theirs in examples."""
    examples = [Lengths(site, *how) for how in _EXAMPLES]
    try:
        args = [[*map(each.example, operands)] for each in examples]
    except LookupError:
        return None
    forms = [id(x.value) if isinstance(x, Constant) else _form(arg) for x, arg in zip(operands, args[0])]
    key = (function, s.data, *examples[0].known, *forms)
    if key not in site.examples:
        site.examples[key] = _in_examples(site, partial(_called, function, s.data), examples, args)
    found = site.examples[key]
    if found is None:
        return None
    dtype, dims = found
    return ArrayFact(dtype, tuple(site.unknown()[0] if dim is None else dim for dim in dims))


def _in_examples(
    site: Site, call: Callable[[list[Any]], Any], examples: list[Lengths], args: list[list[Any]]
) -> tuple[Any, tuple[Dim | None, ...]] | None:
    """The dtype and the lengths of a result, None for those that are none of the operands'."""
    first, second, least = map(call, args)
    if any(type(x) is not np.ndarray or x.ndim != first.ndim or x.dtype != first.dtype for x in (first, second)):
        return None
    dims = tuple(_recognized(site, x, y, examples) for x, y in zip(first.shape, second.shape))
    shape = getattr(least, "shape", ())
    fits = len(shape) == len(dims) and all(d is None or examples[2].of(d) == n for d, n in zip(dims, shape))
    return (first.dtype, dims) if dims and (least is None or fits) else None


def _called(function: Any, names: tuple[str, ...], args: list[Any]) -> Any:
    """What a function gives; None where it raises, as it would in the program."""
    given, options = apart_by_name(args, names)
    try:
        with np.errstate(all="ignore"):
            return function(*given, **options)
    except Exception:
        return None


def _form(value: Any) -> Any:
    """What decides about the shape of what is made of a value."""
    if isinstance(value, tuple):
        return tuple(map(_form, value))
    return (value.shape, value.dtype) if hasattr(value, "shape") else value


def _recognized(site: Site, a: int, b: int, examples: list[Lengths]) -> Dim | None:
    """The length that is ``a`` in the first example and ``b`` in the second one."""
    if a == b:
        return a
    first, second = (each.known for each in examples[:2])
    return next((site.shapes.shorter(dim, n - a) for dim, n in first.items() if n - a == second[dim] - b >= 0), None)


def _is_fixed(value: Any) -> bool:
    """Whether a constant cannot be changed."""
    return all(map(_is_fixed, value)) if isinstance(value, tuple) else not isinstance(value, (list, dict, set))
