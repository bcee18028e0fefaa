"""``Fraction`` and ``Decimal``: values that carry derivatives, which are floats."""

import copy
import functools
import itertools
import math
import numbers
import operator
import statistics
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction

import pytest
from language.in_all_modes import MODES, differences

import autodiff_hook as ad
from autodiff_hook.testing import check_rule

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, divmod, pow)
PAIRS = [
    *((Fraction(7, 3), Fraction(3, 5)), (Fraction(7, 3), 1.25), (2.3, Fraction(3, 4)), (Fraction(7, 3), 2)),
    *((Fraction(7, 3), True), (5, Fraction(3, 4)), (Fraction(-7, 3), 3)),
    *((Decimal("2.3"), Decimal("1.7")), (Decimal("2.3"), 2), (5, Decimal("2.1")), (Decimal("-2.3"), 3)),
]
DECIMALS = (Decimal("0.3"), Decimal("1.7"), Decimal("23.5"))


@pytest.mark.parametrize(("x", "y"), PAIRS)
@pytest.mark.parametrize("function", BINARY)
def test_operators_on_two_numbers(function, x, y):
    check_rule(function, x, y, second_order=x > 0)


@pytest.mark.parametrize("x", [Fraction(3, 4), Fraction(-3, 4), Decimal("1.3"), Decimal("-1.3")])
def test_operators_on_one_number(x):
    for function in (float, operator.neg, operator.pos, abs, operator.abs, type(x)):
        check_rule(function, x, second_order=True)
    check_rule(complex, x)


@pytest.mark.parametrize("function", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, pow])
def test_fractions_and_complex_numbers(function):
    check_rule(function, Fraction(3, 4), 1.2 - 0.7j, second_order=True)
    check_rule(function, 1.2 - 0.7j, Fraction(3, 4), second_order=True)


def test_parts_and_copies():
    half, third, context = Fraction(7, 2), Fraction(7, 3), Context(prec=25)
    for part in (Fraction._numerator, Fraction._denominator):
        check_rule(part, third)
    check_rule(Fraction.limit_denominator, half, 10, second_order=True)
    check_rule(numbers.Rational.__float__, third, second_order=True)
    for x in DECIMALS:
        for name in ("__float__", "__copy__"):
            check_rule(getattr(Decimal, name), x, second_order=True)
        check_rule(vars(Decimal)["real"], x, second_order=True)
        check_rule(Decimal.__deepcopy__, x, {}, second_order=True)
        check_rule(Decimal.scaleb, x, 2, second_order=True)
        check_rule(Context.scaleb, context, x, 2)


def test_made_of_two_parts():
    for x, y in ((3, 4), (Fraction(3, 4), Fraction(5, 2)), (3, Fraction(5, 2)), (Fraction(1, 3), 7)):
        _, back = ad.pullback(Fraction, x, y)
        assert back(1.0) == pytest.approx((1 / float(y), -float(x) / float(y) ** 2))
    assert ad.gradient(lambda x: Fraction(numerator=x), Fraction(1, 3)) == (1.0,)
    assert ad.gradient(lambda x: Fraction(x, denominator=2), Fraction(1, 3)) == (0.5,)
    assert ad.gradient(lambda x: Fraction(numerator=1, denominator=x), Fraction(1, 2)) == (-4.0,)


@pytest.mark.parametrize("x", DECIMALS)
def test_methods_of_one_decimal(x):
    names = ("sqrt", "exp", "ln", "log10", "next_plus", "next_minus", "normalize", "canonical", "conjugate", "copy_abs")
    context = Context(prec=25)
    for name in (*names, "copy_negate"):
        check_rule(getattr(Decimal, name), x, second_order=True)
        if hasattr(Context, name):
            check_rule(getattr(Context, name), context, x)
    for name in ("abs", "minus", "plus", "create_decimal", "copy_decimal"):
        check_rule(getattr(Context, name), context, x)
    check_rule(Decimal.sqrt, x, context)
    check_rule(Context.create_decimal_from_float, context, 1.3)


