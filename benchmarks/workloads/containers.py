"""Programs whose parameters live in lists, tuples, dicts and objects."""

from __future__ import annotations

import math
import random

import numpy as np

from benchmarks.workloads.base import Case, floats, workload


def scalar_mlp(layers, points, labels):
    """The hinge loss of a relu network in pure Python; a unit is the list of its weights, with its bias at the end."""
    total = 0.0
    for point, label in zip(points, labels):
        signals = point
        for depth, layer in enumerate(layers):
            outputs = []
            for unit in layer:
                signal = unit[-1]
                for weight, value in zip(unit, signals):
                    signal = signal + weight * value
                if depth < len(layers) - 1 and signal < 0.0:
                    signal = 0.0
                outputs.append(signal)
            signals = outputs
        margin = 1.0 - label * signals[0]
        if margin > 0.0:
            total += margin
    decay = 0.0
    for layer in layers:
        for unit in layer:
            for weight in unit:
                decay += weight * weight
    return total / len(points) + 1e-4 * decay


def scalar_mlp_signals(layers, point):
    """The inputs of all layers and the outputs of the last one."""
    signals = [point]
    last = layers[-1]
    for layer in layers:
        outputs = []
        for unit in layer:
            signal = unit[-1]
            for weight, value in zip(unit, point):
                signal += weight * value
            if signal < 0.0 and layer is not last:
                signal = 0.0
            outputs.append(signal)
        point = outputs
        signals.append(point)
    return signals


def scalar_mlp_adjoint(layers, points, labels):
    bars = [[[2e-4 * weight for weight in unit] for unit in layer] for layer in layers]
    top = len(layers) - 1
    share = 1.0 / len(points)
    for point, label in zip(points, labels):
        signals = scalar_mlp_signals(layers, point)
        if label * signals[-1][0] >= 1.0:
            continue
        outputs_bar = [-label * share]
        for depth in range(top, -1, -1):
            inputs = signals[depth]
            inputs_bar = [0.0] * len(inputs)
            for unit, unit_bar, bar, output in zip(layers[depth], bars[depth], outputs_bar, signals[depth + 1]):
                if bar == 0.0 or (output == 0.0 and depth < top):
                    continue
                unit_bar[-1] += bar
                for i, value in enumerate(inputs):
                    unit_bar[i] += bar * value
                if depth:
                    for i in range(len(inputs)):
                        inputs_bar[i] += bar * unit[i]
            outputs_bar = inputs_bar
    return (bars,)


@workload("scalar_mlp", "a relu network 2-8-8-1 over nested lists, with hinge loss", size=20, small=3)
def build_scalar_mlp(count):
    dice = random.Random(11)
    widths = (2, 8, 8, 1)
    layers = [
        [[dice.uniform(-1.0, 1.0) for _ in range(inputs + 1)] for _ in range(outputs)]
        for inputs, outputs in zip(widths, widths[1:])
    ]
    points, labels = [], []
    for k in range(count):
        angle, side = dice.uniform(0.0, math.pi), 1.0 if k % 2 else -1.0
        moon = (side * math.cos(angle), side * (math.sin(angle) - 0.25))
        points.append([value + dice.gauss(0.0, 0.1) for value in moon])
        labels.append(side)
    return Case(
        scalar_mlp,
        lambda layers: scalar_mlp(layers, points, labels),
        scalar_mlp_adjoint,
        (layers,),
        (points, labels),
    )


def nbody(xs, ys, zs, masses):
    """The softened potential energy of all pairs."""
    energy = 0.0
    for i in range(len(xs)):
        for j in range(i):
            dx = xs[i] - xs[j]
            dy = ys[i] - ys[j]
            dz = zs[i] - zs[j]
            energy -= masses[i] * masses[j] / math.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
    return energy


def nbody_adjoint(xs, ys, zs, masses):
    sqrt = math.sqrt
    bodies = range(len(xs))
    x_bars, y_bars, z_bars = [0.0] * len(xs), [0.0] * len(xs), [0.0] * len(xs)
    for i in bodies:
        x, y, z, mass = xs[i], ys[i], zs[i], masses[i]
        x_bar = y_bar = z_bar = 0.0
        for j in range(i):
            dx = x - xs[j]
            dy = y - ys[j]
            dz = z - zs[j]
            square = dx * dx + dy * dy + dz * dz + 1e-3
            pull = mass * masses[j] / (square * sqrt(square))
            dx *= pull
            dy *= pull
            dz *= pull
            x_bar += dx
            y_bar += dy
            z_bar += dz
            x_bars[j] -= dx
            y_bars[j] -= dy
            z_bars[j] -= dz
        x_bars[i] += x_bar
        y_bars[i] += y_bar
        z_bars[i] += z_bar
    return x_bars, y_bars, z_bars


