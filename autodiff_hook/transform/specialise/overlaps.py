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


def is_read_first(views: list[Statement], key: Operand, type_of: Callable[[Operand], Abstract]) -> bool:
    """Whether what ``views``, from the array on, take of it steps as the part that ``key`` names, or the other way."""
    if any(s.op != "getitem" for s in views):
        return False
    keys = [type_of(s.operands[1]) for s in views]
    if len(keys) == 1 and None not in (steps := _steps(type_of(key))) and steps == _steps(keys[0]):
        return True
    written, read = _along(type_of(key)), [_along(other) for other in keys]
    if written is None or read[0] is None or read[0][0] != written[0]:
        return False
    step = 1
    for i, along in enumerate(read):
        if along is None or i and along[0] != 0:
            return False
        step *= along[1]
    return step == written[1] or step * written[1] < 0


def views_from(
    is_array: Callable[[Operand], bool], value: Operand, made: Callable[[Operand], Statement | None]
) -> list[Statement]:
    """The statements by which a view is made of an array, one of the other; none where that is not known."""
    found: list[Statement] = []
    while not is_array(value):
        s = made(value)
        if s is None or not s.operands:
            return []
        found.insert(0, s)
        value = s.operands[0]
    return found


def _along(key: Abstract) -> tuple[int, int] | None:
    """The one axis of which an index takes more than a place, and its step there; None if that is not known."""
    steps = [step_of(part) for part in parts_of(key)]
    along = [(i, step) for i, step in enumerate(steps) if step != 0] or [(len(steps), 1)]
    return along[0] if len(along) == 1 and isinstance(along[0][1], int) else None


def _steps(key: Abstract) -> tuple[Any, ...]:
    """How an index steps along each axis: None for what is not known, 0 for one place; without what takes all."""
    steps = [step_of(part) for part in parts_of(key)]
    while steps and steps[-1] == 1:
        steps.pop()
    return tuple(steps)


def step_of(part: Abstract) -> Any:
    """How a part of an index steps: None if that is not known, 0 for one place."""
    if number_types(part) is not None:
        return 0
    value = part.value if isinstance(part, Known) else part.example if isinstance(part, Instance) else None
    if value is Ellipsis:
        return value
    step = value.step if type(value) is slice else 0
    return 1 if step is None else step if isinstance(part, Known) else None
