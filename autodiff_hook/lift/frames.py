"""``locals()``: what the names of a function hold goes into the call, or the namespace of the body of a class.

What is lifted has no such frame.
"""

from __future__ import annotations

import dis
from typing import Any

from autodiff_hook.ir.types import UNBOUND, Constant, Operand
from autodiff_hook.lift.abstract import Machine
from autodiff_hook.lift.code import is_function, parameter_names, slot_names


def names_held(function: Any, /, **held: Any) -> Any:
    """``locals()`` of a function whose names hold this; another function of that name is called as it is."""
    return held if function is locals else function()


def names_with_values(function: Any, /, **held: Any) -> Any:
    """The same, where some of the names may have no value."""
    return {name: value for name, value in held.items() if value is not UNBOUND} if function is locals else function()


def brought_up_to_date(function: Any, frame: Any, names: Any, /, **held: Any) -> Any:
    """The same, of a frame that has one dict for all calls: ``frame``, in which other names may have been stored."""
    if function is not locals:
        return function()
    for name in names:
        if held.get(name, UNBOUND) is UNBOUND:
            frame.pop(name, None)
        else:
            frame[name] = held[name]
    return frame


def namespace_of_body(function: Any, namespace: Any, /) -> Any:
    """``locals()`` or ``vars()`` in the body of a class."""
    return namespace if function is locals or function is vars else function()


def call_of_locals(m: Machine, function: Operand) -> tuple[list[Operand], tuple[str, ...]] | None:
    """What is called in the place of ``locals``, with what, and by which names; None if what a cell holds is not known.

    Names that have no value here, whatever way is taken, are left out.
    """
    code, slots = m.code, slot_names(m.code)
    if not is_function(code):
        return [Constant(namespace_of_body), function, m.namespace], ()
    if any(x.opname == "DELETE_DEREF" for x in dis.get_instructions(code)):
        return None
    held: dict[str, Operand] = {}
    instead = names_held
    for slot, (form, name) in enumerate(slots):
        value = m.read_local(slot)
        if form == "free" or name in code.co_cellvars:
            if form == "local" and name not in parameter_names(code):
                return None
            value = m.emit("cell_get", value, data=name)
        elif isinstance(value, Constant) and value.value is UNBOUND:
            continue
        elif not (m.is_bound(value) or m.certainly_bound(slot)):
            instead = names_with_values
        held[name] = value
    before: list[Operand] = [Constant(instead), function]
    if m.frame is not None:
        before = [Constant(brought_up_to_date), function, m.frame, Constant(tuple([name for _, name in slots]))]
    return [*before, *held.values()], tuple(held)
