"""Programs on Python floats: what counts is what the interpreter has to do for each operation."""

from __future__ import annotations

import math
import random

import numpy as np

from benchmarks.workloads.base import Case, workload


def sincos(x):
    return math.sin(math.cos(x))


def sincos_adjoint(x):
    return (-math.sin(x) * math.cos(math.cos(x)),)


@workload("sincos", "sin(cos(x)) of a float", size=1, small=1)
def build_sincos(_):
    return Case(sincos, lambda x: sincos(x), sincos_adjoint, (0.7,))


def power(base, exponent):
    result = 1.0
    while exponent > 0:
        exponent -= 1
        result *= base
    return result


def power_adjoint(base, exponent):
    before = []
    store = before.append
    result = 1.0
    for _ in range(exponent):
        store(result)
        result *= base
    base_bar, result_bar = 0.0, 1.0
    for result in reversed(before):
        base_bar += result * result_bar
        result_bar *= base
    return (base_bar,)


@workload("loop", "a power by repeated multiplication in a while loop", size=1000, small=7)
def build_loop(exponent):
    return Case(power, lambda x: power(x, exponent), power_adjoint, (1.0 + 0.5 / exponent,), (exponent,))


def decay(rate, frequency, phase, times):
    """A curve that is stored in an array, number by number."""
    curve = np.zeros(len(times))
    for i in range(len(times)):
        t = times[i]
        curve[i] = math.exp(-rate * t) * math.sin(frequency * t + phase)
    return float(np.dot(curve, curve))


def decay_adjoint(rate, frequency, phase, times):
    exp, sin, cos = math.exp, math.sin, math.cos
    rate_bar = frequency_bar = phase_bar = 0.0
    for t in times:
        e, angle = exp(-rate * t), frequency * t + phase
        value = e * sin(angle)
        slope = 2.0 * value * e * cos(angle)
        rate_bar -= 2.0 * value * value * t
        frequency_bar += slope * t
        phase_bar += slope
    return rate_bar, frequency_bar, phase_bar


@workload("decay", "a damped oscillation, stored in an array, 3 parameters", size=200, small=5)
def build_decay(count):
    times = [0.03 * i for i in range(count)]
    return Case(decay, lambda a, b, c: decay(a, b, c, times), decay_adjoint, (0.4, 2.0, 0.3), (times,))


def sincos_loop(x, repeats):
    for _ in range(repeats):
        x = x + 0.01 * math.sin(math.cos(x))
    return x


def sincos_loop_adjoint(x, repeats):
    sin, cos = math.sin, math.cos
    slopes = []
    store = slopes.append
    for _ in range(repeats):
        inner = cos(x)
        store(1.0 - 0.01 * sin(x) * cos(inner))
        x += 0.01 * sin(inner)
    bar = 1.0
    for slope in reversed(slopes):
        bar *= slope
    return (bar,)


@workload("sincos_loop", "x = x + 0.01 * sin(cos(x)), repeated in a for loop", size=200, small=5)
def build_sincos_loop(repeats):
    return Case(sincos_loop, lambda x: sincos_loop(x, repeats), sincos_loop_adjoint, (0.7,), (repeats,))


def lotka_volterra(prey, predators, birth, hunt, death, feed):
    """The rates at which the two populations change."""
    return birth * prey - hunt * prey * predators, feed * prey * predators - death * predators


def rk4(birth, hunt, death, feed, prey, predators, dt, steps):
    x, y = prey, predators
    for _ in range(steps):
        u1, v1 = lotka_volterra(x, y, birth, hunt, death, feed)
        u2, v2 = lotka_volterra(x + dt / 2.0 * u1, y + dt / 2.0 * v1, birth, hunt, death, feed)
        u3, v3 = lotka_volterra(x + dt / 2.0 * u2, y + dt / 2.0 * v2, birth, hunt, death, feed)
        u4, v4 = lotka_volterra(x + dt * u3, y + dt * v3, birth, hunt, death, feed)
        x, y = x + dt * (u1 + 2.0 * u2 + 2.0 * u3 + u4) / 6.0, y + dt * (v1 + 2.0 * v2 + 2.0 * v3 + v4) / 6.0
    return x + y * y


