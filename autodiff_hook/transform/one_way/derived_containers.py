"""Objects of classes derived from ``tuple``, ``list`` and ``dict`` on one way, named tuples too.

They hold a container of the builtin class, which is meant where their class says nothing else.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from types import MethodDescriptorType
from typing import Any, Final

from autodiff_hook.ir.types import Args, Kwargs, Operand, Statement
from autodiff_hook.runtime.kinds import DICTS, MAPPINGS
from autodiff_hook.runtime.oddities import is_converted_by_code
from autodiff_hook.semantics.operations import COMPARING_METHODS, NAMES
from autodiff_hook.transform.one_way.attributes import field_read
from autodiff_hook.transform.one_way.classes import FILLING, instance
from autodiff_hook.transform.one_way.containers import as_key, is_mapping, pairs, parts
from autodiff_hook.transform.one_way.growing import extend
from autodiff_hook.transform.one_way.held import (
    base_of,
    held_by,
    is_derived,
    is_missed_by_code,
    item_that_is_missing,
    of_base,
)
from autodiff_hook.transform.one_way.items import got
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Container, Fresh, Known, Outside
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.objects import look
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.wording import named

_FIELD: Final = type(namedtuple("_Fields", "x").x)  # type: ignore[attr-defined]
_METHODS: Final[dict[str, tuple[int | None, tuple[str, ...]]]] = {
    "getitem": (0, ("__getitem__",)),
    **dict.fromkeys(("unpack", "get_iter"), (0, ("__iter__",))),
    **dict.fromkeys(("truth", "not"), (0, ("__bool__", "__len__"))),
    "get_len": (0, ("__len__",)),
    **dict.fromkeys(("in", "not_in"), (1, ("__contains__",))),
    "compare": (None, tuple(COMPARING_METHODS.values())),
    **{op: (0, (f"__{op}__",)) for op in ("setitem", "delitem")},
}
"""The operand of an operation that may be such an object, and what its class must not say of it; None: all operands."""
_ITERATED: Final = {"|": ("__iter__",)}
"""A dict that is iterated over in its own way is asked for its keys and items where a copy is made."""


def new(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``tuple.__new__(cls, items)``."""
    cls = inf.type_of(args[0])
    if not isinstance(cls, Known) or not isinstance(cls.value, type) or not issubclass(cls.value, tuple):
        return None
    held = inf.perform("build_tuple", list(parts(inf, args[1])) if len(args) > 1 else [])
    return alias(inf, s, held if cls.value is tuple else made(inf, cls.value, held))


def made(inf: Path, cls: type, held: Operand) -> Operand:
    """A new object of a derived class."""
    if is_converted_by_code(cls):
        raise Refused(f"{named(cls)} says by itself what NumPy makes of it")
    token = instance(inf, cls)
    inf.numbers[token] = held
    return token


def empty(inf: Path, s: Statement, args: Args) -> Abstract | None:
    """``list.__new__(cls)`` and ``dict.__new__(cls)``: what they are given besides is for ``__init__``."""
    kind = inf.type_of(args[0])
    if not isinstance(kind, Known) or not isinstance(kind.value, type) or kind.value in (list, dict):
        return None
    base = base_of(kind.value)
    own = [name for name in _ASKED if look(inf, kind.value, name) is not of_base(kind.value, name)]
    if base is OrderedDict and own:
        raise Refused(f"{own[0]} of {named(kind.value)}, which methods of OrderedDict ask")
    return alias(inf, s, made(inf, kind.value, inf.made(base, base())))


