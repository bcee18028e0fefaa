"""What ends before the program does: generators that are abandoned, objects that are released."""

from __future__ import annotations

import weakref

from corpus.registry import program


@program("abandoned generators", 2.0)
def finally_of_a_generator_left_by_break(x):
    log = []

    def items():
        try:
            yield x
            yield x
        finally:
            log.append(x * x)

    for _ in items():
        break
    return sum(log) + 3 * x


class Logging:
    def __init__(self, log, x):
        self.log, self.x = log, x

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.log.append(self.x * self.x)


@program("abandoned generators", 2.0)
def with_of_a_generator_asked_once(x):
    log = []

    def items():
        with Logging(log, x):
            yield x
            yield x

    return next(items()) + sum(log)


@program("lifetimes", 2.0, error_allowed=True)
def finalizer(x):
    log = []

    class Finalized:
        def __del__(self):
            log.append(x * x)

    o = Finalized()
    del o
    return x + sum(log)


class Plain:
    pass


@program("lifetimes", 3.0)
def released_by_del(x):
    o = Plain()
    reference = weakref.ref(o)
    del o
    return x if reference() is None else 2 * x


@program("lifetimes", 3.0)
def released_by_another_value(x):
    o = Plain()
    reference = weakref.ref(o)
    o = None
    return x if reference() is None else 2 * x