@workload("nbody", "the potential of 50 bodies: loops over the indices of lists", size=50, small=4)
def build_nbody(count):
    rng = np.random.default_rng(12)
    xs, ys, zs = (floats(row) for row in rng.normal(size=(3, count)))
    masses = floats(rng.uniform(0.5, 1.5, size=count))
    return Case(nbody, lambda xs, ys, zs: nbody(xs, ys, zs, masses), nbody_adjoint, (xs, ys, zs), (masses,))


def evaluate(tree, waves):
    """Evaluate nested pairs; levels take turns in how they join the two."""
    if not isinstance(tree, tuple):
        return tree
    left = evaluate(tree[0], not waves)
    right = evaluate(tree[1], not waves)
    if waves:
        return math.sin(left) * right
    return left + 0.5 * right


def partials(tree, waves):
    """The value, and for each pair those of its branches with its two partial derivatives."""
    if not isinstance(tree, tuple):
        return tree, None
    left, left_residual = partials(tree[0], not waves)
    right, right_residual = partials(tree[1], not waves)
    if waves:
        sine = math.sin(left)
        return sine * right, (left_residual, right_residual, math.cos(left) * right, sine)
    return left + 0.5 * right, (left_residual, right_residual, 1.0, 0.5)


def spread(residual, bar):
    """The cotangents of the leaves."""
    if residual is None:
        return bar
    left, right, by_left, by_right = residual
    return spread(left, bar * by_left), spread(right, bar * by_right)


def tree_adjoint(tree, waves):
    return (spread(partials(tree, waves)[1], 1.0),)


@workload("tree", "recursion over a Fibonacci tree of nested tuples with 233 leaves", size=12, small=4)
def build_tree(order):
    dice = random.Random(13)

    def grown(order):
        return dice.uniform(0.5, 1.5) if order < 2 else (grown(order - 1), grown(order - 2))

    trees = grown(order)
    return Case(evaluate, lambda tree: evaluate(tree, True), tree_adjoint, (trees,), (True,))


class Pendulum:
    """A driven pendulum with friction."""

    def __init__(self, length, damping, drive):
        self.length = length
        self.damping = damping
        self.drive = drive

    def acceleration(self, angle, rate, time):
        return self.drive * math.cos(time) - self.damping * rate - 9.81 / self.length * math.sin(angle)


class Motion:
    """Where a pendulum is."""

    def __init__(self, pendulum, angle):
        self.pendulum = pendulum
        self.angle = angle
        self.rate = 0.0
        self.time = 0.0

    def advance(self, dt):
        self.rate += dt * self.pendulum.acceleration(self.angle, self.rate, self.time)
        self.angle += dt * self.rate
        self.time += dt

    @property
    def energy(self):
        pendulum = self.pendulum
        return 0.5 * (pendulum.length * self.rate) ** 2 + 9.81 * pendulum.length * (1.0 - math.cos(self.angle))


def swing(pendulum, angle, dt, steps):
    motion = Motion(pendulum, angle)
    for _ in range(steps):
        motion.advance(dt)
    return motion.energy


def swing_adjoint(pendulum, angle, dt, steps):
    sin, cos = math.sin, math.cos
    length, damping, drive = pendulum.length, pendulum.damping, pendulum.drive
    stiffness = 9.81 / length
    rate = time = 0.0
    states = []
    store = states.append
    for _ in range(steps):
        wave, sine = cos(time), sin(angle)
        store((angle, rate, wave, sine))
        rate += dt * (drive * wave - damping * rate - stiffness * sine)
        angle += dt * rate
        time += dt
    length_bar = length * rate * rate + 9.81 * (1.0 - cos(angle))
    rate_bar = length * length * rate
    angle_bar = 9.81 * length * sin(angle)
    damping_bar = drive_bar = stiffness_bar = 0.0
    for angle, rate, wave, sine in reversed(states):
        rate_bar += dt * angle_bar
        bar = dt * rate_bar
        drive_bar += bar * wave
        damping_bar -= bar * rate
        stiffness_bar -= bar * sine
        rate_bar -= bar * damping
        angle_bar -= bar * stiffness * cos(angle)
    length_bar -= stiffness_bar * stiffness / length
    return {"length": length_bar, "damping": damping_bar, "drive": drive_bar}, angle_bar


