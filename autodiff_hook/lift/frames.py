"""What looks for the variables of its caller (``locals()``, ``eval(text)``): what the names hold goes into the call.

What is lifted has no such frame. The functions here are called in the place of what the program calls, which may be
another function of that name.
"""

from __future__ import annotations

import dis
from types import CellType
from typing import Any

from autodiff_hook.ir.types import UNBOUND, Constant, Operand
from autodiff_hook.lift.abstract import Machine
from autodiff_hook.lift.code import is_function, parameter_names, slot_names


def in_namespace(function: Any, globals_: Any, namespace: Any, /, *text: Any) -> Any:
    """A call from where the variables are in a dict, as they are in the body of a class."""
    if function is locals or function is vars:
        return namespace
    if function is dir:
        return sorted(namespace)
    return function(*text, globals_, namespace) if function in (eval, exec) else function(*text)


def among_names(function: Any, globals_: Any, /, *text: Any, **held: Any) -> Any:
    """A call from a function whose names hold this."""
    return in_namespace(function, globals_, held, *text)


def among_names_with_values(function: Any, globals_: Any, /, *text: Any, **held: Any) -> Any:
    """The same, where some of the names may have no value."""
    found = {name: value for name, value in held.items() if value is not UNBOUND}
    return in_namespace(function, globals_, found, *text)


def in_frame(function: Any, globals_: Any, frame: Any, names: Any, /, *text: Any, **held: Any) -> Any:
    """The same, of a frame that has one dict for all calls: ``frame``, in which other names may have been stored."""
    for name in names:
        if held.get(name, UNBOUND) is UNBOUND:
            frame.pop(name, None)
        else:
            frame[name] = held[name]
    return in_namespace(function, globals_, frame, *text)


def content(cell: CellType) -> Any:
    """What a captured variable holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def call_from_frame(m: Machine, function: Operand, text: list[Operand]) -> tuple[list[Operand], tuple[str, ...]]:
    """What is called in the place of a function, with what, and by which names.

    Names that have no value here, whatever way is taken, are left out.
    """
    code, slots = m.code, slot_names(m.code)
    globals_: Operand = m.emit("call", Constant(globals), data=()) if text else Constant(None)
    if not is_function(code):
        return [Constant(in_namespace), function, globals_, m.namespace, *text], ()
    deletes = any(x.opname == "DELETE_DEREF" for x in dis.get_instructions(code))
    held: dict[str, Operand] = {}
    instead = among_names
    for slot, (form, name) in enumerate(slots):
        value = m.read_local(slot)
        if form == "free" or name in code.co_cellvars:
            if deletes or form == "local" and name not in parameter_names(code):
                value, instead = m.emit("call", Constant(content), value, data=()), among_names_with_values
            else:
                value = m.emit("cell_get", value, data=name)
        elif isinstance(value, Constant) and value.value is UNBOUND:
            continue
        elif not (m.is_bound(value) or m.certainly_bound(slot)):
            instead = among_names_with_values
        held[name] = value
    before: list[Operand] = [Constant(instead), function, globals_]
    if m.frame is not None:
        names = Constant(tuple([name for _, name in slots]))
        before = [Constant(in_frame), function, globals_, m.frame, names]
    return [*before, *text, *held.values()], tuple(held)
