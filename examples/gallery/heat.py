"""
An inverse problem of the heat equation
=======================================

A rod is heated in bands and left alone, and a while later its temperature is measured. How well it conducts, from place
to place, is not known. The rod is simulated with an explicit scheme that writes into one array, and the conductivity is
found by L-BFGS with the gradient of the whole simulation.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize

import autodiff_hook as ad

CELLS, STEPS, DT = 60, 100, 0.2
places = (np.arange(CELLS) + 0.5) / CELLS
faces = np.arange(1, CELLS) / CELLS


def simulate(conductivity, start):
    """The temperature after ``STEPS``; ``conductivity`` is that of the faces between cells, and the ends are closed."""
    u = start.copy()
    for _ in range(STEPS):
        flow = DT * conductivity * (u[1:] - u[:-1])
        u[:-1] += flow
        u[1:] -= flow
    return u


# %%
# Two experiments, so that what is flat in one is steep in the other; where the temperature is flat it says nothing.

true = 0.6 + 0.4 * np.sin(2 * np.pi * faces) - 0.45 * np.exp(-(((faces - 0.7) / 0.06) ** 2))
true = np.maximum(true, 0.08)
starts = [np.cos(8 * np.pi * places), np.cos(8 * np.pi * places + 0.5 * np.pi)]
rng = np.random.default_rng(0)
sigma = 0.003
measured = [simulate(true, start) + rng.normal(scale=sigma, size=CELLS) for start in starts]


def misfit(logarithms, smoothing=30.0):
    """Squares of the residuals, and of the jumps of the conductivity's logarithm."""
    conductivity = np.exp(logarithms)
    total = smoothing * np.sum(np.diff(logarithms) ** 2)
    for start, end in zip(starts, measured):
        total += 0.5 * np.sum(((simulate(conductivity, start) - end) / sigma) ** 2)
    return total


# %%
# One gradient with respect to 59 unknowns costs a few simulations; by finite differences it would be 60 or 118.

guess = np.full(CELLS - 1, np.log(0.5))
found = optimize.minimize(ad.value_and_grad(misfit), guess, jac=True, method="L-BFGS-B", options={"maxiter": 150})
estimate = np.exp(found.x)
print(f"misfit {misfit(guess):.0f} -> {found.fun:.0f} in {found.nit} steps, {found.nfev} gradients")
print(f"largest error of the conductivity: {np.abs(estimate - true).max():.3f}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for start, end, colour in zip(starts, measured, ("C0", "C1")):
    left.plot(places, start, color=colour, lw=1, ls=":")
    left.plot(places, end, ".", color=colour, ms=4)
    left.plot(places, simulate(estimate, start), color=colour)
left.set(xlabel="place", title="temperature: start, measured end, fit")
right.plot(faces, true, "k--", lw=1, label="truth")
right.plot(faces, np.exp(guess), color="0.7", label="guess")
right.plot(faces, estimate, label="found")
right.set(xlabel="place", title="conductivity")
right.legend()
plt.show()
