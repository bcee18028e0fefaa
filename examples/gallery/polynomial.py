"""
A polynomial fit
================

A polynomial is an object that holds its coefficients and can be called. It is fitted to noisy points by gradient
descent: the gradient with respect to an object is a ``Tangent`` with the fields of the object.
"""

import matplotlib.pyplot as plt
import numpy as np

import autodiff_hook as ad


class Polynomial:
    """The coefficients, from the constant on."""

    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        value = 0.0
        for c in reversed(self.coefficients):
            value = value * x + c
        return value


TRUE = Polynomial([4.0, -3.0, -2.0, 1.5])
rng = np.random.default_rng(0)
x = np.linspace(-1.5, 2.0, 60)
y = TRUE(x) + rng.normal(scale=0.6, size=x.size)


def mean_squares(model, x, y):
    return ((model(x) - y) ** 2).mean()


# %%
# Nothing in the class knows of gradients. ``withgradient`` gives the loss and one gradient for each argument;
# that of the model is used, field by field.

model = Polynomial([0.0, 0.0, 0.0, 0.0])
losses, snapshots = [], {}
for step in range(301):
    if step in (0, 10, 50, 300):
        snapshots[step] = model(x) + 0.0 * x
    loss, (slope, _, _) = ad.withgradient(mean_squares, model, x, y)
    losses.append(loss)
    model.coefficients = [c - 0.04 * s for c, s in zip(model.coefficients, slope.coefficients)]
print("descent      ", np.round(model.coefficients, 3))

# %%
# The loss is quadratic, so one step of Newton's method with the Hessian solves it: that is what least squares gives.


def of_vector(c):
    return mean_squares(Polynomial(list(c)), x, y)


start = np.zeros(4)
newton = start - np.linalg.solve(ad.hessian(of_vector)(start), ad.grad(of_vector)(start))
print("Newton       ", np.round(newton, 3))
print("least squares", np.round(np.polynomial.polynomial.polyfit(x, y, 3), 3))

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.scatter(x, y, s=12, color="0.6", label="data")
left.plot(x, TRUE(x), "k--", lw=1, label="truth")
for step, values in snapshots.items():
    left.plot(x, values, label=f"step {step}")
left.legend()
left.set(xlabel="x", ylabel="y", title="fits")
right.semilogy(losses)
right.set(xlabel="step", title="mean squares")
plt.show()
