"""Stores of what shows an array into the array: ``runtime/overlaps.py`` says what NumPy makes of some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Instance, Known
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.parts import is_basic_key, parts_of


def may_be_overwritten(owner: Abstract, key: Abstract, value: Abstract) -> bool:
    """Whether a store of what shows ``owner`` is one along one axis."""
    if not isinstance(value, Array) or value.scalar or not value.ndim or not isinstance(owner, Array):
        return False
    if not is_basic_key(key):
        return False
    return owner.ndim is None or owner.ndim - sum(number_types(p) is not None for p in parts_of(key)) == 1


def is_whole(key: Abstract) -> bool:
    """Whether an index takes all of an array: what shows that then has its steps, or those from the end."""
    return isinstance(key, Known) and (key.value is Ellipsis or key.value == slice(None))


def steps_alike(made: Statement, key: Operand, type_of: Callable[[Operand], Abstract]) -> bool:
    """Whether what a statement takes of an array steps as the part of the same array does that ``key`` names."""
    steps = _steps(type_of(key))
    return made.op == "getitem" and None not in steps and steps == _steps(type_of(made.operands[1]))


def _steps(key: Abstract) -> tuple[Any, ...]:
    """How an index steps along each axis: None for what is not known, 0 for one place; without what takes all."""
    steps = [_step(part) for part in parts_of(key)]
    while steps and steps[-1] == 1:
        steps.pop()
    return tuple(steps)


def _step(part: Abstract) -> Any:
    if number_types(part) is not None:
        return 0
    value = part.value if isinstance(part, Known) else part.example if isinstance(part, Instance) else None
    if value is Ellipsis:
        return value
    step = value.step if type(value) is slice else 0
    return 1 if step is None else step if isinstance(part, Known) else None
