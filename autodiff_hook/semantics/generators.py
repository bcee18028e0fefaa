"""Generators and coroutines of carried programs: real ones, whose tokens go through an exchange beside them."""

from __future__ import annotations

import weakref
from types import CoroutineType, GeneratorType
from typing import Any, Final

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, Token, keep_attribute, lose
from autodiff_hook.runtime.losses import NOT_PYTHON
from autodiff_hook.semantics.iteration import get_iter, python_method, unknown_of
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, apply, means
from autodiff_hook.semantics.opaque import call_opaque


class Exchange:
    """The tokens that go in and out of a generator with what it yields, is sent and returns."""

    __slots__ = ("out", "sent")

    def __init__(self) -> None:
        self.out: Token = None
        self.sent: Token = None

    def arrive(self, alg: Algebra, value: Any) -> Token:
        """The token of the outcome, once ``value`` is there."""
        return self.out


def arrived(alg: Algebra, awaited: Any, value: Any) -> Token:
    """The token of what a coroutine, task or future has come to; an exception has its own in itself."""
    if isinstance(value, BaseException):
        return None
    noted = alg.generators.get(id(awaited))
    if noted is not None:
        return noted[1].arrive(alg, value)
    return lose(alg, value, unknown_of(alg, awaited)) if reaches(alg, awaited) else None


_SUSPENDING: Final = (GeneratorType, CoroutineType)


def exchange_of(alg: Algebra, value: Any) -> Exchange | None:
    """Where the tokens of a generator or coroutine go; None for what is not carried."""
    if type(value) not in _SUSPENDING:
        return None
    known = alg.generators.get(id(value))
    return None if known is None else known[1]


def started(alg: Algebra, program: Any, tokens: Any, args: Args) -> Any:
    """The generator or coroutine of a carried program."""
    exchange = Exchange()
    generator = program(alg, tokens, exchange, *args)
    key, table = id(generator), alg.generators
    table[key] = (weakref.ref(generator, lambda _: table.pop(key, None)), exchange)
    alg.iterates = True
    return generator


def resumed(alg: Algebra, generator: Any, exchange: Exchange, resume: Any, args: Args, sent: Token) -> Result:
    """What a generator yields next, with its token; the value of a ``StopIteration`` has one, too."""
    exchange.sent = sent
    try:
        value = resume(generator, *args)
    except StopIteration as stop:
        keep_attribute(alg, stop, "value", exchange.out)
        keep_attribute(alg, stop, "args", None if exchange.out is None else (exchange.out,))
        raise
    finally:
        exchange.sent = None
    return value, exchange.out


def resuming(method: Any, sends: bool = False) -> Meaning:
    """A method that resumes a generator."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        generator, *given = args
        exchange = exchange_of(alg, generator)
        if exchange is None:
            return call_opaque(alg, t[1:], method.__get__(generator), tuple(given), kwargs, NOT_PYTHON)
        return resumed(alg, generator, exchange, method, tuple(given), t[1] if sends else None)

    return carried


for _cls in _SUSPENDING:
    means(_cls.send)(resuming(_cls.send, sends=True))
    means(_cls.throw)(resuming(_cls.throw))
    means(_cls.close)(resuming(_cls.close))
means(GeneratorType.__next__)(resuming(GeneratorType.__next__))


def yield_from_iter(alg: Algebra, t: Any, data: Any, value: Any, exchange: Exchange) -> Result:
    """What ``yield from value`` delegates to."""
    return _delegate(alg, t[0], value, exchange), None


def awaitable(alg: Algebra, t: Any, data: Any, value: Any, exchange: Exchange) -> Result:
    """What ``await value`` delegates to."""
    method = python_method(value, "__await__")
    if method is not None:
        iterator, token = apply(alg, (None, t[0]), method, (value,), {})
        return _delegate(alg, token, iterator, exchange), None
    found = value if type(value) in _SUSPENDING else _awaited(value)
    if found is not value and hasattr(type(value), _FUTURE):
        return _awaiting(alg, value, found, exchange), None
    return _delegate(alg, None, found, exchange), None


_FUTURE: Final = "_asyncio_future_blocking"
"""By this attribute ``asyncio`` tells futures, and tasks, which are some."""


def _awaited(value: Any) -> Any:
    method = getattr(type(value), "__await__", None)
    if method is None:
        raise TypeError(f"object {type(value).__name__} can't be used in 'await' expression")
    return method(value)


def _delegate(alg: Algebra, token: Token, value: Any, exchange: Exchange) -> Any:
    inner = exchange_of(alg, value)
    if inner is None and hasattr(type(value), "send"):
        inner = _Foreign(unknown_of(alg, value) if reaches(alg, value) else None)
    if inner is not None:
        return _resuming(alg, value, inner, exchange)
    return _iterating(get_iter(alg, (token,), None, value)[0], exchange)


class _Foreign(Exchange):
    """The exchange of a generator that is not carried: what comes of it may be ``unknown``."""

    __slots__ = ("unknown",)

    def __init__(self, unknown: Token) -> None:
        super().__init__()
        self.unknown = unknown

    def arrive(self, alg: Algebra, value: Any) -> Token:
        return None if self.unknown is None else lose(alg, value, self.unknown)


def _resuming(alg: Algebra, generator: Any, inner: Exchange, outer: Exchange) -> Any:
    """Delegate to a generator or coroutine."""
    try:
        value = generator.send(None)
        while True:
            outer.out = inner.arrive(alg, value)
            try:
                sent = yield value
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:
                value = generator.throw(error)
                continue
            inner.sent = outer.sent
            try:
                value = generator.send(sent)
            finally:
                inner.sent = None
    except StopIteration as stop:
        outer.out = inner.arrive(alg, stop.value)
        return stop.value


def _awaiting(alg: Algebra, awaited: Any, iterator: Any, outer: Exchange) -> Any:
    """Wait for a task or future, whose outcome may have a token by then."""
    value = yield from iterator
    outer.out = arrived(alg, awaited, value)
    return value


def _iterating(pairs: Any, outer: Exchange) -> Any:
    """Delegate to what is only iterated over."""
    for value, token in pairs:
        outer.out = token
        sent = yield value
        if sent is not None:
            raise AttributeError("what is delegated to has no attribute 'send'")
    outer.out = None
