"""The pullback of a specialised program, in place of a session."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.restoring import HOLDERS, Memory
from autodiff_hook.algebras.reverse import Grads, Reverse
from autodiff_hook.algebras.typed import arrays_of
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.attempts import suspect, suspicion
from autodiff_hook.runtime.binding import Places
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.entering import entered
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.mirror import form_of
from autodiff_hook.runtime.programs import Form
from autodiff_hook.runtime.specialised_runtime import Undefined
from autodiff_hook.runtime.specialising import came_to_nan, differentiated
from autodiff_hook.runtime.splitting import NUMBERS
from autodiff_hook.runtime.trees import same


class Pulled:
    """A value and the way back from it, like ``Reverse``.

    A cotangent in another form than that of the value, and an error on the way, are left to a session.
    """

    __slots__ = ("_call", "_form", "_memory", "_of_function", "_places", "_reverse", "_session", "value")

    def __init__(
        self,
        call: tuple[Any, tuple[Any, ...], dict[str, Any]],
        form: Form,
        of_function: bool,
        places: Places | None,
        value: Any,
        reverse: partial[Grads],
    ) -> None:
        self._call, self._form, self._of_function, self._places = call, form, of_function, places
        self.value, self._reverse = value, reverse
        self._session: Reverse | None = None
        self._memory = _memory_of(*reverse.args)

    def back(self, cotangent: Any) -> Grads:
        """The gradients of the arguments that are differentiated, in their form, for one cotangent of the value."""
        fitting = fitted(cotangent, self.value) if self._session is None else UNFIT
        if fitting is not UNFIT:
            try:
                memory = self._memory
                if memory is not None and memory.later:
                    grads = memory.during(self._reverse, fitting)
                else:
                    grads = self._reverse(fitting)
                return (None, *grads) if self._of_function else grads
            except MemoryError:
                raise
            except Exception as error:
                said = suspicion(error)
                if isinstance(error, Undefined):
                    came_to_nan(*self._call, self._form)
            # The carried program says what is wrong, and where.
            grads = self.session().back(cotangent)
            suspect(self._call[0], said)
            return grads
        return self.session().back(cotangent)

    def session(self) -> Reverse:
        """The session that this stands for: the function is run again, and has to come to the same."""
        if self._session is None:
            session = Reverse(*self._call, self._of_function, places=self._places)
            if not same(session.value, self.value):
                raise Unsupported(
                    f"this cotangent needs {describe(self._call[0])} to be run again, and what it depends on has been "
                    f"changed since: pass a cotangent of the form of the value, or make a new pullback"
                )
            self._session = session
        return self._session


def opened(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    of_function: bool = False,
    has_aux: bool = False,
    places: Places | None = None,
) -> Any:
    """Value and pullback of ``f``: by a specialised program, if there is one; else by a session.

    With ``of_function``, there is none for a function that holds something with a derivative. With ``has_aux``, nobody
    will ask for cotangents by the second part of the value. At ``places`` the arguments are that are differentiated.
    """
    if of_function and form_of(f) != "inert":
        return Reverse(f, args, kwargs, of_function, places=places)
    form: Form = "pullback_aux" if has_aux else "pullback"
    found, error = (MISS, None) if has_aux else entered("pullback", f, args, kwargs, places)
    if found is MISS:
        session = partial(_session, of_function, places)
        found = differentiated(f, args, kwargs, form, session, error, places=places)
    return Pulled((f, args, kwargs), form, of_function, places, *found) if type(found) is tuple else found


def _session(of_function: bool, places: Places | None, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    return Reverse(f, args, kwargs, of_function, places=places)


def _memory_of(residuals: tuple[Any, ...]) -> Memory | None:
    """What keeps the content of the arrays that a way back reads; None if it reads none."""
    if NUMBERS.issuperset(map(type, residuals)):
        return None
    held: dict[int, Any] = {}
    rest: list[Any] = []
    for x in residuals:
        if type(x) is np.ndarray:
            root = x if x.base is None else root_of(x)
            held[id(root)] = root
        elif type(x) not in NUMBERS:
            rest.append(x)
    for x in arrays_of(rest) if rest else ():
        held[id(root_of(x))] = root_of(x)
    if not held:
        return None
    memory = Memory(held)
    HOLDERS.add(memory)
    return memory


UNFIT: Final = object()
"""What ``fitted`` says of a cotangent that a specialised program does not take."""


def fitted(cotangent: Any, value: Any) -> Any:
    """A cotangent in the very form of a value made of numbers, arrays, tuples, lists and dicts."""
    if type(value) is dict:
        if type(cotangent) is not dict or cotangent.keys() != value.keys():
            return UNFIT
        named = {key: None if c is None else fitted(c, value[key]) for key, c in cotangent.items()}
        return UNFIT if any(part is UNFIT for part in named.values()) else named
    if isinstance(value, (tuple, list)):
        if type(cotangent) not in (tuple, list) or len(cotangent) != len(value):
            return UNFIT
        parts = [None if c is None else fitted(c, v) for c, v in zip(cotangent, value)]
        return UNFIT if any(part is UNFIT for part in parts) else parts
    if type(value) is np.ndarray and value.dtype == np.float64:
        plain = type(cotangent) is np.ndarray and cotangent.dtype.kind in "fiu" and cotangent.shape == value.shape
        return np.asarray(cotangent, np.float64) if plain else UNFIT
    real = isinstance(cotangent, (float, int, np.floating, np.integer)) and not isinstance(cotangent, bool)
    return float(cotangent) if real and type(value) in (float, int, np.float64) else UNFIT
