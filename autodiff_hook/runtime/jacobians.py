"""Jacobians leaf by leaf: of rows, which are cotangents of the arguments, or of columns, tangents of the value."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import Unsupported
from autodiff_hook.runtime.mirror import form_of, formed, gradient_of, mirror_of, parts_of
from autodiff_hook.runtime.parted import PARTED
from autodiff_hook.runtime.reachable import operations_in
from autodiff_hook.runtime.sharing import ByCode
from autodiff_hook.runtime.tangents import is_made_of_numbers
from autodiff_hook.runtime.trees import kind_in_tree, refuse_complex, tree_leaves, tree_map
from autodiff_hook.tangent import each


def by_rows(value: Any, back: Callable[[Any], Any], args: Sequence[Any], chosen: Sequence[int]) -> tuple[Any, ...]:
    """The Jacobians of a value with respect to some arguments, by one reverse sweep for each number in it."""
    _require_real(value, args, chosen)
    sweeps: list[Any] = []

    def row(seed: Any) -> Any:
        sweeps.append(back(seed))
        return sweeps[-1][chosen[0]]

    def again(i: int) -> Any:
        found = iter(sweeps)
        return rows_of(value, lambda seed: next(found)[i])

    return (rows_of(value, row), *[again(i) for i in chosen[1:]]) if chosen else ()


def by_columns(value: Any, push: Callable[..., Any], args: Sequence[Any], chosen: Sequence[int]) -> tuple[Any, ...]:
    """The same by one tangent of the value for each number in the arguments."""
    _require_real(value, args, chosen)

    def jacobian(i: int) -> Any:
        def column(seed: Any) -> Any:
            return push(*[seed if k == i else None for k in range(len(args))])

        zero = gradient_of_zero(args[i])
        return _by_value(value, rows_of(zero, column), zero, lambda found: found)

    return tuple([jacobian(i) for i in chosen])


def _require_real(value: Any, args: Sequence[Any], chosen: Sequence[int]) -> None:
    require_numbers(value, "a Jacobian")
    refuse_complex([args[i] for i in chosen])
    refuse_complex(value)


def require_numbers(value: Any, what: str) -> None:
    """Raise for a value that holds objects with attributes of their own."""
    form = form_of(value)
    if form in PARTED:
        raise Unsupported(f"{what} is not defined for a value that is, or holds, an array of {form}: return its parts")
    if form in ("object", "function", "method"):
        raise Unsupported(
            f"{what} is not defined for a value that is, or holds, a {type(value).__qualname__}: return the numbers "
            f"and arrays in it, use has_aux=True for what needs no derivative, or autodiff_hook.jvp and pullback"
        )
    if form in ("tuple", "list", "dict"):
        for _, part in parts_of(value, form):
            require_numbers(part, what)


def gradient_of_zero(argument: Any) -> Any:
    """Zeros in the form of a gradient of an argument."""
    return gradient_of(mirror_of(argument), lambda mirror: (formed(mirror, None), None), {})[0]


def moves_freely(value: Any, met: set[int] | None = None) -> bool:
    """Whether each number that a value holds can move alone: it is in one place, and captured by no function."""
    form, met = form_of(value), set() if met is None else met
    if form not in ("tuple", "list", "dict", "object"):
        return form in ("number", "inert") or form == "array" and value.size > 0
    if form != "tuple":
        if id(value) in met:
            return False
        met.add(id(value))
    return all(moves_freely(part, met) for _, part in parts_of(value, form))


def forward_pays(values: Sequence[Any], value: Any) -> bool:
    """Whether there are fewer numbers in arguments than in a value, and all are in double precision."""
    if not all(map(is_made_of_numbers, (*values, value))):
        return False
    given, made = tree_leaves(list(values)), tree_leaves(value)
    if not all(map(_is_double, (*given, *made))):
        return False
    return sum(map(_size, given)) < sum(map(_size, made))


_BACKWARD: Final = frozenset(op for name, op in dis.opmap.items() if "BACKWARD" in name)
_looping: Final = ByCode[bool](256)


def loops(f: Any) -> bool:
    """Whether a function, or one that it names, loops: its sweeps cost more there than products by directions."""
    if not isinstance(f, FunctionType):
        return False
    code = f.__code__
    if id(code) not in _looping.found:
        named = {x.argval for x in dis.get_instructions(code) if x.opname == "LOAD_GLOBAL"}
        called = [x.__code__ for x in map(f.__globals__.get, named) if isinstance(x, FunctionType)]
        _looping.add(code, not all(_BACKWARD.isdisjoint(operations_in(x)) for x in (code, *called)))
    return _looping.found[id(code)]


def _is_double(leaf: Any) -> bool:
    return leaf.dtype == float if hasattr(leaf, "dtype") else type(leaf) is float


def _size(leaf: Any) -> int:
    return int(getattr(leaf, "size", 1))


def rows_of(value: Any, row: Callable[[Any], Any]) -> Any:
    """What ``row`` gives for the unit vectors of a value, in its form."""
    return _per_leaf(value, lambda seed: seed, row)


def _per_leaf(value: Any, embed: Callable[[Any], Any], rows: Callable[[Any], Any]) -> Any:
    """The Jacobian of a value whose seeds are placed in the whole value by ``embed``."""
    found = each(value, lambda key, part: _per_leaf(part, partial(_placed, embed, value, key), rows))
    if found is not None:
        return found
    kind = kind_in_tree(value)
    if kind == "number":
        return rows(embed(1.0))
    if kind in PARTED:
        raise Unsupported(f"a Hessian by an array of {kind} has no form: pass its parts, or use autodiff_hook.hvp")
    if kind != "array" or value.dtype.kind not in "fiu":
        return None
    return _array_rows(value, embed, rows)


def _placed(embed: Callable[[Any], Any], value: Any, key: Any, seed: Any) -> Any:
    """The seed of a part of a value in one of the whole."""
    if kind_in_tree(value) not in ("tuple", "list"):
        return embed({key: seed})
    return embed([seed if i == key else None for i in range(len(value))])


def _array_rows(value: Any, embed: Callable[[Any], Any], rows: Callable[[Any], Any]) -> Any:
    if not value.size:
        return tree_map(lambda leaf: np.zeros(value.shape + np.shape(leaf)), rows(embed(np.zeros(value.shape))))
    found = []
    for place in itertools.product(*map(range, value.shape)):
        seed = np.zeros(value.shape, value.dtype if value.dtype.kind == "f" else float)
        seed[place] = 1.0
        found.append(rows(embed(seed)))
    return _stack(found, value.shape)


def _stack(rows: list[Any], shape: tuple[int, ...]) -> Any:
    first = rows[0] if rows else None
    found = each(first, lambda key, _: _stack([row[key] for row in rows], shape))
    if found is not None or first is None:
        return found
    return np.array(rows).reshape(shape + np.shape(first))


def _by_value(value: Any, found: Any, zero: Any, pick: Callable[[Any], Any]) -> Any:
    """Columns, which are by argument and then by value, by value and then by argument."""
    columns = each(value, lambda key, part: _by_value(part, found, zero, partial(_item, pick, key)))
    kind = kind_in_tree(value)
    if columns is None and (kind == "number" or kind == "array" and value.dtype.kind in "fiu"):
        return _by_argument(value, found, zero, pick)
    return columns


def _item(pick: Callable[[Any], Any], key: Any, found: Any) -> Any:
    return pick(found)[key]


def _by_argument(value: Any, found: Any, zero: Any, pick: Callable[[Any], Any]) -> Any:
    """The columns of one leaf of the value, with the structure of the argument."""
    columns = each(zero, lambda key, part: _by_argument(value, found[key], part, pick))
    return columns if columns is not None or zero is None else _turned(pick(found), value, zero)


def _turned(columns: Any, value: Any, zero: Any) -> Any:
    """Entries of the shape ``x.shape + y.shape`` as rows have them: ``y.shape + x.shape``, of the type of ``x``."""
    if kind_in_tree(value) == kind_in_tree(zero) == "number":
        return columns if type(columns) is type(zero) else type(zero)(columns)
    entries, axes = np.asarray(columns), np.ndim(zero)
    turned = np.transpose(entries, (*range(axes, entries.ndim), *range(axes)))
    return np.array(turned, np.asarray(zero).dtype)
