"""Calls that no derivative is known of: run natively; what they may have to do with derivatives is then unknown."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Set
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from io import IOBase
from types import AsyncGeneratorType, CellType, CoroutineType, FunctionType, GeneratorType, ModuleType
from typing import Any, Final

import numpy as np

from autodiff_hook import reports
from autodiff_hook.algebras.implicit import call_natively, run_natively
from autodiff_hook.algebras.object_slots import overwrite_objects
from autodiff_hook.algebras.searching import Search, fruitless, reaches
from autodiff_hook.algebras.shadows import (
    BOUND,
    Algebra,
    Result,
    Token,
    holds,
    idle,
    is_held,
    is_list,
    keep,
    kind,
    known,
    lose,
    may_show,
    note_lost,
    note_rewritten,
    slot_token,
    some,
)
from autodiff_hook.errors import user_frame
from autodiff_hook.registry import describe, registry
from autodiff_hook.reports import Reason
from autodiff_hook.runtime.buffers import is_writeable, root_of
from autodiff_hook.runtime.effects import written_by
from autodiff_hook.runtime.kinds import WRITTEN, kind_of
from autodiff_hook.runtime.lookup import HEAP_TYPE, behind
from autodiff_hook.runtime.losses import failure, is_changed, plain
from autodiff_hook.runtime.reachable import changeable, is_without_programs, reachable
from autodiff_hook.runtime.typed_arrays import is_shown, is_typed_array
from autodiff_hook.semantics.meanings import Args, Kwargs
from autodiff_hook.semantics.paths import note_file


def call_opaque(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs, reason: str) -> Result:
    """Call natively; if derivatives flow in, its result and what it may have written are unknown."""
    values = (function, *args, *kwargs.values())
    found = alg.memories.of_call(function)
    if not some(t) and not any(token is not None or is_written(alg, array) for token, array in found):
        search = fruitless(alg, *values)
        if search is not None:
            return call_constant(alg, function, args, kwargs, search)
    refusal = registry.refusal(function)
    reason = reason if refusal is None else f"which {refusal}"
    reason = _SHOWS if any(map(is_typed_array, values)) else reason
    lost = first_lost(alg, [*t, *[held_by(alg, value) for value in values]])
    unknown = alg.unknown(failure(function, reason)) if lost is None else lost
    if reports.wanted():
        place = user_frame()
        why = Reason(f"{describe(function)}, {reason}", place.f_code.co_filename, place.f_lineno)
        reports.tell("opaque", place.f_code, describe(function), why)
    written = [*written_by(function, args, kwargs), *[array for _, array in found], *filter(is_typed_array, values)]
    before = list(contents(written))
    # Code of objects runs in what only reads them, too.
    before += [(x, content) for x, content in contents([*values]) if content is not None]
    arrays = list(memory(alg, written, everything=True))
    carried = [value for value, token in zip((*args, *kwargs.values()), t) if token is not None]
    carried += [value for reference, content in before for value in values_with_tokens(alg, reference, content)]
    run = run_natively if is_compared(alg, values, written, before) else call_natively
    try:
        result = run(function, args, kwargs)
    except BaseException as error:
        lose(alg, error, unknown)
        raise
    finally:
        passed = {id(value) for value in carried if not isinstance(value, int)}
        for reference, content in before:
            note_changes(alg, reference, content, unknown, passed)
    if not (is_answer(result) and not any(is_changed(*pair) for pair in arrays)):
        for array, content in arrays:
            overwritten(alg, array, content, unknown)
    if issubclass(type(result), _SUSPENDED):
        for reference, _ in before:
            note_rewritten(alg, reference, unknown)
    if remembers(function):
        # Another thread may have dropped by now what it was given.
        for reference, _ in (*before, *contents(list(values))):
            note_lost(alg, reference, unknown)
    alg.memories.note(function, args, kwargs, result)
    if is_plain(result) or any(reference is result for reference, _ in before):
        return result, None
    return result, lose(alg, result, unknown)


_SHOWS: Final = "which may look into the memory of an array.array (give it a copy: list, np.array)"
_SUSPENDED: Final = (GeneratorType, CoroutineType, AsyncGeneratorType)
"""What runs after the call that has made it."""


def values_with_tokens(alg: Algebra, reference: Any, content: Any) -> list[Any]:
    """What a reference with this content holds that has a derivative."""
    if content is None or not holds(alg, reference):
        return []
    tokens = known(alg, reference)
    pairs = enumerate(content) if type(content) is list else content.values()
    return [value for key, value in pairs if (tokens[key] if is_list(reference) else tokens.get(key)) is not None]


def is_compared(alg: Algebra, values: Args, written: list[Any], before: list[Any]) -> bool:
    """Whether all that a call is given is compared with what it was before, and nothing of it runs carried code."""
    if not {*map(id, values)} <= {*map(id, written)}:
        return False
    return not any([type(x).__name__ == "CarriedIterator" or id(x) in alg.generators for x, _ in before])


def call_constant(alg: Algebra, function: Any, args: Args, kwargs: Kwargs, search: Search | None = None) -> Result:
    """Call natively where no derivative flows in: what it writes are constants.

    Where a ``search`` for tokens has found none, only what pullbacks hold can be written to, if it has met that.
    """
    if idle(alg):
        return call_natively(function, args, kwargs), None
    arrays = _before(alg, written_by(function, args, kwargs), (*args, *kwargs.values()), search)
    result = (call_natively if search is None else run_natively)(function, args, kwargs)
    for array, before in arrays:
        # What is written to an array for the result may be what was there.
        if array is kwargs.get("out") or is_changed(array, before):
            overwritten(alg, array, before, None)
    alg.memories.ran(function, args, kwargs, result)
    return result, None


def _before(alg: Algebra, written: list[Any], given: Args, search: Search | None) -> list[tuple[Any, Any]]:
    """The arrays that matter and that a call may write to, with copies of them."""
    held = None if search is None else search.held()
    if held and {*map(id, written)}.issuperset(map(id, given)):
        return [(array, plain(array).copy()) for array in held]
    return [] if held == [] else list(memory(alg, written))


def call_showing(alg: Algebra, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """Call natively what makes texts of objects by their own code: what that stores into them is unknown."""
    values = [value for value in (*args, *kwargs.values()) if kind(value) not in ("number", "inert", "array")]
    if not values or not reaches(alg, *values):
        return call_constant(alg, function, args, kwargs)
    unknown = alg.unknown(failure(function, "which runs code of objects that stores what it computes"))
    with forgetting(alg, values, unknown):
        return call_constant(alg, function, args, kwargs)


@contextmanager
def forgetting(alg: Algebra, values: list[Any], unknown: Token) -> Iterator[None]:
    """What is stored meanwhile in the references that can be reached from ``values`` is unknown."""
    before = [(reference, content) for reference, content in contents(values) if content is not None]
    try:
        yield
    finally:
        for reference, content in before:
            note_changes(alg, reference, content, unknown)


def written(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs, value: Any) -> Token:
    """The token of a text, or of several, that ``function`` has made: where numbers are read out of it again.

    What shows all digits of a number reads back as that number.
    """
    if not is_text(value) or function is dir or not loses(alg, t, function, args, kwargs):
        return None
    if function in _SHOW_ALL and kind(args[0]) == "number" and not any(args[1:]):
        return t[0]
    lost = first_lost(alg, t)
    return lose(alg, value, alg.unknown(failure(function, _WRITES)) if lost is None else lost)


_WRITES: Final = "which writes a text, from which a number is read"
_SHOW_ALL: Final = (str, repr, format)


def is_text(value: Any) -> bool:
    """Whether a value is a text, or begins with one."""
    return issubclass(type(value), WRITTEN) or type(value) in (list, tuple) and bool(value) and is_text(value[0])


def overwritten(alg: Algebra, array: Any, before: Any, unknown: Token) -> None:
    """Native code has written to an array, or to the fields of records, or may have."""
    if array.dtype.kind == "O":
        overwrite_objects(alg, array, before, unknown)
        return
    if array.dtype.names is None:
        alg.overwritten(array, before, unknown)
        return
    for name in array.dtype.names:
        overwritten(alg, np.ndarray.__getitem__(plain(array), name), before[name], unknown)


def held_by(alg: Algebra, reference: Any) -> Any:
    """The tokens of what a reference holds."""
    return (alg.losses[id(reference)][1],) if id(reference) in alg.losses else known(alg, reference)


def first_lost(alg: Algebra, tokens: Any) -> Token:
    """The first unknown among tokens: what it says is nearer to the cause than what is lost later."""
    for token in tokens.values() if type(tokens) is dict else tokens:
        nested = type(token) in (tuple, list, dict)
        found = first_lost(alg, token) if nested else token if alg.is_unknown(token) else None
        if found is not None:
            return found
    return None


def of_lost_integers(alg: Algebra, tokens: Any, value: Any) -> Token:
    """The token of whole numbers that were made of unknown ones, which may be what is left of a float (a hash)."""
    several = type(value) is tuple and {*map(type, value)} == {int}
    lost = first_lost(alg, tokens) if several or type(value) is int else None
    return (lost,) * len(value) if several and lost is not None else lost


def remembers(function: Any) -> bool:
    """Whether native code goes on with what it was given after the call has returned: another thread, or an object."""
    if getattr(function, "__module__", None) == "_thread":
        return True
    receiver = getattr(function, "__self__", None)
    if type(receiver).__module__ == "_queue" or getattr(function, "__objclass__", type).__module__ == "_queue":
        return True
    return receiver is not None and kind(receiver) == "object" and not type(receiver).__flags__ & HEAP_TYPE


def is_written(alg: Algebra, array: Any) -> bool:
    """Whether what is in an array was stored there with a token."""
    return id(root_of(array)) in alg.buffers or id(root_of(array)) in alg.shadows


def memory(alg: Algebra, values: list[Any], everything: bool = False) -> Iterator[tuple[Any, Any]]:
    """The arrays that a call may write to, with copies of them; only those that matter, or all."""
    if not everything and not (alg.held or alg.others or alg.buffers or alg.shadows):
        return
    if not any([type(value) is FunctionType for value in values]):
        # What a class names is no affair of native code.
        values = [value for value in values if kind_of(type(value)) not in ("number", "inert")]
    for array in reachable(values, True, alg.memories.given):
        if kind_of(type(array)) != "array" or not is_writeable(array):
            continue
        if everything or is_held(alg, array) or is_written(alg, array):
            yield array, plain(array).copy()


def contents(values: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The references that can be reached from what a call is given, with what they hold."""
    modules = [value.__dict__ for value in values if issubclass(type(value), ModuleType)]
    yield from [(space, _slots_of(space)) for space in modules if not is_without_programs(space.get("__name__"))]
    for found in changeable(values):
        reference = behind(found.__dict__) if issubclass(type(found), type) else found
        form = kind(reference)
        if form == "list":
            # The lists that native objects keep for themselves may have empty places, which nobody can look at.
            if len(gc.get_referents(reference)) >= len(reference):
                yield reference, list(reference)
        elif form in ("dict", "cell") or type(reference) is FunctionType:
            yield reference, _slots_of(reference)
        elif type(reference) is _lru_cache_wrapper:
            yield reference, reference.cache_info()
        elif form not in ("tuple", "inert", "number", "array"):
            yield reference, None


