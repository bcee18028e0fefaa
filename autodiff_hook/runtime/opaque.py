"""Calls that no derivative is known of: run natively, and never a silent zero."""

from __future__ import annotations

import opcode
from types import CellType, CodeType, FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook import config
from autodiff_hook.errors import CONSTANT, CUT, REMEDIES, RULE, NotDifferentiable, opt_in, user_location
from autodiff_hook.registry import describe
from autodiff_hook.runtime.buffers import ArrayStore
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.effects import written_by
from autodiff_hook.runtime.iteration import Iteration
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.slots import ctx_taint

NOT_OPTED_IN: Final = "which is not opted in and has no rule"
NOT_PYTHON: Final = "which is not Python code and has no rule (AUTODIFF_MODULES does not reach it)"


class Loss:
    """Pullback of an opaque call: an error as soon as a cotangent wants to pass."""

    __slots__ = ("callable", "collected", "place", "reason", "references", "remedies")

    def __init__(self, function: Any, reason: str, references: list[Any]) -> None:
        self.callable, self.reason, self.references = describe(function), reason, references
        self.place = user_location()
        module = config.module_of(function) if reason is NOT_OPTED_IN else None
        self.remedies = REMEDIES if module is None else (opt_in(module), *REMEDIES)
        if isinstance(getattr(function, "py_func", None), FunctionType):
            self.remedies = (f"call the Python function that it was compiled from ({self.callable}.py_func)", *REMEDIES)
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
        what = f"the gradient would have to pass through the call of {self.callable}, {self.reason}"
        return NotDifferentiable(what, place=self.place, remedies=self.remedies)


def nonzero(cotangent: Any) -> bool:
    """Whether a cotangent is more than a structural zero."""
    if isinstance(cotangent, (tuple, list)):
        return any(map(nonzero, cotangent))
    return cotangent is not None


def flows_in(ctx: Context, witnesses: Any, values: Any) -> bool:
    """Whether derivatives flow into a call: by its arguments, or by what they refer to."""
    return any(live(ctx, x, v) for x, v in zip(witnesses, values)) or any(map(ctx.reaches, values))


def live(ctx: Context, witness: Any, value: Any) -> bool:
    """Whether an argument with this witness may carry a derivative."""
    if witness is None:
        return kind_of(type(value)) == "array" and ctx.buffers.is_stored(value)
    if issubclass(type(value), (str, bytes, bytearray, np.void)):
        return loss_behind(witness) is not None
    if issubclass(type(value), int) and not ctx.whole_numbers:
        return False
    if type(value) is Iteration:
        return True
    kind = kind_of(type(value))
    if kind == "array" and value.dtype.kind not in "fc" and not (value.dtype.kind in "iu" and ctx.whole_numbers):
        return bool(value.dtype.kind in "OV")
    if kind == "tuple":
        return any(live(ctx, witness, item) for item in value)
    return kind in ("number", "array") or kind == "object" and loss_behind(witness) is not None


