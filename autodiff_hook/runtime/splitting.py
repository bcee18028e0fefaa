"""Functions within carried programs: specialised apart, forward and reverse.

What is given to one, and what it gives, is all that it has to do with what a carried program keeps track of
(references, arrays), unless it reads data from outside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

from autodiff_hook import config
from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.lift.lifting import shared
from autodiff_hook.registry import registry
from autodiff_hook.reports import Reason
from autodiff_hook.runtime import giving_up
from autodiff_hook.runtime.attempts import Stopped, came_to, program, refusal, report
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.entering import heeding
from autodiff_hook.runtime.giving_up import gave_up
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.programs import Form
from autodiff_hook.runtime.sharing import ByCode, making
from autodiff_hook.runtime.specialisations import MOST
from autodiff_hook.runtime.specialising import GENERIC, give_up_all, is_hopeless
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.program import Given

_MISSES: Final = 20
_CACHE_SIZE: Final = 8192
_WORTH: Final = 200
"""After how many nodes that its calls have left on tapes a function is specialised that is given more than numbers."""
_LEAST: Final = 8
"""And how many these are in a call at least."""
_LATER: Final = 10
"""How many times as many make it worth more time."""
_COPIES: Final = 4
"""How many parts of arguments are copied in the time that a node takes."""
_SECONDS: Final = 0.1
_PER_NODE: Final = 2e-5
"""How long making such a program may take, in seconds: at least, and for each node."""
NUMBERS: Final[set[type]] = {float, int, bool, str, type(None)}
"""The types of what a program for numbers takes."""


class Halves(NamedTuple):
    """The two halves of one program, which go together: another function with this code has other defaults."""

    forward: Any
    reverse: Any
    arity: int
    roots: tuple[tuple[Any, Any], ...]
    """Where it reads what is outside (``CodeGuards.roots``)."""
    callees: tuple[FunctionType, ...]


class Split:
    """What is specialised of one code object, at its first call or when it has come to pay."""

    __slots__ = ("calls", "given_up", "halves", "misses", "nodes", "postponed", "used")

    def __init__(self, given_up: bool) -> None:
        self.given_up, self.used, self.misses = given_up, False, 0
        self.halves: Halves | None = None
        self.calls = self.nodes = self.postponed = 0

    def pays(self) -> bool:
        """Whether what it has left on tapes was worth a program."""
        return self.nodes >= max(_WORTH, self.postponed, _LEAST * self.calls)

    def is_worth(self, copies: int) -> bool:
        """Whether copying so much for a call takes no longer than carrying it."""
        return copies * self.calls <= _COPIES * self.nodes

    def postpone(self) -> None:
        """A program would have taken too long to make, for what its calls have left on tapes so far."""
        self.postponed = _LATER * max(_WORTH, self.nodes)

    def give_up_where_used(self, code: CodeType, index: int) -> None:
        """What is given at a place is nothing for a program; what does not use its parameter may be one."""
        self.given_up = True
        ir = shared(code)
        if not isinstance(ir, Unsupported):
            taken_together = code.co_argcount + code.co_kwonlyargcount
            param = ir.entry.params[index if index < code.co_argcount else taken_together]
            for s in [s for s in statements_of(ir.blocks) if param in s.operands]:
                gave_up(code, Reason("what is given", around=s.position))

    def note(self, nodes: int) -> None:
        """A call was carried, which left so many nodes on a tape."""
        self.calls += 1
        self.nodes += nodes


_of_numbers: Final[ByCode[Split]] = ByCode(_CACHE_SIZE)
_of_anything: Final[ByCode[Split]] = ByCode(_CACHE_SIZE)


def split_of(function: FunctionType, numbers: bool) -> Split:
    """What is known of programs of a function for numbers, or for other things as well."""
    table, code = _of_numbers if numbers else _of_anything, function.__code__
    split = table.found.get(id(code))
    return table.add(code, Split(is_hopeless(code))) if split is None else split


def ran(split: Split, function: FunctionType, args: tuple[Any, ...], live: Callable[[Halves], bool], form: Form) -> Any:
    """Value, residuals and halves of a call by a specialised program; None if there is none for it.

    ``live`` says whether what it reads beside its arguments carries derivatives.
    """
    if split.given_up:
        return None
    halves = split.halves
    if halves is None:
        halves = _halves(split, function, args, form) if sys.gettrace() is None else None
    if halves is None or halves.arity != len(args) or live(halves):
        return None
    try:
        result = halves.forward(function, args)
    except Given as error:
        if not split.used:
            give_up_all(error)
            split.given_up = True
            refusal(function, came_to(error, "what is carried: "))
            gave_up(function.__code__, error.reason)
        result = MISS
    except MemoryError:
        raise
    except Exception:
        # The carried program runs the function again, and raises what is the program's own.
        result = MISS
    if result is MISS:
        split.misses += 1
        split.given_up = split.given_up or split.misses > _MISSES
        return None
    split.used = True
    return (*result, halves)


def _halves(split: Split, function: FunctionType, args: tuple[Any, ...], form: Form) -> Halves | None:
    with making(split) as alone:
        if alone and split.halves is None and not split.given_up:
            split.halves = _made(split, function, args, form)
    return split.halves


def _made(split: Split, function: FunctionType, args: tuple[Any, ...], form: Form) -> Halves | None:
    seconds = MOST if form == "split" else min(MOST, _SECONDS + split.nodes * _PER_NODE)
    try:
        made, (forward, reverse) = program(Call.plain(function, args), form, seconds=seconds)
    except Refused as reason:
        refusal(function, reason)
        if isinstance(reason, Stopped) and seconds < MOST:
            split.postpone()
        else:
            split.given_up = True
            gave_up(function.__code__, reason.reason)
        return None
    report(function, made, "apart")
    callees = tuple(f for f in made.functions if f.__defaults__ or f.__kwdefaults__)
    return Halves(heeding(forward, made), reverse, len(args), made.roots, callees)


def _numpy_too() -> None:
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        NUMBERS.add(numpy.float64)


def forget() -> None:
    """Give up everything."""
    _of_numbers.clear()
    _of_anything.clear()
    giving_up.forget()


if not GENERIC:
    _numpy_too()
    registry.when_changed(forget)
    config.when_changed(forget)
