"""Calls, functions and what they have captured, on one way through a program."""

from __future__ import annotations

from types import ModuleType, WrapperDescriptorType
from typing import Final

import numpy as np

from autodiff_hook.ir.types import UNBOUND, Args, Constant, Operand, Statement
from autodiff_hook.runtime.native import apart_by_name
from autodiff_hook.semantics.equivalents.changing import sort
from autodiff_hook.transform.one_way import inert, namespaces
from autodiff_hook.transform.one_way.attributes import attribute, looks_up
from autodiff_hook.transform.one_way.comparing import plainly
from autodiff_hook.transform.one_way.containers import changeable, held_as, is_mapping, pairs, parts, seen_through
from autodiff_hook.transform.one_way.held import is_derived
from autodiff_hook.transform.one_way.items import got
from autodiff_hook.transform.one_way.iterations import resumed
from autodiff_hook.transform.one_way.mappings import LAST
from autodiff_hook.transform.one_way.members import get_attribute, is_accessor
from autodiff_hook.transform.one_way.methods import METHODS
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Cell,
    Closure,
    Container,
    Fresh,
    Instance,
    Known,
    List,
    Lookup,
    Outside,
    Partial,
    Super,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.certain import lacks
from autodiff_hook.transform.specialise.fitting import require_method_fits
from autodiff_hook.transform.specialise.lattice import example_of
from autodiff_hook.transform.specialise.objects import class_of, look_after
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.trying import tried


def make_cell(inf: Path, s: Statement) -> Abstract:
    """A captured variable."""
    value = s.operands[0]
    if not (isinstance(value, Constant) and value.value is UNBOUND):
        inf.cells[s.made] = value
    return Cell()


def cell_set(inf: Path, s: Statement) -> Abstract:
    """A captured variable is assigned."""
    cell, value = s.operands
    if not isinstance(inf.type_of(cell), Cell):
        raise Refused("a captured variable from outside is assigned")
    inf.cells[cell] = value
    return known_as(inf, s, None)


def cell_get(inf: Path, s: Statement) -> Abstract:
    """What a captured variable has."""
    found = inf.cells.get(s.operands[0])
    if found is None:
        raise Raised(NameError)
    return alias(inf, s, found)


def check(inf: Path, s: Statement) -> None:
    """A variable has a value."""
    kind = inf.type_of(s.operands[0])
    if isinstance(kind, Known) and kind.value is UNBOUND:
        raise Raised(UnboundLocalError)


def make_function(inf: Path, s: Statement) -> Abstract:
    """``def`` and ``lambda``."""
    defaults, keyword, annotations, closure, later = s.operands
    cells = parts(inf, closure) if not _is_none(inf, closure) else []
    values = parts(inf, defaults) if not _is_none(inf, defaults) else []
    named = pairs(inf, keyword) if not _is_none(inf, keyword) else None
    described = not all([_is_none(inf, x) for x in (defaults, keyword, annotations, later)])
    return Closure(s.data, inf.frames[-1], tuple(cells), tuple(values), named, described)


def _is_none(inf: Path, operand: Operand) -> bool:
    value = inf.type_of(operand)
    return isinstance(value, Known) and value.value is None


def call_ex(inf: Path, s: Statement) -> Abstract:
    """``f(*args, **kwargs)``."""
    function, args, kwargs = s.operands
    named = {} if _is_none(inf, kwargs) else pairs(inf, kwargs)
    if not all(isinstance(name, str) for name in named):
        raise Raised(TypeError("keywords must be strings"))
    return alias(inf, s, inf.call(function, parts(inf, args), named))