def note_changes(alg: Algebra, reference: Any, before: Any, unknown: Token, passed: Set[int] = frozenset()) -> None:
    """What a call has changed is unknown; what was ``passed`` to it may be what an earlier run has left there."""
    if before is None:
        if type(reference) is bytearray and is_shown(reference):
            fail(bytearray, "in whose memory others look (a memoryview or a NumPy array): it takes no derivatives then")
        if issubclass(type(reference), IOBase):
            note_file(alg, reference, unknown)
        else:
            (note_rewritten if is_typed_array(reference) else note_lost)(alg, reference, unknown)
    elif type(reference) is _lru_cache_wrapper:
        note_answers(alg, reference, before, unknown)
    elif type(before) is list:
        if len(before) != len(reference):
            alg.shadows.pop(id(reference), None)
            lose(alg, reference, unknown)
        else:
            for index, (old, new) in enumerate(zip(before, reference)):
                if old is not new or id(new) in passed and slot_token(alg, reference, index) is None:
                    keep(alg, reference, index, lose(alg, new, unknown))
    else:
        for place, (key, new) in _slots_of(reference).items():
            same = place in before and before[place][1] is new
            if not same or id(new) in passed and slot_token(alg, reference, key) is None:
                keep(alg, reference, key, lose(alg, new, unknown))


