"""The functions that evaluate runs: written when a run has been evaluated often, and anew when values are different.

Until then, and where it does not pay, such a function gives None, and the statements are carried one by one.
"""

from __future__ import annotations

from itertools import count
from threading import Lock
from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra
from autodiff_hook.algebras.tangents import Moving
from autodiff_hook.ir.types import Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.semantics.fusing.derived import Names
from autodiff_hook.semantics.fusing.nested import NestedWriter
from autodiff_hook.semantics.fusing.observed import Observed, Unfit
from autodiff_hook.semantics.fusing.tree import lines_of, needed
from autodiff_hook.semantics.fusing.writing import Writer
from autodiff_hook.transform.generic.runs import Run
from autodiff_hook.transform.specialise.bodies import Refused

OFTEN: Final = 16
"""How often a run is carried before a function is written for it."""
_LOOKS: Final = 3
_REWRITTEN: Final = 12
"""How often it is written at most."""


class Fused:
    """What is known of one run, and the function that evaluates it."""

    def __init__(
        self, run: Run, stored: list[bool], moving: list[Operand], results: list[Variable], nesting: str | None = None
    ) -> None:
        self.run, self.stored, self.moving, self.results = run, stored, moving, results
        self.nesting = nesting
        """Of which algebra over another one the function is; None for those over none."""
        self.nested: dict[str, Fused] = {}
        self.seen = Observed()
        self.alone = Lock()
        self.calls = self.written = 0
        self.version = -1
        self.numbers = count()
        self.namespace: dict[str, Any] = {
            "__name__": __name__,
            "run": self,
            "registry": registry,
            "is_own": is_own,
            "above": self.above,
        }
        self.namespace["missed"] = FunctionType(_COLD, self.namespace, "missed")
        self.function = FunctionType(_COLD, self.namespace, "fused")
        self.function.__qualname__ = "fused"
        self.parameters = [f"g{i}" for i in range(len(run.inputs) + len(run.globals))]
        if any(self.stored):
            self.parameters.append("namespace")
        self.parameters += [f"m{i}" for i in range(len(moving))]

    def look(self, alg: Algebra, args: tuple[Any, ...]) -> bool:
        """See what the values are like; whether all went well."""
        run = self.run
        named = [*run.inputs, *[s.result for s in run.globals]]
        values: dict[Any, Any] = dict(zip(named, args))
        rest = args[len(named) :]
        globals_ = rest[0] if any(self.stored) else None
        tokens = dict(zip(self.moving, rest[any(self.stored) :]))
        try:
            self.seen.look(run, alg, values, tokens, globals_)
        except Unfit:
            raise
        except Exception as error:
            if not is_own(error):
                raise
            # The program is about to raise it, too.
            return False
        return True

    def above(self, alg: Algebra, *args: Any) -> Any:
        """Evaluate the run for an algebra over another one."""
        if alg.nesting is None:
            return None
        found = self.nested.get(alg.nesting)
        if found is None:
            found = Fused(self.run, self.stored, self.moving, self.results, alg.nesting)
            found = self.nested.setdefault(alg.nesting, found)
        return found.function(alg, *args)

    def met(self, alg: Algebra, args: tuple[Any, ...]) -> Any:
        """The function is not there yet, or does not fit."""
        if alg.numbers is None and self.nesting is None:
            return self.above(alg, *args)
        # Threads that share a run look at its values one by one; who would wait carries its statements.
        if self.alone.acquire(blocking=False):
            try:
                self._note(alg, args)
            finally:
                self.alone.release()
        return None

    def _note(self, alg: Algebra, args: tuple[Any, ...]) -> None:
        self.calls += 1
        if self.calls < OFTEN - _LOOKS:
            return
        before = self.seen.size()
        try:
            if not self.look(alg, args) or self.calls < OFTEN:
                return
            if self.written and self.version == registry.version and self.seen.size() == before:
                return
            if self.written == _REWRITTEN:
                self.function.__code__ = _COLD_FOR_EVER
                return
            self.written += 1
            self.version = registry.version
            self.function.__code__ = self.code()
        except (Unfit, Refused):
            self.function.__code__ = _COLD_FOR_EVER

    def code(self) -> CodeType:
        """The function as it is for what was seen."""
        namespace: dict[str, Any] = {}
        text = self.text()
        exec(compile(text, __file__, "exec"), self.namespace, namespace)
        found: CodeType = namespace["fused"].__code__
        return found

    def _writer(self, names: Names, missed: str) -> Writer:
        if self.nesting is None:
            return Writer(self.run, self.seen, names, missed)
        return NestedWriter(self.run, self.seen, names, missed, Moving if self.nesting == "forward" else None)

    def text(self) -> str:
        """The text of the function."""
        run, names = self.run, Names(self.numbers, self.namespace)
        given = ", ".join(["alg", *self.parameters])
        writer = self._writer(names, f"missed({given})")
        for variable, name in zip(run.inputs, self.parameters):
            names.known[variable] = name
        for moving, name in zip(self.moving, self.parameters[len(self.parameters) - len(self.moving) :]):
            writer.tokens[moving] = name
        places = dict(zip(run.globals, zip(self.parameters[len(run.inputs) :], self.stored)))
        for s in run.statements:
            if s.op == "global":
                name, is_stored = places[s]
                writer.load_global(s, name, "namespace" if is_stored else None)
            else:
                writer.step(s)
        for variable in self.results:
            if variable in writer.moving:
                writer.node(variable)
        values = [names.of(x) for x in run.results]
        tokens = [writer.token(x) for x in self.results]
        body, _ = needed(writer.nodes, [*values, *tokens])
        lines = [f"def fused({given}):"]
        if self.nesting is None:
            lines += ["    numbers = alg.numbers", "    if numbers is None:", f"        return above({given})"]
        else:
            lines.append("    numbers = alg.over.linear")
        lines += [f"    if registry.version != {self.version}:", f"        return missed({given})"]
        if writer.reads:
            lines += ["    if alg.losses:", "        return None"]
            lines += ["    shadows, given = alg.shadows.get, alg.given"]
        given = "".join([f"{text}, " for text in (*values, *tokens)])
        lines += ["    try:", *lines_of(body, 2), f"        return ({given})"]
        lines += [
            "    except Exception as error:",
            "        if is_own(error):",
            "            return None",
            "        raise",
        ]
        return "\n".join(lines) + "\n"


def is_own(error: BaseException) -> bool:
    """Whether what a run raises is of its statements or rules, and not of a signal that came within."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    name = str(place.tb_frame.f_globals.get("__name__")) if place is not None else ""
    return name.startswith(_OWN)


def _cold(alg: Any, *args: Any) -> Any:
    return run.met(alg, args)  # type: ignore[name-defined]  # noqa: F821


def _cold_for_ever(alg: Any, *args: Any) -> None:
    return None


_OWN: Final = (__name__.rpartition(".")[0], "autodiff_rules")
_COLD: Final = _cold.__code__
_COLD_FOR_EVER: Final = _cold_for_ever.__code__


def fused(run: Run, tracked: set[Statement], moving: list[Operand], results: list[Variable]) -> FunctionType:
    """A function ``(alg, *inputs, *globals, *tokens)`` that gives the values and tokens of a run, or None."""
    return Fused(run, [s in tracked for s in run.globals], moving, results).function
