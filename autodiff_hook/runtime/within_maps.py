"""``pullback`` and ``linearize`` within typed programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from autodiff_hook import api
from autodiff_hook.ir.types import Args, Operand, Statement, Variable
from autodiff_hook.runtime import directions
from autodiff_hook.runtime.deriving import cell_of
from autodiff_hook.runtime.inner_maps import LinearMap, place_map, pull_back, push_on
from autodiff_hook.runtime.inner_paths import OnOneWay, following_within
from autodiff_hook.runtime.within import NO_OPTIONS, Options, is_set, like, moving, with_options
from autodiff_hook.transform.specialise.abstract import Array, Bound, Closure, Partial
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import BODIES, NAMED, STEPS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.program import IN_ITS_ORDER


def _linear(
    followed: Any, inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS
) -> None:
    """``pullback`` and ``linearize``: what they make runs the function once more, as it was."""
    if not args or is_set(inf, options, "has_aux"):
        raise Refused("a linear map with has_aux, or of no function")
    function, primals = with_options(inf, args[0], options), args[1:]
    inner = following_within(inf, s, function)
    if isinstance(inner, OnOneWay):
        place_map(inner, function, primals, followed is directions.pulled)
        return
    inner.require_repeatable(function, primals)
    kept = [_kept(inf, s, x) for x in (function, *primals)]
    whole, point = (inf.before(s, "build_tuple", values) for values in (primals, kept[1:]))
    inline_call(inf, s, followed, [function, whole, kept[0], point], {})


def _pulled_back(inf: Inference, s: Statement, called: Any, args: Args) -> None:
    """A call of what ``pullback`` has made on one way."""
    if len(args) != 2:
        raise Refused("a pullback of several cotangents")
    args[0].value.pull(s, args[1])  # type: ignore[union-attr]


def _pushed_on(inf: Inference, s: Statement, called: Any, args: Args) -> None:
    """A call of what ``linearize`` has made on one way."""
    made: LinearMap = args[0].value  # type: ignore[union-attr]
    if len(args) - 1 != len(made.primals):
        raise Refused("a derivative in a direction that does not fit")
    made.push(s, {i: like(inf, s, made.primals[i], x) for i, x in moving(inf, args[1:]).items()})


def _kept(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """A value as it is then: what a function has captured may be assigned again, and arrays may be stored into."""
    kind = inf.type_of(operand)
    if isinstance(kind, Array) and not kind.scalar:
        return inf.before(s, "call_method", [operand, IN_ITS_ORDER], ("copy", ()))
    if not isinstance(kind, (Closure, Bound, Partial)):
        return operand
    made = Variable()
    if isinstance(kind, Closure):
        cells = [cell_of(inf, _kept(inf, s, inf.before(s, "cell_get", [cell]))) for cell in kind.cells]
        defaults = tuple([_kept(inf, s, x) for x in kind.defaults])
        inf.types[made] = Closure(kind.code, kind.globals, tuple(cells), defaults)
    elif isinstance(kind, Bound):
        inf.types[made] = Bound(kind.function, _kept(inf, s, kind.receiver))
    else:
        named = {name: _kept(inf, s, x) for name, x in kind.kwargs.items()}
        values = tuple([_kept(inf, s, x) for x in kind.args])
        inf.types[made] = Partial(_kept(inf, s, kind.function), values, named)
    return made


_MAPS: Final[dict[Any, Callable[..., None]]] = {
    api.pullback: partial(_linear, directions.pulled),
    api.linearize: partial(_linear, directions.linearized),
}
NAMED.update(_MAPS)
BODIES.update({**_MAPS, pull_back: _pulled_back, push_on: _pushed_on})
STEPS.update((*_MAPS, pull_back, push_on))
