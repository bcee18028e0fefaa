"""Builtin functions that ask about types and lengths, or begin iterations."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise import (
    caching,
    constants,
    dicts,
    draws,
    lists,
    named_tuples,
    number_questions,
    patterns,
)
from autodiff_hook.transform.specialise.abstract import (
    BOOL,
    INT,
    MISSING,
    NOTHING,
    Abstract,
    Array,
    Bound,
    Closure,
    Dict,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Mixed,
    Number,
    OneOf,
    Optional,
    Outside,
    Partial,
    Record,
    Reference,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.dividing import divided, is_of_several, tested
from autodiff_hook.transform.specialise.exceptions import INITIALISERS, built, known_as_built
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.instances import classes_of, isinstance_of
from autodiff_hook.transform.specialise.kept import is_copy
from autodiff_hook.transform.specialise.lattice import (
    built_class,
    built_classes,
    content_of,
    example_of,
    inert_class,
    is_set,
    join,
    known,
    number_types,
)
from autodiff_hook.transform.specialise.merging import ask_for_objects
from autodiff_hook.transform.specialise.objects import super_of, write_plainly
from autodiff_hook.transform.specialise.plans import Question, checked, items_of, known_as, pure, spread
from autodiff_hook.transform.specialise.program import STRUCTURAL, Given
from autodiff_hook.transform.specialise.results import abstract_of
from autodiff_hook.transform.specialise.ruled import by_rule
from autodiff_hook.transform.specialise.wording import named


def _len(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    (value,) = (inf.type_of(constants.members(inf, x)) for x in args)
    if isinstance(value, (Fresh, Record)) or isinstance(value, Outside) and value.cls not in (list, dict):
        return None
    if built_class(value) is not None:
        return None
    items = value.items if isinstance(value, Tuple) else items_of(value)
    if items is not None:
        return known_as(inf, s, len(items))
    if isinstance(value, Known) and type(value.value) in (str, bytes, range):
        return known_as(inf, s, len(value.value))
    if isinstance(value, Instance) and value.cls in (str, bytes, range):
        return pure(inf, s, Number(INT.types, example=max(1, len(value.example))))
    dicts.ask_for_any_key(inf, value)
    if isinstance(value, List):
        return pure(inf, s, Number(INT.types, example=max(1, len(value.example))))
    if isinstance(value, Dict):
        return pure(inf, s, INT)
    if isinstance(value, Array) and not value.scalar and value.example.ndim:
        return pure(inf, s, Number(INT.types, example=len(value.example)))
    raise Refused(f"the length of {named(value)}")


def _range(inf: Inference, s: Statement, args: Args) -> Abstract:
    types = [inf.type_of(x) for x in args]
    if any((number_types(t) or {None}) - {int, bool} for t in types):
        raise Refused("a range of what may not be ints")
    examples = [example_of(t) for t in types]
    known = all(type(e) is int for e in examples)
    return pure(inf, s, Instance(range, example=range(*examples) if known else range(2)))


def _listed(inf: Inference, s: Statement, args: Args) -> list[Operand]:
    """What an iteration is given, with lists in the place of tuples."""
    if s.op == "call" and s.operands[1:] == args:
        given = [constants.members(inf, x) for x in args]
        s.operands[1:] = [lists.listed(inf, s, named_tuples.plain(inf, s, x)) for x in given]
        return s.operands[1:]
    return args


def _slice(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``slice(stop)``, ``slice(start, stop, step)``."""
    if not 0 < len(args) < 4:
        return None
    parts = [Constant(None), *args] if len(args) == 1 else args
    s.op, s.operands, s.data = "build_slice", [*parts, *[Constant(None)] * (3 - len(parts))], None
    return inf.evaluate(inf, s)


