"""A program that was understood: its blocks, what is known of its values, and what each statement is to become."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Final

from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.records import record
from autodiff_hook.registry import Rule
from autodiff_hook.reports import Reason
from autodiff_hook.transform.specialise.abstract import ANY, Abstract, Known, Reference, Site


@record
class RulePlan:
    """A call with a rule: its parameters bound to operands. ``of_numbers``: all arguments are numbers."""

    target: Any
    rule: Rule
    values: list[Operand | list[Operand] | dict[str, Operand]]
    checks: bool = False
    of_numbers: bool = False


@record
class OwnPlan(RulePlan):
    """A call of a function that has a program of its own; ``lower`` says what stands in its place."""

    lower: Any = None

    @property
    def changed(self) -> set[Site]:
        """Where the lists, dicts and objects come from that the function changes."""
        found: set[Site] = self.lower.changed()
        return found


@record
class Alias:
    """A statement whose result is a value that exists already."""

    operand: Operand


class Given(Exception):
    """A specialised program has come to what it does not know, and gives up; each such place has a class of its own."""

    reason: ClassVar[Reason] = Reason("what it has computed is in doubt")
    chain: ClassVar[tuple[Any, ...]] = ()
    """Weak references to the code objects whose bodies are around the place."""


PURE: Final = "pure"
"""The plan of a statement that stays as it is and carries no derivative."""
STRUCTURAL: Final = "structural"
"""The plan of a statement that takes tuples apart or puts them together."""
LOAD: Final = "load"
"""The plan of reading an item of a list."""
APPEND: Final = "append"
"""The plan of appending to a list that the program has made."""
DROP: Final = "drop"
"""The plan of taking the last item off a list that the program has made."""
ITEMS: Final = "items"
"""The plan of making a list of numbers that the program may change."""
STORE: Final = "store"
"""The plan of assigning an item of a list, or a part of an array, that the program has made."""
COPY: Final = "copy"
"""The plan of copying an array that the program changes afterwards."""
IN_ITS_ORDER: Final = Constant("K")
"""What ``copy`` is called with in the place of an array that the plain run has: it lies as that array does."""
TAKE: Final = "take"
"""The plan of taking all items out of a list."""
PARTS: Final = "parts"
"""The plan of making a list of items of others: a slice, a sum, a copy."""
ASSIGN: Final = "assign"
"""The plan of changing what is outside, which is done at the end."""
READ: Final = "read"
"""The plan of reading from an array or a list that the program changes: a part of it, or all of it."""

Plan = RulePlan | Alias | str


@record
class Program:
    """A program understood: its blocks, the abstract values of its variables, the plan of each statement."""

    blocks: list[Block]
    types: dict[Variable, Abstract]
    plans: dict[Statement, Plan] = field(default_factory=dict)
    slots: dict[Statement, tuple[Operand, str]] = field(default_factory=dict)
    """The dicts and keys that attributes are read from and assigned to."""
    changed: frozenset[Any] = frozenset()
    """The places of lists and dicts that the program makes and changes, and of attributes that it assigns again."""

    reads_keys: bool = False
    """Whether keys are taken out of dicts."""
    pinned: dict[Operand, Any] = field(default_factory=dict)
    """On one way, what values are guarded to be."""
    keyed: set[Operand] = field(default_factory=set)
    """On one way, of which of them dicts have their keys."""
    shown: set[Any] = field(default_factory=set)
    """On one way, the keys that are taken out of dicts."""
    lent: list[Abstract] = field(default_factory=list)
    """Of a function with a program of its own, what it is given and gives: the program around may change that."""

    def type_of(self, operand: Operand | None) -> Abstract:
        """The abstract value of an operand."""
        # None, the result of a statement that has none, is no key.
        return Known(operand.value) if isinstance(operand, Constant) else self.types.get(operand, ANY)  # type: ignore[arg-type]

    def put_by(self, s: Statement) -> list[Operand]:
        """What a statement puts into a list, a dict or an object."""
        plan = self.plans.get(s)
        if plan == ITEMS:
            return list(s.operands)
        into = plan == APPEND or plan == STORE and isinstance(self.type_of(s.operands[0]), Reference)
        return s.operands[-1:] if into else []

    def does(self, *plans: str) -> bool:
        """Whether a statement has one of these plans."""
        return any(isinstance(plan, str) and plan in plans for plan in self.plans.values())


@record
class Outer:
    """What a program does outside, at its end: whether it may, and to what it assigns by name (by identity)."""

    allowed: bool = False
    acts: bool = False
    """Whether it may say something there, and draw from generators of random numbers; on one way, too."""
    holders: dict[int, Any] = field(default_factory=dict)
    first: Block = field(default_factory=Block)
    """Where the program begins, and takes what it works on instead."""
    stored: dict[type, dict[str, bool]] = field(default_factory=dict)
    """The attributes that it assigns, to objects in lists and arguments: whether it changes their arrays."""
    drawn: dict[Any, Operand] = field(default_factory=dict)
    """The generators of random numbers that it draws from, by how they are known."""
    random: set[Operand] = field(default_factory=set)
    """On one way, these generators, and what is made of what they give: another thing at each call."""
