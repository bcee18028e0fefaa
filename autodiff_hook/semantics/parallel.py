"""Lists, deques and ``array.array``: what a method does to items it does to the tokens that are kept beside them."""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, keep_all, known, note_made, parallel, to_change
from autodiff_hook.semantics.items import materialised, to_change_typed, tokens_of
from autodiff_hook.semantics.iteration import ITERATORS, deque_pairs, get_iter, iteration
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means, natively

_TOKENS: Final[dict[Any, Any]] = {list: list, deque: deque, array: list}
"""What the tokens of the items are kept in."""


def made(alg: Algebra, result: Any, tokens: list[Any]) -> Result:
    """A new list, deque or array; a deque has the last tokens, of all that would be in it without ``maxlen``."""
    keep_all(alg, result, parallel(result, tokens))
    note_made(alg, result)
    return result, None


def putting(cls: Any, name: str) -> Meaning:
    """A method that puts one item in at an end; where a deque is full, one goes out at the other end."""
    on_items, on_tokens = getattr(cls, name), getattr(_TOKENS[cls], name)
    to_store = to_change_typed if cls is array else to_change

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        if len(args) != 2 or kwargs:
            return on_items(*args, **kwargs), None  # which raises
        owner, value = args
        token = t[1]
        found = to_store(alg, owner, (token,))
        on_items(owner, value)
        if found is not None:
            on_tokens(found, token)
            if token is None:
                alg.lifetimes.note(owner, value)
        return None, None

    return carried


def inserting(cls: Any) -> Meaning:
    """``insert(index, value)``."""
    to_store = to_change_typed if cls is array else to_change

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, index, value = args
        found = to_store(alg, owner, t[2:])
        cls.insert(owner, index, value)
        if found is not None:
            found.insert(index, t[2])
            alg.lifetimes.note(owner, value)
        return None, None

    return carried


def shifting(cls: Any, name: str) -> Meaning:
    """A method that takes items out or moves them, by place."""
    on_items, on_tokens = getattr(cls, name), getattr(_TOKENS[cls], name)

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, *where = args
        found = known(alg, owner)
        result = on_items(*args)
        return result, None if found is None else on_tokens(found, *where)

    return carried


def removing(cls: Any) -> Meaning:
    """``remove(value)``."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, value = args
        found = known(alg, owner)
        if found is None or value not in owner:
            return cls.remove(owner, value), None
        index = cls.index(owner, value)
        cls.__delitem__(owner, index)
        del found[index]
        return None, None

    return carried


def repeating(cls: Any) -> Meaning:
    """``owner *= n``."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, count = args
        found = known(alg, owner)
        cls.__imul__(owner, count)
        if found is not None:
            _TOKENS[cls].__imul__(found, count)
        return owner, None

    return carried


def joining(cls: Any) -> Meaning:
    """``a + b``."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return made(alg, cls.__add__(*args), [token for part in args for token in tokens_of(alg, cls, part)])

    return carried


def multiplying(cls: Any) -> Meaning:
    """``a * n``."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        owner, count = args
        return made(alg, cls.__mul__(owner, count), tokens_of(alg, cls, owner) * count)

    return carried


def copying(cls: Any, name: str) -> Meaning:
    """A method that makes a copy."""
    copy = getattr(cls, name)

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return made(alg, copy(*args), tokens_of(alg, cls, args[0]))

    return carried


for _cls in _TOKENS:
    for _name in ("append", "appendleft"):
        if hasattr(_cls, _name):
            means(getattr(_cls, _name))(putting(_cls, _name))
    for _name in ("pop", "popleft", "rotate", "reverse", "clear"):
        if hasattr(_cls, _name):
            means(getattr(_cls, _name))(shifting(_cls, _name))
    for _name in ("index", "count", "__contains__", "__len__"):
        natively(getattr(_cls, _name))
    for _name in ("copy", "__copy__", "__deepcopy__"):
        if hasattr(_cls, _name):
            means(getattr(_cls, _name))(copying(_cls, _name))
    means(_cls.insert)(inserting(_cls))
    means(_cls.remove)(removing(_cls))
    means(_cls.__imul__)(repeating(_cls))
for _cls in (deque, array):
    means(_cls.__add__)(joining(_cls))
    means(_cls.__mul__, _cls.__rmul__)(multiplying(_cls))


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
