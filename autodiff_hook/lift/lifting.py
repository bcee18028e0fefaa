"""``lift``: the stages in order; and what is lifted once for all programs that are made of it."""

from __future__ import annotations

import inspect
import weakref
from functools import partial
from types import CodeType
from typing import Final

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import IR
from autodiff_hook.lift.abstract import Machine
from autodiff_hook.lift.code import kind, signature
from autodiff_hook.lift.dialects import dialect
from autodiff_hook.lift.tidy import tidy


def lift(code: CodeType, lifetimes: bool = False) -> IR:
    """The IR of a function's code object; ``Unsupported`` says what it cannot represent, and where.

    With ``lifetimes`` it says where ``del`` forgets what a variable held.
    """
    if code.co_flags & inspect.CO_ITERABLE_COROUTINE:
        _refuse(code, "a generator that types.coroutine made awaitable")
    machine = Machine(code, dialect(), lifetimes)
    return IR(
        name=code.co_name,
        signature=signature(code),
        qualname=code.co_qualname,
        filename=code.co_filename,
        first_line=code.co_firstlineno,
        kind=kind(code),
        free_names=code.co_freevars,
        blocks=tidy(machine.run(), machine.offset_of),
    )


def _refuse(code: CodeType, construct: str) -> None:
    raise Unsupported(
        f"{construct} cannot be differentiated ({code.co_filename}:{code.co_firstlineno}, in {code.co_qualname})",
        construct,
        code.co_firstlineno,
    )


# By identity: code with slices among its constants, as emitted code has, cannot be hashed.
_lifted: Final[dict[int, tuple[weakref.ref[CodeType], IR | Unsupported]]] = {}


def shared(code: CodeType) -> IR | Unsupported:
    """The IR of a code object, which everybody has and nobody may change, or why there is none."""
    known = _lifted.get(id(code))
    if known is None or known[0]() is not code:
        try:
            found: IR | Unsupported = lift(code)
        except Unsupported as error:
            found = error.with_traceback(None)
        known = _lifted[id(code)] = weakref.ref(code, partial(_forget, id(code))), found
    return known[1]


def _forget(key: int, reference: weakref.ref[CodeType]) -> None:
    known = _lifted.get(key)
    if known is not None and known[0] is reference:
        _lifted.pop(key, None)