def note_answers(alg: Algebra, cache: Any, before: Any, unknown: Token) -> None:
    """Native code that reaches derivatives has run: what it has asked of a cache may have to do with them.

    A cache that was empty has answers of this world alone, so they can be computed again.
    """
    if cache.cache_info().misses != before.misses:
        alg.answered[id(cache)] = cache, alg.answered.get(id(cache), (cache, unknown if before.currsize else None))[1]


def _slots_of(reference: Any) -> dict[int, tuple[Any, Any]]:
    """What a dict, a cell or the defaults of a function hold, found without a look at what keys say of themselves.

    The program has not asked them. Items are taken at once: another thread may change the dict.
    """
    if type(reference) is FunctionType:
        return {index: (index, value) for index, value in enumerate(reference.__defaults__ or ())}
    if type(reference) is CellType:
        try:
            return {0: (0, reference.cell_contents)}
        except ValueError:
            return {}
    return {id(key): (key, value) for key, value in list(dict.items(reference))}


def loses(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether derivatives flow into a call."""
    return some(t) or reaches(alg, function, *args, *kwargs.values())


def search_of(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Search | None:
    """A search that has shown that no derivatives flow into a call; None if some do."""
    return None if some(t) else fruitless(alg, function, *args, *kwargs.values())


def is_plain(value: Any) -> bool:
    """Whether no number can be got out of ``value``."""
    if type(value) in (tuple, list):
        return all(map(is_plain, value))
    if is_answer(value):
        return True
    if type(value) in BOUND:
        return isinstance(value.__self__, ModuleType) or is_plain(value.__self__)
    inert = kind_of(type(value)) == "inert" and not issubclass(type(value), (BaseException, *WRITTEN))
    return inert and not may_show(value)


def is_answer(value: Any) -> bool:
    """Whether a value is a truth value, or an array of some: what gives one has looked at its arguments."""
    return type(value) in (bool, np.bool_) or type(value) is np.ndarray and value.dtype.kind == "b"


def fail(function: Any, reason: str) -> None:
    """Raise for a call through which a derivative would be lost."""
    raise failure(function, reason)


def describe_type(value: Any) -> str:
    """The name of the type of a value."""
    return describe(type(value))
