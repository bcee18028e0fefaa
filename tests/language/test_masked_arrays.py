"""Masked arrays: arithmetic, functions, reductions, items and masks."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_modes import MODES, differences

AT, WAY = np.array([0.7, 1.3, 2.1]), np.array([0.3, -1.1, 0.6])


def product_and_sum(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float((a * a).sum())


def ufunc_of_numpy(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.exp(a).sum())


def functions_of_their_own(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.ma.exp(a).sum() + np.ma.sqrt(a).mean() + np.ma.log(a).sum())


def arithmetic(x):
    a = np.ma.array(x, mask=[False, True, False])
    b = (a + 1) * x / (a - 3.0) - a**2 + 2.0 * a - x
    return float(b.sum())


def filled(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.sum((a**2).filled(0.5) * x))


def compressed(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.sum(a.compressed() ** 3))


def moments(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(a.mean() * a.std() + a.var())


def extremes(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(a.min() * a.max())


def product(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.ma.dot(a, a))


def masked_by_a_condition(x):
    a = np.ma.masked_where(x > 1.5, x)
    return float((a**2).sum())


def masked_where_undefined(x):
    with np.errstate(all="ignore"):
        a = np.ma.masked_invalid(np.log(x - 1.0))
    return float((a**2).sum())


def average(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.ma.average(a, weights=x))


def median(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.ma.median(a * a))


def chosen(x):
    a = np.ma.array(x, mask=[False, True, False])
    return float(np.ma.where(x > 1.0, a * 2, a**2).sum())


def items_read_and_stored(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    s = a[0] * a[2]
    a[0] = x[1] ** 2
    a[1] = x[0]
    a[2] = np.ma.masked
    return float(s + (a**2).sum())


def sliced(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    return float((a[1:] ** 2).sum())


def functions_of_numpy(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    return float(np.sum(a) + np.mean(a**2) + np.std(a) + np.max(a))


def data_and_mask(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    return float(np.sum(a.data**2) + np.sum(a.mask * x))


def in_place(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    a += x
    a *= 2
    a /= x
    return float((a**2).sum())


def of_two_dimensions(x):
    a = np.ma.array(np.outer(x, x), mask=np.eye(3, dtype=bool))
    return float((a.sum(axis=0) * x).sum() + a.T.mean(axis=1).sum() + a.reshape(-1)[1:].sum())


def masked_by_a_bound(x):
    a = np.ma.masked_less(x, 1.0)
    b = np.ma.masked_array(x**2, mask=a.mask)
    return float((a * b).sum() / a.count())


def joined(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    return float((np.ma.concatenate([a, a]) ** 2).sum())


def accumulated(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    return float(a.cumsum().sum() + a.prod() + a.ptp() + np.ma.abs(a).sum())


def iterated_over(x):
    a = np.ma.array(x * 2, mask=[False, True, False])
    return float(sum([v**2 for v in a if v is not np.ma.masked]))


def statistics(x):
    a = np.ma.array(np.outer(x, x), mask=np.eye(3, dtype=bool))
    return (
        float(
            np.ma.cov(a[:2]).sum()
            + a.anom().sum()
            + np.ma.polyfit(np.arange(3.0), np.ma.array(x, mask=[0, 0, 0]), 1).sum()
        )
        if False
        else float(
            a.anom().std()
            + np.ma.var(a, axis=0).sum()
            + a.var(axis=1, ddof=1)[0]
            + np.ma.mean(a, axis=1)[1]
            + np.ma.prod(a)
            + np.ma.min(a, axis=0).sum()
        )
    )


def more_functions(x):
    a = np.ma.array(x, mask=[0, 1, 0])
    return float(
        np.ma.log10(a).sum()
        + np.ma.power(a, 2).sum()
        + np.ma.clip(a, 0.5, 1.0).sum()
        + np.ma.maximum(a, 1.0).sum()
        + np.ma.arctan2(a, 2.0).sum()
        + np.ma.sort(a)[0]
        + np.ma.outer(a, a).sum()
        + np.ma.inner(a, a)
        + np.ma.stack([a, a]).sum()
        + np.ma.append(a, a).sum()
    )


def with_numbers(x):
    a = np.ma.array([x[0], x[1], x[2]], mask=[0, 0, 1])
    b = 2.0 / a + a * np.float64(2.0) - (1.0 - a) ** 2 + np.arctan(a) + abs(-a)
    return float(
        b.sum()
        + b[0]
        + a.data[2]
        + np.ma.getdata(a)[1]
        + a.filled(3.0)[2]
        + np.ma.filled(a, 0)[0]
        + a.max()
        + np.argmax(a)
    )


def made_in_other_ways(x):
    a = np.ma.masked_greater(x, 2.0)
    b = np.ma.masked_inside(x, 0.0, 1.0)
    c = np.ma.masked_values(x, 0.0)
    d = np.ma.MaskedArray(x)
    d[d > 2] = np.ma.masked
    d.mask[0] = False
    return float(
        a.sum() * b.sum() + c.mean() + d.mean() + (a + b).sum() + np.ma.masked_array(x, mask=np.isnan(x)).sum()
    )


def clipped(x):
    a = np.ma.array(x, mask=[0, 1, 0])
    return float(np.ma.clip(a, 0.5, 1.0).sum())


def sorted_without_mask(x):
    a = np.ma.array(x[::-1])
    b = np.sort(a)
    a.sort()
    return float((a * b * np.arange(3.0)).sum())


def sorted_with_mask(x):
    a = np.ma.array(x[::-1] * x, mask=[False, True, False])
    a.sort()
    return float(a[0] * x[0] + a.sum())


RIGHT = (
    *(sorted_without_mask, sorted_with_mask),
    *(product_and_sum, ufunc_of_numpy, functions_of_their_own, arithmetic),
    *(filled, compressed, moments, extremes),
    *(product, masked_by_a_condition, masked_where_undefined, average),
    *(median, chosen, items_read_and_stored, sliced),
    *(functions_of_numpy, data_and_mask, in_place, of_two_dimensions),
    *(masked_by_a_bound, joined, accumulated, iterated_over),
    *(statistics, more_functions, with_numbers, made_in_other_ways),
    clipped,
)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f, mode):
    def along(step):
        return f(AT + step * WAY)

    expected = differences(along, 0.0, 2 if mode == "hvp" else 1)
    assert MODES[mode](along, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-5)
