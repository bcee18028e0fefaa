"""SciPy's Python code on one way: distributions without formulas of their own, what it asks, its random generators."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import check_slopes

stats = pytest.importorskip("scipy.stats")
POINTS = np.linspace(0.1, 0.9, 7)
SHAPES = {
    **{"levy": (), "gennorm": (1.3,), "triang": (0.4,), "genextreme": (0.1,), "truncnorm": (-1.0, 2.0)},
    **{"kappa4": (0.1, 0.2), "burr": (1.3, 1.7), "genpareto": (1.2,), "semicircular": ()},
}


@pytest.mark.parametrize("method", ["logpdf", "cdf"])
@pytest.mark.parametrize("name", SHAPES)
def test_distributions_through_their_source(name, method):
    function = getattr(getattr(stats, name), method)
    check_slopes(lambda m, s: float(function(POINTS, *SHAPES[name], m, scale=s).sum()), -0.05, 1.7)


def test_shapes_of_distributions_through_their_source():
    check_slopes(lambda c: float(stats.gennorm.logpdf(POINTS, c).sum()), 1.3)
    check_slopes(lambda c: float(stats.burr.cdf(POINTS, d=1.2, c=c).sum()), 1.3)


POLYNOMIALS = {
    "derivative": lambda a, b: np.polynomial.Polynomial([a, b, 2.0]).deriv()(0.3),
    "divided": lambda a, b: np.poly1d([a, b, 2.0])(0.3) / 2 + (np.poly1d([1.0, a]) * b)(0.2),
    "dirichlet": lambda a, b: stats.dirichlet(np.array([a, b, 1.0])).logpdf([0.3, 0.2, 0.5]),
    "wishart": lambda a, b: stats.wishart(4, np.eye(2) * a).logpdf(np.array([[1.0, 0.2], [0.2, 2.0 + b]])),
    "entropy": lambda a, b: stats.entropy(a * POINTS + b, POINTS[::-1]),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_what_library_code_asks(name):
    check_slopes(lambda a, b: float(POLYNOMIALS[name](a, b)), 0.7, 0.4)


def in_texts(x):
    """A dict that is made is written into a text, which raises where a name is missing."""
    written = {}
    for name, text in {"k": "v", "w": "u"}.items():
        written[name] = text + "!"
    try:
        missing = "%(k)s %(z)s" % written  # noqa: UP031
    except KeyError as error:
        missing = error.args[0]
    return x * len("%(k)s and %(w)s" % written) + len(missing) * x * x  # noqa: UP031


def test_texts_with_dicts():
    check_slopes(in_texts, 0.7)


def test_bits_of_whole_numbers_and_arrays():
    known = np.array([True, False, True])
    check_slopes(lambda x: float(np.sum(np.where(np.int64(1) & known, x * x, x))), 0.7)
    check_slopes(lambda x: float(np.sum(x ** (known | np.arange(3)))), 0.7)
