"""The functions people call. Gradients have the form of the arguments (``runtime/mirror.py``).

With ``has_aux=True`` each of them takes a function that returns a pair ``(value, aux)``: the value is differentiated,
and what else the function found out is handed through, of any type and without a derivative.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar, overload

from autodiff_hook import runtime as runtime  # raises where nothing works, before NumPy is loaded
from autodiff_hook.algebras.forward import push
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.binding import Places
from autodiff_hook.runtime.controls import Checkpoint
from autodiff_hook.runtime.entering import entered, entries
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.inspection import adjoint_text, ir_text
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.linear import Linear
from autodiff_hook.runtime.preparing import require_aux, scalar_seed
from autodiff_hook.runtime.pulled import opened
from autodiff_hook.runtime.specialising import differentiated
from autodiff_hook.runtime.trees import apart
from autodiff_hook.runtime.trees import ravel as ravel
from autodiff_hook.runtime.trees import register_tree as register_tree
from autodiff_hook.runtime.trees import tree_flatten as tree_flatten
from autodiff_hook.runtime.trees import tree_leaves as tree_leaves
from autodiff_hook.runtime.trees import tree_map as tree_map

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
# Where a checker is told to ignore overloads, it thinks of functions that have a parameter has_aux themselves.
Back = Callable[[Any], tuple[Any, ...]]
GradientForm = Literal["gradient", "value", "value_aux"]
_entries = entries()
gettrace = sys.gettrace


@overload
def gradient(
    f: Callable[..., tuple[Any, A]], /, *args: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[tuple[Any, ...], A]: ...
@overload
def gradient(f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]: ...
def gradient(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:  # type: ignore[misc]
    """The gradients of a scalar function, one for each positional argument.

    Number -> number, array -> array of the same shape and float dtype, container -> the same container of
    gradients, object -> ``Tangent``; None for what has no derivative. Keyword arguments are constants.
    ``f`` runs once. With ``has_aux``, ``f`` returns ``(value, aux)``, and the result is ``(gradients, aux)``. Raises
    ``Unsupported`` if the value is not a real scalar, ``NotDifferentiable`` if the gradient would have to pass
    through a call without known derivative.

    >>> def f(x, y):
    ...     return x * x if isinstance(x, float) else y
    >>> gradient(f, 0.7, 2.0)
    (1.4, 0.0)
    >>> gradient(lambda x: (x * x, "a note"), 0.7, has_aux=True)
    ((1.4,), 'a note')
    """
    if has_aux:
        (_, aux), grads = withgradient(f, *args, has_aux=True, **kwargs)
        return grads, aux
    error: Exception | None = None
    if kwargs:
        grads, error = entered("gradient", f, args, kwargs)
        if grads is not MISS:
            return grads
    elif gettrace() is None:
        # As ``entered`` does, without a call.
        try:
            entry = _entries[type(f)][id(f.__code__)]
        except (AttributeError, KeyError):
            pass
        else:
            try:
                grads = entry(f, args)
                if grads is not MISS:
                    return grads
            except MemoryError:
                raise
            except Exception as raised:
                error = raised
    return differentiated(f, args, kwargs, "gradient", generic_gradient, error)


def generic_gradient(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:
    """``gradient`` without specialisation."""
    value, grads = generic_withgradient(f, *args, has_aux=has_aux, **kwargs)
    return (grads, value[1]) if has_aux else grads


def partial_gradients(
    form: GradientForm, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], places: Places | None
) -> Any:
    """What ``gradient`` or ``withgradient`` give, of the arguments at some places alone; None: of all."""
    found, error = (MISS, None) if form == "value_aux" else entered(form, f, args, kwargs, places)
    if found is not MISS:
        return found

    def carried(f: Any, /, *args: Any, **kwargs: Any) -> Any:
        return generic_gradients(form, f, args, kwargs, places)

    return differentiated(f, args, kwargs, form, carried, error, places=places)


def generic_gradients(
    form: GradientForm, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], places: Places | None = None
) -> Any:
    """``partial_gradients`` without specialisation."""
    session = Reverse(f, args, kwargs, places=places)
    if form == "value_aux":
        require_aux(session.value, f)
        value, aux = session.value
        return (value, aux), session.back((scalar_seed(value, f), None))
    grads = session.back(scalar_seed(session.value, f))
    return grads if form == "gradient" else (session.value, grads)


def generic_withgradient(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:
    """``withgradient`` without specialisation."""
    return generic_gradients("value_aux" if has_aux else "value", f, args, kwargs)


@overload
def withgradient(
    f: Callable[..., tuple[T, A]], /, *args: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[tuple[T, A], tuple[Any, ...]]: ...
@overload
def withgradient(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, tuple[Any, ...]]: ...
def withgradient(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:  # type: ignore[misc]
    """The value of ``f`` and its gradients, as ``(value, grads)``; with ``has_aux``, ``((value, aux), grads)``.

    >>> withgradient(lambda x: x ** 3, 2.0)
    (8.0, (12.0,))
    """
    return partial_gradients("value_aux" if has_aux else "value", f, args, kwargs, None)


@overload
def pullback(  # type: ignore[overload-overlap]
    f: Callable[..., tuple[T, A]], /, *args: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[T, Back, A]: ...
@overload
def pullback(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, Back]: ...
def pullback(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:  # type: ignore[misc]
    """The value of ``f`` and the function that maps a cotangent of it to cotangents of the arguments.

    ``back`` may be called any number of times; None stands for a structural zero. What the caller
    mutates between ``pullback`` and ``back`` is the caller's responsibility. With ``has_aux``: ``(value, back, aux)``.

    >>> y, back = pullback(lambda x, y: (x * y, x), 3.0, 5.0)
    >>> back((1.0, 10.0))
    (15.0, 3.0)
    """
    return _value_and_back(f, opened(f, args, kwargs, has_aux=has_aux), has_aux)


vjp = pullback


def _value_and_back(f: Callable[..., Any], session: Any, has_aux: bool) -> Any:
    if not has_aux:
        return session.value, session.back
    require_aux(session.value, f)
    value, aux = session.value
    return value, partial(_back_of_first, session), aux


def _back_of_first(session: Any, cotangent: Any) -> Any:
    return session.back((cotangent, None))


@overload
def J(f: Callable[..., tuple[T, A]], /, *args: Any, has_aux: Literal[True], **kwargs: Any) -> tuple[T, Back, A]: ...  # type: ignore[overload-overlap]
@overload
def J(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, Back]: ...
def J(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:  # type: ignore[misc]
    """Like ``pullback``, but the first cotangent is that of ``f`` itself: what it captured, or is bound to.

    >>> w = 3.0
    >>> def scaled(w):
    ...     return lambda x: w * x
    >>> y, back = J(scaled(3.0), 2.0)
    >>> f̄, x̄ = back(1.0)
    >>> f̄.w, x̄
    (2.0, 3.0)
    """
    return _value_and_back(f, opened(f, args, kwargs, of_function=True, has_aux=has_aux), has_aux)


@overload
def jvp(
    f: Callable[..., tuple[T, A]], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: Literal[True]
) -> tuple[T, Any, A]: ...
@overload
def jvp(f: Callable[..., T], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[T, Any]: ...
def jvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False) -> Any:
    """The value of ``f`` and its derivative in the direction of ``tangents``, as ``(y, ẏ)``.

    ``tangents`` has the form of gradients: one for each primal, None for zero, a ``Tangent`` or a dict for
    an object. ``ẏ`` mirrors ``y``, with zeros where nothing flows. ``f`` runs once. With ``has_aux``: ``(y, ẏ, aux)``.

    >>> jvp(lambda x, y: (x * y, y), (3.0, 5.0), (1.0, 10.0))
    ((15.0, 5.0), (35.0, 10.0))
    """
    if not has_aux:
        return _in_direction("jvp", generic_jvp, f, primals, tangents)
    found = _in_direction("jvp", _none_typed, f, primals, tangents)
    if found is MISS:
        return generic_jvp(f, primals, tangents, has_aux=True)
    require_aux(found[0], f)
    value, aux = found[0]
    return value, found[1][0], aux


def _none_typed(f: Any, primals: Any, tangents: Any) -> Any:
    return MISS


def _in_direction(form: Any, generic: Any, f: Any, primals: Any, tangents: Any) -> Any:
    """What a typed program gives in a direction, or ``generic`` if there is none."""
    _require_tuples(f, primals, tangents)
    primals, tangents = tuple(primals), tuple(tangents)

    def carried(f: Callable[..., Any], *primals: Any) -> Any:
        return generic(f, primals, tangents)

    if len(primals) != len(tangents) or not primals:
        return carried(f, *primals)
    return differentiated(f, primals, {}, form, carried, tangents=tangents)


def _require_tuples(f: Any, primals: Any, tangents: Any) -> None:
    """Raise for one argument in the place of all: an array would be taken apart into several."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise Unsupported(
                f"{name} is a tuple with one for each argument of {describe(f)}, not {type(given).__qualname__}: "
                f"of one argument, jvp(f, (x,), (ẋ,))"
            )


