"""Cotangents that are given to ``back`` have the form of the value, or the error says how they differ."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_hook import AutodiffError, pullback

ARRAY = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "function, wrong",
    [
        *((lambda x: x * 2.0, wrong) for wrong in ("1.0", [1.0], np.ones(2), object())),
        *((lambda x: x * ARRAY, wrong) for wrong in (np.ones(2), 1.0, np.ones((3, 1)), np.array(["a", "b", "c"]))),
        *((lambda x: (x, 2 * x), wrong) for wrong in (1.0, (1.0,), (1.0, 1.0, 1.0), (1.0, "a"), "ab")),
        *((lambda x: [x, [x]], wrong) for wrong in ([1.0], [1.0, 1.0], 1.0)),
        *((lambda x: {"a": x}, wrong) for wrong in (1.0, {"b": 1.0}, {"a": [1.0]})),
    ],
)
def test_a_cotangent_of_another_form_is_an_error(function, wrong):
    _, back = pullback(function, 1.5)
    for _ in range(2):
        with pytest.raises(AutodiffError, match="the cotangent given to back"):
            back(wrong)


def test_none_is_zero_anywhere():
    _, back = pullback(lambda x: (x, [2 * x], {"a": x * ARRAY}), 1.5)
    assert back(None) == (0.0,)
    assert back((1.0, None, None)) == (1.0,)
    assert back((None, [1.0], {})) == (2.0,)
    assert back([None, [None], {"a": np.ones(3)}]) == (6.0,)


def test_a_number_for_an_array_of_no_axes():
    for function in (lambda x: np.asarray(x * 2.0).reshape(()), lambda x: (np.reshape(x * ARRAY[:1], ()) * 2.0, x)):
        value, back = pullback(function, 1.5)
        for _ in range(2):
            cotangent = 3.0 if isinstance(value, np.ndarray) else (3.0, None)
            assert back(cotangent) == (6.0,)
