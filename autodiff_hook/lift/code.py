"""What a code object says about its function: parameters, slots, kind."""

from __future__ import annotations

import dis
import inspect
import sys
from itertools import pairwise
from types import CodeType
from typing import Final

from autodiff_hook.ir.types import FunctionKind, Signature

_KINDS: Final[dict[int, FunctionKind]] = {
    inspect.CO_GENERATOR: "generator",
    inspect.CO_COROUTINE: "coroutine",
    inspect.CO_ASYNC_GENERATOR: "async_generator",
}


NAMESPACE: Final = ".namespace"
"""The parameter of the body of a class, or of what ``exec`` runs, which its code does not name."""


def parameter_names(code: CodeType) -> tuple[str, ...]:
    """The parameters in the order of ``co_varnames``."""
    if not is_function(code):
        return (NAMESPACE,)
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def signature(code: CodeType) -> Signature:
    """The parameters as the IR describes them."""
    return Signature(
        names=parameter_names(code),
        positional=code.co_argcount or not is_function(code),
        positional_only=code.co_posonlyargcount,
        keyword_only=code.co_kwonlyargcount,
        varargs=bool(code.co_flags & inspect.CO_VARARGS),
        varkeywords=bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )


def slot_names(code: CodeType) -> list[tuple[str, str]]:
    """A key for each slot of the frame; a name can be both a local (of a comprehension) and free."""
    own = dict.fromkeys(code.co_varnames + code.co_cellvars)
    return [("local", name) for name in own] + [("free", name) for name in code.co_freevars]


def kind(code: CodeType) -> FunctionKind:
    """Which kind of function the code is."""
    return next((kind for flag, kind in _KINDS.items() if code.co_flags & flag), "function")


def is_function(code: CodeType) -> bool:
    """Whether the code has fast locals, unlike that of a module or a class, which runs in a namespace."""
    flags = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
    return code.co_flags & flags == flags


def has_one_dict(code: CodeType) -> bool:
    """Whether ``locals`` may be called more than once in a frame, and gives one dict, which it brings up to date."""
    if sys.version_info >= (3, 13) or _OF_FRAMES.isdisjoint(code.co_names) or not is_function(code):
        return False
    instructions = list(dis.get_instructions(code))
    # What ``vars`` says of an object is of no frame.
    asked = sum(
        x.opname == "LOAD_GLOBAL" and x.argval in _OF_FRAMES and (x.argval != "vars" or "CALL" in then.opname)
        for x, then in pairwise(instructions)
    )
    return asked > 1 or asked == 1 and any("JUMP_BACKWARD" in x.opname for x in instructions)


_OF_FRAMES: Final = frozenset({"locals", "vars", "exec"})
