"""Native code that is given what carries derivatives: it writes, it reads as text, it calls back."""

from __future__ import annotations

import functools
import json
import pickle

import numpy as np

from corpus.registry import program

CONSTRUCT = "native code"


@program(CONSTRUCT, 0.37)
def parts_written_to_two_arrays(x):
    fraction, whole = np.empty(1), np.empty(1)
    np.modf(np.array([x]), out=(fraction, whole))
    return fraction.sum()


@program(CONSTRUCT, 0.37, error_allowed=True, needs="scipy.special")
def array_filled_by_fortran(x):
    from scipy import special

    return special.lqn(1, x)[0][1] * 1.0


@program(CONSTRUCT, given=lambda: ({"a": 2.0},))
def parameters_that_are_logged(p):
    json.dumps(p)
    pickle.dumps(p)
    return p["a"] ** 2


@program(
    CONSTRUCT,
    [1.0, 2.0],
    expected=[2.0, 4.0],
    modes=("typed", "path", "carried"),
    error_allowed=True,
    needs="scipy.optimize",
)
def numerical_gradient(xs):
    from scipy import optimize

    return (optimize.approx_fprime(xs, lambda v: (np.asarray(v) ** 2).sum() * 0.5, 1e-6) ** 2).sum()


class Indexed:
    def __class_getitem__(cls, key):
        return key


@program("special methods called natively", 1.3)
def class_getitem(x):
    return Indexed[x] * 1.0


@program("special methods called natively", 1.3, error_allowed=True)
def comparisons_with_effects(x):
    compared = []

    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            compared.append(x)
            return self.value < other.value

    sorted([Key(3.0), Key(2.0), Key(1.0)])
    return sum(compared)


@functools.lru_cache(None)
def slowly(n):
    COMPUTED.append(n)
    return float(n)


COMPUTED = []


@program("caches", 2.0)
def cache_of_constants_is_used(x):
    found = x * slowly(3)
    assert len(COMPUTED) <= 1, "computed again"
    return found


@program("exceptions", 1.3)
def value_carried_by_an_exception(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        return error.args[0] * 3
