"""What each operation of a program means, from the abstract values of its operands.

``evaluate`` gives the abstract value of the result, and leaves a plan for the statement.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Final

from autodiff_hook.ir.analysis import definitions, statements_of
from autodiff_hook.ir.types import UNBOUND, Constant, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.semantics.equivalents import iterating, managing
from autodiff_hook.semantics.equivalents.changing import extended, united, united_in_place
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
    items,
    keeping,
    lists,
    managers,
    matching,
    named_tuples,
    producers,
    sets,
    stores,
    texts,
)
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    BOOL,
    Abstract,
    Array,
    Closure,
    Dict,
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
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.calling import BODIES, NAMED, STEPS, call_expanded, call_known, call_of
from autodiff_hook.transform.specialise.dividing import divide
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.kept import keep_function
from autodiff_hook.transform.specialise.lattice import REAL, built_class, example_of, is_true
from autodiff_hook.transform.specialise.members import (
    attribute_of,
    imported,
    imported_from,
    loaded_call,
    method_call,
    method_loaded,
)
from autodiff_hook.transform.specialise.objects import look, object_class, written
from autodiff_hook.transform.specialise.places import is_assigned, place_of
from autodiff_hook.transform.specialise.plans import (
    alias,
    items_of,
    known_as,
    pure,
    require_inert,
    require_value,
    spread,
)
from autodiff_hook.transform.specialise.program import PURE
from autodiff_hook.transform.specialise.questions import item_of
from autodiff_hook.transform.specialise.ruled import by_rule
from autodiff_hook.transform.specialise.spoken import require_native
from autodiff_hook.transform.specialise.vectorizing import VECTORIZING, reduced

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
    parts = items_of(added)
    if not isinstance(owner, List) or s.data != "+" or inf.one_way or added == owner:
        raise Refused("an array or a list is changed in place")
    if isinstance(added, Array) or look(inf, getattr(added, "cls", object), "__radd__") is not None:
        raise Refused("a list is added to what says itself how")
    if parts is None:
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
        try:
            found = operator.contains(example_of(values[1]), example_of(values[0]))
        except TypeError as error:
            raise Refused(f"in raised TypeError: {error}") from error
        return known_as(inf, s, found == (s.op == "in"))
    return pure(inf, s, BOOL)


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
        loaded, known = inf.world.load(globals_)(name), inf.foreseen.get(s)
        if loaded is None:
            raise Refused(f"the global name {name} is not defined")
        if known is not None and not (isinstance(loaded, Constant) and loaded.value is known.value):
            raise Refused(f"the global name {name} is assigned meanwhile")
        return alias(inf, s, loaded)
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
    method = None if cls is None else written(inf, cls, "__iter__")
    if method is not None and not inf.one_way:
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
    "build_tuple": items.build,
    "unpack": displays.unpack,
    "unpack_rest": displays.with_rest,
    "project": items.project,
    "getitem": items.getitem,
    "build_list": items.build,
    "star": displays.star,
    "dict_update": displays.updated,
    "list_extend": displays.extended,
    "list_to_tuple": displays.finished,
    "display": displays.display,
    "import_name": imported,
    "import_from": imported_from,
    "list_append": lists.append,
    "map_add": stores.entry,
    "build_slice": items.build_slice,
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
for _getter in (operator.itemgetter, operator.attrgetter, operator.methodcaller):
    BODIES[_getter] = helpers.getter
    STEPS.add(_getter)
for _of_vectorize, _body in VECTORIZING.items():
    BODIES[_of_vectorize], NAMED[_of_vectorize] = functools.partial(_body, kwargs={}), _body
    STEPS.add(_of_vectorize)
BODIES[managing.manager], BODIES[managing.begun], BODIES[managing.ended] = halves.make, halves.begin, halves.end
