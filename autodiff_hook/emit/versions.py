"""What differs between the supported versions of CPython."""

from __future__ import annotations

import sys
from typing import Any, Final

from autodiff_hook.emit import helpers
from autodiff_hook.emit.items import NO_ARG, NULL, CellVar, FreeVar, Label, Null
from autodiff_hook.ir.types import Constant, Operand, is_nothing

VERSION: Final = sys.version_info[:2]
PY312: Final = VERSION >= (3, 12)
PY313: Final = VERSION >= (3, 13)
PY314: Final = VERSION >= (3, 14)

Code = tuple[str, Any]

_BINARY: Final = {
    symbol: number
    for number, symbol in enumerate(("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"))
}
_COMPARE: Final = {symbol: number for number, symbol in enumerate(("<", "<=", "==", "!=", ">", ">="))}
_COMPARE_MASK: Final = (2, 2 | 8, 8, 1 | 2 | 4, 4, 4 | 8)
"""For the specialised forms: bits for unordered (1), less (2), greater (4), equal (8)."""


def binary(symbol: str, inplace: bool) -> Code:
    """``a symbol b`` or ``a symbol= b``."""
    number = _BINARY[symbol]
    return "BINARY_OP", number + len(_BINARY) if inplace else number


def compare(symbol: str, cast: bool) -> Code:
    """A comparison; with ``cast`` (of effect in 3.13+) its result is an exact bool."""
    number = _COMPARE[symbol]
    if not PY312:
        return "COMPARE_OP", number
    mask = _COMPARE_MASK[number]
    return "COMPARE_OP", mask | (number << 5 | cast << 4 if PY313 else number << 4)


def truth_test() -> list[Code]:
    """What a conditional jump and UNARY_NOT need before them if the operand may be no exact bool."""
    return [("TO_BOOL", NO_ARG)] if PY313 else []


def truth() -> list[Code]:
    """``bool(x)``."""
    return truth_test() or [("UNARY_NOT", NO_ARG), ("UNARY_NOT", NO_ARG)]


def intrinsic(number: int, count: int) -> list[Code]:
    """CALL_INTRINSIC_1 and 2 and what they were before they existed."""
    if PY312:
        return [(f"CALL_INTRINSIC_{count}", number)]
    before = {(5, 1): "UNARY_POSITIVE", (6, 1): "LIST_TO_TUPLE", (4, 1): "ASYNC_GEN_WRAP", (1, 2): "PREP_RERAISE_STAR"}
    return [(before[number, count], NO_ARG)]


def callable_and_null(function: Operand) -> list[Operand | Null]:
    """A callable that is not a method, as the calling convention wants it."""
    return [function, NULL] if NULL_ABOVE else [NULL, function]


def call(count: int, names: tuple[str, ...] | None) -> list[Code]:
    """The call itself, after callable and arguments."""
    if PY313:
        return [("LOAD_CONST", names), ("CALL_KW", count)] if names else [("CALL", count)]
    keywords: list[Code] = [("KW_NAMES", names)] if names else []
    return [*keywords, ("CALL", count)] if PY312 else [*keywords, ("PRECALL", count), ("CALL", count)]


def call_unpacked(function: Operand, arguments: Operand, keywords: Operand) -> tuple[list[Operand | Null], Code]:
    """``function(*arguments, **keywords)``: what is pushed, and the call."""
    absent = is_nothing(keywords)
    pushed = [*callable_and_null(function), arguments]
    if PY314:
        return [*pushed, NULL if absent else keywords], ("CALL_FUNCTION_EX", NO_ARG)
    return pushed if absent else [*pushed, keywords], ("CALL_FUNCTION_EX", int(not absent))


def attribute(name: str) -> Code:
    """``o.name``."""
    return "LOAD_ATTR", (False, name) if PY312 else name


def method(name: str) -> Code:
    """``o.name`` about to be called: two values."""
    return ("LOAD_ATTR", (True, name)) if PY312 else ("LOAD_METHOD", name)


def load_cell(cell: CellVar | FreeVar) -> Code:
    """The cell itself."""
    return "LOAD_FAST" if PY313 else "LOAD_CLOSURE", cell


def formatting(conversion: str, spec: bool) -> list[Code]:
    """A piece of an f-string."""
    kind = ("", "s", "r", "a").index(conversion)
    if not PY313:
        return [("FORMAT_VALUE", kind | (4 if spec else 0))]
    if not spec:
        return [*([("CONVERT_VALUE", kind)] if kind else []), ("FORMAT_SIMPLE", NO_ARG)]
    convert: list[Code] = [("SWAP", 2), ("CONVERT_VALUE", kind), ("SWAP", 2)] if kind else []
    return [*convert, ("FORMAT_WITH_SPEC", NO_ARG)]


def make_function(code: Any, flags: list[int]) -> list[Code]:
    """A function from ``code``; the attributes of ``flags`` lie on the stack."""
    if PY313:
        return [
            ("LOAD_CONST", code),
            ("MAKE_FUNCTION", NO_ARG),
            *(("SET_FUNCTION_ATTRIBUTE", flag) for flag in reversed(flags)),
        ]
    return [("LOAD_CONST", code), ("MAKE_FUNCTION", sum(flags))]


