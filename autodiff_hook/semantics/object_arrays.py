"""Arrays of objects: references, whose slots are places in memory; their tokens are in the shadow of the buffer."""

from __future__ import annotations

import functools
import operator
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy._core import _methods

from autodiff_hook.algebras.object_slots import (
    is_objects,
    keep_tokens,
    keep_tokens_at,
    selected_places,
    tokens_at,
    tokens_in,
)
from autodiff_hook.algebras.shadows import Algebra, Result, Token, kind, known, load, lose, note_kept, opened, some
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.losses import plain
from autodiff_hook.runtime.native import DISPATCHED
from autodiff_hook.semantics import equivalents
from autodiff_hook.semantics.equivalents import elementwise
from autodiff_hook.semantics.meanings import Args, Kwargs, apply
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.semantics.operations import BINARY, UFUNCS, UNARY
from autodiff_hook.semantics.records import COPYING, MOVING, asked_dtype


def part_of_objects(alg: Algebra, array: Any, key: Any, value: Any, token: Token) -> Token:
    """The token of ``value``, which is ``array[key]``."""
    if token is not None:
        return lose(alg, value, token)
    root = root_of(array)
    if known(alg, root) is None and not alg.losses and alg.given is None:
        return None
    selected = selected_places(array, key)
    if not isinstance(selected, np.ndarray):
        return load(alg, root, int(selected), value)
    if root_of(value) is not root:
        keep_tokens(alg, value, tokens_at(alg, root, selected))
    return None


