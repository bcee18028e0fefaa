"""Operations of carried programs that look at their results: what ``debug_nans`` is made of."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.errors import NotANumber
from autodiff_hook.registry import describe, registry
from autodiff_hook.semantics.operations import BINARY, UNARY
from autodiff_hook.semantics.scope import in_scope
from autodiff_hook.strong import has_nan


def watched(op: str, operation: Any) -> Any:
    """An operation of carried programs that must not make nan of operands that have none."""

    def watching(alg: Algebra, tokens: Any, data: Any, *operands: Any) -> Result:
        clean = not has_nan(operands)
        value, token = operation(alg, tokens, data, *operands)
        in_value = has_nan(value)
        in_tangent = not in_value and alg.moves_nan(token) and not alg.moves_nan(tokens)
        if clean and (in_value or in_tangent) and not _is_entered(alg, op, data, operands):
            name = _named(op, data, operands)
            raise NotANumber(f"{name} has made nan" if in_value else f"the tangent of {name} is nan")
        return value, token

    return watching


_OPERATIONS: Final = ("binary", "inplace", "unary", "call", "call_ex", "call_method", "call_loaded")


def watching_table(table: dict[str, Any]) -> dict[str, Any]:
    """What carried programs call: each operation by itself, and looked at."""
    return table | {op: watched(op, table[op]) for op in _OPERATIONS} | {"fused": lambda *_: lambda *_: None}


def _callee(op: str, data: Any, operands: Any) -> Any:
    if op == "call_method":
        return getattr(operands[0], data[0], data[0])
    return BINARY[data] if op in ("binary", "inplace") else UNARY[data] if op == "unary" else operands[0]


def _is_entered(alg: Algebra, op: str, data: Any, operands: Any) -> bool:
    """Whether the operations within a call are looked at themselves."""
    callee = _callee(op, data, operands)
    while type(callee) is MethodType:
        callee = callee.__func__
    if str(getattr(callee, "__module__", None)).startswith("autodiff_hook."):
        return True
    return type(callee) is FunctionType and not registry.knows(callee) and in_scope(alg, callee)


def _named(op: str, data: Any, operands: Any) -> str:
    return describe(_callee(op, data, operands)) if op.startswith("call") else f"the operator {data}"
