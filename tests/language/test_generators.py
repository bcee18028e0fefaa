"""Generators: consumed wholly or in part, infinite, with state, interleaved; laziness is kept."""

from __future__ import annotations

import itertools

import pytest
from helpers import gradient_at

from autodiff_hook import AutodiffError, gradient
from autodiff_hook.testing import check_gradient

XS = [0.5, -1.5, 2.0]


@gradient_at(XS)
def test_a_generator_function(xs):
    def squares(vs):
        for v in vs:
            yield v * v

    total = 0.0
    for i, s in enumerate(squares(xs)):
        total += s * i
    return total + sum(squares(xs)) * list(squares(xs))[0]


@gradient_at(1.2)
def test_state_between_yields(x):
    def powers(x):
        p = 1.0
        while True:
            p = p * x
            yield p

    total = 0.0
    for n, p in enumerate(powers(x)):
        if n >= 4:
            break
        total += p * p
    return total


@gradient_at(1.2)
def test_partial_consumption(x):
    def naturals(x):
        n = 1
        while True:
            yield n * x
            n += 1

    g = naturals(x)
    a, b = next(g), next(g)
    c = sum(v for v, _ in zip(naturals(x * x), range(3)))
    d = [v * 2 for v in itertools.islice(naturals(x), 3)]
    return a * b + c + next(g) * d[1] + next((v for v in naturals(x) if v > 4), 0.0)


@gradient_at(1.2)
def test_any_and_all(x):
    def values():
        for i in range(5):
            yield x * i

    y = x if any(v > 2 for v in values()) else 2 * x
    return y * 3 if all(v >= 0 for v in values()) else y


def test_laziness():
    seen = []

    def gen(x):
        for i in range(100):
            seen.append(i)
            yield x * i

    def f(x):
        g = gen(x)
        total = 0.0
        for v in g:
            total += v
            if v > 2:
                break
        return total + next(iter([])) if False else total

    assert gradient(f, 1.0) == (6.0,)
    assert seen == [0, 1, 2, 3]
    seen.clear()

    def g(x):
        return x if any(v > 2 for v in gen(x)) else 0.0

    assert gradient(g, 1.0) == (1.0,)
    assert seen == [0, 1, 2, 3]


@gradient_at(1.2, 0.5)
def test_two_generators_interleaved(x, y):
    def walk(a, b):
        while True:
            a = a * b + 0.1
            yield a

    g, h = walk(x, y), walk(y, x)
    total = 0.0
    for _ in range(3):
        total = total + next(g) * next(h)
        total = total * next(g)
    return total


@gradient_at(XS)
def test_pipelines(xs):
    def scaled(vs, k):
        for v in vs:
            yield v * k

    def shifted(vs, k):
        for v in vs:
            if v > -10:
                yield v + k

    return sum(shifted(scaled(shifted(xs, xs[0]), xs[1]), xs[2])) * xs[0]


@gradient_at(1.3)
def test_a_generator_that_closes_over_what_changes(x):
    k = x

    def gen():
        for i in range(3):
            yield k * i

    total = 0.0
    for v in gen():
        k = k * x
        total += v * k
    return total


@gradient_at(1.3)
def test_a_generator_that_reads_what_its_consumer_changes(x):
    xs = [x, 2.0]

    def gen():
        i = 0
        while i < 4:
            yield xs[i % 2]
            i += 1

    total = 0.0
    for v in gen():
        xs[1] = xs[1] * x
        total += v * v
    return total


@gradient_at(1.3)
def test_a_generator_that_changes_what_its_consumer_reads(x):
    seen = []

    def gen():
        for i in range(3):
            seen.append(x * i)
            yield seen[-1] * x

    total = 0.0
    for v in gen():
        seen[-1] = seen[-1] * 2
        total += v * seen[-1]
    return total + sum(seen)


@gradient_at(1.3)
def test_a_constant_generator_that_meets_derivatives_later(x):
    xs = [1.0, 2.0, 3.0]

    def gen():
        for i in range(3):
            yield xs[i]

    g = gen()
    first = next(g)
    xs[1] = x * x
    return first + next(g) * next(g)


@gradient_at(1.3)
def test_generators_kept_in_places(x):
    def gen(v):
        while True:
            v = v * v
            yield v

    class Source:
        def __init__(self, v):
            self.stream = gen(v)

        def draw(self):
            return next(self.stream)

    source = Source(x)
    streams = [gen(x), gen(2 * x)]
    return source.draw() * source.draw() + next(streams[0]) + next(streams[1]) * next(streams[0])


@gradient_at(XS)
def test_iterators_kept_in_places(xs):
    class Reader:
        def __init__(self, vs):
            self.it = iter(vs)
            self.pairs = zip(vs, vs[1:])

        def read(self):
            return next(self.it)

    r = Reader(xs)
    a, b = next(r.pairs)
    return r.read() * r.read() + a * b


