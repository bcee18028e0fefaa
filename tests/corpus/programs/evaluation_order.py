"""What is looked up, evaluated and taken from an iterator, in the order in which CPython does it."""

from __future__ import annotations

from corpus.registry import program

CONSTRUCT = "evaluation order"


class Switching:
    def scaled(self, t):
        return t * 2

    def switch(self, x):
        self.scaled = lambda t: t * t * 5
        return x


@program(CONSTRUCT, 1.3)
def method_rebound_by_its_argument(x):
    o = Switching()
    return o.scaled(o.switch(x))


@program(CONSTRUCT, 1.3)
def missing_method(x):
    seen = []
    try:
        {}.no_such_method(seen.append(x))
    except AttributeError:
        pass
    return x + sum(seen)


class Computed:
    factor = staticmethod(lambda t: t * 7)

    @property
    def current(self):
        return self.factor

    def replace(self, x):
        self.factor = lambda t: t**3
        return x


@program(CONSTRUCT, 1.3)
def property_called(x):
    o = Computed()
    return o.current(o.replace(x))


@program(CONSTRUCT, [0.3, 0.5])
def extend_that_raises_half_way(xs):
    squares = []

    def items():
        for v in xs:
            yield v * v
        raise KeyError

    try:
        squares.extend(items())
    except KeyError:
        pass
    return sum(squares)


@program(CONSTRUCT, 1.3)
def extend_that_reads_its_list(x):
    xs = [1.0]
    xs.extend(sum(xs) * x for _ in range(2))
    return xs[2]


@program(CONSTRUCT, 1.3)
def augmented_list_that_reads_itself(x):
    xs = [1.0]
    xs += (sum(xs) * x for _ in range(3))
    return xs[3]
