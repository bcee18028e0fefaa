from __future__ import annotations

import numpy as np
import pytest

from autodiff_hook.cotangents import not_implemented
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_hook.signatures import Any
from autodiff_hook.testing import check_gradient, check_rule


def product(x, y):
    return x * y


def register(pullback_of, value=product):
    """Register for ``product`` the value and the pullback ``pullback_of(x, y)``."""

    @rrule(product)
    def product_rule(x, y):
        return value(x, y), pullback_of(x, y)


def right(x, y):
    def pullback(z̄):
        return z̄ * np.conj(y), z̄ * np.conj(x)

    return pullback


def test_a_right_rule_passes():
    register(right)
    check_rule(product, 2.0, -3.0)
    check_rule(product, 2, -3)
    check_rule(product, 2 + 1j, 3j)
    check_rule(product, np.float32(2), np.float32(3))
    check_rule(product, np.arange(3.0), np.ones(3))
    check_rule(product, np.arange(3, dtype=np.float32), np.ones(3, np.float32))
    check_rule(product, np.arange(3) + 1j, np.ones(3) * 2j)
    check_rule(product, np.ones((0, 2)), np.ones((0, 2)))


def test_functions_of_containers():
    def norm(tree, power):
        return tree["a"] ** power + tree["b"][0] * tree["b"][1].sum(), [tree["a"], "text"]

    @rrule(norm)
    def norm_rule(tree, power):
        def norm_pullback(ȳ):
            ā = 0.0 if ȳ[0] is None else ȳ[0] * power * tree["a"] ** (power - 1)
            if ȳ[1] is not None and ȳ[1][0] is not None:
                ā = ā + ȳ[1][0]
            b, c = tree["b"]
            b̄ = None if ȳ[0] is None else (ȳ[0] * c.sum(), np.full(c.shape, ȳ[0] * b))
            return {"a": ā, "b": b̄}, not_implemented("the power")

        return norm(tree, power), norm_pullback

    check_rule(norm, {"a": 2.0, "b": (3.0, np.array([1.0, 2.0]))}, 3)


@pytest.mark.parametrize(
    "pullback, message",
    [
        (lambda x, y: lambda z̄: (z̄ * y, -z̄ * x), r"product, args\[1\]: the rule says [-.\d]+, finite differences"),
        (lambda x, y: lambda z̄: (z̄ * y, None), r"product, args\[1\]: the rule says 0.0, finite differences"),
        (lambda x, y: lambda z̄: (z̄ * y,), "returns 1 cotangents for 2 positional parameters"),
        (lambda x, y: lambda z̄: [z̄ * y, z̄ * x], "is no tuple"),
        (lambda x, y: lambda z̄: (z̄ * y, [z̄ * x]), r"args\[1\]: the cotangent of -3.0 is \[.*of type list"),
        (lambda x, y: lambda z̄: (z̄ * y, z̄ * x * 1j), r"args\[1\]: the cotangent of -3.0 is .*of type complex"),
        (lambda x, y: lambda z̄: (z̄ * y, np.array(z̄ * x)), r"args\[1\]: .*of type ndarray"),
        (lambda x, y: lambda z̄: (z̄ * y, z̄ * x if z̄ == 0.1257302210933933 else z̄), "is not linear"),
        (lambda x, y: lambda z̄: (z̄ * y, np.random.rand()), "called twice gives two results"),
    ],
)
def test_wrong_pullbacks_of_numbers(pullback, message):
    register(pullback)
    with pytest.raises(AssertionError, match=message):
        check_rule(product, 2.0, -3.0)


@pytest.mark.parametrize(
    "pullback, message",
    [
        (lambda x, y: lambda z̄: (z̄ * y, (z̄ * x)[:1]), r"args\[1\]: the cotangent of array.* is array"),
        (lambda x, y: lambda z̄: (z̄ * y, (z̄ * x).astype(float)), "of dtype float64 instead of float32"),
        (lambda x, y: lambda z̄: (z̄ * y, (z̄ * x)[::-1]), r"args\[1\]: the rule says"),
    ],
)
def test_wrong_pullbacks_of_arrays(pullback, message):
    register(pullback)
    x = np.array([1, 2, 3], np.float32)
    with pytest.raises(AssertionError, match=message):
        check_rule(product, x, x[::-1].copy())


def test_a_rule_that_modifies():
    def mutating(x, y):
        def pullback(z̄):
            z̄ *= y
            return z̄, z̄

        return pullback

    register(mutating)
    with pytest.raises(ValueError, match="read-only"):
        check_rule(product, np.ones(2), np.ones(2))

    def first(xs):
        return xs[0]

    @rrule(first)
    def first_rule(xs):
        def first_pullback(ȳ):
            return ([ȳ],)

        y = xs[0]
        xs[0] = 7.0
        return y, first_pullback

    with pytest.raises(AssertionError, match="first.* modifies its arguments"):
        check_rule(first, [2.0])


