"""Factorisations in all modes, and matrices without an inverse, of which derivatives are nan."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_orders import check_orders
from numpy_checks import normal, positive

import autodiff_hook as ad

SQUARE, TALL, WIDE, STACK = normal(3, 3), normal(5, 3), normal(3, 5), normal(2, 3, 3)
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

PROGRAMS = {
    "qr of wide": (np.linalg.qr, WIDE),
    "qr of wide stacks": (lambda a: np.linalg.qr(a)[1], normal(2, 2, 3)),
    "qr, orthogonal part of wide": (lambda a: np.linalg.qr(a)[0], WIDE),
    "qr, r": (lambda a: np.linalg.qr(a, "r"), TALL),
    "qr, r of wide": (lambda a: np.linalg.qr(a, "r"), WIDE),
    "qr, complete": (lambda a: np.linalg.qr(a, "complete"), SQUARE),
    "qr, complete of wide": (lambda a: np.linalg.qr(a, "complete"), WIDE),
    "lstsq": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], TALL, normal(5)),
    "lstsq, residues": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[1], TALL, normal(5, 2)),
    "lstsq, singular values": (lambda a: np.linalg.lstsq(a, np.ones(5), rcond=None)[3], TALL),
    "polyfit": (lambda x, y: np.polyfit(x, y, 2), normal(5), positive(5)),
    "fit": (lambda y: np.polynomial.Polynomial.fit(np.arange(5.0), y, 2)(0.3), positive(5)),
    "tensorsolve": (np.linalg.tensorsolve, normal(2, 3, 6), normal(2, 3)),
    "tensorsolve with axes": (lambda a, b: np.linalg.tensorsolve(a, b, (0,)), normal(6, 2, 3), normal(2, 3)),
    "tensorinv": (lambda a: np.linalg.tensorinv(a, 1), normal(6, 2, 3)),
    **{f"cond {p}": (lambda a, p=p: np.linalg.cond(a, p), SQUARE) for p in (None, 2, -2, 1, -1, np.inf, "fro", "nuc")},
    "cond of stacks": (lambda a: np.linalg.cond(a, 1), STACK),
    "ihfft": (lambda x: np.fft.ihfft(x, 7, norm="ortho"), normal(5)),
    "hfft": (lambda x: np.fft.hfft(x[:3] + 1j * x[2:]), normal(5)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check_orders(*PROGRAMS[name])


WITHOUT_INVERSE = {
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], SINGULAR),
    "qr": (lambda a: np.linalg.qr(a)[1].sum(), np.diag([1.0, 0.0])),
}


@pytest.mark.parametrize("name", WITHOUT_INVERSE)
def test_a_matrix_without_an_inverse_gives_what_is_no_number(name):
    f, a = WITHOUT_INVERSE[name]
    assert not np.isfinite(ad.gradient(f, a)[0]).all()
    assert not np.isfinite(ad.jvp(f, (a,), (np.ones((2, 2)),))[1])


def test_one_of_a_stack_leaves_the_others_alone():
    stack = np.stack([SINGULAR, np.diag([2.0, 4.0])])
    found = ad.gradient(lambda a: np.linalg.slogdet(a)[1].sum(), stack)[0]
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [[0.5, 0.0], [0.0, 0.25]]


def test_what_is_masked_stays_zero():
    def f(a):
        return np.where([False, True], np.linalg.slogdet(a)[1], 0.0).sum()

    stack = np.stack([SINGULAR, np.diag([2.0, 4.0])])
    assert ad.gradient(f, stack)[0][0].tolist() == [[0.0, 0.0], [0.0, 0.0]]
