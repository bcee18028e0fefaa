"""grad, value_and_grad, jacobian, tree_map, and the controls: stop_gradient, hook, checkpoint."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from autodiff_hook import (
    Tangent,
    Unsupported,
    checkpoint,
    code_adjoint,
    code_ir,
    grad,
    gradient,
    hook,
    jacobian,
    pullback,
    rrule,
    stop_gradient,
    tree_map,
    value_and_grad,
)
from autodiff_hook.testing import check_gradient


def f(x, y, z=1.0):
    return x * y * y * z


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [(0, 9.0), (1, 12.0), (-1, 12.0), (-2, 9.0), ((0,), (9.0,)), ((1, 0), (12.0, 9.0)), ((-1,), (12.0,)), ((), ())],
)
def test_argnums(argnums, expected):
    assert grad(f, argnums)(2.0, 3.0) == expected
    assert value_and_grad(f, argnums)(2.0, 3.0) == (18.0, expected)
    assert jacobian(f, argnums)(2.0, 3.0) == expected


def test_keywords_are_constants():
    assert grad(f)(2.0, 3.0, z=10.0) == 90.0
    assert value_and_grad(f)(2.0, y=3.0) == (18.0, 9.0)


def test_the_wrapper_looks_like_the_function():
    assert grad(f).__name__ == "f" and value_and_grad(f).__wrapped__ is f
    assert grad(functools.partial(f, 2.0))(3.0) == 12.0


def test_descent_with_value_and_grad():
    """What ``scipy.optimize.minimize(..., jac=True)`` does."""

    def rosenbrock(x):
        return ((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2).sum()

    fun, x = value_and_grad(rosenbrock), np.array([-1.2, 1.0])
    for _ in range(60):
        value, g = fun(x)
        hessian = np.array([[1200 * x[0] ** 2 - 400 * x[1] + 2, -400 * x[0]], [-400 * x[0], 200.0]])
        x = x - np.linalg.solve(hessian, g)
    assert value == pytest.approx(0.0, abs=1e-12) and x == pytest.approx([1.0, 1.0])


def test_tree_map():
    params = {"w": np.ones(2), "layers": [(1.0, "relu"), {"b": 2}]}
    grads = {"w": np.full(2, 0.5), "layers": [(10.0, None), {"b": 1.0}]}
    found = tree_map(lambda p, g: p - 0.1 * g, params, grads)
    assert found["w"].tolist() == [0.95, 0.95] and found["layers"] == [(0.0, "relu"), {"b": 1.9}]
    assert tree_map(lambda x: x * 2, [1.0, (2.0, None)]) == [2.0, (4.0, None)]


def test_tree_map_of_objects():
    class Line:
        def __init__(self, slope, name):
            self.slope, self.name = slope, name

    line = Line(2.0, "a")
    (g,) = gradient(lambda line: line.slope**2, line)
    stepped = tree_map(lambda p, g: p - 0.25 * g, line, g)
    assert isinstance(stepped, Line) and (stepped.slope, stepped.name) == (1.0, "a") and line.slope == 2.0
    twice = tree_map(lambda a: 2 * a, g)
    assert isinstance(twice, Tangent) and twice.slope == 8.0 and twice.name is None
    both = tree_map(lambda a, b: a + b, g, twice)
    assert both.slope == 12.0


def test_stop_gradient():
    assert gradient(lambda x: x * stop_gradient(x), 3.0) == (3.0,)
    assert gradient(lambda xs: stop_gradient(xs)[0] * xs[0], [3.0]) == ([3.0],)

    def f(xs):
        copy = stop_gradient(xs)
        copy[0] = 100.0
        xs[0] = xs[0] * copy[1]
        return xs[0] * copy[0]

    assert gradient(f, [3.0, 2.0]) == ([200.0, 0.0],)
    assert stop_gradient(3.0) == 3.0


def test_hook():
    seen = []

    def note(c):
        seen.append(c)
        return c * 10

    assert gradient(lambda x: hook(note, x * x) * 3, 2.0) == (120.0,)
    assert seen == [3.0]
    assert gradient(lambda x: hook(lambda c: np.clip(c, -1, 1), x * 5), 2.0) == (5.0,)
    assert gradient(lambda xs: hook(lambda c: [10 * t if t is not None else t for t in c], xs)[0] * 2, [1.0, 2.0]) == (
        [20.0, 0.0],
    )


def test_checkpoint():
    calls = []

    def sine(x):
        return math.sin(x)

    @rrule(sine)
    def sine_rule(x):
        calls.append(1)
        return math.sin(x), lambda ȳ: (math.cos(x) * ȳ,)

    def inner(x, k=2.0):
        return sine(x) * x * k

    check_gradient(lambda x: checkpoint(inner)(x) * checkpoint(inner)(x * x, k=3.0), 1.2)
    calls.clear()
    _, back = pullback(lambda x: checkpoint(inner)(x), 1.2)
    assert len(calls) == 1
    back(1.0)
    assert len(calls) == 2


def test_checkpoint_of_what_changes_later():
    def f(x, a):
        weights, kept = [x, 2.0], a * 1.0

        def inner(v):
            own = np.zeros(2)
            own[0] = v * weights[0]
            own[1] = kept[1]
            return own * kept

        first = checkpoint(inner)(x * x)
        kept[1] = 5.0 * x
        second = checkpoint(inner)(x)
        return (first * first).sum() * second.sum()

    check_gradient(f, 1.3, np.array([0.4, 0.9]))


def test_checkpoint_of_what_depends_on_what_changes():
    weights = [3.0]

    def f(x):
        result = checkpoint(lambda v: v * weights[0])(x)
        weights[0] = 5.0
        return result

    try:
        assert gradient(f, 2.0) == (3.0,)
    except Unsupported as error:
        assert "changed since" in str(error)


def counting(x):
    COUNT[0] += 1
    return x ** COUNT[0]


COUNT = [0]


def counting_by_itself(x):
    counting_by_itself.calls += 1
    return x * x


counting_by_itself.calls = 0


def appending(x):
    kept = []

    def inner(v):
        kept.append(v * v)
        return v

    return checkpoint(inner)(x) * kept[0]


def assigning(x):
    total = 0.0

    def inner(v):
        nonlocal total
        total += v
        return v * v

    return checkpoint(inner)(x) + total


def storing(x):
    kept = np.zeros(2)

    def inner(v):
        kept[0] = v
        return (kept * kept).sum()

    return checkpoint(inner)(x)


def changing_its_argument(x):
    items = [x, 2.0]

    def inner(v):
        v[0] *= v[1]
        return v[0] * x

    return checkpoint(inner)(items)


WITH_EFFECTS = [checkpoint(counting), checkpoint(counting_by_itself), appending, assigning, storing]


@pytest.mark.parametrize("f", [*WITH_EFFECTS, changing_its_argument])
@pytest.mark.parametrize("operator", [gradient, pullback])
def test_checkpoint_of_what_has_effects_is_an_error(f, operator):
    for _ in range(2):
        with pytest.raises(Unsupported, match="changes what is outside of it"):
            operator(f, 2.0)


@functools.lru_cache
def root(n):
    return math.sqrt(n)


def test_checkpoint_of_what_fills_a_cache_or_changes_what_it_makes():
    def inner(v):
        items, own = [], np.zeros(2)
        items.append(v * root(3))
        own[0] = v
        return items[0] * own[0]

    root.cache_clear()
    check_gradient(lambda x: checkpoint(inner)(x) * x, 1.3)


def test_code_ir_and_code_adjoint_give_text():
    text = code_ir(f, 1.0, 2.0)
    assert text.startswith("function f(") and "binary[*]" in text and "return" in text
    assert code_adjoint(f, 1.0, 2.0).count("function f(") == 1
    carried = code_adjoint(f)
    assert carried.count("function f(") == 1 and len(carried) > len(text)
    assert "operators.binary" in carried and "binary[*]" not in carried
    with pytest.raises(Unsupported, match="not a Python function"):
        code_ir(math.sin, 1.0)


def test_nested_gradients():
    assert grad(grad(lambda x: x**3))(2.0) == 12.0
    assert gradient(lambda x: gradient(lambda y: x * y * y, 3.0)[0], 2.0) == (6.0,)