@workload("pendulum", "objects with attributes, methods and a property, stepped in time", size=200, small=3)
def build_pendulum(steps):
    dt = 0.01
    return Case(
        swing,
        lambda pendulum, angle: swing(pendulum, angle, dt, steps),
        swing_adjoint,
        (Pendulum(1.3, 0.2, 0.9), 0.6),
        (dt, steps),
    )


def friction(reynolds, roughness):
    """The friction factor of a pipe: laminar flow, or Haaland's formula."""
    if reynolds < 2300.0:
        return 64.0 / reynolds
    root = -1.8 * math.log10((roughness / 3.7) ** 1.11 + 6.9 / reynolds)
    return 1.0 / root**2


def head_loss(pipes, flow, viscosity):
    """The head that is lost in a row of pipes."""
    total = 0.0
    for pipe in pipes:
        diameter = pipe["diameter"]
        speed = 4.0 * flow / (math.pi * diameter**2)
        factor = friction(speed * diameter / viscosity, pipe["roughness"] / diameter)
        total += (factor * pipe["length"] / diameter + pipe.get("valve", 0.0)) * speed**2 / (2.0 * 9.81)
    return total


def friction_partials(reynolds, roughness):
    """The friction factor and its two partial derivatives."""
    if reynolds < 2300.0:
        factor = 64.0 / reynolds
        return factor, -factor / reynolds, 0.0
    rough = (roughness / 3.7) ** 1.11
    inner = rough + 6.9 / reynolds
    root = -1.8 * math.log10(inner)
    factor = 1.0 / (root * root)
    inner_bar = 3.6 / math.log(10.0) * factor / (root * inner)
    return factor, -inner_bar * 6.9 / (reynolds * reynolds), inner_bar * 1.11 * rough / roughness


def head_loss_adjoint(pipes, flow, viscosity):
    bars = []
    flow_bar = 0.0
    for pipe in pipes:
        diameter, length, valve = pipe["diameter"], pipe["length"], pipe.get("valve")
        speed = 4.0 * flow / (math.pi * diameter * diameter)
        reynolds = speed * diameter / viscosity
        roughness = pipe["roughness"] / diameter
        factor, by_reynolds, by_roughness = friction_partials(reynolds, roughness)
        velocity_head = speed * speed / (2.0 * 9.81)
        ratio = length / diameter
        resistance = factor * ratio + (valve or 0.0)
        factor_bar = ratio * velocity_head
        reynolds_bar = factor_bar * by_reynolds * reynolds
        roughness_bar = factor_bar * by_roughness
        flow_bar += (2.0 * resistance * velocity_head + reynolds_bar) / flow
        bar = {
            "name": None,
            "diameter": -(
                (4.0 * resistance + factor * ratio) * velocity_head + reynolds_bar + roughness_bar * roughness
            )
            / diameter,
            "length": factor * velocity_head / diameter,
            "roughness": roughness_bar / diameter,
        }
        if valve is not None:
            bar["valve"] = velocity_head
        bars.append(bar)
    return bars, flow_bar


@workload("pipes", "a loop over a list of dicts, with a formula that returns early", size=100, small=4)
def build_pipes(count):
    dice = random.Random(14)
    pipes = []
    for k in range(count):
        pipe = {"name": f"pipe {k}", "diameter": dice.uniform(0.02, 0.1), "length": dice.uniform(1.0, 30.0)}
        pipe["roughness"] = dice.uniform(1e-5, 1e-4)
        if k % 3 == 0:
            pipe["valve"] = dice.uniform(0.5, 5.0)
        pipes.append(pipe)
    viscosity = 1e-6
    return Case(
        head_loss,
        lambda pipes, flow: head_loss(pipes, flow, viscosity),
        head_loss_adjoint,
        (pipes, 1e-4),
        (viscosity,),
    )
