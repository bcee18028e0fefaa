"""Masked arrays on one way: what ``numpy.ma`` does, which is written in Python, is followed."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import GENERIC, check, is_specialised, slopes

X = np.array([1.0, 2.2, -1.0, 4.0, 3.1])
MASK = np.array([0, 0, 1, 0, 0], bool)


def masked(x):
    return np.ma.masked_array(x, MASK)


def changed(x):
    m = np.ma.array(x * 2.0, mask=np.zeros(5, bool))
    m[1] = x[0] * 3.0
    m[3] = np.ma.masked
    return float(m.sum() + m.count() * x[2])


def by_axes(x):
    m = np.ma.masked_greater(np.outer(x, x), 5.0)
    return np.sum(m.mean(axis=0).filled(0.0)) + m.sum(axis=1)[0]


def domains(x):
    return np.ma.log(np.ma.masked_array(x, x <= 0)).sum() + np.ma.sqrt(masked(x)).sum()


def asked(x):
    m = masked(x)
    total = m.sum() if m.mask.any() and not isinstance(m[0], np.ma.MaskedArray) else 0.0
    return total * (2.0 if m[2] is np.ma.masked else 3.0) + float(m.ptp()) * m.shape[0]


FUNCTIONS = {
    "means": lambda x: np.ma.masked_invalid(x).mean() * masked(x).std() + masked(x).var(ddof=1),
    "sums": lambda x: masked(x).sum() + np.sum(masked(x)) * np.mean(masked(x)),
    "by values": lambda x: (
        (np.ma.masked_where(x < 0, x) ** 2).mean() + np.sum(np.ma.masked_less(x, 0.0).filled(2.0) * x)
    ),
    "operators": lambda x: float((masked(x) * 2 + masked(x)[1]).max() - (1.0 / masked(x)).min()),
    "quotients": lambda x: (masked(x) / np.ma.masked_array(x - 0.3, MASK)).sum(),
    "products": lambda x: np.ma.dot(masked(x), masked(x)) + masked(x).compressed()[1],
    "averages": lambda x: np.ma.average(masked(x), weights=np.arange(5.0)),
    "by axes": by_axes,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_masked_arrays(name):
    f = FUNCTIONS[name]
    for x in (X, X[::-1] * 0.9 + 0.1):
        expected = np.array(slopes(lambda *v: float(f(np.array(v))), *x))
        np.testing.assert_allclose(check(f, x, specialised=None)[0], expected, rtol=1e-6, atol=1e-8)
    assert GENERIC or is_specialised(f)


@pytest.mark.parametrize("f", [changed, asked, domains], ids=lambda f: f.__name__)
def test_what_is_not_followed(f):
    for x in (X, X * 0.5):
        expected = np.array(slopes(lambda *v: float(f(np.array(v))), *x))
        np.testing.assert_allclose(check(f, x, specialised=None)[0], expected, rtol=1e-6, atol=1e-8)


@np.errstate(divide="ignore", invalid="ignore")
def quietly(x):
    return np.sum(np.sqrt(x) / (x - x[0] + 1.0))


def in_silence(x):
    with np.errstate():
        np.seterr(invalid="ignore")
        total = quietly(x)
    return total + x.__array_priority__ + np.float64(x[0]).__array_priority__ * 1e-6


def test_decorators_of_errstate():
    check(in_silence, np.array([1.0, 2.0, 3.0]), specialised=None)
