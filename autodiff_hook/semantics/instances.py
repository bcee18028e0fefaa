"""Calls of classes: ``__new__`` and ``__init__``, each with tokens."""

from __future__ import annotations

from collections import OrderedDict, deque
from types import FunctionType
from typing import Any, Final

from autodiff_hook.algebras.implicit import watch
from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.runtime.lookup import HEAP_TYPE, find_in_type, require_none
from autodiff_hook.semantics.iteration import python_method
from autodiff_hook.semantics.meanings import MEANINGS, Args, Kwargs, apply
from autodiff_hook.semantics.opaque import call_opaque


def constructors(cls: Any) -> tuple[Any, bool, Any]:
    """The ``__new__`` of a class, whether that takes no arguments, and the ``__init__``; None: not known here."""
    new, init = find_in_type(cls, "__new__"), find_in_type(cls, "__init__")
    new = new.__func__ if issubclass(type(new), staticmethod) else new
    is_code = type(new) is FunctionType or type(init) is FunctionType
    known = type(new) is FunctionType or id(new) in MEANINGS or new in _BLANK
    heap = bool(cls.__flags__ & HEAP_TYPE) and new is not object.__new__
    if not known or not is_code and not heap and cls is not OrderedDict and not issubclass(cls, BaseException):
        return None, False, None
    return new, new in _BLANK, init if type(init) is FunctionType or id(init) in MEANINGS else None


_BLANK: Final = (object.__new__, dict.__new__, list.__new__, OrderedDict.__new__, deque.__new__)


def blank(cls: Any) -> Any:
    """A new instance of a class, with nothing in it."""
    new = find_in_type(cls, "__new__")
    return cls.__new__(cls) if new in _BLANK else object.__new__(cls)


def fields_of(cls: Any) -> tuple[str, ...] | None:
    """The field names of a class made by ``collections.namedtuple``, if instances are made as that does."""
    new = find_in_type(cls, "__new__")
    module = getattr(getattr(new, "__func__", new), "__module__", None)
    return cls._fields if issubclass(cls, tuple) and str(module).startswith("namedtuple_") else None


def instantiate(alg: Algebra, t: Any, cls: Any, args: Args, kwargs: Kwargs) -> Result:
    """``cls(*args)``: ``__new__`` and ``__init__``, each with tokens."""
    maker = python_method(cls, "__call__")
    if maker is not None:
        return apply(alg, (None, *t), maker, (cls, *args), kwargs)
    return make_instance(alg, t, cls, args, kwargs)


def make_instance(alg: Algebra, t: Any, cls: Any, args: Args, kwargs: Kwargs) -> Result:
    """A new instance, past what a metaclass makes of the call."""
    watch(cls)
    fields = fields_of(cls)
    if fields is not None and len(args) + len(kwargs) == len(fields):
        named = dict(zip((*fields[: len(args)], *kwargs), t[1:]))
        return cls(*args, **kwargs), tuple([named.get(name) for name in fields])
    if cls.__new__ is object.__new__ and cls.__init__ is object.__init__:
        return cls(*args, **kwargs), None
    new, empty, init = constructors(cls)
    if new is None:
        return call_opaque(alg, t[1:], cls, args, kwargs, "a class without Python code")
    token = None
    if empty:
        instance = blank(cls)
    else:
        instance, token = apply(alg, (None, *t), new, (cls, *args), kwargs)
        init = constructors(type(instance))[2]
    if isinstance(instance, cls) and init is not None:
        require_none(apply(alg, (None, token, *t[1:]), init, (instance, *args), kwargs)[0])
    return instance, token
