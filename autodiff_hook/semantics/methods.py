"""Methods, looked up as CPython looks them up for a call."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result
from autodiff_hook.runtime.lookup import asked_in_turn, dictionary_of, find_in_type
from autodiff_hook.semantics.equivalents.operating import differs
from autodiff_hook.semantics.meanings import apply

_GETATTRIBUTE: Final = object.__dict__["__getattribute__"]


class Method:
    """A plain method of the type of ``receiver``, which was looked up before the arguments of its call."""

    __slots__ = ("__func__", "__self__")

    def __init__(self, function: Any, receiver: Any) -> None:
        self.__func__, self.__self__ = function, receiver


def method_of(receiver: Any, name: str) -> Any:
    """The function behind ``receiver.name`` if it is a plain method of the type; else None."""
    cls = type(receiver)
    # A metaclass may answer for a class itself.
    reader = cls.__getattribute__ if type(cls) is type else find_in_type(cls, "__getattribute__")
    if reader is not _GETATTRIBUTE:
        return None
    found = find_in_type(cls, name)
    if type(found) in (FunctionType, MethodDescriptorType, WrapperDescriptorType):
        dictionary = dictionary_of(receiver)
        if dictionary is None or name not in dictionary:
            return found
    return None


def attempts(a: Any, b: Any, own: str, reflected: str, compares: bool = False) -> Iterator[tuple[Any, bool]]:
    """The special methods that Python tries in turn, with whether they are reflected; None: not Python code.

    Whether one that is not knows the operands says its call, which is not made before those in front have given up.
    """
    operands, asked = (a, b), asked_in_turn(type(a), type(b), own, reflected, compares)
    found = [(_special(type(operands[place]), name), bool(place)) for place, name in asked]
    if not any([type(method) is FunctionType for method, _ in found]):
        return
    for method, is_reflected in found:
        if type(method) is FunctionType:
            yield method, is_reflected
        elif method is not None and (method(b, a) if is_reflected else method(a, b)) is not NotImplemented:
            yield None, False


def _special(cls: type, name: str) -> Any:
    found = find_in_type(cls, name)
    if found is object.__ne__ and type(find_in_type(cls, "__eq__")) is FunctionType:
        return differs
    return found


def apply_method(alg: Algebra, t: Any, method: Any, a: Any, b: Any, reflected: bool) -> Result:
    """Call a special method written in Python."""
    if reflected:
        return apply(alg, (None, t[1], t[0]), method, (b, a), {})
    return apply(alg, (None, t[0], t[1]), method, (a, b), {})
