"""Python's own reductions over the rows of an array; of equal ones ``max`` and ``min`` choose the first."""

import math

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import rrule
from autodiff_hook.signatures import Array
from autodiff_rules.builtins import extreme_rule, one_hot
from autodiff_rules.numpy._shared import expand, unbroadcast


@cotangents(sum, "iterable, start=0", ((Array,),), "iterable, start")
def sum_cotangents(ȳ, iterable, start):
    """Each row is added to the sum, which may have more axes than it."""
    rows = np.shape(iterable)[1:]
    each = ȳ if np.shape(ȳ) == rows else unbroadcast(ȳ, np.empty(rows))
    return expand(each, iterable), unbroadcast(ȳ, start)


cotangents(math.fsum, "seq", ((Array,),), seq=lambda ȳ, seq: expand(ȳ, seq))


def extreme_cotangents(ȳ, index, args, items):
    """The cotangents of ``max(*args)``, which chose ``items[index]``."""
    if len(args) > 1:
        return one_hot(ȳ, index, len(args))
    chosen = np.arange(len(items)).reshape((-1,) + (1,) * (args[0].ndim - 1)) == index
    return (np.where(chosen, expand(ȳ, args[0]), 0.0),)


rrule(max, Array)(extreme_rule(max, extreme_cotangents))
rrule(min, Array)(extreme_rule(min, extreme_cotangents))
