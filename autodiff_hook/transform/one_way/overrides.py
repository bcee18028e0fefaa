"""Ufuncs and functions of NumPy on one way, of objects whose classes say in Python what they are.

NumPy asks ``__array_ufunc__`` and ``__array_function__`` from the left to the right, but classes before their bases,
until one knows what to do.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from types import FunctionType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.runtime.native import DISPATCHED
from autodiff_hook.semantics.operations import BINARY, COMPARE, METHODS, UFUNCS
from autodiff_hook.transform.one_way.containers import parts
from autodiff_hook.transform.one_way.operators import is_not_implemented, own_method
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.one_way.trail import Raised
from autodiff_hook.transform.specialise.abstract import Abstract, Container, Known
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.objects import is_from_numpy
from autodiff_hook.transform.specialise.overrides import ufunc_of
from autodiff_hook.transform.specialise.plans import alias, known_as
from autodiff_hook.transform.specialise.wording import named

ARRAY: Final = np.ndarray.__dict__
"""What arrays have of their class."""
NUMPY_OF: Final[dict[Any, np.ufunc]] = {
    **{BINARY[symbol]: ufunc for symbol, ufunc in UFUNCS.items()},
    **{ARRAY[METHODS[symbol]]: ufunc for symbol, ufunc in UFUNCS.items()},
    **dict(zip(COMPARE.values(), (np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal))),
    **{operator.neg: np.negative, operator.pos: np.positive, abs: np.absolute},
}
UFUNC, FUNCTION = "__array_ufunc__", "__array_function__"
_OF_REDUCE: Final = ("axis", "dtype", "out", "keepdims", "initial", "where")


def step(inf: Path, s: Statement) -> Abstract | None:
    """``array * x`` and ``array < x`` of an array and such an object; None of others."""
    if s.op not in ("binary", "compare") or not is_from_numpy(inf.type_of(s.operands[0])):
        return None
    numbers = number_types(inf.type_of(s.operands[0])) or ()
    ufunc = NUMPY_OF.get((BINARY if s.op == "binary" else COMPARE)[s.data])
    if ufunc is None or not all(issubclass(x, np.generic) for x in numbers):
        return None
    return _asked(inf, s, ufunc, "__call__", s.operands, {})


def asked(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """What arrays do by ufuncs, whose class says what these are; None of other arrays, and of what only shows them."""
    if only_shows(function):
        return None
    if function in _REDUCING and len(args) <= 2:
        given = {**_BY_METHODS, **dict(zip(_OF_REDUCE, args[1:])), **kwargs}
        return _asked(inf, s, _REDUCING[function], "reduce", args[:1], given)
    ufunc = NUMPY_OF.get(function, function)
    if isinstance(ufunc, np.ufunc):
        return _asked(inf, s, ufunc, "__call__", args, kwargs)
    if _in_turn(inf, [*args, *kwargs.values()], UFUNC):
        raise Refused(f"{named(function)} of what says by itself what ufuncs make of it")
    return None


def only_shows(function: Any) -> bool:
    """Whether a function makes views and copies of arrays, or asks them for an attribute."""
    return type(function) is operator.attrgetter or function in _SHOWING


_SHOWING: Final = (
    *(operator.getitem, ARRAY["__getitem__"], np.array, np.asarray, np.asanyarray),
    *(
        ARRAY[name]
        for name in ("copy", "reshape", "transpose", "ravel", "flatten", "astype", "squeeze", "take", "swapaxes")
    ),
)
_REDUCING: Final = {
    ARRAY["sum"]: np.add,
    ARRAY["prod"]: np.multiply,
    ARRAY["max"]: np.maximum,
    ARRAY["min"]: np.minimum,
}
"""The methods that reduce an array as a ufunc does."""
_BY_METHODS: Final[Kwargs] = {
    **dict.fromkeys(("axis", "dtype"), Constant(None)),
    **{"keepdims": Constant(False), "where": Constant(True)},
}
"""What such a method gives the ufunc, whatever it is given."""


def called(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    """A ufunc, a method of one, or a function of NumPy's, of such objects; None of others."""
    if function is ARRAY[UFUNC]:
        return _not_overridden(inf, s, args, kwargs)
    ufunc, name, given = ufunc_of(inf, function, args)
    if ufunc is not None:
        return _asked(inf, s, ufunc, name, given, kwargs)
    if type(function) is DISPATCHED:
        return _asked_of_function(inf, s, function, args, kwargs)
    return None


