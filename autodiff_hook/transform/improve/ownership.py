"""Which arrays a program has made itself, and whether anything may still read them.

Every value has *roots*: the statements that made the memory it may lie in. ``FOREIGN`` is memory from outside,
or of which nothing is known. A root that was put where it cannot be followed has escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from autodiff_hook.ir.analysis import passed_on, reverse_postorder
from autodiff_hook.ir.liveness import live_out
from autodiff_hook.ir.types import IR, RECEIVED, Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.facts import ArrayFact, NumberFact, ShapeFact
from autodiff_hook.transform.improve.shortcuts import BORROWING, FRESH, INTO, VIEWING, declared
from autodiff_hook.transform.improve.site import Site, is_elementwise
from autodiff_hook.transform.lazy import lazy

FOREIGN: Final = Variable("foreign")
Roots = frozenset[Variable]
_FOREIGN: Final[Roots] = frozenset({FOREIGN})
_NONE: Final[Roots] = frozenset()
_PARTS: Final = ("getattr", "getitem", "unpack", "project", "build_tuple", "build_list", "build_slice", "inplace")
_ARITHMETIC: Final = ("binary", "unary", "compare")
_TESTS: Final = ("is", "is_not", "not", "truth", "get_len")
_VIEWS: Final = ("reshape", "transpose", "swapaxes", "ravel")
_NEW: Final = ("copy", "argmax", "argmin")


class Lifetimes:
    """Where the variables of a block are defined, and where they are read for the last time."""

    def __init__(self, block: Block, live_out: set[Variable]) -> None:
        self.defined: dict[Operand, int] = {}
        self.last: dict[Operand, int] = {}
        for place, s in enumerate(block.statements):
            self.last.update(dict.fromkeys(s.operands, place))
            if s.result is not None:
                self.defined[s.result] = place
        self.last.update(dict.fromkeys([*live_out, *passed_on(block)], len(block.statements)))

    def goes_on(self, variable: Operand, place: int) -> bool:
        """Whether a variable that is there after a statement is read later."""
        return self.defined.get(variable, -1) <= place < self.last.get(variable, -1)

    def after(self, place: int) -> list[Variable]:
        """What is live after a statement."""
        return [v for v in self.last if isinstance(v, Variable) and self.goes_on(v, place)]


class Ownership:
    """The roots of all variables of a program, and what is live."""

    def __init__(self, ir: IR, site: Site) -> None:
        self.ir, self.site = ir, site
        self.roots: dict[Variable, Roots] = {}
        self.escaped: set[Variable] = {FOREIGN}
        self._find_roots()
        self._keep_residuals()

    @lazy
    def live_out(self) -> dict[Block, set[Variable]]:
        """What is live after each block."""
        return live_out(self.ir.blocks)

    def _keep_residuals(self) -> None:
        """What lives beyond the place where a program is cut may be read by any number of reverse sweeps."""
        for block in self.ir.blocks:
            for place, s in enumerate(block.statements):
                if s.op == "resume":
                    self._escape(*s.operands, *self.lifetimes(block).after(place))

    def of(self, operand: Operand) -> Roots:
        """The roots of an operand."""
        if isinstance(operand, Constant):
            return _NONE if operand.value is None or isinstance(operand.value, (int, float, str)) else _FOREIGN
        return self.roots.get(operand, _NONE)

    def is_free(self, operand: Operand, lifetimes: Lifetimes, place: int, result: Variable | None) -> bool:
        """Whether an operand lies in memory that nothing live after a statement but its result can see."""
        roots = self.of(operand)
        if isinstance(operand, Constant) or not roots or roots & self.escaped or lifetimes.goes_on(operand, place):
            return False
        sharing = (v for root in roots for v in self._sharing.get(root, ()))
        return not any(v is not result and lifetimes.goes_on(v, place) for v in sharing)

    def lifetimes(self, block: Block) -> Lifetimes:
        """Which variables are read after which statements of a block."""
        return Lifetimes(block, self.live_out[block])

    @lazy
    def _sharing(self) -> dict[Variable, list[Variable]]:
        found: dict[Variable, list[Variable]] = {}
        for variable, roots in self.roots.items():
            for root in roots:
                found.setdefault(root, []).append(variable)
        return found

    def joined(self, result: Variable, operand: Operand) -> None:
        """``result``, which had memory of its own, lies in that of ``operand`` from now on."""
        more = self.of(operand)
        for variable in self._sharing.get(result, ()):
            added = more - self.roots[variable]
            self.roots[variable] |= added
            for root in added:
                self._sharing.setdefault(root, []).append(variable)
        if result in self.escaped:
            self.escaped |= more

    # Roots

    def _find_roots(self) -> None:
        for param in self.ir.entry.params:
            self.roots[param] = _FOREIGN
        order = reverse_postorder(self.ir)
        again = True
        while again:
            again, seen = False, set()
            for block in order:
                seen.add(block)
                for s in block.statements:
                    found = self._roots_of(s)
                    if s.result is not None:
                        self.roots[s.result] = found
                again |= not seen.isdisjoint(self._bind(block))

    def _bind(self, block: Block) -> list[Block]:
        """Let parameters have the roots of what is bound to them; the blocks of those that have more now."""
        terminator = block.terminator
        changed = []
        for edge in block.edges():
            count = len(edge.target.params) - len(edge.args)
            given = [_FOREIGN] * count + [self.of(x) for x in edge.args]
            for param, roots in zip(edge.target.params, given):
                before = self.roots.get(param)
                if before is None or not roots <= before:
                    self.roots[param] = roots | (before or _NONE)
                    changed.append(edge.target)
        for operand in terminator.operands if terminator.kind in RECEIVED else ():
            self._escape(operand)
        return changed

    def _roots_of(self, s: Statement) -> Roots:
        fact = self.site.facts.get(s.result) if s.result is not None else None
        if s.op in _ARITHMETIC:
            if isinstance(fact, ArrayFact):
                return self._own(s)
            return _NONE if isinstance(fact, (NumberFact, ShapeFact)) else self._together(s) | _FOREIGN
        self._keep(s)
        if s.op in _TESTS or isinstance(fact, (NumberFact, ShapeFact)):
            return _NONE
        make = _RULES.get(s.op)
        if make is not None:
            return make(self, s)
        if s.op == "inplace" and isinstance(self.site.fact(s.operands[0]), ArrayFact):
            return self.of(s.operands[0])
        return self._together(s) if s.op in _PARTS else _FOREIGN

    def _own(self, s: Statement) -> Roots:
        return frozenset({s.result}) if s.result is not None else _NONE

    def _together(self, s: Statement) -> Roots:
        return _NONE.union(*(self.of(x) for x in s.operands))

    def _escape(self, *operands: Operand) -> None:
        for operand in operands:
            self.escaped |= self.of(operand)

    def _keep(self, s: Statement) -> None:
        """What a statement may keep has escaped."""
        if s.op == "setitem":
            if not isinstance(self.site.fact(s.operands[0]), ArrayFact):
                self._escape(*s.operands)
        elif s.op == "call":
            if not self._is_known(s):
                self._escape(*s.operands)
        elif s.op == "call_method":
            name = s.data[0]
            if name not in _VIEWS + _NEW or not isinstance(self.site.fact(s.operands[0]), ArrayFact):
                self._escape(*s.operands)
        elif s.op not in _PARTS + _TESTS:
            self._escape(*s.operands)

    def _is_known(self, s: Statement) -> bool:
        function = s.callee
        return is_elementwise(function) or any(declared(t, function) for t in (FRESH, BORROWING, VIEWING, INTO))

    def _call(self, s: Statement) -> Roots:
        function = s.callee
        if declared(FRESH, function):
            return self._own(s)
        if declared(INTO, function):
            return self.of(s.operands[1]) | self._own(s)
        if is_elementwise(function):
            known = s.result is not None and isinstance(self.site.facts.get(s.result), ArrayFact)
            plain = len(s.operands) == 1 + function.nin
            return self._own(s) if known and plain else self._together(s) | _FOREIGN
        if declared(BORROWING, function):
            return _NONE.union(*(self.of(x) for x in s.operands[1:])) | self._own(s)
        if declared(VIEWING, function):
            return self._together(s) | _FOREIGN
        return _FOREIGN

    def _method(self, s: Statement) -> Roots:
        if not isinstance(self.site.fact(s.operands[0]), ArrayFact):
            return _FOREIGN
        return self._own(s) if s.data[0] in _NEW else self.of(s.operands[0]) | self._own(s)


_RULES: Final[dict[str, Callable[[Ownership, Statement], Roots]]] = {
    "call": Ownership._call,
    "call_method": Ownership._method,
}
