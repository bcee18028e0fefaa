"""``locals()`` in a function: what its names hold goes into the call, as what is lifted has no such frame."""

from __future__ import annotations

import dis
import sys
from typing import Any, Final

from autodiff_hook.ir.types import UNBOUND, Constant, Operand
from autodiff_hook.lift.abstract import Machine
from autodiff_hook.lift.code import is_function, parameter_names, slot_names

_IS_ONE: Final = sys.version_info < (3, 13)
"""Whether the dict of a frame is one, which each call of ``locals`` brings up to date."""


def names_held(function: Any, /, **held: Any) -> Any:
    """``locals()`` of a function whose names hold this; another function of that name is called as it is."""
    return held if function is locals else function()


def held_by_names(m: Machine) -> dict[str, Operand] | None:
    """What the names of the function hold here, those without a value left out; None if that is not known."""
    code, instructions = m.code, list(dis.get_instructions(m.code))
    if not is_function(code) or any(x.opname == "DELETE_DEREF" for x in instructions):
        return None
    if _IS_ONE and (m.comes_again() or sum(x.argval == "locals" for x in instructions) > 1):
        return None
    held: dict[str, Operand] = {}
    for slot, (form, name) in enumerate(slot_names(code)):
        value = m.read_local(slot)
        if form == "free" or name in code.co_cellvars:
            if form == "local" and name not in parameter_names(code):
                return None
            value = m.emit("cell_get", value, data=name)
        elif isinstance(value, Constant) and value.value is UNBOUND:
            continue
        elif not (m.is_bound(value) or m.certainly_bound(slot)):
            return None
        held[name] = value
    return held
