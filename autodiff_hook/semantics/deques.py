"""Deques: what is not as with lists."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.semantics.items import materialised
from autodiff_hook.semantics.iteration import ITERATORS, deque_pairs, get_iter, iteration
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means
from autodiff_hook.semantics.parallel import putting

_NAMES: Final = ("iterable", "maxlen")


@means(deque)
def make_deque(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    result: deque[Any] = deque()
    deque_init(alg, (None, *t), (result, *args), kwargs)
    return result, None


@means(deque.__init__)
def deque_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """The items, and how many there are at most."""
    owner, *given = args
    named = dict(zip(_NAMES, given)) | kwargs
    moving = dict(zip((*_NAMES[: len(given)], *kwargs), t[1:]))
    iterable = named.pop("iterable", ())
    deque.__init__(owner, (), **named)
    alg.shadows.pop(id(owner), None)
    return _extend(alg, (None, moving.get("iterable")), (owner, iterable), {})


def extending(name: str, gives: bool = False) -> Meaning:
    """A method that puts in the items of an iterable, one by one by another one; it may give the deque."""
    put = putting(deque, name)

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, source = args
        pairs = zip(*materialised(alg, t[1], source)) if source is owner else get_iter(alg, t[1:], None, source)[0]
        for item, token in pairs:
            put(alg, (None, token), (owner, item), {})
        return owner if gives else None, None

    return carried


_extend: Final = means(deque.extend)(extending("append"))
means(deque.extendleft)(extending("appendleft"))
means(deque.__iadd__)(extending("append", gives=True))


@means(deque.__iter__)
def deque_iter(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    return iteration(alg, deque_pairs(alg, args[0]), ITERATORS[deque]), None
