"""The pullback of a specialised program, in place of a session."""

from __future__ import annotations

from collections.abc import Callable
from sys import gettrace
from typing import Any

from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.session import Grads, Session
from autodiff_hook.runtime.specialising import specialised


class Pulled:
    """A value and the way back from it, like ``Session``.

    A cotangent in another form than that of the value, and an error on the way, are left to a session.
    """

    __slots__ = ("_call", "_reverse", "_session", "value")

    def __init__(self, f: Any, args: tuple[Any, ...], value: Any, reverse: Callable[[Any], Grads]) -> None:
        self._call, self.value, self._reverse = (f, args), value, reverse
        self._session: Session | None = None

    def back(self, cotangent: Any) -> Grads:
        """The gradients of the arguments, in their form, for one cotangent of the value."""
        if self._session is None and fits(cotangent, self.value):
            try:
                return self._reverse(cotangent)
            except Exception:
                # The generic path says what is wrong, and where.
                pass
        return self.session().back(cotangent)

    def session(self) -> Session:
        """The session that this stands for."""
        if self._session is None:
            self._session = Session(*self._call, {})
        return self._session


def pulled(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pulled | None:
    """Value and pullback of ``f`` by a specialised program, if there is one."""
    if kwargs or gettrace() is not None:
        return None
    found = specialised(f, args, form="pullback")
    return None if found is MISS else Pulled(f, args, *found)


def fits(cotangent: Any, value: Any) -> bool:
    """Whether a cotangent has the very form of a value made of numbers, arrays, tuples and lists."""
    import numpy as np

    if isinstance(value, (tuple, list)):
        same = type(cotangent) in (tuple, list) and len(cotangent) == len(value)
        return same and all(c is None or fits(c, v) for c, v in zip(cotangent, value))
    if type(value) is np.ndarray:
        return (
            type(cotangent) is np.ndarray
            and cotangent.shape == value.shape
            and cotangent.dtype == value.dtype == np.float64
        )
    return isinstance(value, (float, int)) and type(cotangent) in (float, np.float64)
