"""Runs: adjacent statements that compute with numbers and read state, but change nothing.

A run is evaluated by one call if its values are of the builtin types. If they are not, or if anything is wrong, its
statements are carried one by one, from the first: nothing has happened that could be seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import BuiltinFunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.ir.analysis import count_uses
from autodiff_hook.ir.types import IR, Block, Operand, Statement, Variable
from autodiff_hook.records import record

_OPERATORS: Final = frozenset({"+", "-", "*", "/", "**", "//", "%"})
_SIGNS: Final = frozenset({"+", "-"})
_LOADS: Final = frozenset({"getitem", "cell_get"})
_PURE: Final = frozenset({abs, len, max, min})
_FEWEST: Final = 2
_LONGEST: Final = 60
"""Of how many statements a run is made."""

Lookup = Callable[[str], Any]
"""What a global is that is known to be a function, class or module; None for others."""


@record(eq=False)
class Run:
    """Statements that may be evaluated at once."""

    statements: list[Statement]
    inputs: list[Variable]
    """What is computed before."""
    results: list[Variable]
    """What is used behind."""
    globals: list[Statement]
    """The loads of globals among the statements."""


def runs_of(ir: IR, lookup: Lookup) -> list[Run]:
    """The runs of a function: outside of ``try``, where each statement has an exception edge of its own."""
    uses = count_uses(ir.blocks)
    finder = _Finder(ir, lookup)
    found = []
    for block in ir.blocks:
        if block.handler is None:
            found += [run for part in finder.parts(block) if (run := _run(part, uses)) is not None]
    return found


class _Finder:
    def __init__(self, ir: IR, lookup: Lookup) -> None:
        self.lookup = lookup
        self.modules: dict[Operand, ModuleType] = {}
        self.functions: set[Operand] = set()
        for block in ir.blocks:
            for statement in block.statements:
                self._note(statement)

    def _note(self, s: Statement) -> None:
        if s.result is None:
            return
        value = None
        if s.op == "global":
            value = self.lookup(str(s.data))
        elif s.op == "getattr" and s.operands[0] in self.modules:
            value = vars(self.modules[s.operands[0]]).get(s.data)
        if isinstance(value, ModuleType):
            self.modules[s.result] = value
        elif value is not None and is_pure(value):
            self.functions.add(s.result)

    def parts(self, block: Block) -> list[list[Statement]]:
        """The longest sequences of candidates in a block."""
        found: list[list[Statement]] = [[]]
        for statement in block.statements:
            if not self._is_candidate(statement):
                found.append([])
            elif len(found[-1]) == _LONGEST:
                found.append([statement])
            else:
                found[-1].append(statement)
        return found

    def _is_candidate(self, s: Statement) -> bool:
        if s.result is None:
            return False
        if s.op in ("binary", "inplace"):
            return s.data in _OPERATORS
        if s.op == "unary":
            return s.data in _SIGNS
        if s.op == "call":
            return s.operands[0] in self.functions and s.data == ()
        if s.op == "getattr":
            return s.operands[0] not in self.modules or s.result in self.functions
        if s.op == "global":
            return True
        return s.op in _LOADS or s.op == "compare"


def is_pure(value: Any) -> bool:
    """Whether a function gives a number for numbers, and does nothing else."""
    if type(value) is not BuiltinFunctionType:
        return value is float or value is int
    return value.__module__ == "math" or value in _PURE


def _run(part: list[Statement], uses: Counter[Operand]) -> Run | None:
    """The run that a sequence is, without what it begins or ends with for nothing; None if it is not worth a call."""
    while part and part[-1].op == "global":
        part = part[:-1]
    if sum([s.op != "global" for s in part]) < _FEWEST:
        return None
    inside: Counter[Operand] = Counter()
    for statement in part:
        inside.update(statement.operands)
    made = {s.result for s in part}
    globals_ = [s for s in part if s.op == "global"]
    given = [x for s in part for x in s.operands if isinstance(x, Variable) and x not in made]
    inputs = list(dict.fromkeys(given))
    results = [s.result for s in part if s.result is not None and uses[s.result] > inside[s.result]]
    return Run(part, inputs, results, globals_)
