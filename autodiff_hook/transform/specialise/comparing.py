"""Comparisons: of numbers and texts, of sets, of objects by their methods, of tuples by what comes before objects."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import asked_in_turn
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.operations import COMPARE, COMPARING_METHODS, MIRRORED
from autodiff_hook.transform.specialise import sets
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Known, Optional, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import inline_call
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import content_of, inert_class, is_none, number_types
from autodiff_hook.transform.specialise.objects import look, object_class
from autodiff_hook.transform.specialise.plans import known_as, pure, require_inert, require_value, spread
from autodiff_hook.transform.specialise.results import outcome


def compare(inf: Inference, s: Statement) -> Abstract | None:
    """``a < b``."""
    a, b = map(inf.type_of, s.operands)
    if isinstance(a, Optional) or isinstance(b, Optional):
        if s.data in ("==", "!=") and all(_is_simple(content_of(x)) for x in (a, b)):
            return pure(inf, s, BOOL)
        require_value(inf, s, s.operands)
        return None
    if isinstance(a, Known) and isinstance(b, Known) and _comparable(a.value) and _comparable(b.value):
        return known_as(inf, s, _compared(s, a.value, b.value))
    types = number_types(a), number_types(b)
    if types[0] is not None and types[1] is not None:
        numpy = any(all(cls.__module__ == "numpy" for cls in t) for t in types if t)
        return pure(inf, s, outcome(COMPARE[s.data], [a, b], {}) if numpy else BOOL)
    found = sets.compared(inf, s)
    if found is not None:
        return found
    method = None if inf.one_way else _method(inf, s.data, [a, b], s.operands)
    if method is not None:
        for operand in s.operands:
            inf.assume(operand)
        definition, function, args = method
        return inline_call(inf, s, definition, [Constant(function), *args], {})
    if _decided_before_objects(inf, s):
        return None
    other = b if is_none(a) else a if is_none(b) else None
    if s.data in ("==", "!=") and other is not None and set(classes_of(other)) <= _CONTAINERS:
        return known_as(inf, s, s.data == "!=")
    require_inert(a, b)
    return pure(inf, s, outcome(COMPARE[s.data], [a, b], {}))


def _decided_before_objects(inf: Inference, s: Statement) -> bool:
    """Whether tuples are compared by what stands before objects in them; the program gives up where that is equal."""
    kinds = [inf.type_of(x) for x in s.operands]
    if inf.one_way or inf.block is None or not all(isinstance(kind, Tuple) and kind.cls is tuple for kind in kinds):
        return False
    pairs = list(zip(*(kind.items for kind in kinds)))  # type: ignore[attr-defined]
    count = next((i for i, pair in enumerate(pairs) if None not in map(object_class, pair)), 0)
    if not count or len({len(kind.items) for kind in kinds}) > 1:  # type: ignore[attr-defined]
        return False
    s.operands = [inf.before(s, "build_tuple", spread(inf, x)[:count]) for x in s.operands]
    test = Statement("compare", list(s.operands), Variable(), "!=", s.position)
    inf.ensure(inf.block, [test], "which of two objects comes first", s.position)
    return True


_CONTAINERS: Final = frozenset({dict, list, tuple, set, frozenset})


def _compared(s: Statement, a: Any, b: Any) -> bool:
    try:
        return bool(COMPARE[s.data](a, b))
    except TypeError as error:
        raise Refused(f"{s.data} of values that have no order: {error}") from error


def _is_simple(value: Abstract) -> bool:
    """Whether a value is a number, a text or None."""
    return inert_class(value) in (str, type(None)) or (number_types(value) or {None}) <= {int, float, bool}


def _comparable(value: Any) -> bool:
    return isinstance(value, (int, float, str, type(None))) or isinstance(value, tuple) and all(map(_comparable, value))


def _method(
    inf: Inference, symbol: str, types: list[Abstract], args: list[Operand]
) -> tuple[FunctionType, FunctionType, list[Operand]] | None:
    """How the method is called that is asked first of those that know; None if it is no Python code."""
    classes = list(map(object_class, types))
    names = COMPARING_METHODS[symbol], COMPARING_METHODS[MIRRORED[symbol]]
    first, second = classes
    if first is not None and second is not None:
        asked = asked_in_turn(first, second, *names, compares=True)
    else:
        asked = [(i, names[i]) for i in (0, 1) if classes[i] is not None and _knows_no_objects(types[1 - i])]
    for place, name in asked:
        found, definition = look(inf, classes[place], name), operating.said  # type: ignore[arg-type]
        if found is object.__ne__:
            found, definition = look(inf, classes[place], "__eq__"), operating.denied  # type: ignore[arg-type]
        if type(found) is FunctionType:
            return definition, found, args[::-1] if place else args  # type: ignore[return-value]
        if found not in _WITHOUT_ORDER:
            return None
    return None


_WITHOUT_ORDER: Final = tuple(getattr(object, COMPARING_METHODS[symbol]) for symbol in ("<", "<=", ">", ">="))
"""What knows no order at all."""


def _knows_no_objects(value: Abstract) -> bool:
    """Whether a value leaves what it is compared with to say how."""
    return (number_types(value) or {inert_class(value)}) <= {float, int, bool, type(None)}
