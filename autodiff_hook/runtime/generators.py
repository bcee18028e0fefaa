"""Generators: the forward pass is a generator, and so is the reverse pass, which runs backwards."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

from autodiff_hook.errors import place_of
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.iteration import Iteration, iteration


class Run:
    """One run of a generator; as a pullback, the cotangents of its parameters."""

    __slots__ = ("compiled", "context", "finished", "forward", "length", "steps", "tape")

    def __init__(self, ctx: Context, compiled: Any, forward: Generator[Any, Any, Any], tape: list[Any]) -> None:
        self.context, self.compiled, self.forward, self.tape = ctx, compiled, forward, tape
        self.length = self.steps = 0
        self.finished = False

    def iteration(self) -> Iteration:
        """The generator as user code sees it."""
        return iteration(self.context, self._pairs())

    def _pairs(self) -> Generator[tuple[Any, Any], None, Any]:
        effects = self.context.effects
        try:
            while True:
                try:
                    value, witness = next(self.forward)
                except StopIteration as stop:
                    self.length, self.finished = len(self.tape), True
                    if self.context.effects != effects:
                        self.context.finished.append(self.end)
                    return Returned(*stop.value)
                self.length = len(self.tape)
                self.steps += 1
                live = witness is not None or self.context.effects != effects
                yield value, Yielded(self, self.steps) if live else None
                effects = self.context.effects
        except GeneratorExit:
            effects = self.context.effects
            self.forward.close()
            self._check(effects)
            raise
        except BaseException:
            self._check(effects)
            raise

    def _where(self) -> str:
        code = self.compiled.forward
        return place_of(code.co_filename, code.co_firstlineno, code.co_qualname)

    def _check(self, effects: int) -> None:
        """What happened since the last ``yield`` is not on the tape."""
        if self.context.effects != effects:
            self.context.lost = (
                f"{self._where()}: the generator stored what carries a derivative and was then left by an exception; "
                f"this is not differentiated"
            )

    def __call__(self, sweep: Sweep, cotangent: Any) -> tuple[Any, ...]:
        if not self.finished and not self.steps:
            return (None,) * len(self.compiled.signature.names)
        backwards = self.backwards(sweep)
        while backwards.result is None:
            backwards.send(None)
        return backwards.result

    def end(self, sweep: Sweep, cotangent: Any) -> None:
        """The pullback of what happened after the last ``yield``."""
        self.backwards(sweep)

    def backwards(self, sweep: Sweep) -> Backwards:
        """The reverse generator of this run in one sweep."""
        shadow = sweep.shadow(self)
        if "backwards" not in shadow:
            shadow["backwards"] = Backwards(self, sweep)
        found: Backwards = shadow["backwards"]
        return found


class Returned(NamedTuple):
    """What a generator returned: the ``value`` of its ``StopIteration``."""

    value: Any
    witness: Pullback | None


class Backwards:
    """The reverse generator, and the number of the ``yield`` whose cotangent it waits for."""

    __slots__ = ("generator", "position", "result")

    def __init__(self, run: Run, sweep: Sweep) -> None:
        self.position = run.steps
        self.result: tuple[Any, ...] | None = None
        self.generator = run.compiled.reverse(sweep, run.tape[: run.length], None, run.finished)
        try:
            next(self.generator)
        except StopIteration as stop:
            self.result = stop.value

    def send(self, cotangent: Any) -> None:
        """Hand over one cotangent and run to the ``yield`` before."""
        if self.result is not None:
            raise RuntimeError("a step of a generator was differentiated twice")
        self.position -= 1
        try:
            self.generator.send(cotangent)
        except StopIteration as stop:
            self.result = stop.value


class Yielded:
    """Pullback of one item of a generator."""

    __slots__ = ("number", "run")

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.number = run, number

    def __call__(self, sweep: Sweep, cotangent: Any) -> None:
        backwards = self.run.backwards(sweep)
        while backwards.position > self.number:
            backwards.send(None)
        backwards.send(cotangent)
