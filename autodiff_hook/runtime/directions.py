"""Hessians, Jacobians and products with them as programs around gradients and tangents, which typed programs follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_hook.api import gradient, jvp
from autodiff_hook.reports import Reason
from autodiff_hook.transform.specialise.program import Given


def gradient_at(f: Any, place: int, args: tuple[Any, ...]) -> Any:
    """The gradient of ``f`` by one of its arguments."""
    return gradient(f, *args)[place]


def tangent_at(f: Any, place: int, args: tuple[Any, ...], direction: Any) -> Any:
    """Value and tangent of ``f`` where one of its arguments moves."""
    return jvp(f, args, tuple([direction if i == place else None for i in range(len(args))]))


def product(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """``hvp``: the gradients of the gradient along the tangents."""
    return gradient(lambda *values: along(gradient(f, *values), tangents), *primals)


def along(gradients: Any, tangents: Any) -> Any:
    """The sum of the products of gradients, numbers and arrays in tuples, with what is None or like them."""
    if tangents is None:
        return 0.0
    if isinstance(gradients, tuple):
        return sum([along(g, v) for g, v in zip(gradients, tangents, strict=True)])
    return dot(gradients, tangents)


def dot(slope: Any, tangent: Any) -> Any:
    """The product of one gradient with a tangent."""
    if isinstance(slope, np.ndarray):
        if slope.shape != tangent.shape:
            raise Misshapen
        return np.sum((slope.conj() * tangent).real) if slope.dtype.kind == "c" else np.sum(slope * tangent)
    return (slope.conjugate() * tangent).real if isinstance(slope, complex) else slope * tangent


class Misshapen(Given):
    """A tangent is not like what it is the tangent of; the carried program says so."""

    reason = Reason("a tangent of another shape")


def transposing(pullback: Any, value: Any, tangents: tuple[Any, ...]) -> Any:
    """The tangent of what a rule gave: its pullback is linear, so that its gradient anywhere is its transpose."""
    return gradient(lambda cotangent: along(pullback(cotangent), tangents), value)[0]


def pulled(f: Any, args: tuple[Any, ...], kept: Any, point: tuple[Any, ...]) -> Any:
    """``pullback``: ``kept`` and ``point`` are the function and its arguments as they are then."""

    def back(cotangent: Any) -> Any:
        return gradient(lambda *values: along(kept(*values), cotangent), *point)

    return f(*args), back


def linearized(f: Any, args: tuple[Any, ...], kept: Any, point: tuple[Any, ...]) -> Any:
    """``linearize``, of the same."""

    def push(*tangents: Any) -> Any:
        return jvp(kept, point, tangents)[1]

    return f(*args), push


def row(f: Any, place: int, args: tuple[Any, ...], direction: Any) -> Any:
    """The Hessian by one argument times a direction."""
    return gradient_at(lambda *values: dot(gradient_at(f, place, values), direction), place, args)


def hessian_by_number(f: Any, place: int, args: tuple[Any, ...]) -> Any:
    """The second derivative by a number."""
    return row(f, place, args, 1.0)


def hessian_by_array(f: Any, place: int, args: tuple[Any, ...]) -> Any:
    """The Hessian by an array, row by row."""
    x = args[place]
    shape, size = x.shape, x.size
    units, rows = np.eye(size), np.zeros((size, size))
    for i in range(size):
        rows[i] = row(f, place, args, units[i].reshape(shape)).ravel()
    return rows.reshape((*shape, *shape))


def slopes_by_number(f: Any, place: int, args: tuple[Any, ...]) -> Any:
    """The Jacobian of an array by a number."""
    return tangent_at(f, place, args, 1.0)[1]


def jacobian_by_columns(f: Any, place: int, args: tuple[Any, ...]) -> Any:
    """The Jacobian of an array by an array: a tangent for each number in that."""
    x, y = args[place], f(*args)
    given, made, size = x.shape, y.shape, x.size
    units, columns = np.eye(size), np.zeros((size, y.size))
    for i in range(size):
        columns[i] = tangent_at(f, place, args, units[i].reshape(given))[1].ravel()
    return columns.T.reshape((*made, *given))


def jacobian_by_rows(f: Any, place: int, args: tuple[Any, ...]) -> Any:
    """The Jacobian of an array by an array: a gradient for each number in the value."""
    x, y = args[place], f(*args)
    given, made, size = x.shape, y.shape, y.size
    units, rows = np.eye(size), np.zeros((size, x.size))
    for i in range(size):
        rows[i] = slopes_along(f, place, args, units[i].reshape(made)).ravel()
    return rows.reshape((*made, *given))


def slopes_along(f: Any, place: int, args: tuple[Any, ...], unit: Any) -> Any:
    """The gradient of the part of a value that a unit vector says."""
    return gradient_at(lambda *values: np.sum(f(*values) * unit), place, args)
