"""Arrays of classes derived from ``ndarray`` on one way: what computes for them, and of which class results are."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeGuard

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.transform.one_way import overrides
from autodiff_hook.transform.one_way.classes import instance
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.overrides import ARRAY, NUMPY_OF
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Array, Container, Fresh, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, inert_class, number_types
from autodiff_hook.transform.specialise.objects import look, written
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.trying import example_for, tried
from autodiff_hook.transform.specialise.wording import named

_JOINING: Final = (np.concatenate, np.hstack, np.vstack, np.stack)
"""Functions that make a new array, whose ``__array_finalize__`` is given None."""
_OWN_PROTOCOLS: Final = ("__array__", "__array_interface__", "__array_struct__", "__array_prepare__", "__buffer__")
_ASKED: Final = ("__array_ufunc__", "__array_function__")


def is_derived_class(cls: Any) -> bool:
    """Whether arrays of a class are objects that follow the rules of NumPy in all that the class does not say."""
    is_native = cls.__module__.partition(".")[0] == "numpy" and not issubclass(cls, (np.matrix, np.ma.MaskedArray))
    return issubclass(cls, np.ndarray) and cls is not np.ndarray and not is_native


def is_derived(value: Abstract, inf: Path) -> TypeGuard[Fresh | Outside]:
    """Whether a value is an array of a derived class."""
    made = isinstance(value, Fresh) and value.made in inf.numbers
    return (made or isinstance(value, Outside)) and is_derived_class(value.cls)  # type: ignore[attr-defined]


def array_of(inf: Path, operand: Operand, value: Fresh | Outside) -> Operand:
    """The array that computes."""
    if isinstance(value, Fresh):
        return inf.numbers[value.made]
    _require_plain(inf, value.cls)
    return inf.world.array(inf.final(operand), value.example)


def made_array(inf: Path, cls: type, array: Operand, source: Operand) -> Operand:
    """A new view of an array, which has the class and what ``__array_finalize__`` gives it."""
    kind = inf.type_of(array)
    if any(issubclass(x, np.generic) for x in number_types(kind) or (inert_class(kind) or object,)):
        array = inf.call(Constant(np.asarray), [array])
        kind = inf.type_of(array)
    if not isinstance(kind, Array) or kind.scalar:
        raise Refused(f"{named(kind)} becomes {named(cls)}")
    _require_plain(inf, cls)
    made = instance(inf, cls)
    inf.numbers[made] = array
    finalize = look(inf, cls, "__array_finalize__")
    if type(finalize) is FunctionType:
        inf.call(Constant(finalize), [made, source])
    elif finalize is not ARRAY["__array_finalize__"]:
        raise Refused(f"__array_finalize__ of {named(cls)}")
    return made


def _require_plain(inf: Path, cls: type) -> None:
    inf.world.members(cls)
    found = {name: find_in_type(cls, name) for name in (*_ASKED, *_OWN_PROTOCOLS, "__array_priority__")}
    own = {name: said for name, said in found.items() if said is not ARRAY.get(name)}
    first = issubclass(cls, (np.matrix, np.ma.MaskedArray)) or type(own.get("__array_ufunc__")) is FunctionType
    asked = all(type(own[name]) is FunctionType for name in _ASKED if name in own)
    if not asked or any(name in own for name in _OWN_PROTOCOLS) or "__array_priority__" in own and not first:
        raise Refused(f"{named(cls)} says by itself what NumPy makes of it")


def holds(inf: Path, operand: Operand) -> bool:
    """Whether an array of a derived class is given, in whatever lists and tuples."""
    value = inf.type_of(operand)
    if operand in inf.tuples:
        return any(holds(inf, x) for x in inf.tuples[operand])
    if isinstance(value, Container):
        return value.cls is list and any(holds(inf, x) for x in inf.content(operand))
    if isinstance(value, Outside) and value.cls in (list, tuple):
        return any(is_derived_class(type(x)) for x in value.example)
    return is_derived(value, inf)


def plainly(inf: Path, operand: Operand) -> Operand:
    """The arrays that compute, in the place of those of derived classes."""
    value = inf.type_of(operand)
    if is_derived(value, inf):
        return array_of(inf, operand, value)
    if not holds(inf, operand):
        return operand
    held = [plainly(inf, x) for x in parts(inf, operand)]
    is_list = isinstance(value, (Container, Outside)) and value.cls is list
    return inf.made(list, held) if is_list else inf.perform("build_tuple", held)


def example_in(inf: Path, operand: Operand) -> Any:
    """What a value was with the arguments at hand, arrays of derived classes with the attributes that are known."""
    value = inf.type_of(operand)
    if is_derived(value, inf):
        if isinstance(value, Fresh):
            array, attributes = example_of(inf.type_of(inf.present(inf.numbers[value.made]))), inf.members(value.made)
        else:
            array, owner = value.example, inf.final(operand)
            attributes = {name: x for (other, name), x in inf.assigned.items() if other is owner}
            if not attributes:
                return array
        found = array.view(value.cls)
        vars(found).update(getattr(array, "__dict__", {}))
        known = {k: example_of(inf.type_of(x)) for k, x in attributes.items()}
        vars(found).update({k: x for k, x in known.items() if x is not MISSING})
        return found
    made = isinstance(value, Container) and value.cls is list
    if made or holds(inf, operand) and not isinstance(value, Outside):
        held = [example_in(inf, x) for x in parts(inf, operand)]
        return held if made else tuple(held)
    return example_for(value)


def computed(
    inf: Path,
    s: Statement,
    function: Any,
    args: Args,
    perform: Callable[[list[Operand]], Operand] | None = None,
    kwargs: dict[str, Operand] | None = None,
) -> Abstract:
    """The result of what NumPy does, of the class that NumPy gives it; ``perform`` does it, if not the statement."""
    named_args = kwargs or {}
    asked = overrides.asked(inf, s, function, args, named_args)
    if asked is not None:
        return asked
    given = [*args, *named_args.values()]
    examples = [example_in(inf, x) for x in given]
    count = len(args)
    found = tried(function, examples[:count], dict(zip(named_args, examples[count:])))
    plain = [plainly(inf, x) for x in given]
    result = inf.perform(s.op, plain, s.data) if perform is None else perform(plain)
    return alias(inf, s, _classed(inf, function, list(zip(given, examples)), found, result))


def _classed(inf: Path, function: Any, given: list[tuple[Operand, Any]], found: Any, result: Operand) -> Operand:
    """A result as an object of the class that it has in the example."""
    cls = type(found)
    for operand, example in given:
        if found is example:
            return operand
    if not is_derived_class(cls):
        if isinstance(found, (tuple, list)) and any(is_derived_class(type(x)) for x in found):
            raise Refused(f"several arrays of a derived class, by {named(function)}")
        _require_same(function, found, example_of(inf.type_of(result)))
        return result
    source = next((operand for operand, example in given if type(example) is cls), None)
    if function in _JOINING:
        source = Constant(None)
    if source is None:
        raise Refused(f"{named(function)} makes an array of {named(cls)} of others")
    wrap = written(inf, cls, "__array_wrap__")
    if wrap is not None and not overrides.only_shows(function):
        return _wrapped(inf, wrap, function, source, [x for x, _ in given], result)
    made = made_array(inf, cls, result, source)
    _require_same(function, np.asarray(found), example_of(inf.type_of(inf.numbers[made])))
    return made


def _wrapped(
    inf: Path, wrap: FunctionType, function: Any, source: Operand, given: list[Operand], result: Operand
) -> Operand:
    """What ``__array_wrap__`` makes of the result of a ufunc."""
    ufunc = function if isinstance(function, np.ufunc) else NUMPY_OF.get(function)
    kind = inf.type_of(result)
    if ufunc is None or not isinstance(kind, Array) or not kind.ndim:
        raise Refused(f"{named(function)} with an __array_wrap__ that is Python code")
    context = inf.perform("build_tuple", [Constant(ufunc), inf.perform("build_tuple", given), Constant(0)])
    return inf.call(Constant(wrap), [source, result, context, Constant(False)])


def _require_same(function: Any, found: Any, expected: Any) -> None:
    """What a class makes of a result in C or in ``__array_wrap__`` is nothing but another class."""
    if expected is MISSING or not isinstance(found, (np.ndarray, np.generic)):
        return
    if not np.array_equal(found, expected, equal_nan=found.dtype.kind in "fc"):
        raise Refused(f"{named(function)} of a derived class gives something else")
