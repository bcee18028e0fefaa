"""Python functions in scope: their carried program is generated at its first use, then called."""

from __future__ import annotations

import functools
from time import perf_counter
from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook import reports
from autodiff_hook.algebras.shadows import Algebra, Result, keep_all, load, note_made, some
from autodiff_hook.debugging import NANS
from autodiff_hook.emit import emit
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.types import Signature
from autodiff_hook.runtime.giving_up import is_part, note_part, when_noted
from autodiff_hook.runtime.sharing import ByNamespace
from autodiff_hook.semantics.analysing import GlobalFacts, analyse
from autodiff_hook.semantics.constant_calls import MANY, Constant
from autodiff_hook.semantics.generators import started
from autodiff_hook.semantics.meanings import TABLE, Args, Kwargs, means
from autodiff_hook.semantics.opaque import call_constant, call_opaque
from autodiff_hook.semantics.watching import watching_table
from autodiff_hook.transform.generic.carrying import carrying_pass


class Carried:
    """The carried program of one code object with one set of globals."""

    __slots__ = ("__weakref__", "code", "constant", "count", "facts", "kind", "signature", "unsupported")

    def __init__(self, code: CodeType, globals_: dict[str, Any], table: dict[str, Any] = TABLE) -> None:
        self.unsupported = ""
        self.facts = GlobalFacts(code, globals_)
        self.code = code
        self.count = -1
        """How many arguments a plain call has, of a function that has no others."""
        self.constant = Constant()
        try:
            primal = analyse(code, globals_)
            self.signature: Signature = primal.ir.signature
            self.kind = primal.ir.kind
            self.code = emit(carrying_pass(primal, table), lifetimes=True)
            if is_part(code):
                note_part(self.code, code)
            if self.kind == "function" and len(self.signature.names) == self.signature.positional:
                self.count = self.signature.positional
        except Unsupported as error:
            self.unsupported = f"which is not supported: {error}"


def _carry(code: CodeType, globals_: dict[str, Any]) -> Carried:
    before = perf_counter()
    found = Carried(code, globals_)
    times = {"carry": perf_counter() - before}
    reports.tell("carried", code, code.co_qualname, found.unsupported or None, times=times)
    return found


def _watch(code: CodeType, globals_: dict[str, Any]) -> Carried:
    return Carried(code, globals_, watching_table(TABLE))


_carried_for: Final = ByNamespace(_carry, alike=True)
_watched_for: Final = ByNamespace(_watch, alike=True)
"""The same for ``debug_nans``."""
forget: Final = _carried_for.clear
when_noted(_carried_for.remove)
_program_of: Final = _carried_for.__call__


Source = tuple[str, Any]


def binding(function: Any, count: int, names: tuple[str, ...]) -> list[Source] | None:
    """Where each parameter of a function comes from in a call with ``count`` arguments and these named ones.

    None if the call does not fit. A source is ``("given", index among all arguments)``,
    ``("default", (function or mapping, key))``, ``("rest", first)`` or ``("named", {name: index})``.
    """
    signature = _carried_for(function.__code__, function.__globals__).signature
    positional = signature.positional
    rest = {name: count + i for i, name in enumerate(names)}
    if count > positional and not signature.varargs:
        return None
    plan: list[Source] = []
    for index, name in enumerate(signature.names[: positional + signature.keyword_only]):
        source = _source(function, signature, index, name, count, rest)
        if source is None:
            return None
        plan.append(source)
    if signature.varargs:
        plan.append(("rest", positional))
    if signature.varkeywords:
        plan.append(("named", rest))
    elif rest:
        return None
    return plan


def _source(
    function: Any, signature: Signature, index: int, name: str, count: int, rest: dict[str, int]
) -> Source | None:
    positional = signature.positional
    by_name = name in rest and index >= signature.positional_only
    defaults, keyword_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
    if index < min(count, positional):
        return None if by_name else ("given", index)
    if by_name:
        return "given", rest.pop(name)
    if 0 <= index - positional + len(defaults) < len(defaults):
        return "default", (function, index - positional + len(defaults))
    if index >= positional and name in keyword_defaults:
        return "default", (keyword_defaults, name)
    return None


def unsupported(function: Any) -> str:
    """Why a Python function is not carried; nothing if it is."""
    return _carried_for(function.__code__, function.__globals__).unsupported


def enter(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """Call a Python function; ``t`` has the tokens of the function and of all arguments."""
    if alg.typed is not None and not kwargs and not alg.nested:
        found: Result | None = alg.typed(alg, t, function, args)
        if found is not None:
            return found
    return enter_carried(alg, t, function, args, kwargs)


def enter_carried(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """``enter`` without typed programs."""
    if NANS.on:
        known = _watched_for(function.__code__, function.__globals__)
    else:
        known = _program_of(function.__code__, function.__globals__)
    if known.unsupported:
        return call_opaque(alg, t[1:], function, args, kwargs, known.unsupported)
    constant = known.constant
    if constant.calls and not some(t):
        search = constant.searched(alg, function, (*args, *kwargs.values()))
        if search is not None:
            return call_constant(alg, function, args, kwargs, search)
    values, tokens = args, t[1:]
    if known.count != len(args) or kwargs:
        plan = binding(function, len(args), tuple(kwargs))
        if plan is None:
            return function(*args, **kwargs), None
        values, tokens = bound(alg, plan, len(args), (*args, *kwargs.values()), tokens)
    program: Any = FunctionType(known.code, function.__globals__, function.__name__, None, function.__closure__)
    if known.kind != "function":
        return started(alg, program, tokens, values), None
    before = alg.calls = alg.calls + 1
    result: Result = program(alg, tokens, *values)
    if (constant.calls or alg.calls - before > MANY) and not some(t):
        constant.note(alg.calls - before, result[0])
    if alg.fresh or alg.lifetimes.suspects:
        values = ()
        alg.lifetimes.drop_suspects()
    return result


def bound(
    alg: Algebra, plan: list[Source], count: int, values: tuple[Any, ...], tokens: tuple[Any, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The values and the tokens of all parameters."""
    found: list[Any] = []
    moving: list[Any] = []
    for source, where in plan:
        if source == "given":
            found.append(values[where])
            moving.append(tokens[where])
        elif source == "default":
            reference, key = where
            found.append(reference[key] if isinstance(reference, dict) else reference.__defaults__[key])
            moving.append(load(alg, reference, key, found[-1]))
        elif source == "rest":
            found.append(values[where:count])
            moving.append(tokens[where:count] if where < count else None)
        else:
            named = {name: values[place] for name, place in where.items()}
            keep_all(alg, named, {name: tokens[place] for name, place in where.items()})
            note_made(alg, named)
            found.append(named)
            moving.append(None)
    return tuple(found), tuple(moving)


_NAMES: Final = ("wrapper", "wrapped", "assigned", "updated")
_USUAL: Final = {"assigned": functools.WRAPPER_ASSIGNMENTS, "updated": functools.WRAPPER_UPDATES}


@means(functools.update_wrapper)
def update_wrapper(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    if _copies_names(**_USUAL | dict(zip(_NAMES, args)) | kwargs):
        return functools.update_wrapper(*args, **kwargs), None
    return enter(alg, (None, *t), functools.update_wrapper, args, kwargs)


def _copies_names(wrapper: Any = None, wrapped: Any = None, **which: Any) -> bool:
    """Whether functions are wrapped, as decorators do, and what is wrapped has no attributes of its own."""
    return type(wrapper) is type(wrapped) is FunctionType and not wrapped.__dict__ and which == _USUAL
