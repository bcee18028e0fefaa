"""Lifting once what many programs are made of."""

from __future__ import annotations

import weakref
from functools import partial
from types import CodeType
from typing import Final

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import IR
from autodiff_hook.lift.lifting import lift

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
