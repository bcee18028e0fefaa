"""Iterating with tokens: every item comes with its own."""

from __future__ import annotations

import operator
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import repeat
from types import FunctionType, GeneratorType, MappingProxyType
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, idle, kind, known, load, load_key, lose, some
from autodiff_hook.errors import NotDifferentiable, user_location
from autodiff_hook.lift.values import STARTED
from autodiff_hook.runtime.kinds import WRITTEN
from autodiff_hook.runtime.lookup import behind, find_in_type, has_in_type
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.memories import hides
from autodiff_hook.semantics.arrays import part_of
from autodiff_hook.semantics.meanings import Args, Kwargs, apply, means
from autodiff_hook.semantics.special_attributes import BASE

VIEWS: Final[tuple[type, ...]] = (type({}.values()), type({}.items()), type({}.keys()))

ITEMS: Final = VIEWS[1]
KEYS: Final = VIEWS[2]

Pairs = Iterator[tuple[Any, Any]]


class CarriedIterator:
    """An iterator whose items may have tokens: user code sees the items, and the class of what it stands for."""

    __slots__ = ("pairs", "shown")

    def __init__(self, pairs: Any, shown: type | None = None) -> None:
        self.pairs, self.shown = pairs, shown or CarriedIterator

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.shown

    def __repr__(self) -> str:
        return f"<{self.shown.__module__}.{self.shown.__qualname__} object at {id(self):#x}>".replace("<builtins.", "<")

    def __iter__(self) -> CarriedIterator:
        return self

    def __next__(self) -> Any:
        return next(self.pairs)[0]

    def __reduce__(self) -> Any:
        raise NotDifferentiable(_COPIED, place=user_location(), remedies=_COPIES)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    def __getattr__(self, name: str) -> Any:
        if name == "__length_hint__":
            raise _of_unknown_length()
        if name == "__setstate__":
            return self.__reduce__()
        raise AttributeError(name, name=name, obj=self)


def _of_unknown_length() -> NotDifferentiable:
    reason = "an iterator over what is differentiated is asked how many items are left"
    return NotDifferentiable(
        reason, place=user_location(), remedies=("ask what it goes over for its length, and count",)
    )


_COPIED: Final = "an iterator over what is differentiated is copied, or written by pickle"
_COPIES: Final = ("take two of itertools.tee", "copy what it goes over, and begin another iteration")


_CONTAINERS: Final[tuple[Any, ...]] = ([], (), {}, set(), frozenset(), "", b"", range(0), deque())
ITERATORS: Final = {type(x): type(iter(x)) for x in _CONTAINERS}
"""The classes of what goes over containers."""


def iteration(alg: Algebra, pairs: Pairs, shown: type | None = None) -> CarriedIterator:
    """An iterator for user code, which sees a class; from now on calls matter that nothing with a token goes into."""
    alg.iterates = True
    return CarriedIterator(pairs, shown)


def started(alg: Algebra, token: Any, value: Any) -> Result:
    """What an iteration that begins now goes over: the code of an object that says so is run once, and not later."""
    if not is_iteration(value) and python_method(value, "__iter__") is not None:
        return iteration(alg, get_iter(alg, (token,), None, value)[0]), None
    if not any(hasattr(type(value), name) for name in ("__iter__", "__getitem__")):
        iter(value)  # says what is wrong
    return value, token


def is_iteration(value: Any) -> bool:
    """Whether ``value`` is an iterator of ours."""
    return type(value) is CarriedIterator


def is_view(value: Any) -> bool:
    """Whether ``value`` is a view of the values, items or keys of a dict."""
    return isinstance(value, VIEWS)


