"""Products, combinations and permutations, as ``itertools`` has them, and grids of places."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.registry import nondifferentiable


def product(*iterables: Any, repeat: Any = 1) -> Any:
    """``itertools.product``."""
    return rows_of(repeated(pools_of(iterables), repeat))


def pools_of(iterables: Any) -> Any:
    """The items of several iterables."""
    return ([item for item in iterables[0]], *pools_of(iterables[1:])) if iterables else ()


def repeated(pools: Any, repeat: Any) -> Any:
    """``pools * repeat``."""
    return (*pools, *repeated(pools, repeat - 1)) if repeat > 0 else ()


def rows_of(pools: Any) -> Any:
    """Tuples of an item of each pool, the last changing first."""
    if not pools:
        return iter([()])
    return singles(pools[0]) if len(pools) == 1 else longer_rows(pools)


def singles(pool: Any) -> Any:
    """A tuple of each item."""
    for item in pool:
        yield (item,)


def longer_rows(pools: Any) -> Any:
    """The rows of all pools but the last, each with each item of that."""
    for row in rows_of(pools[:-1]):
        for item in pools[-1]:
            yield (*row, item)


@nondifferentiable
def places_of(indices: Any, count: Any, r: Any) -> Any:
    """Which of ``count`` items ``indices`` combines."""
    return list(indices(range(count)) if r is None else indices(range(count), r))


def chosen(indices: Any) -> Any:
    """Tuples of the items of an iterable, at the places that ``indices`` gives for their number."""

    def choose(iterable: Any, r: Any = None) -> Any:
        pool = [item for item in iterable]
        return combined(pool, places_of(indices, len(pool), r))

    return choose


def combined(pool: Any, rows: Any) -> Any:
    """Tuples of the items at each of several rows of places."""
    for places in rows:
        yield gathered(pool, places)


def gathered(pool: Any, places: Any) -> Any:
    """The items at some places, as a tuple."""
    return (pool[places[0]], *gathered(pool, places[1:])) if places else ()


def open_grid(rows: Any, columns: Any) -> Any:
    """``np.ix_`` of two sequences of whole numbers."""
    return np.asarray(rows)[:, None], np.asarray(columns)[None, :]
