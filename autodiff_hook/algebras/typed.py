"""Functions of numbers that a carried program calls: typed programs, cut in two where the adjoint begins."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autodiff_hook.algebras.shadows import Result, idle
from autodiff_hook.algebras.tape import Tape
from autodiff_hook.runtime.attempts import suspect, suspicion
from autodiff_hook.runtime.specialising import GENERIC as GENERIC
from autodiff_hook.runtime.splitting import Halves, ran
from autodiff_hook.semantics.functions import enter_carried
from autodiff_hook.semantics.structures import gather


def typed_call(tape: Tape, t: Any, function: FunctionType, args: tuple[Any, ...]) -> Result | None:
    """Value and token of a call by a typed program; None if there is none for it."""
    if all(token is None for token in t[1:]) or any(type(x) is str and t[i] is not None for i, x in enumerate(args, 1)):
        return None

    def live(halves: Halves) -> bool:
        if idle(tape):
            return False
        callees = (function, *halves.callees)
        kept = (table for table in (tape.shadows, tape.losses) if table)
        return halves.reads_outside or any(
            id(f) in table or id(f.__kwdefaults__) in table for table in kept for f in callees
        )

    found = ran(function, args, live)
    if found is None:
        return None
    value, residuals, reverse = found
    return value, tape.spread(value, tape.node(TypedPullback(reverse, residuals, function, args), t[1:]))


class TypedPullback:
    """The reverse half of one call.

    If it raises, the call is carried, which has no effects: that knows which cotangents are asked for, and says where
    an error belongs.
    """

    __slots__ = ("args", "function", "residuals", "reverse")

    def __init__(self, reverse: Any, residuals: Any, function: FunctionType, args: tuple[Any, ...]) -> None:
        self.reverse, self.residuals, self.function, self.args = reverse, residuals, function, args

    def __call__(self, cotangent: Any) -> Any:
        try:
            return self.reverse(self.residuals, cotangent)
        except MemoryError:
            raise
        except Exception as error:
            said = suspicion(error)
        given = self._carried(cotangent)
        suspect(self.function, said)
        return given

    def _carried(self, cotangent: Any) -> Any:
        tape = Tape()
        tape.modules.add(self.function.__module__)
        leaves = tuple([tape.leaf() for _ in self.args])
        value, token = enter_carried(tape, (None, *leaves), self.function, self.args, {})
        values = tape.sweep(gather(tape, value, token), cotangent).values
        return tuple([values[leaf] for leaf in leaves])
