"""Every rule has a case, and everything that the issue names is known."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import numpy as np
import pytest
import test_numpy_elementwise
import test_numpy_fourier
import test_numpy_linalg
import test_numpy_options
import test_numpy_reductions
import test_numpy_samples
import test_numpy_shapes
import test_numpy_special_methods
import test_numpy_values

from autodiff_hook import strong
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime.specialised_runtime import fitted
from autodiff_rules.numpy import _shared, constants, decompositions, linalg, products, quantiles, rearranging

TABLES = (
    test_numpy_elementwise,
    test_numpy_fourier,
    test_numpy_linalg,
    test_numpy_options,
    test_numpy_reductions,
    test_numpy_shapes,
    test_numpy_special_methods,
    test_numpy_values,
)
ELSEWHERE = {
    *(_shared.unbroadcast, _shared.expand, _shared.conj, _shared.nest, _shared.collect, rearranging.diagonal_matrix),
    *(_shared.expand_reduced, _shared.restore_axes, _shared.widened, products.transposed_product),
    *(_shared.stretched, quantiles.moving_with, linalg.solved, np.lib.stride_tricks.as_strided),
    *(np.arange, np.linalg.lstsq, np.linalg.eig, sum, max, min, np.nextafter),
    *(strong.times, strong.over, strong.with_value, decompositions.determined, linalg.adjugate),
    *(decompositions.inverse_of_lower, decompositions.none_of, fitted),
}
"""Tested by functions of their own."""

NAMED = """
    array asarray asanyarray ascontiguousarray copy zeros ones empty full eye identity arange linspace zeros_like
    ones_like empty_like full_like sqrt exp exp2 log log2 log10 log1p expm1 sin cos tan arcsin arccos arctan arctan2
    sinh cosh tanh arcsinh arccosh arctanh hypot degrees radians deg2rad rad2deg abs absolute fabs power float_power
    square cbrt reciprocal sign negative positive add subtract multiply divide true_divide floor_divide mod remainder
    fmod maximum minimum fmax fmin clip where sum mean var std prod max min amax amin cumsum cumprod dot matmul inner
    outer vdot tensordot einsum trace transpose swapaxes moveaxis reshape ravel squeeze expand_dims broadcast_to
    atleast_1d atleast_2d atleast_3d concatenate stack hstack vstack dstack column_stack split array_split hsplit
    roll flip fliplr flipud tile repeat diag diagonal tril triu cross kron diff sort argsort take select interp
    trapezoid average median nansum real imag conj conjugate angle isclose isnan isinf isfinite allclose
    argmax argmin nonzero any all shape size ndim isscalar floor ceil rint trunc round result_type finfo dtype
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not meshgrid
    linalg.norm linalg.inv linalg.solve linalg.det linalg.slogdet linalg.cholesky linalg.pinv linalg.eigh linalg.svd
    linalg.qr linalg.lstsq linalg.multi_dot linalg.matrix_power
    ndarray.sum ndarray.mean ndarray.prod ndarray.max ndarray.min ndarray.var ndarray.std ndarray.cumsum ndarray.dot
    ndarray.T ndarray.real ndarray.imag ndarray.item ndarray.tolist ndarray.astype ndarray.copy ndarray.reshape
    ndarray.transpose ndarray.ravel ndarray.flatten ndarray.squeeze ndarray.swapaxes ndarray.clip ndarray.take
    ndarray.repeat ndarray.diagonal ndarray.trace ndarray.conj ndarray.argmax ndarray.shape ndarray.size ndarray.any
    generic.item generic.sum generic.mean generic.conjugate generic.real generic.T generic.copy generic.reshape
    generic.round generic.astype generic.squeeze generic.clip generic.any generic.dtype float64 float32 errstate
    random.seed random.rand random.normal random.Generator.normal random.default_rng
""".split()


def registered():
    """The targets whose rules are in this pack."""
    for target, rules in registry._rules.values():
        if any(rule.rule.__module__.startswith("autodiff_rules.numpy") for rule in rules):
            if not getattr(target, "__module__", "").startswith(("test_", "numpy_checks")):
                yield target


def is_sample(target):
    return getattr(target, "__name__", None) in (*test_numpy_values.FAMILIES, *test_numpy_samples.NAMES)


def test_every_rule_has_a_case():
    registry.packs.load()
    covered = {id(case.target) for table in TABLES for case in table.CASES} | {id(target) for target in ELSEWHERE}
    missing = [describe(t) for t in registered() if id(t) not in covered and not is_sample(t)]
    assert [name for name in missing if not name.endswith("fsum")] == []


def test_rules_of_our_own_functions_are_checked_somewhere():
    """That each rule is checked only a whole run of the tests of rules can tell; whether one is named, this can."""
    registry.packs.load()
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    own = [t for t in registry.targets("autodiff_rules") if getattr(t, "__module__", "").startswith("autodiff_rules")]
    unnamed = [
        describe(t) for t in own if "<locals>" not in t.__qualname__ and not re.search(rf"\b{t.__name__}\b", tests)
    ]
    assert unnamed == []


@pytest.mark.parametrize("name", NAMED)
def test_known(name):
    target = operator.attrgetter(name)(np)
    assert registry.has_rules(target) != registry.is_constant(target)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "matmul", "mod", "floordiv", "getitem"])
@pytest.mark.parametrize("types", [(np.ndarray, np.ndarray), (np.ndarray, float), (np.ndarray, np.float64)])
def test_operators_on_arrays(name, types):
    assert registry.rule(getattr(operator, name), types) is not None


@pytest.mark.parametrize("name", ["add", "mul", "pow"])
def test_operators_leave_other_classes_their_own(name):
    class Unit:
        def __rmul__(self, other):
            return self

    assert registry.rule(getattr(operator, name), (np.ndarray, Unit)) is None


def test_no_constant_has_a_rule_too():
    names = [name for name in constants.FUNCTIONS if hasattr(np, name)]
    assert [name for name in names if registry.has_rules(getattr(np, name))] == []