def get_iter(alg: Algebra, t: Any, data: Any, value: Any) -> Result:
    """Start an iteration; the iterator yields pairs of item and token."""
    if is_iteration(value):
        return value.pairs, None
    if type(value) is GeneratorType and id(value) in alg.generators:
        return _generator_pairs(value, alg.generators[id(value)][1]), None
    if type(value) is MappingProxyType:
        return get_iter(alg, t, None, behind(value))
    form = how(alg, value, t[0] is not None)
    if form == "list":
        return list_pairs(alg, value), None
    if form == "tuple":
        return _tuple_pairs(value, t[0]), None
    if form == "array":
        return _array_pairs(alg, value, t[0]), None
    if form == "set":
        return set_pairs(alg, value), None
    if form == "dict":
        return key_pairs(alg, value), None
    if form == "deque":
        return deque_pairs(alg, value), None
    if form == "typed array":
        return _typed_pairs(alg, value), None
    if form == "view":
        return _view_pairs(alg, value), None
    if form == "object":
        return _object_pairs(alg, value, t[0], data is STARTED)
    if form == "sequence":
        return _sequence_pairs(alg, value, t[0]), None
    if type(value) is np.flatiter:
        return _flat_pairs(alg, value), None
    if form == "shared":
        return _shared_pairs(alg, iter(value), value), None
    if form == "lossy":
        return _lossy_pairs(alg, iter(value), value), None
    parts = None
    if t[0] is not None and issubclass(type(value), WRITTEN):
        parts = alg.unknown(failure(type(value), _TAKEN_APART))
    return zip(value if data is STARTED else iter(value), repeat(parts)), None


_TAKEN_APART: Final = "which is taken apart, and from whose parts a number is read"


def how(alg: Algebra, value: Any, moves: bool) -> str:
    """How to iterate over ``value``."""
    form = kind(value)
    python = python_method(value, "__iter__") or python_method(value, "__next__")
    if python is None and (form == "list" or form == "tuple" and moves):
        return form
    if form == "array" and value.ndim and (python or python_method(value, "__getitem__")) is not None:
        return "sequence" if python is None else "object"
    if form == "array":
        return "array" if value.ndim and (value.dtype.kind in "fciuO" or moves) else "plain"
    if python is None and form == "set":
        return "set" if known(alg, value) or id(value) in alg.losses else "plain"
    if python is None and form == "dict":
        return "dict" if known(alg, value) else "plain"
    if python is None and issubclass(type(value), deque):
        return "deque"
    if type(value) is array:
        return "typed array"
    if isinstance(value, VIEWS):
        return "view"
    if python is None and form == "object" and (type(value) in _SHARING or hides(value)):
        return "shared"
    resting = idle(alg) and not moves
    if resting:
        return "plain"
    if python is not None:
        return "object"
    if form == "object" and not has_in_type(type(value), "__iter__") and has_in_type(type(value), "__getitem__"):
        return "sequence"
    return "lossy" if form == "object" and reaches(alg, value) else "plain"


def python_method(value: Any, name: str) -> Any:
    """The special method of the type of ``value``, if it is written in Python."""
    found = find_in_type(type(value), name)
    return found if type(found) is FunctionType else None


def _generator_pairs(generator: Any, exchange: Any) -> Pairs:
    for item in generator:
        yield item, exchange.out


def _lossy_pairs(alg: Algebra, iterator: Any, value: Any) -> Pairs:
    """Items of something that tokens can be reached from, but not by item."""
    unknown = unknown_of(alg, value)
    for item in iterator:
        yield item, lose(alg, item, unknown)


def flattened(alg: Algebra, iterator: Any) -> Result:
    """The array that a ``flatiter`` goes over, as one of one dimension."""
    array = iterator.base
    token = load(alg, iterator, BASE, array)
    if type(array) is not np.ndarray:
        # A matrix has two axes in every shape.
        array, token = apply(alg, (None, token), np.asarray, (array,), {})
    return apply(alg, (None, token, None), np.ndarray.reshape, (array, -1), {})


def _flat_pairs(alg: Algebra, iterator: Any) -> Pairs:
    for item in iterator:
        flat, token = flattened(alg, iterator)
        yield item, part_of(alg, flat, iterator.index - 1, item, token)


_SHARING: Final = (memoryview, np.nditer)


def _shared_pairs(alg: Algebra, iterator: Any, value: Any) -> Pairs:
    """Items of what shows memory that may be written to meanwhile."""
    for item in iterator:
        yield item, lose(alg, item, unknown_of(alg, value)) if reaches(alg, value) else None


