"""What ``pullback`` and ``linearize`` make in a program that is followed on one way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.runtime.directions import along
from autodiff_hook.runtime.inner_paths import Formed, OnOneWay
from autodiff_hook.runtime.inner_programs import Result
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.specialise.abstract import Known, Partial
from autodiff_hook.transform.specialise.bodies import Refused


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
