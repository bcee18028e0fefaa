"""Objects that a program makes on one way: constructors are followed, exceptions are made at once."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any, Final

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.runtime.lookup import HEAP_TYPE, find_in_type, require_no_more
from autodiff_hook.transform.one_way.containers import UNKNOWN, known_value
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised, done
from autodiff_hook.transform.specialise.abstract import BOOL, Abstract, Error, Fresh, Instance, Known
from autodiff_hook.transform.specialise.bodies import Refused, is_plain
from autodiff_hook.transform.specialise.lattice import known
from autodiff_hook.transform.specialise.objects import ABSTRACT, look, written
from autodiff_hook.transform.specialise.plans import alias
from autodiff_hook.transform.specialise.wording import named

FILLING: Final = (list.__init__, dict.__init__, defaultdict.__init__, OrderedDict.__init__)


def construct(inf: Path, s: Statement, cls: type, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``type.__call__(cls, …)``."""
    if cls.__module__ == "builtins" and not issubclass(cls, BaseException):
        return None
    new, init = look(inf, cls, "__new__"), look(inf, cls, "__init__")
    new = new.__func__ if issubclass(type(new), staticmethod) else new
    if issubclass(cls, BaseException) and type(new) is not FunctionType and type(init) is not FunctionType:
        return alias(inf, s, _exception(inf, cls, args, kwargs))
    if cls is SimpleNamespace and not args:
        made: Operand = _blank(inf, cls)
        inf.members(made).update(kwargs)
        return alias(inf, s, made)
    if new is object.__new__:
        done(require_no_more, "__new__", cls, args or kwargs)
    if new is object.__new__ or new is BaseException.__dict__["__new__"]:
        made = instance(inf, cls)
    elif new == float.__new__ and not kwargs:
        made = number(inf, cls, args)
    elif new in (list.__new__, dict.__new__):
        made = inf.call(Constant(new), [Constant(cls)])
    elif new is tuple.__new__ or type(new) is FunctionType:
        made = inf.call(Constant(new), [Constant(cls), *args], kwargs)
        kind = inf.type_of(made)
        if not isinstance(kind, Fresh) or not issubclass(kind.cls, cls):
            return alias(inf, s, made)
        cls, init = kind.cls, look(inf, kind.cls, "__init__")
    else:
        return None
    if type(init) is FunctionType or init in FILLING:
        inf.world.attribute(cls, "__init__")
        returned = inf.type_of(inf.call(Constant(init), [made, *args], kwargs))
        if not (isinstance(returned, Known) and returned.value is None):
            raise Raised(TypeError("__init__() should return None"))
    elif init is not object.__init__:
        return None
    return alias(inf, s, made)


def construct_plainly(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``super().__call__(…)`` in the class of a class; None if this is another call."""
    cls = known(inf.type_of(args[0])) if args and function == type.__call__ else None
    return construct(inf, s, cls, args[1:], kwargs) if isinstance(cls, type) else None


def bases_in_order(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``cls.mro()``; None if this is another call."""
    cls = getattr(function, "__self__", None)
    if type(function) is not BuiltinFunctionType or not isinstance(cls, type) or function != type.mro.__get__(cls):
        return None
    inf.world.members(cls)
    return alias(inf, s, inf.made(list, list(map(Constant, cls.__mro__))))


def derived_classes(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """``cls.__subclasses__()``, guarded to be the same classes; None if this is another call."""
    cls = getattr(function, "__self__", None)
    if type(function) is not BuiltinFunctionType or not isinstance(cls, type):
        return None
    if function != type.__subclasses__.__get__(cls):
        return None
    found: tuple[type, ...] = tuple(type.__subclasses__(cls))
    if any(find_in_type(type(each), "__eq__") is not object.__eq__ for each in found):
        raise Refused(f"classes derived from {named(cls)} say by themselves what they equal")
    now = inf.emit("call", Constant(type.__subclasses__), Constant(cls), abstract=Instance(list), data=())
    now = inf.emit("call", Constant(tuple), now, abstract=Instance(tuple), data=())
    inf.guard(inf.emit("compare", now, Constant(found), abstract=BOOL, data="=="), True)
    return alias(inf, s, inf.made(list, list(map(Constant, found))))


def _exception(inf: Path, cls: type, args: Args, kwargs: Kwargs) -> Operand:
    """An exception of a builtin class: made at once if its arguments are known for good; else its class is known."""
    values = [known_value(inf, x) for x in args]
    if kwargs or any(v is UNKNOWN or not is_plain(v) for v in values):
        return inf.token("error", Error(cls))
    try:
        return Constant(cls(*values))
    except Exception as error:
        raise Refused(f"{named(cls)} raised {named(error)}") from None


def instance(inf: Path, cls: type) -> Variable:
    """A new object of a class, without attributes."""
    if cls is object:
        return _blank(inf, cls)
    if look(inf, cls, "__del__") is not None or cls.__flags__ & (HEAP_TYPE | ABSTRACT) != HEAP_TYPE:
        raise Refused(f"an object of {named(cls)}")
    return _blank(inf, cls)


def _blank(inf: Path, cls: type) -> Variable:
    token = Variable(cls.__name__)
    inf.types[token] = Fresh(cls, token)
    return token


def number(inf: Path, cls: type, args: Args) -> Variable:
    """A new object of a class derived from ``float``, which is a float to all that only computes with it."""
    if any(written(inf, cls, name) for name in _CONVERSIONS):
        raise Refused(f"{named(cls)} says by itself which number it is")
    value = inf.call(Constant(float), args)
    made = instance(inf, cls)
    inf.numbers[made] = value
    return made


_CONVERSIONS: Final = (
    *("__float__", "__int__", "__index__", "__complex__", "__round__", "__trunc__", "__floor__", "__ceil__"),
    *("__divmod__", "__rdivmod__", "__array__", "__array_ufunc__"),
)
