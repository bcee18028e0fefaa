"""A tape, and operations, that look at each result: what ``debug_nans`` is made of."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.levels import own_of
from autodiff_hook.algebras.places import Node, here, line_of, made_at
from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.algebras.tangents import Moving, Tangents
from autodiff_hook.algebras.tape import Cotangents, Inputs, Tape
from autodiff_hook.errors import NotANumber
from autodiff_hook.registry import describe, registry
from autodiff_hook.semantics.operations import BINARY, UNARY
from autodiff_hook.semantics.scope import in_scope
from autodiff_hook.strong import is_plain, times


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


def watched(op: str, operation: Any) -> Any:
    """An operation of carried programs that must not make nan of operands that have none."""

    def watching(alg: Algebra, tokens: Any, data: Any, *operands: Any) -> Result:
        clean = not has_nan(operands)
        value, token = operation(alg, tokens, data, *operands)
        in_value = has_nan(value)
        in_tangent = not in_value and _moves_nan(alg, token) and not _moves_nan(alg, tokens)
        if clean and (in_value or in_tangent) and not _is_entered(alg, op, data, operands):
            name = _named(op, data, operands)
            raise NotANumber(f"{name} has made nan" if in_value else f"the tangent of {name} is nan")
        return value, token

    return watching


def _moves_nan(alg: Algebra, tokens: Any) -> bool:
    """Whether a tangent is nan."""
    if not isinstance(alg, Tangents):
        return False
    return has_nan(tokens if alg.over is None else own_of(alg, tokens))


_OPERATIONS: Final = ("binary", "inplace", "unary", "call", "call_ex", "call_method", "call_loaded")


def watching_table(table: dict[str, Any]) -> dict[str, Any]:
    """What carried programs call: each operation by itself, and looked at."""
    return table | {op: watched(op, table[op]) for op in _OPERATIONS} | {"fused": _separate}


def _separate(*_: Any) -> Any:
    return _no_value


def _no_value(*_: Any) -> None:
    return None


def _callee(op: str, data: Any, operands: Any) -> Any:
    if op == "call_method":
        return getattr(operands[0], data[0], data[0])
    return BINARY[data] if op in ("binary", "inplace") else UNARY[data] if op == "unary" else operands[0]


def _is_entered(alg: Algebra, op: str, data: Any, operands: Any) -> bool:
    """Whether the operations within a call are looked at themselves."""
    callee = _callee(op, data, operands)
    while isinstance(callee, MethodType):
        callee = callee.__func__
    if str(getattr(callee, "__module__", None)).startswith("autodiff_hook."):
        return True
    return isinstance(callee, FunctionType) and not registry.knows(callee) and in_scope(alg, callee)


def _named(op: str, data: Any, operands: Any) -> str:
    return describe(_callee(op, data, operands)) if op.startswith("call") else f"the operator {data}"


def has_nan(value: Any) -> bool:
    """Whether a number or array is nan, or what lies in tuples, lists and dicts."""
    if isinstance(value, (float, complex, np.generic, np.ndarray)):
        return not is_plain(value)
    if type(value) is Moving:
        return has_nan(value.value)
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    return isinstance(value, (tuple, list)) and any(map(has_nan, value))
