"""``random``: what is drawn depends on the parameters of its distribution as it does with the seed held fixed."""

import math
import random

import pytest
from language.in_all_modes import MODES, differences

DISTRIBUTIONS = {
    "uniform": lambda r, x: r.uniform(x, 1 + x * x),
    "triangular": lambda r, x: r.triangular(0.1, 1 + x * x, x) + r.triangular(x, 2.0),
    "gauss": lambda r, x: r.gauss(x, 1 + x * x),
    "normalvariate": lambda r, x: r.normalvariate(x, 1 + x * x),
    "lognormvariate": lambda r, x: r.lognormvariate(x, 0.3 * x),
    "expovariate": lambda r, x: r.expovariate(1 + x * x),
    "gammavariate above one": lambda r, x: r.gammavariate(1 + x, x),
    "gammavariate one": lambda r, x: r.gammavariate(1.0, x),
    "gammavariate below one": lambda r, x: r.gammavariate(0.3 * x, 1 + x),
    "betavariate": lambda r, x: r.betavariate(1 + x, 1.5),
    "vonmisesvariate": lambda r, x: r.vonmisesvariate(x, 2.0 * x),
    "paretovariate": lambda r, x: r.paretovariate(1 + x),
    "weibullvariate": lambda r, x: r.weibullvariate(x, 1 + x),
    "a generator from outside": lambda r, x: _seeded().gauss(x, x * x),
    "choice": lambda r, x: r.choice([x, x * x, 3 * x]) ** 2,
    "choices": lambda r, x: math.prod(r.choices([x, x * x, 3 * x], weights=[x, 1, 2], k=4)),
    "cumulative choices": lambda r, x: math.prod(r.choices([x, x * x, 3 * x], cum_weights=[x, 1, 2], k=4)),
    "sample": lambda r, x: sum(i * v for i, v in enumerate(r.sample([x, x * x, 3 * x], 3), 1)),
    "counted sample": lambda r, x: sum(i * v for i, v in enumerate(r.sample([x, x * x], 3, counts=[2, 3]), 1)),
    "shuffle": lambda r, x: _shuffled(r, [x, x * x, 3 * x, x**3]),
    "whole numbers": lambda r, x: (r.randint(1, 5) + r.randrange(5) + r.random()) * x,
}


def _seeded():
    random.seed(4)
    return random


def _shuffled(r, items):
    r.shuffle(items)
    return sum(i * v for i, v in enumerate(items, 1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name, mode):
    def drawn(x):
        r = random.Random(3)
        return sum([DISTRIBUTIONS[name](r, x) for _ in range(3)])

    expected = differences(drawn, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](drawn, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4 if mode == "hvp" else 1e-8)


@pytest.mark.parametrize("mode", MODES)
def test_a_generator_of_the_program(mode):
    class Halves(random.Random):
        def random(self):
            return 0.5

    def drawn(x):
        return Halves(1).uniform(x, x * x) + Halves(1).triangular(x, 2.0)

    expected = differences(drawn, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](drawn, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4)
