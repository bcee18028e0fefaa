"""Sorting, and the greatest and least, on one way: each comparison decides about the way."""

from __future__ import annotations

import functools

from autodiff_hook.ir.types import Constant, Operand, Statement, is_nothing
from autodiff_hook.transform.one_way import containers
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.values import UNKNOWN, known_value
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import (
    number_types,
)

Args = list[Operand]


def sorted_(inf: Path, s: Statement, args: Args, kwargs: dict[str, Operand]) -> Abstract | None:
    """``sorted(items, key=…, reverse=…)``: each comparison decides about the way."""
    held = list(parts(inf, args[0]))
    key, backwards = kwargs.get("key", Constant(None)), bool(inf.pin(kwargs.get("reverse", Constant(False))))
    keys = held if is_nothing(key) else [inf.call(key, [x]) for x in held]
    known = [known_value(inf, k) for k in keys]
    order = list(range(len(held)))
    if all(v is not UNKNOWN for v in known):
        order.sort(key=known.__getitem__, reverse=backwards)
    else:

        def difference(i: int, j: int) -> int:
            return compared(inf, keys[i], keys[j])

        order.sort(key=functools.cmp_to_key(difference), reverse=backwards)
    return containers.new(inf, list, [held[i] for i in order])


def compared(inf: Path, a: Operand, b: Operand) -> int:
    """-1, 0 or 1, as a number is less than another one, equal or greater."""
    for value in (inf.type_of(a), inf.type_of(b)):
        if number_types(value) is None and not is_object(value):
            raise Refused("a sequence that is sorted")
    if inf.pin(inf.perform("truth", [inf.perform("compare", [a, b], "<")])):
        return -1
    return 1 if inf.pin(inf.perform("truth", [inf.perform("compare", [b, a], "<")])) else 0