def call_method(inf: Path, s: Statement) -> Abstract | None:
    """``owner.name(...)``."""
    name, names = s.data
    owner, *args = s.operands
    of_names = namespaces.got(inf, s, name, owner, args) if not names else None
    if of_names is not None:
        return of_names
    if owner in inf.iterators and (name, len(args)) in (("send", 1), ("__next__", 0)):
        return resumed(inf, s)
    value = inf.type_of(owner)
    require_method_fits(inf, value, s)
    maker = class_of(inf.type_of(value.receiver)) if isinstance(value, Super) and name == "__init__" else None
    if isinstance(value, Super) and maker is not None:
        found = look_after(inf, maker, value.after, name)
        if isinstance(found, WrapperDescriptorType) and issubclass(found.__objclass__, BaseException):
            return known_as(inf, s, None)
    if name == "get" and args and not names and isinstance(value, Outside) and is_mapping(inf, owner, name):
        if owner not in inf.aliased and not is_derived(value):
            return got(inf, s, owner, value, args)
    shown = seen_through(inf, owner) if name in _SHOWN else None
    if shown is not None:
        return alias(inf, s, inf.perform("call_method", [shown, *args], s.data))
    cls = list if isinstance(value, List) else value.cls if isinstance(value, (Tuple, Outside)) else None
    if cls in (list, dict, set, frozenset) and hasattr(cls, name):
        owner = changeable(inf, owner)
    value = inf.type_of(owner)
    if isinstance(value, Known) and type(value.value) is tuple and name in _SEARCHING and not names:
        return alias(inf, s, METHODS[tuple, name](inf, owner, args))
    if isinstance(value, Container) or isinstance(value, Tuple) and (value.cls, name) in METHODS:
        given, options = apart_by_name(args, names)
        if (value.cls, name) == (list, "sort"):
            return alias(inf, s, inf.call(Constant(sort), [owner, *given], options))
        method = METHODS.get((value.cls, name))
        if method is None or names and name != "update" and names != LAST:
            raise Refused(f"{value.cls.__name__}.{name}")
        result = method(inf, owner, args if names == LAST else given)
        if names and names != LAST:
            method(inf, owner, [inf.made(dict, options)])
        return alias(inf, s, result)
    if isinstance(value, (Known, Instance)) and type(example_of(value)) in (str, bytes) and not names:
        return _of_text(inf, s, owner, name, args)
    if isinstance(value, Known) and type(value.value) is np.bool_ and (name, args) == ("view", []):
        return alias(inf, s, owner)
    if isinstance(value, Partial) or is_accessor(value, name):
        return alias(inf, s, inf.call(inf.perform("getattr", [owner], name), *apart_by_name(args, names)))
    matched = inert.method(inf, s, owner, name, args, names)
    if matched is not None:
        return matched
    if isinstance(value, (Fresh, Outside)):
        is_class = name == "__class__" and not looks_up(inf, value)
        found = Constant(value.cls) if is_class else attribute(inf, owner, value, name)
        if found is not None:
            return alias(inf, s, inf.call(found, *apart_by_name(args, names)))
    if isinstance(value, Known) and isinstance(getattr(type(value.value), name, None), type):
        return alias(inf, s, inf.call(inf.perform("getattr", [owner], name), *apart_by_name(args, names)))
    return None


_SEARCHING: Final = ("index", "count")
_SHOWN: Final = ("get", "keys", "values", "items", "copy")
"""The methods of a view of a dict that ask for all of it."""


def load_method(inf: Path, s: Statement) -> Abstract | None:
    """What an object, a class or a module has is read here; of other values nothing can be replaced before the call."""
    value = inf.type_of(s.operands[0])
    if isinstance(value, Outside) and not is_derived(value):
        if value.cls in (list, set, frozenset) or is_mapping(inf, s.operands[0], str(s.data)):
            return Lookup(str(s.data), s.operands[0])
    if isinstance(value, (Fresh, Outside)) or isinstance(value, Known) and isinstance(value.value, (ModuleType, type)):
        return get_attribute(inf, s)
    if lacks(value, str(s.data)):
        raise Raised(AttributeError)
    return Lookup(str(s.data), s.operands[0])


def call_loaded(inf: Path, s: Statement) -> Abstract:
    """A call of a method that was read before its arguments."""
    method, *args = s.operands
    value = inf.type_of(method)
    if isinstance(value, Lookup):
        return alias(inf, s, inf.perform("call_method", [value.receiver, *args], (value.name, s.data or ())))
    return alias(inf, s, inf.perform("call", [method, *args], s.data))


_LISTING: Final = ("split", "rsplit", "splitlines")
"""The methods of texts that give lists, of as many items as the text at hand says."""


def _of_text(inf: Path, s: Statement, owner: Operand, name: str, args: Args) -> Abstract | None:
    """A method of a string, or of bytes."""
    is_text = type(example_of(inf.type_of(owner))) is str
    if name == "join" and len(args) == 1 and is_text:
        return known_as(inf, s, inf.pin(owner).join(plainly(inf, x) for x in parts(inf, args[0])))
    if name == "translate" and is_text and len(args) == 1 and getattr(inf.type_of(args[0]), "cls", None) is dict:
        table = {key: plainly(inf, x) for key, x in pairs(inf, args[0]).items()}
        return known_as(inf, s, inf.pin(owner).translate(table))
    kinds = [inf.type_of(x) for x in (owner, *args)]
    known = all([isinstance(kind, Known) or type(example_of(kind)) is bytes for kind in kinds])
    if not known and not (name in _LISTING and is_text):
        return None
    text, *given = map(inf.pin, (owner, *args))
    return held_as(inf, s, tried(getattr(text, name), given, {}))
