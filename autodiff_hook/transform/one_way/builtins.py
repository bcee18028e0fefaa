"""Builtin functions on one way through a program, where the items of everything are known."""

from __future__ import annotations

import copy
import functools
import inspect
import io
import operator
import os
import sys
from collections import namedtuple
from fractions import Fraction
from types import FunctionType, MethodDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime import overlaps
from autodiff_hook.runtime.kinds import DICTS, kind_of
from autodiff_hook.runtime.lookup import has_in_type, require_no_more
from autodiff_hook.semantics.equivalents.changing import require_short
from autodiff_hook.semantics.equivalents.iterating import order_of
from autodiff_hook.semantics.equivalents.remembering import require_constant
from autodiff_hook.transform.one_way import (
    containers,
    derived,
    derived_containers,
    files,
    growing,
    inert,
    items,
    looked_up,
    mappings,
    namespaces,
    object_array_calls,
    out_of_scope,
    overrides,
    sequences,
)
from autodiff_hook.transform.one_way.attributes import plainly_written
from autodiff_hook.transform.one_way.caching import cached_call, constant_key
from autodiff_hook.transform.one_way.classes import (
    bases_in_order,
    construct,
    construct_plainly,
    derived_classes,
    instance,
    number,
)
from autodiff_hook.transform.one_way.containers import UNKNOWN, held_as, known_value, pairs, parts
from autodiff_hook.transform.one_way.copying import copied_alone, copied_deeply
from autodiff_hook.transform.one_way.held import held_by
from autodiff_hook.transform.one_way.identities import identity
from autodiff_hook.transform.one_way.iterations import (
    EQUIVALENTS,
    ITERATIONS,
    OPTIONS,
    Builtin,
    all_classes,
    begun_arguments,
    zipped,
)
from autodiff_hook.transform.one_way.keys import hashed
from autodiff_hook.transform.one_way.managers import managed_call
from autodiff_hook.transform.one_way.methods import METHODS
from autodiff_hook.transform.one_way.operators import by_name, converted, is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.signatures import asked, wrapped
from autodiff_hook.transform.one_way.stores import apart, require_apart, stored_result
from autodiff_hook.transform.one_way.trail import Raised, done
from autodiff_hook.transform.specialise import named_tuples
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Closure,
    Container,
    Fresh,
    Iterator,
    Known,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.calling import STEPS
from autodiff_hook.transform.specialise.certain import lacks
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.objects import CONVERSIONS, is_called_plainly, look
from autodiff_hook.transform.specialise.plans import alias, is_hashable, known_as
from autodiff_hook.transform.specialise.questions import QUESTIONS
from autodiff_hook.transform.specialise.stopping import stopped


