"""Methods, looked up as CPython looks them up for a call."""

from __future__ import annotations

from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from autodiff_hook.runtime.lookup import dictionary_of, find_in_type

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
    if isinstance(found, (FunctionType, MethodDescriptorType, WrapperDescriptorType)):
        dictionary = dictionary_of(receiver)
        if dictionary is None or name not in dictionary:
            return found
    return None
