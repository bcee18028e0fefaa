"""The transpose of a pullback, which is the pushforward of its primitive.

A pullback is linear: ``⟨transpose(pb, y, ẋ), ȳ⟩ = ⟨ẋ, pb(ȳ)⟩`` for every ``ȳ``. So the transpose is the
cotangent of ``ȳ`` for the cotangent ``ẋ`` of ``pb(ȳ)``, and its own pullback is ``pb`` again.
"""

from __future__ import annotations

from typing import Any

from autodiff_hook.errors import NotDifferentiable, located
from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.buffers import dense
from autodiff_hook.runtime.checking import Owed
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.mirror import array_gradient, number_gradient
from autodiff_hook.runtime.pushing.context import Result, TangentContext
from autodiff_hook.runtime.pushing.handlers import pushes
from autodiff_hook.runtime.session import module_of
from autodiff_hook.runtime.structures import absorb, mark_deep, structure_of, take
from autodiff_hook.tangent import Tangent


def transpose(pullback: Any, value: Any, tangents: tuple[Any, ...], owed: Owed | None = None) -> Any:
    """The tangent of ``value`` from the pullback of the rule that gave it; None if it is zero."""
    from autodiff_hook.runtime.calls import apply

    ctx = Context()
    ctx.modules.add(module_of(pullback))
    if kind_of(type(value)) == "array" and value.dtype.kind in "OV":
        raise NotDifferentiable(located("arrays of objects and structured arrays have no tangents"))
    one = one_like(value)
    mark_deep(ctx, one)
    cotangents, back = apply(ctx, (None, True), pullback, (one,), {})
    tangents = _placed(tangents, cotangents if owed is None else owed.checked(cotangents))
    if back is None:
        return None
    structure = structure_of(ctx, one)
    sweep = Sweep(ctx)

    def swept() -> Any:
        given = back(sweep, absorb(sweep, structure_of(ctx, cotangents), tangents))
        return None if given is None else fit(value, take(sweep, structure, given[1]))

    return sweep.buffers.swept(swept)


def _placed(tangents: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangents, one for each of ``cotangents``; an error for what has no known derivative."""
    for tangent, cotangent in zip(tangents, cotangents):
        _refuse_unknown(tangent, cotangent)
    placed = tuple(None if c is None else t for t, c in zip(tangents, cotangents))
    return placed + (None,) * (len(cotangents) - len(placed))


def _refuse_unknown(tangent: Any, cotangent: Any) -> None:
    if tangent is None:
        return
    if isinstance(cotangent, NotImplementedCotangent):
        raise cotangent.fail()
    if isinstance(cotangent, (list, tuple)):
        for part, other in zip(tangent, cotangent):
            _refuse_unknown(part, other)
    elif isinstance(cotangent, dict):
        for key, other in cotangent.items():
            _refuse_unknown(tangent.get(key), other)


def one_like(value: Any) -> Any:
    """Ones in the form of a cotangent of ``value``; None where there is none."""
    kind = kind_of(type(value))
    if kind == "number":
        if type(value).__module__ == "numpy" and value.dtype.kind in "fc":
            return value.dtype.type(1)
        return 1.0 + 0.0j if isinstance(value, complex) else 1.0
    if kind == "array" and value.dtype.kind in "fciu":
        import numpy as np

        return np.ones(value.shape, value.dtype if value.dtype.kind in "fc" else float)
    if kind == "tuple":
        return tuple(map(one_like, value))
    if kind == "list":
        return list(map(one_like, value))
    return {key: one_like(item) for key, item in value.items()} if kind == "dict" else None


def fit(value: Any, tangent: Any) -> Any:
    """The tangent of ``value``, real where it is real, of its shape and precision."""
    tangent = dense(tangent)
    if tangent is None:
        return None
    kind = kind_of(type(value))
    if kind == "number":
        return number_gradient(value, tangent)
    if kind == "array":
        return array_gradient(value, tangent)
    if kind in ("tuple", "list"):
        parts = [fit(item, part) for item, part in zip(value, tangent)]
        return tuple(parts) if kind == "tuple" else parts
    return {key: fit(item, tangent.get(key)) for key, item in value.items()} if kind == "dict" else None


@handles(transpose)
def transpose_in_reverse(ctx: Context, w: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``transpose`` under the reverse engine."""
    pullback, value, tangents = args
    result = transpose(pullback, value, tangents)
    if result is None or w[2] is None and not ctx.reaches(tangents) and not ctx.reaches(pullback):
        return result, None
    ctx.modules.add(module_of(pullback))
    mark_deep(ctx, result)
    return result, Transposed(ctx, pullback, result, tangents)


class Transposed:
    """Pullback of ``transpose``: ``pb`` is run with derivatives, in the same sweep."""

    __slots__ = ("context", "origin", "pullback", "structure", "tangents")

    def __init__(self, ctx: Context, pullback: Any, result: Any, tangents: tuple[Any, ...]) -> None:
        self.context, self.pullback, self.tangents = ctx, pullback, tangents
        self.structure, self.origin = structure_of(ctx, result), structure_of(ctx, tangents)

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        from autodiff_hook.runtime.calls import apply

        whole = dense_parts(take(sweep, self.structure, cotangent))
        if whole is None:
            return None
        ctx, tangents = self.context, self.tangents
        cotangents, back = apply(ctx, (None, None), self.pullback, (whole,), {})
        placed = _placed(tangents, cotangents)
        if back is not None:
            back(sweep, absorb(sweep, structure_of(ctx, cotangents), placed))
        given = tuple(None if t is None else c for t, c in zip(tangents, cotangents))
        return None, None, absorb(sweep, self.origin, given)


def dense_parts(cotangent: Any) -> Any:
    """A cotangent with its parts as rules want them."""
    if isinstance(cotangent, (tuple, list)):
        return type(cotangent)([dense_parts(part) for part in cotangent])
    return dense(cotangent)


@pushes(transpose)
def push_transpose(ctx: TangentContext, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``transpose`` pushed forward: it is linear in the tangents; what the pullback captured moves it as well."""
    from autodiff_hook.runtime.pushing.calls import apply
    from autodiff_hook.runtime.pushing.structures import gather, spread

    pullback, value, tangents = args
    result = transpose(pullback, value, tangents)
    given = gather(ctx, tangents, t[2])
    change = None if given is None else transpose(pullback, value, given)

    def moved(cotangent: Any) -> Any:
        cotangents, tangent = apply(ctx, (None, None), pullback, (cotangent,), {})
        parts = gather(ctx, cotangents, tangent)
        return (None,) * len(cotangents) if parts is None else parts

    return result, spread(ctx, result, added(change, transpose(moved, value, tangents)))


def added(a: Any, b: Any) -> Any:
    """The sum of two tangents."""
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, tuple):
        return tuple([added(x, y) for x, y in zip(a, b)])
    if isinstance(a, Tangent):
        return added(a._fields, b._fields if isinstance(b, Tangent) else b)
    if isinstance(a, list):
        return [added(x, y) for x, y in zip(a, b)]
    if isinstance(a, dict):
        return {key: added(a.get(key), b.get(key)) for key in {**a, **b}}
    return a + b
