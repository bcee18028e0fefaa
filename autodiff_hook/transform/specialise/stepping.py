"""Iterators that are asked for single items: the program is followed again, with objects that have a place."""

from __future__ import annotations

from typing import Any

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.semantics.equivalents import count
from autodiff_hook.semantics.equivalents.cursors import CURSORS
from autodiff_hook.transform.specialise.abstract import List, Producer, Tuple
from autodiff_hook.transform.specialise.bodies import Changes
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lists import maker


def cursor_class(inf: Inference, s: Statement, function: Any) -> type | None:
    """The class of the object that stands for the iterator which a call makes; None if it stands for itself."""
    return CURSORS[function] if function in CURSORS and _place_of(s) in inf.program.changed else None


def ask_for_cursor(inf: Inference, operand: Operand) -> None:
    """An item is asked for of what may have been used before, or will be later."""
    kind, made = inf.type_of(operand), maker(inf, inf.final(operand))
    if isinstance(kind, Producer):
        made = kind.made if kind.made.data.code is count.__code__ else None
    elif made is not None and (made.op != "get_iter" or not isinstance(inf.type_of(made.operands[0]), (List, Tuple))):
        made = None
    if made is not None:
        raise Changes("an iterator is asked for single items", _place_of(made))


def _place_of(s: Statement) -> tuple[Any, ...]:
    return "stepped", s.position
