"""Caches from outside that a typed program asks: what they answer with has no part in what is differentiated."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook.runtime.fitting import everything
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.transform.specialise.infer import Given


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
        held = [value] if type(value) is np.ndarray else everything([value])
        return any(map(self._has, held))

    def _has(self, item: Any) -> bool:
        if isinstance(item, np.ndarray):
            return any([np.may_share_memory(item, array) for array in self._arrays])
        return id(item) in self._ids


_NO_REFERENCES: Final = frozenset({"inert", "number", "tuple", "array"})


class Caller(threading.local):
    """The carried program that has called a typed one: which values have to do with its derivatives."""

    carries: Callable[[Any], bool] | None = None


CALLER: Final = Caller()


def asked(cache: Any, given: Arguments, /, *args: Any, **kwargs: Any) -> Any:
    """What a cache answers; give up if that is what somebody differentiates."""
    answer = cache(*args, **kwargs)
    if id(answer) not in given.answers:
        if given.have(answer) or CALLER.carries is not None and CALLER.carries(answer):
            raise Given("a cache answers with what has derivatives")
        given.answers[id(answer)] = answer
    return answer
