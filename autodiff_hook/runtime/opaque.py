"""Calls that no derivative is known of: run natively, and never a silent zero."""

from __future__ import annotations

import opcode
import sys
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import describe
from autodiff_hook.runtime.buffers import ArrayStore
from autodiff_hook.runtime.context import Context, Pullback, Sweep, reachable
from autodiff_hook.runtime.iteration import Iteration
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.slots import ctx_taint
from autodiff_hook.runtime.tracebacks import is_engine


class Loss:
    """Pullback of an opaque call: an error as soon as a cotangent wants to pass."""

    __slots__ = ("callable", "collected", "place", "reason", "references")

    def __init__(self, function: Any, reason: str, references: list[Any]) -> None:
        self.callable, self.reason, self.references = describe(function), reason, references
        self.place = user_location()
        self.collected: list[Any] = []

    def collect(self, place: Any, array: Any) -> None:
        """The result, an array, has been written to: its cotangent is in a shadow."""
        self.collected.append(array)

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        cotangents = [c for reference in self.references for c in sweep.peek(reference).values()]
        cotangents += [sweep.buffers.view(array) for array in self.collected]
        if nonzero(cotangent) or any(map(nonzero, cotangents)):
            raise self.error()

    def error(self) -> NotDifferentiable:
        """What is wrong, where, and what helps."""
        return NotDifferentiable(
            f"{self.place}: the gradient would have to pass through the call of {self.callable}, {self.reason}. "
            f"Remedies: opt the module in (AUTODIFF_MODULES, autodiff_hook.install), register a derivative "
            f"(@autodiff_hook.rrule), declare it constant (autodiff_hook.nondifferentiable), or cut the flow "
            f"(autodiff_hook.stop_gradient)"
        )


def nonzero(cotangent: Any) -> bool:
    """Whether a cotangent is more than a structural zero."""
    if isinstance(cotangent, (tuple, list)):
        return any(map(nonzero, cotangent))
    return cotangent is not None


def flows_in(ctx: Context, witnesses: Any, values: Any) -> bool:
    """Whether derivatives flow into a call: by its arguments, or by what they refer to."""
    return any(live(ctx, x, v) for x, v in zip(witnesses, values)) or any(map(ctx.reaches, values))


