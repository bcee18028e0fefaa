"""The functions people call. Gradients have the form of the arguments (``runtime/mirror.py``)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from autodiff_hook.algebras.forward import push
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.errors import NotDifferentiable, Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.preparing import scalar_seed
from autodiff_hook.runtime.pulled import opened
from autodiff_hook.runtime.second_order import Carried
from autodiff_hook.runtime.specialising import differentiated, entries
from autodiff_hook.runtime.tangents import is_made_of_numbers, zero_tangent
from autodiff_hook.runtime.trees import jacobian_of, refuse_complex, rows_of
from autodiff_hook.runtime.trees import ravel as ravel
from autodiff_hook.runtime.trees import tree_flatten as tree_flatten
from autodiff_hook.runtime.trees import tree_leaves as tree_leaves
from autodiff_hook.runtime.trees import tree_map as tree_map

P = ParamSpec("P")
T = TypeVar("T")
Argnums = int | tuple[int, ...]
_entries = entries()
gettrace = sys.gettrace


def gradient(f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]:
    """The gradients of a scalar function, one for each positional argument.

    Number -> number, array -> array of the same shape and float dtype, container -> the same container of
    gradients, object -> ``Tangent``; None for what has no derivative. Keyword arguments are constants.
    ``f`` runs once. Raises ``Unsupported`` if the value is not a real scalar, ``NotDifferentiable`` if
    the gradient would have to pass through a call without known derivative.

    >>> def f(x, y):
    ...     return x * x if isinstance(x, float) else y
    >>> gradient(f, 0.7, 2.0)
    (1.4, 0.0)
    """
    error: Exception | None = None
    if not kwargs and gettrace() is None:
        try:
            entry = _entries[id(f.__code__)]
        except (AttributeError, KeyError):
            pass
        else:
            try:
                grads = entry(f, args)
                if grads is not MISS:
                    return grads  # type: ignore[no-any-return]
            except MemoryError:
                raise
            except Exception as raised:
                error = raised
    return differentiated(f, args, kwargs, "gradient", generic_gradient, error)  # type: ignore[no-any-return]


def generic_gradient(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """``gradient`` without specialisation."""
    return generic_withgradient(f, *args, **kwargs)[1]


def generic_withgradient(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
    """``withgradient`` without specialisation."""
    session = Reverse(f, args, kwargs)
    return session.value, session.back(scalar_seed(session.value, f))


def withgradient(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, tuple[Any, ...]]:
    """The value of ``f`` and its gradients, as ``(value, grads)``.

    >>> withgradient(lambda x: x ** 3, 2.0)
    (8.0, (12.0,))
    """
    return differentiated(f, args, kwargs, "value", generic_withgradient)  # type: ignore[no-any-return]


def pullback(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, Callable[[Any], tuple[Any, ...]]]:
    """The value of ``f`` and the function that maps a cotangent of it to cotangents of the arguments.

    ``back`` may be called any number of times; None stands for a structural zero. What the caller
    mutates between ``pullback`` and ``back`` is the caller's responsibility.

    >>> y, back = pullback(lambda x, y: (x * y, x), 3.0, 5.0)
    >>> back((1.0, 10.0))
    (15.0, 3.0)
    """
    session = opened(f, args, kwargs)
    return session.value, session.back


vjp = pullback


def J(f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> tuple[T, Callable[[Any], tuple[Any, ...]]]:
    """Like ``pullback``, but the first cotangent is that of ``f`` itself: what it captured, or is bound to.

    >>> w = 3.0
    >>> def scaled(w):
    ...     return lambda x: w * x
    >>> y, back = J(scaled(3.0), 2.0)
    >>> f̄, x̄ = back(1.0)
    >>> f̄.w, x̄
    (2.0, 3.0)
    """
    session = opened(f, args, kwargs, of_function=True)
    return session.value, session.back


def _require_callable(f: Any) -> None:
    if not callable(f):
        raise Unsupported(f"the function to differentiate is not callable: {f!r}")


def _chosen(f: Any, argnums: Argnums, args: tuple[Any, ...]) -> tuple[int, ...]:
    if not isinstance(argnums, (int, tuple)):
        raise Unsupported(f"argnums is an int or a tuple of ints, not {argnums!r}")
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    for i in chosen:
        if not isinstance(i, int) or not -len(args) <= i < len(args):
            raise Unsupported(
                f"argnums={argnums!r} is out of range: {describe(f)} was called with {len(args)} arguments by position "
                f"(what is given by keyword is constant)"
            )
    return tuple(i % len(args) for i in chosen)


def _picked(f: Any, argnums: Argnums, grads: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    chosen = _chosen(f, argnums, args)
    for i in chosen:
        if grads[i] is None:
            raise NotDifferentiable(
                f"argument {i} of {describe(f)} is a {type(args[i]).__qualname__} and has no derivative; choose others "
                f"with argnums",
                remedies=(),
            )
    picked = tuple(grads[i] for i in chosen)
    return picked[0] if isinstance(argnums, int) else picked


def _closed(f: Any, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """``f`` as a function of the chosen arguments alone, and those."""
    chosen = _chosen(f, argnums, args)

    @functools.wraps(f, updated=())
    def of_chosen(*values: Any) -> Any:
        full = list(args)
        for i, value in zip(chosen, values):
            full[i] = value
        return f(*full, **kwargs)

    return of_chosen, tuple(args[i] for i in chosen)


def grad(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The gradient of ``f`` as a function: a bare result for an int ``argnums``, a tuple for a tuple.

    >>> grad(lambda x, n: x ** n)(2.0, 3)
    12.0
    """
    gradient_of = value_and_grad(f, argnums)

    @functools.wraps(f, updated=())
    def grad_of_f(*args: Any, **kwargs: Any) -> Any:
        return gradient_of(*args, **kwargs)[1]

    return grad_of_f


