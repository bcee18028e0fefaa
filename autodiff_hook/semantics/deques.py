"""Deques: every method on the deque and on that of its tokens, which shift alike."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, keep_all, known, to_change
from autodiff_hook.semantics.items import materialised
from autodiff_hook.semantics.iteration import deque_pairs, get_iter, iteration
from autodiff_hook.semantics.meanings import means, natively

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

_NAMES: Final = ("iterable", "maxlen")


@means(deque)
def make_deque(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque(...)``."""
    result: deque[Any] = deque()
    deque_init(alg, (None, *t), (result, *args), kwargs)
    return result, None


@means(deque.__init__)
def deque_init(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque.__init__``: the items, and how many there are at most."""
    owner, *given = args
    named = dict(zip(_NAMES, given)) | kwargs
    moving = dict(zip((*_NAMES[: len(given)], *kwargs), t[1:]))
    iterable = named.pop("iterable", ())
    deque.__init__(owner, (), **named)
    alg.shadows.pop(id(owner), None)
    return _extend(alg, (None, moving.get("iterable")), (owner, iterable), {})


class Putting:
    """A method that puts an item in; where the deque is full, one goes out at the other end."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        owner, *where, _ = args
        found = to_change(alg, owner, t[-1:])
        self.function(*args)
        if found is not None:
            self.function(found, *where, t[-1])
        return None, None


class Shifting:
    """A method that takes items out or moves them, by place."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        owner, *where = args
        found = known(alg, owner)
        result = self.function(*args)
        return result, None if found is None else self.function(found, *where)


class Extending:
    """A method that puts in the items of an iterable, one by one; it may give the deque."""

    def __init__(self, function: Any, gives: bool = False) -> None:
        self.put, self.gives = Putting(function).carried, gives

    def carried(self, alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        """The operation with tokens."""
        owner, source = args
        pairs = zip(*materialised(alg, t[1], source)) if source is owner else get_iter(alg, t[1:], None, source)[0]
        for item, token in pairs:
            self.put(alg, (None, token), (owner, item), {})
        return owner if self.gives else None, None


_extend = Extending(deque.append).carried

_PUTTING: Final[tuple[Any, ...]] = (deque.append, deque.appendleft, deque.insert)
_SHIFTING: Final[tuple[Any, ...]] = (deque.pop, deque.popleft, deque.rotate, deque.reverse, deque.clear)
_LOOKING: Final[tuple[Any, ...]] = (deque.index, deque.count, deque.__contains__, deque.__len__)
for _method in _PUTTING:
    means(_method)(Putting(_method).carried)
for _method in _SHIFTING:
    means(_method)(Shifting(_method).carried)
for _method in _LOOKING:
    natively(_method)
means(deque.extend)(_extend)
means(deque.extendleft)(Extending(deque.appendleft).carried)
means(deque.__iadd__)(Extending(deque.append, gives=True).carried)


@means(deque.remove)
def deque_remove(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque.remove``."""
    owner, value = args
    found = known(alg, owner)
    if found is None:
        return deque.remove(owner, value), None
    index = deque.index(owner, value)
    deque.__delitem__(owner, index)
    del found[index]
    return None, None


@means(deque.copy, deque.__copy__)
def deque_copy(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque.copy``."""
    (owner,) = args
    return _made(alg, deque.copy(owner), materialised(alg, None, owner)[1])


@means(deque.__add__)
def deque_add(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque + deque``."""
    a, b = args
    joined = deque.__add__(a, b)
    return _made(alg, joined, [token for part in args for token in materialised(alg, None, part)[1]])


@means(deque.__mul__, deque.__rmul__)
def deque_mul(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque * n``."""
    owner, count = args
    return _made(alg, deque.__mul__(owner, count), materialised(alg, None, owner)[1] * count)


@means(deque.__imul__)
def deque_imul(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque *= n``."""
    owner, count = args
    found = known(alg, owner)
    deque.__imul__(owner, count)
    if found is not None:
        deque.__imul__(found, count)
    return owner, None


def _made(alg: Algebra, result: deque[Any], tokens: list[Any]) -> Result:
    """A new deque, with the tokens of all that would be in it if it had no ``maxlen``."""
    keep_all(alg, result, deque(tokens, result.maxlen))
    return result, None


@means(deque.__iter__)
def deque_iter(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``deque.__iter__``, past what a subclass makes of it."""
    return iteration(alg, deque_pairs(alg, args[0])), None