def rk4_stages(birth, hunt, death, feed, x, y, dt, steps):
    """The final populations, and those at which each step evaluated its four stages."""
    half, sixth = dt / 2.0, dt / 6.0
    stages = []
    store = stages.append
    for _ in range(steps):
        met = x * y
        u1 = birth * x - hunt * met
        v1 = feed * met - death * y
        x2 = x + half * u1
        y2 = y + half * v1
        met = x2 * y2
        u2 = birth * x2 - hunt * met
        v2 = feed * met - death * y2
        x3 = x + half * u2
        y3 = y + half * v2
        met = x3 * y3
        u3 = birth * x3 - hunt * met
        v3 = feed * met - death * y3
        x4 = x + dt * u3
        y4 = y + dt * v3
        met = x4 * y4
        store((x, y, x2, y2, x3, y3, x4, y4))
        x += sixth * (u1 + 2.0 * (u2 + u3) + birth * x4 - hunt * met)
        y += sixth * (v1 + 2.0 * (v2 + v3) + feed * met - death * y4)
    return x, y, stages


def rk4_adjoint(birth, hunt, death, feed, prey, predators, dt, steps):
    _, y, stages = rk4_stages(birth, hunt, death, feed, prey, predators, dt, steps)
    half, third, sixth = dt / 2.0, dt / 3.0, dt / 6.0
    birth_bar = hunt_bar = death_bar = feed_bar = 0.0
    x_bar, y_bar = 1.0, 2.0 * y
    for x1, y1, x2, y2, x3, y3, x4, y4 in reversed(stages):
        # For each stage: u and v are the cotangents of its two rates, p and q those of the point it was evaluated at.
        u = sixth * x_bar
        v = sixth * y_bar
        ux, vy = u * x4, v * y4
        birth_bar += ux
        hunt_bar -= ux * y4
        death_bar -= vy
        feed_bar += vy * x4
        met = feed * v - hunt * u
        p4 = birth * u + met * y4
        q4 = met * x4 - death * v

        u = third * x_bar + dt * p4
        v = third * y_bar + dt * q4
        ux, vy = u * x3, v * y3
        birth_bar += ux
        hunt_bar -= ux * y3
        death_bar -= vy
        feed_bar += vy * x3
        met = feed * v - hunt * u
        p3 = birth * u + met * y3
        q3 = met * x3 - death * v

        u = third * x_bar + half * p3
        v = third * y_bar + half * q3
        ux, vy = u * x2, v * y2
        birth_bar += ux
        hunt_bar -= ux * y2
        death_bar -= vy
        feed_bar += vy * x2
        met = feed * v - hunt * u
        p2 = birth * u + met * y2
        q2 = met * x2 - death * v

        u = sixth * x_bar + half * p2
        v = sixth * y_bar + half * q2
        ux, vy = u * x1, v * y1
        birth_bar += ux
        hunt_bar -= ux * y1
        death_bar -= vy
        feed_bar += vy * x1
        met = feed * v - hunt * u
        x_bar += p4 + p3 + p2 + birth * u + met * y1
        y_bar += q4 + q3 + q2 + met * x1 - death * v
    return birth_bar, hunt_bar, death_bar, feed_bar, x_bar, y_bar


@workload("rk4", "Runge-Kutta steps of the Lotka-Volterra equations, 6 parameters", size=200, small=3)
def build_rk4(steps):
    dt = 0.01
    return Case(
        rk4,
        lambda birth, hunt, death, feed, x, y: rk4(birth, hunt, death, feed, x, y, dt, steps),
        rk4_adjoint,
        (1.1, 0.4, 0.4, 0.1, 10.0, 5.0),
        (dt, steps),
    )


def normal_cdf(z):
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def black_scholes(spot, strike, rate, volatility, maturity):
    """The price of a European call."""
    spread = volatility * math.sqrt(maturity)
    upper = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / spread
    return spot * normal_cdf(upper) - strike * math.exp(-rate * maturity) * normal_cdf(upper - spread)


def black_scholes_adjoint(spot, strike, rate, volatility, maturity):
    """The five greeks; the terms with the density of the lower bound cancel against those of the upper one."""
    root = math.sqrt(maturity)
    spread = volatility * root
    upper = (math.log(spot / strike) + (rate + 0.5 * volatility * volatility) * maturity) / spread
    delta = 0.5 + 0.5 * math.erf(0.7071067811865476 * upper)
    discounted = math.exp(-rate * maturity) * (0.5 + 0.5 * math.erf(0.7071067811865476 * (upper - spread)))
    density = 0.3989422804014327 * spot * math.exp(-0.5 * upper * upper)
    debt = strike * discounted
    return delta, -discounted, maturity * debt, root * density, 0.5 * volatility * density / root + rate * debt


