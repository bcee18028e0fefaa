"""Regular expressions, dates and times on one way: what they give is known if they are, else of a guarded kind."""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Iterator
from types import BuiltinMethodType, FunctionType, MethodDescriptorType
from typing import Any, Final, TypeGuard

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.registry import registry
from autodiff_hook.runtime.native import apart_by_name
from autodiff_hook.semantics.operations import BINARY, COMPARE
from autodiff_hook.transform.improve.shortcuts import EFFECTS, declared
from autodiff_hook.transform.one_way.asked import ITERATORS, is_asked, names_of, only_asks, require_count
from autodiff_hook.transform.one_way.containers import UNKNOWN, held_as, known_value
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.stores import root_of
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Bound, Instance, Known, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, is_number_of
from autodiff_hook.transform.specialise.lists import maker
from autodiff_hook.transform.specialise.members import LAYOUT, layout
from autodiff_hook.transform.specialise.plans import alias, is_hashable, known_as, pure
from autodiff_hook.transform.specialise.results import FLAGS, IN_TEXTS, MOMENTS, abstract_of
from autodiff_hook.transform.specialise.ruled import is_pure

_FUNCTIONS: Final = (re.compile, re.match, re.fullmatch, re.search, re.findall, re.split, re.sub, re.escape)
_PATTERNS: Final = (re.Pattern, re.Match)
_OF_NUMPY: Final = (np.datetime64, np.timedelta64)
_MOMENTS: Final = (*MOMENTS, *_OF_NUMPY)
_TIMES: Final = (*_MOMENTS, time.struct_time)
_CLASSES: Final = (*_PATTERNS, *_TIMES)
_KINDS: Final = (str, type(None), *_CLASSES)
_TEXTS: Final = (np.str_, np.bytes_)
_KINDS_OF_ITEMS: Final = "mMUS"
"""Of what the items of arrays are that have no derivatives: times, dates and texts."""
_NUMBERS: Final = (int, float, bool, np.float64, np.int64, np.bool_)
_COUNTED: Final = frozenset(_NUMBERS)
_WHOLE: Final = frozenset({int, bool, np.int64, np.bool_})


