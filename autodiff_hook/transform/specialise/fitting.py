"""Calls of builtin code that do not fit, which nobody may notice whose result is not used."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection
from types import MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from autodiff_hook.ir.types import Args, Statement
from autodiff_hook.runtime.arity import misfits
from autodiff_hook.runtime.lookup import HEAP_TYPE, find_in_type
from autodiff_hook.transform.specialise.abstract import (
    Abstract,
    Container,
    Dict,
    Instance,
    Known,
    Number,
    Outside,
    Tuple,
)
from autodiff_hook.transform.specialise.bodies import Refused, Rest, Unfit
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.instances import classes_of
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.plans import is_hashable
from autodiff_hook.transform.specialise.wording import named


def require_fit(inf: Inference, function: Any, args: Args, names: Collection[str]) -> None:
    """Refuse a call of builtin code that raises ``TypeError`` for how many arguments there are, or of which class."""
    if any(isinstance(x, Rest) for x in args):
        return
    if misfits(function, len(args), names):
        raise Unfit(f"a call of {named(function)} that does not fit", None)
    if type(function) in _OF_BUILTIN_CLASSES and args:
        value = inf.type_of(args[0])
        types = number_types(value)
        if types is not None and not any(issubclass(cls, function.__objclass__) for cls in types):
            raise Unfit(f"{named(function)} of {named(value)}", None)
    for operand in args[_COUNTED[function]] if is_hashable(function) and function in _COUNTED else ():
        value = inf.type_of(operand)
        classes = [type(value.value)] if isinstance(value, Known) else list(number_types(value) or ())
        if classes and not any(cls is type(None) or hasattr(cls, "__index__") for cls in classes):
            raise Refused(f"{named(function)} of {named(value)}, which is no count")
        if function is itertools.islice and isinstance(value, Known) and value.value is not None and value.value < 0:
            raise Refused("itertools.islice of a number below zero")


_COUNTED: Final[dict[Any, slice]] = {
    **dict.fromkeys((itertools.islice, itertools.repeat, itertools.tee), slice(1, None)),
    **dict.fromkeys((list.insert, list.pop, deque.insert, deque.rotate), slice(1, 2)),
}
"""Which arguments have to be whole numbers, that nobody asks else before a result is used."""


def require_method_fits(inf: Inference, value: Abstract, s: Statement) -> None:
    """The same of a method of a container, a text or a number."""
    if not isinstance(value, _WITH_BUILTIN_CLASSES):
        return
    name, names = s.data
    for cls in classes_of(value):
        method = None if cls.__flags__ & HEAP_TYPE else find_in_type(cls, name)
        if type(method) is MethodDescriptorType:
            require_fit(inf, method, s.operands[: len(s.operands) - len(names)], names)


_WITH_BUILTIN_CLASSES: Final = (Number, Tuple, Dict, Container, Known, Instance, Outside)
_OF_BUILTIN_CLASSES: Final = (MethodDescriptorType, WrapperDescriptorType)