@workload("black_scholes", "the price of a call and its five greeks", size=1, small=1)
def build_black_scholes(_):
    return Case(
        black_scholes,
        lambda spot, strike, rate, volatility, maturity: black_scholes(spot, strike, rate, volatility, maturity),
        black_scholes_adjoint,
        (101.0, 96.0, 0.02, 0.3, 0.6),
    )


def eccentric_anomaly(mean, eccentricity):
    """Newton's method for Kepler's equation."""
    anomaly = mean + eccentricity * math.sin(mean)
    while True:
        step = (anomaly - eccentricity * math.sin(anomaly) - mean) / (1.0 - eccentricity * math.cos(anomaly))
        anomaly = anomaly - step
        if abs(step) < 1e-12:
            break
    return anomaly


def kepler(axis, eccentricity, motion, sightings):
    total = 0.0
    for time, seen in sightings:
        anomaly = eccentric_anomaly(motion * time, eccentricity)
        miss = axis * (math.cos(anomaly) - eccentricity) - seen
        total += miss * miss
    return total


def kepler_adjoint(axis, eccentricity, motion, sightings):
    sin, cos = math.sin, math.cos
    axis_bar = eccentricity_bar = motion_bar = 0.0
    for time, seen in sightings:
        mean = motion * time
        anomaly = mean + eccentricity * sin(mean)
        iterations = []
        while True:
            s, c = sin(anomaly), cos(anomaly)
            slope = 1.0 - eccentricity * c
            step = (anomaly - eccentricity * s - mean) / slope
            iterations.append((s, c, slope, step))
            anomaly -= step
            if abs(step) < 1e-12:
                break
        reach = cos(anomaly) - eccentricity
        miss_bar = 2.0 * (axis * reach - seen)
        axis_bar += miss_bar * reach
        miss_bar *= axis
        eccentricity_bar -= miss_bar
        bar = -miss_bar * sin(anomaly)
        mean_bar = 0.0
        for s, c, slope, step in reversed(iterations):
            bar /= slope
            eccentricity_bar += bar * (s - step * c)
            mean_bar += bar
            bar *= step * eccentricity * s
        eccentricity_bar += bar * sin(mean)
        motion_bar += time * (mean_bar + bar * (1.0 + eccentricity * cos(mean)))
    return axis_bar, eccentricity_bar, motion_bar


@workload("kepler", "the fit of an orbit: Newton's method, with while and break, for each sighting", size=50, small=3)
def build_kepler(count):
    noise = random.Random(21)
    sightings = [(0.13 * k, math.cos(0.17 * k) + noise.gauss(0.0, 0.05)) for k in range(count)]
    return Case(
        kepler,
        lambda axis, eccentricity, motion: kepler(axis, eccentricity, motion, sightings),
        kepler_adjoint,
        (1.2, 0.4, 1.3),
        (sightings,),
    )


def chebyshev_series(coefficients, x):
    """Clenshaw's recurrence."""
    one, two = 0.0, 0.0
    for coefficient in reversed(coefficients[1:]):
        one, two = coefficient + 2.0 * x * one - two, one
    return coefficients[0] + x * one - two


def clenshaw(coefficients, points, targets):
    total = 0.0
    for x, target in zip(points, targets):
        total += (chebyshev_series(coefficients, x) - target) ** 2
    return total


def clenshaw_adjoint(coefficients, points, targets):
    bars = [0.0] * len(coefficients)
    backwards = coefficients[:0:-1]
    ascending = range(1, len(coefficients))
    for x, target in zip(points, targets):
        twice = 2.0 * x
        one = two = 0.0
        for coefficient in backwards:
            one, two = coefficient + twice * one - two, one
        bar = 2.0 * (coefficients[0] + x * one - two - target)
        bars[0] += bar
        one, two = x * bar, -bar
        for k in ascending:
            bars[k] += one
            one, two = twice * one + two, -one
    return (bars,)


@workload("clenshaw", "the fit of a Chebyshev series of 16 terms by Clenshaw's recurrence", size=50, small=3)
def build_clenshaw(count):
    noise = random.Random(22)
    points = [math.cos(math.pi * (k + 0.5) / count) for k in range(count)]
    targets = [math.exp(x) for x in points]
    return Case(
        clenshaw,
        lambda coefficients: clenshaw(coefficients, points, targets),
        clenshaw_adjoint,
        ([noise.gauss(0.0, 1.0) for _ in range(16)],),
        (points, targets),
    )
