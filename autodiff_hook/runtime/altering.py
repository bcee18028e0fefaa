"""Objects from outside that a program changes as it runs: they are what they were while anything may yet fail."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.fitting import everything, is_alone
from autodiff_hook.runtime.lookup import dictionary_of
from autodiff_hook.runtime.memories import hides
from autodiff_hook.runtime.trees import same
from autodiff_hook.transform.improve.shortcuts import effects
from autodiff_hook.transform.specialise.program import Given

_MISSING: Final = object()
_ATOMS: Final = frozenset({float, int, str, bool, type(None)})


class Altered:
    """What some attributes of objects were on entry, and later what the program has made of them.

    ``objects`` are the dicts of their attributes; the arrays of those ``names`` that are true are changed.
    """

    def __init__(self, objects: list[dict[str, Any]], names: dict[str, bool]) -> None:
        self.objects, self.names = objects, names
        self.values = self._found()

    @property
    def arrays(self) -> list[Any]:
        """The arrays that are changed."""
        return [own.get(name) for own in self.objects for name, in_place in self.names.items() if in_place]

    def _found(self) -> list[list[Any]]:
        return [[own.get(name, _MISSING) for name in self.names] for own in self.objects]

    def exchange(self) -> None:
        """Let the objects be what they were, or again what they have become."""
        found = self._found()
        for own, values in zip(self.objects, self.values):
            own.update(zip(self.names, values))
            for name in [name for name, value in zip(self.names, values) if value is _MISSING]:
                del own[name]
        self.values = found

    def finish(self) -> None:
        """Let the objects be what the program has made of them; arrays that it changes stay what they are."""
        arrays = self.arrays
        self.exchange()
        for array, made in zip(arrays, self.arrays):
            np.copyto(array, made)
        for own, values in zip(self.objects, self.values):
            own.update((name, x) for (name, in_place), x in zip(self.names.items(), values) if in_place)


GENERATORS: Final = frozenset({np.random.Generator, np.random.RandomState, random.Random})


class Drawn:
    """A generator of random numbers, and its state on entry."""

    def __init__(self, generator: Any) -> None:
        self.generator, self.state = generator, _state(generator)

    def exchange(self) -> None:
        """Let it be in the state that it was in."""
        if type(self.generator) is random.Random:
            self.generator.setstate(self.state)
        elif type(self.generator) is np.random.RandomState:
            self.generator.set_state(self.state)
        else:
            self.generator.bit_generator.state = self.state

    def was_at(self, state: Any) -> bool:
        """Whether its state on entry was this."""
        return same(self.state, state)


def _state(generator: Any) -> Any:
    if type(generator) is random.Random:
        return generator.getstate()
    if type(generator) is np.random.RandomState:
        return generator.get_state(legacy=False)
    return generator.bit_generator.state


class _Open(threading.local):
    def __init__(self) -> None:
        self.altered: list[list[Altered] | list[Drawn]] = []


_OPEN: Final = _Open()


class Alter:
    """Begins a program that assigns attributes: ``names`` has them by class."""

    def __init__(self, names: dict[type, dict[str, bool]]) -> None:
        self.names = names

    def __call__(self, *references: Any) -> list[Altered]:
        """Keep what the objects are that can be reached."""
        reached = everything(references)
        found = _attributes(reached, self.names)
        made = [Altered(found[cls], names) for cls, names in self.names.items()]
        _require_alone([x for each in made for x in each.arrays], reached)
        _OPEN.altered.append(made)
        return made


def _require_alone(changed: list[Any], reached: list[Any]) -> None:
    """Give up if an array that is changed can be seen in another place, or what may show one can be reached."""
    if changed:
        lying = Counter([id(root_of(x)) for x in reached if issubclass(type(x), np.ndarray)])
        alone = [x is not None and is_alone(x) and lying[id(root_of(x))] == 1 for x in changed]
        if not all(alone) or any(map(hides, reached)):
            raise Given("an array that is changed may be seen in another place")


def _attributes(reached: list[Any], classes: Any) -> dict[type, list[Any]]:
    """The attributes of the objects of some classes, each with its own."""
    found: dict[type, list[Any]] = {cls: [] for cls in classes}
    for x in reached:
        if type(x) in found:
            found[type(x)].append(dictionary_of(x))
    held = [id(own) for attributes in found.values() for own in attributes]
    if len(set(held)) < len(held):
        raise Given("objects that share their attributes")
    return found


def leave(altered: list[Altered]) -> None:
    """The program has come to its end: the objects are what they were until nothing can fail any more."""
    _OPEN.altered.remove(altered)
    for each in altered:
        each.exchange()


def finish(altered: list[Altered]) -> None:
    """Let the objects be what the program has made of them."""
    for each in altered:
        each.finish()


def draws_from(generator: Any) -> Any:
    """A generator from outside, from which a program begins to draw."""
    _OPEN.altered.append([Drawn(generator)])
    return generator


def drawn(generator: Any) -> None:
    """The program has come to its end, and has drawn from a generator."""
    _OPEN.altered.pop()


def restoring(entry: Callable[..., Any]) -> Callable[..., Any]:
    """An entry after which objects are what they were if it fails."""

    def restoring_entry(f: Any, args: tuple[Any, ...]) -> Any:
        begun = len(_OPEN.altered)
        try:
            return entry(f, args)
        except BaseException:
            _put_back(begun)
            raise

    return restoring_entry


def _put_back(begun: int) -> None:
    while len(_OPEN.altered) > begun:
        for each in _OPEN.altered.pop():
            each.exchange()


@contextmanager
def tried() -> Iterator[None]:
    """Let objects be afterwards what they were: a program is tried, without its end."""
    begun = len(_OPEN.altered)
    try:
        yield
    finally:
        _put_back(begun)


def assign_if(assigned: bool, owner: Any, name: str, value: Any) -> None:
    """``owner.name = value``, if the program has assigned that."""
    if assigned:
        setattr(owner, name, value)


effects(draws_from, drawn, leave, finish, assign_if)
