"""Calls that ``functools.lru_cache`` may answer, on one way through a program."""

from __future__ import annotations

import functools
from enum import Enum
from types import ModuleType
from typing import Any, Final

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.runtime.answers import depends
from autodiff_hook.runtime.arguments import described
from autodiff_hook.runtime.asking import CALLER, asked, require_answered
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.transform.one_way.containers import UNKNOWN, known_value, parts
from autodiff_hook.transform.one_way.identities import is_like_no_other
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import has_objects
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Fresh,
    Instance,
    Known,
    Number,
    Outside,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.caching import is_constant
from autodiff_hook.transform.specialise.lattice import example_of, is_number_of, number_types
from autodiff_hook.transform.specialise.objects import is_object
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.program import PURE
from autodiff_hook.transform.specialise.results import abstract_of, outcome
from autodiff_hook.transform.specialise.trying import tried


def cached_call(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Ask the cache, as the plain run does: its answer may be older than what the function says now.

    What is known of the arguments, strings and whole numbers are guarded; so is a string that is the answer, and the
    type of one for numbers that are not known. None if this is no such call, or given what no cache can keep.
    """
    if type(function) is not functools._lru_cache_wrapper:
        return None
    given = [*args, *kwargs.values()]
    values = [_guarded(inf, x) for x in given]
    loose = [x for x, v in zip(given, values) if v is UNKNOWN]
    if not all([_is_key(inf, x) for x in loose]):
        return _of_objects(inf, s, function, args, kwargs)
    if loose and is_active(inf, loose):
        return alias(inf, s, _kept(inf, function, args, kwargs, values))
    if loose:
        return alias(inf, s, _asked(inf, function, given, values, tuple(kwargs)))
    by_place, by_name = tuple(values[: len(args)]), dict(zip(kwargs, values[len(args) :]))
    answered = _answered(inf, function, by_place, by_name)
    answer = tried(function, [*by_place], by_name)
    if type(answer) in (list, dict) or is_object(inf.world, answer):
        return _on_entry(inf, s, function, list(map(Constant, by_place)), {k: Constant(v) for k, v in by_name.items()})
    _note(inf, function, "place")
    constant = _constant(inf, s, function, values, answer, tuple(kwargs))
    if constant is not None:
        return constant
    kinds: list[Abstract] = [Known(v) for v in values]
    found = outcome(function, kinds[: len(args)], dict(zip(kwargs, kinds[len(args) :])))
    called: list[Operand] = [Constant(function)]
    if answered is not None or not is_constant(found):
        called = [Constant(asked), *called, inf.world.arguments(), Constant(answered)]
    if not is_constant(found) and _has_changed(inf):
        raise Refused("a cache that may show what has been changed")
    operand = inf.emit("call", *called, *map(Constant, values), abstract=found, data=tuple(kwargs))
    if isinstance(found, Instance) and found.cls is str:
        return known_as(inf, s, inf.pin(operand))
    return alias(inf, s, operand)


def _of_objects(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """Ask for objects from outside, whose own ``__hash__`` and ``__eq__`` are run on entry; None for other values."""

    def held(operand: Operand) -> Operand:
        value, found = _guarded(inf, operand), inf.final(operand)
        return found if value is UNKNOWN else Constant(value)

    by_place, by_name = list(map(held, args)), {name: held(x) for name, x in kwargs.items()}
    objects = [x for x in (*by_place, *by_name.values()) if isinstance(x, Variable)]
    if not all([inf.world.is_outside(x) and not inf.world.is_given(x) for x in objects]):
        return None
    answered = _on_entry(inf, s, function, by_place, by_name)
    if _may_see_changes(inf, [example_of(inf.type_of(x)) for x in objects]):
        raise Refused("a cache is asked for objects, of which something has been changed")
    return answered


def _on_entry(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract:
    _note(inf, function, "entry")
    return alias(inf, s, inf.world.answer(function, args, kwargs))


def _note(inf: Path, function: Any, where: str) -> None:
    """Where a cache is asked: one that forgets might do so in between."""
    if inf.caches.setdefault(id(function), where) != where and function.cache_parameters()["maxsize"] is not None:
        raise Refused("a cache that may forget is asked for objects and for others")


def _is_key(inf: Path, operand: Operand) -> bool:
    """Whether a value is a number, a tuple of such, or an object that is like no other."""
    value = inf.type_of(operand)
    if isinstance(value, Tuple) and value.cls is tuple:
        return all([_is_key(inf, x) for x in parts(inf, operand)])
    if isinstance(value, (Fresh, Outside)):
        return is_like_no_other(inf, value.cls)
    return isinstance(value, Known) or bool(number_types(value))


def is_active(inf: Path, operands: list[Operand]) -> bool:
    """Whether one of some values may have a derivative: an argument has, and what rules compute of it."""
    made = definitions(statements_of(inf.program.blocks))
    seen, left = set[Operand](), list(operands)
    while left:
        operand = inf.final(left.pop())
        if operand in seen or not isinstance(operand, Variable):
            continue
        seen.add(operand)
        s = made.get(operand)
        if inf.world.is_given(operand) or s is None and not (operand in inf.tuples or inf.world.is_outside(operand)):
            return True
        left += inf.tuples.get(operand, ())
        if s is not None and inf.plans[s] is not PURE:
            left += s.operands
    return False


def _kept(inf: Path, function: Any, args: Args, kwargs: Kwargs, values: list[Any]) -> Operand:
    """What the function gives of what has derivatives, once for the very same arguments."""
    keys = [(inf.final(x),) if v is UNKNOWN else v for x, v in zip((*args, *kwargs.values()), values)]
    parameters = function.cache_parameters()
    key = id(function), _key_of(tuple(keys[: len(args)]), dict(zip(kwargs, keys[len(args) :])), parameters["typed"])
    if key not in inf.remembered:
        inf.remembered[key] = inf.call(Constant(inf.world.attribute(function, "__wrapped__")), args, kwargs)
        if parameters["maxsize"] is not None and len(inf.remembered) > parameters["maxsize"]:
            raise Refused("a cache is full")
    return inf.remembered[key]


_key_of: Final[Any] = functools._make_key


def _asked(inf: Path, function: Any, given: list[Operand], values: list[Any], names: tuple[str, ...]) -> Operand:
    """The answer for numbers from outside that are not known, a number of a guarded type."""
    kinds = [inf.type_of(x) for x in given]
    if any(map(has_objects, kinds)) and any(_is_shared(inf.type_of(x)) for x in inf.program.blocks[0].params):
        raise Refused("a cache that is asked for objects, which may hold what is differentiated")
    _note(inf, function, "place")
    examples = [example_of(kind) if v is UNKNOWN else v for kind, v in zip(kinds, values)]
    count = len(given) - len(names)
    named = dict(zip(names, examples[count:]))
    answered = _answered(inf, function, tuple(examples[:count]), named)
    found = abstract_of(tried(function, examples[:count], named))
    if not isinstance(found, Number):
        raise Refused("a cache that does not answer with a number")
    operands = [inf.frozen(x) if v is UNKNOWN else Constant(v) for x, v in zip(given, values)]
    called = [Constant(asked), Constant(function), inf.world.arguments(), Constant(answered)]
    answer = inf.emit("call", *called, *operands, abstract=found, data=names)
    inf.guard_type(answer, type(found.example))
    return answer


def _is_shared(value: Abstract) -> bool:
    """Whether an object from outside may hold an argument, or a part of it."""
    inside = isinstance(value, Tuple) and (value.cls is not tuple or any(map(_is_shared, value.items)))
    return inside or isinstance(value, (Outside, Reference))


def _constant(
    inf: Path, s: Statement, function: Any, values: list[Any], answer: Any, names: tuple[str, ...]
) -> Abstract | None:
    """The answer if that is a tuple of modules, members of Enums and other constants: it has to be the same again."""
    if type(answer) is not tuple or not any(isinstance(x, (ModuleType, Enum)) for x in answer):
        return None
    if not all(isinstance(described(x), Known) for x in answer):
        return None
    given = inf.emit("call", Constant(function), *map(Constant, values), abstract=Instance(tuple), data=names)
    same = inf.emit("is", given, Constant(answer), abstract=Number(frozenset({bool}), example=True))
    inf.pin(same)
    return alias(inf, s, inf.perform("build_tuple", [Constant(x) for x in answer]))


def constant_key(inf: Path, s: Statement, args: Args) -> Abstract:
    """What is kept by a key that a cache of the program's own was asked for; what is known has no derivative."""
    key, value = args
    if not isinstance(inf.type_of(value), Known):
        inf.shown(inf.pin_key(key))
    return known_as(inf, s, None)


def _guarded(inf: Path, operand: Operand) -> Any:
    value = inf.type_of(operand)
    text = isinstance(value, Instance) and value.cls is str
    whole = is_number_of(value, {int, bool})
    return inf.pin(operand) if text or whole else known_value(inf, operand)


def _answered(inf: Path, cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
    """Whether a cache must have its answer already, as its function may read what the program changes at its end.

    None if that reads nothing.
    """
    if not depends(cache, (*args, *kwargs.values())):
        return None
    changed = _has_changed(inf)
    kinds = map(inf.type_of, inf.program.blocks[0].params)
    if changed or CALLER.carries is not None or not all(number_types(kind) for kind in kinds):
        require_answered(cache, args, kwargs)
    return changed


def _may_see_changes(inf: Path, examples: list[Any]) -> bool:
    """Whether what the program has changed outside may be seen by objects there, or by the code of their classes."""
    if inf.dirty or inf.stored_globals or inf.class_attributes or inf.rewritten:
        return True
    changed = {id(example_of(inf.type_of(owner))) for owner, _ in inf.assigned}
    return bool(changed) and not changed.isdisjoint(map(id, reachable(examples)))


def _has_changed(inf: Path) -> bool:
    """Whether the program has changed something outside that is put there at its end."""
    return bool(inf.assigned or inf.dirty or inf.stored_globals or inf.class_attributes or inf.rewritten)
