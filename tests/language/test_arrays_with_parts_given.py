"""Structured arrays, records and arrays of objects as arguments: their gradients are arrays like them."""

from __future__ import annotations

import numpy as np
import pytest
from in_all_modes import differences

from autodiff_hook import (
    AutodiffError,
    NotDifferentiable,
    Unsupported,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    pullback,
    ravel,
    tree_map,
)
from autodiff_hook.testing import check_gradient

KIND = np.dtype([("x", float), ("v", float, (2,)), ("n", int), ("s", "U3")])
NESTED = np.dtype([("p", [("u", float), ("w", float)]), ("o", object), ("k", "i4")])


def records(length=3):
    a = np.zeros(length, KIND)
    a["x"], a["n"], a["s"] = np.arange(length) + 0.7, 2, "ab"
    a["v"] = np.cos(np.arange(2.0 * length)).reshape(length, 2)
    return a


def nested():
    a = np.zeros(2, NESTED)
    a["p"]["u"], a["p"]["w"] = [0.7, 1.3], [2.1, -0.4]
    a["o"] = [1.5, 0.3]
    return a


def objects():
    return np.array([0.7, [1.3, 0.2], np.array([2.1, 0.4]), "text", None], dtype=object)


def by_fields(a):
    return np.sum(a["x"] ** 3 * a["v"][:, 1] * a["n"])


def by_records(a):
    total = 0.0
    for row in a:
        total += row["x"] ** 2 * row["v"][0]
    return total + a[1]["x"] * a[-1][0] ** 2


def chosen(a):
    b = np.sort(a, order="x")[::-1].copy()
    return np.sum(b["x"] ** 2 * b["v"][:, 0] * np.arange(len(b))) + a[a["x"] > 1]["x"].prod()


def stored_into(a):
    a["x"][0] = a["x"][1] ** 2
    a[1] = a[2]
    return np.sum(a["x"] ** 2 * a["v"][:, 1])


def by_fields_of_fields(a):
    return np.sum(a["p"]["u"] ** 2 * a["p"]["w"]) * a["o"][0] ** 2 * a[1]["o"]


def by_elements(a):
    return a[0] ** 2 * a[1][0] * np.sum(a[2] ** 2) * a[1][1] ** 2


def of_one_record(row):
    return row["x"] ** 3 * row["v"][1] ** 2


def of_a_record_array(a):
    return np.sum(a.x**2 * a.v[:, 0])


def in_containers(held):
    return held["rows"]["x"][0] ** 2 * held["rest"][0][0] ** 2 * held["rest"][1]


def of_an_object_array(a):
    return (a * a * a).sum()


READ_ONLY = records()
READ_ONLY.flags.writeable = False
RIGHT = (
    *((f, records()) for f in (by_fields, by_records, chosen, stored_into)),
    *((by_fields, a) for a in (READ_ONLY, records(7)[::-2], records()[1:2].reshape(()).reshape(1), records()[:0])),
    *((by_fields, np.asfortranarray(records(6).reshape(2, 3)).T[:, 1]), (by_fields_of_fields, nested())),
    *((by_elements, objects()), (of_an_object_array, np.array([[0.7, 1.3], [0.2, -1.1]], dtype=object))),
    *((of_one_record, records()[1]), (of_one_record, records()[1].copy()), (of_one_record, records()[1:2].reshape(()))),
    (of_a_record_array, records().view(np.recarray)),
    (in_containers, {"rows": records(), "rest": (objects(), 0.4)}),
)


def name(x):
    return getattr(x, "__name__", "")


def products(f, given, way):
    """The derivative along a tangent, by each operator."""
    yield ravel(gradient(f, given)[0])[0] @ ravel(way)[0]
    _, back = pullback(f, given)
    yield ravel(back(1.0)[0])[0] @ ravel(way)[0]
    yield ravel(back(1.0)[0])[0] @ ravel(way)[0]
    yield jvp(f, (given,), (way,))[1]
    yield linearize(f, given)[1](way)


@pytest.mark.parametrize(("f", "given"), RIGHT, ids=name)
def test_right(f, given):
    vector, made = ravel(given)
    if f is stored_into:
        f = kept(f)
    way = np.sin(np.arange(vector.size) + 1.0)

    def along(step):
        return f(made(vector + step * way))

    tangent = without_text(made(way))
    slope, curvature = differences(along, 0.0, 1), differences(along, 0.0, 2)
    for found in products(f, given, tangent):
        assert found == pytest.approx(slope, rel=1e-7, abs=1e-9)
    second = hvp(f, (given,), (tangent,))[0]
    assert ravel(second)[0] @ way == pytest.approx(curvature, rel=1e-5, abs=1e-5)


def without_text(tree):
    """A tangent: it has None where there is no derivative."""
    if isinstance(tree, dict):
        return {key: without_text(part) for key, part in tree.items()}
    if isinstance(tree, tuple):
        return tuple(map(without_text, tree))
    if isinstance(tree, np.ndarray) and tree.dtype == object:
        for place, item in np.ndenumerate(tree):
            tree[place] = None if isinstance(item, str) else item
    return tree


