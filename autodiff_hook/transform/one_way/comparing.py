"""Comparisons of containers on one way: each comparison of numbers in them decides about the way."""

from __future__ import annotations

from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Statement
from autodiff_hook.runtime.kinds import DICTS
from autodiff_hook.semantics.operations import COMPARE
from autodiff_hook.transform.one_way.containers import are_sets, opened, pairs, parts, sequence_of, taken_at_once
from autodiff_hook.transform.one_way.operators import compared, is_builtin, is_object
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Container, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import example_of, number_types
from autodiff_hook.transform.specialise.objects import is_from_numpy
from autodiff_hook.transform.specialise.plans import alias, known_as


def compare(inf: Path, s: Statement) -> Abstract | None:
    """``a == b`` and its kin."""
    if are_sets(inf, s.operands):
        both = [taken_at_once(inf, x) for x in s.operands]
        if any(x is None for x in both):
            raise Refused("a comparison of sets of what is not known")
        return known_as(inf, s, COMPARE[s.data](*both))
    s.operands = opened(inf, s.operands)
    values = [inf.type_of(x) for x in s.operands]
    if s.data in ("==", "!=") and any(map(is_builtin, values)) and any(map(_is_text_or_none, values)):
        return known_as(inf, s, s.data == "!=")
    by_method = compared(inf, str(s.data), s.operands)
    if by_method is not None:
        return alias(inf, s, by_method)
    held = any(isinstance(v, Container) or x in inf.tuples for v, x in zip(values, s.operands))
    if held and any(map(is_from_numpy, values)):
        # Lists and tuples leave it to NumPy, which compares element by element.
        s.operands = [inf.frozen(inf.plain(x), opened=True) for x in s.operands]
        return None
    if held or all(map(_is_dict, values)):
        sequences = [sequence_of(inf, x) for x in s.operands]
        if s.data not in ("==", "!=") and sequences[0] is sequences[1] is not None:
            return alias(inf, s, _ordered(inf, str(s.data), *s.operands))
        kinds = [v.cls for v in values if isinstance(v, Container)]
        inherited = s.data == "!=" and any(map(is_object, values))
        if inherited or s.data not in ("==", "!=") or not set(kinds) <= {list, dict}:
            raise Refused("a comparison of containers")
        return known_as(inf, s, _are_equal(inf, *s.operands) == (s.data == "=="))
    s.operands = [*map(inf.plain, s.operands)]
    return None


def _are_equal(inf: Path, a: Operand, b: Operand) -> bool:
    """Whether two values are equal, in whatever containers: each comparison of numbers decides about the way."""
    a, b = opened(inf, [a, b])
    kinds = [sequence_of(inf, x) for x in (a, b)]
    if None not in kinds and kinds[0] is not kinds[1]:
        return False
    if kinds[0] is not None and kinds[1] is not None:
        first, second = parts(inf, a), parts(inf, b)
        return len(first) == len(second) and all(_are_equal(inf, x, y) for x, y in zip(first, second))
    values = [inf.type_of(x) for x in (a, b)]
    if all(map(_is_dict, values)):
        held, others = pairs(inf, a), pairs(inf, b)
        return held.keys() == others.keys() and all(_are_equal(inf, held[key], others[key]) for key in held)
    numbers = all(map(number_types, values)) and any(map(_is_fraction, values))
    arrays = all(isinstance(value, Array) for value in values)
    if not numbers and (inf.final(a) is inf.final(b) or arrays and inf.pin(inf.perform("is", [a, b]))):
        return True
    holds = any(kinds) or any(map(number_types, values)) or any(map(_is_dict, values))
    if holds and any(map(_is_text_or_none, values)):
        return False
    if not numbers and not any(map(is_object, values)):
        return bool(plainly(inf, a) == plainly(inf, b))
    equal = bool(inf.pin(inf.perform("truth", [inf.perform("compare", [a, b], "==")])))
    if not equal and inf.final(a) is inf.final(b):
        raise Refused("nan in a container that is compared")
    return equal


def _ordered(inf: Path, op: str, a: Operand, b: Operand) -> Operand:
    """Which of two lists, or tuples, comes first: the first items that are not equal say it, else the lengths."""
    first, second = parts(inf, a), parts(inf, b)
    for x, y in zip(first, second):
        if not _are_equal(inf, x, y):
            return inf.perform("compare", [x, y], op)
    return Constant(COMPARE[op](len(first), len(second)))


def _is_dict(value: Abstract) -> bool:
    return isinstance(value, (Container, Outside, Tuple)) and value.cls in DICTS


def _is_text_or_none(value: Abstract) -> bool:
    return type(example_of(value)) in (str, type(None))


def _is_fraction(value: Abstract) -> bool:
    """Whether a value is a number that may be no whole one."""
    types = number_types(value)
    return types is not None and not types <= {int, bool}


def plainly(inf: Path, operand: Operand) -> Any:
    """A known value, in whatever containers."""
    value = inf.type_of(operand)
    if isinstance(value, Container) and value.cls in DICTS:
        return {k: plainly(inf, v) for k, v in inf.content(operand).items()}
    if isinstance(value, Container):
        return [plainly(inf, x) for x in parts(inf, operand)]
    if operand in inf.tuples or isinstance(value, Tuple) and value.cls is tuple:
        return tuple([plainly(inf, x) for x in parts(inf, operand)])
    return inf.pin(operand)
