"""Stores into arrays of complex numbers, whole numbers, bools and single precision that a program makes."""

from __future__ import annotations

import numpy as np
import pytest
from specialised_cases import GENERIC, check, has_all_ways, oracle, outcome

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

V = np.array([0.6, 1.4, 0.9, 1.1, 0.7, 1.3])


def wave(k, v):
    psi = np.zeros(6, complex)
    for i in range(6):
        psi[i] = np.exp(1j * k * i) * v[i]
    for _ in range(3):
        lap = np.zeros_like(psi)
        lap[1:-1] = psi[2:] - 2.0 * psi[1:-1] + psi[:-2]
        psi += 0.1j * lap
    return np.sum(np.abs(psi) ** 2 * v)


def reals_among_complex(k, v):
    z = np.zeros((2, 6), complex)
    for i in range(6):
        z[0, i] = k * 1j**i
        z[0, i] += v[i]
        z[1, i] = v[i] * i
    z[0, 1:4] *= 1j * k
    z[1] -= v
    z[:, 2:5] = v[:3]
    z *= v + 1j
    z[0, np.array([0, 1, 0])] = v[3:] * k
    z[1, 0] = 2
    return z.real[0] @ v + np.abs(z[0, 3]) + z[0, 2].imag * k + z[1, 1].real


def filtered(k, v):
    spectrum = np.fft.rfft(v)
    spectrum *= np.exp(-k * np.arange(4))
    spectrum[2:] = 0
    return np.sum(np.fft.irfft(spectrum, n=6) ** 2)


def filtered_in_a_plane(k, v):
    spectrum = np.fft.fft2(v.reshape(2, 3))
    spectrum[0] *= k
    spectrum[1, 1] = 1j * k
    return np.sum(np.abs(np.fft.ifft2(spectrum)) ** 2)


def counted(k, v):
    count = np.zeros(4, dtype=int)
    for x in v:
        count[int(x * 2.0)] += 1
    return np.sum(count * k ** np.arange(4)) + v.sum()


def rounded(k, v):
    q = np.zeros(6, int)
    for i in range(6):
        q[i] = k * i * v[i]
        q[i] += k
    q[1:3] += 2
    q[2:4] = v[:2] * 3
    q //= 2
    return np.sum(q * v) * k


def flags(k, v):
    m = np.zeros(6, dtype=bool)
    for i in range(6):
        m[i] = v[i] * k > 1.5
    m[0] |= True
    m |= v > 1.3
    m[v < 0.65] = 1
    m[-1] = k
    return np.sum(v[m]) * k


def sieve(k, v):
    prime = np.ones(6, bool)
    for i in range(2, 6):
        if prime[i]:
            prime[i * i :: i] = False
    return np.sum(v[prime] ** 2) * k


def singles(k, v):
    a = np.zeros(6, np.float32)
    for i in range(1, 6):
        a[i] = a[i - 1] * k + v[i]
    a[1:] += v[1:]
    a *= k
    return float(a.sum())


def drawn(k, v):
    rng = np.random.default_rng(3)
    spins, e = rng.choice([-1, 1], size=6), 0.0
    noise = rng.normal(size=6)
    noise[0] = k
    for _ in range(12):
        j = rng.integers(0, 6)
        if rng.random() < np.exp(-k * spins[j] * v[j]):
            spins[j] *= -1
        e += k * np.sum(spins * v * noise)
    return e


def masks_that_change(k, v):
    a, chosen = v * k, v > 1.0
    a[chosen] = k
    a[~chosen] *= v[~chosen]
    chosen[:3] = True
    a[chosen] *= 2.0
    for i in range(3):
        a[chosen] += k * i
        chosen[i] = False
    np.add(a, k, out=a, where=chosen)
    np.putmask(a, chosen, a * v)
    chosen |= True
    return np.sum(a * a * v)


def places_that_change(k, v):
    a, places = v * k, np.array([0, 1, 2])
    a[places] = k
    places[0] = 4
    b = a[places]
    places += 1
    a[places] *= b
    order = np.argsort(a)
    c = a[order]
    order[:] = 0
    return np.sum(a * v) + np.prod(b) + c[0] * k + c[3] * c[1]


def views_of_masks_that_change(k, v):
    a, chosen = v * k, v > 1.0
    a[np.asarray(chosen)] = k
    a[chosen.reshape(-1)] *= v[chosen]
    b = a[np.ravel(chosen)]
    c = np.where(np.broadcast_to(chosen, (2, 6)), a, k)
    chosen[:] = True
    a[0] = k
    return np.sum(a * a) + np.sum(b * b) + np.sum(c * v)


