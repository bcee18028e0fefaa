"""Nodes and weights that resolve an integrand: an adaptive rule of Gauss and Kronrod that keeps its nodes.

Limits are 0 and 1 for the rule, or -1 and 1 if both are infinite. The tolerance is far below what is asked of the
integral, so that the derivatives of the integrand are resolved as well.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from autodiff_hook.errors import NotDifferentiable

TOLERANCE = 1e-11
"""The error that is aimed at, relative to the integral of the absolute value."""

RESOLVED = 1e-6
"""How far, relative to 1 + the integral, the sum at the nodes may be from what was integrated."""

INTERVALS = 400
NOISE = 1e-5
"""The relative change by halving an interval, without a smaller error, that shows nothing but noise."""

JUMP = 1e-5
KINK = 1e-3
"""The widths, relative to the distance to the next limit, of intervals in which the integrand, or its slope, jumps."""

# Piessens et al., QUADPACK (1983): the rule with 21 nodes, and the one with 10 within it.
_POSITIVE = (
    0.995657163025808080735527280689003,
    0.973906528517171720077964012084452,
    0.930157491355708226001207180059508,
    0.865063366688984510732096688423493,
    0.780817726586416897063717578345042,
    0.679409568299024406234327365114874,
    0.562757134668604683339000099272694,
    0.433395394129247190799265943165784,
    0.294392862701460198131126603103866,
    0.148874338981631210884826001129720,
)
_KRONROD = (
    0.011694638867371874278064396062192,
    0.032558162307964727478818972459390,
    0.054755896574351996031381300244580,
    0.075039674810919952767043140916190,
    0.093125454583697605535065465083366,
    0.109387158802297641899210590325805,
    0.123491976262065851077958109831074,
    0.134709217311473325928054001771707,
    0.142775938577060080797094273138717,
    0.147739104901338491374841515972068,
)
NODES = np.array([-x for x in _POSITIVE] + [0.0] + list(_POSITIVE[::-1]))
WEIGHTS = np.array([*_KRONROD, 0.149445554002916905664936468389821, *_KRONROD[::-1]])
EMBEDDED = np.zeros(21)
EMBEDDED[1::2] = np.polynomial.legendre.leggauss(10)[1]


class Piece(NamedTuple):
    """An interval with what the rule finds there."""

    low: float
    high: float
    values: np.ndarray
    integral: float
    absolute: float
    error: float


def edges_between(a, b, points):
    """The limits, and what is between them, by the variable of ``place``."""
    low = -1.0 if np.isinf(a) and np.isinf(b) else 0.0
    between = [] if points is None or a == b else [float(point - a) / (b - a) for point in points]
    return [low, *sorted(t for t in set(between) if low < t < 1.0), 1.0]


def place(t, a, b):
    """x, and its derivative by t, which is 1 at the upper limit and 0, or -1 if both are infinite, at the lower."""
    if math.isfinite(a) and math.isfinite(b):
        return a + (b - a) * t, b - a
    if np.isinf(a) and np.isinf(b):
        return np.copysign(1.0, b) * t / (1.0 - t * t), np.copysign(1.0, b) * (1.0 + t * t) / (1.0 - t * t) ** 2
    if np.isinf(b):
        return a + np.copysign(1.0, b) * t / (1.0 - t), np.copysign(1.0, b) / (1.0 - t) ** 2
    return b + np.copysign(1.0, a) * (1.0 - t) / t, -np.copysign(1.0, a) / t**2


def resolving(f, a, b, points, name, kinks):
    """Nodes and weights that resolve an integrand between limits; with ``kinks``, those are an error, as jumps are."""

    def probe(t):
        x, slope = place(t, a, b)
        return np.array([float(f(x)) for x in x.tolist()]) * slope

    edges = edges_between(a, b, points)
    pieces, error = resolved(probe, edges)
    if not error <= RESOLVED * (1.0 + abs(sum(piece.integral for piece in pieces))):
        raise unresolved(name)
    for what, look in (("jump", jump), ("kink or narrow peak", kink))[: 2 if kinks else 1]:
        at = look(pieces, edges)
        if at is not None:
            raise NotDifferentiable(
                f"the integrand of {name} has a {what} at {place(at, a, b)[0]}, and whether that moves is not "
                f"known: split the integral there, or name it in points= if it does not move"
            )
    found = [(piece.high - piece.low, *place(places(piece.low, piece.high), a, b)) for piece in pieces]
    nodes = [x for _, nodes, _ in found for x in nodes.tolist()]
    return nodes, [w for width, _, slope in found for w in (WEIGHTS * (width / 2.0) * slope).tolist()]


def check(total, value, error, name):
    """Raise if the sum over the nodes is not what was integrated."""
    if not abs(total - value) <= RESOLVED * (1.0 + abs(value)) + 10.0 * error:
        raise unresolved(name)


def unresolved(name):
    return NotDifferentiable(f"{name} has not resolved the integrand: its derivative is not known")


def places(low, high):
    return (low + high) / 2.0 + (high - low) / 2.0 * NODES


def piece_of(f, low, high):
    values = f(places(low, high))
    half = (high - low) / 2.0
    integral = half * (WEIGHTS @ values)
    spread = half * (WEIGHTS @ np.abs(values - integral / (2.0 * half)))
    difference = abs(integral - half * (EMBEDDED @ values))
    error = spread * min(1.0, (200.0 * difference / spread) ** 1.5) if spread > 0.0 else difference
    return Piece(low, high, values, integral, half * (WEIGHTS @ np.abs(values)), error)


def resolved(f, edges):
    """The pieces between ``edges``, and an estimate of the error of all; ``f`` takes and gives arrays."""
    waiting = [piece_of(f, low, high) for low, high in zip(edges, edges[1:])]
    waiting = [(-piece.error, i, piece) for i, piece in enumerate(waiting)]
    heapq.heapify(waiting)
    done, number = [], len(waiting)
    while waiting and number < INTERVALS:
        error = math.fsum(-item[0] for item in waiting)
        absolute = math.fsum([item[2].absolute for item in waiting] + [piece.absolute for piece in done])
        if not error > TOLERANCE * absolute:
            break
        _, _, piece = heapq.heappop(waiting)
        middle = (piece.low + piece.high) / 2.0
        halves = piece_of(f, piece.low, middle), piece_of(f, middle, piece.high)
        number += 1
        if is_noise(piece, halves) or not piece.low < middle < piece.high:
            done.extend(halves)
            continue
        for half in halves:
            number += 1
            heapq.heappush(waiting, (-half.error, number, half))
    pieces = sorted([*done, *(item[2] for item in waiting)])
    return pieces, math.fsum(piece.error for piece in pieces)


def is_noise(piece, halves):
    integral, error = sum(half.integral for half in halves), sum(half.error for half in halves)
    return abs(integral - piece.integral) <= NOISE * abs(integral) and error >= 0.99 * piece.error


def jump(pieces, edges):
    """The place between the edges where the integrand jumps, if it does."""
    largest = max(np.max(np.abs(piece.values)) for piece in pieces)

    def jumps(values):
        change = np.max(values) - np.min(values)
        return change > 1e-4 * largest and np.max(np.abs(np.diff(values))) > 0.5 * change

    return narrow(pieces, edges, JUMP, jumps)


def kink(pieces, edges):
    """The place between the edges where the derivative of the integrand jumps, or nearly so."""

    def bends(values):
        first, last = values[1] - values[0], values[-1] - values[-2]
        return abs(last - first) > 0.1 * max(abs(first), abs(last))

    return narrow(pieces, edges, KINK, bends)


def narrow(pieces, edges, width, turns):
    """The middle of the first interval that is so narrow, relative to the distance to all edges, and ``turns``."""
    for piece in pieces:
        distance = min(max(edge - piece.high, piece.low - edge, 0.0) for edge in edges)
        if piece.high - piece.low < width * distance and turns(piece.values):
            return (piece.low + piece.high) / 2.0
    return None
