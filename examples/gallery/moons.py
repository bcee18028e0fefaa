"""
The moons
=========

Two half moons that no line can part, and a small network that learns to. The network is a list of layers, a layer an
object with two arrays and a ``__call__``; the training loop is plain Python.
"""

import matplotlib.pyplot as plt
import numpy as np

import autodiff_hook as ad

rng = np.random.default_rng(1)


def make_moons(count, noise):
    """Points on two interleaving half circles, and which of them they belong to."""
    angle = rng.uniform(0.0, np.pi, count)
    upper = rng.integers(0, 2, count).astype(bool)
    points = np.where(upper, (np.cos(angle), np.sin(angle)), (1.0 - np.cos(angle), 0.5 - np.sin(angle))).T
    return points + rng.normal(scale=noise, size=points.shape), upper.astype(int)


class Dense:
    """A layer: relu(x @ weights + bias), or without relu."""

    def __init__(self, inputs, outputs, relu=True):
        self.weights = rng.normal(size=(inputs, outputs)) * np.sqrt(2.0 / inputs)
        self.bias = np.zeros(outputs)
        self.relu = relu

    def __call__(self, x):
        x = x @ self.weights + self.bias
        return np.maximum(x, 0.0) if self.relu else x


def scores(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def cross_entropy(layers, x, label):
    z = scores(layers, x)
    z = z - z.max(axis=1, keepdims=True)
    log_probabilities = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -log_probabilities[np.arange(len(label)), label].mean()


# %%
# The gradient of a list of objects is a list of ``Tangent``. The switch ``relu`` has no derivative, and no field in it.

points, label = make_moons(300, noise=0.15)
layers = [Dense(2, 16), Dense(16, 16), Dense(16, 2, relu=False)]
losses = []
for _step in range(600):
    loss, (slopes, _, _) = ad.withgradient(cross_entropy, layers, points, label)
    losses.append(loss)
    for layer, slope in zip(layers, slopes):
        layer.weights -= 0.5 * slope.weights
        layer.bias -= 0.5 * slope.bias

right_ones = (scores(layers, points).argmax(axis=1) == label).mean()
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}; {right_ones:.1%} of the points are on the right side")
assert right_ones > 0.97

# %%
grid_x, grid_y = np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.2, 1.7, 150))
z = scores(layers, np.column_stack([grid_x.ravel(), grid_y.ravel()]))
probability = 1.0 / (1.0 + np.exp(z[:, 0] - z[:, 1])).reshape(grid_x.shape)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=(3, 2))
left.contourf(grid_x, grid_y, probability, levels=np.linspace(0.0, 1.0, 11), cmap="RdBu", alpha=0.7)
left.scatter(*points.T, c=label, cmap="RdBu", edgecolor="k", linewidth=0.4, s=18)
left.set(title="probability of the upper moon", aspect="equal")
right.semilogy(losses)
right.set(xlabel="step", title="cross entropy")
plt.show()
