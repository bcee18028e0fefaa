"""``pullback`` and ``linearize`` within typed programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from autodiff_hook import api
from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.runtime import directions
from autodiff_hook.runtime.deriving import cell_of
from autodiff_hook.runtime.directions import along
from autodiff_hook.runtime.inner_paths import Formed, OnOneWay, following_within
from autodiff_hook.runtime.inner_programs import Result
from autodiff_hook.runtime.within import NO_OPTIONS, Options, is_set, like, moving, with_options
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.specialise.abstract import Array, Bound, Closure, Known, Partial
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import BODIES, NAMED, STEPS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.program import IN_ITS_ORDER


def place_map(inner: OnOneWay, function: Operand, primals: list[Operand], pulled: bool) -> None:
    """Put the value, and what pulls cotangents back or pushes tangents on, in the place of the call."""
    path = inner.path
    begun = [inner.begun(x) for x in primals]
    found = inner.followed(function, [x for x, _ in begun])
    made = LinearMap(inner, [form for _, form in begun], primals, found, path.frozen(found), inner.since(inner.start))
    called = Constant(pull_back if pulled else push_on)
    path.inlined = path.perform("build_tuple", [found, path.token("map", Partial(called, (Constant(made),), {}))])


class LinearMap:
    """What ``pullback`` or ``linearize`` has made: the way that the function has taken, from its leaves."""

    def __init__(
        self,
        inner: OnOneWay,
        forms: list[Formed],
        primals: list[Operand],
        found: Operand,
        frozen: Operand,
        statements: list[Statement],
    ) -> None:
        self.path, self.params, self.types = inner.path, inner.params, dict(inner.inner.types)
        self.once = inner.inner.once
        self.forms, self.primals, self.found, self.frozen, self.statements = forms, primals, found, frozen, statements

    def pull(self, s: Statement, cotangent: Operand) -> None:
        """Put the cotangents of the arguments in the place of a call."""
        path, inner = self.path, self._again(s)
        for part in path.tuples.get(self.found, [self.found]):
            if path.present(part) is not part:
                raise Refused("a value is changed before it is pulled back")
        cotangent = self._apart(cotangent)
        start = inner.here()
        total = path.call(Constant(along), [self.found, cotangent])
        shape = inner.taken_out(total, self.statements + inner.since(start))
        inner._put(*inner._gradients(shape, list(self.params), Result()))
        by_leaf = dict(zip(self.params, parts(path, path.inlined)))
        path.inlined = path.perform("build_tuple", [form(by_leaf) for form in self.forms])

    def push(self, s: Statement, tangents: Mapping[int, Operand]) -> None:
        """Put the tangent of the value in the place of a call."""
        path, inner = self.path, self._again(s)
        leaves, seeds = {operand: leaf for leaf, operand in self.params.items()}, dict[Variable, Operand]()
        for i, tangent in tangents.items():
            seed = seeds[leaves[path.present(self.primals[i])]] = Variable()
            inner.params[seed], inner.inner.types[seed] = tangent, path.type_of(tangent)
        inner._put(*inner._tangent(inner.taken_out(self.frozen, self.statements), seeds))
        path.inlined = parts(path, path.inlined)[1]

    def _apart(self, cotangent: Operand) -> Operand:
        """A cotangent as a value of its own: it may be the very value that is pulled back."""
        path = self.path
        cotangent = path.present(cotangent)
        if cotangent in path.tuples:
            return path.perform("build_tuple", [self._apart(x) for x in path.tuples[cotangent]])
        return cotangent if isinstance(path.type_of(cotangent), Known) else path.perform("unary", [cotangent], "+")

    def _again(self, s: Statement) -> OnOneWay:
        """The function, in the place of another call."""
        inner = OnOneWay(self.path, s)
        inner.params.update(self.params)
        inner.inner.types.update(self.types)
        inner.inner.once = self.once
        return inner


def pull_back(made: LinearMap, cotangent: Any) -> Any:
    """What stands for a function that ``pullback`` has made."""


def push_on(made: LinearMap, *tangents: Any) -> Any:
    """What stands for a function that ``linearize`` has made."""


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
