"""What carried programs call: one function for each tracked operation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autodiff_hook.algebras.shadows import Algebra, Result, ended, some
from autodiff_hook.runtime.cotangents import part
from autodiff_hook.runtime.lookup import MISSING
from autodiff_hook.semantics import (
    attribute_stores,
    attributes,
    builtins,
    calls,
    class_bodies,
    classes,
    comparing,
    conversions,
    copying,
    exceptions,
    files,
    generators,
    items,
    iteration,
    managers,
    mappings,
    operators,
    parallel,
    sequences,
    sets,
    slots,
    substitutes,
    telling,
    typed_arrays,
)
from autodiff_hook.semantics.fusing.functions import fused
from autodiff_hook.semantics.matching import matched_names
from autodiff_hook.semantics.meanings import TABLE as TABLE
from autodiff_hook.semantics.meanings import Meaning


def tuple_token(*parts: Any) -> Any:
    """The token of a tuple from those of its elements; None if all are zero."""
    return parts if some(parts) else None


def _operation(meaning: Meaning) -> Callable[..., Result]:
    """What a callable means, as an operation of a program."""

    @functools.wraps(meaning)
    def operation(alg: Algebra, t: Any, data: Any, *operands: Any) -> Result:
        return meaning(alg, t, operands, {})

    return operation


def _match_class(alg: Algebra, t: Any, count: int, subject: Any, cls: Any, names: tuple[str, ...]) -> Result:
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, cls):
        return None, None
    plan = matched_names(count, cls, names)
    try:
        found = [(subject, t[0]) if name is None else attributes.getattr_(alg, t[:1], name, subject) for name in plan]
    except AttributeError:
        return None, None
    return tuple(value for value, _ in found), tuple_token(*(token for _, token in found))


def _match_keys(alg: Algebra, t: Any, data: Any, subject: Any, keys: Any) -> Result:
    found = [calls.call_method(alg, (None,) * 3, ("get", ()), subject, key, MISSING) for key in keys]
    if any(value is MISSING for value, _ in found):
        return None, None
    return tuple(value for value, _ in found), tuple_token(*(token for _, token in found))


TABLE.update(
    {
        "call": calls.call,
        "call_ex": calls.call_ex,
        "call_method": calls.call_method,
        "load_method": calls.load_method,
        "call_loaded": calls.call_loaded,
        "getattr": attributes.getattr_,
        "setattr": attribute_stores.setattr_,
        "delattr": attribute_stores.delattr_,
        "getitem": items.getitem,
        "setitem": items.setitem,
        "delitem": items.delitem,
        "unpack": items.unpack,
        "compare": comparing.compare,
        "truth": comparing.truth,
        "not": comparing.not_,
        "in": comparing.contains,
        "not_in": comparing.not_contains,
        "format": conversions.formatted,
        "build_string": conversions.joined,
        "unary": operators.unary,
        "binary": operators.binary,
        "inplace": operators.inplace,
        "global": slots.global_loaded,
        "import_from": slots.imported,
        "store_global": slots.store_global,
        "name_get": class_bodies.name_get,
        "name_del": class_bodies.name_del,
        "name_or_cell_get": class_bodies.name_or_cell_get,
        "setup_annotations": class_bodies.setup_annotations,
        "make_cell": slots.make_cell,
        "make_function": slots.function_made,
        "match_class": _match_class,
        "match_keys": _match_keys,
        "cell_get": slots.cell_get,
        "cell_set": slots.cell_set,
        "forgotten": ended,
        "build_list": slots.build_list,
        "build_set": slots.build_set,
        "build_slice": slots.build_slice,
        "build_map": slots.build_map,
        "yield_from_iter": generators.yield_from_iter,
        "awaitable": generators.awaitable,
        "get_iter": iteration.get_iter,
        "iter": _operation(builtins.iter_),
        "list_append": _operation(parallel.putting(list, "append")),
        "list_extend": _operation(sequences.list_extend),
        "list_to_tuple": _operation(sequences.tuple_),
        "set_add": _operation(sets.set_add),
        "set_update": _operation(sets.set_update),
        "map_add": mappings.map_add,
        "dict_update": mappings.dict_spread,
        "dict_merge": mappings.dict_merge,
        "exc_match": exceptions.exc_match,
        "handled": exceptions.handled,
        "group_matched": exceptions.group_matched,
        "enter": managers.enter_manager,
        "exit_call": managers.exit_call,
        "fused": fused,
        "part": part,
        "tuple_token": tuple_token,
    }
)


assert classes and copying and exceptions and substitutes, "importing it registers its meanings"
assert files and telling and typed_arrays
