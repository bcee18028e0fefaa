"""Functions of the standard library whose definitions in Python code are followed in the place of their calls."""

from __future__ import annotations

import collections
import contextlib
import functools
import heapq
import itertools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.semantics import equivalents
from autodiff_hook.semantics.equivalents import (
    changing,
    combining,
    deques,
    iterating,
    managing,
    operating,
    ordering,
    remembering,
)
from autodiff_hook.transform.specialise import lists
from autodiff_hook.transform.specialise.abstract import (
    INT,
    Abstract,
    Array,
    Dict,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Producer,
    Reference,
    Tuple,
    same_dtype,
)
from autodiff_hook.transform.specialise.bodies import Code, Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import SETS, built_class, inert_class, is_number_of, is_set, plain_types
from autodiff_hook.transform.specialise.objects import object_class, written
from autodiff_hook.transform.specialise.plans import alias, items_of, pure, require_inert
from autodiff_hook.transform.specialise.program import Given

_DOUBLE: Final = np.dtype(float)
Choice = Callable[[list[Abstract], dict[str, Any]], Any]


def equivalent(inf: Inference, function: Any, args: Args, kwargs: Kwargs) -> Code | None:
    """The definition that is followed in the place of a call; None if there is none."""
    found: Code | None = _ALWAYS.get(function)
    if function in _SOMETIMES:
        found = _SOMETIMES[function](list(map(inf.type_of, args)), kwargs)
    return found


def rows(inf: Inference, s: Statement) -> Code | None:
    """The definition of ``zip(*rows)`` of any number of lists; None of something else."""
    function, args, kwargs = map(inf.type_of, s.operands)
    known = isinstance(function, Known) and function.value is zip and isinstance(kwargs, Known) and kwargs.value is None
    if not known or not isinstance(args, List) or not isinstance(args.item, (List, Tuple)):
        return None
    return iterating.columns