def _indices(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``slice.indices(length)``."""
    types = [inf.type_of(x) for x in args]
    if len(types) != 2 or inert_class(types[0]) is not slice or number_types(types[1]) != INT.types:
        return None
    if MISSING in map(example_of, types):
        return None
    found = slice.indices(*map(example_of, types))
    if all(isinstance(t, Known) for t in types):
        return known_as(inf, s, found)
    return pure(inf, s, Tuple(tuple(Number(INT.types, example=n) for n in found), example=found))


def _enumerate(inf: Inference, s: Statement, args: Args) -> Abstract:
    item = item_of(inf, inf.type_of(_listed(inf, s, args)[0]))
    return pure(inf, s, Iterator(_together(Number(INT.types, example=0), item)))


def _zip(inf: Inference, s: Statement, args: Args) -> Abstract:
    return pure(inf, s, Iterator(_together(*[item_of(inf, inf.type_of(x)) for x in _listed(inf, s, args)])))


def _together(*items: Abstract) -> Abstract:
    """A tuple of items, of each iteration one."""
    return NOTHING if NOTHING in items else Tuple(items)


def _reversed(inf: Inference, s: Statement, args: Args) -> Abstract:
    return pure(inf, s, Iterator(item_of(inf, inf.type_of(_listed(inf, s, args)[0]))))


def item_of(inf: Inference, value: Abstract) -> Abstract:
    """What comes out of an iteration over a value."""
    if isinstance(value, Iterator):
        return value.item
    dicts.ask_for_any_key(inf, value)
    if isinstance(value, List):
        return NOTHING if value.item is None else value.item
    if isinstance(value, Tuple) and value.cls is dict and value.keys:
        keys: list[Abstract] = list(map(Known, value.keys))
        return reduce(join, keys)
    if isinstance(value, Dict):
        return NOTHING if dicts.is_empty(value) else dicts.any_key(inf, value)
    if isinstance(value, Instance) and value.cls is range:
        return Number(INT.types, example=value.example[0] if value.example else 0)
    if inert_class(value) is str:
        text = example_of(value)
        return Instance(str, example=text[0] if type(text) is str and text else "…")
    items = tuple(map(Known, value.value)) if isinstance(value, Known) and is_set(value) else items_of(value)
    if items is not None:
        ask_for_objects(inf, *items)
        return reduce(join if inf.one_way else inf.joined, items) if items else NOTHING
    is_array = isinstance(value, Array) and value.ndim or inert_class(value) is np.ndarray
    if is_array and len(value.example):
        return abstract_of(value.example[0])
    raise Refused(f"an iteration over {named(value)}")


def _isinstance(inf: Inference, s: Statement, args: Args) -> Abstract:
    value, classes = inf.type_of(args[0]), known(inf.type_of(args[1]))
    if classes is MISSING:
        raise Refused("isinstance with an unknown class")
    asked = _asked_of_classes(inf, s, args[0], lambda cls: isinstance_of(cls, classes, inf.world.is_subclass))
    if asked is not None:
        return asked
    if named_tuples.holds_named(value):
        raise Refused("isinstance of what may be a named tuple")
    return pure(inf, s, BOOL)


def _asked_of_classes(inf: Inference, s: Statement, operand: Operand, fits: Callable[[type], bool]) -> Abstract | None:
    """What is asked of the class of a value; None if its classes differ in that, by more than whether it is None."""
    value = inf.type_of(operand)
    found = set(map(fits, classes_of(value)))
    if len(found) == 1:
        return known_as(inf, s, found.pop())
    if isinstance(value, Mixed):
        return None
    if is_of_several(value):
        return tested(inf, s, operand, [cls for cls in built_classes(value) if fits(cls)])
    if is_of_several(content_of(value)) and not isinstance(content_of(value), Mixed):
        raise Refused("of which class an object is that may be None")
    if (
        not isinstance(value, Optional)
        or value.absent is not None
        or len(set(map(fits, classes_of(value.content)))) > 1
    ):
        return None
    # What stands for a list, a tuple or an object at run time is of another class.
    s.op, s.operands, s.data = "is" if fits(type(None)) else "is_not", [operand, Constant(None)], None
    return pure(inf, s, BOOL)


def _issubclass(inf: Inference, s: Statement, args: Args) -> Abstract:
    cls, classes = (known(inf.type_of(x)) for x in args)
    if not isinstance(cls, type) or classes is MISSING:
        raise Refused("issubclass of an unknown class")
    return known_as(inf, s, isinstance_of(cls, classes, inf.world.is_subclass))


def _callable(inf: Inference, s: Statement, args: Args) -> Abstract:
    value = inf.type_of(args[0])
    if isinstance(value, Known):
        return known_as(inf, s, callable(value.value))
    if isinstance(value, (Closure, Bound, Partial)):
        return known_as(inf, s, True)
    asked = _asked_of_classes(inf, s, args[0], lambda cls: any("__call__" in base.__dict__ for base in cls.__mro__))
    if asked is None:
        raise Refused("whether one of several values is called")
    return asked


def _type(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``type(x)``, if there is only one."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if isinstance(kind, Mixed):
        return pure(inf, s, OneOf(tuple(kind.among)))
    if len(args) == 1 and is_of_several(inf.type_of(args[0])):
        return divided(inf, s, args[0])
    found = classes_of(inf.type_of(args[0])) if len(args) == 1 else []
    return known_as(inf, s, found[0]) if len(found) == 1 else None


def _list(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``list(items)``."""
    if not args:
        s.op, s.operands, s.data = "build_list", [], None
        return inf.evaluate(inf, s)
    value = inf.type_of(args[0]) if len(args) == 1 else None
    dicts.ask_for_any_key(inf, value)
    if isinstance(value, Tuple) and value.cls is dict:
        s.op, s.operands, s.data = "build_list", [Constant(key) for key in value.keys], None
        inf.plans[s] = STRUCTURAL
        return Tuple(tuple(map(Known, value.keys)), list, example=list(value.keys), place=s.position)
    if isinstance(value, Dict):
        examples = list(value.example) if isinstance(value.example, dict) else []
        return pure(inf, s, lists.new(inf, s, examples, dicts.any_key(inf, value)))
    known = isinstance(value, Known) and type(value.value) is tuple
    if known or isinstance(value, Tuple) and value.cls in (list, tuple):
        s.op, s.operands, s.data = "build_list", spread(inf, args[0]), None
        return inf.evaluate(inf, s)
    return lists.copy_of(inf, s, args[0]) if value is not None else None


def _extremum(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``max(a, b, c)`` of numbers: the larger one of the first two, and so on."""
    function = s.operands[0] if s.op == "call" else None
    if function is None or len(args) < 3:
        return None
    if any(number_types(inf.type_of(x)) is None for x in args):
        return None
    first = Statement("call", [function, *args[:-1]], Variable(), (), s.position)
    s.operands = [function, first.result, args[-1]]  # type: ignore[list-item]
    inf.block.statements.insert(inf.index, first)
    inf.index -= 1
    return reduce(join, map(inf.type_of, args))


def _sum(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``sum(items)`` of complex numbers, which is an int if there are none: then the program gives up."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    item = kind.item if isinstance(kind, List) else None
    if s.op != "call" or item is None or number_types(item) != _COMPLEX:
        return None
    found = by_rule(inf, s, sum, args, {}, sum)
    if s not in inf.checked:
        inf.checked.add(s)
        check = Statement("call", [Constant(_require_complex), s.made], None, ())
        inf.block.statements.insert(inf.index + 1, check)
    return Number(_COMPLEX, example=getattr(found, "example", 0j))


_COMPLEX: Final = frozenset({complex})


def _require_complex(total: Any) -> None:
    """Give up if a sum is one of nothing."""
    if type(total) is not complex:
        raise Given("a sum of nothing")


def _identity(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``id(x)`` of a list, a dict or an object of the program: what stands for it is one, too."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    _require_own(inf, args)
    return pure(inf, s, INT) if isinstance(kind, Reference) else None


def _hash(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``hash(x)``, which may be made of an identity, or stand for all digits of a number."""
    _require_own(inf, args)
    if not all(isinstance(kind, (Known, Reference)) or kind == INT for kind in map(inf.type_of, args)):
        raise Refused("a hash that may stand for numbers")
    return None


def _require_own(inf: Inference, args: Args) -> None:
    for kind in map(inf.type_of, args):
        if is_copy(inf, kind):
            raise Refused("the identity of a function or a tuple")
        own = isinstance(kind, (Number, Known)) or isinstance(kind, Reference) and not kind.site.root().given
        if inf.of_copies and not own and not (isinstance(kind, Instance) and kind.cls is str):
            raise Refused("the identity of what is given, of which the program has a copy")


def _nothing(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``object.__init__(self)``."""
    return known_as(inf, s, None) if len(args) == 1 else None


QUESTIONS: Final[dict[Any, Question]] = {
    len: _len,
    range: _range,
    slice: _slice,
    slice.indices: _indices,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    isinstance: _isinstance,
    issubclass: _issubclass,
    built: known_as_built,
    type: _type,
    callable: _callable,
    namedtuple: named_tuples.new_class,
    **number_questions.QUESTIONS,
    **draws.QUESTIONS,
    **caching.QUESTIONS,
    lists.as_tuple: lists.shown_as_tuple,
    re._compile: patterns.compiled,  # type: ignore[attr-defined]
    super: super_of,
    object.__init__: _nothing,
    object.__setattr__: write_plainly,
}

OF_ALL_WAYS: Final[dict[Any, Question]] = {
    id: _identity,
    hash: _hash,
    list: _list,
    sum: _sum,
    _require_complex: checked,
    max: _extremum,
    min: _extremum,
    **caching.OF_ALL_WAYS,
    **INITIALISERS,
}
"""The same of programs for all ways; who follows one way has other answers."""