def known_call(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """The result of calling what is known; None if nothing special is known of it."""
    found = overrides.called(inf, s, function, args, kwargs) or derived.called(inf, s, function, args, kwargs)
    found = found or object_array_calls.called(inf, s, function, args, kwargs)
    if found is not None:
        return found
    meaning = equivalent = None
    if is_hashable(function):
        meaning = BUILTINS.get(function)
        equivalent = EQUIVALENTS.get(function) or (OPTIONS.get(function) if kwargs else None)
    if function is sorted and args and growing.length_of(inf, args[0]) is not None:
        args = [inf.made(list, growing.taken_in_turn(inf, args[0])), *args[1:]]
    if any(function is x for x in _ORDERED) and len(args) == 1 and not kwargs:
        listed = containers.in_any_order(inf, args[0])
        if listed is not args[0]:
            return alias(inf, s, inf.call(Constant(function), [listed]))
    if equivalent is not None:
        args = begun_arguments(inf, function, args)
        return alias(inf, s, inf.call(Constant(equivalent), args, kwargs))
    if is_hashable(function) and function in DICTS:
        return mappings.make(inf, function, args, kwargs)
    if any(function is x for x in (enumerate, sum)) and set(kwargs) == {"start"}:
        args, kwargs = [*args, kwargs["start"]], {}
    if function is zip and set(kwargs) == {"strict"} and inf.pin(kwargs["strict"]):
        return zipped(inf, s, args, strict=True)
    require_apart(inf, function, args)
    stored = stored_result(inf, s, function, args, kwargs) if "out" in kwargs else None
    if stored is not None:
        return stored
    if meaning is not None and not kwargs:
        return meaning(inf, s, args)
    if is_hashable(function) and function in CONVERSIONS and args:
        found = converted(inf, s, function, args, kwargs)
        if found is not None:
            return found
    named = by_name(inf, function, args) if not kwargs else None
    if named is not None:
        return alias(inf, s, named)
    if derived_containers.filled(inf, function, args, kwargs):
        return known_as(inf, s, None)
    home: Any = getattr(function, "__objclass__", None)
    within = held_by(inf, args[0]) if args and home in (list, dict) else None
    if within is not None:
        if function is dict.__getitem__ and len(args) == 2:
            return alias(inf, s, derived_containers.item(inf, args[0], within, args[1]))
        args = [within, *args[1:]]
    if home in (list, dict, set, frozenset) and args and _is_changeable(inf.type_of(args[0])):
        method = METHODS.get((home, function.__name__))
        if method is not None and not kwargs:
            return alias(inf, s, method(inf, containers.changeable(inf, args[0]), args[1:]))
        if type(function) is MethodDescriptorType:
            given = function.__name__, tuple(kwargs)
            return alias(inf, s, inf.perform("call_method", [*args, *kwargs.values()], given))
    if _folds(function) and not kwargs:
        values = [known_value(inf, x) for x in args]
        if all(v is not UNKNOWN for v in values):
            try:
                return held_as(inf, s, function(*values))
            except Exception as error:
                raise Raised(error, Constant(error)) from None
    for special in _SPECIAL:
        found = special(inf, s, function, args, kwargs)
        if found is not None:
            return found
    if function in (np.asarray, np.asanyarray, np.array) and _is_itself(inf, function, args, kwargs):
        return alias(inf, s, args[0])
    if function in (float, int) and len(args) == 1:
        _require_single(inf, args[0])
    if issubclass(type(function), type) and function is not functools.partial and function not in STEPS:
        return construct(inf, s, function, args, kwargs) if is_called_plainly(inf, function) else None
    return None


def _is_changeable(value: Abstract) -> bool:
    return isinstance(value, Container) or isinstance(value, Outside) and value.cls in (list, dict)


def _folds(function: Any) -> bool:
    """Whether a function of known values may be called now: its result depends on nothing else, and cannot change."""
    owner = getattr(function, "__objclass__", None)
    module = getattr(function, "__module__", None)
    of_constant = type(getattr(function, "__self__", None)) in _CONSTANT
    return of_constant or owner in _CONSTANT or function in _FOLDED or module in ("math", "_operator")


_CONSTANT: Final = (str, tuple, frozenset, int, float)
_FOLDED: Final = (
    *(str, repr, int, float, bool, abs, round, min, max, sum, ord, chr, complex, divmod, kind_of),
    *(np.finfo, np.iinfo, np.lib.array_utils.normalize_axis_index, os.fspath, sys.intern, io.text_encoding, Fraction),
    *(np.mintypecode, np.promote_types, np.issubdtype, np.can_cast, type(None)),
)


_SPECIAL: Final = (
    *(managed_call, asked, wrapped, bases_in_order, derived_classes, construct_plainly),
    *(inert.flags_set, inert.called, cached_call, files.read, out_of_scope.asked, out_of_scope.computed),
)


def _is_itself(inf: Path, function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether ``asarray``, or ``array`` without a copy, returns what it is given."""
    value = inf.type_of(args[0]) if args else None
    if not isinstance(value, Array) or value.scalar or len(args) > 2 or not set(kwargs) <= _OF_COPIES:
        return False
    copied = known_value(inf, kwargs["copy"]) if "copy" in kwargs else function is np.array
    if not any(copied is mode for mode in _WITHOUT_COPY):
        return False
    given = [known_value(inf, x) for x in (*args[1:], *(v for k, v in kwargs.items() if k == "dtype"))]
    same = all(x is None or x is not UNKNOWN and _same_dtype(x, value.dtype) for x in given)
    return same and _lies(inf, args[0], known_value(inf, kwargs["order"]) if "order" in kwargs else None)


def _lies(inf: Path, array: Operand, order: Any) -> bool:
    """Whether the items of an array lie in this order, which decides about the way."""
    if order in ("C", "F"):
        return bool(
            inf.pin(inf.perform("getattr", [inf.perform("getattr", [array], "flags")], f"{order.lower()}_contiguous"))
        )
    return order in (None, "A", "K")


_OF_COPIES: Final = frozenset({"dtype", "copy", "order", "subok"})
_WITHOUT_COPY: Final = (None, False, np._CopyMode.IF_NEEDED, np._CopyMode.NEVER)


def _same_dtype(asked: Any, dtype: Any) -> bool:
    try:
        return bool(np.dtype(asked) == dtype)
    except TypeError:
        return False


def _require_single(inf: Path, operand: Operand) -> None:
    """Raise what ``float`` raises for what is not one number."""
    value = inf.type_of(operand)
    if isinstance(value, Array) and value.ndim and not value.scalar and value.example.size != 1:
        size = inf.emit("getattr", operand, abstract=Number(frozenset({int}), example=value.example.size), data="size")
        inf.pin(size)
        raise Raised(TypeError("only 0-dimensional arrays can be converted to Python scalars"))
    if isinstance(value, (Container, Tuple)):
        raise Raised(TypeError(f"float() argument must be a string or a real number, not '{value.cls.__name__}'"))


_ORDERED: Final = (sorted, min, max)


def _new(inf: Path, s: Statement, args: Args) -> Abstract | None:
    cls = inf.type_of(args[0]) if args else None
    if not isinstance(cls, Known) or not isinstance(cls.value, type):
        return None
    done(require_no_more, "__new__", cls.value, args[1:])
    return alias(inf, s, instance(inf, cls.value))


def _mark(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``object()``: nothing but itself."""
    return None if args else alias(inf, s, instance(inf, object))


def _namespace(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``array.__array_namespace__()``."""
    kind = inf.type_of(args[0])
    return known_as(inf, s, np) if isinstance(kind, Array) and len(args) == 1 else None


def _new_number(inf: Path, s: Statement, args: Args) -> Abstract | None:
    cls = inf.type_of(args[0])
    return alias(inf, s, number(inf, cls.value, args[1:])) if isinstance(cls, Known) else None


def _len(inf: Path, s: Statement, args: Args) -> Abstract | None:
    count = sequences.length(inf, args[0])
    if count is not None:
        return known_as(inf, s, count)
    sequences.require_length(inf, args[0])
    return None


def _nothing(inf: Path, s: Statement, args: Args) -> Abstract:
    """Lists are known item by item, so they may be long."""
    return known_as(inf, s, None)


def _list(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return containers.new(inf, list, growing.taken_in_turn(inf, args[0]) if args else [])


def _tuple(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return alias(inf, s, inf.perform("build_tuple", growing.taken_in_turn(inf, args[0]) if args else []))


def _set_of(cls: type) -> Builtin:
    def meaning(inf: Path, s: Statement, args: Args) -> Abstract | None:
        held = containers.taken_at_once(inf, args[0]) if args else ()
        return containers.new(
            inf, cls, cls(containers.items_of_set(inf, parts(inf, args[0])) if held is None else held)
        )

    return meaning


def _slice(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return known_as(inf, s, slice(*map(inf.pin, args)))


def _indices(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return known_as(inf, s, items.place(inf, args[0], ()).indices(*map(inf.pin, args[1:])))


def _getattr(inf: Path, s: Statement, args: Args) -> Abstract | None:
    known = inf.type_of(args[0])
    if number_types(inf.type_of(args[1])) is not None:
        raise Raised(TypeError("attribute name must be string"))
    if len(args) == 3 and isinstance(known, Known) and not inf.world.answers(known.value, inf.pin(args[1])):
        return alias(inf, s, args[2])
    if len(args) == 3 and isinstance(known, (Number, Array)):
        if not any(has_in_type(cls, inf.pin(args[1])) for cls in classes_of(known)):
            return alias(inf, s, args[2])
    try:
        return alias(inf, s, inf.perform("getattr", args[:1], inf.pin(args[1])))
    except Raised as raised:
        if len(args) < 3 or not issubclass(raised.cls, AttributeError):
            raise
        return alias(inf, s, args[2])


def _hasattr(inf: Path, s: Statement, args: Args) -> Abstract | None:
    name, value = inf.pin(args[1]), inf.type_of(args[0])
    if isinstance(value, (Fresh, Outside)) or isinstance(value, Closure) and not has_in_type(FunctionType, name):
        try:
            inf.perform("getattr", args[:1], name)
        except Raised as raised:
            if not issubclass(raised.cls, AttributeError):
                raise
            return known_as(inf, s, False)
        return known_as(inf, s, True)
    if isinstance(value, Known):
        return known_as(inf, s, inf.world.answers(value.value, name))
    return known_as(inf, s, all(has_in_type(cls, name) for cls in all_classes(value)))


def _vars(inf: Path, s: Statement, args: Args) -> Abstract | None:
    if len(args) == 1 and lacks(inf.type_of(args[0]), "__dict__"):
        raise Raised(TypeError("vars() argument must have __dict__ attribute"))
    return alias(inf, s, inf.perform("getattr", args, "__dict__")) if len(args) == 1 else None


def _dir(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """The names that an object of the program has, and its class."""
    value = inf.type_of(args[0]) if len(args) == 1 else None
    if not isinstance(value, Fresh) or look(inf, value.cls, "__dir__") is not object.__dir__:
        return None
    names = sorted({*dir(value.cls), *inf.members(value.made)})
    return containers.new(inf, list, list(map(Constant, names)))


def _setattr(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return alias(inf, s, inf.perform("setattr", [args[0], args[2]], inf.pin(args[1])))


def _delattr(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return alias(inf, s, inf.perform("delattr", args[:1], inf.pin(args[1])))


def _plain_setattr(inf: Path, s: Statement, args: Args) -> Abstract | None:
    owner = inf.type_of(args[0])
    if not is_object(owner):
        return None
    return alias(inf, s, plainly_written(inf, args[0], owner, inf.pin(args[1]), args[2]))


def _copy(inf: Path, s: Statement, args: Args) -> Abstract | None:
    copied = copied_alone(inf, args[0])
    return None if copied is None else alias(inf, s, copied)


def _deep_copy(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return alias(inf, s, copied_deeply(inf, args[0])) if len(args) == 1 else None


def _bool(inf: Path, s: Statement, args: Args) -> Abstract | None:
    asked = len(args) == 1 and isinstance(inf.type_of(args[0]), (Container, Fresh, Iterator, Outside))
    return alias(inf, s, inf.perform("truth", args)) if asked else None


def _stopped(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """A list or a dict whose items have no derivatives."""
    value = inf.type_of(args[0])
    if isinstance(value, Outside) and value.cls is list:
        known = all([isinstance(inf.type_of(x), Known) for x in parts(inf, args[0])])
        return alias(inf, s, args[0]) if known else None
    if not isinstance(value, Container) or value.cls not in (list, dict):
        return None
    held = pairs(inf, args[0]) if value.cls is dict else dict(enumerate(parts(inf, args[0])))
    items = {key: inf.call(Constant(stopped), [x]) for key, x in held.items()}
    return containers.new(inf, value.cls, items if value.cls is dict else list(items.values()))


def _pinned(inf: Path, s: Statement, args: Args) -> None:
    """What is asked for, in what is called later, decides about the way."""
    args[:] = [Constant(inf.pin(x)) for x in args]


def _ratio(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return known_as(inf, s, inf.pin(args[0]).as_integer_ratio())


def _named_class(inf: Path, s: Statement, args: Args) -> Abstract | None:
    given = [known_value(inf, x) for x in args]
    return None if any(x is UNKNOWN for x in given) else named_tuples.of_fields(inf, s, given)


BUILTINS: Final[dict[Any, Builtin]] = {
    **ITERATIONS,
    stopped: _stopped,
    object.__new__: _new,
    object: _mark,
    np.ndarray.__array_namespace__: _namespace,
    float.__new__: _new_number,
    tuple.__new__: derived_containers.new,
    list.__new__: derived_containers.empty,
    dict.__new__: derived_containers.empty,
    len: _len,
    bool: _bool,
    hash: hashed,
    id: identity,
    require_short: _nothing,
    order_of: sequences.order_of,
    require_constant: constant_key,
    list: _list,
    tuple: _tuple,
    set: _set_of(set),
    frozenset: _set_of(frozenset),
    slice: _slice,
    slice.indices: _indices,
    overlaps.require_apart: apart,
    type: QUESTIONS[type],
    namedtuple: _named_class,
    float.as_integer_ratio: _ratio,
    operator.itemgetter: _pinned,
    operator.attrgetter: _pinned,
    operator.methodcaller: _pinned,
    getattr: _getattr,
    hasattr: _hasattr,
    isinstance: looked_up.instance_of,
    inspect.getattr_static: looked_up.statically,
    setattr: _setattr,
    delattr: _delattr,
    vars: _vars,
    globals: namespaces.of_function,
    dir: _dir,
    object.__setattr__: _plain_setattr,
    object.__getattribute__: looked_up.plainly,
    object.__delattr__: _delattr,
    copy.copy: _copy,
    copy.deepcopy: _deep_copy,
}
