"""Builtin functions that iterate, on one way through a program: what they give comes when it is asked for."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Operand, Statement
from autodiff_hook.semantics.equivalents import BEGUN, WITH_OPTIONS, product_of, total
from autodiff_hook.semantics.equivalents import iterating as definitions
from autodiff_hook.transform.one_way import iterating
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.derived_values import is_derived
from autodiff_hook.transform.one_way.iterating import VALUES, items
from autodiff_hook.transform.one_way.operators import is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, done
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Closure, Container, Fresh, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.following import DEFINED
from autodiff_hook.transform.specialise.instances import classes_of, shown
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named

Builtin = Callable[[Path, Statement, Args], "Abstract | None"]


def zipped(inf: Path, s: Statement, args: Args, strict: bool = False) -> Abstract | None:
    """``zip``."""
    rows = zip(*[items(inf, x) for x in args], strict=strict)

    def tuples() -> Iterator[Operand]:
        try:
            for row in rows:
                yield inf.perform("build_tuple", list(row))
        except ValueError as error:
            raise Raised(error) from None

    return alias(inf, s, inf.iterator(tuples()))


def begun_arguments(inf: Path, function: Any, args: Args) -> Args:
    """Arguments of which those that are iterated over by code of theirs have begun with it."""
    places = range(len(args))[BEGUN.get(function, slice(0))]
    if any(number_types(inf.type_of(args[i])) for i in places):
        raise Raised(TypeError("an object that is not iterable"))
    by_code = [i for i in places if iterating.is_iterated_by_code(inf, args[i])]
    return [inf.iterator(items(inf, x)) if i in by_code else x for i, x in enumerate(args)]


def _enumerate(inf: Path, s: Statement, args: Args) -> Abstract | None:
    start = inf.pin(args[1]) if len(args) > 1 else 0
    rows = enumerate(items(inf, args[0]), start)
    return alias(inf, s, inf.iterator((inf.perform("build_tuple", [Constant(i), x]) for i, x in rows)))


def _reversed(inf: Path, s: Statement, args: Args) -> Abstract | None:
    return alias(inf, s, inf.iterator(iterating.backwards(inf, args[0])))


def _chosen(places: Callable[..., Iterator[tuple[Operand, ...]]]) -> Builtin:
    """``itertools.combinations`` and its like."""

    def meaning(inf: Path, s: Statement, args: Args) -> Abstract | None:
        rows = done(places, list(parts(inf, args[0])), *map(inf.pin, args[1:]))
        return alias(inf, s, inf.iterator(inf.perform("build_tuple", list(row)) for row in rows))

    return meaning


def _iter(inf: Path, s: Statement, args: Args) -> Abstract | None:
    if len(args) == 2:
        if number_types(inf.type_of(args[0])) is not None or isinstance(inf.type_of(args[0]), (Container, Tuple)):
            raise Raised(TypeError("iter(v, w): v must be callable"))
        return alias(inf, s, inf.iterator(_called(inf, *args)))
    started = iterating.begun(inf, args[0]) if args[0] not in inf.iterators else None
    if started is not None:
        return alias(inf, s, started)
    return alias(inf, s, inf.iterator(items(inf, args[0])))


def _called(inf: Path, function: Operand, sentinel: Operand) -> Iterator[Operand]:
    """What a function gives, called again and again, until that is the sentinel."""
    while True:
        found = inf.call(function, [])
        if inf.pin(inf.perform("truth", [inf.perform("compare", [sentinel, found], "==")])):
            return
        yield found


def _next(inf: Path, s: Statement, args: Args) -> Abstract | None:
    step = iterating.step_of(inf, inf.type_of(args[0]))
    if args[0] not in inf.iterators and step is None:
        return None
    try:
        given = inf.advance(args[0], Constant(None)) if step is None else next(iterating.stepped(inf, args[0], step))
        return alias(inf, s, given)
    except StopIteration:
        if len(args) > 1:
            return alias(inf, s, args[1])
        raise Raised(StopIteration()) from None


def resumed(inf: Path, s: Statement) -> Abstract | None:
    """``generator.send(value)`` and ``iterator.__next__()``."""
    try:
        return alias(inf, s, inf.advance(s.operands[0], *(s.operands[1:] or [Constant(None)])))
    except StopIteration:
        raise Raised(StopIteration()) from None


def _range(inf: Path, s: Statement, args: Args) -> Abstract | None:
    if not all(hasattr(cls, "__index__") for x in args for cls in all_classes(inf.type_of(x))):
        raise Raised(TypeError("an object that cannot be interpreted as an integer"))
    return known_as(inf, s, range(*map(inf.pin, args)))


def all_classes(value: Abstract) -> list[type]:
    """The classes that a value may be of, functions of the program included."""
    return [FunctionType] if isinstance(value, (Closure, Bound)) else classes_of(value)


def _adding(code: Any) -> Builtin:
    """``sum`` or ``math.prod``: of what is not made of numbers alone, item by item."""

    def meaning(inf: Path, s: Statement, args: Args) -> Abstract | None:
        args[0] = _listed(inf, args[0])
        held = parts(inf, args[0]) if isinstance(inf.type_of(args[0]), Container) else None
        by_class = is_derived(inf.type_of(args[0]), inf) or any(is_object(inf.type_of(x)) for x in args[1:])
        if not by_class and (held is None or held and all(number_types(inf.type_of(x)) for x in held)):
            return None
        return alias(inf, s, inf.call(Constant(code), args))

    return meaning


def _summed(inf: Path, s: Statement, args: Args) -> None:
    """``math.fsum``, which takes the list of what an iteration gives."""
    args[0] = _listed(inf, args[0])


def _extreme(function: Any) -> Builtin:
    """``max`` or ``min``, of an iteration, of known values, or of objects, which are compared one by one."""

    def meaning(inf: Path, s: Statement, args: Args) -> Abstract | None:
        if len(args) == 1:
            args[0] = _listed(inf, args[0])
        held = args if len(args) > 1 else parts(inf, args[0]) if isinstance(inf.type_of(args[0]), Container) else ()
        compared = any(is_object(inf.type_of(x)) for x in held)
        return alias(inf, s, inf.call(Constant(OPTIONS[function]), args)) if compared else None

    return meaning


def _listed(inf: Path, operand: Operand) -> Operand:
    """What an iteration gives, as a list."""
    value = inf.type_of(operand)
    if iterating.is_iterated_by_code(inf, operand):
        held = list(items(inf, operand))
        # Other items may notice what the iteration does: each would have to be asked for when its turn comes.
        if not all(number_types(inf.type_of(x)) for x in held):
            raise Refused(f"{named(value)}, which gives other things than numbers one by one")
        return inf.made(list, held)
    stands = isinstance(value, Fresh) and shown(value.cls) is not value.cls
    virtual = (
        stands or operand in inf.iterators or isinstance(value, Container) and value.cls in (VALUES, set, frozenset)
    )
    return inf.made(list, parts(inf, operand)) if virtual else operand


_CHOICES: Final = (itertools.combinations, itertools.permutations, itertools.combinations_with_replacement)
EQUIVALENTS: Final[dict[Any, Callable[..., Any]]] = {
    **{original: code for original, code in DEFINED.items() if original not in _CHOICES},
    functools.reduce: definitions.reduced,
}
OPTIONS: Final = dict(WITH_OPTIONS)
ITERATIONS: Final[dict[Any, Builtin]] = {
    zip: zipped,
    enumerate: _enumerate,
    reversed: _reversed,
    iter: _iter,
    next: _next,
    range: _range,
    sum: _adding(total),
    math.fsum: _summed,
    math.prod: _adding(product_of),
    max: _extreme(max),
    min: _extreme(min),
    **{function: _chosen(function) for function in _CHOICES},
}
