"""What ``asyncio`` means: the event loop runs as it is, and resumes coroutines that carry their tokens themselves.

Tasks and futures are the loop's own. Whose coroutine's outcome a task is, and what a future was given, is noted beside
them (``alg.generators``), so whoever awaits one, or asks for its result, gets the token. What the loop is to call is
wrapped, so that it is carried when it is called.
"""

import asyncio
import contextvars
import weakref
from asyncio.base_events import BaseEventLoop

from autodiff_hook.algebras.shadows import keep_all, lose
from autodiff_hook.runtime.losses import NOT_PYTHON, failure
from autodiff_hook.semantics.generators import Exchange, arrived
from autodiff_hook.semantics.meanings import apply, means, natively
from autodiff_hook.semantics.opaque import call_opaque


def note(alg, awaited, exchange):
    """The outcome of ``awaited`` has the tokens of ``exchange``."""
    if exchange is not None:
        key, table = id(awaited), alg.generators
        table[key] = (weakref.ref(awaited, lambda _: table.pop(key, None)), exchange)
    return awaited, None


def exchange_behind(alg, awaited):
    """Where the tokens of the outcome of a coroutine, task or future are; None for what is not carried."""
    known = alg.generators.get(id(awaited))
    return None if known is None else known[1]


class Given(Exchange):
    """The result of a future: unknown, unless carried code has set it."""

    __slots__ = ("is_set",)

    def __init__(self):
        super().__init__()
        self.is_set = False

    def arrive(self, alg, value):
        return self.out if self.is_set else lose(alg, value, alg.unknown(failure(asyncio.Future, _NOT_CARRIED)))


_NOT_CARRIED = "whose result was set by code that is not differentiated"


class Passed(Exchange):
    """The outcome is that of another future."""

    __slots__ = ("inner",)

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def arrive(self, alg, value):
        return arrived(alg, self.inner, value)


class Gathered(Exchange):
    """The outcomes of several futures, in a list."""

    __slots__ = ("parts",)

    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def arrive(self, alg, value):
        keep_all(alg, value, [arrived(alg, part, item) for part, item in zip(self.parts, value)])


def run(place):
    """The meaning of what runs a coroutine to its end, and gives its outcome."""

    def register(function):
        @means(function)
        def carried(alg, t, args, kwargs):
            if len(args) <= place or exchange_behind(alg, args[place]) is None:
                return call_opaque(alg, t, function, args, kwargs, NOT_PYTHON)
            value = function(*args, **kwargs)
            return value, arrived(alg, args[place], value)

    return register


run(0)(asyncio.run)
run(1)(asyncio.Runner.run)
run(1)(BaseEventLoop.run_until_complete)


@means(asyncio.Task)
def make_task(alg, t, args, kwargs):
    """A task: its outcome is that of its coroutine."""
    return note(alg, asyncio.Task(*args, **kwargs), exchange_behind(alg, args[0]))


def started(alg, awaitables):
    futures = {}
    for awaited in awaitables:
        if id(awaited) not in futures:
            exchange = exchange_behind(alg, awaited)
            futures[id(awaited)] = note(alg, asyncio.ensure_future(awaited), exchange)[0]
    return [futures[id(awaited)] for awaited in awaitables]


@means(asyncio.gather)
def gather(alg, t, args, kwargs):
    futures = started(alg, args)
    return note(alg, asyncio.gather(*futures, **kwargs), Gathered(futures))


@means(asyncio.shield)
def shield(alg, t, args, kwargs):
    (inner,) = started(alg, args)
    return note(alg, asyncio.shield(inner), Passed(inner))


@means(asyncio.wait_for)
def wait_for(alg, t, args, kwargs):
    (inner,) = started(alg, args[:1])
    return note(alg, asyncio.wait_for(inner, *args[1:], **kwargs), Passed(inner))


@means(asyncio.wait)
def wait(alg, t, args, kwargs):
    """``asyncio.wait``: sets of the tasks themselves."""
    return note(alg, asyncio.wait(*args, **kwargs), Exchange())


@means(contextvars.Context.run)
def run_in_context(alg, t, args, kwargs):
    context, function, *others = args
    return context.run(apply, alg, t[1:], function, tuple(others), kwargs)


class CalledLater:
    """A callback that is carried when the loop calls it."""

    def __init__(self, alg, tokens, function, args):
        self.alg, self.tokens, self.function, self.args = alg, tokens, function, args

    def __call__(self, *more):
        tokens = (*self.tokens, *[None for _ in more])
        return apply(self.alg, tokens, self.function, (*self.args, *more), {})[0]


def calling(function, place):
    """The meaning of what hands a callback to the loop, at ``place``, and its arguments behind it."""

    @means(function)
    def carried(alg, t, args, kwargs):
        tokens = (None, *t[place + 1 : len(args)])
        callback = CalledLater(alg, tokens, args[place], args[place + 1 :])
        return function(*args[:place], callback, **kwargs), None


calling(BaseEventLoop.call_soon, 1)
calling(BaseEventLoop.call_soon_threadsafe, 1)
calling(BaseEventLoop.call_later, 2)
calling(BaseEventLoop.call_at, 2)
for cls in (asyncio.Task, asyncio.Future):
    calling(cls.add_done_callback, 1)


@means(asyncio.Future.set_result)
def set_result(alg, t, args, kwargs):
    asyncio.Future.set_result(*args)
    exchange = Given()
    exchange.out, exchange.is_set = t[1], True
    note(alg, args[0], exchange)
    return None, None


def result(method):
    """The meaning of asking a task or future for its result."""

    @means(method)
    def carried(alg, t, args, kwargs):
        value = method(*args)
        return value, arrived(alg, args[0], value)


for cls in (asyncio.Task, asyncio.Future):
    result(cls.result)
    for name in ("done", "cancel", "cancelled", "exception", "get_loop", "set_exception"):
        natively(getattr(cls, name))
for name in ("get_name", "set_name", "get_coro"):
    natively(getattr(asyncio.Task, name))


@means(asyncio.Future)
def make_future(alg, t, args, kwargs):
    """A future that nothing was given yet."""
    return note(alg, asyncio.Future(*args, **kwargs), Given())
