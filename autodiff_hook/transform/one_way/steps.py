"""What each operation means on one way through a program: what containers and objects add to ``resolve.py``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from types import FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.errors import AutodiffError
from autodiff_hook.ir.types import UNBOUND, Constant, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import has_in_type, is_plainly
from autodiff_hook.semantics.equivalents.changing import sort
from autodiff_hook.semantics.operations import COMPARE, NAMES
from autodiff_hook.transform.one_way import (
    containers,
    derived,
    derived_tuples,
    growing,
    inert,
    iterating,
    sequences,
    signatures,
)
from autodiff_hook.transform.one_way.attributes import (
    described,
    field_deleted,
    field_read,
    field_written,
    looked_up,
    of_class,
)
from autodiff_hook.transform.one_way.builtins import known_call
from autodiff_hook.transform.one_way.containers import (
    DICTS,
    UNKNOWN,
    changeable,
    held_as,
    is_mapping,
    known_value,
    pairs,
    parts,
)
from autodiff_hook.transform.one_way.iterations import resumed
from autodiff_hook.transform.one_way.managers import enter
from autodiff_hook.transform.one_way.mappings import LAST
from autodiff_hook.transform.one_way.methods import METHODS
from autodiff_hook.transform.one_way.operators import compared, is_not_implemented, is_object, operated
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.stores import assign_shape, augmented, note, store
from autodiff_hook.transform.one_way.trail import ENTERED, Raised
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Container,
    Error,
    Fresh,
    Instance,
    Known,
    List,
    Lookup,
    Number,
    Outside,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import example_of, number_types
from autodiff_hook.transform.specialise.objects import class_of, look, look_after, receiver_class
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.resolve import evaluate
from autodiff_hook.transform.specialise.results import tried
from autodiff_hook.transform.specialise.spoken import require_native
from autodiff_hook.transform.specialise.wording import named
from autodiff_hook.transform.specialise.world import World


def path(
    world: World,
    types: dict[Variable, Abstract],
    updated: Callable[..., Any],
    limit: int,
    changed: frozenset[Any] = frozenset(),
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
        return evaluate(inf, s)
    require_native(inf, s)
    meaning = STEPS.get(s.op)
    found = derived.step(inf, s) or derived_tuples.step(inf, s) or inert.step(inf, s)
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
    found = sequences.joined(inf, s)
    if found is not None:
        return found
    if s.op == "inplace":
        if isinstance(inf.type_of(s.operands[0]), Container):
            raise Refused("a container is changed in place")
        changed = changed_by_method(inf, s)
        if changed is not None:
            return alias(inf, s, changed)
        result = augmented(inf, s)
        if result is not None:
            return alias(inf, s, result)
    by_method = operated(inf, str(s.data), s.operands)
    return None if by_method is None else alias(inf, s, by_method)


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
    return _item_by_method(inf, s, "__setitem__") or store(inf, s) or containers.setitem(inf, s)


def _delitem(inf: Path, s: Statement) -> Abstract:
    return _item_by_method(inf, s, "__delitem__") or containers.delitem(inf, s)


def _item_by_method(inf: Path, s: Statement, name: str) -> Abstract | None:
    """What the class of an object says of assigning or deleting an item; None if it says nothing in Python."""
    value = inf.type_of(s.operands[0])
    method = look(inf, value.cls, name) if is_object(value) else None
    if type(method) is not FunctionType:
        return None
    inf.call(Constant(method), list(s.operands))
    return known_as(inf, s, None)


def _compare(inf: Path, s: Statement) -> Abstract | None:
    values = [inf.type_of(x) for x in s.operands]
    if any(isinstance(v, Container) or x in inf.tuples for v, x in zip(values, s.operands)):
        if all(isinstance(v, Container) and v.cls in (set, frozenset) for v in values):
            both = [known_value(inf, x) for x in s.operands]
            if any(x is UNKNOWN for x in both):
                raise Refused("a comparison of sets of what is not known")
            return known_as(inf, s, COMPARE[s.data](*both))
        kinds = [v.cls for v in values if isinstance(v, Container)]
        if s.data not in ("==", "!=") or not set(kinds) <= {list, dict}:
            raise Refused("a comparison of containers")
        return known_as(inf, s, _are_equal(inf, *s.operands) == (s.data == "=="))
    by_method = compared(inf, str(s.data), s.operands)
    s.operands = [*map(inf.plain, s.operands)]
    return None if by_method is None else alias(inf, s, by_method)


def _are_equal(inf: Path, a: Operand, b: Operand) -> bool:
    """Whether two values are equal, in whatever containers: each comparison of numbers decides about the way."""
    kinds = [_sequence_of(inf, x) for x in (a, b)]
    if kinds[0] is kinds[1] is not None:
        first, second = parts(inf, a), parts(inf, b)
        return len(first) == len(second) and all(_are_equal(inf, x, y) for x, y in zip(first, second))
    if not all(_is_fraction(inf.type_of(x)) for x in (a, b)):
        return bool(_plainly(inf, a) == _plainly(inf, b))
    equal = bool(inf.pin(inf.perform("truth", [inf.perform("compare", [a, b], "==")])))
    if not equal and inf.final(a) is inf.final(b):
        raise Refused("nan in a container that is compared")
    return equal


def _sequence_of(inf: Path, operand: Operand) -> type | None:
    value = inf.type_of(operand)
    if isinstance(value, Container) and value.cls is list:
        return list
    if operand in inf.tuples or isinstance(value, Tuple) and value.cls is tuple:
        return tuple
    return tuple if isinstance(value, Known) and type(value.value) is tuple else None


def _is_fraction(value: Abstract) -> bool:
    """Whether a value is a number that may be no whole one."""
    types = number_types(value)
    return types is not None and not types <= {int, bool}


def _plainly(inf: Path, operand: Operand) -> Any:
    """A known value, in whatever containers."""
    value = inf.type_of(operand)
    if isinstance(value, Container) and value.cls in DICTS:
        return {k: _plainly(inf, v) for k, v in inf.content(operand).items()}
    if isinstance(value, Container):
        return [_plainly(inf, x) for x in parts(inf, operand)]
    if operand in inf.tuples or isinstance(value, Tuple) and value.cls is tuple:
        return tuple([_plainly(inf, x) for x in parts(inf, operand)])
    return inf.pin(operand)


def _make_cell(inf: Path, s: Statement) -> Abstract:
    value = s.operands[0]
    if not (isinstance(value, Constant) and value.value is UNBOUND):
        inf.cells[s.made] = value
    return Cell(None)


def _cell_set(inf: Path, s: Statement) -> Abstract:
    cell, value = s.operands
    if not isinstance(inf.type_of(cell), Cell):
        raise Refused("a captured variable from outside is assigned")
    inf.cells[cell] = value
    return known_as(inf, s, None)


def _cell_get(inf: Path, s: Statement) -> Abstract:
    found = inf.cells.get(s.operands[0])
    if found is None:
        raise Raised(NameError)
    return alias(inf, s, found)


def _make_function(inf: Path, s: Statement) -> Abstract:
    defaults, keyword, annotations, closure, later = s.operands
    cells = parts(inf, closure) if not _is_none(inf, closure) else []
    values = parts(inf, defaults) if not _is_none(inf, defaults) else []
    named = pairs(inf, keyword) if not _is_none(inf, keyword) else None
    described = not all([_is_none(inf, x) for x in (defaults, keyword, annotations, later)])
    return Closure(s.data, inf.frames[-1], tuple(cells), tuple(values), named, described)


def _is_none(inf: Path, operand: Operand) -> bool:
    value = inf.type_of(operand)
    return isinstance(value, Known) and value.value is None


def _call_ex(inf: Path, s: Statement) -> Abstract:
    function, args, kwargs = s.operands
    named = {} if _is_none(inf, kwargs) else pairs(inf, kwargs)
    return alias(inf, s, inf.call(function, parts(inf, args), named))


def _got(inf: Path, s: Statement, owner: Operand, value: Outside, args: list[Operand]) -> Abstract:
    """``d.get(key)`` of a dict from outside: nothing else in it matters."""
    if inf.world.holds(inf.final(owner), value.example, inf.pin(args[0])):
        return alias(inf, s, inf.perform("getitem", [owner, args[0]]))
    return alias(inf, s, args[1] if len(args) > 1 else Constant(None))


def _call_method(inf: Path, s: Statement) -> Abstract | None:
    name, names = s.data
    owner, *args = s.operands
    if owner in inf.iterators and (name, len(args)) in (("send", 1), ("__next__", 0)):
        return resumed(inf, s)
    value = inf.type_of(owner)
    maker = class_of(inf.type_of(value.receiver)) if isinstance(value, Super) and name == "__init__" else None
    if isinstance(value, Super) and maker is not None:
        found = look_after(inf, maker, value.after, name)
        if isinstance(found, WrapperDescriptorType) and issubclass(found.__objclass__, BaseException):
            return known_as(inf, s, None)
    if name == "get" and args and not names and isinstance(value, Outside) and is_mapping(inf, value):
        if owner not in inf.aliased:
            return _got(inf, s, owner, value, args)
    cls = list if isinstance(value, List) else value.cls if isinstance(value, (Tuple, Outside)) else None
    if cls in (list, dict, set, frozenset) and hasattr(cls, name):
        owner = changeable(inf, owner)
    value = inf.type_of(owner)
    if isinstance(value, Container):
        count = len(args) - len(names)
        if (value.cls, name) == (list, "sort"):
            return alias(inf, s, inf.call(Constant(sort), [owner, *args[:count]], dict(zip(names, args[count:]))))
        method = METHODS.get((value.cls, name))
        if method is None or names and name != "update" and names != LAST:
            raise Refused(f"{value.cls.__name__}.{name}")
        result = method(inf, owner, args if names == LAST else args[:count])
        if names and names != LAST:
            method(inf, owner, [inf.made(dict, dict(zip(names, args[count:])))])
        return alias(inf, s, result)
    if isinstance(value, (Known, Instance)) and type(example_of(value)) is str and not names:
        return _of_text(inf, s, owner, name, args)
    matched = inert.method(inf, s, owner, name, args, names)
    if matched is not None:
        return matched
    if isinstance(value, (Fresh, Outside)):
        found = field_read(inf, owner, value, name) or looked_up(inf, owner, value, name)
        if name == "__class__":
            found = Constant(value.cls)
        elif found is None:
            found = described(inf, owner, value, name)
        if found is not None:
            count = len(args) - len(names)
            return alias(inf, s, inf.call(found, args[:count], dict(zip(names, args[count:]))))
    return None


def _load_method(inf: Path, s: Statement) -> Abstract | None:
    """What an object, a class or a module has is read here; of other values nothing can be replaced before the call."""
    value = inf.type_of(s.operands[0])
    if isinstance(value, Outside) and (value.cls in (list, set, frozenset) or is_mapping(inf, value)):
        return Lookup(str(s.data), s.operands[0])
    if isinstance(value, (Fresh, Outside)) or isinstance(value, Known) and isinstance(value.value, (ModuleType, type)):
        return _getattr(inf, s)
    return Lookup(str(s.data), s.operands[0])


def _call_loaded(inf: Path, s: Statement) -> Abstract:
    method, *args = s.operands
    value = inf.type_of(method)
    if isinstance(value, Lookup):
        return alias(inf, s, inf.perform("call_method", [value.receiver, *args], (value.name, s.data or ())))
    return alias(inf, s, inf.perform("call", [method, *args], s.data))


def _of_text(inf: Path, s: Statement, owner: Operand, name: str, args: list[Operand]) -> Abstract | None:
    """A method of a string."""
    if name == "join" and len(args) == 1:
        return known_as(inf, s, inf.pin(owner).join(_plainly(inf, x) for x in parts(inf, args[0])))
    if not all(isinstance(inf.type_of(x), Known) for x in (owner, *args)):
        return None
    text, *given = map(inf.pin, (owner, *args))
    return held_as(inf, s, tried(getattr(text, name), given, {}))


def _getattr(inf: Path, s: Statement) -> Abstract | None:
    owner, name = s.operands[0], str(s.data)
    value = inf.type_of(owner)
    if name == "__class__" and len(classes_of(value)) == 1:
        return known_as(inf, s, classes_of(value)[0])
    if isinstance(value, Known) and isinstance(value.value, ModuleType):
        stored = inf.stored_globals.get((id(vars(value.value)), name))
        return None if stored is None else alias(inf, s, stored[1])
    assigned = of_class(inf, value.value, name) if isinstance(value, Known) and isinstance(value.value, type) else None
    if assigned is not None:
        return alias(inf, s, assigned)
    if isinstance(value, (Fresh, Outside)):
        found = field_read(inf, owner, value, name) or looked_up(inf, owner, value, name)
        if found is None:
            found = described(inf, owner, value, name)
        return None if found is None else alias(inf, s, found)
    if isinstance(value, Container):
        method = getattr(value.cls, name, None)
        if method is None:
            raise Raised(AttributeError)
        return Bound(method, owner)
    if isinstance(value, Super):
        after = look_after(inf, receiver_class(inf.type_of(value.receiver)), value.after, name)
        if is_plainly(after, property) and type(after.fget) is FunctionType:
            return alias(inf, s, inf.call(Constant(after.fget), [value.receiver]))
        if after is None:
            raise Raised(AttributeError)
        return Bound(after, value.receiver) if type(after) is FunctionType else None
    if isinstance(value, Closure) and name in ("__name__", "__qualname__"):
        return known_as(inf, s, value.code.co_name if name == "__name__" else value.code.co_qualname)
    if isinstance(value, Known) and type(value.value) is str:
        return Bound(getattr(str, name), owner)
    if name == "flat" and isinstance(value, Array) and not value.scalar:
        return Lookup(name, owner)
    if isinstance(value, (Number, Array, Tuple)) or isinstance(value, Instance) and _has_no_attributes(value.cls):
        methods = [getattr(cls, name, None) for cls in classes_of(value)]
        if not any(hasattr(cls, name) for cls in classes_of(value)):
            raise Raised(AttributeError)
        if len(methods) == 1 and isinstance(methods[0], MethodDescriptorType):
            return Bound(methods[0], owner)
    answer = signatures.read(inf, s, value.value, name) if isinstance(value, Known) else None
    if answer is not None:
        return answer
    if isinstance(value, Known) and not hasattr(value.value, name) and not inf.world.answers(value.value, name):
        raise Raised(AttributeError)
    if isinstance(value, Known) and type(value.value) in (np.finfo, np.iinfo):
        return held_as(inf, s, getattr(value.value, name))
    return None


def _has_no_attributes(cls: type) -> bool:
    """Whether objects of a class have nothing that the class has not."""
    return not cls.__dictoffset__ and not has_in_type(cls, "__getattr__")


def _setattr(inf: Path, s: Statement) -> Abstract | None:
    owner, value = s.operands
    if s.data == "shape" and isinstance(inf.type_of(owner), Array):
        assign_shape(inf, owner, value)
        return known_as(inf, s, None)
    found = field_written(inf, owner, inf.type_of(owner), str(s.data), value)
    return alias(inf, s, found)


def _delattr(inf: Path, s: Statement) -> Abstract:
    field_deleted(inf, inf.type_of(s.operands[0]), str(s.data))
    return known_as(inf, s, None)


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
    if any(isinstance(v, (Container, Fresh, Outside, Tuple)) for v in values):
        # What it says is not known; it may go into the message of an exception.
        return ANY
    return None


_CONVERSIONS: Final[dict[str, Callable[[Any], str]]] = {"r": repr, "s": str, "a": ascii}


def _import_name(inf: Path, s: Statement) -> Abstract | None:
    level, names = map(inf.type_of, s.operands)
    if not isinstance(level, Known) or not isinstance(names, Known):
        return None
    if not level.value:
        if inf.world.not_installed(str(s.data)):
            raise Raised(ModuleNotFoundError)
        return None
    package = inf.frames[-1].get("__package__")
    name = importlib.util.resolve_name("." * level.value + str(s.data), package)
    return known_as(inf, s, inf.world.imported(name))


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
    found = tuple(_plainly(inf, s.operands[1])) if s.operands[1] in inf.tuples else example_of(kind)
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


def _store_global(inf: Path, s: Statement) -> Abstract:
    inf.stored_globals[id(inf.frames[-1]), str(s.data)] = (inf.frames[-1], s.operands[0])
    return known_as(inf, s, None)


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
    "dict_update": _by_method(dict, "update"),
    "dict_merge": growing.dict_merge,
    "getitem": containers.getitem,
    "setitem": _setitem,
    "build_slice": sequences.build_slice,
    "delitem": _delitem,
    "unpack": containers.unpack,
    "project": containers.project,
    "get_iter": iterating.get_iter,
    "get_len": _get_len,
    "in": sequences.contains,
    "not_in": sequences.contains,
    "truth": sequences.truth,
    "not": sequences.truth,
    "binary": _binary,
    "inplace": _binary,
    "compare": _compare,
    "make_cell": _make_cell,
    "cell_set": _cell_set,
    "cell_get": _cell_get,
    "make_function": _make_function,
    "call_ex": _call_ex,
    "call_method": _call_method,
    "load_method": _load_method,
    "call_loaded": _call_loaded,
    "getattr": _getattr,
    "setattr": _setattr,
    "delattr": _delattr,
    "format": _format,
    "build_string": _format,
    "import_name": _import_name,
    "store_global": _store_global,
    "enter": enter,
    "exit_call": _exit_call,
    "push_exc": _nothing,
    "pop_exc": _nothing,
    "exc_match": _exc_match,
}
