"""Items of lists by their index, where ``zip`` and ``enumerate`` would have to make tuples of all of them first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from autodiff_hook.ir.types import Operand, Statement, Variable

INDEX: Final = object()
"""The form of an index; that of an item is the list that it lies in, that of a tuple a tuple of forms."""


def parts_of(statements: Iterable[Statement], item: Variable, form: Any) -> dict[Operand, Any] | None:
    """The forms of what ``statements`` take out of an item; None if they do something else with what is a tuple."""
    forms: dict[Operand, Any] = {item: form}
    for s in statements:
        if any(type(forms.get(x)) is tuple for x in s.operands):
            if s.op == "unpack":
                forms[s.made] = forms[s.operands[0]]
            elif s.op == "project":
                forms[s.made] = forms[s.operands[0]][s.data]
            else:
                return None
    return forms


def by_index(
    statements: list[Statement], forms: dict[Operand, Any], index: Variable, known: dict[Operand, Operand]
) -> list[Statement]:
    """The statements, which take items out of the lists; ``known``: what is the index."""
    kept = []
    for s in statements:
        form = forms.get(s.result) if s.op in ("unpack", "project") else None  # type: ignore[arg-type]
        if form is None:
            kept.append(s)
        elif form is INDEX:
            known[s.made] = index
        elif type(form) is not tuple:
            kept.append(Statement("getitem", [form, index], s.result, None, s.position))
    return kept
