"""Comparisons: of numbers and texts, of sets, of objects by their methods, of tuples by what comes before objects."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import find_in_type
from autodiff_hook.semantics.operations import COMPARE, COMPARING_METHODS
from autodiff_hook.transform.specialise import lists, named_tuples, sets
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    BOOL,
    Abstract,
    Closure,
    Container,
    Fresh,
    Instance,
    Known,
    List,
    Mixed,
    Number,
    OneOf,
    Optional,
    Outside,
    Partial,
    Record,
    Several,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.kept import is_copy
from autodiff_hook.transform.specialise.lattice import (
    built_classes,
    codes_in,
    content_of,
    inert_class,
    is_absent,
    is_none,
    is_number_of,
    is_virtual,
    known,
    number_types,
    plain_types,
)
from autodiff_hook.transform.specialise.named_tuples import is_named
from autodiff_hook.transform.specialise.objects import look, method_of, object_class, special_method
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
    if _decided_before_objects(inf, s):
        return None
    if s.data in ("==", "!=") and any(_is_function_beside(*pair) for pair in ((a, b), (b, a))):
        return known_as(inf, s, s.data == "!=")
    other = b if is_none(a) else a if is_none(b) else None
    if s.data in ("==", "!=") and other is not None and set(classes_of(other)) <= _CONTAINERS:
        return known_as(inf, s, s.data == "!=")
    if not inf.one_way and (object_class(a) or object_class(b)):
        return _compare_objects(inf, s, a, b)
    s.operands = [_by_items(inf, s, x) for x in s.operands]
    a, b = map(inf.type_of, s.operands)
    require_inert(a, b)
    return pure(inf, s, outcome(COMPARE[s.data], [a, b], {}))


def _is_function_beside(made: Abstract, other: Abstract) -> bool:
    """Whether one is a function that the program makes, and the other is something that has been there before."""
    is_made = isinstance(made, (Closure, Partial)) and isinstance(other, Known)
    return is_made and (is_none(other) or find_in_type(type(known(other)), "__eq__") is object.__eq__)


def _by_items(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """A tuple in the place of a named one, and of a list that stands for one: their items are compared."""
    value = inf.type_of(operand)
    if isinstance(value, List) and value.site.cls is tuple:
        return inf.before(s, "call", [Constant(lists.as_tuple), operand], ())
    name = COMPARING_METHODS[s.data]
    if isinstance(value, Tuple) and is_named(value) and look(inf, value.cls, name) is getattr(tuple, name):
        return named_tuples.plain(inf, s, operand)
    return operand


def _compare_objects(inf: Inference, s: Statement, a: Abstract, b: Abstract) -> Abstract | None:
    """What the classes of objects say of a comparison, else whether they are one."""
    own = {name: [method_of(inf, x, name) for x in (a, b) if object_class(x)] for name in ("__eq__", "__ne__")}
    if s.data == "!=" and not any(own["__ne__"]) and any(own["__eq__"]):
        equal = Statement("compare", s.operands, Variable(), "==", s.position)
        s.op, s.operands, s.data = "not", [equal.made], None
        return inf.first(equal)
    found = special_method(inf, COMPARE[s.data], [a, b], s.operands) if s.data != "!=" or all(own["__ne__"]) else None
    if found is not None:
        for operand in s.operands:
            inf.assume(operand)
        return inline_call(inf, s, *found, {})
    silent = all(object_class(x) or plain_types(x) <= _SILENT for x in (a, b))
    if s.data not in ("==", "!=") or any(own["__eq__"] + own["__ne__"]) or not silent:
        raise Refused("a comparison of objects")
    s.op, s.data = "is" if s.data == "==" else "is_not", None
    return same(inf, s)


_SILENT: Final = frozenset({int, float, bool, complex, str, type(None)})


def _decided_before_objects(inf: Inference, s: Statement) -> bool:
    """Whether tuples are compared by what stands before objects in them; the program gives up where that is equal."""
    kinds = [inf.type_of(x) for x in s.operands]
    if inf.one_way or not all(isinstance(kind, Tuple) and kind.cls is tuple for kind in kinds):
        return False
    pairs = list(zip(*(kind.items for kind in kinds)))  # type: ignore[attr-defined]
    count = next((i for i, pair in enumerate(pairs) if all(map(_has_no_order, pair))), 0)
    if not count or len({len(kind.items) for kind in kinds}) > 1:  # type: ignore[attr-defined]
        return False
    s.operands = [inf.before(s, "build_tuple", spread(inf, x)[:count]) for x in s.operands]
    test = Statement("compare", list(s.operands), Variable(), "!=", s.position)
    inf.traps.ensure(inf.block, [test], "which of two objects comes first", s.position)
    return True


def _has_no_order(value: Abstract) -> bool:
    """Whether a value is an object, or a function."""
    return bool(built_classes(value) or codes_in(value)) or object_class(value) is not None


_CONTAINERS: Final = frozenset({dict, list, tuple, set, frozenset})


def _compared(s: Statement, a: Any, b: Any) -> bool:
    try:
        return bool(COMPARE[s.data](a, b))
    except TypeError as error:
        raise Refused(f"{s.data} of values that have no order: {error}") from error


def _is_simple(value: Abstract) -> bool:
    """Whether a value is a number, a text or None."""
    return inert_class(value) in (str, type(None)) or is_number_of(value, {int, float, bool})


def _comparable(value: Any) -> bool:
    return isinstance(value, (int, float, str, type(None))) or isinstance(value, tuple) and all(map(_comparable, value))


def same(inf: Inference, s: Statement) -> Abstract:
    """``a is b``."""
    a, b = map(inf.type_of, s.operands)
    whole = list(map(inf.final, s.operands))
    if any(is_copy(inf, x) for x in (a, b)) and not any(map(is_absent, (a, b))):
        raise Refused("which of several functions or tuples it is")
    if is_virtual(a) and is_virtual(b) or isinstance(a, Several) or isinstance(b, Several):
        same: bool | None = _are_one(inf, s, a, b)
    elif isinstance(a, Known) and isinstance(b, Known):
        same = a.value is b.value
    elif isinstance(a, Outside) and isinstance(b, Outside) and all(map(inf.is_from_outside, whole)):
        same = inf.world.same(*whole)
    elif any(isinstance(x, _MADE) and isinstance(y, Outside) for x, y in ((a, b), (b, a))):
        same = False
    elif isinstance(a, _OF_A_CLASS) and isinstance(b, _OF_A_CLASS) and a.cls is not b.cls:
        same = False
    else:
        same = None if _may_be(a, b) and _may_be(b, a) else False
    if same is None:
        return pure(inf, s, BOOL)
    return known_as(inf, s, same == (s.op == "is"))


_MADE: Final = (Fresh, Closure, Partial)
"""What the program makes, and nothing from outside can be."""
_OF_A_CLASS: Final = (Container, Outside)


def _are_one(inf: Inference, s: Statement, a: Abstract, b: Abstract) -> bool:
    """Whether two objects of the program are one."""
    if inf.final(s.operands[0]) is inf.final(s.operands[1]):
        return True
    merged = any(isinstance(x, Fresh) and x.made in inf.merging.merged for x in (a, b))
    if not (isinstance(a, Fresh) and isinstance(b, Fresh)) or a.made is b.made or merged:
        raise Refused("which of several objects it is")
    return False


def _may_be(a: Abstract, b: Abstract) -> bool:
    if not isinstance(b, Known):
        return True
    if isinstance(a, Number):
        return type(b.value) in a.types
    if isinstance(a, (Instance, Outside, Record)):
        return type(b.value) is a.cls
    if isinstance(a, Optional):
        return b.value is a.absent or _may_be(a.content, b)
    if isinstance(a, Mixed):
        return type(b.value) in a.among
    return a is ANY or isinstance(a, OneOf) and any(b.value is x for x in a.values)
