"""What each operation of a program means, from the abstract values of its operands.

``evaluate`` gives the abstract value of the result, and leaves a plan for the statement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from autodiff_hook.ir.types import UNBOUND, Constant, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.transform import lists
from autodiff_hook.transform.abstract import (
    ANY,
    BOOL,
    INT,
    MISSING,
    Abstract,
    Array,
    Bound,
    Cell,
    Closure,
    Fresh,
    Instance,
    Iterator,
    Known,
    List,
    Number,
    Outside,
    OwnList,
    Super,
    Tuple,
    example_of,
    inert_class,
    is_true,
    join,
    number_types,
)
from autodiff_hook.transform.bodies import Refused, bind, is_plain
from autodiff_hook.transform.infer import LOAD, PURE, STRUCTURAL, Alias, Inference, RulePlan, parameters_of
from autodiff_hook.transform.objects import (
    is_simple,
    look,
    look_after,
    read,
    receiver_class,
    special_method,
    super_of,
    write,
)
from autodiff_hook.transform.results import abstract_of, outcome, rule_for, samples

Meaning = Callable[[Inference, Statement], Abstract | None]
_NAMES: Final = {
    **{"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul"},
    **{"<<": "lshift", ">>": "rshift", "&": "and_", "|": "or_", "^": "xor"},
}
_UNARY: Final = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_COMPARE: Final = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(inf: Inference, s: Statement) -> Abstract | None:
    """The abstract value of the result of ``s``; None if a body was put in its place."""
    meaning = _MEANINGS.get(s.op)
    if meaning is None:
        raise Refused(f"{s.op} is left to the generic path")
    return meaning(inf, s)


def _pure(inf: Inference, s: Statement, result: Abstract) -> Abstract:
    inf.plans[s] = PURE
    return result


def _alias(inf: Inference, s: Statement, operand: Operand) -> Abstract:
    inf.plans[s] = Alias(operand)
    if s.result is not None:
        inf.aliases[s.result] = operand
    return inf.type_of(operand)


def _known(inf: Inference, s: Statement, value: Any) -> Abstract:
    return _alias(inf, s, Constant(value))


def _binary(inf: Inference, s: Statement) -> Abstract | None:
    if s.op == "inplace" and any(isinstance(inf.type_of(x), (Array, List)) for x in s.operands[:1]):
        raise Refused("an array or a list is changed in place")
    return call_known(inf, s, getattr(operator, _NAMES[s.data]), s.operands, {})


def _unary(inf: Inference, s: Statement) -> Abstract | None:
    return call_known(inf, s, _UNARY[s.data], s.operands, {})


def _compare(inf: Inference, s: Statement) -> Abstract | None:
    a, b = map(inf.type_of, s.operands)
    if isinstance(a, Known) and isinstance(b, Known) and _comparable(a.value) and _comparable(b.value):
        return _known(inf, s, _COMPARE[s.data](a.value, b.value))
    if number_types(a) is not None and number_types(b) is not None:
        return _pure(inf, s, BOOL)
    _require_inert(a, b)
    return _pure(inf, s, outcome(_COMPARE[s.data], [a, b], {}))


def _comparable(value: Any) -> bool:
    return isinstance(value, (int, float, str, type(None)))


def _require_inert(*values: Abstract) -> None:
    """Refuse values that may have methods of their own."""
    for value in values:
        if isinstance(value, (Known, Number, Array, Instance)):
            continue
        if isinstance(value, OwnList):
            continue
        if isinstance(value, (Tuple, List)):
            _require_inert(*(value.items if isinstance(value, Tuple) else (value.item,)))
            continue
        raise Refused(f"an operation on {value!r}")


def _truth(inf: Inference, s: Statement) -> Abstract:
    value = inf.type_of(s.operands[0])
    truth = is_true(value)
    if truth is not None:
        return _known(inf, s, truth != (s.op == "not"))
    _require_inert(value)
    return _pure(inf, s, BOOL)


def _is(inf: Inference, s: Statement) -> Abstract:
    a, b = map(inf.type_of, s.operands)
    if isinstance(a, Known) and isinstance(b, Known):
        same: bool | None = a.value is b.value
    else:
        same = None if _may_be(a, b) and _may_be(b, a) else False
    if same is None:
        return _pure(inf, s, BOOL)
    return _known(inf, s, same == (s.op == "is"))


def _may_be(a: Abstract, b: Abstract) -> bool:
    if not isinstance(b, Known):
        return True
    if isinstance(a, Number):
        return type(b.value) in a.types
    if isinstance(a, Instance):
        return type(b.value) is a.cls
    return a is ANY


def _in(inf: Inference, s: Statement) -> Abstract:
    values = [inf.type_of(x) for x in s.operands]
    _require_inert(*values)
    if isinstance(values[1], Tuple) and values[1].cls is dict and isinstance(values[0], Known):
        return _known(inf, s, (values[0].value in values[1].keys) == (s.op == "in"))
    if all(isinstance(v, Known) for v in values) and is_plain(example_of(values[1])):
        found = operator.contains(example_of(values[1]), example_of(values[0]))
        return _known(inf, s, found == (s.op == "in"))
    return _pure(inf, s, BOOL)


def _build_tuple(inf: Inference, s: Statement) -> Abstract:
    if s.op == "build_list" and not s.operands:
        return lists.begin(inf, s)
    items = [inf.type_of(x) for x in s.operands]
    cls = tuple if s.op == "build_tuple" else list
    if cls is tuple and all(isinstance(x, Known) and is_plain(x.value) for x in items):
        return _known(inf, s, tuple(example_of(x) for x in items))
    inf.plans[s] = STRUCTURAL
    examples = [_example_or_sample(x) for x in items]
    return Tuple(tuple(items), cls, example=cls(examples))


def _example_or_sample(value: Abstract) -> Any:
    found = example_of(value)
    types = number_types(value)
    return samples(next(iter(types)))[0] if found is MISSING and types else found


def _items(value: Abstract) -> tuple[Abstract, ...] | None:
    if isinstance(value, Tuple):
        return value.items if value.cls is not dict else None
    if isinstance(value, Known) and type(value.value) is tuple:
        return tuple(map(Known, value.value))
    return None


def _unpack(inf: Inference, s: Statement) -> Abstract:
    before, after = s.data
    items = _items(inf.type_of(s.operands[0]))
    if items is None or after is not None or len(items) != before:
        raise Refused("unpacking of what is not a tuple of known length")
    return _alias(inf, s, s.operands[0])


def _project(inf: Inference, s: Statement) -> Abstract:
    items = _items(inf.type_of(s.operands[0]))
    if items is None:
        raise Refused("a part of what is not a tuple")
    return _part(inf, s, items, s.data)


def _part(inf: Inference, s: Statement, items: tuple[Abstract, ...], index: int) -> Abstract:
    if not -len(items) <= index < len(items):
        raise Refused("an index out of range")
    if isinstance(items[index], Known):
        return _known(inf, s, example_of(items[index]))
    inf.plans[s] = STRUCTURAL
    return items[index]


def _getitem(inf: Inference, s: Statement) -> Abstract | None:
    owner, key = map(inf.type_of, s.operands)
    if isinstance(owner, Outside):
        if not isinstance(key, Known) or owner.cls not in (dict, list):
            raise Refused("an item of an object by an unknown key")
        return _alias(inf, s, inf.world.part(inf.final(s.operands[0]), owner.example, key.value, True))
    if isinstance(owner, Tuple) and owner.cls is dict:
        if not isinstance(key, Known) or key.value not in owner.keys:
            raise Refused("an item of a dict by an unknown key")
        return _part(inf, s, owner.items, owner.keys.index(key.value))
    items = _items(owner)
    if items is not None:
        if isinstance(key, Known) and type(key.value) is int:
            return _part(inf, s, items, key.value)
        code = any(isinstance(x, Known) and callable(x.value) for x in items)
        if number_types(key) == INT.types and items and not code:
            together = items[0]
            for item in items[1:]:
                together = join(together, item)
            if isinstance(together, (Number, Instance)):
                inf.plans[s] = LOAD
                return together
        raise Refused("an item of a tuple by an unknown index")
    if isinstance(owner, OwnList):
        if number_types(key) not in (INT.types, BOOL.types):
            raise Refused("a slice of a list")
        inf.plans[s] = LOAD
        return lists.item_of_own(inf, owner)
    if isinstance(owner, List):
        if number_types(key) not in (INT.types, BOOL.types):
            raise Refused("a slice of a list")
        inf.plans[s] = LOAD
        return owner.item
    return call_known(inf, s, operator.getitem, s.operands, {})


def _build_slice(inf: Inference, s: Statement) -> Abstract:
    values = [inf.type_of(x) for x in s.operands]
    if all(isinstance(v, Known) for v in values):
        return _known(inf, s, slice(*map(example_of, values)))
    return _pure(inf, s, Instance(slice, example=slice(*map(example_of, values))))


def _make_cell(inf: Inference, s: Statement) -> Abstract:
    value = s.operands[0]
    assert s.result is not None
    if not (isinstance(value, Constant) and value.value is UNBOUND):
        inf.cells[s.result] = value
    inf.plans[s] = Alias(Constant(None))
    return Cell(None)


def _cell_set(inf: Inference, s: Statement) -> Abstract:
    cell, value = s.operands
    assert isinstance(cell, Variable)
    if inf.cells.setdefault(cell, value) is not value:
        raise Refused("a captured variable that is assigned twice")
    inf.stores[cell] = s
    inf.plans[s] = Alias(Constant(None))
    return ANY


def _cell_get(inf: Inference, s: Statement) -> Abstract:
    found = inf.cells.get(s.operands[0])  # type: ignore[arg-type]
    if found is None:
        raise Refused("a captured variable that is not assigned")
    store = inf.stores.get(s.operands[0])
    if store is not None:
        inf.orders.append((store, s))
    return _alias(inf, s, found)


def _check(inf: Inference, s: Statement) -> Abstract:
    value = s.operands[0]
    known = inf.type_of(value)
    if known is ANY or isinstance(known, Known) and known.value is UNBOUND:
        raise Refused("a variable without a value")
    return _alias(inf, s, value)


def _make_function(inf: Inference, s: Statement) -> Abstract:
    code = (
        s.operands[0].value
        if isinstance(s.operands[0], Constant) and isinstance(s.operands[0].value, CodeType)
        else s.data
    )
    defaults, keyword, _, closure = s.operands[-4:]
    given = inf.type_of(defaults)
    inf.plans[s] = PURE
    block = inf.block
    assert block is not None
    if not isinstance(keyword, Constant) or keyword.value is not None:
        raise Refused("a nested function with keyword-only defaults")
    made = {x.result: x for b in inf.visited for x in b.statements if x.op == "build_tuple"}
    cells = made[closure].operands if closure in made else []
    values: tuple[Operand, ...] = ()
    if isinstance(defaults, Variable):
        values = tuple(made[defaults].operands)
    elif isinstance(given, Known) and given.value:
        values = tuple(map(Constant, given.value))
    return Closure(code, inf.globals_of[block], tuple(cells), values)


def _global(inf: Inference, s: Statement) -> Abstract:
    raise Refused(f"the global name {s.data} is not defined")


def _getattr(inf: Inference, s: Statement) -> Abstract | None:
    return attribute(inf, s, s.operands[0], str(s.data))


def attribute(inf: Inference, s: Statement, owner: Operand, name: str) -> Abstract | None:
    """``owner.name``."""
    value = inf.type_of(owner)
    if isinstance(value, Known) and isinstance(value.value, (ModuleType, type)):
        return _class_or_module(inf, s, value.value, name)
    if isinstance(value, Array):
        return _array_attribute(inf, s, value, owner, name)
    if isinstance(value, Outside):
        return _outside_attribute(inf, s, value, owner, name)
    if isinstance(value, Fresh):
        return _fresh_attribute(inf, s, value, owner, name)
    types = number_types(value)
    if types is not None:
        descriptors = {id(d): d for d in (getattr(cls, name, None) for cls in types)}
        if len(descriptors) == 1 and registry.has_rules(next(iter(descriptors.values()))):
            return by_rule(inf, s, next(iter(descriptors.values())), [owner], {}, lambda x: getattr(x, name))
    raise Refused(f"the attribute {name} of {value!r}")


def _class_or_module(inf: Inference, s: Statement, owner: Any, name: str) -> Abstract:
    """An attribute of a module or a class: code, or data that is loaded on entry."""
    found = getattr(owner, name, None)
    if isinstance(found, (dict, list, float, int, tuple)) and type(found) is not bool:
        return _alias(inf, s, inf.world.part(Constant(owner), owner, name, False))
    return _known(inf, s, inf.world.attribute(owner, name))


def _outside_attribute(inf: Inference, s: Statement, value: Outside, owner: Operand, name: str) -> Abstract | None:
    """An attribute of an object from outside: data, a property, or a method to be called."""
    found = look(inf, value.cls, name)
    if isinstance(found, property) and isinstance(found.fget, FunctionType):
        inf.assume(owner)
        return _inline(inf, s, found.fget, [owner], {})
    if hasattr(type(found), "__get__") and not isinstance(found, (FunctionType, staticmethod, classmethod)):
        if not hasattr(found, "__objclass__"):
            raise Refused(f"the descriptor {name}")
    if isinstance(found, FunctionType) and name not in vars(value.example):
        inf.world.method(inf.final(owner), value.example, name)
        inf.plans[s] = Alias(Constant(None))
        return Bound(found, owner)
    if isinstance(found, (staticmethod, classmethod)):
        raise Refused(f"the attribute {name} of an object")
    return _alias(inf, s, inf.world.part(inf.final(owner), value.example, name, False))


def _fresh_attribute(inf: Inference, s: Statement, value: Fresh, owner: Operand, name: str) -> Abstract | None:
    """An attribute of an object that the program has made."""
    if name == "__class__":
        return _known(inf, s, value.cls)
    kind, found = read(inf, s, value, name)
    if kind == "field":
        return _alias(inf, s, found)
    guarded = inf.world.attribute(value.cls, name)
    if kind == "property":
        inf.assume(owner)
        return _inline(inf, s, found, [owner], {})
    if isinstance(found, FunctionType):
        inf.plans[s] = PURE
        return Bound(found, owner)
    if isinstance(found, (staticmethod, classmethod)):
        raise Refused(f"the attribute {name} of an object")
    return _known(inf, s, guarded)


def _construct(inf: Inference, s: Statement, cls: type, args: list[Operand], kwargs: dict[str, Operand]) -> None:
    """Make an object: its ``__init__`` in the place of the call."""
    if not is_simple(inf, cls) or s.result is None or inf.block is None:
        raise Refused(f"a call of {cls!r}")
    init = inf.world.attribute(cls, "__init__")
    if not inf.world.in_scope(init):
        raise Refused(f"a call of {cls!r}")
    start = Statement("call", list(s.operands), None, s.data, s.position)
    inf.types[s.result] = Fresh(cls, s.result)
    inf.block.statements[inf.index] = start
    try:
        _inline(inf, start, init, [s.result, *args], kwargs)
    except Refused:
        inf.block.statements[inf.index] = s
        raise


def _inline(
    inf: Inference, s: Statement, function: FunctionType, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Put a function from outside in the place of a call."""
    inf.world.function(function)
    cells: list[Operand] = []
    for cell in function.__closure__ or ():
        variable = Variable()
        inf.cells[variable] = inf.world.captured(cell)
        cells.append(variable)
    call = parameters_of(function, args, kwargs)
    inf.inline(s, function.__code__, function.__globals__, call, cells)
    return None


