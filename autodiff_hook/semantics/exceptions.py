"""Exceptions: what they are made with are slots of theirs."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep_attribute, lose, some
from autodiff_hook.errors import AutodiffError
from autodiff_hook.runtime.losses import failure
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means, natively


def exc_match(alg: Algebra, t: Any, data: Any, error: BaseException, kinds: Any) -> Result:
    """Whether a handler is for an exception.

    The plain run has none of ours: a handler that does not name them would go a way that the program does not take.
    """
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(isinstance(kind, type) and BaseException in kind.__mro__ for kind in several):
        raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    ours = isinstance(error, AutodiffError)
    bases = type(error).__mro__
    matches = any(kind in bases and not (ours and kind in _TOO_WIDE) for kind in several)
    if ours and matches:
        alg.named = error
        alg.dropped = None if alg.dropped is error else alg.dropped
    return matches, None


_TOO_WIDE: Final = (Exception, BaseException)


def handled(alg: Algebra) -> None:
    """A handler ends: note one of our errors that it has taken unnamed (``except:``, ``finally: return``)."""
    error = sys.exc_info()[1]
    if isinstance(error, AutodiffError) and error is not alg.named and alg.dropped is None:
        alg.dropped = error


def group_matched(alg: Algebra, error: BaseException, kinds: Any) -> None:
    """``except*`` is about to take of ``error`` what is of some kinds: note one of our errors that they do not name."""
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    for leaf in _leaves(error):
        bases = type(leaf).__mro__
        taken = [kind for kind in several if kind in bases]
        if not isinstance(leaf, AutodiffError) or leaf is alg.named or not taken:
            continue
        if any(kind not in _TOO_WIDE for kind in taken):
            alg.named = leaf
            alg.dropped = None if alg.dropped is leaf else alg.dropped
        elif alg.dropped is None:
            alg.dropped = leaf


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error


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


def making(function: Any) -> Meaning:
    """``__new__`` of a builtin exception."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        error = function(*args, **kwargs)
        note_arguments(alg, error, args[1:], t[1 : len(args)])
        return error, None

    return carried


def beginning(function: Any) -> Meaning:
    """``__init__`` of a builtin exception."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        function(*args, **kwargs)
        note_arguments(alg, args[0], args[1:], t[1 : len(args)])
        return None, None

    return carried


for _cls in [x for x in vars(builtins).values() if isinstance(x, type) and issubclass(x, BaseException)]:
    if "__new__" in vars(_cls):
        means(_cls.__new__)(making(_cls.__new__))
    if "__init__" in vars(_cls):
        means(_cls.__init__)(beginning(_cls.__init__))
for _method in (BaseException.with_traceback, BaseException.add_note):
    natively(_method)