def kept(f):
    """Differences, and several derivatives in a row, begin where the argument was."""

    def of_copy(a):
        return f(a.copy())

    return of_copy


def test_what_was_stored_stays():
    a = records()
    expected = a.copy()
    stored_into(expected)
    check_gradient(stored_into, records())
    gradient(stored_into, a)
    assert (a == expected).all()


@pytest.mark.parametrize(("f", "given"), [row for row in RIGHT if isinstance(row[1], np.ndarray)], ids=name)
def test_checked(f, given):
    check_gradient(f, given)


def test_form():
    (of_records,) = gradient(by_fields, records())
    assert of_records.dtype == [("x", float), ("v", float, (2,))]
    assert of_records.shape == (3,)
    (of_objects,) = gradient(by_elements, objects())
    assert of_objects.dtype == object
    assert [type(x) for x in of_objects] == [float, list, np.ndarray, type(None), type(None)]
    (of_row,) = gradient(of_one_record, records()[1])
    assert of_row.shape == ()
    assert gradient(lambda a: float(a["n"].sum()), records()[["n", "s"]]) == (None,)
    stepped = tree_map(lambda p, g: p - 0.5 * g, records(), of_records)
    assert stepped.dtype == KIND
    np.testing.assert_allclose(stepped["v"], records()["v"] - 0.5 * of_records["v"])


def test_complex_fields():
    a = np.array([(1 + 2j, 3.0)], [("z", complex), ("m", float)])
    (found,) = gradient(lambda a: (np.abs(a["z"]) ** 2 * a["m"]).sum(), a)
    np.testing.assert_allclose(found["z"], [6 + 12j])
    np.testing.assert_allclose(found["m"], [5.0])


def test_values():
    def squared(a):
        b = a.copy()
        b["x"] **= 2
        return b

    y, back = pullback(squared, records())
    np.testing.assert_allclose(back(y)[0]["x"], 2 * records()["x"] ** 3)
    np.testing.assert_allclose(back(y)[0]["v"], records()["v"])
    value, tangent = jvp(squared, (records(),), (records(),))
    np.testing.assert_allclose(tangent["x"], 2 * value["x"])
    elements, back = pullback(lambda a: np.array([a[0] * a[1][0], a[2]], dtype=object), objects())
    (found,) = back(elements)
    assert found[0] == pytest.approx(0.7 * 1.3**2)
    np.testing.assert_allclose(found[2], objects()[2])
    with pytest.raises(AutodiffError, match=r"the value is an array of records \(3,\)"):
        pullback(squared, records())[1](np.ones(3))


def test_derivatives_within_derivatives():
    found = grad(lambda a: (grad(by_fields)(a)["x"] ** 2).sum())(records())
    a = records()
    np.testing.assert_allclose(found["x"], 2 * (6 * a["x"] ** 2 * a["v"][:, 1]) * 12 * a["x"] * a["v"][:, 1])
    scaled = grad(lambda s: grad(lambda a: by_elements(a) * s)(objects())[0])(3.0)
    assert scaled == pytest.approx(gradient(by_elements, objects())[0][0])


def test_jacobian():
    rows = jacobian(lambda a: a["x"] ** 2)(records())
    assert rows.shape == (3, 3)
    np.testing.assert_allclose(rows["x"], np.diag(2 * records()["x"]))
    with pytest.raises(Unsupported, match="pass its parts"):
        hessian(by_fields)(records())
    with pytest.raises(Unsupported, match="return its parts"):
        jacobian(lambda a: a)(records())


SAME = records()


def test_other_names_are_errors():
    with pytest.raises(NotDifferentiable, match="the global SAME"):
        gradient(lambda a: (a["x"] * SAME["x"]).sum(), SAME)
    for tangents in ((SAME, SAME), (SAME, None)):
        with pytest.raises(NotDifferentiable, match="several arguments show the memory"):
            jvp(lambda a, b: (a["x"] * b["x"]).sum(), (SAME, SAME), tangents)
    with pytest.raises(NotDifferentiable, match="several arguments show the memory"):
        gradient(lambda a, x: (a["x"] * x).sum(), SAME, SAME["x"])
    first, second = gradient(lambda a, b: a["x"] * b["x"] ** 2, SAME[0], SAME[1])
    assert (first["x"], second["x"]) == pytest.approx((1.7**2, 2 * 0.7 * 1.7))


def test_tangents_that_are_the_primals():
    numbers = [2.0, 3.0]
    assert hvp(lambda a: a[0] ** 2 * a[1], (numbers,), (numbers,)) == ([24.0, 8.0],)
    a = records()
    np.testing.assert_allclose(hvp(by_fields, (a,), (a,))[0]["x"], hvp(by_fields, (a,), (a.copy(),))[0]["x"])
