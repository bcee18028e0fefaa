"""Named tuples that the program makes: tuples, whose class only says what their fields and methods are.

At run time they are plain tuples, so nothing that would show the class gets hold of one.
"""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.transform.specialise.abstract import MISSING, Abstract, Optional, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import known
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import items_of, known_as, spread
from autodiff_hook.transform.specialise.program import STRUCTURAL
from autodiff_hook.transform.specialise.world import bind_to

_ASKING: Final = ("__getitem__", "__len__", "__contains__")
"""What asks for items by place, which a plain tuple at run time would answer by itself."""


def is_named(value: Abstract) -> bool:
    """Whether a value is a named tuple."""
    return isinstance(value, Tuple) and value.cls not in (tuple, list, dict)


def holds_named(value: Abstract) -> bool:
    """Whether a value is a named tuple, or may hold one."""
    if isinstance(value, Optional):
        return holds_named(value.content)
    return isinstance(value, Tuple) and (is_named(value) or any(map(holds_named, value.items)))


def is_class(inf: Inference, cls: type) -> bool:
    """Whether calling a class makes a named tuple of its arguments, and does nothing else."""
    base = next((base for base in cls.__mro__ if "_fields" in base.__dict__), None)
    if base is None or type(cls) is not type or not issubclass(cls, tuple):
        return False
    new = look(inf, cls, "__new__")
    module = new.__func__.__module__ if issubclass(type(new), staticmethod) else None
    own = new is base.__dict__.get("__new__") and look(inf, cls, "__init__") is object.__init__
    own = own and all([look(inf, cls, name) is getattr(tuple, name) for name in _ASKING])
    return own and module == f"namedtuple_{base.__name__}"


def new_class(inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """``namedtuple("Point", "x y")``."""
    kinds = [inf.type_of(x) for x in args]
    given = [known(kind) if (items := items_of(kind)) is None else tuple(map(known, items)) for kind in kinds]
    missing = any(x is MISSING or type(x) is tuple and MISSING in x for x in given)
    return None if missing else of_fields(inf, s, given)


def of_fields(inf: Inference, s: Statement, given: list[Any]) -> Abstract | None:
    """One class of named tuples for all calls of a function that makes it."""
    if len(given) != 2:
        return None
    name, fields = given
    try:
        made = _class(inf.globals_here.get("__name__"), name, tuple(fields) if type(fields) is list else fields)
        return known_as(inf, s, made)
    except (TypeError, ValueError) as error:
        raise Refused(f"namedtuple raised {error}") from error


@lru_cache(1 << 8)
def _class(module: Any, name: Any, fields: Any) -> type:
    return namedtuple(name, fields, module=module)


def fields_of(cls: Any) -> tuple[str, ...]:
    """The names of the fields of a class of named tuples."""
    names: tuple[str, ...] = cls._fields
    return names


def make(inf: Inference, s: Statement, cls: Any, args: Args, kwargs: Kwargs) -> Abstract:
    """``Point(x, y=y)``."""
    inf.world.attribute(cls, "__new__")
    inf.world.function(cls.__new__)
    given = bind_to(inf.world, cls.__new__, [Constant(cls), *args], kwargs)
    return build(inf, s, cls, given.values[1:])  # type: ignore[arg-type]


def build(inf: Inference, s: Statement, cls: type, values: list[Operand]) -> Abstract:
    """Put a tuple in the place of a named one."""
    s.op, s.operands, s.data = "build_tuple", values, None
    inf.classes[s] = cls
    return built(inf, s)


def built(inf: Inference, s: Statement) -> Abstract:
    """What is known of a named tuple that was put together."""
    inf.plans[s] = STRUCTURAL
    return Tuple(tuple(map(inf.type_of, s.operands)), inf.classes[s])


def plain(inf: Inference, s: Statement, operand: Operand) -> Operand:
    """The items of a named tuple as a tuple, for what asks for no more; other operands as they are."""
    value = inf.type_of(operand)
    if inf.one_way or not isinstance(value, Tuple) or not is_named(value):
        return operand
    if look(inf, value.cls, "__iter__") is not tuple.__iter__:
        raise Refused(f"an iteration over {value.cls.__qualname__}")
    return inf.before(s, "build_tuple", spread(inf, operand))


def arity(inf: Inference, cls: Any) -> int | None:
    """How many values a class of named tuples is called with; None if that is not certain, or of other classes."""
    if not isinstance(cls, type) or not is_class(inf, cls) or cls.__new__.__defaults__:
        return None
    return len(fields_of(cls))


def as_dict(inf: Inference, s: Statement, value: Tuple) -> Abstract | None:
    """``point._asdict()``."""
    names = fields_of(value.cls)
    parts = spread(inf, s.operands[0])
    s.op, s.operands, s.data = "build_map", [x for pair in zip(map(Constant, names), parts) for x in pair], None
    return inf.evaluate(inf, s)


def replaced(inf: Inference, s: Statement, value: Tuple, given: dict[str, Operand]) -> Abstract:
    """``point._replace(x=x)``."""
    names, owner = fields_of(value.cls), s.operands[0]
    if not set(given) <= set(names):
        raise Refused("fields that do not exist")
    parts = {name: Statement("getitem", [owner, Constant(i)], Variable(name)) for i, name in enumerate(names)}
    for name, item in zip(names, value.items):
        part = parts[name]
        if name not in given:
            # Its value may be known so far, and not for long.
            inf.insert(part, item, STRUCTURAL)
            given[name] = part.made
    return build(inf, s, value.cls, [given[name] for name in names])