def store_objects(alg: Algebra, t: Any, array: Any, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    root, selected = root_of(array), selected_places(array, key)
    several = isinstance(selected, np.ndarray)
    tokens = _tokens_of(alg, value, t[2], selected.ndim) if several else t[2]
    plain(array)[key] = value
    if several:
        keep_tokens_at(alg, root, selected, tokens)
        return
    if tokens is not None or known(alg, root) is not None:
        opened(alg, root)[int(selected)] = tokens
    note_kept(alg, root, int(selected), value)


def _tokens_of(alg: Algebra, value: Any, token: Token, depth: int) -> Any:
    """The tokens of what is stored into several elements, as an array; None if there are none."""
    if is_objects(value):
        return tokens_in(alg, value) if token is None else _single(token)
    if kind(value) == "array" and not value.ndim:
        token = alg.read(value, token)
    if kind(value) not in ("array", "list", "tuple"):
        return None if token is None else _single(token)
    if kind(value) == "array" and value.ndim > depth:
        # NumPy stores an array whole, past axes of one in front.
        value, token = apply(alg, (None, token, None), operator.getitem, (value, (0,) * (value.ndim - depth)), {})
    shape: list[int] = []
    first = value
    while len(shape) < depth and (kind(first) in ("list", "tuple") or kind(first) == "array" and first.ndim):
        shape.append(len(first))
        if not len(first):
            return None
        first = first[0]
    found = np.empty(shape, object)
    for index in np.ndindex(*shape):
        found[index] = _token_at(alg, value, token, index)
    return found if some(found.flat) else None


def _single(token: Token) -> Any:
    found = np.empty((), object)
    found[()] = token
    return found


def _token_at(alg: Algebra, value: Any, token: Token, index: tuple[int, ...]) -> Token:
    """The token of an item of nested sequences."""
    for place in index:
        value, token = apply(alg, (None, token, None), operator.getitem, (value, place), {})
    return token


def makes_objects(function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call of what makes arrays makes one of objects, of what is none."""
    if any(map(is_objects, args)):
        return False
    place = 2 if function is np.full else 1
    dtype = args[place] if len(args) > place else kwargs.get("dtype")
    if dtype is None and function is not np.full:
        return type(args[0]) in (list, tuple) and _natural_kind(args[0]) == "O"
    return dtype is not None and asked_dtype(dtype).kind == "O"


def _natural_kind(items: Any) -> str:
    """The kind of the array that NumPy makes of a list; of none if it makes none."""
    try:
        return np.array(items).dtype.kind
    except ValueError:
        return ""


MAKING: Final = frozenset(map(id, (np.array, np.asarray, np.asanyarray, np.full, np.ndarray.astype)))


def made_objects(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call that does, with tokens."""
    value = function(*args, **kwargs)
    place = 1 if function is np.full else 0
    tokens = _tokens_of(alg, args[place], t[place], value.ndim)
    if tokens is not None and tokens.size == value.size:
        tokens = tokens.reshape(value.shape)
    keep_tokens(alg, value, tokens)
    return value, None


def has_objects(values: Any, depth: int = 4) -> bool:
    """Whether arrays of objects are among the arguments of a call, or in lists there."""
    return any([has_objects(x, depth - 1) if depth and type(x) in (list, tuple) else is_objects(x) for x in values])


def takes_objects(function: Any, args: Args) -> bool:
    """Whether a ufunc is given an object, which is no array, nor makes one."""
    if function not in elementwise.OPERATIONS:
        return False
    return not any(kind(x) == "object" and has_length(x) for x in args)


def has_length(value: Any) -> bool:
    """Whether NumPy takes an object for a sequence: what refuses to tell its length is one element."""
    try:
        return hasattr(type(value), "__len__") and len(value) >= 0
    except TypeError:
        return False


def call_on_objects(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call that is given arrays of objects, with tokens; ``t`` has those of the arguments."""
    asked = args[1] if len(args) > 1 else kwargs.get("dtype")
    if asked is not None and any(function is f for f in _CONVERTING):
        dtype = asked_dtype(asked)
        if dtype.kind != "O":
            array, token = args[0], t[0]
            if not is_objects(array):
                array, token = apply(alg, (None, token, None), np.array, (array, np.dtype(object)), {})
            return apply(alg, (None, token, None), elementwise.as_numbers, (array, dtype), {})
    if any(function is f for f in _JOINING) and is_objects(args[0]):
        items, token = apply(alg, (None, t[0]), list, args[:1], {})
        return apply(alg, (None, token, *t[1:]), function, (items, *args[1:]), kwargs)
    if type(function) is functools.partial or any(function is f for f in (*MOVING, *COPYING, np.ndarray.astype)):
        return _moved(alg, t, function, args, kwargs)
    if function is operator.getitem:
        array, key = args
        return array[key], part_of_objects(alg, array, key, array[key], t[0])
    operation = elementwise.OPERATIONS.get(_UFUNCS.get(function, function))
    if operation is not None and not kwargs:
        return apply(alg, (None, None, *t), elementwise.by_element, (operation, *args), {})
    for known_function, definition in _DEFINED:
        if function is known_function:
            return apply(alg, (None, *t), definition, args, kwargs)
    inner = getattr(function, "_implementation", None) if type(function) is DISPATCHED else None
    if type(inner) is FunctionType and function is not np.partition:
        return apply(alg, (None, *t), inner, args, kwargs)
    return call_opaque(alg, t, function, args, kwargs, _NO_RULE)


def _moved(alg: Algebra, t: Any, function: Any, args: Args, kwargs: Kwargs) -> Result:
    """A call of what leaves elements as they are: it does with their tokens as with them."""
    if has_objects(kwargs.values()):
        return call_opaque(alg, t, function, args, kwargs, _NO_RULE)
    value = function(*args, **kwargs)
    if type(function) is functools.partial and function.args == ("imag",):
        return value, None  # zeros: to NumPy all objects are real numbers
    given = [x for arg in args for x in (arg if type(arg) in (list, tuple) else (arg,)) if is_objects(x)]
    moves = is_objects(value) and all(root_of(value) is not root_of(x) for x in given)
    is_element = any(function is f for f in _PICKING) and any(value is x for x in np.ravel(given[0]))
    if not moves and not is_element and kind(value) in ("array", "list", "tuple"):
        if kind(value) == "array" and not is_objects(value):
            return call_opaque(alg, t, function, args, kwargs, _NO_RULE)
        return value, None
    places = next((found for f, found in _ELEMENTS if function is f), (0,))
    pairs = enumerate(zip(args, t))
    moved = function(*[_in_place(alg, *pair) if i in places else pair[0] for i, pair in pairs], **kwargs)
    if is_element or not moves:
        return value, moved
    keep_tokens(alg, value, moved if some(moved.flat) else None)
    return value, None


def _in_place(alg: Algebra, value: Any, token: Token) -> Any:
    """The tokens of what is moved, in its form."""
    if type(value) in (list, tuple) and has_objects(value):
        tokens = (known(alg, value) if type(value) is list else token) or (None,) * len(value)
        return type(value)([_in_place(alg, *pair) for pair in zip(value, tokens)])
    if not is_objects(value):
        value = apply(alg, (None, token), elementwise.as_objects, (value,), {})[0]
    found = tokens_in(alg, value)
    return np.full(value.shape, None) if found is None else found


_ELEMENTS: Final = ((np.append, (0, 1)), (np.where, (1, 2)), (np.compress, (1,)), (np.extract, (1,)))
"""Where those functions are given elements that are not given them in the first place."""
_NO_RULE: Final = "which has no rule for arrays of objects"
_UFUNCS: Final[dict[Any, Any]] = {
    **{BINARY[op]: ufunc for op, ufunc in UFUNCS.items()},
    **{UNARY["-"]: np.negative, UNARY["+"]: np.positive, abs: np.absolute},
}
_JOINING: Final = (np.concatenate, np.stack, np.vstack, np.hstack)
_PICKING: Final = (np.take, np.ndarray.take)
_CONVERTING: Final = (np.array, np.asarray, np.asanyarray, np.ndarray.astype)
_DEFINED: Final = (
    *[(f, elementwise.product) for f in (np.dot, np.ndarray.dot, np.matmul, operator.matmul)],
    (np.ndarray.tolist, elementwise.listed),
    (np.ndarray.item, elementwise.item_of),
    (np.sort, elementwise.in_order),
    (np.ndarray.trace, elementwise.trace),
    (np.ndarray.cumsum, elementwise.running_sum),
    (np.ndarray.cumprod, elementwise.running_product),
    (np.ndarray.__deepcopy__, elementwise.copied_deeply),
    (sum, equivalents.total),
    (max, equivalents.maximum),
    (min, equivalents.minimum),
    *[(getattr(np.ndarray, name), getattr(_methods, f"_{name}")) for name in ("sum", "prod", "mean", "var", "std")],
    *[(getattr(np.ndarray, name), getattr(_methods, f"_a{name}")) for name in ("min", "max")],
)
