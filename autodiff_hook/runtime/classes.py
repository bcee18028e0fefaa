"""``class`` statements: their bodies run natively, what they read of derivatives is lost in the class."""

from __future__ import annotations

import builtins
import opcode
from types import FunctionType
from typing import Any, Final

from autodiff_hook.runtime.context import Context, Pullback
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.opaque import Loss

_READS: Final = frozenset(
    opcode.opmap[name] for name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF") if name in opcode.opmap
)


@handles(builtins.__build_class__)
def build_class(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Pullback | None]:
    """Make a class; its methods are differentiated when they are called."""
    body = args[0]
    cls = builtins.__build_class__(*args, **kwargs)
    marked = any(id(cell) in ctx.marks for cell in body.__closure__ or ())
    if marked and not _READS.isdisjoint(body.__code__.co_code[::2]) or id(body.__globals__) in ctx.marks:
        loss = Loss(body, "the body of a class, which is not differentiated", [])
        ctx.mark_all(cls).loss = loss
        for member in vars(cls).values():
            if isinstance(member, FunctionType):
                ctx.mark_all(member).loss = loss
    return cls, None
