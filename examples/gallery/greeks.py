"""
The Greeks of an American put
=============================

An American option may be exercised early, so it has no formula: it is priced on a tree of prices, backwards from the
end. Delta, vega, rho and theta are the gradient of that program, and gamma is a second derivative.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import autodiff_hook as ad


def american_put(spot, strike, years, rate, volatility, steps=201):
    """The price on the tree of Leisen and Reimer, Mathematical Finance 6 (1996), 413-437; ``steps`` is odd."""
    dt = years / steps
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    with_stock, up_chance = inverted(d1, steps), inverted(d1 - spread, steps)
    growth = math.exp(rate * dt)
    up = growth * with_stock / up_chance
    down = (growth - up_chance * up) / (1.0 - up_chance)
    ups = np.arange(steps + 1)
    prices = spot * up**ups * down ** (steps - ups)
    value = np.maximum(strike - prices, 0.0)
    for _ in range(steps):
        prices = prices[1:] / up
        value = np.maximum(strike - prices, (up_chance * value[1:] + (1.0 - up_chance) * value[:-1]) / growth)
    return value[0]


def inverted(z, n):
    """The chance that makes the tree end above as the normal distribution does: the inversion of Peizer and Pratt."""
    tail = math.exp(-((z / (n + 1.0 / 3.0 + 0.1 / (n + 1))) ** 2) * (n + 1.0 / 6.0))
    return 0.5 + math.copysign(0.5, z) * math.sqrt(1.0 - tail)


# %%
# ``withgradient`` gives the price and four Greeks at once; ``hvp`` is the derivative of the gradient in a direction,
# here that of the spot.

STRIKE, YEARS, RATE, VOLATILITY = 100.0, 1.0, 0.05, 0.25
spots = np.linspace(60.0, 150.0, 91) + 0.25
rows = []
for spot in spots.tolist():
    at = (spot, STRIKE, YEARS, RATE, VOLATILITY)
    price, (delta, _, by_years, rho, vega) = ad.withgradient(american_put, *at)
    gamma = ad.hvp(american_put, at, (1.0, 0.0, 0.0, 0.0, 0.0))[0]
    rows.append((price, delta, gamma, vega / 100, rho / 100, -by_years / 365))
greeks = dict(zip(("price", "delta", "gamma", "vega", "rho", "theta"), np.array(rows).T))

# %%
# Finite differences agree:

middle = (100.25, STRIKE, YEARS, RATE, VOLATILITY)
for i, name in ((0, "delta"), (3, "rho"), (4, "vega")):
    up, down = ([x + s * (i == j) for j, x in enumerate(middle)] for s in (1e-5, -1e-5))
    numeric = (american_put(*up) - american_put(*down)) / 2e-5
    print(f"{name:6}{ad.gradient(american_put, *middle)[i]:12.6f}{numeric:12.6f}")

# %%
fig, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained", sharex=True)
for axis, (name, values) in zip(axes.flat, greeks.items()):
    axis.plot(spots, values)
    axis.axvline(STRIKE, color="0.8", lw=1, zorder=0)
    axis.set_title(name)
for axis in axes[1]:
    axis.set_xlabel("spot")
plt.show()