def value_and_grad(f: Callable[P, T], argnums: Argnums = 0) -> Callable[P, tuple[T, Any]]:
    """Value and gradient of ``f`` as a function; fits ``scipy.optimize.minimize(..., jac=True)``.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    _require_callable(f)

    @functools.wraps(f, updated=())
    def value_and_grad_of_f(*args: Any, **kwargs: Any) -> Any:
        _chosen(f, argnums, args)
        value, grads = withgradient(f, *args, **kwargs)
        return value, _picked(f, argnums, grads, args)

    return value_and_grad_of_f


def jacobian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The Jacobian of ``f`` as a function; a leaf has the shape ``y.shape + x.shape`` (numbers add no axes).

    Containers in the value: the same containers, with the structure of the argument at each leaf.
    Complex arguments or values are an error.

    >>> jacobian(lambda x: (x * x, 2 * x))(3.0)
    (6.0, 2.0)
    """
    _require_callable(f)

    def jacobian_of_f(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(f, argnums, args)
        session = opened(f, args, kwargs)
        found = tuple(jacobian_of(session, args[i], i) for i in chosen)
        return found[0] if isinstance(argnums, int) else found

    return jacobian_of_f


def jvp(f: Callable[..., T], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[T, Any]:
    """The value of ``f`` and its derivative in the direction of ``tangents``, as ``(y, ẏ)``.

    ``tangents`` has the form of gradients: one for each primal, None for zero, a ``Tangent`` or a dict for
    an object. ``ẏ`` mirrors ``y``, with zeros where nothing flows. ``f`` runs once.

    >>> jvp(lambda x, y: (x * y, y), (3.0, 5.0), (1.0, 10.0))
    ((15.0, 5.0), (35.0, 10.0))
    """
    result: tuple[Any, Any] = _in_direction("jvp", generic_jvp, f, primals, tangents)
    return result


def _in_direction(form: Any, generic: Any, f: Any, primals: Any, tangents: Any) -> Any:
    """What a typed program gives in a direction, or ``generic`` if there is none."""
    primals, tangents = tuple(primals), tuple(tangents)

    def carried(f: Callable[..., Any], *primals: Any) -> Any:
        return generic(f, primals, tangents)

    if len(primals) != len(tangents) or not primals:
        return carried(f, *primals)
    return differentiated(f, primals, {}, form, carried, tangents=tangents)


def generic_jvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """``jvp`` by a carried program."""
    return push(f, tuple(primals), tuple(tangents))


def hvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """The Hessian of a scalar function times ``tangents``: a tuple, one product for each primal.

    >>> hvp(lambda x: x[0] ** 3 * x[1], ([2.0, 5.0],), ([1.0, 0.0],))
    ([60.0, 12.0],)
    """
    result: tuple[Any, ...] = _in_direction("hvp", generic_hvp, f, primals, tangents)
    return result


def generic_hvp(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """``hvp`` by carried programs."""

    def slope(*values: Any) -> Any:
        value, derivative = generic_jvp(f, values, tangents)
        scalar_seed(value, f)
        return derivative

    return generic_gradient(slope, *primals)


def hessian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The Hessian of a scalar function as a function; a leaf has the shape ``x.shape + x.shape``.

    Containers: the structure of the gradient, with the structure of the argument at each leaf; a tuple of
    ``argnums`` counts as a container. Complex arguments are an error.

    >>> hessian(lambda x, n: x ** n)(2.0, 3)
    12.0
    """

    def hessian_of_f(*args: Any, **kwargs: Any) -> Any:
        found = _typed_rows(f, argnums, args, kwargs)
        if found is not MISS:
            return found
        of_chosen, values = _closed(f, argnums, args, kwargs)
        return _rows_of_hessian(of_chosen, values, isinstance(argnums, int))

    return hessian_of_f


def _typed_rows(f: Callable[..., Any], argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The products of the Hessian with all unit vectors, by a typed program; ``MISS`` if there is none."""
    chosen, single = _chosen(f, argnums, args), isinstance(argnums, int)
    values = tuple(args[i] for i in chosen)
    refuse_complex(values)
    if not all(map(is_made_of_numbers, values)):
        return MISS

    def row(seed: Any) -> Any:
        directions = dict(zip(chosen, (seed,) if single else seed))
        tangents = tuple(directions.get(i) for i in range(len(args)))
        products = differentiated(f, args, kwargs, "hvp", lambda *_, **__: MISS, tangents=tangents)
        if products is MISS:
            raise Carried
        picked = tuple(products[i] for i in chosen)
        return picked[0] if single else picked

    try:
        return rows_of(zero_tangent(values[0] if single else values), row)
    except Carried:
        return MISS


def _rows_of_hessian(f: Callable[..., Any], values: tuple[Any, ...], single: bool) -> Any:
    """The Jacobian of the gradient, which runs once; each row is a sweep."""
    refuse_complex(values)

    def slopes(*values: Any) -> Any:
        grads = generic_gradient(f, *values)
        return grads[0] if single else grads

    session = Reverse(slopes, values, {})

    def row(seed: Any) -> Any:
        grads = session.back(seed)
        return grads[0] if single else grads

    return rows_of(session.value, row)


def stop_gradient(x: T) -> T:
    """``x``, as a constant of the differentiation. Lists, dicts and objects are copied.

    >>> gradient(lambda x: x * stop_gradient(x), 3.0)
    (3.0,)
    """
    import copy

    from autodiff_hook.runtime.kinds import kind_of

    return x if kind_of(type(x)) in ("number", "array", "inert") else copy.deepcopy(x)


def hook(fn: Callable[[Any], Any], x: T) -> T:
    """``x``; on the way back its cotangent goes through ``fn`` (to print, clip or scale it).

    >>> gradient(lambda x: hook(lambda c: 10 * c, x) * x, 3.0)
    (33.0,)
    """
    import copy

    from autodiff_hook.runtime.kinds import kind_of

    return x if kind_of(type(x)) in ("number", "array", "inert", "tuple") else copy.copy(x)


def checkpoint(f: Callable[P, T]) -> Callable[P, T]:
    """``f``, recomputed in the reverse sweep instead of storing what it needs.

    ``f`` must not change what is outside of it: that is an error.

    >>> gradient(lambda x: checkpoint(lambda t: t * t)(x), 3.0)
    (6.0,)
    """
    from autodiff_hook.runtime.controls import Checkpoint

    return Checkpoint(f)


def code_ir(f: Callable[..., Any], /, *args: Any) -> str:
    """The SSA form of ``f`` with source lines, as text in the grammar of ``autodiff_hook.ir.types``.

    ``f`` is not run. Raises ``Unsupported`` if it is not Python code or cannot be lifted.

    >>> print(code_ir(lambda x: x, 1.0).rstrip())
    function <lambda>(%1)
    b0(%1):
        return %1  # line 1
    """
    from autodiff_hook.runtime.inspection import ir_text

    return ir_text(f)


def code_adjoint(f: Callable[..., Any], /, *args: Any) -> str:
    """The adjoint program of ``f`` for arguments like these, as text: primal and adjoint in one, without its guards.

    What cannot be specialised, and everything if no arguments are given, is shown as it is carried: the primal
    with a token beside each value. ``f`` is not run. Raises ``Unsupported`` if it is not Python code or
    cannot be lifted.

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
    from autodiff_hook.runtime.inspection import adjoint_text

    return adjoint_text(f, args)