def call_opaque(
    ctx: Context, witnesses: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> tuple[Any, Pullback | None]:
    """Call natively; the result is a constant if nothing that carries a derivative went in.

    Else derivatives are lost in the result, and in whatever the call could have written to.
    """
    values = [*args, *kwargs.values()]
    found = ctx.memories.of_call(function)
    references = marked_references(ctx, [function, *values])
    flows = bool(references) or any(live(ctx, w, v) for w, v in (*zip(witnesses, values), *found))
    if not flows and not any(map(ctx.reaches, (function, *values))):
        return call_native(ctx, function, args, kwargs)
    written = written_by(function, args, kwargs) + [array for _, array in found]
    touched = changeable(ctx, written)
    loss = _earlier(ctx, references, witnesses) or Loss(function, reason, [x for x in touched if id(x) in ctx.marks])
    watched = Watched(ctx, written, everything=True)
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        ctx_taint(ctx, error, loss)
        raise
    unknown = watched.lost(function, loss, result)
    ctx.memories.note(function, args, kwargs, result)
    for reference in touched:
        ctx_taint(ctx, reference, loss)
    ctx_taint(ctx, result, loss)
    for part in result if isinstance(result, (tuple, list)) else (result,):
        if kind_of(type(part)) == "array":
            ctx.buffers.made(part, loss, None)
    ctx.effects += 1
    return result, unknown or loss


def changeable(ctx: Context, values: list[Any]) -> list[Any]:
    """The references that a call with these values could store to."""
    found = [reference for value in values for reference in ctx.reachable(value)]
    rebound = {
        id(cell)
        for function in found
        if type(function) is FunctionType and _rebinds(function.__code__)
        for cell in function.__closure__ or ()
    }
    return [
        x
        for x in found
        if not issubclass(type(x), (FunctionType, tuple)) and not (type(x) is CellType and id(x) not in rebound)
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
    found = [item for value in values for item in ctx.reachable(value)]
    found += [ctx.dictionaries[id(item)][0] for item in found if id(item) in ctx.dictionaries]
    return [item for item in found if id(item) in ctx.marks]


def call_native(
    ctx: Context, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Pullback | None]:
    """Call natively where no derivative goes in: what the call writes into arrays are constants."""
    watched = Watched(ctx, [*args, *kwargs.values(), getattr(function, "__self__", None)])
    result = function(*args, **kwargs)
    ctx.memories.ran(function, args, kwargs, result)
    return result, watched.constants()


class Watched:
    """The arrays that a native call may write to, as they were before it."""

    __slots__ = ("before", "context")

    def __init__(self, ctx: Context, values: list[Any], everything: bool = False) -> None:
        buffers = ctx.buffers
        self.context = ctx
        self.before = [
            (array, plain(array).copy())
            for value in values
            for array in arrays_in(ctx, value)
            if array.flags.writeable and (everything or buffers.is_held(array) or buffers.is_stored(array))
        ]

    def constants(self) -> Rewritten | None:
        """The pullback of a call that wrote constants, if it wrote."""
        changed = [(array, old) for array, old in self.before if is_changed(array, old)]
        if not changed:
            return None
        self.context.effects += 1
        self.context.buffers.overwritten = True
        is_stored = self.context.buffers.is_stored
        return Rewritten([ArrayStore(a, ..., None, old, is_stored(a)) for a, old in changed])

    def lost(self, function: Any, loss: Loss, result: Any) -> Unknown | None:
        """The pullback of a call that may have written what nobody knows; equal content is no sign that it did not.

        Only what answers yes or no, and leaves every array as it was, is taken for a question.
        """
        buffers = self.context.buffers
        changed = [(array, old) for array, old in self.before if is_changed(array, old)]
        if not changed and isinstance(result, (bool, np.bool_)):
            return None
        arrays = [array for array, _ in self.before if can_carry(self.context, array)]
        if not changed and not arrays:
            return None
        kept = [ArrayStore(a, ..., None, old, False) for a, old in changed if buffers.is_held(a)]
        buffers.overwritten = buffers.overwritten or bool(kept)
        for array in arrays:
            buffers.lose(array)
        return Unknown(kept, arrays, loss, function, bool(changed))


def plain(array: Any) -> Any:
    """An array without what its class makes of it: of copies, comparisons and items."""
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


def is_changed(array: Any, before: Any) -> bool:
    """Whether an array has other content than ``before``, a plain copy of it."""
    return bool(plain(array).tobytes() != before.tobytes())


def can_carry(ctx: Context, array: Any) -> bool:
    """Whether the elements of an array may carry derivatives."""
    return array.dtype.kind in "fcOV" or array.dtype.kind in "iu" and ctx.whole_numbers


class Rewritten:
    """Pullback of a call that wrote constants into arrays."""

    __slots__ = ("stores",)

    def __init__(self, stores: list[ArrayStore]) -> None:
        self.stores = stores

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        for store in reversed(self.stores):
            store(sweep, None)


class Unknown(Rewritten):
    """Pullback of a call that may have written to arrays what nobody knows."""

    __slots__ = ("arrays", "place", "pullback", "what")

    def __init__(self, stores: list[ArrayStore], arrays: list[Any], loss: Loss, function: Any, wrote: bool) -> None:
        super().__init__(stores)
        self.arrays, self.pullback, self.place = arrays, loss, user_location()
        self.what = f"the call of {describe(function)} {'wrote' if wrote else 'may have written'} to"

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        if any(map(sweep.buffers.is_asked_for, self.arrays)):
            raise array_mutation(self.what, self.place)
        super().__call__(sweep, None)
        self.pullback(sweep, cotangent)


def arrays_in(ctx: Context, value: Any) -> list[Any]:
    """The arrays that can be reached from an argument."""
    if kind_of(type(value)) in ("number", "inert"):
        return []
    return [x for x in ctx.reachable(value, arrays=True) if kind_of(type(x)) == "array"]


def array_mutation(what: str, place: str | None = None) -> NotDifferentiable:
    """The error for a store into an array that a derivative depends on."""
    return NotDifferentiable(
        f"{what} an array that the gradient depends on, and this way of writing is not differentiated",
        place=place,
        remedies=(
            "store with a[...] = b or a += b",
            "make a new array instead (np.where, np.concatenate, np.stack)",
            RULE,
            CONSTANT,
            CUT,
        ),
    )


def option_without_derivative(function: Any, name: str) -> NotDifferentiable:
    """The error for an option of a call that depends on what is differentiated, of which the rule knows nothing."""
    return NotDifferentiable(
        f"the rule of {describe(function)} has no derivative with respect to the option {name!r}, which depends on "
        f"what is differentiated",
        remedies=(f"make it a constant (autodiff_hook.stop_gradient({name}))", RULE),
    )
