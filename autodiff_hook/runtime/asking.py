"""Caches from outside that a typed program asks: what they answer with has no part in what is differentiated."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.answers import is_answered
from autodiff_hook.runtime.fitting import everything
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lacking import lack
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.program import Given


class Arguments:
    """What a program was given: the lists, dicts and objects there, and the arrays; and what caches have answered."""

    __slots__ = ("_arrays", "_ids", "answers")

    def __init__(self, args: tuple[Any, ...]) -> None:
        held = everything(args)
        self._arrays = [x for x in held if isinstance(x, np.ndarray)]
        self._ids = {id(x) for x in held if kind_of(type(x)) not in _NO_REFERENCES}
        self.answers: dict[int, Any] = {}
        """What was answered before in the same run, which is none of it."""

    def have(self, value: Any) -> bool:
        """Whether a value is, holds or shows some of it."""
        if not (self._ids or self._arrays):
            return False
        held = [value] if type(value) is np.ndarray else everything([value])
        return any(map(self._has, held))

    def reach(self, function: Any) -> bool:
        """Whether a function may read some of it, which is known by another name there."""
        return bool(self._ids or self._arrays) and any(map(self._has, reachable(function, True)))

    def _has(self, item: Any) -> bool:
        if isinstance(item, np.ndarray):
            return any([np.may_share_memory(item, array) for array in self._arrays])
        return id(item) in self._ids


_NO_REFERENCES: Final = frozenset({"inert", "number", "tuple", "array"})


class Caller(threading.local):
    """The carried program that has called a typed one: which values have to do with its derivatives."""

    carries: Callable[[Any], bool] | None = None


CALLER: Final = Caller()


def require_answered(cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a program that asks a cache which would call its function in another world than that of the plain run."""
    if not is_answered(cache, args, kwargs):
        lack((id(cache), args, *kwargs.items()), partial(is_answered, cache, args, kwargs))
        raise Refused("a cache that has no answer yet, and whose function may read what has been changed")


def asked(cache: Any, given: Arguments, answered: bool | None, /, *args: Any, **kwargs: Any) -> Any:
    """What a cache answers; give up if that, or what its function would read now, is what somebody differentiates.

    ``answered``: it must not have to call its function; None: that reads nothing.
    """
    carries = CALLER.carries
    if answered is not None and not is_answered(cache, args, kwargs):
        function = cache.__wrapped__
        if answered or given.reach(function) or carries is not None and carries(function):
            raise Given("a cache has no answer")
    answer = cache(*args, **kwargs)
    if id(answer) not in given.answers:
        if given.have(answer) or carries is not None and carries(answer):
            raise Given("a cache answers with what has derivatives")
        given.answers[id(answer)] = answer
    return answer


def answer_of(cache: Any, given: Arguments, /, *args: Any, **kwargs: Any) -> Any:
    """What a cache has as the answer to a call; ``NO_ANSWER`` if it has none, or one that somebody differentiates."""
    if not is_answered(cache, args, kwargs):
        return NO_ANSWER
    answer = cache(*args, **kwargs)
    carries = CALLER.carries
    return NO_ANSWER if given.have(answer) or carries is not None and carries(answer) else answer


NO_ANSWER: Final = object()
