"""What opcodes that call, jump, raise and suspend do to the abstract machine."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from types import CodeType
from typing import Final

from autodiff_hook.ir.types import Constant, Operand, Variable
from autodiff_hook.lift.abstract import Machine, Marker, Meaning
from autodiff_hook.lift.frames import call_from_frame

NONE: Final = Constant(None)

# Calls


def invoke(m: Machine, count: int, keywords: tuple[str, ...] = ()) -> None:
    """Call what the two slots below ``count`` arguments hold, whatever the version's order is."""
    args = m.pop_many(count)
    above, below = m.pop_slot(), m.pop_slot()
    if isinstance(below, Marker) and below.method is not None and not isinstance(above, Marker):
        if below.loaded:
            m.perform("call_loaded", m.loaded_method(), *args, data=keywords)
        else:
            m.perform("call_method", above, *args, data=(below.method, keywords))
        return
    callees = [x for x in (below, above) if not isinstance(x, Marker)]
    function, args = callees[0], [*callees[1:], *args]
    if not args and _is_named(m, function, ("super",)):
        args = _arguments_of_super(m)
    asks = len(args) < 2 and not keywords and _is_named(m, function, _OF_FRAMES[len(args)])
    operands, names = call_from_frame(m, function, args) if asks else ([function, *args], keywords)
    m.perform("call", *operands, data=names)


_OF_FRAMES: Final = ("locals vars dir".split(), "eval exec".split())
"""Builtins that look at the variables of their caller, if they are called with so many arguments."""


def _is_named(m: Machine, function: Operand, names: Sequence[str]) -> bool:
    """Whether a function is found by one of these names: a global, or what may be one in the body of a class."""
    made = m.made.get(function) if isinstance(function, Variable) else None
    return made is not None and made.op in ("global", "name_get") and made.data in names


def _arguments_of_super(m: Machine) -> list[Operand]:
    """What ``super()`` would find in its caller's frame; nothing where it would fail."""
    if not m.code.co_argcount or "__class__" not in m.code.co_freevars:
        return []
    owner = m.emit("cell_get", m.read_local(m.slot_of_class()), data="__class__")
    first = m.read_local(0)
    if m.code.co_varnames[0] in m.code.co_cellvars:
        first = m.emit("cell_get", first, data=m.code.co_varnames[0])
    return [owner, first]


def push_method(m: Machine, name: str) -> None:
    """Replace an object by the pair of its method and itself."""
    obj = m.pop()
    m.push_method(name, None if _is_called_at_once(m) else m.emit("load_method", obj, data=name))
    m.push(obj)


_WITHOUT_EFFECTS: Final = (
    "LOAD_FAST LOAD_CONST LOAD_SMALL_INT LOAD_DEREF LOAD_GLOBAL LOAD_CLOSURE PUSH_NULL KW_NAMES NOP BUILD_TUPLE "
    "BUILD_LIST BUILD_SLICE MAKE_FUNCTION SET_FUNCTION_ATTRIBUTE"
).split()
"""How opcodes begin that run no code of the user's."""


def _is_called_at_once(m: Machine) -> bool:
    """Whether nothing that stands between the current instruction and its call can tell when a method is looked up."""
    pushed = 0
    for x in m.upcoming_all():
        if x.name in ("PRECALL", "CALL", "CALL_KW"):
            return pushed == x.arg + (x.name == "CALL_KW")
        if not x.name.startswith(tuple(_WITHOUT_EFFECTS)):
            return False
        number = dis.opmap[x.name]
        pushed += dis.stack_effect(number, x.arg if number >= dis.HAVE_ARGUMENT else None)
    return False


def call_ex(m: Machine, flags: int) -> None:
    keywords = m.pop() if flags & 1 else NONE
    call_unpacked(m, m.pop(), keywords)


def call_unpacked(m: Machine, args: Operand, keywords: Operand) -> None:
    """Call what the two topmost slots hold."""
    functions = [x for x in (m.pop_slot(), m.pop_slot()) if not isinstance(x, Marker)]
    if len(functions) != 1:
        m.refuse("a call with unpacked arguments in the method form")
    m.perform("call_ex", functions[0], args, keywords)


def make_function(m: Machine, flags: int) -> None:
    code: CodeType = m.pop_constant()
    parts = [m.pop() if flags & flag else NONE for flag in (8, 4, 2, 1)]
    m.perform("make_function", *parts[::-1], NONE, data=code)


# Control


def jump(m: Machine, arg: int) -> None:
    m.jump(m.target)


def jump_if(sense: bool) -> Meaning:
    """A jump that pops a value and is taken if its truth is ``sense``."""

    def meaning(m: Machine, arg: int) -> None:
        condition = m.truth(m.pop())
        edges = [m.edge(m.target), m.edge(m.instruction.following)]
        m.terminate("branch", [condition], edges if sense else edges[::-1])

    return meaning


def jump_if_none(sense: bool) -> Meaning:
    """A jump that pops a value and is taken if it is None, or if it is not."""

    def meaning(m: Machine, arg: int) -> None:
        condition = m.emit("is" if sense else "is_not", m.pop(), NONE)
        m.terminate("branch", [condition], [m.edge(m.target), m.edge(m.instruction.following)])

    return meaning


def return_value(m: Machine, arg: int) -> None:
    m.terminate("return", [m.pop()])


# Exceptions, with


def raise_varargs(m: Machine, count: int) -> None:
    m.terminate("raise", m.pop_many(count))


def reraise(m: Machine, depth: int) -> None:
    lasti = m.peek(depth + 1) if depth else NONE
    m.terminate("reraise", [m.pop(), lasti])


def push_exc_info(m: Machine, arg: int) -> None:
    exception = m.pop()
    m.perform("push_exc", exception)
    m.push(exception)


def pop_except(m: Machine, arg: int) -> None:
    m.effect("pop_exc", m.pop())


def check_exc_match(m: Machine, arg: int) -> None:
    kind = m.pop()
    m.perform("exc_match", m.peek(), kind)


def with_except_start(m: Machine, arg: int) -> None:
    m.perform("exit_call", m.peek(4), m.peek())


# Generators and async


def return_generator(m: Machine, arg: int) -> None:
    m.push(NONE)


def yield_value(m: Machine, arg: int) -> None:
    assert m.upcoming is not None
    value = m.pop()
    # An exception thrown in finds None in the place of what would have been sent.
    m.push(NONE)
    sent = m.emit("yield", value, data=(arg, m.upcoming.arg))
    m.drop()
    m.push(sent)


def get_awaitable(m: Machine, where: int) -> None:
    m.perform("awaitable", m.pop(), data=where)


def end_async_for(m: Machine, arg: int) -> None:
    m.effect("end_async_for", *m.pop_many(2))
