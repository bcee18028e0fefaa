"""Functions that a carried program calls: typed programs, cut in two where the adjoint begins.

What is given to one is numbers, or arrays, lists, dicts, tuples and objects of such, of which copies are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from types import CellType, FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.private import Private, Unfit, seeded
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Result, idle
from autodiff_hook.algebras.tape import Tape
from autodiff_hook.errors import NotDifferentiable, place_of
from autodiff_hook.registry import describe
from autodiff_hook.runtime.asking import CALLER
from autodiff_hook.runtime.attempts import suspect, suspicion
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.programs import Form
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.runtime.specialising import GENERIC as GENERIC
from autodiff_hook.runtime.splitting import NUMBERS, Halves, Split, ran, split_of
from autodiff_hook.runtime.trees import same
from autodiff_hook.semantics.functions import enter_carried
from autodiff_hook.semantics.structures import gather


def typed_call(tape: Tape, t: Any, function: FunctionType, args: tuple[Any, ...]) -> Result | None:
    """Value and token of a call by a typed program; None if there is none for it."""
    if NUMBERS.issuperset(map(type, args)):
        moving = [token for token, x in zip(t[1:], args) if token is not None and type(x) is not str]
        if not moving or len(moving) < len([token for token in t[1:] if token is not None]):
            return None
        if any([type(x) is not float and tape.is_unknown(token) for token, x in zip(t[1:], args)]):
            # Whole numbers are constant to a program, but these stand for what is differentiated: hashes.
            return None
        split = split_of(function, True)
        if not split.given_up:

            def live(halves: Halves) -> bool:
                return not idle(tape) and _is_live(tape, function, halves, _data_of(function, halves))

            found = _ran(tape, split, function, args, "split", live)
            return None if found is None else _recorded(tape, function, args, t[1:], *found)
    return None if function.__code__.co_flags & _SUSPENDS else _typed_of_anything(tape, t, function, args)


_SUSPENDS = 0x20 | 0x80 | 0x200
"""The flags of generators and coroutines."""


def _typed_of_anything(tape: Tape, t: Any, function: FunctionType, args: tuple[Any, ...]) -> Result | None:
    split = split_of(function, False)
    if split.given_up:
        return None
    if not split.pays():
        before = len(tape.nodes)
        result = enter_carried(tape, t, function, args, {})
        split.note(len(tape.nodes) - before)
        return result
    private, pairs = Private(tape), []
    try:
        for x, token in zip(args, t[1:]):
            pairs.append(private.taken(x, token))
    except Unfit:
        split.give_up_where_used(function.__code__, len(pairs))
        return None
    if not split.is_worth(private.count):
        split.given_up = True
        return None
    trees = [tree for _, tree in pairs]
    if all(tree is None for tree in trees):
        return None
    values = tuple([value for value, _ in pairs])
    outside = list[Any]()

    def live(halves: Halves) -> bool:
        outside.extend(_data_of(function, halves))
        carries = not idle(tape) and _is_live(tape, function, halves, outside)
        return carries or private.is_met_in([*outside, *_defaults_of(function, halves)])

    found = _ran(tape, split, function, values, "apart", live)
    if found is None:
        return None
    given = _arrays_in(private.passed)
    if given and not _memories(_arrays_in(found[0])).isdisjoint(_memories(given)):
        return None
    for array in (*given, *_arrays_in(outside)):
        tape.buffered.hold(array)
    return _recorded(tape, function, values, tuple(trees), *found)


def _ran(
    tape: Tape, split: Split, function: FunctionType, args: tuple[Any, ...], form: Form, live: Callable[[Halves], bool]
) -> Any:
    before, CALLER.carries = CALLER.carries, partial(reaches, tape)
    try:
        return ran(split, function, args, live, form)
    finally:
        CALLER.carries = before


def _recorded(
    tape: Tape, function: FunctionType, args: tuple[Any, ...], inputs: Any, value: Any, residuals: Any, halves: Halves
) -> Result:
    for array in arrays_of(residuals):
        tape.buffered.hold(array)
    return value, tape.spread(value, tape.node(TypedPullback(halves, residuals, function, args), inputs))


def arrays_of(residuals: Any) -> Iterator[Any]:
    """The arrays among residuals; of records of numbers, which may be many, each is looked at once."""
    pending, seen = [residuals], set[int]()
    while pending:
        item = pending.pop()
        if isinstance(item, np.ndarray):
            yield item
        elif type(item) in (tuple, list, dict) and id(item) not in seen:
            seen.add(id(item))
            items = item.values() if type(item) is dict else item
            kinds = set(map(type, items))
            if kinds == {tuple}:
                kinds = set(map(type, chain.from_iterable(items)))
            if not kinds <= NUMBERS:
                pending += items


def _is_live(tape: Tape, function: FunctionType, halves: Halves, data: list[Any]) -> bool:
    """Whether what a program reads beside its arguments carries derivatives, its ``data`` among it."""
    for holder, name in halves.roots:
        reference = function.__closure__[name] if holder is None else holder  # type: ignore[index]
        if _holds(tape, reference):
            return True
    if any(_holds(tape, f) or _holds(tape, f.__kwdefaults__) for f in (function, *halves.callees)):
        return True
    # What functions and classes name is among what the program reads, if it calls or asks them.
    return any(reaches(tape, value, names=False) for value in data)


def _holds(tape: Tape, reference: Any) -> bool:
    return id(reference) in tape.shadows or id(reference) in tape.losses


def _defaults_of(function: FunctionType, halves: Halves) -> list[Any]:
    """The default values that a program may compare with what it is given."""
    functions = (function, *halves.callees)
    return [x for f in functions for x in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())]


def _data_of(function: FunctionType, halves: Halves) -> list[Any]:
    """The data that a program loads on entry, which are more than numbers."""
    found = [_read(function, *root) for root in halves.roots]
    return [value for value in found if kind_of(type(value)) not in ("number", "inert")]


def _read(function: FunctionType, holder: Any, name: Any) -> Any:
    """What is read from a namespace, a container or a cell; None if it has gone."""
    if holder is None:
        holder = function.__closure__[name]  # type: ignore[index]
    if isinstance(holder, CellType):
        return holder.cell_contents
    try:
        return None if name is None else holder[name]
    except LookupError:
        return None


def _arrays_in(value: Any) -> list[Any]:
    if type(value) is list and not value:
        return []
    return [x for x in reachable(value, True, names=False) if isinstance(x, np.ndarray)]


def _memories(arrays: list[Any]) -> set[int]:
    return {id(root_of(x)) for x in arrays}


class TypedPullback:
    """The reverse half of one call.

    If it raises, the call is carried, which has no effects: that knows which cotangents are asked for, and says where
    an error belongs.
    """

    __slots__ = ("args", "function", "halves", "residuals")

    def __init__(self, halves: Halves, residuals: Any, function: FunctionType, args: tuple[Any, ...]) -> None:
        self.halves, self.residuals, self.function, self.args = halves, residuals, function, args

    def __call__(self, cotangent: Any) -> Any:
        try:
            return self.halves.reverse(self.residuals, cotangent)
        except MemoryError:
            raise
        except Exception as error:
            said = suspicion(error)
        given = self._carried(cotangent)
        suspect(self.function, said)
        return given

    def _carried(self, cotangent: Any) -> Any:
        self._require_same_world()
        tape, seen = Tape(), set[int]()
        tape.modules.add(self.function.__module__)

        def leaf(value: Any) -> int:
            found = tape.leaf()
            if kind_of(type(value)) == "array":
                tape.buffered.note(value, found)
            return found

        pairs = [seeded(tape, x, seen, leaf) for x in self.args]
        value, token = enter_carried(tape, (None, *[token for token, _ in pairs]), self.function, self.args, {})
        values = tape.sweep(gather(tape, value, token), cotangent).values
        return tuple([_at_leaves(tree, values) for _, tree in pairs])

    def _require_same_world(self) -> None:
        """Raise if the function would not do again what it did: its derivative is that of its residuals."""
        try:
            found = self.halves.forward(self.function, self.args)
        except Exception:
            found = MISS
        if found is MISS or not same(found[1], self.residuals):
            code = self.function.__code__
            place = place_of(code.co_filename, code.co_firstlineno, self.function.__qualname__)
            raise NotDifferentiable(_CHANGED.format(describe(self.function)), place=place, remedies=(_PASS_IN,))


_CHANGED: Final = (
    "the derivative of {} is infinite or not defined at one of its steps, and what it read has been changed since, so "
    "it cannot be run again"
)
_PASS_IN: Final = "pass what is changed as an argument"


def _at_leaves(tree: Any, values: list[Any]) -> Any:
    """The cotangents of leaves, in the form of a tree of them."""
    if isinstance(tree, (tuple, list)):
        return type(tree)([_at_leaves(x, values) for x in tree])
    if isinstance(tree, dict):
        return {key: _at_leaves(x, values) for key, x in tree.items()}
    return None if tree is None else values[tree]
