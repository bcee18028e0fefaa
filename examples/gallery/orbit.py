"""
Orbit fitting
=============

A star on its way around a black hole was seen at forty times, each time at a place with an error. What are the orbit
and the mass? The orbit is integrated step by step; ``least_squares`` gets the Jacobian of the whole simulation, and its
inverse gives the standard errors.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize

import autodiff_hook as ad

STEPS, DT = 800, 0.02


def simulate(parameters):
    """Positions on the way of a body around a mass at the origin, by leapfrog."""
    x, y, vx, vy, mass = (parameters[i] for i in range(5))
    path = np.zeros((STEPS, 2))
    for k in range(STEPS):
        path[k, 0], path[k, 1] = x, y
        pull = -mass / (x * x + y * y) ** 1.5
        vx, vy = vx + 0.5 * DT * pull * x, vy + 0.5 * DT * pull * y
        x, y = x + DT * vx, y + DT * vy
        pull = -mass / (x * x + y * y) ** 1.5
        vx, vy = vx + 0.5 * DT * pull * x, vy + 0.5 * DT * pull * y
    return path


rng = np.random.default_rng(3)
TRUE = np.array([2.0, 0.0, 0.1, 0.55, 1.0])
sigma = 0.03
seen = np.sort(rng.choice(STEPS // 2, size=40, replace=False))
observed = simulate(TRUE)[seen] + rng.normal(scale=sigma, size=(40, 2))


def residuals(parameters):
    return ((simulate(parameters)[seen] - observed) / sigma).ravel()


# %%
# Reverse mode costs a sweep for each of the 80 residuals, forward mode one run for each of the five parameters:
# ``jacobian`` takes what is less work.

guess = np.array([1.9, 0.1, 0.0, 0.65, 1.2])
found = optimize.least_squares(residuals, guess, jac=ad.jacobian(residuals), x_scale="jac")
errors = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
for name, value, error, truth in zip(("x", "y", "vx", "vy", "mass"), found.x, errors, TRUE):
    print(f"{name:5}{value:8.4f} ± {error:.4f}   (truth {truth})")
assert np.all(np.abs(found.x - TRUE) < 5 * errors)

# %%
fig, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(*simulate(guess).T, color="0.75", label="guess")
axes.plot(*simulate(found.x).T, label="fit")
axes.errorbar(*observed.T, xerr=sigma, yerr=sigma, fmt=".", color="k", ms=4, lw=0.8, label="seen")
axes.plot(0.0, 0.0, "ko", ms=10)
axes.set_aspect("equal")
axes.legend()
plt.show()
