"""The polygamma functions ψ⁽ⁿ⁾, which the gamma function's derivatives of all orders need."""

import math

from autodiff_hook.extend import cotangents
from autodiff_hook.signatures import Real

# B₂, B₄, …, B₂₆ of DLMF 24.2
BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6),
    *(-3617 / 510, 43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730, 8553103 / 6),
)


def polygamma(n, x):
    """The ``n``-th derivative of the digamma function at a real ``x``, to about 1e-13 of its terms."""
    if x <= 0:
        return _reflected(n, x)
    sign = -1.0 if n % 2 else 1.0
    total = 0.0
    while x < 12 + n:
        total -= sign * math.factorial(n) / x ** (n + 1)  # DLMF 5.15.5
        x += 1
    return total + _asymptotic(n, x)


def _asymptotic(n, x):
    """DLMF 5.11.2 and its derivatives, 5.15.8 and 5.15.9."""
    if n == 0:
        total = math.log(x) - 0.5 / x
        for k, number in enumerate(BERNOULLI, 1):
            total -= number / (2 * k * x ** (2 * k))
        return total
    total = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
    for k, number in enumerate(BERNOULLI, 1):
        total += math.factorial(2 * k + n - 1) / math.factorial(2 * k) * number / x ** (2 * k + n)
    return total if n % 2 else -total


def cotangent_slopes(n):
    """The ``n``-th derivative of cot(πx) as a polynomial in it: its coefficients, the constant first."""
    polynomial = [0.0, 1.0]
    for _ in range(n):
        slope = [i * c for i, c in enumerate(polynomial)][1:]
        polynomial = [-math.pi * (a + b) for a, b in zip(slope + [0.0, 0.0], [0.0, 0.0] + slope)]
    return polynomial


def _reflected(n, x):
    """DLMF 5.15.6."""
    cotangent = 1 / math.tan(math.pi * (x - round(x)))
    total = 0.0
    for coefficient in reversed(cotangent_slopes(n)):
        total = total * cotangent + coefficient
    mirrored = polygamma(n, 1 - x)
    return (-mirrored if n % 2 else mirrored) - math.pi * total


cotangents(polygamma, "n, x", ((int, Real),), x=lambda ȳ, n, x: ȳ * polygamma(n + 1, x))
