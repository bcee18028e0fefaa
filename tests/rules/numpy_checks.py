"""Cases for the tests of the NumPy rules: tables of targets and arguments, and how one case is checked."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
import pytest

from autodiff_hook import _testing_derivatives, _testing_trees, testing
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import describe, registry

STRICT_MIRROR, PLAIN_SHIFTED = testing._check_mirror, _testing_trees.shifted
SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


class Case:
    """``target(*args, **options)``, and what ``check_rule`` shall allow.

    ``layouts``: other memory layouts make no difference; ``rounds``: cotangents pass through a smaller precision.
    """

    def __init__(self, target, *args, tolerances=None, layouts=True, rounds=False, **options):
        self.target, self.args, self.options = target, args, options
        self.tolerances, self.layouts, self.rounds = tolerances or {}, layouts, rounds

    def __repr__(self):
        return f"{describe(self.target)}({', '.join([*map(shown, self.args), *map(str, self.options)])})"


def shown(x):
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}"
    return type(x).__name__ if isinstance(x, (list, dict)) else str(x).replace("\n", " ")[:20]


def cases(table):
    """The table as a parametrisation."""
    return pytest.mark.parametrize("case", table, ids=repr)


def normal(*shape, seed=0):
    """A float64 array whose elements are no closer to 0 than 0.1."""
    drawn = np.random.default_rng((seed, *shape)).standard_normal(shape)
    return np.asarray(drawn + 0.1 * np.sign(drawn))


def positive(*shape, seed=0):
    """A float64 array with elements from 0.1 to 0.9."""
    return np.asarray(np.random.default_rng((seed, *shape)).uniform(0.1, 0.9, shape))


def complexes(*shape, seed=0):
    return np.asarray(normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1))


def single(*shape, seed=0):
    return normal(*shape, seed=seed).astype(np.float32)


def check(case, second_order=False):
    """``check_rule``, where a NumPy scalar may be the cotangent of a 0-d array, as ufuncs return them."""
    near = roughly if case.rounds else testing.close
    patches = mock.patch.multiple(testing, _check_mirror=mirror, close=near)
    differences = mock.patch.object(_testing_derivatives, "shifted", shifted)
    with patches, differences, warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {**case.tolerances, **case.options, "second_order": second_order}
        testing.check_rule(case.target, *case.args, **options)
    if case.layouts and not second_order and any(isinstance(x, np.ndarray) and x.ndim for x in flat(case.args)):
        check_layouts(case)


def roughly(a, b, ȳ):
    """Agreement where numbers in double precision pass through a smaller one."""
    return _testing_trees._close(a, b, 2e-3, 2e-3)


def mirror(where, x̄, x, value, complete=False):
    if isinstance(x, np.ndarray) and x.ndim == 0 and isinstance(x̄, (np.generic, float)):
        x̄ = np.asarray(x̄)
    STRICT_MIRROR(where, x̄, x, value, complete)


def shifted(leaf, direction, step):
    moved = PLAIN_SHIFTED(leaf, direction, step)
    return np.asarray(moved) if isinstance(leaf, np.ndarray) else moved


def check_layouts(case):
    """The same value and cotangents for arrays in other orders, with gaps and negative strides."""
    for layout in (fortran, strided):
        args = rearranged(case.args, layout)
        value, pullback = run(case, case.args)
        again, pullback_again = run(case, args)
        ȳ = mapped(lambda y: testing.cotangent(y, np.random.default_rng(1)), value)
        for x, y in zip(flat((value, pullback(ȳ))), flat((again, pullback_again(ȳ)))):
            np.testing.assert_allclose(y, x, **precision(args))


def precision(args):
    single = any(getattr(x, "dtype", None) in SINGLE for x in flat(args))
    return {"rtol": 1e-4, "atol": 1e-5} if single else {"rtol": 1e-9, "atol": 1e-12}


def run(case, args):
    rule = registry.rule(case.target, tuple(map(type, args)), tuple(case.options))
    return rule(*args, **case.options)


def mapped(function, tree):
    if isinstance(tree, (list, tuple)):
        parts = [mapped(function, x) for x in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return function(tree)


def flat(tree):
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in flat(part)]
    return [] if tree is None or isinstance(tree, (str, NotImplementedCotangent)) else [tree]


def rearranged(args, layout):
    return mapped(lambda x: layout(x) if isinstance(x, np.ndarray) and x.ndim else x, args)


def fortran(x):
    return np.asfortranarray(x)


def strided(x):
    """Backwards in the first axis, with gaps in the last."""
    return np.repeat(x[::-1], 2, -1)[::-1][..., ::2]
