"""What generated code calls: one function for each tracked operation, and the helpers of the reverse pass."""

from __future__ import annotations

import operator
from typing import Any, Final

from autodiff_hook.runtime import (
    attributes,
    calls,
    classes,
    comparing,
    constructors,
    cotangents,
    handlers,
    items,
    iteration,
    managers,
    mappings,
    operators,
    sequences,
    sets,
    slots,
    substitutes,
)
from autodiff_hook.runtime import builtins as _builtins  # registers its handlers
from autodiff_hook.runtime.context import Context, Pullback


def _list_append(ctx: Context, w: Any, data: Any, owner: Any, value: Any) -> tuple[Any, Pullback | None]:
    return sequences.list_append(ctx, w, (owner, value), {})


def _list_extend(ctx: Context, w: Any, data: Any, owner: Any, value: Any) -> tuple[Any, Pullback | None]:
    return sequences.list_extend(ctx, w, (owner, value), {})


def _list_to_tuple(ctx: Context, w: Any, data: Any, value: Any) -> tuple[Any, Pullback | None]:
    return sequences.copy_of(ctx, w, (value,), tuple)


def _set_add(ctx: Context, w: Any, data: Any, owner: Any, value: Any) -> tuple[Any, Pullback | None]:
    return sets.set_add(ctx, w, (owner, value), {})


def _set_update(ctx: Context, w: Any, data: Any, owner: Any, value: Any) -> tuple[Any, Pullback | None]:
    return sets.set_update(ctx, w, (owner, value), {})


def _dict_update(ctx: Context, w: Any, data: Any, owner: Any, other: Any) -> tuple[Any, Pullback | None]:
    return mappings.dict_update(ctx, w, (owner, other), {})


def _iter(ctx: Context, w: Any, data: Any, value: Any) -> tuple[Any, Pullback | None]:
    return _builtins.iter_(ctx, w, (value,), {})


TABLE: Final[dict[str, Any]] = {
    "call": calls.call,
    "call_ex": calls.call_ex,
    "call_method": calls.call_method,
    "load_method": calls.load_method,
    "call_loaded": calls.call_loaded,
    "getattr": attributes.getattr_,
    "setattr": attributes.setattr_,
    "delattr": attributes.delattr_,
    "getitem": items.getitem,
    "setitem": items.setitem,
    "delitem": items.delitem,
    "unpack": items.unpack,
    "match_keys": mappings.match_keys,
    "unary": operators.unary,
    "compare": comparing.compare,
    "truth": comparing.truth,
    "not": comparing.not_,
    "in": comparing.contains,
    "not_in": comparing.not_contains,
    "binary": operators.binary,
    "inplace": operators.inplace,
    "make_cell": slots.make_cell,
    "make_function": slots.function_made,
    "match_class": attributes.match_class,
    "cell_get": slots.cell_get,
    "cell_set": slots.cell_set,
    "global": slots.global_loaded,
    "store_global": slots.store_global,
    "build_list": slots.build_list,
    "build_set": slots.build_set,
    "build_slice": slots.build_slice,
    "build_map": slots.build_map,
    "get_iter": iteration.get_iter,
    "iter": _iter,
    "exhausted": iteration.exhausted,
    "list_append": _list_append,
    "list_extend": _list_extend,
    "list_to_tuple": _list_to_tuple,
    "set_add": _set_add,
    "set_update": _set_update,
    "map_add": mappings.map_add,
    "dict_update": _dict_update,
    "dict_merge": mappings.dict_merge,
    "enter": managers.enter_manager,
    "exit_call": managers.exit_call,
    "accumulate": cotangents.accumulate,
    "pull": cotangents.pull,
    "part": cotangents.part,
    "tuple_cotangent": cotangents.tuple_cotangent,
    "either": cotangents.either,
}

assert classes and constructors and substitutes, "importing it registers its handlers"

for _function in (*operators.BINARY.values(), *operators.INPLACE.values(), *operators.UNARY.values(), operator.getitem):
    handlers.handles(_function)(operators.handle_operator(_function))
handlers.handles(getattr)(attributes.handle_getattr)
handlers.handles(setattr)(attributes.handle_setattr)
handlers.handles(delattr)(attributes.handle_delattr)
handlers.handles(object.__getattribute__)(attributes.read_plainly)
