"""Hessians, column by column: products with the unit vectors of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.pushing.forms import tuple_like
from autodiff_hook.runtime.pushing.handlers import bookkeeping
from autodiff_hook.runtime.pushing.primitives import allow
from autodiff_hook.runtime.trees import refuse_complex
from autodiff_hook.tangent import Tangent

Path = tuple[Any, ...]


def hessian_of(function: Any, closed: Callable[..., Any], values: tuple[Any, ...], single: bool) -> Any:
    """The Hessian in the form of gradients, with that form again at each leaf.

    ``closed`` is ``function`` with only the arguments that count, which are ``values``. A ``single``
    one has no tuple around it.
    """
    from autodiff_hook import api

    def f(*primals: Any) -> Any:
        allow(function)
        return closed(*primals)

    check_real(values)
    form = only(api.gradient(f, *values), single)
    columns: dict[Path, list[Any]] = {}
    for path in leaf_paths(form, ()):
        columns[path] = [
            only(api.hvp(f, values, (unit,) if single else unit), single) for unit in directions(form, path)
        ]

    def row(leaf: Any, path: Path) -> Any:
        def block(other: Any, place: Path) -> Any:
            return joined([at(column, path) for column in columns[place]], leaf, other)

        return mapped(form, (), block)

    return mapped(form, (), row)


def only(found: tuple[Any, ...], single: bool) -> Any:
    """The first of one."""
    return found[0] if single else found


@bookkeeping
def check_real(values: tuple[Any, ...]) -> None:
    """Raise for complex arguments."""
    refuse_complex(values)


@bookkeeping
def form_of(tree: Any) -> str:
    """What a node of a tree of gradients is."""
    return "fields" if isinstance(tree, Tangent) else kind_of(type(tree))


@bookkeeping
def leaf_paths(tree: Any, path: Path) -> list[Path]:
    """The paths to the numbers and arrays of a tree of gradients."""
    form = form_of(tree)
    if form in ("number", "array"):
        return [path]
    if form in ("tuple", "list"):
        return [found for i, part in enumerate(tree) for found in leaf_paths(part, (*path, i))]
    if form in ("dict", "fields"):
        return [found for key in tree for found in leaf_paths(tree[key], (*path, key))]
    return []


@bookkeeping
def directions(form: Any, path: Path) -> list[Any]:
    """The unit vectors of one leaf, as tangents of the whole."""
    leaf = at(form, path)
    if form_of(leaf) == "number":
        return [_embedded(form, path, 1.0)]
    import numpy as np

    found = []
    for place in np.ndindex(leaf.shape):
        seed = np.zeros(leaf.shape, leaf.dtype)
        seed[place] = 1.0
        found.append(_embedded(form, path, seed))
    return found


def _embedded(form: Any, path: Path, seed: Any) -> Any:
    if not path:
        return seed
    key, *rest = path
    inner = _embedded(form[key], tuple(rest), seed)
    if isinstance(form, (tuple, list)):
        return tuple(inner if i == key else None for i in range(len(form)))
    return {key: inner}


def at(tree: Any, path: Path) -> Any:
    """The leaf at the end of ``path``."""
    for key in path:
        tree = tree[key]
    return tree


def mapped(tree: Any, path: Path, visit: Callable[[Any, Path], Any]) -> Any:
    """``tree`` with what ``visit`` makes of its numbers and arrays, given with their paths."""
    form = form_of(tree)
    if form in ("number", "array"):
        return visit(tree, path)
    if form == "tuple":
        return tuple_like(tree, tuple([mapped(part, (*path, i), visit) for i, part in enumerate(tree)]))
    if form == "list":
        return [mapped(part, (*path, i), visit) for i, part in enumerate(tree)]
    if form == "dict":
        return {key: mapped(tree[key], (*path, key), visit) for key in tree}
    if form == "fields":
        return Tangent(tree._of, {key: mapped(tree[key], (*path, key), visit) for key in tree})
    return None


def joined(columns: list[Any], row: Any, column: Any) -> Any:
    """The block of the Hessian that belongs to two leaves."""
    import numpy as np

    shape = np.shape(row) + np.shape(column)
    if shape == ():
        return columns[0]
    return np.stack(columns, axis=-1).reshape(shape) if columns else np.zeros(shape)
