"""What the pullback of a rule returned: a tuple, with a cotangent of the right form for each parameter.

A *form* is what is kept of an argument for this: the shape of an array or number, the number of items of a
list or tuple of numbers, the forms of the items of another one; None where anything goes.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import Any, Final

from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.errors import AutodiffError, located
from autodiff_hook.parameters import parameters_of
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime import mirror
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.parted import PARTED, part_at
from autodiff_hook.tangent import Tangent

Form = Any

NUMBERS: Final = frozenset({float, int, complex})
SURE: Final = frozenset({*NUMBERS, type(None), NotImplementedCotangent})
"""The types of cotangents that fit any number."""


def form_of(value: Any) -> Form:
    """The form of the cotangent of ``value``."""
    kind = kind_of(type(value))
    if kind == "number":
        return ()
    if kind == "array":
        return value.shape
    if kind in ("tuple", "list"):
        return len(value) if NUMBERS.issuperset(map(type, value)) else list(map(form_of, value))
    return None


def counted(rule: Any, count: int, given: Any) -> tuple[Any, ...]:
    """What a pullback returned for a call of ``rule`` with ``count`` positional arguments, if that is a tuple
    with a cotangent for each of its parameters.
    """
    owed = parameters_of(rule).owed(count)
    if isinstance(given, tuple) and len(given) == owed:
        return given
    found = f"a tuple of {len(given)}" if isinstance(given, tuple) else f"a {type(given).__qualname__}"
    raise AutodiffError(
        located(
            f"the pullback of the rule {describe(rule)} returned {found}: it has to return a tuple with one cotangent "
            f"for each of its {owed} positional parameters (None for zero)"
        )
    )


class Owed:
    """What the pullback of one call of a rule has to return."""

    __slots__ = ("count", "forms", "places", "rule")

    def __init__(self, rule: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.rule, self.count = rule, len(args)
        known = parameters_of(rule).places if named else {}
        self.places = [*range(len(args)), *(known.get(name) for name in named)]
        self.forms = list(map(form_of, (*args, *named.values())))

    def checked(self, given: Any) -> tuple[Any, ...]:
        """What the pullback returned, if it is as it has to be."""
        if id(self.rule) in registry.tested:
            return given  # type: ignore[no-any-return]
        cotangents = counted(self.rule, self.count, given)
        require_forms(self.rule, cotangents, self.places, self.forms)
        return cotangents


class Checking:
    """The pullback of a rule within a specialised program, which looks at what it returns."""

    __slots__ = ("owed", "pullback")

    def __init__(self, rule: Any, pullback: Any, /, *args: Any, **named: Any) -> None:
        self.owed, self.pullback = Owed(rule, args, named), pullback

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        return self.owed.checked(self.pullback(cotangent))


def pair(rule: Any, returned: Any) -> tuple[Any, Any]:
    """What a rule returned, if that is a value and a pullback."""
    if isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1]):
        return returned
    raise AutodiffError(
        located(
            f"the rule {describe(rule)} returned a {type(returned).__qualname__}: it has to return a tuple of the "
            f"value and the pullback"
        )
    )


def checked_rule(rule: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Call a rule of which nothing is known: its value, and its pullback, which is looked at as well."""
    value, pullback = pair(rule, rule(*args, **kwargs))
    return value, Checking(rule, pullback, *args, **kwargs)


def numbers(owed: int, given: Any) -> tuple[Any, ...]:
    """What the pullback of a rule of numbers returned within a specialised program; an error if it is nothing like."""
    if type(given) is tuple and len(given) == owed:
        if SURE.issuperset(map(type, given)) or all(fits(c, ()) for c in given):
            return given
    raise AutodiffError("a pullback that does not return a tuple with a number for each parameter of its rule")


def require_forms(rule: Any, given: tuple[Any, ...], places: Any, forms: Any) -> None:
    """Raise an error if one of the cotangents in ``places`` does not have the form of its argument."""
    for place, form in zip(places, forms):
        if place is not None and form is not None and not fits(given[place], form):
            raise AutodiffError(
                located(
                    f"the pullback of the rule {describe(rule)} returned {_described(given[place])} as the cotangent "
                    f"of parameter {place + 1}, whose argument was {_expected(form)}"
                )
            )


