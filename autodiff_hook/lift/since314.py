"""What the opcodes mean that 3.14 and 3.15 brought or changed."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.emit.helpers import async_exit_of, exit_of
from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.lift import control, values
from autodiff_hook.lift.abstract import NULL, Machine, Marker, Meaning

# 3.14

_COMMON: Final = (AssertionError, NotImplementedError, tuple, all, any, list, set, None, "", True, False, -1)
"""What LOAD_COMMON_CONSTANT knows; 3.14 the first five."""

_SUBSCRIPT: Final = 26


def _load_common_constant(m: Machine, arg: int) -> None:
    m.push(Constant(_COMMON[arg]))


def _load_small_int(m: Machine, number: int) -> None:
    m.push(Constant(number))


def _binary_op(m: Machine, arg: int) -> None:
    if arg == _SUBSCRIPT:
        m.perform("getitem", *m.pop_many(2))
    else:
        values.binary_op(m, arg)


def _call(m: Machine, count: int) -> None:
    """A call, the entry of a with statement, or what gives a generator to a loop that does without GET_ITER."""
    if count == 0 and isinstance(marker := m.slot(2), Special):
        _enter(m, _ENTRIES[marker])
        return
    if count == 1 and isinstance(f := m.slot(3), Constant) and any(f.value is x for x in _BINDING):
        for _ in range(3):
            m.drop()
        m.push_marker(_BOUND_EXIT)
        return
    control.invoke(m, count)
    if _feeds_loop(m):
        m.push(m.emit("get_iter", m.pop(), data=values.STARTED))


def _feeds_loop(m: Machine) -> bool:
    """Whether the value just pushed goes into a loop; from 3.15 on there is a slot above it."""
    following = m.upcoming
    if following is not None and following.name == "PUSH_NULL":
        following = m.after(following)
    return following is not None and following.name == "FOR_ITER"


def _call_function_ex(m: Machine, arg: int) -> None:
    keywords = m.pop_slot()
    if isinstance(keywords, Marker):
        keywords = control.NONE
    control.call_unpacked(m, m.pop(), keywords)


class Special(Marker):
    """A method that a with statement looks up on the type of the object in the slot above."""

    __slots__ = ()


_SPECIALS: Final = tuple(map(Special, ("__enter__", "__exit__", "__aenter__", "__aexit__")))
_ENTRIES: Final = {_SPECIALS[0]: "enter", _SPECIALS[2]: "enter_async"}
_BINDING: Final = (exit_of, async_exit_of)
"""What emitted code has in the place of the lookup of an exit."""
_BOUND_EXIT: Final = Special("__exit__")


def _load_special(m: Machine, which: int) -> None:
    manager = m.pop()
    m.push_marker(_SPECIALS[which])
    m.push(manager)


def _enter(m: Machine, op: str) -> None:
    """The stack holds the pair of the exit, or the bound exit, and above it the pair of the entry, which is called."""
    manager = m.pop()
    m.drop()
    bound = m.slot(1) is _BOUND_EXIT
    for _ in range(1 if bound else 2):
        m.drop()
    pair = m.emit(op, manager)
    m.project(pair, 0)
    if not bound:
        m.push_marker(NULL)
    m.project(pair, 1)


def _with_except_start(m: Machine, arg: int) -> None:
    m.perform("exit_call", m.peek(5), m.peek())


def _build_interpolation(m: Machine, arg: int) -> None:
    """A t-string holds the value itself: the call of a class that says nothing about derivatives."""
    from string.templatelib import Interpolation  # type: ignore[import-not-found, unused-ignore]

    value, text, *spec = m.pop_many(3 if arg & 1 else 2)
    conversion = Constant(values.CONVERSIONS[arg >> 2] or None)
    m.perform("call", Constant(Interpolation), value, text, conversion, *(spec or [Constant("")]), data=())


def template(*parts: Any) -> Any:
    """A template of alternating strings and interpolations. Its class takes no keywords, not even none of them."""
    from string.templatelib import Template  # type: ignore[import-not-found, unused-ignore]

    return Template(*parts)


def _build_template(m: Machine, arg: int) -> None:
    strings, interpolations = (_items(m, x) for x in m.pop_many(2))
    parts = [x for pair in zip(strings, interpolations) for x in pair]
    m.perform("call", Constant(template), *parts, *strings[len(interpolations) :], data=())


def _items(m: Machine, display: Operand) -> list[Operand]:
    """The items of a tuple that is written out."""
    if isinstance(display, Constant):
        return list(map(Constant, display.value))
    made: Statement | None = m.made.get(display) if isinstance(display, Variable) else None
    if made is None or made.op != "build_tuple":
        m.refuse("a template that is completed far from its parts")
    return list(made.operands)


SINCE_314: Final[dict[str, Meaning]] = {
    "NOT_TAKEN": values.skip,
    "LOAD_FAST_BORROW": values.load_fast,
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": values.both(values.load_fast, values.load_fast),
    "LOAD_SMALL_INT": _load_small_int,
    "LOAD_COMMON_CONSTANT": _load_common_constant,
    "BINARY_OP": _binary_op,
    "CALL": _call,
    "CALL_FUNCTION_EX": _call_function_ex,
    "LOAD_SPECIAL": _load_special,
    "WITH_EXCEPT_START": _with_except_start,
    "BUILD_INTERPOLATION": _build_interpolation,
    "BUILD_TEMPLATE": _build_template,
    "POP_ITER": values.pop_top,
}

# 3.15: an iterator, and what a generator delegates to, has two slots; the upper one is the interpreter's own.

_DELEGATED: Final = 3


def _get_iter(m: Machine, how: int) -> None:
    m.perform("yield_from_iter" if how == _DELEGATED else "get_iter", m.pop())
    m.push_marker(NULL)


def _for_iter(m: Machine, arg: int) -> None:
    iterator = m.peek(2)
    m.terminate("next", [iterator], [m.receiving_edge(m.instruction.following), m.edge(m.target, junk=1)])


def _pop_iter(m: Machine, arg: int) -> None:
    m.drop()
    m.drop()


def _send(m: Machine, arg: int) -> None:
    value = m.pop()
    m.terminate("send", [m.peek(2), value], [m.receiving_edge(m.instruction.following), m.receiving_edge(m.target)])


def _end_send(m: Machine, arg: int) -> None:
    value = m.pop()
    m.drop()
    m.drop()
    m.push(value)


def _cleanup_throw(m: Machine, arg: int) -> None:
    last, error = m.pop_many(2)
    m.drop()
    pair = m.emit("cleanup_throw", m.pop(), last, error)
    m.project(pair, 0)
    m.push_marker(NULL)
    m.project(pair, 1)


def _import_name(m: Machine, arg: int) -> None:
    """The low bits say whether an import may be lazy, which none in a function is."""
    values.import_name(m, arg >> 2)


SINCE_315: Final[dict[str, Meaning]] = {
    "GET_ITER": _get_iter,
    "FOR_ITER": _for_iter,
    "POP_ITER": _pop_iter,
    "SEND": _send,
    "END_SEND": _end_send,
    "CLEANUP_THROW": _cleanup_throw,
    "IMPORT_NAME": _import_name,
}