def test_wrong_values():
    register(right, value=lambda x, y: x * y + 1)
    with pytest.raises(AssertionError, match=r"the rule returns 7.0, the function 6.0"):
        check_rule(product, 2.0, 3.0)
    register(right, value=lambda x, y: np.float64(x * y))
    with pytest.raises(AssertionError, match=r"the rule returns np.float64\(6.0\), the function 6.0"):
        check_rule(product, 2.0, 3.0)
    register(right, value=lambda x, y: x)
    with pytest.raises(AssertionError, match="the rule's value is a view of an argument"):
        check_rule(product, np.ones(2), np.ones(2))


def test_a_target_without_a_rule():
    with pytest.raises(AssertionError, match=r"no rule is registered for arguments of the types \(float, str\)"):
        check_rule(nondifferentiable(lambda x, y: x), 2.0, "3")


def test_a_point_where_nothing_can_be_compared():
    def positive(x):
        if x != 0.0:
            raise ValueError("only zero")
        return x

    @rrule(positive, Any)
    def positive_rule(x):
        def positive_pullback(ȳ):
            return (ȳ,)

        return positive(x), positive_pullback

    with pytest.raises(AssertionError, match=r"args\[0\]: the function cannot be evaluated around 0.0"):
        check_rule(positive, 0.0)


@pytest.mark.parametrize(("reach", "steps"), [(1.0, {"1e-04"}), (2e-7, {"1e-04", "1e-03", "1e-02", "1e-07"})])
def test_differences_are_taken_until_one_agrees(reach, steps):
    tried = set()

    def exponential(x):
        tried.add(f"{abs(x - 1.0):.0e}")
        if abs(x - 1.0) > reach:
            raise ValueError("too far")
        return np.exp(x)

    @rrule(exponential)
    def exponential_rule(x):
        y = np.exp(x)

        def exponential_pullback(ȳ):
            return (ȳ * y,)

        return y, exponential_pullback

    check_rule(exponential, 1.0)
    assert steps <= tried and (reach < 1.0 or tried == {"0e+00", *steps})


def test_gradients_of_trees():
    def f(tree, n, *, scale):
        tree["hits"] = 3
        return scale * (tree["w"][0] * tree["w"][1].sum() ** n + tree["b"])

    check_gradient(f, {"w": [2.0, np.array([1.0, 2.0])], "b": 3, "name": "text"}, 2, scale=0.5)
    check_gradient(lambda x, y: [x, (y, x * y)][1][1], 2.0, np.float64(3))
    check_gradient(lambda z: abs(z) + z.real, 3 + 4j)
    check_gradient(lambda x: x * x, np.float32(1.5))


def test_a_wrong_gradient():
    def half(x):
        return 0.5 * x

    @rrule(half)
    def half_rule(x):
        def half_pullback(ȳ):
            return (2.0 * ȳ,)

        return half(x), half_pullback

    def weighted(p):
        return half(p["a"]) * p["b"]

    with pytest.raises(AssertionError, match=r"weighted, args\[0\]\['a'\]: gradient says .*, finite differences"):
        check_gradient(weighted, {"a": 2.0, "b": 3.0})


class Spring:
    def __init__(self, k, rest, name="spring"):
        self.k, self.rest, self.name = k, rest, name

    def energy(self, x):
        return 0.5 * self.k * (x - self.rest[0]) ** 2

    def stretched(self, x):
        self.k = self.k * x
        return self.k * self.k


def test_objects_and_methods():
    spring = Spring(3.0, [0.5, np.ones(2)])
    check_gradient(Spring.energy, spring, 2.0)
    check_gradient(spring.energy, 2.0)
    check_gradient(lambda springs: sum(s.energy(2.0) for s in springs["all"]), {"all": [spring, Spring(1.0, (0.1,))]})
    check_gradient(Spring.stretched, Spring(2.0, []), 3.0)
    assert spring.k == 3.0 and spring.rest[0] == 0.5
    check_gradient(lambda s, x: np.sum(s.rest[1] * s.k) * x, spring, 2.0)


def test_a_wrong_gradient_of_an_object_names_the_attribute():
    def half(x):
        return 0.5 * x

    @rrule(half)
    def half_rule(x):
        def half_pullback(c):
            return (c,)

        return 0.5 * x, half_pullback

    with pytest.raises(AssertionError, match=r"args\[0\]\.rest\[0\]: gradient says"):
        check_gradient(lambda spring: half(spring.rest[0]), Spring(1.0, [2.0]))
