"""What opcodes that move and make values do to the abstract machine, and those of the names of a class body."""

from __future__ import annotations

from typing import Final

from autodiff_hook.ir.types import UNBOUND, Constant, Variable, is_nothing
from autodiff_hook.lift.abstract import NULL, Machine, Meaning
from autodiff_hook.lift.code import is_function

COMPARISONS: Final = ("<", "<=", "==", "!=", ">", ">=")
STARTED: Final = "started"
CONVERSIONS: Final = ("", "s", "r", "a")
_BINARY: Final = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")

# Families of opcodes


def skip(m: Machine, arg: int) -> None:
    """Nothing to do: the emitter writes its own prologue and call conventions."""


def operation(op: str, count: int, data: object = None) -> Meaning:
    """An opcode that pops ``count`` operands and pushes the result of ``op``."""

    def meaning(m: Machine, arg: int) -> None:
        m.perform(op, *m.pop_many(count), data=data)

    return meaning


def collection(op: str) -> Meaning:
    """An opcode that builds a container of as many values as its argument says."""

    def meaning(m: Machine, arg: int) -> None:
        m.perform(op, *m.pop_many(arg))

    return meaning


def extension(op: str, count: int) -> Meaning:
    """An opcode that adds ``count`` operands to a container further down the stack."""

    def meaning(m: Machine, arg: int) -> None:
        operands = m.pop_many(count)
        m.effect(op, m.peek(arg), *operands)

    return meaning


def inspection(op: str, count: int) -> Meaning:
    """An opcode that pushes something about the ``count`` topmost values and leaves them."""

    def meaning(m: Machine, arg: int) -> None:
        m.perform(op, *(m.peek(depth) for depth in range(count, 0, -1)))

    return meaning


def pair(op: str, count: int) -> Meaning:
    """An opcode whose operation gives two values."""

    def meaning(m: Machine, arg: int) -> None:
        m.project(m.emit(op, *m.pop_many(count)), 0, 1)

    return meaning


def test(positive: str, negative: str) -> Meaning:
    """A comparison that is negated if the argument is set."""

    def meaning(m: Machine, arg: int) -> None:
        m.perform(negative if arg else positive, *m.pop_many(2))

    return meaning


def named(op: str) -> Meaning:
    """An operation on the name that the argument denotes, with no operands."""

    def meaning(m: Machine, arg: int) -> None:
        m.effect(op, data=m.names[arg])

    return meaning


def both(first: Meaning, second: Meaning) -> Meaning:
    """An opcode that does what two do, each for one half of its argument."""

    def meaning(m: Machine, arg: int) -> None:
        first(m, arg >> 4)
        second(m, arg & 15)

    return meaning


# Locals, cells, globals


def load_const(m: Machine, arg: int) -> None:
    m.push(Constant(m.code.co_consts[arg]))


def load_fast(m: Machine, slot: int) -> None:
    value = m.read_local(slot)
    takes_from_iterator = m.upcoming is not None and m.upcoming.name == "FOR_ITER"
    if m.local_name(slot) == ".0" and takes_from_iterator:
        value = m.emit("get_iter", value, data=STARTED)
    m.push(value)


def check(m: Machine, slot: int) -> None:
    """Let only bound values of a local pass."""
    value = m.read_local(slot)
    if not m.is_bound(value):
        m.write_local(slot, m.emit("check", value, data=m.local_name(slot)))


def load_fast_check(m: Machine, slot: int) -> None:
    check(m, slot)
    m.push(m.read_local(slot))


def load_fast_and_clear(m: Machine, slot: int) -> None:
    m.push(m.read_local(slot))
    m.write_local(slot, Constant(UNBOUND))


def store_fast(m: Machine, slot: int) -> None:
    value = m.pop()
    # What has a place already is not stored again, which would let go of what was there.
    placed = isinstance(value, Constant) or value.name is not None
    held = m.read_local(slot) if m.lifetimes and placed else None
    m.write_local(slot, value)
    if isinstance(held, Variable) and held is not value:
        m.effect("forget", held, data=is_nothing(value))


def delete_fast(m: Machine, slot: int) -> None:
    check(m, slot)
    held = m.read_local(slot)
    if m.lifetimes and isinstance(held, Variable):
        m.effect("forget", held, data=True)
    m.write_local(slot, Constant(UNBOUND))


def make_cell(m: Machine, slot: int) -> None:
    m.write_local(slot, m.emit("make_cell", m.read_local(slot)))


def load_closure(m: Machine, slot: int) -> None:
    m.push(m.read_local(slot))


def load_deref(m: Machine, slot: int) -> None:
    m.perform("cell_get", m.read_local(slot), data=m.local_name(slot))


def store_deref(m: Machine, slot: int) -> None:
    m.effect("cell_set", m.read_local(slot), m.pop(), data=m.local_name(slot))


def delete_deref(m: Machine, slot: int) -> None:
    m.effect("cell_del", m.read_local(slot), data=m.local_name(slot))


def store_global(m: Machine, arg: int) -> None:
    m.effect("store_global", m.pop(), data=m.names[arg])


# Stack


def push_null(m: Machine, arg: int) -> None:
    m.push_marker(NULL)


def pop_top(m: Machine, arg: int) -> None:
    m.drop()


def copy(m: Machine, depth: int) -> None:
    m.put(m.slot(depth))


def swap(m: Machine, depth: int) -> None:
    m.swap(depth)


# Operators, attributes, items


def binary_op(m: Machine, arg: int) -> None:
    op = "inplace" if arg >= len(_BINARY) else "binary"
    m.perform(op, *m.pop_many(2), data=_BINARY[arg % len(_BINARY)])


def store_attr(m: Machine, arg: int) -> None:
    value, container = m.pop_many(2)
    m.effect("setattr", container, value, data=m.names[arg])


def delete_attr(m: Machine, arg: int) -> None:
    m.effect("delattr", m.pop(), data=m.names[arg])


def store_subscr(m: Machine, arg: int) -> None:
    value, container, key = m.pop_many(3)
    m.effect("setitem", container, key, value)


def delete_subscr(m: Machine, arg: int) -> None:
    m.effect("delitem", *m.pop_many(2))


# Containers


def build_map(m: Machine, count: int) -> None:
    m.perform("build_map", *m.pop_many(2 * count))


def build_const_key_map(m: Machine, count: int) -> None:
    keys = m.pop_constant()
    pairs = zip(keys, m.pop_many(count), strict=True)
    m.perform("build_map", *(x for key, value in pairs for x in (Constant(key), value)))


def unpack_sequence(m: Machine, count: int) -> None:
    m.project(m.emit("unpack", m.pop(), data=(count, None)), *reversed(range(count)))


def unpack_ex(m: Machine, arg: int) -> None:
    before, after = arg & 0xFF, arg >> 8
    m.project(m.emit("unpack", m.pop(), data=(before, after)), *reversed(range(before + 1 + after)))


# Match, import


def match_class(m: Machine, count: int) -> None:
    m.perform("match_class", *m.pop_many(3), data=count)


def import_name(m: Machine, arg: int) -> None:
    m.perform("import_name", *m.pop_many(2), data=m.names[arg])


def import_from(m: Machine, arg: int) -> None:
    m.perform("import_from", m.peek(), data=m.names[arg])


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
    if is_function(m.code):
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
