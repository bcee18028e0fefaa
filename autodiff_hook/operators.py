"""Operators: functions that make of a function its derivative as a function."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, Literal, ParamSpec, TypeVar, overload

from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.api import _value_and_back, generic_gradient, gradient, linearize, partial_gradients
from autodiff_hook.errors import NotDifferentiable, Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.binding import OPERATORS, given_at
from autodiff_hook.runtime.choosing import Argnums, Chosen, chosen_of
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.jacobians import (
    by_columns,
    by_rows,
    forward_pays,
    gradient_of_zero,
    loops,
    moves_freely,
    rows_of,
)
from autodiff_hook.runtime.mirror import form_of
from autodiff_hook.runtime.pulled import Pulled, opened
from autodiff_hook.runtime.specialising import differentiated
from autodiff_hook.runtime.trees import refuse_complex, same

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")


class Operator:
    """A function made of another one. It looks like that, binds to objects as that does, and can be pickled."""

    def __init__(self, work: Callable[..., Any], f: Callable[..., Any], argnums: Argnums, has_aux: bool) -> None:
        if not callable(f):
            raise Unsupported(f"the function to differentiate is not callable: {f!r}")
        self._work, self._f, self._argnums, self._has_aux = work, f, argnums, has_aux
        functools.update_wrapper(self, f, updated=())

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._work(self._f, self._argnums, self._has_aux, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self._work.__name__.lstrip('_')} of {describe(self._f)}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", None)
        if isinstance(name, str) and _named(getattr(self, "__module__", None), name) is self:
            return name  # what decorates a function is found under the name of that
        return Operator, (self._work, self._f, self._argnums, self._has_aux)


OPERATORS.add(Operator)


def _named(module: Any, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


@overload
def grad(
    f: Callable[P, tuple[Any, A]], argnums: Argnums = 0, *, has_aux: Literal[True]
) -> Callable[P, tuple[Any, A]]: ...
@overload
def grad(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]: ...
def grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """The gradient of ``f`` as a function: a bare result for an int ``argnums``, a tuple for a tuple.

    The arguments that ``argnums`` does not name are constants, and cost nothing. With ``has_aux``, ``f`` returns
    ``(value, aux)``, and the function made of it ``(gradient, aux)``.

    >>> grad(lambda x, n: x ** n)(2.0, 3)
    12.0
    """
    return Operator(_grad, f, argnums, has_aux)


def _grad(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    if has_aux:
        (_, aux), found = _value_and_grad(f, argnums, has_aux, args, kwargs)
        return found, aux
    chosen = chosen_of(f, argnums, args)
    if chosen.places is None:
        return _picked(f, chosen, args, gradient(f, *args, **kwargs))
    return _picked(f, chosen, args, partial_gradients("gradient", f, args, kwargs, chosen.places))


@overload
def value_and_grad(
    f: Callable[P, tuple[T, A]], argnums: Argnums = 0, *, has_aux: Literal[True]
) -> Callable[P, tuple[tuple[T, A], Any]]: ...
@overload
def value_and_grad(f: Callable[P, T], argnums: Argnums = 0) -> Callable[P, tuple[T, Any]]: ...
def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Value and gradient of ``f`` as a function; fits ``scipy.optimize.minimize(..., jac=True)``.

    With ``has_aux``, ``f`` returns ``(value, aux)``, and the function made of it ``((value, aux), gradient)``.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return Operator(_value_and_grad, f, argnums, has_aux)


def _value_and_grad(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    chosen = chosen_of(f, argnums, args)
    value, grads = partial_gradients("value_aux" if has_aux else "value", f, args, kwargs, chosen.places)
    return value, _picked(f, chosen, args, grads)


def _picked(f: Any, chosen: Chosen, args: Any, grads: tuple[Any, ...]) -> Any:
    found = chosen.found(grads)
    for i, slope in zip(chosen.numbers, found):
        if slope is None:
            raise NotDifferentiable(
                f"argument {i} of {describe(f)} is a {type(args[i]).__qualname__} and has no derivative; choose others "
                f"with argnums",
                remedies=(),
            )
    return chosen.like_argnums(found)


@overload
def jacobian(
    f: Callable[P, tuple[Any, A]], argnums: Argnums = 0, *, has_aux: Literal[True]
) -> Callable[P, tuple[Any, A]]: ...
@overload
def jacobian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]: ...
def jacobian(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """The Jacobian of ``f`` as a function; a leaf has the shape ``y.shape + x.shape`` (numbers add no axes).

    Containers in the value: the same containers, with the structure of the argument at each leaf. With ``has_aux``,
    ``f`` returns ``(value, aux)``, and the function made of it ``(jacobian, aux)``. The numbers in value and arguments
    are counted: if the value has more, and there is a typed program, it goes by columns, as ``jacfwd`` does; else by
    rows, as ``jacrev`` does. Raises ``Unsupported`` for complex arguments and values, and for values that hold objects.

    >>> jacobian(lambda x: (x * x, 2 * x))(3.0)
    (6.0, 2.0)
    """
    return Operator(_jacobian, f, argnums, has_aux)


def _jacobian(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    chosen = chosen_of(f, argnums, args)
    rows, value, *aux = _rows(f, chosen, has_aux, args, kwargs)
    found = _typed_columns(f, chosen, has_aux, args, kwargs, value)
    found = chosen.like_argnums(rows() if found is MISS else found)
    return (found, aux[0]) if has_aux else found


def _rows(f: Any, chosen: Chosen, has_aux: bool, args: Any, kwargs: Any) -> Any:
    """What gives the Jacobians by rows, the value of ``f``, and what else it found out."""
    session = opened(f, args, kwargs, has_aux=has_aux, places=chosen.places)
    value, back, *aux = _value_and_back(f, session, has_aux)
    return functools.partial(by_rows, value, back, given_at(chosen.places, args), chosen.order), value, *aux


class _Carried(Exception):
    """There is no typed program that gives a row or a column."""


def _typed_columns(f: Any, chosen: Chosen, has_aux: bool, args: Any, kwargs: Any, value: Any) -> Any:
    """The Jacobian by columns, by a typed program, which has no effects; ``MISS`` if there is none, or rows pay."""
    if not forward_pays([args[i] for i in chosen.numbers], value):
        return MISS

    def push(*tangents: Any) -> Any:
        pair = differentiated(f, args, kwargs, "push", lambda *_, **__: MISS, tangents=tangents)
        if pair is MISS or not same(pair[0][0] if has_aux else pair[0], value):
            raise _Carried
        return pair[1][0] if has_aux else pair[1]

    try:
        return by_columns(value, push, args, chosen.numbers)
    except _Carried:
        return MISS


@overload
def jacrev(
    f: Callable[P, tuple[Any, A]], argnums: Argnums = 0, *, has_aux: Literal[True]
) -> Callable[P, tuple[Any, A]]: ...
@overload
def jacrev(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]: ...
def jacrev(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """``jacobian`` row by row: ``f`` runs once, with one reverse sweep for each number in its value.

    >>> jacrev(lambda x: (x * x, 2 * x))(3.0)
    (6.0, 2.0)
    """
    return Operator(_jacrev, f, argnums, has_aux)


def _jacrev(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    chosen = chosen_of(f, argnums, args)
    rows, _, *aux = _rows(f, chosen, has_aux, args, kwargs)
    found = chosen.like_argnums(rows())
    return (found, aux[0]) if has_aux else found


@overload
def jacfwd(
    f: Callable[P, tuple[Any, A]], argnums: Argnums = 0, *, has_aux: Literal[True]
) -> Callable[P, tuple[Any, A]]: ...
@overload
def jacfwd(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]: ...
def jacfwd(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """``jacobian`` column by column, in forward mode: one product of ``linearize`` for each number in the arguments.

    >>> jacfwd(lambda x: (x * x, 2 * x))(3.0)
    (6.0, 2.0)
    """
    return Operator(_jacfwd, f, argnums, has_aux)


def _jacfwd(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    chosen = chosen_of(f, argnums, args)
    if has_aux:
        value, push, aux = linearize(f, *args, has_aux=True, **kwargs)
        return chosen.like_argnums(by_columns(value, push, args, chosen.numbers)), aux
    value, push = linearize(f, *args, **kwargs)
    return chosen.like_argnums(by_columns(value, push, args, chosen.numbers))


@overload
def hessian(
    f: Callable[P, tuple[Any, A]], argnums: Argnums = 0, *, has_aux: Literal[True]
) -> Callable[P, tuple[Any, A]]: ...
@overload
def hessian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]: ...
def hessian(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """The Hessian of a scalar function as a function; a leaf has the shape ``x.shape + x.shape``.

    Containers: the structure of the gradient, with the structure of the argument at each leaf; a tuple of
    ``argnums`` counts as a container. With ``has_aux``, ``f`` returns ``(value, aux)``, and the function made of it
    ``(hessian, aux)``. Raises ``Unsupported`` for complex arguments.

    >>> hessian(lambda x, n: x ** n)(2.0, 3)
    12.0
    """
    return Operator(_hessian, f, argnums, has_aux)


def _hessian(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    ways = [] if has_aux or kwargs else [partial(_swept_rows, f, argnums, args)]
    ways.insert(0 if loops(f) else len(ways), partial(_typed_rows, f, argnums, has_aux, args, kwargs))
    found = next((rows for way in ways if (rows := way()) is not MISS), MISS)
    if found is not MISS:
        # Programs of this form have no effects, so the function may run once more for the rest of what it returns.
        return (found, f(*args, **kwargs)[1]) if has_aux else found
    of_chosen, values = _closed(f, argnums, args, kwargs)
    return _rows_of_hessian(of_chosen, values, isinstance(argnums, int), has_aux)


def _swept_rows(f: Any, argnums: Argnums, args: Any) -> Any:
    """The Hessian by arrays, by a typed program of the gradient that runs once; each row is a sweep; else ``MISS``."""
    chosen = chosen_of(f, argnums, args)
    values = [args[i] for i in chosen.numbers]
    refuse_complex(values)
    if not all(form_of(x) == "array" and x.size for x in values):
        return MISS
    slopes = Operator(_grad, f, argnums, False)
    found = differentiated(slopes, args, {}, "pullback", lambda *_, **__: MISS, places=chosen.places)
    if found is MISS:
        return MISS
    pulled = Pulled((slopes, args, {}), "pullback", False, chosen.places, *found)

    def row(seed: Any) -> Any:
        return chosen.like_argnums(chosen.found(pulled.back(seed)))

    return rows_of(pulled.value, row)


def _typed_rows(f: Any, argnums: Argnums, has_aux: bool, args: Any, kwargs: Any) -> Any:
    """The products of the Hessian with all unit vectors, by a typed program; ``MISS`` if there is none."""
    chosen, _, _, single = chosen_of(f, argnums, args)
    values = tuple(args[i] for i in chosen)
    refuse_complex(values)
    if not moves_freely(values):
        return MISS

    def row(seed: Any) -> Any:
        directions = dict(zip(chosen, (seed,) if single else seed))
        tangents = tuple(directions.get(i) for i in range(len(args)))
        form: Any = "hvp_aux" if has_aux else "row"
        products = differentiated(f, args, kwargs, form, lambda *_, **__: MISS, tangents=tangents)
        if products is MISS:
            raise _Carried
        picked = tuple(products[i] for i in chosen)
        return picked[0] if single else picked

    try:
        return rows_of(gradient_of_zero(values[0] if single else values), row)
    except _Carried:
        return MISS


def _closed(f: Any, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """``f`` as a function of the chosen arguments alone, and those."""
    chosen = chosen_of(f, argnums, args).numbers

    @functools.wraps(f, updated=())
    def of_chosen(*values: Any) -> Any:
        full = list(args)
        for i, value in zip(chosen, values):
            full[i] = value
        return f(*full, **kwargs)

    return of_chosen, tuple(args[i] for i in chosen)


def _rows_of_hessian(f: Callable[..., Any], values: tuple[Any, ...], single: bool, has_aux: bool) -> Any:
    """The Jacobian of the gradient, which runs once; each row is a sweep."""
    refuse_complex(values)

    def slopes(*values: Any) -> Any:
        found = generic_gradient(f, *values, has_aux=has_aux)
        grads, aux = found if has_aux else (found, None)
        return (grads[0] if single else grads), aux

    session = Reverse(slopes, values, {})

    def row(seed: Any) -> Any:
        grads = session.back((seed, None))
        return grads[0] if single else grads

    value, aux = session.value
    found = rows_of(value, row)
    return (found, aux) if has_aux else found
