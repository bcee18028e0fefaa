"""What each operation means on one way through a program: what containers and objects add to ``resolve.py``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from autodiff_hook.errors import AutodiffError
from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.semantics.operations import BINARY, NAMES
from autodiff_hook.transform.one_way import (
    containers,
    derived,
    derived_containers,
    growing,
    identities,
    inert,
    items,
    iterating,
    object_arrays,
    overrides,
    sequences,
)
from autodiff_hook.transform.one_way.builtins import known_call
from autodiff_hook.transform.one_way.calls import (
    call_ex,
    call_loaded,
    call_method,
    cell_get,
    cell_set,
    check,
    load_method,
    make_cell,
    make_function,
)
from autodiff_hook.transform.one_way.comparing import compare, plainly
from autodiff_hook.transform.one_way.containers import known_value
from autodiff_hook.transform.one_way.managers import enter
from autodiff_hook.transform.one_way.members import (
    delete_attribute,
    get_attribute,
    import_name,
    set_attribute,
    store_global,
)
from autodiff_hook.transform.one_way.methods import METHODS
from autodiff_hook.transform.one_way.operators import is_not_implemented, operated, own_method
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.stores import augmented, note, store
from autodiff_hook.transform.one_way.trail import ENTERED, done
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Container, Error, Fresh, Known, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import example_of, inert_class, known, number_types
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.resolve import evaluate
from autodiff_hook.transform.specialise.spoken import require_native
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.world import World


def path(
    world: World,
    types: dict[Variable, Abstract],
    updated: Callable[..., Any],
    limit: int,
    changed: frozenset[Any],
) -> Path:
    """What follows a program on its way, up to a number of operations.

    ``updated(array, key, value)`` is a store as a value; ``changed``: what native code that calls back changes.
    """
    return Path(world, step, types, known_call, note, updated, limit, changed)


Step = Callable[[Path, Statement], Abstract | None]


def step(inf: Inference, s: Statement) -> Abstract | None:
    """The abstract value of the result of ``s``; None if a call was entered, whose value is the result."""
    assert isinstance(inf, Path)
    if s.op in _OF_NUMBERS and all(number_types(inf.type_of(x)) is not None for x in s.operands):
        if s.op in ("binary", "inplace"):
            _require_divisor(inf, s)
        return evaluate(inf, s)
    require_native(inf, s)
    meaning = STEPS.get(s.op)
    found = overrides.step(inf, s) or derived.step(inf, s) or derived_containers.step(inf, s) or inert.step(inf, s)
    found = found or object_arrays.step(inf, s)
    if found is None and meaning is not None:
        found = meaning(inf, s)
    if found is ENTERED:
        return None
    return found if found is not None else evaluate(inf, s)


_OF_NUMBERS: Final = frozenset({"binary", "inplace", "compare", "unary", "truth", "not"})
"""The operations that mean nothing more here if they are given numbers."""


def _build_tuple(inf: Path, s: Statement) -> Abstract | None:
    inf.tuples[s.made] = list(s.operands)
    return None


def _binary(inf: Path, s: Statement) -> Abstract | None:
    if s.data in ("+", "%") and _is_unread(inf, *s.operands):
        return ANY
    if s.data == "%":
        text, values = (known_value(inf, x) for x in s.operands)
        if type(text) is str and type(values) is dict:
            return alias(inf, s, inf.call(Constant(operator.mod), s.operands))
    found = sequences.joined(inf, s) or (growing.merged if s.op == "binary" else growing.augmented)(inf, s)
    if found is not None:
        return found
    if s.op == "inplace":
        changed = changed_by_method(inf, s)
        if changed is not None:
            return alias(inf, s, changed)
        result = augmented(inf, s)
        if result is not None:
            return alias(inf, s, result)
    by_method = operated(inf, str(s.data), s.operands)
    return None if by_method is None else alias(inf, s, by_method)


def _is_unread(inf: Path, left: Operand, right: Operand) -> bool:
    """Whether a text is made of one that says what objects are, which nothing is asked of."""
    kinds = [inf.type_of(x) for x in (left, right)]
    return ANY in kinds and all(kind is ANY or inert_class(kind) is str for kind in kinds)


def _require_divisor(inf: Path, s: Statement) -> None:
    """Raise what Python raises where one of its numbers is divided by 0."""
    types, divisor = number_types(inf.type_of(s.operands[0])), known(inf.type_of(s.operands[1]))
    if s.data in ("/", "//", "%") and types in _PYTHONS and type(divisor) in (int, float, bool) and divisor == 0:
        done(BINARY[s.data], *(cls(1) for cls in types), divisor)


_PYTHONS: Final = tuple(frozenset({cls}) for cls in (int, float, bool))


def changed_by_method(inf: Path, s: Statement) -> Operand | None:
    """``a += b`` of an object whose class says what that is; None if it does not, or does not know."""
    value = inf.type_of(s.operands[0])
    if not isinstance(value, (Fresh, Outside)):
        return None
    name = f"__i{NAMES[s.data]}__"
    method = look(inf, value.cls, name)
    if method is None:
        return None
    if type(method) is not FunctionType:
        raise Refused(f"{name} of {named(value)}")
    inf.world.attribute(value.cls, name)
    result = inf.call(Constant(method), list(s.operands))
    return None if is_not_implemented(inf, result) else result


def _setitem(inf: Path, s: Statement) -> Abstract:
    return _item_by_method(inf, s, "__setitem__") or store(inf, s) or items.setitem(inf, s)


def _delitem(inf: Path, s: Statement) -> Abstract:
    return _item_by_method(inf, s, "__delitem__") or items.delitem(inf, s)


def _item_by_method(inf: Path, s: Statement, name: str) -> Abstract | None:
    """What the class of an object says of assigning or deleting an item; None if it says nothing in Python."""
    method = own_method(inf, s.operands[0], name)
    if method is None:
        return None
    inf.call(Constant(method), list(s.operands))
    return known_as(inf, s, None)


def _dict_update(inf: Path, s: Statement) -> Abstract | None:
    growing.require_mapping(inf, s.operands[1])
    return _by_method(dict, "update")(inf, s)


def _get_len(inf: Path, s: Statement) -> Abstract | None:
    count = sequences.length(inf, s.operands[0])
    return None if count is None else known_as(inf, s, count)


def _format(inf: Path, s: Statement) -> Abstract | None:
    values = [inf.type_of(x) for x in s.operands]
    if all(isinstance(v, Known) for v in values):
        if s.op == "build_string":
            return known_as(inf, s, "".join(map(example_of, values)))
        convert = _CONVERSIONS.get(s.data or "")
        shown = example_of(values[0]) if convert is None else convert(example_of(values[0]))
        return known_as(inf, s, format(shown, *map(example_of, values[1:])))
    if any(v is ANY or isinstance(v, (Container, Fresh, Outside, Tuple)) for v in values):
        # What it says is not known; it may go into the message of an exception.
        return ANY
    return None


_CONVERSIONS: Final[dict[str, Callable[[Any], str]]] = {"r": repr, "s": str, "a": ascii}


def _by_method(cls: type, name: str) -> Step:
    """A statement that does what a method of containers does."""

    def step(inf: Path, s: Statement) -> Abstract:
        METHODS[cls, name](inf, s.operands[0], s.operands[1:])
        return known_as(inf, s, None)

    return step


def _nothing(inf: Path, s: Statement) -> Abstract:
    return known_as(inf, s, None)


def _exc_match(inf: Path, s: Statement) -> Abstract:
    error, kind = map(inf.type_of, s.operands)
    found = tuple(plainly(inf, s.operands[1])) if s.operands[1] in inf.tuples else example_of(kind)
    classes = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        raise Refused("a handler for what is no exception")
    if issubclass(_class_of(error), AutodiffError):
        raise Refused("a handler for what the plain run does not raise")
    return known_as(inf, s, issubclass(_class_of(error), classes))


def _class_of(error: Abstract) -> type:
    return error.cls if isinstance(error, (Fresh, Error)) else type(example_of(error))


def _exit_call(inf: Path, s: Statement) -> Abstract:
    ending, error = s.operands
    value = inf.type_of(ending)
    if isinstance(value, Known):
        inf.silences.remove(value.value)
        return known_as(inf, s, None)
    cls = _class_of(inf.type_of(error))
    three = [Constant(None)] * 3 if cls is type(None) else [Constant(cls), error, Constant(None)]
    return alias(inf, s, inf.call(ending, list(three)))


STEPS: Final[dict[str, Step]] = {
    "build_tuple": _build_tuple,
    "build_list": containers.build,
    "build_map": containers.build,
    "build_set": containers.build,
    "list_append": _by_method(list, "append"),
    "list_extend": _by_method(list, "extend"),
    "list_to_tuple": containers.list_to_tuple,
    "map_add": _by_method(dict, "__setitem__"),
    "set_add": _by_method(set, "add"),
    "set_update": _by_method(set, "update"),
    "dict_update": _dict_update,
    "dict_merge": growing.dict_merge,
    "getitem": items.getitem,
    "setitem": _setitem,
    "build_slice": sequences.build_slice,
    "delitem": _delitem,
    "unpack": items.unpack,
    "project": items.project,
    "get_iter": iterating.get_iter,
    "get_len": _get_len,
    "is": identities.same,
    "is_not": identities.same,
    "in": sequences.contains,
    "not_in": sequences.contains,
    "truth": sequences.truth,
    "not": sequences.truth,
    "binary": _binary,
    "inplace": _binary,
    "compare": compare,
    "check": check,
    "make_cell": make_cell,
    "cell_set": cell_set,
    "cell_get": cell_get,
    "make_function": make_function,
    "call_ex": call_ex,
    "call_method": call_method,
    "load_method": load_method,
    "call_loaded": call_loaded,
    "getattr": get_attribute,
    "setattr": set_attribute,
    "delattr": delete_attribute,
    "format": _format,
    "build_string": _format,
    "import_name": import_name,
    "store_global": store_global,
    "enter": enter,
    "exit_call": _exit_call,
    "push_exc": _nothing,
    "pop_exc": _nothing,
    "exc_match": _exc_match,
}
