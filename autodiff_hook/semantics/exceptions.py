"""Exceptions: what they are made with are slots of theirs."""

from __future__ import annotations

import builtins
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep_attribute, lose, some
from autodiff_hook.semantics.meanings import means, natively
from autodiff_hook.semantics.opaque import failure

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def note_arguments(alg: Algebra, error: BaseException, values: Args, tokens: Any) -> None:
    """The tokens of what an exception was made with."""
    moving: Token = tuple(tokens) if some(tokens) else None
    kept = error.args
    if len(kept) == len(values) and all(a is b for a, b in zip(kept, values)):
        keep_attribute(alg, error, "args", moving)
    elif moving is not None:
        unknown = alg.unknown(failure(type(error), "which changes the arguments that it is made with"))
        keep_attribute(alg, error, "args", lose(alg, kept, unknown))
    if isinstance(error, StopIteration):
        keep_attribute(alg, error, "value", tokens[0] if tokens else None)


class Making:
    """``__new__`` of a builtin exception."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        error = self.function(*args, **kwargs)
        note_arguments(alg, error, args[1:], t[1 : len(args)])
        return error, None


class Beginning:
    """``__init__`` of a builtin exception."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        self.function(*args, **kwargs)
        note_arguments(alg, args[0], args[1:], t[1 : len(args)])
        return None, None


for _cls in [x for x in vars(builtins).values() if isinstance(x, type) and issubclass(x, BaseException)]:
    if "__new__" in vars(_cls):
        means(_cls.__new__)(Making(_cls.__new__).carried)
    if "__init__" in vars(_cls):
        means(_cls.__init__)(Beginning(_cls.__init__).carried)
for _method in (BaseException.with_traceback, BaseException.add_note):
    natively(_method)