def unknown_of(alg: Algebra, value: Any) -> Any:
    """The token of what comes out of a native object."""
    if id(value) in alg.losses:
        return alg.losses[id(value)][1]
    return alg.unknown(failure(type(value), "an iterator that is not Python code"))


def _sequence_pairs(alg: Algebra, value: Any, token: Any) -> Pairs:
    """The items of an object that has only ``__getitem__``."""

    index = 0
    while True:
        try:
            pair = apply(alg, (None, token, None), operator.getitem, (value, index), {})
        except IndexError:
            return
        yield pair
        index += 1


def list_pairs(alg: Algebra, items: list[Any]) -> Pairs:
    index = 0
    while index < list.__len__(items):
        item = list.__getitem__(items, index)
        yield item, load(alg, items, index, item)
        index += 1


def _tuple_pairs(items: tuple[Any, ...], tokens: tuple[Any, ...]) -> Pairs:
    # Whatever a derived class says of items by place.
    yield from zip(tuple.__iter__(items), tokens)


def _array_pairs(alg: Algebra, array: Any, token: Any) -> Pairs:
    for index in range(len(array)):
        item = array[index]
        yield item, part_of(alg, array, index, item, token)


def set_pairs(alg: Algebra, items: Any) -> Pairs:
    for item in (frozenset if isinstance(items, frozenset) else set).__iter__(items):
        yield item, load(alg, items, item, item)


def _view_pairs(alg: Algebra, view: Any) -> Pairs:
    owner = behind(view)
    if isinstance(view, KEYS):
        for pair in key_pairs(alg, owner):  # noqa: UP028
            yield pair
        return
    for key, value in plain_dict(owner).items(owner):
        token = load(alg, owner, key, value)
        if isinstance(view, ITEMS):
            tokens = load_key(alg, owner, key), token
            yield (key, value), tokens if some(tokens) else None
        else:
            yield value, token


def key_pairs(alg: Algebra, owner: Any) -> Pairs:
    for key in plain_dict(owner).__iter__(owner):
        yield key, load_key(alg, owner, key)


def deque_pairs(alg: Algebra, owner: deque[Any]) -> Pairs:
    for index, item in enumerate(deque.__iter__(owner)):
        yield item, load(alg, owner, index, item)


def _typed_pairs(alg: Algebra, owner: array[Any]) -> Pairs:
    index = 0
    while index < len(owner):
        item = owner[index]
        yield item, load(alg, owner, index, item)
        index += 1


def _object_pairs(alg: Algebra, value: Any, moving: Any, started: bool) -> Result:
    """An iterable or an iterator written as a class."""
    method = python_method(value, "__iter__")
    if method is None or started:
        return stepped(alg, value), None
    iterator, token = begun(alg, value, moving, method)
    return get_iter(alg, (token,), STARTED, iterator)


def begun(alg: Algebra, value: Any, moving: Any, method: FunctionType) -> Result:
    """The iterator that the ``__iter__`` of an object gives: what it is asked is seen by those who hold it."""
    iterator, token = apply(alg, (None, moving), method, (value,), {})
    if not hasattr(type(iterator), "__next__"):
        raise TypeError(f"iter() returned non-iterator of type '{type(iterator).__name__}'")
    return iterator, token


def stepped(alg: Algebra, iterator: Any) -> Pairs:
    """The items of an iterator with a ``__next__`` of Python code."""
    step = python_method(iterator, "__next__")
    while True:
        try:
            pair = apply(alg, (None, None), step, (iterator,), {})
        except StopIteration:
            return
        yield pair


def is_iterated_by_type(value: Any) -> bool:
    """Whether it is a dict or a deque that is iterated over as these are."""
    return issubclass(type(value), (dict, deque)) and python_method(value, "__iter__") is None


def plain_dict(owner: dict[Any, Any]) -> Any:
    """The builtin class whose methods change a dict, whatever its own class makes of their names."""
    return OrderedDict if isinstance(owner, OrderedDict) else dict


@means(operator.length_hint)
def length_hint(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``operator.length_hint``: native code finds no length in an iterator of ours, and says 0."""
    if is_iteration(args[0]):
        raise _of_unknown_length()
    return operator.length_hint(*args, **kwargs), None
