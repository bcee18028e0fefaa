"""Exceptions: what they are made with are slots of theirs."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Iterator
from types import MemberDescriptorType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep, keep_attribute, kind, lose, some
from autodiff_hook.errors import AutodiffError, is_engine
from autodiff_hook.runtime.kinds import WRITTEN
from autodiff_hook.runtime.lookup import HEAP_TYPE
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


def note_arguments(alg: Algebra, error: BaseException, values: Args, kwargs: Kwargs, tokens: Any) -> None:
    """The tokens of what an exception was made with."""
    given, named = tokens[: len(values)], tokens[len(values) :]
    unknown = None
    kept = error.args
    if len(kept) == len(values) and all(a is b for a, b in zip(kept, values)):
        keep_attribute(alg, error, "args", tuple(given) if some(given) else None)
    elif some(given):
        unknown = alg.unknown(failure(type(error), "which changes the arguments that it is made with"))
        keep_attribute(alg, error, "args", lose(alg, kept, unknown))
    _note_shown(alg, error, (*values, *kwargs.values(), kept), (*given, *named, tuple(given)), unknown)


def note_raised(alg: Algebra, error: BaseException, values: Args, tokens: Any) -> None:
    """A native operation has raised: what the exception shows of its operands has their tokens, or is unknown."""
    known_before = id(error) in alg.shadows or id(error) in alg.losses
    if known_before or not some(tokens) or isinstance(error, AutodiffError) or not _is_raised_here(error):
        return
    unknown = alg.unknown(
        failure(type(error), "which shows what a native operation was given, from which a number is read")
    )
    moving = tuple([_token_shown(alg, x, values, tokens, unknown) for x in error.args])
    keep_attribute(alg, error, "args", moving if some(moving) else None)
    _note_shown(alg, error, (*values, error.args), (*tokens, moving), unknown)


def raising(alg: Algebra, t: Any, function: Any, *args: Any) -> Any:
    """What a native function gives; what it raises has the tokens of its arguments."""
    try:
        return function(*args)
    except Exception as error:
        note_raised(alg, error, args, t)
        raise


def _note_shown(alg: Algebra, error: BaseException, values: Args, tokens: Any, unknown: Token) -> None:
    """The tokens of the attributes in which an exception of a builtin class shows what it was made with."""
    for name in _showing(type(error)):  # type: ignore[arg-type]
        keep_attribute(alg, error, name, _token_shown(alg, getattr(error, name), values, tokens, unknown))


def _token_shown(alg: Algebra, shown: Any, values: Args, tokens: Any, unknown: Token) -> Token:
    """The token of something that an exception shows: it is one of some values, or, if it holds numbers, unknown."""
    for value, token in zip(values, tokens):
        if value is shown:
            return token
    holds_numbers = kind(shown) in ("number", "array", "tuple") or issubclass(type(shown), WRITTEN)
    return lose(alg, shown, unknown) if unknown is not None and holds_numbers else None


@functools.cache
def _showing(cls: type) -> tuple[str, ...]:
    """The names under which exceptions of a class show what they were made with, beside ``args``."""
    builtin = [base for base in cls.__mro__ if not base.__flags__ & HEAP_TYPE]
    members = [name for base in builtin for name, x in vars(base).items() if type(x) is MemberDescriptorType]
    return tuple([name for name in members if not name.startswith("__")])


def _is_raised_here(error: BaseException) -> bool:
    """Whether no other code than that of the engine has seen an exception: else it was raised there, and is known."""
    tb = error.__traceback__
    while tb is not None:
        if not is_engine(tb.tb_frame):
            return False
        tb = tb.tb_next
    return True


def making(function: Any) -> Meaning:
    """``__new__`` of a builtin exception."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        error = function(*args, **kwargs)
        note_arguments(alg, error, args[1:], kwargs, t[1:])
        return error, None

    return carried


def beginning(function: Any) -> Meaning:
    """``__init__`` of a builtin exception."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        function(*args, **kwargs)
        note_arguments(alg, args[0], args[1:], kwargs, t[1:])
        return None, None

    return carried


for _cls in [x for x in vars(builtins).values() if isinstance(x, type) and issubclass(x, BaseException)]:
    if "__new__" in vars(_cls):
        means(_cls.__new__)(making(_cls.__new__))
    if "__init__" in vars(_cls):
        means(_cls.__init__)(beginning(_cls.__init__))
natively(BaseException.with_traceback)


@means(BaseException.add_note)
def add_note(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``error.add_note(text)``."""
    error = args[0]
    BaseException.add_note(*args, **kwargs)
    keep(alg, error.__notes__, len(error.__notes__) - 1, t[1])
    return None, None
