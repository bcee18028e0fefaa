"""Classes that say what functions of NumPy's are of their objects: ``__array_ufunc__``, ``__array_function__``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.lookup import in_numpys_order
from autodiff_hook.runtime.native import DISPATCHED
from autodiff_hook.semantics.equivalents import operating
from autodiff_hook.semantics.operations import BINARY, UFUNCS
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Dict, Fresh, Outside, Record
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.dividing import is_of_several
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import known
from autodiff_hook.transform.specialise.objects import class_of, is_from_numpy, look, written
from autodiff_hook.transform.specialise.plans import is_hashable, items_of, spread

Call = tuple[Any, list[Operand], dict[str, Operand]]
_OPERATORS: Final = {BINARY[symbol]: ufunc for symbol, ufunc in UFUNCS.items()}


def overridden(inf: Inference, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Call | None:
    """The call that stands in the place of one of NumPy's, if the class of an argument says what that is.

    On one way, where it is known which class knows what to do, NumPy's order is followed.
    """
    if inf.one_way:
        return None
    if type(function) is DISPATCHED:
        asked = [x for arg in args for x in _held(inf, s, arg)]
        classes = _classes(inf, asked)
        receiver, method = _asked(inf, asked, classes, "__array_function__")
        if receiver is None:
            return None
        types = inf.before(s, "build_tuple", [Constant(cls) for cls in classes])
        given = inf.before(s, "build_tuple", args)
        named = inf.before(s, "build_map", [x for name, value in kwargs.items() for x in (Constant(name), value)])
        return operating.overridden, [method, receiver, Constant(function), types, given, named], {}
    ufunc, name, args = _ufunc(inf, function, args)
    if ufunc is None:
        return None
    receiver, method = _asked(inf, args, _classes(inf, args), "__array_ufunc__")
    if receiver is None:
        return None
    if "out" in kwargs or len(args) > ufunc.nin and name == "__call__":
        raise Refused("a ufunc that writes to something else than arrays")
    return operating.overridden, [method, receiver, Constant(ufunc), Constant(name), *args], kwargs


def ufunc_of(inf: Inference, function: Any, args: Args) -> tuple[Any, str, Args]:
    """The ufunc that is called, or whose method is, the name of that, and what it is given; None if it is none."""
    if isinstance(function, np.ufunc):
        return function, "__call__", args
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return owner, function.__name__, args
    if getattr(function, "__objclass__", None) is np.ufunc and args:
        owner = known(inf.type_of(args[0]))
    return (owner, function.__name__, args[1:]) if isinstance(owner, np.ufunc) else (None, "", args)


def _ufunc(inf: Inference, function: Any, args: Args) -> tuple[Any, str, Args]:
    """The same, or the ufunc that an operator is whose left side is NumPy's."""
    if is_hashable(function) and function in _OPERATORS and len(args) == 2 and is_from_numpy(inf.type_of(args[0])):
        return _OPERATORS[function], "__call__", args
    return ufunc_of(inf, function, args)


def _held(inf: Inference, s: Statement, operand: Operand) -> list[Operand]:
    """What NumPy asks of an argument: itself, or the items of a list or a tuple."""
    items = items_of(inf.type_of(operand)) or ()
    return spread(inf, operand) if any(_class(x) is not None for x in items) else [operand]


def _class(kind: Abstract) -> type | None:
    """The class of an object or of an array; None of what is asked nothing."""
    if isinstance(kind, Array) and not kind.scalar:
        return np.ndarray
    return class_of(kind) if isinstance(kind, (Fresh, Outside, Record, Dict)) and not is_of_several(kind) else None


def _classes(inf: Inference, asked: list[Operand]) -> list[type]:
    """The classes in the order in which NumPy asks them."""
    found = [cls for x in asked if (cls := _class(inf.type_of(x))) is not None]
    return [found[i] for i in in_numpys_order(found)]


def _asked(inf: Inference, asked: list[Operand], classes: list[type], name: str) -> tuple[Operand | None, Operand]:
    """The first object whose class has a method written in Python, and that method; None if there is none."""
    found = [cls for cls in classes if cls is not np.ndarray and written(inf, cls, name)]
    if len(found) > 1:
        raise Refused(f"{name} of objects of several classes")
    receiver = next((x for x in asked if _class(inf.type_of(x)) in found), None)
    return receiver, Constant(look(inf, found[0], name) if found else None)