def merge_padding(function: Operand) -> list[Operand]:
    """What DICT_MERGE looks for below the dict to name the function in its message."""
    return [function, Constant(None), Constant(None)] if PY313 else [function, Constant(None)]


def enter(asynchronous: bool) -> list[Code]:
    """A manager becomes its bound exit, and above it what its entry gives."""
    if not PY314:
        return [("BEFORE_ASYNC_WITH" if asynchronous else "BEFORE_WITH", NO_ARG)]
    # LOAD_SPECIAL leaves a function and the manager or NULL, which is no value for a local.
    exit_of = helpers.async_exit_of if asynchronous else helpers.exit_of
    bound: list[Code] = [("LOAD_CONST", exit_of), ("PUSH_NULL", NO_ARG), ("COPY", 3), ("CALL", 1)]
    return [*bound, ("SWAP", 2), ("LOAD_SPECIAL", 2 if asynchronous else 0), ("CALL", 0)]


def exit_call(function: Operand, error: Operand) -> tuple[list[Operand | Null], list[Code]]:
    """``function(type(error), error, traceback)``: what is pushed, and the rest."""
    if not PY314:
        drop = [("SWAP", 5), *([("POP_TOP", NO_ARG)] * 4)]
        return [function, Constant(0), Constant(None), error], [("WITH_EXCEPT_START", NO_ARG), *drop]
    # WITH_EXCEPT_START would want the lasti of a handler.
    kind: list[Code] = [("LOAD_CONST", type), ("PUSH_NULL", NO_ARG), ("COPY", 3), ("CALL", 1), ("SWAP", 2)]
    return [function, NULL, error], [*kind, ("COPY", 1), attribute("__traceback__"), ("CALL", 3)]


def end_async_for(end_send: Label) -> Code:
    """The end of an ``async for``; it names the END_SEND of its loop, for ``sys.monitoring``."""
    return "END_ASYNC_FOR", end_send if PY314 else NO_ARG


def suspend(data: Any, delegating: bool) -> list[Code]:
    """YIELD_VALUE and RESUME; ``data`` is their pair of arguments in the original, if there was one."""
    if data is not None:
        yielding, resuming = data
    else:
        # An except depth of 2 and RESUME without bit 2: close() runs the handlers.
        yielding = (1 if delegating else 0) if PY313 else 2
        resuming = 2 if delegating else 1
    return [("YIELD_VALUE", yielding if PY312 else NO_ARG), ("RESUME", resuming)]


def after_exhaustion() -> list[Code]:
    """What stands where FOR_ITER jumps to; the iterator is gone after it."""
    if not PY312:
        return []
    rest: list[Code] = [("POP_ITER" if PY314 else "POP_TOP", NO_ARG)] if PY313 else []
    return [("END_FOR", NO_ARG), *rest]


def after_send(in_async_for: bool) -> list[Code]:
    """What stands where SEND jumps to; the receiver is gone after it."""
    if not PY312:
        return []
    return [("END_SEND", NO_ARG), *(not_taken() if in_async_for else [])]


def not_taken() -> list[Code]:
    """What stands behind a conditional jump, for ``sys.monitoring``."""
    return [("NOT_TAKEN", NO_ARG)] if PY314 else []


def jump(forward: bool, to_send: bool = False) -> str:
    """An unconditional jump; no signal may come between a sub-generator and the generator that awaits it."""
    if forward:
        return "JUMP_FORWARD"
    return "JUMP_BACKWARD_NO_INTERRUPT" if to_send else "JUMP_BACKWARD"


def conditional_jump(condition: str, forward: bool) -> str | None:
    """A jump if TOS is ``condition`` (TRUE, FALSE, NONE, NOT_NONE); None if there is none in that direction."""
    if PY312:
        return f"POP_JUMP_IF_{condition}" if forward else None
    return f"POP_JUMP_{'FORWARD' if forward else 'BACKWARD'}_IF_{condition}"


NULL_ABOVE: Final = PY313
"""Whether the NULL beside a callable lies above it."""

EXACT_TRUTH: Final = PY313
"""Whether a conditional jump wants an exact bool."""

EARLY_HANDLERS: Final = PY313
"""Whether the handler of a Python call is looked for one instruction too early."""

SEND_LANDS_BEFORE: Final = not PY312
"""Whether what is thrown into a receiver, and comes out of it, is raised just before SEND's target."""

LASTI: Final = not PY314
"""Whether the place of an error is an object; where it is not, reading it as one ends the process."""

CHECKED_LOOPS: Final = PY314
"""Whether a loop over what is no iterator raises TypeError; before, that could end the process."""

SUBSCRIPT: Final[Code] = ("BINARY_OP", 26) if PY314 else ("BINARY_SUBSCR", NO_ARG)
BINARY_SLICES: Final = PY312
RETURN_CONST: Final = PY312 and not PY314
FUSED_LOCALS: Final = PY313
BORROWED_LOADS: Final = PY314