def generic_jvp(f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """``jvp`` by a carried program."""
    _require_tuples(f, primals, tangents)
    value, tangent = push(f, tuple(primals), tuple(tangents), has_aux)
    return (value[0], tangent, value[1]) if has_aux else (value, tangent)


@overload
def hvp(
    f: Callable[..., tuple[Any, A]], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: Literal[True]
) -> tuple[tuple[Any, ...], A]: ...
@overload
def hvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]: ...
def hvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False) -> Any:
    """The Hessian of a scalar function times ``tangents``: a tuple, one product for each primal.

    With ``has_aux``, ``f`` returns ``(value, aux)``, and the result is ``(products, aux)``.

    >>> hvp(lambda x: x[0] ** 3 * x[1], ([2.0, 5.0],), ([1.0, 0.0],))
    ([60.0, 12.0],)
    """
    if not has_aux:
        return _in_direction("hvp", generic_hvp, f, primals, tangents)
    found = _in_direction("hvp_aux", _none_typed, f, primals, tangents)
    # Programs of this form have no effects, so the function may run once more for the rest of what it returns.
    return generic_hvp(f, primals, tangents, has_aux=True) if found is MISS else (found, f(*primals)[1])


def generic_hvp(f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """``hvp`` by carried programs."""
    _require_tuples(f, primals, tangents)
    # Containers are known by identity, and tangents may be the very containers that the primals are.
    directions = apart(tuple(tangents), {})

    def slope(*values: Any) -> Any:
        value, derivative, *aux = generic_jvp(f, values, directions, has_aux)
        scalar_seed(value, f)
        return (derivative, aux[0]) if has_aux else derivative

    return generic_gradient(slope, *primals, has_aux=has_aux)


@overload
def linearize(  # type: ignore[overload-overlap]
    f: Callable[..., tuple[T, A]], /, *args: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[T, Callable[..., Any], A]: ...
@overload
def linearize(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, Callable[..., Any]]: ...
def linearize(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:  # type: ignore[misc]
    """The value of ``f`` and the function that maps tangents of the arguments to the tangent of the value.

    That function takes one tangent for each positional argument, as ``jvp`` does, any number of times. What ``f`` does
    to the world it does once. What the caller mutates meanwhile is the caller's responsibility, as with ``pullback``,
    of which this is the transpose. With ``has_aux``: ``(value, push, aux)``. Raises ``Unsupported`` if the value holds
    objects.

    >>> y, push = linearize(lambda x, y: (x * y, x), 3.0, 5.0)
    >>> push(1.0, 0.0), push(0.0, 1.0)
    ((5.0, 1.0), (3.0, 0.0))
    """
    linear = Linear(f, args, kwargs, has_aux)
    return (linear.value, linear, linear.aux) if has_aux else (linear.value, linear)


def generic_linearize(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, **kwargs: Any) -> Any:
    """``linearize`` where the result is differentiated once more: each product runs ``f`` again."""

    named = partial(f, **kwargs)

    def push(*tangents: Any) -> Any:
        return generic_jvp(named, args, tangents, has_aux)[1]

    value, _, *aux = generic_jvp(named, args, (None,) * len(args), has_aux)
    return (value, push, *aux)


def generic_product(linear: Linear, *tangents: Any) -> Any:
    """A product of ``linearize`` that is differentiated once more."""
    f, args, kwargs = linear.call
    return generic_jvp(partial(f, **kwargs), args, tangents, linear.has_aux)[1]


def stop_gradient(x: T) -> T:
    """``x``, as a constant of the differentiation. Lists, dicts and objects are copied.

    >>> gradient(lambda x: x * stop_gradient(x), 3.0)
    (3.0,)
    """
    return x if kind_of(type(x)) in ("number", "array", "inert") else copy.deepcopy(x)


def hook(fn: Callable[[Any], Any], x: T) -> T:
    """``x``; on the way back its cotangent goes through ``fn`` (to print, clip or scale it).

    >>> gradient(lambda x: hook(lambda c: 10 * c, x) * x, 3.0)
    (33.0,)
    """
    return x if kind_of(type(x)) in ("number", "array", "inert", "tuple") else copy.copy(x)


def checkpoint(f: Callable[P, T]) -> Callable[P, T]:
    """``f``, recomputed in the reverse sweep instead of storing what it needs.

    ``f`` must not change what is outside of it: that is an error.

    >>> gradient(lambda x: checkpoint(lambda t: t * t)(x), 3.0)
    (6.0,)
    """
    return Checkpoint(f)


def code_ir(f: Callable[..., Any], /, *args: Any) -> str:
    """The SSA form of ``f`` with source lines, as text in the grammar of ``autodiff_hook.ir.types``.

    ``f`` is not run. Raises ``Unsupported`` if it is not Python code or cannot be lifted.

    >>> print(code_ir(lambda x: x, 1.0).rstrip())
    function <lambda>(%1)
    b0(%1):
        return %1  # line 1
    """
    return ir_text(f)


def code_adjoint(f: Callable[..., Any], /, *args: Any) -> str:
    """The adjoint program of ``f`` for arguments like these, as text: primal and adjoint in one, without its guards.

    Behind it are the halves, forward and reverse, of functions that it calls by programs of their own.

    What cannot be specialised for all ways through it is shown for the way that these arguments take; if that cannot
    be either, and if no arguments are given, as it is carried: the primal with a token beside each value. ``f`` is not
    run. Raises ``Unsupported`` if it is not Python code or cannot be lifted.

    >>> print(code_adjoint(lambda x: x * x, 3.0).rstrip())
    function <lambda>(%1)
    b0(%1):
        %2 = binary[+] %1 %1
        %3 = compare[==] %2 %2
        %4 = truth %3
        branch %4 b1() b2()
    b1():
        %5 = build_tuple %2
        return %5
    b2():
        call[] autodiff_hook.runtime.specialised_runtime.undefined
        return None
    """
    return adjoint_text(f, args)
