"""Methods that change lists and dicts, or look something up in them: their definitions are followed."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict
from types import FunctionType
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.semantics.equivalents import changing
from autodiff_hook.transform.specialise import dicts, lists
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Array,
    Closure,
    Dict,
    Fresh,
    Known,
    List,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Code, Refused
from autodiff_hook.transform.specialise.following import may_be_mapping
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import built_class, inert_class, is_set, number_types
from autodiff_hook.transform.specialise.lengths import of_one_length
from autodiff_hook.transform.specialise.objects import is_copied_plainly, object_class, written
from autodiff_hook.transform.specialise.places import ask_for_copy, ask_to_append
from autodiff_hook.transform.specialise.plans import alias, is_only_iterated, known_as, pure, spread
from autodiff_hook.transform.specialise.program import ITEMS, Given
from autodiff_hook.transform.specialise.questions import OF_ALL_WAYS
from autodiff_hook.transform.specialise.wording import named

_OF_LISTS: Final[dict[str, Code]] = {
    "insert": changing.insert,
    "remove": changing.remove,
    "reverse": changing.turn,
    "sort": changing.sort,
    "clear": changing.clear,
    "extend": changing.extend,
    "pop": changing.taken,
    "index": changing.place_of,
    "count": changing.number_of,
}
_OF_DICTS: Final[dict[str, Code]] = {
    "get": changing.value_of,
    "setdefault": changing.value_or_new,
    "pop": changing.taken_by_key,
    "update": changing.update,
    "popitem": changing.last_taken,
    "clear": changing.emptied,
}
_OF_ORDERED: Final[dict[str, Code]] = {"popitem": changing.end_taken, "move_to_end": changing.move_to_end}
_OF_COUNTERS: Final[dict[str, Code]] = {
    "update": changing.count,
    "subtract": changing.uncount,
    "total": changing.total,
    "most_common": changing.most_common,
}
_ONLY_READING: Final = frozenset({"index", "count", "get"})
_SHORT: Final = 64


def ask_for_list(inf: Inference, owner: Operand, value: Outside, name: str) -> None:
    """A list from outside that is changed, and that is empty or holds things of several kinds."""
    if name == "append":
        ask_to_append(inf, inf.final(owner), value.example)
    elif name in _OF_LISTS and not value.example:
        ask_for_copy(inf, inf.final(owner))


def method(inf: Inference, s: Statement, name: str, args: Args, names: tuple[str, ...]) -> Code | None:
    """The definition of a method of the list or dict at hand; None if it is another method."""
    owner = s.operands[0]
    kind = inf.type_of(owner)
    if inf.one_way:
        return None
    if isinstance(kind, Tuple) and kind.cls in (list, dict):
        known = name in (_OF_LISTS if kind.cls is list else _OF_DICTS)
        if known and (name not in _ONLY_READING or name in ("index", "count")):
            lists.ask_for_changes(inf, owner)
        return None
    if isinstance(kind, List):
        itself = name == "extend" and len(args) == 1 and inf.type_of(args[0]) == kind
        return None if itself else _OF_LISTS.get(name)
    if isinstance(kind, Dict) and kind.site.cls is Counter and name in _OF_COUNTERS:
        if names or name in ("update", "subtract") and any(map(may_be_mapping, map(inf.type_of, args))):
            raise Refused(f"Counter.{name} of a mapping")
        return _OF_COUNTERS[name]
    if isinstance(kind, Dict) and kind.site.cls is OrderedDict and name in _OF_ORDERED:
        return _OF_ORDERED[name]
    if isinstance(kind, Dict) and name == "pop" and len(args) == 2:
        return changing.taken_or_default
    plain = isinstance(kind, Dict) and kind.site.cls is None
    return changing.copied if name == "copy" and plain else _OF_DICTS.get(name) if isinstance(kind, Dict) else None


def is_union(inf: Inference, s: Statement) -> bool:
    """Whether ``a | b`` or ``a |= b`` is of dicts."""
    kinds = [inf.type_of(x) for x in s.operands]
    found = all(kind.cls is dict for kind in kinds if isinstance(kind, (Dict, Tuple)))
    if inf.one_way or not found or not all(isinstance(kind, (Dict, Tuple)) for kind in kinds):
        return False
    if any(isinstance(kind, Dict) and kind.site.cls is not None for kind in kinds):
        raise Refused("a union of what only stands for another class")
    if s.op == "inplace":
        lists.ask_for_changes(inf, s.operands[0])
    return True


def followed(inf: Inference, s: Statement, code: Code, args: Args, names: tuple[str, ...]) -> Abstract | None:
    """The call of a method by its definition."""
    owner = s.operands[0]
    if code is changing.update and len(args) == len(names):
        return assigned(inf, s, owner, dict(zip(names, args)))
    if code is changing.update and len(args) == 1:
        other = inf.type_of(args[0])
        if isinstance(other, Tuple) and other.cls is dict:
            return _entered(inf, s, owner, args[0], other)
        if isinstance(other, Known) or number_types(other) is not None:
            raise Refused(f"dict.update by {named(other)}")
    count = len(args) - len(names)
    if code is changing.value_of and count == 2 and inf.type_of(args[1]) == Known(()) and is_only_iterated(inf, s):
        # In an iteration a list is as empty.
        args = [args[0], inf.before(s, "build_list", [])]
    return inline_call(inf, s, code, [owner, *args[:count]], dict(zip(names, args[count:])))


def _entered(inf: Inference, s: Statement, owner: Operand, other: Operand, kind: Tuple) -> Abstract:
    """``items.update({"a": x, "b": y})``: an assignment for each key."""
    return assigned(inf, s, owner, dict(zip(kind.keys, spread(inf, other, kind.keys))))


def assigned(inf: Inference, s: Statement, owner: Operand, values: dict[Any, Operand]) -> Abstract:
    """Assignments of the items of a dict stand in the place of a statement."""
    steps = [Statement("setitem", [owner, Constant(key), x], None, None, s.position) for key, x in values.items()]
    done = Statement("same", [Constant(None)], s.result, None, s.position)
    inf.block.statements[inf.index : inf.index + 1] = [*steps, done]
    inf.index -= 1
    return Known(None)


def require_short(items: list[Any]) -> None:
    """Give up if what moves one item after the other has to move many."""
    if len(items) > _SHORT:
        raise Given("one item of a long list is put in or taken out")


def _require_short(inf: Inference, s: Statement, args: Args) -> Abstract:
    s.op, s.operands, s.data = "call", [Constant(require_short), *args], ()
    return pure(inf, s, Known(None))


def _tuple(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``tuple(items)`` of any number of items: a list that nothing changes, and that is taken for a tuple."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if kind is None:
        return None
    if isinstance(kind, List):
        made = lists.copy_of(inf, s, args[0])
        assert isinstance(made, List)
        made.site.stand_for(tuple)
        return made
    if isinstance(kind, Tuple) and kind.cls is list:
        s.op, s.operands, s.data = "build_tuple", spread(inf, args[0]), None
        return inf.evaluate(inf, s)
    if isinstance(kind, Array) and kind.dtype is not None and kind.dtype.kind in "iub" and not inf.one_way:
        return alias(inf, s, of_one_length(inf, args[0]))
    bounds = _bounds(inf, args[0])
    if bounds is not None and len(range(*bounds)) <= _WRITTEN_OUT:
        return known_as(inf, s, tuple(range(*bounds)))
    return alias(inf, s, args[0]) if isinstance(kind, Tuple) and kind.cls is tuple else None


_WRITTEN_OUT: Final = 32
"""How many numbers are written out."""


def _bounds(inf: Inference, operand: Operand) -> list[int] | None:
    """The bounds of a range that has just been made, if they are known."""
    made = next(
        (x for x in inf.block.statements[: inf.index] if x.result is operand and x.op == "call" and not x.data), None
    )
    kinds = [] if made is None else list(map(inf.type_of, made.operands))
    values = [kind.value for kind in kinds if isinstance(kind, Known)]
    return values[1:] if values and len(values) == len(kinds) and values[0] is range else None


def _with_defaults(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``defaultdict(float)``."""
    make = inf.type_of(args[0]) if len(args) == 1 else None
    alone = isinstance(make, Closure) and not (make.cells or make.defaults or make.keyword_defaults)
    if s.result is None or not (alone or isinstance(make, Known) and callable(make.value)):
        return None
    inf.assume(args[0])
    return _begun(inf, s, defaultdict, _function_of(make))


