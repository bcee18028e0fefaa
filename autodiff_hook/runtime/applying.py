"""Calling a rule on actual values."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.parameters import parameters_of
from autodiff_hook.registry import NotImplementedCotangent, Rule, registry
from autodiff_hook.runtime.buffers import Scatter, dense
from autodiff_hook.runtime.checking import NUMBERS, checked_rule
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.iteration import VIEWS, Drained, Iteration, get_iter, viewed
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.runtime.memories import hides
from autodiff_hook.runtime.oddities import KEEPING, has_odd, is_strange
from autodiff_hook.runtime.opaque import Loss, call_opaque, live, option_without_derivative
from autodiff_hook.runtime.slots import ctx_taint
from autodiff_hook.runtime.structures import Structure, absorb, mark_deep, structure_of, take

_TESTED: Final = registry.tested
_NDARRAY: Final = np.ndarray
_VOID: Final = np.void


class RulePullback:
    """The pullback of a rule, with its cotangents put where the arguments came from.

    ``lead`` operands (the callable) come before the arguments and get none. ``places[i]`` is the index
    of argument ``i`` among the rule's cotangents, None if it carries no derivative.
    """

    __slots__ = ("collected", "count", "drained", "lead", "places", "pullback", "result", "structures")

    def __init__(self, pullback: Any, lead: int, places: list[int | None]) -> None:
        self.pullback, self.lead, self.places = pullback, lead, places
        self.structures: dict[int, Structure] | None = None
        self.drained: dict[int, Drained] | None = None
        self.result: Structure | None = None
        self.count = 0
        self.collected: dict[Any, Any] | None = None

    def collect(self, place: Any, array: Any) -> None:
        """Part ``place`` of the result has been written to: its cotangent is also in a shadow."""
        self.collected = {**(self.collected or {}), place: array}

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...] | None:
        if self.result is not None:
            cotangent = take(sweep, self.result, cotangent)
        if self.collected is not None:
            cotangent = _with_shadows(sweep, self.collected, self.count, cotangent)
        if cotangent is None:
            return self._of_sources(sweep)
        if isinstance(cotangent, (tuple, list)):
            for item in cotangent:
                if type(item) is NotImplementedCotangent:
                    raise item.fail()
            cotangent = type(cotangent)(map(dense, cotangent))
        elif type(cotangent) is Scatter:
            cotangent = cotangent.dense()
        given = self.pullback(cotangent)
        cotangents: list[Any] = [None] * self.lead
        cotangents += [None if place is None else given[place] for place in self.places]
        if self.structures is not None:
            for index, structure in self.structures.items():
                cotangents[self.lead + index] = absorb(sweep, structure, cotangents[self.lead + index])
        if self.drained is not None:
            for index, drained in self.drained.items():
                cotangents[self.lead + index] = drained(sweep, cotangents[self.lead + index])
        return tuple(cotangents)

    def _of_sources(self, sweep: Sweep) -> tuple[Any, ...] | None:
        """No cotangent came, but what was iterated over may have done something."""
        if self.drained is None:
            return None
        cotangents: list[Any] = [None] * (self.lead + len(self.places))
        for index, drained in self.drained.items():
            cotangents[self.lead + index] = drained(sweep, None)
        return tuple(cotangents)


class NumbersPullback:
    """The pullback of a rule whose arguments and value are numbers."""

    __slots__ = ("lead", "pullback", "witnesses")

    def __init__(self, pullback: Any, lead: int, witnesses: Any) -> None:
        self.pullback, self.lead, self.witnesses = pullback, lead, witnesses

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        if cotangent is None:
            return None
        given = self.pullback(cotangent)
        return (None,) * self.lead + tuple(
            [None if witness is None else c for witness, c in zip(self.witnesses, given)]
        )


def apply_to_numbers(ctx: Context, w: Any, lead: int, rule: Rule, args: tuple[Any, ...]) -> tuple[Any, Pullback | None]:
    """Call ``rule`` on plain numbers, of which some carry a derivative."""
    result, pullback = rule(*args) if id(rule) in _TESTED else checked_rule(rule, args, {})
    if type(result) in NUMBERS:
        return result, NumbersPullback(pullback, lead, w[lead:] if lead else w)
    if is_strange(result, args):
        return _lost(ctx, rule, result)
    back = RulePullback(pullback, lead, [i if x is not None else None for i, x in enumerate(w[lead:])])
    _note_result(ctx, result, back)
    return result, back


def apply_rule(
    ctx: Context,
    w: Any,
    lead: int,
    rule: Rule,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    drained: dict[int, Drained] | None = None,
) -> tuple[Any, Pullback | None]:
    """Call ``rule``; ``w`` has the witnesses of ``lead`` leading operands and of the arguments."""
    places: list[int | None] = []
    flows = special = False
    plain = not kwargs
    for index, value in enumerate(args):
        cls = type(value)
        kind = kind_of(cls)
        if kind == "array":
            plain = plain and cls is _NDARRAY and value.dtype.kind not in "OV"
        elif kind != "number":
            plain = False
        if kind in ("list", "dict", "tuple", "object"):
            special = True
            carries = w[lead + index] is not None or ctx.reaches(value) or bool(drained and index in drained)
        elif _is_stored(ctx, value):
            special = carries = True
        else:
            carries = w[lead + index] is not None and (kind != "inert" or cls is _VOID)
        places.append(index if carries else None)
        flows = flows or carries
    if kwargs:
        places, flows = _keyword_places(ctx, w, lead, rule, function, args, kwargs, places, flows)
    if flows and not plain and (reason := _why_unknown(ctx, function, args)):
        return call_opaque(ctx, w[lead:], function, args, kwargs, reason)
    if not flows:
        value = function(*args, **kwargs)
        ctx.memories.ran(function, args, kwargs, value)
        return value, None
    tested = id(rule) in _TESTED
    if tested and not plain and has_odd(function, zip((*args, *kwargs.values()), places)):
        return call_opaque(ctx, w[lead:], function, args, kwargs, _ODD)
    given = tuple(map(unchanging, args)) if special else args
    result, pullback = rule(*given, **kwargs) if tested else checked_rule(rule, given, kwargs)
    if not (plain and tested) and is_strange(result, args):
        return _lost(ctx, function, result)
    back = RulePullback(pullback, lead, places)
    if special or kwargs:
        back.drained = drained
        back.structures = _structures(ctx, places, (*args, *kwargs.values()))
    for value in args:
        _capture(ctx, value)
    for value in kwargs.values():
        _capture(ctx, value)
    _note_result(ctx, result, back)
    if special or type(result) is np.ndarray:
        ctx.memories.ran(function, args, kwargs, result)
    return result, back


def _why_unknown(ctx: Context, function: Any, args: tuple[Any, ...]) -> str:
    """Why the result of a rule with these arguments would be unknown; nothing if it is not."""
    for value in args:
        if kind_of(type(value)) == "object":
            mark = ctx.marks.get(id(value))
            if mark is not None and mark.loss is not None or hides(value) and ctx.reaches(value):
                return "with what came out of native code"
    return unfit(function, args)


def unfit(function: Any, args: tuple[Any, ...]) -> str:
    """Why a rule cannot be given these arguments, though they are of the right types; nothing if it can."""
    if getattr(function, "__objclass__", None) is np.ndarray and type(args[0]) is not np.ndarray:
        if find_in_type(type(args[0]), function.__name__) is not function:
            return f"of a {type(args[0]).__qualname__}, which has a method of this name of its own"
    for value in args:
        kind = kind_of(type(value))
        if kind == "array" and value.dtype.kind == "V":
            return "of a structured array"
        if any(function is f for f in KEEPING) or kind == "array" and value.dtype.kind != "O":
            continue
        if kind == "array" or kind in ("list", "tuple") and _is_of_numpy(function):
            if any(kind_of(type(item)) == "object" for item in (value.ravel() if kind == "array" else value)):
                return "of objects"
    return ""


def _is_of_numpy(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


_ODD: Final = "whose rule is for numbers and arrays of numbers: not for objects, structured or masked arrays"


def _lost(ctx: Context, function: Any, result: Any) -> tuple[Any, Pullback]:
    """The result of a rule that is no number, array of numbers or container: its cotangent has no known form."""
    loss = Loss(function, "whose rule returned neither numbers nor arrays of numbers", [])
    ctx_taint(ctx, result, loss)
    ctx.effects += 1
    return result, loss


def _note_result(ctx: Context, result: Any, back: RulePullback) -> None:
    """Arrays and containers that a rule makes may be changed later: ``back`` is to hear of it."""
    kind = kind_of(type(result))
    if kind == "array":
        ctx.buffers.hold(result)
        ctx.buffers.made(result, back, None)
    elif kind in ("list", "dict", "tuple"):
        back.result, back.count = structure_of(ctx, result), len(result)
        ctx.effects += 1
        mark_deep(ctx, result)
        for place, item in enumerate(result) if kind != "dict" else result.items():
            if kind_of(type(item)) == "array":
                ctx.buffers.hold(item)
                ctx.buffers.made(item, back, place)


def unchanging(value: Any) -> Any:
    """An argument of which a pullback may keep hold: containers are copied, they may change."""
    kind = kind_of(type(value))
    if kind == "tuple" and type(value) is tuple:
        return tuple(map(unchanging, value))
    if type(value) is list:
        return list(map(unchanging, value))
    if type(value) is dict:
        return {key: unchanging(item) for key, item in value.items()}
    return value


def _structures(ctx: Context, places: list[int | None], values: tuple[Any, ...]) -> dict[int, Structure] | None:
    found = {
        i: s for i, value in enumerate(values) if places[i] is not None and (s := structure_of(ctx, value)) is not None
    }
    return found or None


def _with_shadows(sweep: Sweep, collected: dict[Any, Any], count: int, cotangent: Any) -> Any:
    """The cotangent of a result, with what is in the shadows of arrays in it that were written to."""
    if None in collected:
        return accumulate(cotangent, sweep.buffers.take(collected[None]))
    taken = {place: c for place, array in collected.items() if (c := sweep.buffers.take(array)) is not None}
    if not taken:
        return cotangent
    if isinstance(cotangent, dict):
        return {**cotangent, **{k: accumulate(cotangent.get(k), c) for k, c in taken.items()}}
    parts = list(cotangent) if cotangent is not None else [None] * count
    for place, c in taken.items():
        parts[place] = accumulate(parts[place], c)
    return tuple(parts)


def _capture(ctx: Context, value: Any) -> None:
    kind = kind_of(type(value))
    if kind == "array":
        ctx.buffers.hold(value)
    elif kind in ("tuple", "list"):
        for item in value:
            if kind_of(type(item)) in ("array", "tuple", "list"):
                _capture(ctx, item)


def drain(ctx: Context, function: Any, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[int, Drained] | None]:
    """Arguments that are iterated over with derivatives turned into tuples, as rules want them."""
    found = {
        i: Drained(ctx, *get_iter(ctx, (None,), None, x))
        for i, x in enumerate(args)
        if (len(args) == 1 or function not in (max, min)) and _drains(ctx, function, x)
    }
    if not found:
        return args, None
    return tuple(found[i].values if i in found else a for i, a in enumerate(args)), found


def _drains(ctx: Context, function: Any, value: Any) -> bool:
    cls = type(value)
    if cls is Iteration:
        return True
    if isinstance(value, VIEWS):
        return id(viewed(value)) in ctx.marks
    kind = kind_of(cls)
    if kind == "set":
        return id(value) in ctx.marks
    return (
        kind in ("object", "list", "tuple", "dict")
        and is_iterated_by_code(cls)
        and (function in (sum, max, min) or getattr(function, "__module__", None) == "math")
    )


def is_iterated_by_code(cls: type) -> bool:
    """Whether Python code gives the items of an object: its ``__iter__``, or ``__getitem__`` where there is none."""
    method = find_in_type(cls, "__iter__")
    return isinstance(find_in_type(cls, "__getitem__") if method is None else method, FunctionType)


def _keyword_places(
    ctx: Context,
    w: Any,
    lead: int,
    rule: Rule,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    places: list[int | None],
    flows: bool,
) -> tuple[list[int | None], bool]:
    positions = parameters_of(rule).places
    for offset, (name, value) in enumerate(kwargs.items()):
        witness = w[lead + len(args) + offset]
        carries = live(ctx, witness, value) or ctx.reaches(value) or _is_stored(ctx, value)
        place = positions.get(name)
        if carries and place is None:
            raise option_without_derivative(function, name)
        places.append(place if carries else None)
        flows = flows or carries
    return places, flows


def _is_stored(ctx: Context, value: Any) -> bool:
    return kind_of(type(value)) == "array" and ctx.buffers.is_stored(value)
