"""Code that runs in a namespace: the body of a class, of which the metaclass then makes the class; what texts say."""

from __future__ import annotations

import builtins
import types
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, load, some
from autodiff_hook.semantics.functions import enter_carried, unsupported
from autodiff_hook.semantics.items import delitem, getitem, setitem
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, apply, means
from autodiff_hook.semantics.opaque import call_opaque, fail
from autodiff_hook.semantics.slots import cell_get, namespace_of


@means(builtins.__build_class__)
def build_class(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """A class statement: natively where its body, bases and keywords have nothing to do with derivatives."""
    body, name, given = args[0], args[1], args[2:]
    if not some(t) and not reaches(alg, (*args, kwargs)):
        return builtins.__build_class__(*args, **kwargs), None
    reason = unsupported(body)
    if reason:
        fail(body, f"the body of a class, {reason}")
    bases = types.resolve_bases(given)
    metaclass, namespace, keywords = types.prepare_class(name, bases, kwargs)
    moving = dict(zip(kwargs, t[len(args) :]))
    prepare = preparing(metaclass)
    if prepare is not None and (some(moving.values()) or reaches(alg, prepare)):
        fail(metaclass, "which prepares a namespace of what has derivatives")
    cell, _ = enter_carried(alg, (None, None), body, (namespace,), {})
    if bases is not given:
        setitem(alg, (None, None, None), None, namespace, "__orig_bases__", given)
    tokens = [moving[key] for key in keywords]
    cls, token = apply(alg, (None, None, None, None, *tokens), metaclass, (name, tuple(bases), namespace), keywords)
    if isinstance(cell, CellType) and isinstance(cls, type):
        check_cell(cell, name, cls)
    return cls, token


def preparing(metaclass: Any) -> FunctionType | None:
    """The Python code that makes the namespace of a class; None if that is a new dict."""
    prepare = getattr(metaclass, "__prepare__", None)
    found = getattr(prepare, "__func__", prepare)
    return found if type(found) is FunctionType else None


def check_cell(cell: CellType, name: str, cls: type) -> None:
    """Raise what Python raises if a metaclass has not handed ``__classcell__`` on."""
    try:
        found = cell.cell_contents
    except ValueError:
        raise RuntimeError(
            f"__class__ not set defining {name!r} as {cls!r}. Was __classcell__ propagated to type.__new__?"
        ) from None
    if found is not cls:
        raise TypeError(f"__class__ set to {found!r} defining {name!r} as {cls!r}")


def found_in(alg: Algebra, name: str, namespace: Any) -> Result | None:
    """A name of a class body in its namespace; None if it is not there."""
    if type(namespace) is dict and name not in namespace:
        return None
    try:
        return getitem(alg, (None, None), None, namespace, name)
    except KeyError:
        return None


def name_get(alg: Algebra, t: Any, name: str, namespace: Any, globals_: dict[str, Any]) -> Result:
    """A name in a class body: of the body, a global or a builtin."""
    found = found_in(alg, name, namespace)
    if found is not None:
        return found
    holder = namespace_of(name, globals_)
    if name not in holder:
        raise NameError(f"name {name!r} is not defined", name=name)
    return holder[name], load(alg, holder, name, holder[name])


def name_or_cell_get(alg: Algebra, t: Any, name: str, namespace: Any, cell: Any) -> Result:
    """A name in a class body that a function around it has, too."""
    found = found_in(alg, name, namespace)
    return cell_get(alg, t[1:], name, cell) if found is None else found


def name_del(alg: Algebra, t: Any, name: str, namespace: Any) -> Result:
    """``del name`` in a class body."""
    try:
        return delitem(alg, (None, None), None, namespace, name)
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


def setup_annotations(alg: Algebra, t: Any, data: Any, namespace: Any) -> Result:
    """Make place for the annotations of a class body."""
    if found_in(alg, "__annotations__", namespace) is None:
        setitem(alg, (None, None, None), None, namespace, "__annotations__", {})
    return None, None


def running(run: Any) -> Meaning:
    """What ``eval`` or ``exec`` means."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        source, *namespaces = args
        globals_, namespace = (*namespaces, None, None)[:2]
        namespace = globals_ if namespace is None else namespace
        if globals_ is None and not kwargs:
            fail(run, "which looks for the variables of its caller: give it dicts")
        if not kwargs and type(globals_) is dict and t[0] is None and not reaches(alg, source):
            code = compiled(source, run.__name__) if type(source) is str else source
            body = FunctionType(code, globals_) if type(code) is CodeType and not code.co_freevars else None
            if body is not None and not unsupported(body) and (some(t) or reaches(alg, body, namespace)):
                globals_.setdefault("__builtins__", builtins)
                value, token = enter_carried(alg, (None, None), body, (namespace,), {})
                return (value, token) if run is eval else (None, None)
            args = (code, *namespaces)
        return call_opaque(alg, t, run, args, kwargs, _REASON)

    return carried


_REASON: Final = "which runs text that is computed, or not followed"


@lru_cache(1 << 10)
def compiled(source: str, mode: str) -> CodeType:
    """The code of a text."""
    return compile(source.lstrip(" \t") if mode == "eval" else source, "<string>", mode, dont_inherit=True)


for _run in (eval, exec):
    means(_run)(running(_run))
