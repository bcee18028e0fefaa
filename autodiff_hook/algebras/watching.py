"""A tape that looks at what its pullbacks give: what ``debug_nans`` is made of, with ``semantics/watching.py``."""

from __future__ import annotations

from typing import Any

from autodiff_hook.algebras.places import Node, here, line_of, made_at
from autodiff_hook.algebras.shadows import Result
from autodiff_hook.algebras.tape import Cotangents, Inputs, Tape
from autodiff_hook.errors import NotANumber
from autodiff_hook.registry import describe
from autodiff_hook.strong import has_nan, times


class WatchedTape(Tape):
    """A tape that looks at what each pullback gives, and at sums of cotangents."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = None

    def call_rule(self, rule: Any, function: Any, args: Any, kwargs: Any, tokens: Inputs) -> Result:
        node, place = len(self.nodes), here()
        result = super().call_rule(rule, function, args, kwargs, tokens)
        pullback, inputs = self.nodes[node][:2]
        self.nodes[node] = (watched_pullback(pullback, describe(function), (args, kwargs), place), inputs, place)
        return result

    def linear(self, partials: Any, tokens: Any) -> int:
        def product_pullback(cotangent: Any) -> Any:
            return tuple([times(cotangent, partial) for partial in partials])

        place = here()
        self.nodes.append((watched_pullback(product_pullback, "an operator", partials, place), tokens, place))
        return len(self.nodes) - 1

    def cotangents(self, nodes: list[Node]) -> Cotangents:
        return WatchedCotangents(nodes)


class WatchedCotangents(Cotangents):
    """Cotangents whose sums must not be nan if what is added is not."""

    def give(self, target: Any, cotangent: Any, node: int | None = None) -> None:
        before = self.values[target] if type(target) is int else None
        clean = not has_nan(before) and not has_nan(cotangent)
        super().give(target, cotangent, node)
        if clean and type(target) is int and has_nan(self.values[target]):
            place = made_at(self.nodes[target]) or made_at(self.nodes[node] if node is not None else ())
            raise NotANumber("the sum of the cotangents of a value is nan", place=line_of(place))


def watched_pullback(pullback: Any, name: str, captured: Any, place: Any) -> Any:
    """A pullback that must not make nan of a cotangent, and of what it has captured, that have none."""
    if has_nan(captured):
        return pullback

    def watching_pullback(cotangent: Any) -> Any:
        parts = pullback(cotangent)
        if has_nan(parts) and not has_nan(cotangent):
            raise NotANumber(f"the pullback of {name} has made nan", place=line_of(place))
        return parts

    return watching_pullback
