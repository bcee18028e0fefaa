"""What opcodes do to the names of a class body, which are in a mapping: the one parameter of its IR."""

from __future__ import annotations

from typing import Final

from autodiff_hook.ir.types import Constant
from autodiff_hook.lift.abstract import Machine, Meaning
from autodiff_hook.lift.code import is_class_body


def _load_name(m: Machine, arg: int) -> None:
    m.perform("name_get", m.namespace, data=m.names[arg])


def _store_name(m: Machine, arg: int) -> None:
    m.effect("setitem", m.namespace, Constant(m.names[arg]), m.pop())


def _delete_name(m: Machine, arg: int) -> None:
    m.effect("name_del", m.namespace, data=m.names[arg])


def _load_class_cell(m: Machine, slot: int) -> None:
    m.perform("name_or_cell_get", m.namespace, m.read_local(slot), data=m.local_name(slot))


def _refuse_scopes(m: Machine) -> None:
    """Refuse the scopes within a class body that are functions, but see its names: those of annotations."""
    if not is_class_body(m.code):
        m.refuse(f"the opcode {m.instruction.name}")


def _load_from_dict_or_cell(m: Machine, slot: int) -> None:
    _refuse_scopes(m)
    m.perform("name_or_cell_get", m.pop(), m.read_local(slot), data=m.local_name(slot))


def _load_from_dict_or_globals(m: Machine, arg: int) -> None:
    _refuse_scopes(m)
    m.perform("name_get", m.pop(), data=m.names[arg])


def _load_locals(m: Machine, arg: int) -> None:
    m.push(m.namespace)


def _setup_annotations(m: Machine, arg: int) -> None:
    m.effect("setup_annotations", m.namespace)


CLASS_BODIES: Final[dict[str, Meaning]] = {
    "LOAD_NAME": _load_name,
    "STORE_NAME": _store_name,
    "DELETE_NAME": _delete_name,
    "SETUP_ANNOTATIONS": _setup_annotations,
}

CLASS_BODIES_311: Final[dict[str, Meaning]] = {"LOAD_CLASSDEREF": _load_class_cell}
CLASS_BODIES_SINCE_312: Final[dict[str, Meaning]] = {
    "LOAD_FROM_DICT_OR_DEREF": _load_from_dict_or_cell,
    "LOAD_FROM_DICT_OR_GLOBALS": _load_from_dict_or_globals,
    "LOAD_LOCALS": _load_locals,
}
