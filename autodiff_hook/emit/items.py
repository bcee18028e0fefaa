"""The code between scheduling and assembling: instructions over unlimited virtual locals."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Any, Final

from autodiff_hook.ir.types import Constant, Operand, Position, Variable
from autodiff_hook.records import record


class Label:
    """A place in the code."""

    __slots__ = ()


@record(eq=False)
class CellVar:
    """A cell that the function makes."""

    name: str


@record(eq=False)
class FreeVar:
    """A cell that the function is given."""

    name: str


class Null(Enum):
    """What the calling convention wants beside a callable."""

    NULL = "NULL"


NULL: Final = Null.NULL
NO_ARG: Final = object()
FORGET: Final = "FORGET"
"""What pops a value whose variable forgets it, if no other one has it."""


@record(eq=False)
class Op:
    """A bytecode instruction; ``handler`` covers it."""

    name: str
    arg: Any = NO_ARG
    position: Position | None = None
    handler: Segment | None = None


@record(eq=False)
class Load:
    """Push a virtual local, a constant, a cell or NULL; ``bit`` is the mask of a local among the live ones."""

    value: Operand | Null
    position: Position | None = None
    bit: int = 0


@record(eq=False)
class Store:
    """Pop into a virtual local."""

    variable: Variable
    position: Position | None = None
    bit: int = 0


@record(eq=False)
class Copies:
    """A parallel copy; ``stacked`` are targets whose new values lie on the stack already."""

    pairs: list[tuple[Variable, Operand]]
    stacked: list[Variable] = field(default_factory=list)
    position: Position | None = None


@record(eq=False)
class Mark:
    """The place of a label inside a segment."""

    label: Label


Item = Op | Load | Store | Copies | Mark


@record(eq=False)
class Pending:
    """Something to be done at its place between two operands: instructions, in order."""

    items: list[Op | Copies]


Entry = Operand | Null | Pending


@record(eq=False)
class Exit:
    """How a segment ends: ``jump``, ``true``, ``none`` (jump if so to the first target), ``next``, ``send``, ``end``.

    ``after`` follows a jump that is not taken; ``landing`` is where SEND jumps to if that is not a start.
    """

    kind: str
    targets: list[Segment] = field(default_factory=list)
    position: Position | None = None
    handler: Segment | None = None
    after: list[Op] = field(default_factory=list)
    landing: Label | None = None


@record(eq=False)
class Segment:
    """A run of instructions that is entered only at its start, with ``depth`` values on the stack.

    ``fixed`` of its items must remain the first; a ``pinned`` one must be behind what jumps to it.
    """

    depth: int = 0
    items: list[Item] = field(default_factory=list)
    exit: Exit = field(default_factory=lambda: Exit("end"))
    label: Label = field(default_factory=Label)
    rank: int = 0
    nesting: int = 0
    pinned: bool = False
    fixed: int = 0
    handlers: list[Segment] = field(default_factory=list)

    def successors(self) -> list[Segment]:
        """Where control may go, exception handlers last."""
        return [*self.exit.targets, *self.handlers]


NONE: Final = Constant(None)