def called(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``re.match(…)``, ``timedelta(…)``, or a method of what these give; None if it is none, or of something else."""
    if args and only_asks(function, inf.type_of(args[0])):
        return _given(inf, s, function, [*args, *kwargs.values()], tuple(kwargs))
    home = getattr(function, "__objclass__", None)
    known = home in _CLASSES or _makes_moments(function) or any(function is x for x in (*_FUNCTIONS, *_MOMENTS))
    if not known and not (_computes(function) and any(_is_time(inf.type_of(x)) for x in args)):
        return None
    return _given(inf, s, function, [*args, *kwargs.values()], tuple(kwargs))


def _given(
    inf: Path, s: Statement, function: Any, given: list[Operand], names: tuple[str, ...] = ()
) -> Abstract | None:
    """What a function gives that only computes; None if it is given more than constants and such objects."""
    asked = any(is_asked(inf.type_of(x)) for x in given)
    if asked:
        given = [_as_it_stands(inf, x) for x in given]
    kinds = [Known(x.value) if isinstance(x, Constant) else inf.type_of(x) for x in given]
    values = [example_of(x) for x in kinds]
    reads = _makes_moments(function) or any(function is x for x in _MOMENTS)
    counts = any(function is x for x in MOMENTS)
    taken = [_is_inert(x) or counts and is_number_of(x, _COUNTED) or asked and _is_key(x) for x in kinds]
    if not all(taken) or any([_is_written(inf, x, reads) for x in given]):
        return None
    by_place, by_name = apart_by_name(values, names)
    for operand, kind in zip(given, kinds):
        if _is_array(kind):
            _require_layout(inf, inf.final(operand), kind.example)
    try:
        found = function(*by_place, **by_name)
    except Exception as error:
        list(map(inf.pin, given))
        raise Raised(error) from None
    if (type(found) in _TEXTS or _is_of_texts(found, one=False)) and any([_is_written(inf, x) for x in given]):
        raise Refused(IN_TEXTS)
    asks = asked or _asks_the_clock(function, values)
    if not asks and all(isinstance(x, Known) for x in kinds):
        return held_as(inf, s, found)
    counted = type(found) in _NUMBERS and any(map(_is_time, kinds))
    made = type(found) is np.ndarray and not any([_shows(x, found) for x in values])
    if asks or counted or made or type(found) in _KINDS or registry.asked(type(found)) is not None:
        return alias(inf, s, _of_this_kind(inf, function, given, names, found))
    if type(found) in _TEXTS:
        return known_as(inf, s, inf.pin(_of_this_kind(inf, function, given, names, found)))
    list(map(inf.pin, given))
    return held_as(inf, s, found)


def _is_written(inf: Path, operand: Operand, one: bool = True) -> bool:
    """Whether an operand is an array of texts, or ``one`` text, in which the program may have written numbers."""
    kind = inf.type_of(operand)
    if isinstance(kind, Known) or not _is_of_texts(example_of(kind), one):
        return False
    return operand not in inf.texts and not inf.world.is_outside(inf.final(operand))


def _is_of_texts(value: Any, one: bool = True) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "US" or one and type(value) is str


def _makes_moments(function: Any) -> bool:
    """Whether a function is a class method of one of these classes: ``datetime.now``, ``date.fromisoformat``."""
    return type(function) is BuiltinMethodType and any(function.__self__ is x for x in _MOMENTS)


def _asks_the_clock(function: Any, values: list[Any]) -> bool:
    """Whether what a function gives depends on when it is called, or where that is."""
    if function is np.datetime64:
        return any(type(x) is str and x.lower() in ("now", "today") for x in values)
    return _makes_moments(function) and function.__name__ in ("now", "today", "utcnow", "fromtimestamp")


def _of_this_kind(inf: Path, function: Any, given: list[Operand], names: tuple[str, ...], found: Any) -> Operand:
    """What is found in what may be another one the next time, guarded to be of the same kind."""
    cls = type(found)
    if isinstance(found, tuple) and cls not in _TIMES:
        return _taken_apart(inf, function, given, names, found)
    if cls is list:
        raise Refused("a list that others may hold")
    times = cls in _OF_NUMPY or cls is np.ndarray and found.dtype.kind in _KINDS_OF_ITEMS
    inert = times or cls in _TEXTS or cls in _KINDS or cls in ITERATORS or registry.asked(cls) is not None
    kind = Instance(cls, example=found) if inert else abstract_of(found)
    made = inf.emit("call", Constant(function), *given, abstract=kind, data=names)
    inf.guard_type(made, cls)
    if cls is np.ndarray:
        _require_layout(inf, made, found)
    if _is_of_texts(found) and not any([_is_written(inf, x) for x in given]):
        inf.texts.add(made)
    return Constant(None) if found is None else made


def _require_layout(inf: Path, array: Operand, example: Any) -> None:
    """Guard of what type the items of an array are, and how many axes it has."""
    if array not in inf.laid_out:
        for name in ("dtype", "ndim"):
            found = inf.emit("getattr", array, abstract=Instance(type(getattr(example, name))), data=name)
            same = inf.emit("compare", found, Constant(getattr(example, name)), abstract=BOOL, data="==")
            inf.guard(same, True)
        inf.laid_out.add(array)


def _shows(value: Any, array: Any) -> bool:
    """Whether an array of numbers shows the memory of a value; what shows times is changed by nothing."""
    is_of_numbers = array.dtype.kind not in _KINDS_OF_ITEMS
    return is_of_numbers and isinstance(value, np.ndarray) and np.may_share_memory(value, array)


def _computes(function: Any) -> bool:
    known = is_hashable(function) and (registry.has_rules(function) or registry.is_constant(function))
    return known and is_pure(function) and not declared(EFFECTS, function)


def _is_key(value: Abstract) -> bool:
    """Whether a value is what items are found by: inert, a whole number, or a tuple or list of such."""
    if isinstance(value, Tuple) and value.cls is tuple:
        return all(map(_is_key, value.items))
    if isinstance(value, Known) and type(value.value) in (list, tuple):
        return all(_is_key(Known(x)) for x in value.value)
    return _is_inert(value) or is_number_of(value, _WHOLE)


def _is_array(value: Abstract) -> TypeGuard[Instance | Outside]:
    """Whether a value is an array of dates, times or texts."""
    found = value.example if isinstance(value, (Instance, Outside)) and value.cls is np.ndarray else None
    return found is not None and found.dtype.kind in _KINDS_OF_ITEMS


def _is_inert(value: Abstract) -> bool:
    if isinstance(value, Known):
        dtype = isinstance(value.value, np.dtype) or any(value.value is x for x in (*_NUMBERS, *_OF_NUMPY))
        return dtype or type(value.value) in (*_KINDS, *_NUMBERS, bytes, slice, re.RegexFlag)
    return isinstance(value, Instance) and value.cls in (str, *_CLASSES) or _is_time(value)


def _is_time(value: Abstract) -> bool:
    if _is_array(value) or is_asked(value):
        return True
    return isinstance(value, (Known, Instance, Outside)) and type(example_of(value)) in _TIMES


def _as_it_stands(inf: Path, operand: Operand) -> Operand:
    """What is known in a tuple or list, or the tuple itself, if it has what is inert."""
    if _is_inert(inf.type_of(operand)):
        return operand
    value = known_value(inf, operand)
    return Constant(value) if value is not UNKNOWN else inf.frozen(operand) if operand in inf.tuples else operand


def listed(inf: Path, operand: Operand) -> Iterator[Operand]:
    """What an iteration over such an object gives."""
    found = list(example_of(inf.type_of(operand)))
    made = inf.emit("call", Constant(list), operand, abstract=Instance(list, example=found), data=())
    require_count(inf, made, len(found))
    return (_part(inf, made, i, x) for i, x in enumerate(found))


def _part(inf: Path, owner: Operand, index: int, found: Any) -> Operand:
    return _of_this_kind(inf, operator.getitem, [owner, Constant(index)], (), found)


def _taken_apart(inf: Path, function: Any, given: list[Operand], names: tuple[str, ...], found: Any) -> Operand:
    """A tuple that is found, made of its parts; a class for the rows of a table is made anew each time."""
    fields = getattr(found, "_fields", None)
    made = inf.emit("call", Constant(function), *given, abstract=Instance(tuple, example=found), data=names)
    if fields is None:
        inf.guard_type(made, type(found))
        require_count(inf, made, len(found))
    else:
        there = inf.emit("getattr", made, abstract=Instance(tuple, example=fields), data="_fields")
        inf.guard(inf.emit("compare", there, Constant(fields), abstract=BOOL, data="=="), True)
    parts = [_part(inf, made, i, x) for i, x in enumerate(found)]
    return inf.perform("build_tuple", parts) if fields is None else inf.call(Constant(type(found)), parts)


def _asked(inf: Path, s: Statement, cls: type) -> Abstract | None:
    """An attribute of such an object."""
    owner, name = s.operands[0], str(s.data)
    found = getattr(cls, name, None)
    if name not in (names_of(inf.type_of(owner)) or ()) and hasattr(cls, name):
        raise Refused(f"{name} of a {cls.__qualname__}")
    if type(found) is FunctionType:
        return Bound(found, owner)
    return _given(inf, s, operator.attrgetter(name), [owner])


_OPERATIONS: Final = ("getattr", "load_method", "binary", "compare", "getitem")


def step(inf: Path, s: Statement) -> Abstract | None:
    """An attribute of a date or a time, or an operation with one; None if it is neither."""
    first = inf.type_of(s.operands[0]) if s.op in ("getattr", "getitem") else None
    if isinstance(first, Instance) and first.cls is FLAGS:
        return _layout(inf, s, first)
    if s.op not in _OPERATIONS or not any(_is_time(inf.type_of(x)) for x in s.operands):
        return None
    if s.op in ("binary", "compare", "getitem"):
        function = operator.getitem if s.op == "getitem" else (BINARY if s.op == "binary" else COMPARE)[s.data]
        return _given(inf, s, function, s.operands)
    owner, name = s.operands[0], str(s.data)
    cls = type(example_of(inf.type_of(owner)))
    if is_asked(inf.type_of(owner)):
        return _asked(inf, s, cls)
    if not hasattr(cls, name):
        raise Raised(AttributeError)
    if isinstance(getattr(cls, name), MethodDescriptorType):
        return Bound(getattr(cls, name), owner)
    return _given(inf, s, operator.attrgetter(name), s.operands)


_LETTERS: Final = {"C": "c_contiguous", "F": "f_contiguous", "A": "aligned", "W": "writeable"}


def _layout(inf: Path, s: Statement, flags: Instance) -> Abstract | None:
    """``a.flags.c_contiguous``, or the same by its name in capitals or a letter: how the items of an array lie."""
    key = str(s.data if s.op == "getattr" else inf.pin(s.operands[1]))
    name = _LETTERS.get(key, key).lower()
    if name == "writeable":
        return _writeable(inf, s)
    return layout(inf, s, flags, name) if name in LAYOUT else None


def flags_set(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``a.setflags(…)`` of what the program makes, or of a view of that: what can be written to is not known then."""
    if function is not np.ndarray.setflags or not args:
        return None
    array = root_of(inf, inf.final(args[0]))
    if array not in inf.own:
        raise Refused("the flags of an array that others may hold are set")
    inf.own.discard(array)
    return pure(inf, s, Known(None))


def flag_written(inf: Path, s: Statement) -> Abstract | None:
    """``a.flags.writeable = …``; None if something else is assigned."""
    flags, value = s.operands
    kind, made = inf.type_of(flags), maker(inf, flags)
    if not isinstance(kind, Instance) or kind.cls is not FLAGS or made is None or s.data != "writeable":
        return None
    return alias(inf, s, inf.perform("call_method", [made.operands[0], value], ("setflags", ("write",))))


def _writeable(inf: Path, s: Statement) -> Abstract | None:
    """What the program makes itself can be written to; what is from outside is guarded to be, unlike its example."""
    made = maker(inf, s.operands[0])
    array = root_of(inf, made.operands[0]) if made is not None and made.op == "getattr" else None
    if array is None or array not in inf.own:
        if array is None or not (inf.world.is_outside(array) or array in inf.program.blocks[0].params):
            return None
        inf.guard(inf.emit("getattr", s.operands[0], abstract=BOOL, data="writeable"), True)
    return known_as(inf, s, True)


def method(inf: Path, s: Statement, owner: Operand, name: str, args: Args, names: tuple[str, ...]) -> Abstract | None:
    """A method of a pattern, a match, a date or a time; None if the owner is none."""
    value = inf.type_of(owner)
    if not isinstance(value, (Known, Instance)) or type(example_of(value)) not in _CLASSES:
        if not _is_time(value):
            return None
    function = getattr(type(example_of(value)), name, None)
    if is_asked(value) and not only_asks(function, value):
        raise Refused(f"{name} of a {type(example_of(value)).__qualname__}")
    return called(inf, s, function, *apart_by_name([owner, *args], names))
