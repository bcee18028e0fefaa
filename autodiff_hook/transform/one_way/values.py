"""What is known of values at a step of one way."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Operand
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Container, Known

UNKNOWN: Final = object()
"""What ``known_value`` says of a value that is not known."""


def known_value(inf: Path, operand: Operand) -> Any:
    """A known value, in whatever lists and tuples; ``UNKNOWN`` if it is not known."""
    value = inf.type_of(operand)
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Container) and value.cls in (set, frozenset):
        return value.cls(inf.content(operand))
    if operand in inf.tuples or isinstance(value, Container) and value.cls is list:
        held = [known_value(inf, x) for x in parts(inf, operand)]
        if all(x is not UNKNOWN for x in held):
            return tuple(held) if operand in inf.tuples else held
    return UNKNOWN
