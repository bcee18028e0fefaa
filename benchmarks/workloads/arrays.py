"""Programs on NumPy arrays: from one call on a long vector to many calls on short ones."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.workloads.base import Case, floats, workload


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def logsumexp_adjoint(x):
    weights = np.subtract(x, x.max())
    np.exp(weights, out=weights)
    weights *= 1.0 / weights.sum()
    return (weights,)


@workload("logsumexp_1e6", "the stable log-sum-exp of a million numbers", size=1_000_000, small=9)
@workload("logsumexp_100", "the stable log-sum-exp of 100 numbers", size=100, small=4)
def build_logsumexp(length):
    x = np.random.default_rng(1).normal(size=length)
    return Case(logsumexp, lambda x: logsumexp(x), logsumexp_adjoint, (x,))


def logreg(weights, bias, inputs):
    """The sum of the sigmoids of a linear layer."""
    return np.sum(1.0 / (1.0 + np.exp(-(inputs @ weights + bias))))


def logreg_adjoint(weights, bias, inputs):
    y = inputs @ weights
    y += bias
    np.exp(np.negative(y, out=y), out=y)
    y += 1.0
    np.divide(1.0, y, out=y)
    y -= np.square(y)
    return inputs.T.dot(y), y.sum(axis=0)


@workload("logreg_128", "logistic regression 784 -> 10 for a batch of 128", size=128, small=4)
@workload("logreg_1", "logistic regression 784 -> 10 for one input", size=1, small=1)
def build_logreg(batch):
    rng = np.random.default_rng(2)
    inputs = rng.random((batch, 784))
    return Case(
        logreg,
        lambda weights, bias: logreg(weights, bias, inputs),
        logreg_adjoint,
        (rng.normal(scale=0.05, size=(784, 10)), rng.normal(scale=0.1, size=10)),
        (inputs,),
    )


def mlp(w1, b1, w2, b2, inputs, labels):
    """The cross-entropy of a network with one hidden layer of relu; labels are one-hot."""
    hidden = np.maximum(inputs @ w1 + b1, 0.0)
    scores = hidden @ w2 + b2
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return np.sum(labels * (log_total - scores)) / inputs.shape[0]


def mlp_adjoint(w1, b1, w2, b2, inputs, labels):
    hidden = inputs @ w1
    hidden += b1
    np.maximum(hidden, 0.0, out=hidden)
    scores = hidden @ w2
    scores += b2
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    scores -= labels
    scores /= inputs.shape[0]
    hidden_bar = scores @ w2.T
    hidden_bar *= hidden > 0.0
    return inputs.T.dot(hidden_bar), hidden_bar.sum(axis=0), hidden.T.dot(scores), scores.sum(axis=0)


@workload("mlp_128", "a relu network 784-32-10 with cross-entropy, a batch of 128", size=128, small=4)
@workload("mlp_1", "a relu network 784-32-10 with cross-entropy, one input", size=1, small=1)
def build_mlp(batch):
    rng = np.random.default_rng(3)
    inputs = rng.random((batch, 784))
    labels = np.eye(10)[rng.integers(10, size=batch)]
    layers = [(rng.normal(size=(n, m)) / math.sqrt(n), rng.normal(scale=0.1, size=m)) for n, m in ((784, 32), (32, 10))]
    return Case(
        mlp,
        lambda w1, b1, w2, b2: mlp(w1, b1, w2, b2, inputs, labels),
        mlp_adjoint,
        (*layers[0], *layers[1]),
        (inputs, labels),
    )


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_adjoint(x):
    """With r = x[i+1] - x[i]**2: 200 r for x[i+1], 2 (x[i] - 1) - 400 r x[i] for x[i]."""
    left = x[:-1]
    miss = np.multiply(left, left)
    np.subtract(x[1:], miss, out=miss)
    miss *= 200.0
    bar = np.empty_like(x)
    bar[-1] = 0.0
    head = bar[:-1]
    np.multiply(left, miss, out=head)
    np.subtract(left, head, out=head)
    head -= 1.0
    head *= 2.0
    bar[1:] += miss
    return (bar,)


@workload("rosenbrock", "Rosenbrock's function of a vector, with slices", size=100_000, small=5)
def build_rosenbrock(length):
    x = np.random.default_rng(4).normal(size=length)
    return Case(rosenbrock, lambda x: rosenbrock(x), rosenbrock_adjoint, (x,))


def rnn(w_in, w_state, bias, w_out, sequence, target):
    state = np.zeros((sequence.shape[1], w_state.shape[0]))
    for t in range(sequence.shape[0]):
        state = np.tanh(sequence[t] @ w_in + state @ w_state + bias)
    return np.sum((state @ w_out - target) ** 2)


def rnn_adjoint(w_in, w_state, bias, w_out, sequence, target):
    """Products that need no state are taken over all times at once."""
    steps, batch, width = sequence.shape
    flat = sequence.reshape(steps * batch, width)
    pre = flat @ w_in
    pre += bias
    pre = pre.reshape(steps, batch, -1)
    states = np.zeros((steps + 1, *pre.shape[1:]))
    state = states[0]
    for z, after in zip(pre, states[1:]):
        z += state @ w_state
        state = np.tanh(z, out=after)
    miss = state @ w_out
    miss -= target
    miss *= 2.0
    bars = np.multiply(states[1:], states[1:], out=pre)
    np.subtract(1.0, bars, out=bars)
    back = w_state.T
    state_bar = miss @ w_out.T
    for bar in bars[::-1]:
        bar *= state_bar
        state_bar = bar @ back
    flat_bars = bars.reshape(steps * batch, -1)
    state_product = states[:-1].reshape(steps * batch, -1).T @ flat_bars
    return flat.T @ flat_bars, state_product, flat_bars.sum(axis=0), state.T @ miss


@workload("rnn", "a tanh recurrent network, 64 units, 32 inputs, batch 8", size=100, small=3)
def build_rnn(steps):
    rng = np.random.default_rng(5)
    sequence, target = rng.normal(size=(steps, 8, 32)), rng.normal(size=(8, 4))
    params = (
        rng.normal(size=(32, 64)) / math.sqrt(32),
        rng.normal(size=(64, 64)) / 8.0,
        rng.normal(scale=0.1, size=64),
        rng.normal(size=(64, 4)) / 8.0,
    )
    return Case(
        rnn,
        lambda w_in, w_state, bias, w_out: rnn(w_in, w_state, bias, w_out, sequence, target),
        rnn_adjoint,
        params,
        (sequence, target),
    )


def heat(start, diffusivity, target, steps):
    """Explicit steps of the heat equation with fixed ends, in place."""
    u = np.copy(start)
    for _ in range(steps):
        u[1:-1] += diffusivity * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    miss = u - target
    return np.sum(miss * miss)


def heat_adjoint(start, diffusivity, target, steps):
    """The step is symmetric in the inner points, so its transpose is nearly the step itself."""
    u = np.copy(start)
    left, inner, right = u[:-2], u[1:-1], u[2:]
    curvatures = np.empty((steps, len(inner)))
    scaled = np.empty(len(inner))
    add, multiply, dot = np.add, np.multiply, np.dot
    for curvature in curvatures:
        multiply(inner, -2.0, curvature)
        add(curvature, left, curvature)
        add(curvature, right, curvature)
        multiply(curvature, diffusivity, scaled)
        add(inner, scaled, inner)
    u -= target
    u *= 2.0  # from here on u, and so its three parts, is the cotangent
    diffusivity_bar = 0.0
    for curvature in curvatures[::-1]:
        diffusivity_bar += dot(curvature, inner)
        multiply(inner, diffusivity, scaled)
        add(left, scaled, left)
        add(right, scaled, right)
        multiply(scaled, -2.0, scaled)
        add(inner, scaled, inner)
    return u, float(diffusivity_bar)


@workload("heat", "the heat equation on 200 points, a stencil stored in place", size=500, small=4)
def build_heat(steps):
    s = np.linspace(0.0, 1.0, 200)
    start = np.sin(3.0 * s) + np.random.default_rng(6).normal(scale=0.1, size=200)
    target = np.cos(2.0 * s)
    return Case(heat, lambda start, k: heat(start, k, target, steps), heat_adjoint, (start, 0.2), (target, steps))


def indexed_dot(w, x):
    total = 0.0
    for i in range(len(w)):
        total += w[i] * x[i]
    return total


def index_loop_adjoint(w, x):
    bar = np.zeros(len(w))
    for i in range(len(w)):
        bar[i] += x[i]
    return (bar,)


@workload("index_loop", "a loop over the indices of two NumPy vectors", size=10_000, small=5)
def build_index_loop(length):
    w, x = np.random.default_rng(7).normal(size=(2, length))
    return Case(indexed_dot, lambda w: indexed_dot(w, x), index_loop_adjoint, (w,), (x,))


def index_list_adjoint(w, x):
    bar = [0.0] * len(w)
    for i in range(len(w)):
        bar[i] += x[i]
    return (bar,)


@workload("index_list", "the same loop over the indices of two lists", size=1000, small=5)
def build_index_list(length):
    w, x = (floats(row) for row in np.random.default_rng(8).normal(size=(2, length)))
    return Case(indexed_dot, lambda w: indexed_dot(w, x), index_list_adjoint, (w,), (x,))