def _in_turn(inf: Path, operands: Iterable[Operand], name: str) -> list[tuple[Operand, FunctionType]]:
    """The objects that are asked, and their methods: one of each class."""
    found: list[tuple[type, Operand, FunctionType]] = []
    for operand in operands:
        found_here, cls = own_method(inf, operand, name), getattr(inf.type_of(operand), "cls", object)
        if found_here is not None and all(cls is not other for other, _, _ in found):
            place = next((i for i, (other, _, _) in enumerate(found) if issubclass(cls, other)), len(found))
            found.insert(place, (cls, operand, found_here))
    return [(operand, own) for _, operand, own in found]


def _asked(inf: Path, s: Statement, ufunc: np.ufunc, name: str, args: Args, kwargs: Kwargs) -> Abstract | None:
    in_turn = _in_turn(inf, [*args, *_outputs(inf, kwargs)], UFUNC)
    if not in_turn:
        return None
    args, kwargs = _normalised(inf, ufunc, name, args, kwargs)
    for operand, asked_by in in_turn:
        result = inf.call(Constant(asked_by), [operand, Constant(ufunc), Constant(name), *args], kwargs)
        if not is_not_implemented(inf, result):
            return alias(inf, s, result)
    raise Raised(TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({ufunc!r})"))


def _outputs(inf: Path, kwargs: Kwargs) -> list[Operand]:
    return inf.tuples.get(kwargs["out"], [kwargs["out"]]) if "out" in kwargs else []


def _normalised(inf: Path, ufunc: np.ufunc, name: str, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments as ``__array_ufunc__`` is given them: what comes after the inputs by name, outputs as a tuple."""
    if name == "__call__" and len(args) > ufunc.nin:
        args, kwargs = args[: ufunc.nin], {**kwargs, "out": inf.perform("build_tuple", args[ufunc.nin :])}
    if name == "reduce" and len(args) > 1:
        args, kwargs = args[:1], {**dict(zip(_OF_REDUCE, args[1:])), **kwargs}
    if "out" in kwargs and _is_default(inf, "out", kwargs["out"]):
        kwargs = {key: x for key, x in kwargs.items() if key != "out"}
    if "out" in kwargs and kwargs["out"] not in inf.tuples:
        kwargs = {**kwargs, "out": inf.perform("build_tuple", [kwargs["out"]])}
    return args, kwargs


def _not_overridden(inf: Path, s: Statement, args: Args, kwargs: Kwargs) -> Abstract:
    """``ndarray.__array_ufunc__``, which a class calls from its own: what NumPy does with whatever else."""
    ufunc, name = inf.pin(args[1]), inf.pin(args[2])
    if _in_turn(inf, [*args[3:], *_outputs(inf, kwargs)], UFUNC):
        return known_as(inf, s, NotImplemented)
    if name == "reduce":
        kwargs = {key: x for key, x in kwargs.items() if not _is_default(inf, key, x)}
    function = ufunc if name == "__call__" else getattr(ufunc, name)
    return alias(inf, s, inf.call(Constant(function), args[3:], kwargs))


def _is_default(inf: Path, name: str, operand: Operand) -> bool:
    value = inf.type_of(operand)
    return isinstance(value, Known) and any(value.value is x for x in _DEFAULTS.get(name, ()))


_DEFAULTS: Final = {"dtype": (None,), "out": (None,), "keepdims": (False, np._NoValue), "where": (True, np._NoValue)}


def are_overridden(inf: Path, args: Args) -> bool:
    """Whether one of some arguments says by itself what functions of NumPy's are."""
    return bool(_in_turn(inf, _relevant(inf, args), FUNCTION))


def _relevant(inf: Path, args: Args) -> Args:
    lists = [isinstance(kind, Container) and kind.cls is list for kind in map(inf.type_of, args)]
    return [x for arg, held in zip(args, lists) for x in (parts(inf, arg) if held else inf.tuples.get(arg, [arg]))]


def _asked_of_function(inf: Path, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
    in_turn = _in_turn(inf, _relevant(inf, args), FUNCTION)
    if not in_turn:
        return None
    types = inf.perform("build_tuple", [Constant(inf.type_of(x).cls) for x, _ in in_turn])  # type: ignore[attr-defined]
    for operand, asked_by in in_turn:
        by_name = inf.made(dict, dict(kwargs))
        given = [operand, Constant(function), types, inf.perform("build_tuple", args), by_name]
        result = inf.call(Constant(asked_by), given)
        if not is_not_implemented(inf, result):
            return alias(inf, s, result)
    raise Raised(TypeError(f"no implementation found for {function.__name__}"))