def _array_attribute(inf: Inference, s: Statement, value: Array, owner: Operand, name: str) -> Abstract | None:
    import numpy as np

    if value.scalar:
        raise Refused(f"the attribute {name} of an array or a scalar")
    if name == "shape" and value.ndim is not None:
        lengths = np.shape(value.example)
        items = (
            tuple(Number(INT.types, example=n) for n in lengths) if len(lengths) == value.ndim else (INT,) * value.ndim
        )
        return _pure(inf, s, Tuple(items, example=lengths))
    if name == "ndim" and value.ndim is not None:
        return _known(inf, s, value.ndim)
    if name == "size":
        return _pure(inf, s, Number(INT.types, example=np.size(value.example)))
    if name == "dtype" and value.dtype is not None:
        return _known(inf, s, value.dtype)
    descriptor = getattr(np.ndarray, name, None)
    if descriptor is not None and registry.has_rules(descriptor):
        return by_rule(inf, s, descriptor, [owner], {}, lambda x: getattr(x, name))
    raise Refused(f"the attribute {name} of an array")


def _call(inf: Inference, s: Statement) -> Abstract | None:
    function, *args = s.operands
    return _call_with(inf, s, function, args, s.data or ())


def _call_with(
    inf: Inference, s: Statement, function: Operand, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    count = len(args) - len(names)
    return call(inf, s, function, args[:count], dict(zip(names, args[count:])))


def _call_ex(inf: Inference, s: Statement) -> Abstract | None:
    """``f(*args, **kwargs)`` of tuples and dicts that are known in their parts."""
    function, args, kwargs = s.operands
    items = _items(inf.type_of(args))
    values = _spread(inf, args, range(len(items or ())), items)
    whole = inf.type_of(kwargs)
    if isinstance(whole, Known) and whole.value is None:
        return call(inf, s, function, values, {})
    if not isinstance(whole, Tuple) or whole.cls is not dict:
        raise Refused("a call with **kwargs that are not known")
    named = _spread(inf, kwargs, whole.keys, whole.items)
    return call(inf, s, function, values, dict(zip(whole.keys, named)))


def _spread(inf: Inference, whole: Operand, keys: Any, items: tuple[Abstract, ...] | None) -> list[Operand]:
    """The parts of a tuple or a dict, read before the statement at hand."""
    if items is None or inf.block is None:
        raise Refused("a call with *args that are not known")
    parts: list[Operand] = []
    for key, item in zip(keys, items):
        if isinstance(item, Known):
            parts.append(Constant(item.value))
            continue
        part = Statement("getitem", [whole, Constant(key)], Variable())
        inf.plans[part] = STRUCTURAL
        assert part.result is not None
        inf.types[part.result] = item
        inf.block.statements.insert(inf.index, part)
        inf.index += 1
        parts.append(part.result)
    return parts


def call(
    inf: Inference, s: Statement, function: Operand, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Call what an operand is known to be."""
    callee = inf.type_of(function)
    if isinstance(callee, Known):
        if isinstance(callee.value, (FunctionType, type)):
            inf.assume(function)
        return call_known(inf, s, callee.value, args, kwargs)
    if isinstance(callee, Closure):
        bound = bind(callee.code, args, kwargs, callee.defaults, callee.keyword_defaults)
        inf.assume(function)
        inf.inline(s, callee.code, callee.globals, bound, list(callee.cells))
        return None
    if isinstance(callee, Bound):
        return call_known(inf, s, callee.function, [callee.receiver, *args], kwargs)
    if isinstance(callee, (Fresh, Outside)):
        method = look(inf, callee.cls, "__call__")
        if isinstance(method, FunctionType):
            inf.assume(function)
            return call_known(inf, s, method, [function, *args], kwargs)
    raise Refused(f"a call of {callee!r}")


def _call_method(inf: Inference, s: Statement) -> Abstract | None:
    name, names = s.data
    owner, *args = s.operands
    value = inf.type_of(owner)
    if isinstance(value, Known) and isinstance(value.value, (ModuleType, type)):
        return _call_with(inf, s, Constant(inf.world.attribute(value.value, name)), args, names)
    if isinstance(value, Outside):
        return _outside_method(inf, s, value, name, args, names)
    if isinstance(value, OwnList) and name == "append" and len(args) == 1 and not names:
        if s.result is not None:
            inf.types[s.result] = Known(None)
        s.op, s.operands, s.data, s.result = "list_append", [owner, args[0]], None, None
        return lists.append(inf, s)
    if isinstance(value, Fresh):
        return _fresh_method(inf, s, value, name, args, names)
    if isinstance(value, Tuple) and value.cls is dict and name in ("get", "pop") and not names and len(args) < 3:
        key = inf.type_of(args[0])
        if isinstance(key, Known) and (key.value in value.keys or len(args) == 2) and name == "get":
            if key.value in value.keys:
                return _part(inf, s, value.items, value.keys.index(key.value))
            return _alias(inf, s, args[1])
        raise Refused(f"dict.{name}")
    if isinstance(value, Super):
        found = look_after(inf, receiver_class(inf.type_of(value.receiver)), value.after, name)
        if found is object.__init__ and not args:
            return _known(inf, s, None)
        if not isinstance(found, FunctionType):
            raise Refused(f"super().{name}")
        return _call_with(inf, s, Constant(found), [value.receiver, *args], names)
    if inert_class(value) is str:
        return _string_method(inf, s, value, name, [inf.type_of(x) for x in args])
    import numpy as np

    cls: Any = None
    if isinstance(value, Array) and not value.scalar:
        cls = np.ndarray
    types = number_types(value)
    if types is not None and len(types) == 1:
        cls = next(iter(types))
    method = getattr(cls, name, None) if cls is not None else None
    if method is None or isinstance(method, FunctionType):
        raise Refused(f"the method {name} of {value!r}")
    return _call_with(inf, s, Constant(method), [owner, *args], names)


def _outside_method(
    inf: Inference, s: Statement, value: Outside, name: str, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)`` of an object from outside."""
    owner = s.operands[0]
    if value.cls is dict and name == "get" and not names:
        key = inf.type_of(args[0])
        if not isinstance(key, Known) or key.value not in value.example:
            raise Refused("dict.get of an unknown key")
        return _alias(inf, s, inf.world.part(inf.final(owner), value.example, key.value, True))
    found = look(inf, value.cls, name)
    inf.assume(owner)
    if isinstance(found, FunctionType) and name not in getattr(value.example, "__dict__", ()):
        if not inf.world.in_scope(found):
            raise Refused(f"a call of {found!r}")
        inf.world.method(inf.final(owner), value.example, name)
        return _call_with(inf, s, Constant(found), [owner, *args], names)
    if isinstance(found, staticmethod) and isinstance(found.__func__, FunctionType):
        inf.world.method(inf.final(owner), value.example, name)
        return _call_with(inf, s, Constant(found.__func__), args, names)
    if found is None:
        return _call_with(inf, s, inf.world.part(inf.final(owner), value.example, name, False), args, names)
    raise Refused(f"the method {name} of {value!r}")


def _string_method(inf: Inference, s: Statement, value: Abstract, name: str, args: list[Abstract]) -> Abstract:
    """``text.name(...)``."""
    if all(isinstance(x, Known) for x in (value, *args)):
        result = getattr(example_of(value), name)(*map(example_of, args))
        return _known(inf, s, result) if is_plain(result) else _pure(inf, s, Instance(type(result), example=result))
    _require_inert(*args)
    if name not in ("format", "join", "lower", "upper", "strip"):
        raise Refused(f"the method {name} of a string")
    return _pure(inf, s, Instance(str, example="…"))


def _fresh_method(
    inf: Inference, s: Statement, value: Fresh, name: str, args: list[Operand], names: tuple[str, ...]
) -> Abstract | None:
    """``owner.name(...)`` of an object that the program has made."""
    kind, found = read(inf, s, value, name)
    inf.assume(s.operands[0])
    if kind == "field":
        return _call_with(inf, s, found, args, names)
    inf.world.attribute(value.cls, name)
    if isinstance(found, FunctionType):
        return _call_with(inf, s, Constant(found), [s.operands[0], *args], names)
    if isinstance(found, staticmethod) and isinstance(found.__func__, FunctionType):
        return _call_with(inf, s, Constant(found.__func__), args, names)
    if isinstance(found, classmethod) and isinstance(found.__func__, FunctionType):
        return _call_with(inf, s, Constant(found.__func__), [Constant(value.cls), *args], names)
    raise Refused(f"the method {name} of {value!r}")


def _import_name(inf: Inference, s: Statement) -> Abstract:
    level, names = map(inf.type_of, s.operands)
    if not (isinstance(level, Known) and level.value == 0 and isinstance(names, Known)):
        raise Refused("a relative import")
    name = str(s.data) if names.value else str(s.data).partition(".")[0]
    return _known(inf, s, inf.world.imported(name))


def _import_from(inf: Inference, s: Statement) -> Abstract:
    module = inf.type_of(s.operands[0])
    if not isinstance(module, Known):
        raise Refused("an import from an unknown module")
    return _known(inf, s, inf.world.attribute(module.value, str(s.data)))


def call_known(
    inf: Inference, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
) -> Abstract | None:
    """Call a known callable: a rule, a constant, or Python code in scope."""
    special = _SPECIAL.get(function) if getattr(function, "__hash__", None) else None
    if special is not None and not kwargs:
        return special(inf, s, args)
    if isinstance(function, MethodType):
        return call_known(inf, s, function.__func__, [Constant(function.__self__), *args], kwargs)
    types = [inf.type_of(x) for x in args]
    if any(isinstance(t, (Fresh, Outside)) for t in types):
        method = special_method(inf, function, types, args) if not kwargs else None
        if method is not None:
            for operand in args:
                inf.assume(operand)
            return _inline(inf, s, method[0], method[1], {})
    if any(t is ANY for t in types):
        raise Refused(f"an argument of {function!r} of unknown type")
    if registry.has_rules(function):
        return by_rule(inf, s, function, args, kwargs, function)
    if registry.is_constant(function) and _is_pure(function):
        _require_inert(*types, *map(inf.type_of, kwargs.values()))
        return _pure(inf, s, outcome(function, types, {k: inf.type_of(v) for k, v in kwargs.items()}))
    if registry.is_constant(function):
        raise Refused(f"{function!r} is declared to have no derivative")
    if isinstance(function, FunctionType) and inf.world.in_scope(function):
        return _inline(inf, s, function, args, kwargs)
    if isinstance(function, type):
        _construct(inf, s, function, args, kwargs)
        return None
    raise Refused(f"a call of {function!r}")


def _is_pure(function: Any) -> bool:
    """Whether a function without derivative has no effects either."""
    owner = getattr(function, "__objclass__", None)
    if owner is not None:
        return owner in (float, int, str, tuple) or owner.__module__ == "numpy"
    module = getattr(function, "__module__", None) or ""
    return (
        module in ("math", "_operator", "cmath")
        or (module.split(".")[0] == "numpy" and "random" not in module)
        or type(function).__name__ == "ufunc"
    )


def by_rule(
    inf: Inference,
    s: Statement,
    function: Any,
    args: list[Operand],
    kwargs: dict[str, Operand],
    run: Callable[..., Any],
) -> Abstract:
    """Call what has a rule."""
    types = [inf.type_of(x) for x in args]
    named = {k: inf.type_of(v) for k, v in kwargs.items()}
    if not kwargs and all(isinstance(t, Known) and type(t.value) in (int, float) for t in types):
        try:
            folded = run(*map(example_of, types))
        except Exception:
            folded = None
        if type(folded) in (int, float) and abs(folded) < 1 << 64:
            return _known(inf, s, folded)
    for name in kwargs:
        if name == "out" or name.startswith("overwrite"):
            raise Refused(f"the option {name}")
    rule = rule_for(function, types)
    code = getattr(rule, "__code__", None)
    if code is None or hasattr(rule, "__wrapped__"):
        raise Refused(f"a rule of {function!r} that is not a plain function")
    bound = bind(code, args, kwargs, rule.__defaults__ or (), rule.__kwdefaults__, trusted=True)
    result = outcome(run, types, named)
    inf.plans[s] = RulePlan(rule, bound.values, checks=function is operator.pow and _may_be_complex(types))
    return result


def _may_be_complex(types: list[Abstract]) -> bool:
    exponent = number_types(types[1])
    if number_types(types[0]) is None or exponent is None:
        return False
    value = types[1].value if isinstance(types[1], Known) else None
    return exponent != {int} and not (isinstance(value, float) and value.is_integer())


def _len(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    (value,) = map(inf.type_of, args)
    items = _items(value)
    if items is not None:
        return _known(inf, s, len(items))
    if isinstance(value, OwnList):
        return _pure(inf, s, Number(INT.types, example=max(1, len(value.example))))
    if isinstance(value, (Array, List)) and not (isinstance(value, Array) and value.scalar):
        return _pure(inf, s, Number(INT.types, example=len(value.example)))
    raise Refused(f"the length of {value!r}")


def _range(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    types = [inf.type_of(x) for x in args]
    if any((number_types(t) or {None}) - {int, bool} for t in types):
        raise Refused("a range of what may not be ints")
    examples = [example_of(t) for t in types]
    known = all(type(e) is int for e in examples)
    return _pure(inf, s, Instance(range, example=range(*examples) if known else range(2)))


def _enumerate(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    item = item_of(inf, inf.type_of(args[0]))
    return _pure(inf, s, Iterator(Tuple((Number(INT.types, example=0), item))))


def _zip(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    return _pure(inf, s, Iterator(Tuple(tuple(item_of(inf, inf.type_of(x)) for x in args))))


def _reversed(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    return _pure(inf, s, Iterator(item_of(inf, inf.type_of(args[0]))))


def item_of(inf: Inference, value: Abstract) -> Abstract:
    """What comes out of an iteration over a value."""
    if isinstance(value, Iterator):
        return value.item
    if isinstance(value, OwnList):
        return lists.item_of_own(inf, value)
    if isinstance(value, Instance) and value.cls is range:
        return Number(INT.types, example=value.example[0] if value.example else 0)
    if isinstance(value, List):
        return value.item
    items = _items(value)
    if items:
        together = items[0]
        for item in items[1:]:
            together = join(together, item)
        return together
    if isinstance(value, Array) and value.ndim and len(value.example):
        return abstract_of(value.example[0])
    raise Refused(f"an iteration over {value!r}")


def _get_iter(inf: Inference, s: Statement) -> Abstract:
    if isinstance(inf.type_of(s.operands[0]), Iterator) and s.operands[0] in inf.started:
        return _alias(inf, s, s.operands[0])
    if s.result is not None:
        inf.started.add(s.result)
    return _pure(inf, s, Iterator(item_of(inf, inf.type_of(s.operands[0]))))


def _isinstance(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    value, classes = map(inf.type_of, args)
    if not isinstance(classes, Known):
        raise Refused("isinstance with an unknown class")
    found = {isinstance_of(cls, classes.value) for cls in classes_of(value)}
    if len(found) != 1:
        return _pure(inf, s, BOOL)
    return _known(inf, s, found.pop())


def isinstance_of(cls: type, classes: Any) -> bool:
    """Whether instances of exactly ``cls`` are instances of ``classes``."""
    for c in classes if isinstance(classes, tuple) else (classes,):
        if not isinstance(c, type):
            raise Refused("isinstance of what is not a class")
        if (
            type(c) is not type
            and type(c).__instancecheck__ is not type.__instancecheck__
            and type(c).__module__ != "abc"
        ):
            raise Refused("a class that decides by itself what its instances are")
        if issubclass(cls, c):
            return True
    return False


def classes_of(value: Abstract) -> list[type]:
    """The exact types that a value may have."""
    import numpy as np

    types = number_types(value)
    if types is not None:
        return list(types)
    if isinstance(value, Array):
        return [np.ndarray, np.float64] if value.scalar else [np.ndarray]
    if isinstance(value, Tuple):
        return [value.cls]
    if isinstance(value, (Outside, Fresh)):
        return [value.cls]
    if isinstance(value, (List, OwnList)):
        return [list]
    if isinstance(value, Instance):
        return [value.cls]
    if isinstance(value, Known):
        return [type(value.value)]
    raise Refused(f"the type of {value!r}")


def _callable(inf: Inference, s: Statement, args: list[Operand]) -> Abstract:
    value = inf.type_of(args[0])
    if isinstance(value, Known):
        return _known(inf, s, callable(value.value))
    if isinstance(value, (Closure, Bound)):
        return _known(inf, s, True)
    return _known(inf, s, any("__call__" in base.__dict__ for cls in classes_of(value) for base in cls.__mro__))


def _format(inf: Inference, s: Statement) -> Abstract:
    _require_inert(*map(inf.type_of, s.operands))
    return _pure(inf, s, Instance(str, example="…"))


_SPECIAL: Final[dict[Any, Callable[[Inference, Statement, list[Operand]], Abstract]]] = {
    len: _len,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    isinstance: _isinstance,
    callable: _callable,
    super: super_of,
}
_MEANINGS: Final[dict[str, Meaning]] = {
    "binary": _binary,
    "inplace": _binary,
    "unary": _unary,
    "compare": _compare,
    "truth": _truth,
    "not": _truth,
    "is": _is,
    "is_not": _is,
    "in": _in,
    "not_in": _in,
    "build_tuple": _build_tuple,
    "unpack": _unpack,
    "project": _project,
    "getitem": _getitem,
    "build_list": _build_tuple,
    "import_name": _import_name,
    "import_from": _import_from,
    "list_append": lists.append,
    "build_slice": _build_slice,
    "make_cell": _make_cell,
    "cell_set": _cell_set,
    "cell_get": _cell_get,
    "check": _check,
    "make_function": _make_function,
    "global": _global,
    "getattr": _getattr,
    "setattr": write,
    "call": _call,
    "call_method": _call_method,
    "call_ex": _call_ex,
    "get_iter": _get_iter,
    "format": _format,
    "build_string": _format,
}