@gradient_at(XS)
def test_explicit_next_methods(xs):
    it = iter(xs)
    g = (v * v for v in xs)
    return it.__next__() * it.__next__() + g.__next__() + next(it, 0.0) + next(it, 7.0)


@gradient_at([0.6, -1.5, 2.0])
def test_recursive_generators(xs):
    def walk(vs):
        if vs:
            yield vs[0]
            for v in walk(vs[1:]):
                yield v * xs[0]

    return sum(walk(xs)) + max(walk(xs))


@gradient_at(1.3)
def test_an_unused_and_an_empty_generator(x):
    def gen(v):
        if v > 100:
            yield v

    gen(x)
    g = gen(x)
    return x * x + sum(g) + next(gen(x), x)


@gradient_at(1.3)
def test_exhaustion(x):
    def gen():
        yield x
        yield x * x

    g = gen()
    a = sum(g)
    return a + sum(g) + len(list(g))


@gradient_at(1.3)
def test_stop_iteration_is_handled(x):
    def gen():
        yield x
        yield x * x

    g, total = gen(), 0.0
    while True:
        try:
            total += next(g) * 2
        except StopIteration:
            break
    return total


@gradient_at(1.3)
def test_stop_iteration_that_leaves_a_generator_is_another_error(x):
    def gen(others):
        yield x
        yield next(others) * x

    def of(f):
        try:
            return f(gen(iter([])))
        except RuntimeError as error:
            return x**3 if isinstance(error.__cause__, StopIteration) else 0.0
        except StopIteration:
            return x

    return of(sum) + of(list) * of(max) + of(lambda g: sum(v for v in g)) + of(lambda g: next(g) + next(g))


@gradient_at(1.3)
def test_unpacking_a_generator(x):
    def gen():
        yield x
        yield x * x
        yield x * 3

    a, b, c = gen()
    d, *rest = gen()
    return a * b + c * d + rest[0] * rest[1] + max(*gen()) + [*gen(), x][1]


@gradient_at(1.3)
def test_try_finally_in_a_generator(x):
    log = []

    def gen():
        try:
            yield x
            yield x * x
        finally:
            log.append(x * 5)

    a, b = gen()
    return a * b + log[0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_generator_abandoned_half_way(n):
    def f(x):
        def gen():
            y = x
            for _ in range(5):
                y = y * x
                yield y

        total = 0.0
        g = gen()
        for _ in range(n):
            total += next(g)
        return total

    check_gradient(f, 1.3)


def delegating(x):
    def inner():
        yield x
        yield x * x

    def outer():
        yield from inner()

    return sum(outer())


def test_yield_from_is_right_or_an_error():
    try:
        (g,) = gradient(delegating, 1.5)
    except AutodiffError as error:
        assert "yield from" in str(error) and "test_generators.py" in str(error)
    else:
        assert g == pytest.approx(4.0)


def test_send_is_right_or_an_error():
    def f(x):
        def accumulator():
            total = 0.0
            while True:
                v = yield total
                total += v * x

        g = accumulator()
        next(g)
        g.send(x)
        return g.send(2.0)

    try:
        (g,) = gradient(f, 1.5)
    except AutodiffError as error:
        assert "send" in str(error)
    else:
        assert g == pytest.approx(2 * 1.5 + 2.0)


def test_an_exception_in_a_generator_after_a_store_is_right_or_an_error():
    def f(x):
        seen = {}

        def gen():
            seen["a"] = x * x
            yield x
            seen["a"] = x * x * x
            raise ValueError("end")

        total = 0.0
        try:
            for v in gen():
                total += v
        except ValueError:
            pass
        return total + seen["a"]

    try:
        (g,) = gradient(f, 1.5)
    except AutodiffError:
        return
    assert g == pytest.approx(1 + 3 * 1.5**2)


def test_coroutines_are_right_or_an_error():
    async def f(x):
        return x * x

    def run(x):
        try:
            f(x).send(None)
        except StopIteration as stop:
            return stop.value

    try:
        (g,) = gradient(run, 1.5)
    except AutodiffError as error:
        assert "coroutine" in str(error)
    else:
        assert g == pytest.approx(3.0)


class Box:
    value = 0.0


def stores_at_its_end(x, box):
    yield x
    box.value = x * x


def test_what_a_generator_does_at_its_end_is_differentiated_when_next_comes_to_it():
    def caught(x):
        box = Box()
        box.value = x
        items = stores_at_its_end(x, box)
        total = next(items) * box.value
        try:
            next(items)
        except StopIteration:
            total += box.value
        return total

    def with_default(x):
        box = Box()
        box.value = x
        items = stores_at_its_end(x, box)
        total = next(items) * box.value
        return total + next(items, x) * box.value

    assert gradient(caught, 3.0) == (12.0,)
    assert gradient(with_default, 3.0) == (33.0,)
