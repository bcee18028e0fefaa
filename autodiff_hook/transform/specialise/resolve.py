"""What each operation of a program means, from the abstract values of its operands.

``evaluate`` gives the abstract value of the result, and leaves a plan for the statement.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections import Counter
from collections.abc import Callable
from enum import EnumMeta
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import UNBOUND, Constant, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.semantics.equivalents import iterating, managing, vectorizing
from autodiff_hook.semantics.equivalents.changing import extended, united, united_in_place, value_or_made, value_or_zero
from autodiff_hook.semantics.operations import BINARY, NAMES, UNARY
from autodiff_hook.transform.specialise import (
    apart,
    assigned,
    attributes,
    cells,
    changing,
    comparing,
    constants,
    dicts,
    displays,
    exceptions,
    following,
    halves,
    helpers,
    keeping,
    lists,
    managers,
    matching,
    named_tuples,
    producers,
    raises_when,
    records,
    sets,
    stores,
    texts,
)
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    BOOL,
    INT,
    MISSING,
    Abstract,
    Array,
    Closure,
    Dict,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Number,
    Optional,
    Outside,
    Producer,
    Reference,
    Several,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Changes, Refused, is_plain
from autodiff_hook.transform.specialise.calling import BODIES, HELD, STEPS, call_expanded, call_known, call_of
from autodiff_hook.transform.specialise.dividing import divide
from autodiff_hook.transform.specialise.grids import item_of_grid
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.kept import keep_function
from autodiff_hook.transform.specialise.lattice import (
    REAL,
    built_class,
    example_of,
    inert_class,
    is_true,
    join,
    known,
    number_types,
)
from autodiff_hook.transform.specialise.members import (
    attribute_of,
    imported,
    imported_from,
    loaded_call,
    method_call,
    method_loaded,
)
from autodiff_hook.transform.specialise.objects import look, object_class
from autodiff_hook.transform.specialise.places import is_assigned, place_of
from autodiff_hook.transform.specialise.plans import (
    alias,
    is_hashable,
    items_of,
    known_as,
    part_of,
    pure,
    require_inert,
    require_value,
    spread,
)
from autodiff_hook.transform.specialise.program import LOAD, PURE, STRUCTURAL
from autodiff_hook.transform.specialise.questions import item_of
from autodiff_hook.transform.specialise.queues import ask_for_queue
from autodiff_hook.transform.specialise.results import is_form_of_types, is_grid, samples
from autodiff_hook.transform.specialise.ruled import by_rule
from autodiff_hook.transform.specialise.spoken import require_native
from autodiff_hook.transform.specialise.vectorizing import reduced, vectorized
from autodiff_hook.transform.specialise.views import flat_of, taken_flat

Meaning = Callable[[Inference, Statement], Abstract | None]


def evaluate(inf: Inference, s: Statement) -> Abstract | None:
    """The abstract value of the result of ``s``; None if a body was put in its place."""
    meaning = _MEANINGS.get(s.op)
    if meaning is None:
        raise Refused(f"{s.op} is not specialised")
    if inf.keeps and keeping.keep(inf, s):
        return None
    if s.op in _ARITHMETIC and _is_numeric(inf, s) and registry.has_rules(function := BINARY[s.data]):
        return by_rule(inf, s, function, s.operands, {}, function)
    require_native(inf, s)
    if s.op in _OF_VALUES and require_value(inf, s, s.operands[: _OF_VALUES[s.op]]):
        return None
    for operand in s.operands:
        ask_for_queue(inf, operand)
    if divide(inf, s):
        return None
    return meaning(inf, s)


_OF_VALUES: Final = {
    **dict.fromkeys(("binary", "inplace", "getitem", "setitem", "map_add"), 2),
    **dict.fromkeys(("unary", "unpack", "get_iter", "getattr", "setattr", "load_method", "call_method"), 1),
}
"""The operations that None has no part in, and of how many of their first operands that is true."""


def _extended(inf: Inference, s: Statement, owner: Array | List) -> Abstract | None:
    """``items += (a, b)``."""
    added = inf.type_of(s.operands[1])
    items = items_of(added)
    if not isinstance(owner, List) or s.data != "+" or inf.one_way or added == owner:
        raise Refused("an array or a list is changed in place")
    if isinstance(added, Array) or look(inf, getattr(added, "cls", object), "__radd__") is not None:
        raise Refused("a list is added to what says itself how")
    if items is None:
        return inline_call(inf, s, extended, s.operands, {})
    lists.extend(inf, s, s.operands[0], spread(inf, s.operands[1]))
    return _same(inf, s)


def _same(inf: Inference, s: Statement) -> Abstract:
    """What is left of a statement whose work others do."""
    return alias(inf, s, s.operands[0])


def _binary(inf: Inference, s: Statement) -> Abstract | None:
    function = BINARY[s.data]
    found = sets.operation(inf, s)
    if found is not None:
        return found
    if s.data == "|" and changing.is_union(inf, s):
        return inline_call(inf, s, united if s.op == "binary" else united_in_place, s.operands, {})
    if s.op == "inplace":
        owner = inf.type_of(s.operands[0])
        if isinstance(owner, Array) and not inf.one_way:
            return stores.augmented(inf, s)
        if isinstance(owner, (Array, List)):
            return _extended(inf, s, owner)
        if isinstance(owner, Tuple) and owner.cls is list:
            lists.ask_for_changes(inf, s.operands[0])
        cls = object_class(owner)
        method = None if cls is None else look(inf, cls, f"__i{NAMES[s.data]}__")
        if type(method) is FunctionType and not inf.one_way and "NotImplemented" not in method.__code__.co_names:
            inf.assume(s.operands[0])
            return call_known(inf, s, method, s.operands, {})
        if method is not None:
            raise Refused("an object is changed in place")
    if s.data in _OF_SEQUENCES and not inf.one_way:
        found = displays.joined(inf, s)
        if found is not None:
            return found
    if s.op == "binary" and s.data in _OF_SEQUENCES:
        found = _OF_SEQUENCES[s.data](inf, s)
        if found is not None:
            return found
    text = texts.operation(inf, s)
    if text is not None:
        return text
    return call_known(inf, s, function, s.operands, {})


def _is_numeric(inf: Inference, s: Statement) -> bool:
    """Whether arithmetic is that of numbers, or of arrays which it leaves alone; not all of them are known."""
    arrays = s.op == "binary" and not inf.one_way
    unknown = False
    for operand in s.operands:
        kind = inf.type_of(operand)
        if isinstance(kind, Known):
            if type(kind.value) not in REAL:
                return False
        elif isinstance(kind, Number) and kind.types <= REAL or arrays and isinstance(kind, Array):
            unknown = True
        else:
            return False
    return unknown


_ARITHMETIC: Final = ("binary", "inplace")
_OF_SEQUENCES: Final[dict[str, Meaning]] = {"*": lists.repeated, "+": lists.sum_of}


def _unary(inf: Inference, s: Statement) -> Abstract | None:
    return call_known(inf, s, UNARY[s.data], s.operands, {})


def _truth(inf: Inference, s: Statement) -> Abstract | None:
    value = inf.type_of(s.operands[0])
    method = None if inf.one_way else following.truth(inf, value, s.op == "not")
    if method is not None:
        inf.assume(s.operands[0])
        return inline_call(inf, s, method, list(s.operands), {})
    if isinstance(value, Optional) and value.absent is None and is_true(value.content):
        s.op, s.operands, s.data = "is" if s.op == "not" else "is_not", [s.operands[0], Constant(None)], None
        return comparing.same(inf, s)
    truth = is_true(value)
    if truth is not None:
        return known_as(inf, s, truth != (s.op == "not"))
    if not isinstance(value, Reference) or built_class(value) is not None:
        require_inert(value)
    return pure(inf, s, BOOL)


def _in(inf: Inference, s: Statement) -> Abstract:
    values = [inf.type_of(x) for x in s.operands]
    key, owner = values
    if built_class(owner) is not None:
        raise Refused("what an object contains")
    if isinstance(owner, Outside) and owner.cls is dict and isinstance(key, Known) and is_plain(key.value):
        if is_assigned(inf, owner, key.value):
            raise Refused("whether a dict has a key that is assigned")
        found = inf.world.holds(inf.final(s.operands[1]), owner.example, key.value)
        return known_as(inf, s, found == (s.op == "in"))
    dicts.ask_for_any_key(inf, values[1])
    require_inert(*(values[:1] if isinstance(values[1], Dict) else values))
    if isinstance(values[1], Tuple) and values[1].cls is dict and isinstance(values[0], Known):
        return known_as(inf, s, (values[0].value in values[1].keys) == (s.op == "in"))
    if all(isinstance(v, Known) for v in values) and is_plain(example_of(values[1])):
        found = operator.contains(example_of(values[1]), example_of(values[0]))
        return known_as(inf, s, found == (s.op == "in"))
    return pure(inf, s, BOOL)


def _build_tuple(inf: Inference, s: Statement) -> Abstract:
    if s in inf.classes:
        return named_tuples.built(inf, s)
    if s.op == "build_list" and not s.operands:
        return lists.begin(inf, s)
    items = [inf.type_of(x) for x in s.operands]
    cls = tuple if s.op == "build_tuple" else list
    is_changed = s.position in inf.program.changed or s in inf.listed
    found = lists.made_of(inf, s, tuple(items)) if cls is list and is_changed else None
    if found is not None:
        return found
    if cls is tuple and all(isinstance(x, Known) and is_plain(x.value) for x in items):
        return known_as(inf, s, tuple(example_of(x) for x in items))
    inf.plans[s] = STRUCTURAL
    examples = [_example_or_sample(x) for x in items]
    place = s.position if cls is list else None
    return Tuple(tuple(items), cls, example=cls(examples), place=place)


def _example_or_sample(value: Abstract) -> Any:
    found = example_of(value)
    types = number_types(value)
    return samples(next(iter(types)))[0] if found is MISSING and types else found


def _project(inf: Inference, s: Statement) -> Abstract | None:
    if isinstance(inf.type_of(s.operands[0]), Array):
        s.op, s.operands, s.data = "getitem", [s.operands[0], Constant(s.data)], None
        return _getitem(inf, s)
    items = items_of(inf.type_of(s.operands[0]))
    if items is None:
        raise Refused("a part of what is not a tuple")
    return part_of(inf, s, items, s.data)


def _getitem(inf: Inference, s: Statement) -> Abstract | None:
    if raises_when.before_item(inf, s):
        return None
    owner, key = map(inf.type_of, s.operands)
    array = flat_of(owner)
    if array is not None:
        s.operands[0] = inf.before(s, "call_method", [array], taken_flat(key))
        return inf.evaluate(inf, s)
    if isinstance(key, Known) and is_hashable(key.value) and is_assigned(inf, owner, key.value):
        return assigned.read(inf, s, owner.example, s.operands[0], key.value)
    if isinstance(owner, Outside) and records.is_part(inf, s.operands[0], owner, known(key)):
        return alias(inf, s, inf.world.part(inf.final(s.operands[0]), owner.example, known(key), True))
    if isinstance(owner, Outside) and owner.cls in (list, dict):
        if not isinstance(key, Known):
            dicts.ask_for_any_key(inf, owner)
        if not isinstance(key, Known) or not _names_a_part(owner.cls, key.value):
            raise Refused("an item of an object by an unknown key")
        return alias(inf, s, inf.world.part(inf.final(s.operands[0]), owner.example, key.value, True))
    if isinstance(owner, Tuple) and owner.cls is dict:
        if not isinstance(key, Known):
            return dicts.item_by_unknown_key(inf, s, owner)
        if key.value not in owner.keys:
            raise Refused("an item of a dict by a key that it does not have")
        return part_of(inf, s, owner.items, owner.keys.index(key.value))
    if inert_class(owner) is str:
        return texts.item(inf, s, owner, key)
    if isinstance(owner, Known) and owner.value is sys.version_info and isinstance(key, Known):
        return known_as(inf, s, owner.value[key.value])
    if isinstance(owner, Known) and type(owner.value) is EnumMeta and isinstance(key, Known):
        return constants.member(inf, s, owner.value, owner.value.__members__, key.value)
    if isinstance(owner, Known) and is_form_of_types(owner.value) and known(key) is not MISSING:
        return known_as(inf, s, owner.value[known(key)])
    if isinstance(owner, Known) and is_grid(owner.value):
        return item_of_grid(inf, s, owner.value, s.operands[1])
    items = items_of(owner)
    if items is not None:
        if isinstance(key, Known) and type(key.value) is int:
            return part_of(inf, s, items, key.value)
        if isinstance(key, Known) and type(key.value) is slice and isinstance(owner, (Known, Tuple)):
            return _slice_of_tuple(inf, s, owner, items, key.value)
        code = any(isinstance(x, Known) and callable(x.value) for x in items)
        if number_types(key) == INT.types and items and not code:
            together = functools.reduce(join, items)
            types = number_types(together)
            if types is not None or isinstance(together, Instance):
                inf.plans[s] = LOAD
                return together if types is None else Number(types)
        if isinstance(owner, Tuple) and owner.cls is list and owner.place is not None and not inf.one_way:
            raise Changes("a list that is written out is read at an unknown place", owner.place)
        raise Refused("an item of a tuple by an unknown index")
    if isinstance(owner, Dict) and built_class(owner) is None:
        require_inert(key)
        if owner.site.cls is MISSING:
            raise Refused("an item of a dict that may have default values")
        if owner.site.made_by is not None and s.data != HELD:
            return inline_call(inf, s, value_or_made, [*s.operands, Constant(owner.site.made_by)], {})
        if owner.site.cls is Counter and s.data != HELD:
            return inline_call(inf, s, value_or_zero, s.operands, {})
        inf.plans[s] = LOAD
        return dicts.item_of_dict(inf, owner, key)
    if isinstance(owner, List):
        if inert_class(key) is slice:
            return lists.slice_of(inf, s, owner)
        if number_types(key) not in (INT.types, BOOL.types):
            raise Refused("an item of a list by an unknown index")
        inf.plans[s] = LOAD
        return lists.item_of_list(owner)
    return call_known(inf, s, operator.getitem, s.operands, {})


def _slice_of_tuple(
    inf: Inference, s: Statement, owner: Known | Tuple, items: tuple[Abstract, ...], part: slice
) -> Abstract | None:
    """``items[a:b]`` of a tuple, or of a list that nothing changes."""
    cls = owner.cls if isinstance(owner, Tuple) else tuple
    if cls not in (tuple, list):
        raise Refused("a slice of a named tuple")
    parts = spread(inf, s.operands[0], range(len(items))[part])
    s.op, s.operands, s.data = "build_tuple" if cls is tuple else "build_list", parts, None
    return _build_tuple(inf, s)


def _names_a_part(cls: type, key: Any) -> bool:
    """Whether a key names one item of a list or a dict: a slice of a list is a new list each time."""
    if cls is list:
        return type(key) in (int, bool)
    return cls is dict and is_hashable(key)


def _build_slice(inf: Inference, s: Statement) -> Abstract:
    values = [inf.type_of(x) for x in s.operands]
    if all(isinstance(v, Known) for v in values):
        return known_as(inf, s, slice(*map(example_of, values)))
    if any(isinstance(v, (Fresh, Outside, Reference)) for v in values):
        raise Refused("a slice whose ends are objects, which may run code")
    if any(types is not None and not types <= lists.WHOLE | {bool} for types in map(number_types, values)):
        raise Refused("a slice of numbers that are not whole")
    return pure(inf, s, Instance(slice, example=slice(*map(example_of, values))))


def _check(inf: Inference, s: Statement) -> Abstract | None:
    value = s.operands[0]
    kind = inf.type_of(value)
    if isinstance(kind, Optional) and kind.absent is UNBOUND:
        require_value(inf, s, [value])
        return None
    if kind is ANY or isinstance(kind, Several) or isinstance(kind, Known) and kind.value is UNBOUND:
        raise Refused("a variable without a value")
    return alias(inf, s, value)


def _make_function(inf: Inference, s: Statement) -> Abstract:
    defaults, keyword, _, closure, _ = s.operands
    given = inf.type_of(defaults)
    inf.plans[s] = PURE
    block = inf.block
    assert block is not None
    made = definitions(x for x in statements_of(inf.visited) if x.op in ("build_tuple", "build_map"))
    cells = made[closure].operands if closure in made else []
    values: tuple[Operand, ...] = ()
    if isinstance(defaults, Variable):
        values = tuple(made[defaults].operands)
    elif isinstance(given, Known) and given.value:
        values = tuple(map(Constant, given.value))
    named = None
    if isinstance(keyword, Variable):
        pairs = made[keyword].operands
        named = {inf.type_of(key).value: value for key, value in zip(pairs[::2], pairs[1::2])}  # type: ignore[attr-defined]
    return Closure(s.data, inf.globals_of[block], tuple(cells), values, named)


def _global(inf: Inference, s: Statement) -> Abstract:
    name, globals_ = str(s.data), inf.globals_here
    if place_of(globals_, name) not in inf.program.changed:
        raise Refused(f"the global name {name} is not defined")
    return assigned.read(inf, s, globals_, Constant(globals_), name)


def _store_global(inf: Inference, s: Statement) -> Abstract:
    globals_ = inf.globals_here
    return assigned.write(inf, s, globals_, Constant(globals_), str(s.data))


def _get_iter(inf: Inference, s: Statement) -> Abstract | None:
    if isinstance(inf.type_of(s.operands[0]), Iterator) and s.operands[0] in inf.started:
        return alias(inf, s, s.operands[0])
    kind = inf.type_of(s.operands[0])
    if isinstance(kind, Producer):
        return alias(inf, s, s.operands[0])
    cls = object_class(kind)
    method = None if cls is None else look(inf, cls, "__iter__")
    if type(method) is FunctionType and not inf.one_way:
        inf.assume(s.operands[0])
        begun = Statement("call", [Constant(method), *s.operands], Variable(), (), s.position)
        s.op, s.operands, s.data = "call", [Constant(iterating.stepped), begun.made], ()
        return inf.first(begun)
    parts = apart.items(inf, s.operands[0])
    if parts is not None:
        return apart.begin(inf, s, parts)
    s.operands = [constants.members(inf, x) for x in s.operands]
    if s.result is not None:
        inf.started.add(s.result)
    s.operands = [lists.listed(inf, s, named_tuples.plain(inf, s, s.operands[0]))]
    return pure(inf, s, Iterator(item_of(inf, inf.type_of(s.operands[0]))))


_MEANINGS: Final[dict[str, Meaning]] = {
    "binary": _binary,
    "inplace": _binary,
    "unary": _unary,
    "compare": comparing.compare,
    "truth": _truth,
    "not": _truth,
    "is": comparing.same,
    "is_not": comparing.same,
    "in": _in,
    "not_in": _in,
    "build_tuple": _build_tuple,
    "unpack": displays.unpack,
    "unpack_rest": displays.with_rest,
    "project": _project,
    "getitem": _getitem,
    "build_list": _build_tuple,
    "star": displays.star,
    "dict_update": displays.updated,
    "list_extend": displays.extended,
    "list_to_tuple": displays.finished,
    "display": displays.display,
    "import_name": imported,
    "import_from": imported_from,
    "list_append": lists.append,
    "map_add": stores.entry,
    "build_slice": _build_slice,
    "make_cell": cells.make_cell,
    "cell_set": cells.cell_set,
    "cell_get": cells.cell_get,
    "check": _check,
    "make_function": _make_function,
    "suspend": producers.made,
    "global": _global,
    "store_global": _store_global,
    "getattr": attribute_of,
    "setattr": attributes.write,
    "setitem": stores.store,
    "delitem": lists.drop,
    "same": _same,
    "enter": managers.enter,
    "build_map": dicts.mapping,
    "build_set": sets.made,
    "set_add": sets.step,
    "set_update": sets.step,
    "call": call_of,
    "call_method": method_call,
    "load_method": method_loaded,
    "call_loaded": loaded_call,
    "call_ex": call_expanded,
    "get_iter": _get_iter,
    "push_exc": exceptions.passed,
    "pop_exc": exceptions.passed,
    "exc_match": exceptions.matches,
    "match_class": matching.by_class,
    "match_keys": matching.by_keys,
    "match_mapping": matching.of_kind,
    "match_sequence": matching.of_kind,
    "get_len": matching.length,
    "format": texts.formatted,
    "build_string": texts.formatted,
}

BODIES[keep_function] = keeping.kept_function
BODIES[functools.reduce] = reduced
BODIES[operator.itemgetter] = BODIES[operator.attrgetter] = helpers.getter
STEPS.update((operator.itemgetter, operator.attrgetter))
BODIES[np.vectorize] = BODIES[vectorizing.vectorized] = vectorized
BODIES[managing.manager], BODIES[managing.begun], BODIES[managing.ended] = halves.make, halves.begin, halves.end