PROGRAMS = [wave, reals_among_complex, filtered, filtered_in_a_plane, counted, rounded, flags, sieve, drawn]
PROGRAMS += [masks_that_change, places_that_change, views_of_masks_that_change]


def require_all_ways(f):
    if not (GENERIC or specialising.ONE_WAY):
        assert has_all_ways(f, "gradient", "value")


@pytest.mark.parametrize("f", PROGRAMS)
def test_stores_of_all_kinds(f):
    for k, v in ((1.3, V), (0.8, V[::-1].copy()), (1.1, V * 0.9)):
        check(f, k, v)
    require_all_ways(f)


def test_single_precision():
    for k in (1.3, 0.8):
        value, grads = oracle(singles, k, V)
        for _ in range(2):
            found = ad.withgradient(singles, k, V)
            assert found[0] == value == singles(k, V)
            assert found[1][0] == pytest.approx(grads[0], rel=1e-6)
            assert found[1][1] == pytest.approx(grads[1], rel=1e-6)
    require_all_ways(singles)


def of_whole_numbers(n, x):
    a = n.copy()
    a[0] = 3
    a[1] += 1
    return a[0] * x + a[1] * x + a[2] * x


def of_a_whole_number(n, x):
    a = np.zeros(3, int)
    a[0] = n
    return a[0] * x


def whole_or_rounded(n, x):
    a, s = np.zeros(3, int), 0.0
    for i in range(4):
        a[i % 3] = n if x > i else x * n
        s += a[i % 3] * x
    return s


def test_whole_numbers_have_derivatives():
    check(whole_or_rounded, 3, 2.4, specialised=None)
    check(of_whole_numbers, np.array([1, 2, 3]), 2.0)
    check(of_a_whole_number, 3, 2.0)


def whole_parts(k, v):
    w = v * k * 7.0
    total = np.array([w[0], 2.5], dtype=int).sum() + np.sum(w, dtype=int) + w.cumsum(dtype="i8")[2]
    total += np.trace(np.outer(w, v), dtype=int) + np.add(w, 1.5, dtype=int, casting="unsafe")[1]
    return (total + np.concatenate([w, v], dtype=int, casting="unsafe").sum()) * k


TYPES, AXES = ["f8", "i8"], [1, 3]


def of_types_by_name(k, v):
    total = 0.0
    for i in range(2):
        rows = np.full(3, k * 7.0, dtype=TYPES[i])
        rows[1:] = v[:2] * 3.0
        total += rows.sum() + np.sum([k * 3.0, 2.2], dtype=TYPES[i]) + np.array(v, ndmin=AXES[i]).ndim
    return total * k


@pytest.mark.parametrize("f", [whole_parts, of_types_by_name])
def test_whole_parts_of_floats_have_none(f):
    check(f, 1.31, V, specialised=None)
    assert ad.gradient(f, 1.31, V)[0] == pytest.approx((f(1.31 + 1e-6, V) - f(1.31 - 1e-6, V)) / 2e-6)
    assert ad.jvp(lambda k: f(k, V), (1.31,), (1.0,))[1] == pytest.approx(ad.gradient(f, 1.31, V)[0])


def complex_into_reals(k, v):
    a = np.zeros(6)
    a[0] = (k + 1j) * v[0]
    return a[0]


def floats_added_to_whole_numbers(k, v):
    a = np.zeros(6, int)
    a += v * k
    return a[0] * k


def divided_whole_numbers(k, v):
    a = np.ones(6, int)
    a /= 2
    return a[0] * k


def unsigned_below_zero(k, v):
    a = np.zeros(6, np.uint64)
    a += np.ones(6, int)
    return a[0] * k


def bytes_below_zero(k, v):
    a, n = np.zeros(6, np.uint8), np.arange(6)
    a += n[1]
    return a[0] * k


def bools_subtracted(k, v):
    a = v > k
    a -= v > 0
    return a[0] * k


def times_complex(k, v):
    v = v * k
    v *= 1j
    return v[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "f",
    [
        *(complex_into_reals, floats_added_to_whole_numbers, divided_whole_numbers),
        *(unsigned_below_zero, bytes_below_zero, bools_subtracted, times_complex),
    ],
)
def test_what_may_not_fit(f):
    for _ in range(2):
        plain, found = outcome(f, 1.3, V), outcome(ad.withgradient, f, 1.3, V)
        assert found is plain if isinstance(plain, type) else found[0] == plain