def _begun(inf: Inference, s: Statement, cls: type, made_by: Any = None) -> Abstract:
    """An empty dict that is taken for one of another class."""
    made = dicts.standing_for(inf, s, cls, made_by)
    s.op, s.operands, s.data = "build_map", [], None
    inf.plans[s] = ITEMS
    return made


def _function_of(make: Abstract | None) -> Any:
    if isinstance(make, Closure):
        return FunctionType(make.code, make.globals)
    return make.value if isinstance(make, Known) else None


def _empty_of(cls: type) -> Any:
    """``Counter()`` and ``OrderedDict()``."""
    return lambda inf, s, args: None if args or s.result is None else _begun(inf, s, cls)


def _end(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """The key at an end of a dict."""
    kind = inf.type_of(args[0])
    if not isinstance(kind, Dict):
        return None
    return pure(inf, s, dicts.any_key(inf, kind))


def first_of(inf: Inference, s: Statement, iterator: Operand) -> Statement | None:
    """``next(iter(mapping))`` of a dict, as what asks for its first key; None for something else."""
    before = inf.block.statements[inf.index - 1] if inf.index else None
    if before is None or before.op != "get_iter" or before.result is not iterator:
        return None
    kind = inf.type_of(before.operands[0])
    if not isinstance(kind, Dict) or is_set(kind) or built_class(kind) is not None or dicts.is_empty(kind):
        return None
    s.op, s.operands, s.data = "call", [Constant(changing.first_key), before.operands[0]], ()
    return s


def _empty(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``dict()``; a dict from outside that is copied becomes one of items of one kind."""
    for arg in args:
        dicts.ask_for_any_key(inf, inf.type_of(arg))
    if args:
        return None
    s.op, s.operands, s.data = "build_map", [], None
    return inf.evaluate(inf, s)


def _copied(inf: Inference, s: Statement, args: Args, function: Any = copy.copy) -> Abstract | None:
    """``copy.copy`` of a list, a number, a text or an object."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if kind is None:
        return None
    if isinstance(kind, Fresh) or built_class(kind) is not None:
        return _object_copied(inf, s, args[0], function)
    if isinstance(kind, Tuple) and kind.cls is list:
        lists.ask_for_changes(inf, args[0])
    if isinstance(kind, List) and kind.site.cls is None:
        return lists.copy_of(inf, s, args[0])
    return alias(inf, s, args[0]) if is_unchangeable(kind) else None


def _copied_deeply(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``copy.deepcopy`` of a list of what cannot be changed, or of an object that holds one thing which can."""
    kind = inf.type_of(args[0]) if len(args) == 1 else None
    if isinstance(kind, Fresh) or kind is not None and built_class(kind) is not None:
        return _copied(inf, s, args, copy.deepcopy)
    if isinstance(kind, Tuple) and kind.cls is list:
        lists.ask_for_changes(inf, args[0])
    flat = isinstance(kind, List) and kind.item is not None and is_unchangeable(kind.item)
    return _copied(inf, s, args) if flat or kind is not None and is_unchangeable(kind) else None


def copying(inf: Inference, function: Any, args: Args, kwargs: Kwargs) -> FunctionType | None:
    """The method by which an object says how it is copied by ``copy.copy``."""
    cls = object_class(inf.type_of(args[0])) if function is copy.copy and len(args) == 1 and not kwargs else None
    return written(inf, cls, "__copy__") if cls is not None else None


def _object_copied(inf: Inference, s: Statement, owner: Operand, function: Any) -> Abstract | None:
    """A new object with the attributes of another; in a deep copy with copies of them."""
    kind = inf.type_of(owner)
    cls, held = object_class(kind), inf.attributes_of(kind)
    names = sorted(held)
    if function is copy.deepcopy and sum(not is_unchangeable(x) for x in held.values()) > 1:
        raise Refused("a deep copy of an object that may hold one thing twice")
    assert cls is not None
    if not is_copied_plainly(inf, cls, f"__{function.__name__}__"):
        raise Refused("a copy of an object of which is said how it is copied")
    inf.assume(owner)
    inf.assumptions.copied[s] = owner, names
    following = list[Statement]()
    for name in names:
        value = Statement("getattr", [owner], Variable(name), name, s.position)
        following.append(value)
        if function is copy.deepcopy:
            value = Statement("call", [Constant(function), value.made], Variable(name), (), s.position)
            following.append(value)
        following.append(Statement("setattr", [s.made, value.made], None, name, s.position))
    inf.block.statements[inf.index + 1 : inf.index + 1] = following
    s.op, s.operands, s.data = "call", [Constant(object.__new__), Constant(cls)], ()
    return inf.evaluate(inf, s)


def is_unchangeable(kind: Abstract) -> bool:
    """Whether a value is a number, a text, or a tuple of these."""
    if isinstance(kind, Tuple):
        return kind.cls is tuple and all(map(is_unchangeable, kind.items))
    return number_types(kind) is not None or inert_class(kind) in (str, bytes, type(None))


OF_ALL_WAYS.update(
    {
        tuple: _tuple,
        defaultdict: _with_defaults,
        OrderedDict: _empty_of(OrderedDict),
        Counter: _empty_of(Counter),
        copy.copy: _copied,
        copy.deepcopy: _copied_deeply,
        dict: _empty,
        changing.first_key: _end,
        changing.last_key: _end,
        require_short: _require_short,
        changing.require_short: _require_short,
    }
)