def fits(cotangent: Any, form: Form) -> bool:
    """Whether a cotangent has a form."""
    cls = type(cotangent)
    if cls is type(None) or cls is NotImplementedCotangent:
        return True
    if type(form) is tuple:
        return bool(_shape(cotangent) == form)
    if cls not in (list, tuple) and not isinstance(cotangent, (list, tuple)):
        return _fits_array(_shape(cotangent), form)
    if type(form) is int:
        return len(cotangent) == form and (SURE.issuperset(map(type, cotangent)) or all(fits(c, ()) for c in cotangent))
    return len(cotangent) == len(form) and all(map(fits, cotangent, form))


def _fits_array(shape: Any, form: Form) -> bool:
    """Whether an array may stand for a list or tuple."""
    if form is None or type(form) is tuple:
        return form is None or shape == form
    if not shape or shape[0] != (form if type(form) is int else len(form)):
        return False
    return shape[1:] == () if type(form) is int else all(_fits_array(shape[1:], item) for item in form)


def _shape(cotangent: Any) -> Any:
    """The shape of a number or array of numbers; None of anything else."""
    if isinstance(cotangent, (int, float, complex)):
        return ()
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(cotangent, (numpy.ndarray, numpy.generic)):
        return cotangent.shape if cotangent.dtype.kind in "fciub" else None
    return getattr(cotangent, "shape", None) if type(cotangent).__name__ == "Scatter" else None


def _described(cotangent: Any) -> str:
    shape = _shape(cotangent)
    return f"a {type(cotangent).__qualname__}" + (f" of shape {shape}" if shape is not None else "")


def _expected(form: Form) -> str:
    if type(form) is tuple:
        return f"of shape {form}"
    return f"a list or tuple of {form if type(form) is int else len(form)} items"


def require_cotangent(value: Any, cotangent: Any, where: str = "the cotangent given to back") -> None:
    """Raise an error if ``cotangent`` does not have the form of ``value``; None stands for zero anywhere."""
    if cotangent is None or isinstance(cotangent, NotImplementedCotangent):
        return
    kind = kind_of(type(value))
    form = kind if kind == "number" else "Tangent" if type(value) is Tangent else mirror.form_of(value)
    if form in ("number", "array"):
        if _shape(cotangent) != (value.shape if form == "array" else ()):
            raise AutodiffError(f"{where} is {_described(cotangent)}, but the value is {_described(value)}")
    elif form in ("tuple", "list"):
        fits = isinstance(cotangent, (tuple, list, deque)) or _shape(cotangent)
        if not fits or len(cotangent) != len(value):
            raise AutodiffError(f"{where} is {_sized(cotangent)}, but the value is {_sized(value)}")
        for i, (part, other) in enumerate(zip(value, cotangent)):
            require_cotangent(part, other, f"{where}, at [{i}],")
    elif form in PARTED:
        _require_parted(form, value, cotangent, where)
    elif form == "method":
        require_cotangent(value.__self__, cotangent, where)
    elif form != "inert":
        _require_named(form, value, cotangent, where)


def _require_named(form: str, value: Any, cotangent: Any, where: str) -> None:
    """The same for a cotangent by key, or by the name of an attribute or of a captured variable."""
    parts = value._fields if form == "Tangent" else dict(mirror.parts_of(value, form))
    named = cotangent._fields if form != "dict" and isinstance(cotangent, Tangent) else cotangent
    if not isinstance(named, dict) or not named.keys() <= parts.keys():
        what = "a dict with the keys" if form == "dict" else f"a {type(value).__qualname__} with the parts"
        raise AutodiffError(f"{where} is {_sized(cotangent)}, but the value is {what} {list(parts)}")
    for key, part in named.items():
        require_cotangent(parts[key], part, f"{where}, at [{key!r}],")


def _require_parted(form: str, value: Any, cotangent: Any, where: str) -> None:
    """The same for a cotangent of a structured array, or of an array of objects."""
    if not mirror.is_like(value, cotangent):
        raise AutodiffError(f"{where} is {_described(cotangent)}, but the value is an array of {form} {value.shape}")
    for key, part in mirror.parts_of(value, form):
        require_cotangent(part, part_at(cotangent, key), f"{where}, at [{key!r}],")


def _sized(value: Any) -> str:
    size = f" of {len(value)} items" if isinstance(value, (tuple, list, dict, deque)) else ""
    return _described(value) + size