@pytest.mark.parametrize("x", DECIMALS)
def test_methods_of_several_decimals(x):
    context, y, z = Context(prec=25), Decimal("0.7"), Decimal("-1.1")
    for name in ("max", "min", "max_mag", "min_mag", "copy_sign", "remainder_near", "next_toward"):
        check_rule(getattr(Decimal, name), x, y, second_order=True)
        check_rule(getattr(Decimal, name), x, -y)
        check_rule(getattr(Context, name), context, x, y)
    for name in ("add", "subtract", "multiply", "divide", "power", "remainder", "divmod"):
        check_rule(getattr(Context, name), context, x, y)
    check_rule(Decimal.fma, x, y, z, second_order=True)
    check_rule(Context.fma, context, x, y, z)
    assert ad.gradient(lambda x: x.scaleb(2), x) == (100.0,)


def test_what_max_and_min_choose():
    one, nan = Decimal(1), Decimal("nan")
    for method in (Decimal.max, Decimal.min, Decimal.max_mag, Decimal.min_mag):
        assert ad.gradient(method, one, one) == (1.0, 0.0)
        assert ad.gradient(method, one, nan) == (1.0, 0.0)
        assert ad.gradient(method, nan, one) == (0.0, 1.0)
    assert ad.gradient(Decimal.max_mag, one, Decimal(-2)) == (0.0, 1.0)


def test_conventions():
    assert ad.gradient(lambda x: x.sqrt(), Decimal(0)) == (math.inf,)
    assert ad.gradient(lambda x: abs(x), Fraction(0)) == (0.0,)
    assert ad.gradient(lambda x: x**0, Fraction(0)) == (0.0,)
    assert ad.gradient(lambda x: 0 * x.sqrt() + x, Decimal(0)) == (1.0,)
    steps = (
        round,
        int,
        math.floor,
        math.ceil,
        math.trunc,
        Decimal.to_integral_value,
        lambda x: x.quantize(Decimal("0.1")),
    )
    for step in steps:
        assert ad.gradient(step, Decimal("2.34")) == (0.0,)
    assert ad.gradient(lambda x: x // 1, Fraction(7, 3)) == (0.0,)
    assert ad.gradient(lambda x: x.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP) * x, Decimal("2.34")) == (2.3,)


def fractions(x):
    a, b = Fraction(x), Fraction(1, 3)
    a += b
    a *= Fraction.from_float(x)
    return float(a**2 / b - b / a + max(a, b)) * x + a * 2.5 + 2**a + a**0.5


def decimals(x):
    a, b = Decimal(x), Decimal("0.3")
    for _ in range(3):
        a = (a + b / a) / 2 + Decimal.from_float(x)
    return float(a.sqrt() * a.exp() - a.ln() * a.log10() + a**b)


def within_a_context(x):
    with localcontext() as context:
        context.prec = 40
        return float(context.divide(Decimal(x), 3).sqrt() + context.power(Decimal(x), Decimal("1.5")))


def in_containers(x):
    found = {"a": [Fraction(x), Fraction(2)], "b": Decimal(x)}
    found["a"].append(found["a"][0] * 3)
    found["b"] *= 2
    copied = copy.deepcopy(found)
    return float(sum(copied["a"])) * float(copied["b"]) + float(sorted(found["a"])[0])


def through_functions_of_floats(x):
    a, b = Fraction(x), Decimal(x)
    return math.sin(a) * math.exp(b) * math.atan2(a, b + 1) + math.hypot(a, b, 1) + math.fsum([a, b, x]) * a.conjugate()


def through_functions_of_many(x):
    xs, ys = [Decimal(x), Decimal(x * x), Decimal(3)], (Fraction(x), Fraction(2))
    products = itertools.accumulate(xs, operator.mul)
    product = functools.reduce(operator.mul, ys)
    return float(sum(xs) + math.prod(xs) + list(products)[1]) * float(sum(ys) * product) * math.dist(xs[:2], [2, 3])


def statistics_of_decimals(x):
    xs = [Decimal(x), Decimal(x * x), Decimal(3)]
    spread = (
        statistics.variance(xs) + statistics.stdev(xs) + statistics.pvariance(xs, Decimal(x)) + statistics.pstdev(xs)
    )
    return float(spread + statistics.mean(xs) + statistics.harmonic_mean(xs) + statistics.median(xs))


def statistics_of_fractions(x):
    xs = [Fraction(x), Fraction(x * x), Fraction(3)]
    return float(statistics.variance(xs) + statistics.mean(xs)) + statistics.geometric_mean(xs) + statistics.fmean(xs)


