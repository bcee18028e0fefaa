"""Values that are real or complex by what numbers and arrays hold, and not by their types, in typed programs."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from specialised_cases import oracle, same

import autodiff_hook as ad


def eigenvalues(a):
    return np.linalg.eigvals(np.array([[0.1, 1.0], [a, 0.3]]))


def sizes(a):
    return np.max(np.abs(eigenvalues(a))) * a


def one_by_one(a):
    return float(sum([abs(w) ** 2 for w in eigenvalues(a)]))


def summed_in_a_loop(a):
    total = 0.0
    for k in range(3):
        total = total + np.sum(eigenvalues(a + 0.5 * k - 0.4) ** 3)
    return float(total.real)


def asked_what_they_are(a):
    w = eigenvalues(a)
    return float(w.real.sum() * a) if np.isrealobj(w) else float(np.abs(w).sum())


def asked_for_their_dtype(a):
    w = eigenvalues(a)
    return float(max(w)) * a if w.dtype == float else float(w[0].imag)


def with_vectors(a):
    w, v = np.linalg.eig(np.array([[0.1, 1.0], [a, 0.3]]))
    return float(np.abs(v[0, 0] * w[0]) + np.abs(w).max())


def of_polynomials(a):
    return float(abs(np.roots([1.0, 0.2, a])[0]) + np.poly(np.array([[0.1, 1.0], [a, 0.3]]))[2] * a)


def roots_of_one_number(a):
    return float(abs(np.emath.sqrt(a)) + np.real(np.emath.log(a)))


def roots_of_several_numbers(a):
    return float(sum([abs(np.lib.scimath.sqrt(v)) for v in (0.1, a, a * 2)]))


def powers_by_functions(a):
    return np.asarray(pow(a, 0.3)).real + np.asarray(operator.ipow(a, 0.7)).real


def made_complex_on_one_way(a):
    x = np.asarray(a)
    if a < 0:
        x = x.astype(complex)
    y = np.sqrt(x)
    return float((y * np.conj(y)).real)


def items_of_what_was_made_complex(a):
    x = np.array([a])
    if a < 0:
        x = x.astype(complex)
    return float(abs(np.sqrt(x[0])))


BY_VALUE = [
    *(sizes, one_by_one, summed_in_a_loop, asked_what_they_are, asked_for_their_dtype, with_vectors, of_polynomials),
    *(
        roots_of_one_number,
        roots_of_several_numbers,
        powers_by_functions,
        made_complex_on_one_way,
        items_of_what_was_made_complex,
    ),
]


@pytest.mark.parametrize(
    "points", [(0.5, -0.5, 0.7, -0.9), (-0.5, 0.5, -0.3, 0.9)], ids=["real first", "complex first"]
)
@pytest.mark.parametrize("f", BY_VALUE)
def test_derivatives_are_those_of_what_the_values_are(f, points):
    copy = type(f)(f.__code__.replace(co_name=f"{f.__name__}_{points[0] > 0}"), f.__globals__)
    for a in points * 2:
        expected = (f(a + 1e-6) - f(a - 1e-6)) / 2e-6
        found = [ad.gradient(copy, a)[0], ad.pullback(copy, a)[1](1.0)[0], ad.jvp(copy, (a,), (1.0,))[1]]
        assert np.isrealobj(found) and found == pytest.approx([expected] * 3, rel=1e-6, abs=1e-8)
        same(ad.gradient(copy, a), oracle(copy, a)[1])
