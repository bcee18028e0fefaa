"""The derivative of a function at one point as a linear map, of which any number of products can be had.

Where there is a typed program of forward mode, which has no effects, it gives each product with the value. Else the
function is run once on a tape whose sweep is recorded on a second tape: a sweep of that is the transpose of the
transpose.
"""

from __future__ import annotations

from typing import Any

from autodiff_hook.algebras.forward import check_tangent
from autodiff_hook.algebras.levels import mapped
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.algebras.tangents import fit, one_like, placed
from autodiff_hook.algebras.tape import Tape
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.jacobians import require_numbers
from autodiff_hook.runtime.mirror import form_of
from autodiff_hook.runtime.preparing import deeper_recursion, require_aux
from autodiff_hook.runtime.specialising import differentiated
from autodiff_hook.runtime.tangents import as_given, given_back, given_once, is_made_of_numbers, zero_tangent
from autodiff_hook.runtime.trees import same
from autodiff_hook.semantics.structures import gather


class Linear:
    """``ẏ = linear(*ẋ)`` at the point where it was made; ``value`` is that of the function there, without ``aux``."""

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool) -> None:
        self.call, self.has_aux = (f, args, kwargs), has_aux
        known: dict[int, Any] = {}
        self._given = tuple([as_given(x, known) for x in args])
        """What the arguments hold, and under which names: the function may change that."""
        self._recorded: tuple[Tape, Any, Any, Any] | None = None
        typed = all(is_made_of_numbers(x) or form_of(x) == "inert" for x in args)
        self._zeros = tuple(map(zero_tangent, args)) if typed else None
        found: Any = self._pushed(self._zeros) if typed and args else MISS
        whole: Any = self._record() if found is MISS else found[0]
        self.value: Any
        self.aux: Any
        self.value, self.aux = self._divided(whole) if has_aux else (whole, None)
        require_numbers(self.value, "linearize")

    def __call__(self, /, *tangents: Any) -> Any:
        f, args, _ = self.call
        if len(tangents) != len(args):
            raise Unsupported(f"{describe(f)} was linearized at {len(args)} arguments, and {len(tangents)} are given")
        for i, (x, tangent) in enumerate(zip(args, tangents)):
            if tangent is not None and (form_of(x) != "list" or self._recorded is None):
                check_tangent(form_of(x), x, tangent, f"tangents[{i}]")
        if self._recorded is None:
            assert self._zeros is not None
            found = self._pushed(tuple(zero if t is None else t for t, zero in zip(tangents, self._zeros)))
            if found is not MISS and same(self._first(found[0]), self.value):
                return self._first(found[1])
            self._record_again()
        return self._swept(tangents)

    def _divided(self, pair: Any) -> tuple[Any, Any]:
        require_aux(pair, self.call[0])
        return pair[0], pair[1]

    def _first(self, pair: Any) -> Any:
        return pair[0] if self.has_aux else pair

    def _pushed(self, tangents: Any) -> Any:
        """Value and tangent by a typed program, or ``MISS``."""
        f, args, kwargs = self.call
        return differentiated(f, args, kwargs, "push", _none_typed, tangents=tangents)

    def _record_again(self) -> None:
        if not same(self._first(self._record()), self.value):
            raise Unsupported(
                f"this product needs {describe(self.call[0])} to be run again, and what it depends on has been "
                f"changed since: linearize it where it is now"
            )

    def _record(self) -> Any:
        """Run the function, and its reverse sweep, which is recorded; the value of the function."""
        f, args, kwargs = self.call
        tape = Tape()
        with deeper_recursion:
            session = Reverse.over(tape, self.call, (None,) * len(args), (None,) * len(kwargs))
            one = (one_like(self._divided(session.value)[0]), None) if self.has_aux else one_like(session.value)
            leaves = mapped(one, lambda x: None if x is None else tape.leaf())
            grads, token = session.back_over(tape, one, leaves)
            tree = gather(tape, grads, token)
        self._recorded = tape, grads, tree, leaves
        return session.value

    def _swept(self, tangents: Any) -> Any:
        assert self._recorded is not None
        tape, grads, tree, leaves = self._recorded
        found = tape.sweep(tree, placed(given_once(self._given, tangents), grads)).values
        tangent = mapped(leaves, lambda leaf: _known(found[leaf]))
        return given_back(self.value, fit(self.value, self._first(tangent)))


def _none_typed(*args: Any, **kwargs: Any) -> Any:
    return MISS


def _known(cotangent: Any) -> Any:
    if type(cotangent) is NotImplementedCotangent:
        raise cotangent.fail()
    return cotangent
