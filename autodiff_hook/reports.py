"""What the engine decides about functions: told here once, printed under AUTODIFF_TRACE, collected by ``explain``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from threading import get_ident
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Literal

from autodiff_hook import telling
from autodiff_hook.records import record

if TYPE_CHECKING:
    from autodiff_hook.ir.types import Position

Kind = Literal["typed", "not typed", "not typed any more", "run again", "carried", "opaque", "nothing"]
"""``carried``: the carried program was made; ``opaque``: a call that no derivative is known of was given some;
``nothing``: no function of the session is typed."""


@record(frozen=True)
class Reason:
    """Why something is not typed, and the line that decides it, if there is one."""

    text: str
    filename: str | None = None
    line: int | None = None
    prefix: str = ""
    around: Position | None = None
    """Where the function that was to be typed has that line, or calls what has it."""

    def __str__(self) -> str:
        place = "" if self.filename is None else f"{self.filename}:{self.line}: "
        return f"{self.prefix}{place}{self.text}"


@record(frozen=True)
class Report:
    """One decision; its text is the line of the trace."""

    kind: Kind
    code: CodeType | None
    """The function that it is about."""
    name: str
    reason: Reason | None = None
    what: str = ""
    """Which program of the function it is: ``for one way``, ``apart``; nothing for the one of all ways."""
    times: dict[str, float] = field(default_factory=dict)
    """What compiling took, in seconds by stage."""
    inlined: tuple[CodeType, ...] = ()
    """The functions that are part of the program, itself included."""
    left: tuple[Reason, ...] = ()
    """The lines at which the program gives up, so that the carried one runs."""

    @property
    def seconds(self) -> float:
        """What compiling took."""
        return sum(self.times.values())

    def __str__(self) -> str:
        place = "" if self.code is None else f"{self.code.co_filename}:{self.code.co_firstlineno}"
        reason = str(self.reason).partition("\n")[0]
        if self.kind == "typed":
            stages = ", ".join(f"{stage} {1000 * t:.1f}" for stage, t in self.times.items())
            what = f" {self.what}" if self.what else ""
            return f"specialised {self.name}{what} ({place}) in {1000 * self.seconds:.1f} ms: {stages}"
        if self.kind == "not typed":
            return f"not specialised: {self.name}{f' ({place})' if place else ''}: {reason}"
        if self.kind == "not typed any more":
            return f"not specialised any more: {self.name}: {reason}"
        if self.kind == "run again":
            return f"run again as it is carried: {self.name} ({place}): the specialised program raised {reason}"
        if self.kind == "carried":
            return f"lifted {self.name} to be carried ({place})"
        if self.kind == "opaque":
            return f"run natively: {reason}"
        return reason


_collectors: Final[dict[int, list[Report]]] = {}
"""The lists that what a thread decides is added to, by thread."""


def wanted() -> bool:
    """Whether anybody wants to know: what is costly to say is not worked out else."""
    return bool(_collectors) or telling.is_traced()


def tell(kind: Kind, code: CodeType | None, name: str, reason: Any = None, **more: Any) -> None:
    """Report a decision to the trace and to who collects in this thread."""
    if wanted():
        said = reason if reason is None or isinstance(reason, Reason) else Reason(str(reason))
        report = Report(kind, code, name, said, **more)
        collector = _collectors.get(get_ident())
        if collector is not None:
            collector.append(report)
        telling.trace(str(report))


@contextmanager
def collecting() -> Iterator[list[Report]]:
    """All reports of this thread within the block; an outer collector does not get them."""
    thread, found = get_ident(), list[Report]()
    outer = _collectors.get(thread)
    _collectors[thread] = found
    try:
        yield found
    finally:
        if outer is None:
            del _collectors[thread]
        else:
            _collectors[thread] = outer