def user_location() -> str:
    """File, line and function of the innermost frame that is not ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_engine(frame):
        frame = frame.f_back
    code = frame.f_code
    return f"{code.co_filename}:{frame.f_lineno} in {code.co_qualname}"


def live(ctx: Context, witness: Any, value: Any) -> bool:
    """Whether an argument with this witness may carry a derivative."""
    if witness is None:
        return kind_of(type(value)) == "array" and ctx.buffers.is_stored(value)
    if isinstance(value, (str, bytes, bytearray)):
        return loss_behind(witness) is not None
    if isinstance(value, int) and not ctx.whole_numbers:
        return False
    if type(value) is Iteration:
        return True
    kind = kind_of(type(value))
    if kind == "array" and value.dtype.kind not in "fc" and not (value.dtype.kind in "iu" and ctx.whole_numbers):
        return bool(value.dtype.kind == "O")
    if kind == "tuple":
        return any(live(ctx, witness, item) for item in value)
    return kind in ("number", "array")


def call_opaque(
    ctx: Context, witnesses: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> tuple[Any, Pullback | None]:
    """Call natively; the result is a constant if nothing that carries a derivative went in.

    Else derivatives are lost in the result, and in whatever the call could have kept them in.
    """
    values = [*args, *kwargs.values()]
    references = marked_references(ctx, [function, *values])
    flows = bool(references) or any(live(ctx, w, v) for w, v in zip(witnesses, values))
    if not flows:
        return call_native(ctx, function, args, kwargs, flows)
    touched = changeable([function, *values])
    loss = _earlier(ctx, references, witnesses) or Loss(function, reason, [x for x in touched if id(x) in ctx.marks])
    try:
        result, _ = call_native(ctx, function, args, kwargs, flows)
    except BaseException as error:
        ctx_taint(ctx, error, loss)
        raise
    for reference in touched:
        ctx_taint(ctx, reference, loss)
    ctx_taint(ctx, result, loss)
    for part in result if isinstance(result, (tuple, list)) else (result,):
        if kind_of(type(part)) == "array":
            ctx.buffers.made(part, loss, None)
    ctx.effects += 1
    return result, loss


def changeable(values: list[Any]) -> list[Any]:
    """The references that a call with these values could store to."""
    found = [reference for value in values for reference in reachable(value)]
    rebound = {
        id(cell)
        for function in found
        if isinstance(function, FunctionType) and _rebinds(function.__code__)
        for cell in function.__closure__ or ()
    }
    return [
        x
        for x in found
        if not isinstance(x, (FunctionType, tuple)) and not (isinstance(x, CellType) and id(x) not in rebound)
    ]


def _rebinds(code: CodeType) -> bool:
    """Whether code, or code in it, rebinds a captured variable."""
    return _STORE_DEREF in code.co_code[::2] or any(_rebinds(c) for c in code.co_consts if isinstance(c, CodeType))


_STORE_DEREF: Final = opcode.opmap["STORE_DEREF"]


def _earlier(ctx: Context, references: list[Any], witnesses: Any) -> Loss | None:
    """The call in which derivatives were lost before, if one of the arguments came out of it."""
    losses = [ctx.marks[id(reference)].loss for reference in references]
    return next((loss for x in (*losses, *witnesses) if (loss := loss_behind(x)) is not None), None)


def loss_behind(witness: Any) -> Loss | None:
    """The lossy call that a witness comes from, through what rearranges cotangents."""
    while witness is not None and not isinstance(witness, Loss):
        witness = getattr(witness, "pullback", None)
    return witness


def marked_references(ctx: Context, values: list[Any]) -> list[Any]:
    """The marked references that can be reached from ``values``."""
    if not ctx.marks:
        return []
    found = [item for value in values for item in reachable(value)]
    found += [ctx.dictionaries[id(item)][0] for item in found if id(item) in ctx.dictionaries]
    return [item for item in found if id(item) in ctx.marks]


def call_native(
    ctx: Context, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], flows: bool
) -> tuple[Any, Pullback | None]:
    """Call natively, and notice what the call writes into arrays.

    If derivatives flow into the call, a written array is an error: the flow into it is unknown.
    """
    buffers = ctx.buffers
    receiver = getattr(function, "__self__", None)
    watched = [
        (array, array.copy())
        for value in (*args, *kwargs.values(), receiver)
        for array in arrays_in(value)
        if array.flags.writeable and (flows or buffers.is_held(array) or buffers.is_stored(array))
    ]
    result = function(*args, **kwargs)
    rewritten = [(array, old) for array, old in watched if array.tobytes() != old.tobytes()]
    if not rewritten:
        return result, None
    if flows:
        raise array_mutation(f"the call of {describe(function)} wrote to")
    ctx.effects += 1
    return result, Rewritten([ArrayStore(a, ..., None, old, buffers.is_stored(a)) for a, old in rewritten])


class Rewritten:
    """Pullback of a call that filled arrays with constants."""

    __slots__ = ("stores",)

    def __init__(self, stores: list[ArrayStore]) -> None:
        self.stores = stores

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        for store in reversed(self.stores):
            store(sweep, None)


def arrays_in(value: Any) -> list[Any]:
    """The arrays that can be reached from an argument."""
    if kind_of(type(value)) in ("number", "inert"):
        return []
    return [x for x in reachable(value, arrays=True) if kind_of(type(x)) == "array"]


def array_mutation(what: str) -> NotDifferentiable:
    """The error for a store into an array that a derivative depends on."""
    return NotDifferentiable(
        f"{user_location()}: {what} an array that the gradient depends on, and this way of writing is not "
        f"differentiated. Remedy: store with a[...] = b or a += b, or make a new array instead (np.where, "
        f"np.concatenate, np.stack)"
    )
