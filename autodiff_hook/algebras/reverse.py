"""One reverse-mode differentiation on a tape: from the arguments to a pullback in their form."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autodiff_hook.algebras import typed
from autodiff_hook.algebras.given import Given
from autodiff_hook.algebras.implicit import Carrying
from autodiff_hook.algebras.levels import over_of, own_of, settled, token_at
from autodiff_hook.algebras.nested import fitted
from autodiff_hook.algebras.nested_tape import NestedTape
from autodiff_hook.algebras.restoring import HOLDERS
from autodiff_hook.algebras.shadows import Algebra, Token, keep, keep_all, load, parallel
from autodiff_hook.algebras.tape import Tape
from autodiff_hook.algebras.watching import WatchedTape
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.debugging import NANS
from autodiff_hook.errors import Unsupported
from autodiff_hook.registry import describe
from autodiff_hook.runtime.binding import Places, given_at
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.checking import require_cotangent
from autodiff_hook.runtime.mirror import Mirror, formed, gradient_of, mirror_of
from autodiff_hook.runtime.preparing import deeper_recursion, prepare, with_axes
from autodiff_hook.runtime.tracebacks import without_engine
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.scope import module_of_callable
from autodiff_hook.semantics.structures import gather, slot_of
from autodiff_hook.semantics.table import TABLE

assert TABLE, "importing the table registers meanings"

Grads = tuple[Any, ...]


class Reverse:
    """A forward pass of ``f`` at ``args``, and what its reverse sweeps need.

    What is in one of the ``modules`` is in scope, as what is in that of ``f``. ``places`` are those of the arguments
    that are differentiated; None: all of them.
    """

    def __init__(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        of_function: bool = False,
        modules: Collection[str] = (),
        places: Places | None = None,
    ) -> None:
        self._begin(f, args, kwargs, of_function, places)
        if NANS.on:
            self.tape: Tape = WatchedTape()
        else:
            self.tape = Tape()
            self.tape.typed = None if typed.GENERIC else typed.typed_call
        self.tape.modules.update(modules)
        self.tokens: tuple[Any, Any] = [None] * len(args), [None] * len(kwargs)
        """Those of the arguments, where the caller is carried."""
        self._run(*self.tokens)

    @classmethod
    def over(
        cls,
        below: Algebra,
        call: tuple[Any, Any, Any],
        args: Any,
        kwargs: Any,
        of_function: bool = False,
        places: Places | None = None,
    ) -> Reverse:
        """A differentiation whose caller is carried by an algebra; with the tokens of the arguments there."""
        made = cls.__new__(cls)
        made._begin(*call, of_function, places)
        made.tape = NestedTape(below)
        made.tokens = args, kwargs
        made._run(args, kwargs)
        return made

    def _begin(self, f: Any, args: Any, kwargs: Any, of_function: bool, places: Places | None) -> None:
        if not callable(f):
            raise Unsupported(f"the function to differentiate is not callable: {f!r}")
        if kwargs and not args and not of_function:
            name = next(iter(kwargs))
            raise Unsupported(
                f"{describe(f)} was called with keyword arguments alone, which are constants: pass by position what is "
                f"to be differentiated, or if it can only be named, gradient(lambda {name}: f({name}={name}), ...)"
            )
        prepare()
        self.call = (f, args, kwargs)
        known: dict[int, Mirror] = {}
        self.places = places
        self.mirrors = [mirror_of(x, known) for x in given_at(places, args)]
        self.function = mirror_of(f, known) if of_function else None
        self.leaves: dict[Mirror, Any] = {}
        self.given = Given(f, self.mirrors)

    def _run(self, below: Any, named: Any) -> None:
        f, args, kwargs = self.call
        tape = self.tape
        tape.modules.add(module_of_callable(f))
        tape.given = self.given
        tokens = [*below]
        for i, mirror in zip(range(len(args)) if self.places is None else self.places.given, self.mirrors):
            tokens[i] = self._seed(mirror, below[i])
        if self.function is not None:
            self._seed(self.function, None)
        try:
            with deeper_recursion, Carrying(tape):
                self.value, token = apply(tape, (None, *tokens, *named), f, args, kwargs)
        except BaseException as error:
            if tape.over is None:
                tape.lifetimes.end()
            error.__traceback__ = without_engine(error.__traceback__)
            tape.refuse_dropped(error)
            raise
        tape.refuse_dropped()
        tree = gather(tape, self.value, token, of="result")
        if tape.over is None:
            tape.lifetimes.end()
        if tape.over is None and (tape.held or tape.buffers):
            tape.buffered.finish(tape.memories.is_own)
            HOLDERS.add(tape.buffered.memory)
        self.tree = own_of(tape, tree)
        self.below = over_of(tape, tree) if tape.over is not None else None

    def _seed(self, mirror: Mirror, below: Token) -> Token:
        """The token of a part of the arguments; what references hold gets its token in their shadows."""
        if mirror.kind in ("number", "array"):
            leaf = self.leaves.get(mirror)
            if leaf is None:
                leaf = self._leaf(mirror)
                self._note(mirror, leaf)
            return self._token(leaf, below)
        if mirror in self.leaves or mirror.kind == "inert":
            return None
        if mirror.kind == "tuple":
            return tuple([self._seed(child, token_at(below, i)) for i, child in mirror.children.items()])
        self.leaves[mirror] = None
        tape = self.tape
        if mirror.kind == "records":
            self._begin_fields(mirror)
            return None
        if mirror.kind == "list":
            found = [
                self._seed(child, load(tape, mirror.value, i, child.value)) for i, child in mirror.children.items()
            ]
            keep_all(tape, mirror.value, parallel(mirror.value, found))
            return None
        for key, child in mirror.children.items():
            reference, slot = slot_of(mirror.kind, mirror.value, key)
            keep(tape, reference, slot, self._seed(child, load(tape, reference, slot, child.value)))
        return None

    def _begin_fields(self, records: Mirror) -> None:
        """The fields of a structured array are in one memory, whose first version they are."""
        for field in records.children.values():
            if field.kind == "array":
                self.tape.begin(field.value, self._token(self._leaf(field), None))
            else:
                self._seed(field, None)
        self.tape.buffered.given |= {id(root_of(records.value)), id(records.value)}

    def _leaf(self, mirror: Mirror) -> int:
        leaf = self.leaves[mirror] = self.tape.leaf()
        return leaf

    def _token(self, leaf: int, below: Token) -> Token:
        return self.tape.pair(leaf, below) if isinstance(self.tape, NestedTape) else leaf

    def _note(self, mirror: Mirror, leaf: int) -> None:
        tape = self.tape
        if mirror.kind != "array":
            return
        if isinstance(tape, NestedTape):
            tape.note(mirror.value, leaf)
        else:
            tape.buffered.note(mirror.value, leaf)
            tape.buffered.given |= {id(root_of(mirror.value)), id(mirror.value)}

    def back(self, cotangent: Any) -> Grads:
        """The gradients of the arguments that are differentiated, in their form, for one cotangent of the value."""
        try:
            require_cotangent(self.value, cotangent)
            cotangent = with_axes(self.value, cotangent)
            with deeper_recursion:
                values = self.tape.sweep(self.tree, cotangent).values
        except BaseException as error:
            error.__traceback__ = without_engine(error.__traceback__)
            raise
        return self._gradients(lambda mirror: (formed(mirror, values[self.leaves[mirror]]), None))[0]

    def back_over(self, below: Algebra, cotangent: Any, tokens: Token) -> tuple[Grads, Token]:
        """The same with the tokens of the algebra that carries the caller."""
        tape = self.tape
        assert isinstance(tape, NestedTape)
        require_cotangent(self.value, cotangent)
        found = tape.sweep_over(self.tree, cotangent, tokens)

        def gradient(mirror: Mirror) -> tuple[Any, Token]:
            given = found[self.leaves[mirror]]
            if given is None:
                return formed(mirror, None), None
            if type(given[0]) is NotImplementedCotangent:
                raise given[0].fail()
            value, tree = fitted(below, mirror.value, *given)
            return value, tree

        grads, tree = self._gradients(gradient)
        return grads, settled(below, grads, tree)

    def _gradients(self, leaf: Any) -> tuple[Grads, Any]:
        done: dict[Mirror, tuple[Any, Any]] = {}
        wanted = self.mirrors if self.function is None else [self.function, *self.mirrors]
        found = [gradient_of(mirror, leaf, done) for mirror in wanted]
        return tuple([value for value, _ in found]), tuple([tree for _, tree in found])
