"""Checks of the rules that a map has which is linear in a signal and in a filter, and whether programs are typed."""

from __future__ import annotations

import types

import numpy as np
from numpy_checks import complexes, normal

import autodiff_hook as ad
from autodiff_hook.reports import collecting
from autodiff_hook.testing import check_rule


def check_bilinear(applied, for_signal, beside_signal, beside_filter, x, w, options, second_order=True):
    """All four functions, by all that they are linear in; ``options`` are constants.

    Second derivatives are by whole numbers among these as well, and so 0 only where rounding makes it so.
    """
    y = applied(x, w, options, 0.0)
    c = complexes(*y.shape) if np.iscomplexobj(y) else normal(*y.shape, seed=5)
    for other in (beside_signal(c, w, options, x.shape) * x, beside_filter(x, c, options, 0.0, w.shape) * w):
        np.testing.assert_allclose(np.sum(other), np.sum(c * y), rtol=1e-10, atol=1e-12)
    shape, form, cval = x.shape, w.shape, 0.3

    check_rule(
        *(applied, x, w, options, cval),
        differences=lambda x, w, _, v: applied(x, w, options, v),
        second_order=second_order,
    )
    check_rule(
        *(for_signal, x, w, options, cval),
        differences=lambda x, *_: applied(x, w, options, cval),
        second_order=second_order,
    )
    check_rule(
        *(beside_signal, c, w, options, shape),
        differences=lambda c, w, *_: beside_signal(c, w, options, shape),
        second_order=second_order,
    )
    check_rule(
        *(beside_filter, x, c, options, cval, form),
        differences=lambda x, c, _, v, __: beside_filter(x, c, options, v, form),
        second_order=second_order,
    )


def require_typed(f, *args):
    """A program is typed; it gets code of its own: what was found out about that of others does not count for it."""
    f = types.FunctionType(f.__code__.replace(), f.__globals__, f.__name__, None, f.__closure__)
    with collecting() as reports:
        ad.gradient(f, *args)
    found = [r.kind for r in reports if r.code is f.__code__]
    assert "typed" in found, [str(r) for r in reports if r.code is f.__code__]
