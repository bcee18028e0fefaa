"""What questions about values come to, for examples of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.ir.types import Statement
from autodiff_hook.semantics.operations import COMPARE
from autodiff_hook.transform.specialise.abstract import MISSING


def answer(op: str, s: Statement, values: list[Any]) -> Any:
    """What a question about values comes to."""
    if any(v is MISSING for v in values):
        return MISSING
    function = _QUESTIONS.get((op, s.data) if op == "compare" else op)
    if op == "call":
        function, values = (values[0], values[1:]) if callable(values[0]) else (None, values)
    if function is None or op == "call" and s.data:
        return MISSING
    try:
        found = function(*values)
    except Exception:
        return MISSING
    return found if type(found) in (bool, int) else MISSING


_QUESTIONS: Final[dict[Any, Callable[..., Any]]] = {
    **{("compare", op): function for op, function in COMPARE.items()},
    **{"truth": bool, "not": operator.not_, "is": operator.is_, "is_not": operator.is_not},
    "in": lambda a, b: a in b,
    "not_in": lambda a, b: a not in b,
}