def until_it_is_large(x):
    y, count = Decimal(x), 0
    while y < 10 and y != 0:
        y, count = y * y + 1, count + 1
    return float(y) * count if isinstance(y, Decimal) else 0.0


def by_its_parts(x):
    return (
        Fraction(x).real * x
        + Fraction(x).imag
        + float(Decimal(x).real)
        + Decimal(x).__float__() * Fraction(x).__float__()
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f",
    [
        *(fractions, decimals, within_a_context, in_containers, through_functions_of_floats),
        *(through_functions_of_many, statistics_of_decimals, statistics_of_fractions, until_it_is_large, by_its_parts),
    ],
)
def test_programs(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4 if mode == "hvp" else 1e-8)


def test_as_arguments_and_results():
    assert ad.gradient(lambda a, b: a * b, Fraction(1, 3), Fraction(2)) == (2.0, pytest.approx(1 / 3))
    assert ad.gradient(lambda d: d["a"] * d["b"][0], {"a": Decimal(2), "b": [Decimal(3)]}) == ({"a": 3.0, "b": [2.0]},)
    value, back = ad.pullback(lambda a: (a * a, [a]), Fraction(1, 3))
    assert value == (Fraction(1, 9), [Fraction(1, 3)])
    assert back((1.0, [2.0])) == pytest.approx((2 / 3 + 2,))
    assert ad.jvp(lambda a: a * a, (Fraction(1, 3),), (1.0,)) == (Fraction(1, 9), pytest.approx(2 / 3))
    assert ad.hessian(lambda a: a**3)(Decimal(2)) == pytest.approx(12.0)
    assert ad.jacobian(lambda a: [a * a, a])(Decimal(2)) == [4.0, 1.0]


def numerator(x):
    return Fraction(x).numerator / 2


def ratio(x):
    a, b = Fraction(x).as_integer_ratio()
    return a / b


def ratio_of_a_decimal(x):
    a, b = Decimal(x).as_integer_ratio()
    return a / b


def order_of_magnitude(x):
    """Sign, exponent and the number of digits consist of steps."""
    sign, digits, exponent = Decimal(x).as_tuple()
    return x * 10.0 ** (len(digits) + exponent - 1 + sign)


def steps(x):
    return int(x * 2.0**51) / 2.0**51 + x * int(1e30) * 1e-30


def test_what_int_cuts_off_makes_steps():
    for operator_mode, slope in ((ad.gradient, (1.0,)), (lambda f, x: ad.jvp(f, (x,), (1.0,))[1:], (1.0,))):
        for _ in range(3):
            assert operator_mode(steps, 0.7) == pytest.approx(slope)


def test_sizes_of_numbers_are_constants():
    assert ad.gradient(order_of_magnitude, -25.5) == (100.0,)
    assert ad.jvp(order_of_magnitude, (-25.5,), (1.0,)) == (-2550.0, 100.0)


def all_digits(x):
    mantissa, exponent = math.frexp(x)
    return math.ldexp(int(mantissa * 2.0**53), exponent - 53) * 2.0


def all_digits_in_a_loop(x):
    total = x
    for k in range(3):
        total += int(-x * 2.0 ** (60 + k)) / 2.0**60
    return total


def digits(x):
    return Decimal(x).as_tuple().digits[0] * 1.0


def digits_put_together(x):
    return float(Decimal(Decimal(x).as_tuple()))


def coarser(x):
    return float(Fraction(x).limit_denominator(10))


class Price(Decimal):
    def __add__(self, other):
        return Price(Decimal.__add__(self, other) * 2)


class Share(Fraction):
    pass


def of_a_derived_class(x):
    return float(Price(x) + 1)


def of_a_derived_class_without_code(x):
    return float(Share(x) + 1)


def method_by_name(x):
    return float(Fraction.__mul__(Fraction(x), Fraction(x)))


@pytest.mark.parametrize(
    "f",
    [
        *(numerator, ratio, ratio_of_a_decimal, digits, digits_put_together, coarser),
        *(of_a_derived_class, of_a_derived_class_without_code, method_by_name),
        *(all_digits, all_digits_in_a_loop),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_what_loses_the_derivative_is_an_error(f, mode):
    with pytest.raises(ad.NotDifferentiable):
        MODES[mode](f, 0.7)
    assert ad.gradient(lambda x: x * 2 + 0 * len(str(f(0.5))), 0.7) == (2.0,)
