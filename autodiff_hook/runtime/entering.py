"""How a typed program is entered: by the operators without asking, and with or without warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from sys import gettrace
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.altering import restoring
from autodiff_hook.runtime.attempts import Program
from autodiff_hook.runtime.binding import Call, Places
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.programs import CUT, Form, Made
from autodiff_hook.runtime.sharing import ByCode

CACHE_SIZE: Final = 2048
"""For how many code objects programs are known."""
Entry = Callable[[Any, tuple[Any, ...]], Any]
_FORMS: Final[tuple[Form, ...]] = ("gradient", "value", "pullback")
"""The forms that are entered without asking."""
_CALLED: Final = (FunctionType, MethodType)
"""What has code; a method takes one argument less than the function that it has its code from."""
_PUBLISHED: Final = {(form, cls): ByCode[Entry](CACHE_SIZE) for form in _FORMS for cls in _CALLED}
"""The newest entry of each code object."""
_WITH_CONSTANTS: Final = {key: ByCode[dict[tuple[int | str, ...], Entry]](CACHE_SIZE) for key in _PUBLISHED}
"""The same for calls with constants: by how many are differentiated, the places of the others, and the names."""


def entries() -> dict[type, dict[int, Entry]]:
    """The newest entry of each code object for ``gradient``, by what is called and identity."""
    return {cls: _PUBLISHED["gradient", cls].found for cls in _CALLED}


def entered(
    form: Form, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], places: Places | None = None
) -> tuple[Any, Exception | None]:
    """What the newest program of ``f`` gives, ``MISS`` if there is none for this call, and what it has raised."""
    if gettrace() is not None:
        return MISS, None
    try:
        if places is not None:
            key: tuple[int | str, ...] = (*places.key, *kwargs) if kwargs else places.key
            entry = _WITH_CONSTANTS[form, type(f)].found[id(f.__code__)][key]
            args = (*[args[i] for i in places.order], *kwargs.values())
        elif kwargs:
            entry = _WITH_CONSTANTS[form, type(f)].found[id(f.__code__)][len(args), *kwargs]
            args = (*args, *kwargs.values())
        else:
            entry = _PUBLISHED[form, type(f)].found[id(f.__code__)]
    except (AttributeError, KeyError):
        return MISS, None
    try:
        return entry(f, args), None
    except MemoryError:
        raise
    except Exception as error:
        return MISS, error


def unpublish(code: CodeType, entry: Entry) -> None:
    for table in _PUBLISHED.values():
        table.remove(code, entry)
    for named in _WITH_CONSTANTS.values():
        held = named.found.get(id(code), {})
        for key in [key for key, other in list(held.items()) if other is entry]:
            held.pop(key, None)


def publish(call: Call, form: Form, entry: Entry) -> None:
    """Let ``gradient``, ``withgradient`` or ``pullback`` enter a program without asking."""
    f, shape = call.function, call.shape
    key = form, type(f)
    if key not in _PUBLISHED or shape.works or shape.leading:
        return
    if shape.names or shape.others:
        _WITH_CONSTANTS[key].add(f.__code__, {})[shape.given, *shape.others, *shape.names] = entry
    else:
        _PUBLISHED[key].put(f.__code__, entry)


def newest(call: Call, form: Form) -> Entry | None:
    """The program that a call without constants enters without asking, for however many arguments."""
    table = None if call.shape.names or call.shape.others else _PUBLISHED.get((form, type(call.function)))
    return None if table is None else table.found.get(id(call.function.__code__))


def entry_of(made: Program, form: Form) -> Entry:
    """What runs a program."""
    entry = heeding(_pulling(*made.functions) if form in CUT else made.functions[0], made.made)
    if made.made.locks:
        entry = _holding(entry, made.made.locks)
    return restoring(entry) if made.made.alters else entry


def heeding(entry: Entry, made: Made) -> Entry:
    """An entry that does with warnings and errors of floats as the program says."""
    if made.strict:
        return _strictly(entry)
    return _quietly(entry) if made.quiet else entry


def _quietly(entry: Entry) -> Entry:
    """An entry during which NumPy does not warn."""

    def quiet_entry(f: Any, args: tuple[Any, ...]) -> Any:
        asked = {*np.geterr().values()}
        if "call" in asked:
            return MISS
        if "raise" not in asked:
            with np.errstate(all="ignore"):
                return entry(f, args)
        try:
            return entry(f, args)
        except FloatingPointError:
            return MISS  # perhaps it was raised where the program is silent

    return quiet_entry


def _strictly(entry: Entry) -> Entry:
    """An entry that raises what it is warned of, and errors of floats, so that the carried program sees to it."""

    def strict_entry(f: Any, args: tuple[Any, ...]) -> Any:
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            return entry(f, args)

    return strict_entry


def _holding(entry: Entry, locks: tuple[Any, ...]) -> Entry:
    """An entry that holds some locks."""

    def holding_entry(f: Any, args: tuple[Any, ...]) -> Any:
        with _all_held(locks):
            return entry(f, args)

    return holding_entry


def _all_held(locks: tuple[Any, ...]) -> ExitStack:
    """Locks that are released together; who waits for one holds no other, so no two wait for each other."""
    while True:
        with ExitStack() as held:
            locks[0].acquire()
            held.callback(locks[0].release)
            for place, lock in enumerate(locks[1:], 1):
                if not lock.acquire(blocking=False):
                    locks = (lock, *locks[:place], *locks[place + 1 :])
                    break
                held.callback(lock.release)
            else:
                return held.pop_all()


def _pulling(forward: Any, reverse: Any) -> Entry:
    """Value and pullback, by a program that is cut in two."""

    def pulled(f: Any, args: tuple[Any, ...]) -> Any:
        found = forward(f, args)
        return found if found is MISS else (found[0], partial(reverse, found[1]))

    return pulled


def forget_all() -> None:
    """No program is entered any more."""
    for table in tables():
        table.clear()


def tables() -> list[ByCode[Any]]:
    """Where those are that are entered without asking."""
    return [*_PUBLISHED.values(), *_WITH_CONSTANTS.values()]