def listed(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Statement | None:
    """A list of what an iterator gives is made before the call that uses it up; what makes it."""
    if function not in _EXHAUSTING:
        return None
    kinds = list(map(inf.type_of, args))
    # A set made of a set may have another order than one made of its items.
    copied = [function in SETS and is_set(kind) for kind in kinds]
    place = next((i for i, kind in enumerate(kinds) if _is_iterated(kind, inf) and not copied[i]), None)
    if place is None:
        return None
    s.op, s.operands, s.data = "call", [Constant(function), *args, *kwargs.values()], tuple(kwargs)
    return one_by_one(inf, s, args[place])


def _is_iterated(kind: Abstract, inf: Inference) -> bool:
    """Whether a value is an iterator, or an object of which code gives one."""
    cls = object_class(kind)
    own = cls is not None and written(inf, cls, "__iter__") is not None
    return own or isinstance(kind, (Producer, Iterator)) or isinstance(kind, Dict) and is_set(kind)


def one_by_one(inf: Inference, s: Statement, operand: Operand) -> Statement | None:
    """Let a statement have a list of what an iterator gives in its place; what makes that, None if there is none."""
    kind = inf.type_of(operand)
    if not _is_iterated(kind, inf):
        return None
    made = Statement("call", [Constant(iterating.listed), operand], Variable(), (), s.position)
    s.operands = [made.made if x is operand else x for x in s.operands]
    inf.block.statements.insert(inf.index, made)
    return made


def truth(inf: Inference, kind: Abstract, negated: bool) -> Code | None:
    """What tells whether an object holds, by ``__bool__`` or by its length."""
    cls = object_class(kind)
    if cls is None:
        return None
    if written(inf, cls, "__bool__"):
        return operating.fails if negated else operating.holds
    if written(inf, cls, "__len__"):
        return operating.is_empty if negated else operating.is_filled
    return None


def answered(inf: Inference, s: Statement, function: Any, args: Args) -> Abstract | None:
    """What the definitions ask that has no derivative: places, and whether ``__iter__`` gives an iterator as it is."""
    if function is iterating.stepped and isinstance(inf.type_of(args[0]), (Producer, Iterator)):
        return alias(inf, s, args[0])
    if function in (ordering.rising, ordering.sinking):
        return _path(inf, s, function, args)
    if function not in (iterating.order_of, combining.places_of):
        return None
    kinds = list(map(inf.type_of, args))
    require_inert(*(kinds[1:] if function is combining.places_of else kinds))
    if function is iterating.order_of:
        return pure(inf, s, lists.new(inf, s, [0, 1], INT))
    counts = [kind.value for kind in kinds[2:] if isinstance(kind, Known) and type(kind.value) is int]
    if len(counts) != 1 or len(kinds) != 3:
        raise Refused("combinations of an unknown number of items")
    (count,) = counts
    return pure(inf, s, lists.new(inf, s, [(0,) * count], Tuple((INT,) * count, example=(0,) * count)))


def _path(inf: Inference, s: Statement, function: Any, args: Args) -> Abstract:
    """The places that an item of a heap goes through."""
    kind = inf.type_of(args[0])
    count = ordered_items(kind.item) if isinstance(kind, List) and kind.item is not None else 0
    if count == 0:
        raise Refused("a heap of what has no order by itself")
    s.operands = [Constant(function), *args[: _PLACED[function]], Constant(count), Constant(Given)]
    s.op, s.data = "call", ()
    return pure(inf, s, lists.new(inf, s, [0, 1], INT))


_PLACED: Final = {ordering.rising: 2, ordering.sinking: 3}
"""How many arguments they have without the number of items that decide."""


def ordered_items(kind: Abstract) -> int | None:
    """How many items of tuples have an order by themselves, before others; None for all, or for what is no tuple."""
    if not isinstance(kind, Tuple):
        return None if _is_ordered(kind) else 0
    if kind.cls is not tuple:
        return 0
    return next((i for i, item in enumerate(kind.items) if not _is_ordered(item)), None)


def _is_ordered(kind: Abstract) -> bool:
    if isinstance(kind, Tuple):
        return kind.cls is tuple and all(map(_is_ordered, kind.items))
    return all(cls is not None and issubclass(cls, _ORDERED) for cls in plain_types(kind))


_ORDERED: Final = (int, float, str, np.floating, np.integer)


def _of_heap(function: Any, by_places: Any) -> Choice:
    def choose(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
        known = [x.item for x in kinds[:1] if isinstance(x, List) and x.item is not None] or kinds[1:]
        return by_places if known and ordered_items(known[0]) != 0 else function

    return choose


def _zip(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    made = [i for i, kind in enumerate(kinds) if _gives_one_by_one(kind)]
    if len(kinds) != 2 or len(made) != 1 or kwargs:
        return None
    return iterating.zip_first if made == [0] else iterating.zip_second


def _gives_one_by_one(kind: Abstract) -> bool:
    """Whether code gives the items of a value."""
    return isinstance(kind, (Producer, Fresh)) or built_class(kind) is not None


def _of_producers(function: Any) -> Choice:
    return lambda kinds, kwargs: function if any(map(_gives_one_by_one, kinds)) else None


def _with_options(function: Any) -> Choice:
    def choose(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
        several = len(kinds) == 1 and (isinstance(kinds[0], (Producer, Iterator, Fresh)) or is_set(kinds[0]))
        return function if kwargs or several else None

    return choose


def _list(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    """What is known item by item needs no loop."""
    kind = kinds[0] if len(kinds) == 1 else None
    ranges = isinstance(kind, Instance) and kind.cls is range or isinstance(kind, Known) and type(kind.value) is range
    rows = isinstance(kind, Array) and bool(kind.ndim)
    return iterating.listed if isinstance(kind, (Producer, Iterator, Fresh)) or ranges or rows else None


def _to_list(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    kind = kinds[0] if len(kinds) == 1 else None
    if isinstance(kind, Array) and kind.ndim == 1 and kind.dtype is not None and kind.dtype.kind in "iu":
        return iterating.whole_numbers
    axes = None if kind is None else _axes_of_doubles(kind)
    if axes == 1:
        return iterating.numbers
    return iterating.rows_of_numbers if axes == 2 else None


def _item(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    one = len(kinds) == 2 and is_number_of(kinds[1], {int})
    return iterating.number_at if one and _axes_of_doubles(kinds[0]) == 1 else None


def _axes_of_doubles(kind: Abstract) -> int | None:
    """How many axes an array of doubles has; None if that is not known, or of something else."""
    if not isinstance(kind, Array) or kind.scalar or not same_dtype(kind.dtype, _DOUBLE):
        return None
    return kind.ndim


def _chain(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    """One loop over what is of one kind, else a loop for each."""
    alike = all(isinstance(kind, List) for kind in kinds) or all(isinstance(kind, Tuple) for kind in kinds)
    return equivalents.chain if alike else equivalents.chain_apart


def _ix(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    return combining.open_grid if len(kinds) == 2 and not kwargs and all(map(_gives_places, kinds)) else None


def _gives_places(kind: Abstract) -> bool:
    """Whether a value is a list or an array of whole numbers, on one axis."""
    if isinstance(kind, Array):
        return kind.dtype is not None and kind.dtype.kind in "iu" and kind.ndim == 1 and not kind.scalar
    items = [kind.item] if isinstance(kind, List) else items_of(kind) or ()
    return bool(items) and all(item is not None and is_number_of(item, {int}) for item in items)


def _merge(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    lists = all(isinstance(kind, List) or isinstance(kind, Tuple) and kind.cls in (tuple, list) for kind in kinds)
    return ordering.merged if lists else None


def _next(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    if kinds and (isinstance(kinds[0], Fresh) or built_class(kinds[0]) is not None):
        return iterating.advanced
    return iterating.first if kinds and isinstance(kinds[0], Producer) else None


def _counter(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    return changing.counted if len(kinds) == 1 and not kwargs and not may_be_mapping(kinds[0]) else None


def _dict(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    kind = kinds[0] if len(kinds) == 1 and not kwargs else None
    if isinstance(kind, Dict) and not is_set(kind) or isinstance(kind, Tuple) and kind.cls is dict:
        return None if built_class(kind) is not None else changing.copied
    return changing.of_pairs if isinstance(kind, (List, Tuple, Iterator, Producer, Dict)) else None


def _ordered(kinds: list[Abstract], kwargs: dict[str, Any]) -> Any:
    return changing.ordered if len(kinds) == 1 and not kwargs and not may_be_mapping(kinds[0]) else None


def may_be_mapping(kind: Abstract) -> bool:
    """Whether what is given to a ``Counter`` may have counts already."""
    if isinstance(kind, Tuple):
        return kind.cls is dict
    items = isinstance(kind, (List, Iterator, Producer, Array)) or is_set(kind)
    return not items and inert_class(kind) not in (str, range, tuple)


DEFINED: Final[dict[Any, Any]] = {
    **dict(equivalents.SUBSTITUTES),
    **dict(ordering.IMMEDIATE),
    itertools.chain.from_iterable: equivalents.chain_from,
    iterating.stepped: iterating.stepped,
    map: iterating.mapped,
    filter: iterating.filtered,
    any: iterating.any_of,
    all: iterating.all_of,
    sorted: iterating.in_order,
    collections.deque: deques.deque,
    functools.lru_cache: remembering.lru_cache,
    dict.fromkeys: changing.from_keys,
}
"""What is followed by its definition on whatever ways."""
_ALWAYS: Final[dict[Any, Any]] = {
    **DEFINED,
    contextlib.contextmanager: managing.contextmanager,
    contextlib._GeneratorContextManager: managing.managed,
}
for _gone in (itertools.chain, itertools.tee, itertools.groupby, np.ndenumerate):
    del _ALWAYS[_gone]

_SOMETIMES: Final[dict[Any, Choice]] = {
    itertools.chain: _chain,
    zip: _zip,
    enumerate: _of_producers(iterating.enumerated),
    max: _with_options(equivalents.maximum),
    min: _with_options(equivalents.minimum),
    list: _list,
    collections.Counter: _counter,
    collections.OrderedDict: _ordered,
    dict: _dict,
    next: _next,
    np.ix_: _ix,
    heapq.merge: _merge,
    **{function: _of_heap(_ALWAYS.pop(function), code) for function, code in dict(ordering.BY_PLACES).items()},
    np.ndarray.tolist: _to_list,
    np.ndarray.item: _item,
}

_ALIKE: Final = (sum, max, min, math.fsum, math.prod, np.array, np.asarray, np.sum, np.mean, np.stack, np.concatenate)
"""What makes no difference between lists and tuples."""


def require_alike(function: Any, types: list[Abstract]) -> None:
    """Refuse a list in the place of a tuple where that may matter."""
    stands = any(isinstance(kind, Reference) and kind.site.cls is not None for kind in types)
    if stands and not is_alike(function):
        raise Refused("an operation on what only stands for another class")


def is_alike(function: Any) -> bool:
    """Whether a function only asks for the items of what it is given."""
    return any(function is alike for alike in _ALIKE)


_EXHAUSTING: Final = frozenset({sum, math.fsum, math.prod, tuple, np.fromiter, *SETS})
"""What asks for all items at once."""
