"""NumPy's objects whose items are made of the index: ``mgrid``, ``ogrid``, ``r_``, ``c_`` and ``s_``."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Container, Known, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import call_known
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import differentiable, inert_class, is_number_of
from autodiff_hook.transform.specialise.plans import alias, items_of, pure, require_inert
from autodiff_hook.transform.specialise.results import is_grid, outcome
from autodiff_hook.transform.specialise.ruled import array_before

_JOINED: Final = {type(np.r_): (np.hstack, np.vstack), type(np.c_): (np.column_stack, np.column_stack)}
"""What joins numbers and arrays with one axis, and what joins matrices."""
_NUMBERS: Final = frozenset({int, float, bool, np.float64, np.int64})
_DTYPES: Final = "dl?"


def item_of_grid(inf: Inference, s: Statement, grid: Any, key: Operand) -> Abstract | None:
    """``grid[key]``."""
    kind = inf.type_of(key)
    if grid is np.s_:
        return alias(inf, s, key)
    items = items_of(kind)
    inert = all(inert_class(x) is slice for x in items or (kind,))
    if inert or not is_joined(grid):
        if differentiable(kind):
            raise Refused("a grid of what is differentiated")
        require_inert(kind)
        return pure(inf, s, outcome(operator.getitem, [inf.type_of(s.operands[0]), kind], {}))
    if items is None:
        return joined(inf, s, grid, [key])
    return joined(inf, s, grid, [inf.before(s, "project", [key], i) for i in range(len(items))])


def is_joined(value: Any) -> bool:
    """Whether the items of an object are its index put together."""
    return is_grid(value) and type(value) in _JOINED


def joined(inf: Inference, s: Statement, grid: Any, parts: list[Operand]) -> Abstract | None:
    """``np.r_[a, b]``, ``np.r_["-1", a, b]`` and ``np.c_[a, b]``, as the functions that do the same."""
    axis = _said_axis(inf.type_of(parts[0])) if grid is np.r_ else None
    if axis is not None:
        return _along(inf, s, axis, [_part(inf, s, grid, part) for part in parts[1:]])
    whole = [_part(inf, s, grid, part) for part in parts]
    ranks = {_rank(inf.type_of(part)) for part in whole}
    if not (ranks <= {0, 1} or ranks == {2} or ranks <= {1, 2} and grid is np.c_):
        raise Refused("a grid of arrays with several numbers of axes")
    function = _JOINED[type(grid)][ranks == {2}]
    together = inf.before(s, "build_tuple", whole)
    s.op, s.operands, s.data = "call", [Constant(function), together], ()
    return call_known(inf, s, function, [together], {})


def _said_axis(kind: Abstract) -> int | None:
    """The axis that a text before the parts says, if it says nothing else."""
    text = kind.value if isinstance(kind, Known) and type(kind.value) is str else ""
    return int(text) if text.removeprefix("-").isdecimal() else None


def _along(inf: Inference, s: Statement, axis: int, parts: list[Operand]) -> Abstract | None:
    ranks = {_rank(inf.type_of(part)) for part in parts}
    if len(ranks) != 1 or 0 in ranks:
        raise Refused("a grid of arrays with several numbers of axes")
    together = inf.before(s, "build_tuple", parts)
    s.op, s.operands, s.data = "call", [Constant(np.concatenate), together, Constant(axis)], ("axis",)
    return call_known(inf, s, np.concatenate, [together], {"axis": Constant(axis)})


def _part(inf: Inference, s: Statement, grid: Any, part: Operand) -> Operand:
    kind = inf.type_of(part)
    if inert_class(kind) is slice:
        return inf.before(s, "getitem", [Constant(grid), part])
    if isinstance(kind, (Tuple, Container)) and kind.cls in (list, tuple):
        return array_before(inf, s, part)
    return part


def _rank(kind: Abstract) -> int:
    if is_number_of(kind, _NUMBERS):
        return 0
    if (
        not isinstance(kind, Array)
        or kind.scalar
        or kind.ndim is None
        or kind.dtype is None
        or kind.dtype.char not in _DTYPES
    ):
        raise Refused("a grid of other things than numbers and arrays of doubles or ints")
    return kind.ndim