def filled(inf: Path, function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call is ``list.__init__`` or ``dict.__init__`` of such an object, which is done then."""
    held = held_by(inf, args[0]) if function in FILLING and args else None
    if held is not None and function == defaultdict.__init__ and len(args) > 1:
        inf.factories[held] = args[1]
        args = [args[0], *args[2:]]
    if held is None or len(args) > 2 or function == list.__init__ and kwargs:
        return False
    if function != list.__init__:
        inf.changed(held).update({**(pairs(inf, args[1]) if len(args) > 1 else {}), **kwargs})
        return True
    inf.changed(held).clear()
    if len(args) > 1:
        extend(inf, held, args[1])
    return True


_ASKED: Final = (
    *("__getitem__", "__setitem__", "__delitem__", "__contains__", "__iter__", "__len__", "__missing__"),
    *("keys", "values", "items", "pop", "update"),
)


def step(inf: Path, s: Statement) -> Abstract | None:
    """What an operation means with such objects; None without such, or if it is for a class to say."""
    if s.op in ("getattr", "load_method", "call_method"):
        return _attribute(inf, s)
    place, names = _METHODS.get(s.op, (0, ()))
    if s.op == "binary":
        place, names = None, (f"__{(name := NAMES[s.data])}__", f"__r{name}__", *_ITERATED.get(str(s.data), ()))
    if not names:
        return None
    operands = list(s.operands)
    for i in range(len(operands)) if place is None else (place,):
        held = held_by(inf, operands[i])
        if held is not None:
            cls: Any = inf.type_of(operands[i]).cls  # type: ignore[attr-defined]
            if any(look(inf, cls, name) is not of_base(cls, name) for name in names if name != "__ne__"):
                return None
            if s.op == "binary" and base_of(cls) in MAPPINGS:
                return None
            operands[i] = held
    if operands == s.operands:
        return None
    if s.op == "getitem":
        return alias(inf, s, item(inf, s.operands[0], operands[0], s.operands[1]))
    return alias(inf, s, inf.perform(s.op, operands, s.data))


def item(inf: Path, owner: Operand, held: Operand, key: Operand) -> Operand:
    """What such an object has at a place or by a key, in the container that it holds."""
    value = inf.type_of(held)
    if isinstance(value, Container) and value.cls in DICTS and as_key(inf, key) not in inf.content(held):
        if value.cls is not defaultdict or is_missed_by_code(inf, owner):
            return item_that_is_missing(inf, owner, key)
    return inf.perform("getitem", [held, key])


def _attribute(inf: Path, s: Statement) -> Abstract | None:
    """``point.x``, and methods of the builtin class."""
    owner, *args = s.operands
    value = inf.type_of(owner)
    name, names = s.data if s.op == "call_method" else (str(s.data), ())
    if not is_derived(value) or name == "__dict__" or _has_its_own(inf, owner, value, name):
        return None
    if isinstance(value, Outside) and name == "get" and args and not names and is_mapping(inf, owner, name):
        return got(inf, s, owner, value, args)
    held = held_by(inf, owner)
    if held is None:
        return None
    cls = value.cls
    found = look(inf, cls, name)
    if type(found) is _FIELD:
        field = parts(inf, held)[found.__reduce__()[1][0]]
        called = s.op == "call_method"
        return alias(inf, s, inf.perform("call", [field, *s.operands[1:]], s.data[1]) if called else field)
    if type(found) is not MethodDescriptorType or found is not of_base(cls, name):
        return None
    if name == "copy" and base_of(cls) in MAPPINGS:
        return None
    if found is dict.copy and look(inf, cls, "__iter__") is not dict.__iter__:
        return None
    if found is dict.__getitem__:
        return _asked_by_name(inf, s)
    return alias(inf, s, inf.perform(s.op, [held, *s.operands[1:]], s.data))


def _has_its_own(inf: Path, owner: Operand, value: Fresh | Outside, name: str) -> bool:
    """Whether an object itself has an attribute, which comes before a method of its class."""
    if type(look(inf, value.cls, name)) is not MethodDescriptorType:
        return False
    outside = isinstance(value, Outside) and inf.world.has(inf.final(owner), value.example, name)
    return outside or field_read(inf, owner, value, name) is not None


def _asked_by_name(inf: Path, s: Statement) -> Abstract:
    """``owner.__getitem__``, which asks the class of its owner for what is missing."""
    bound = inf.token("__getitem__", Bound(dict.__getitem__, s.operands[0]))
    return alias(inf, s, inf.call(bound, s.operands[1:]) if s.op == "call_method" else bound)
