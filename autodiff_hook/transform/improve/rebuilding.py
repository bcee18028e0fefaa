"""Values of an iteration that the adjoint computes or reads again in place of recalling them.

What is kept costs a place in the record, and most floats an object of their own, which lives until the adjoint comes
there. What one operation of numbers makes of values that are at hand costs less to have again, and so does an item of
what holds the same still. ``_PRICE`` and ``_FRESH_PRICE`` say how many operations a value may cost.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any, Final

from autodiff_hook.ir.analysis import dominates, reverse_postorder, statements_of
from autodiff_hook.ir.substituting import substitute
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable, value_of
from autodiff_hook.transform.improve.pairs import Pairs, calls
from autodiff_hook.transform.lazy import lazy
from autodiff_hook.transform.specialise.abstract import Abstract, Dict, List, Number, Record, Reference, Tuple
from autodiff_hook.transform.specialise.lattice import is_number_of

_PRICE: Final = 1
"""What is kept by others as well: items, indices, bools."""
_FRESH_PRICE: Final = 3
"""A float that lives for the record alone."""
_MOST: Final = 40
"""More operations are never tried."""
_HOLDING: Final = ("list_append", "build_list", "build_tuple", "build_map", "setitem")
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/"})


class Rebuilding(Pairs):
    """Finds such values in ``ir``.

    Copies of ``essential`` statements are essential, and what ``tables``, the types first, say of results they say of
    their copies. ``lasts`` says whether the statement that has made a value has read of a list or a dict what is there
    to the end.
    """

    def __init__(
        self,
        ir: IR,
        essential: set[Statement],
        tables: list[dict[Variable, Any]],
        is_steady: Callable[[Operand], bool],
        lasts: Callable[[Variable, Operand], bool],
    ) -> None:
        super().__init__(ir, is_steady, lasts)
        self.essential, self.tables = essential, tables
        self.again: set[Statement] = set()
        """What has been added to the adjoint."""
        self.gone: dict[Operand, Operand] = {}
        """What was recalled, and the copies that stand in its place when all records are thin."""
        self.order = {block: i for i, block in enumerate(reverse_postorder(ir))}

    def thin(self) -> bool:
        """Leave out of all records what costs less to have again; whether there was anything."""
        found = any([self._thin(loop) for loop in list(self.records)])
        substitute(self.ir.blocks, self.gone)
        return found

    def _thin(self, loop: object) -> bool:
        record, latch = self.records[loop]
        steps = {block for _, block in self.recalls.get(loop, ())}
        around = self.around(latch)
        if len(steps) != 1 or around is None:
            return False
        (step,) = steps
        given = {record.operands[1 + s.data[1]] for s, _ in self.recalls[loop]}
        found: dict[Operand, Statement] = {}
        for x in sorted(given & self.made.keys(), key=self.place, reverse=True):
            more = self.rebuilt([x], latch, step, {*given, *found} - {x})
            if more is not None and cost(more) <= (_FRESH_PRICE if self._is_fresh(x) else _PRICE):
                given.remove(x)
                found |= more
        if given and found:
            self._leave_out(loop, latch, step, found)
        return bool(given and found)

    def _leave_out(self, loop: object, latch: Block, step: Block, found: dict[Operand, Statement]) -> None:
        """Do what rebuilds values at the beginning of an iteration of the adjoint, which recalls the others."""
        recalled = {s.result: self.records[loop][0].operands[1 + s.data[1]] for s, _ in self.recalls[loop]}
        known: dict[Operand, Operand] = {x: y for y, x in recalled.items() if x not in found and y is not None}
        copies = [self.copy(found[x], known, step, latch, set()) for x in sorted(found, key=self.place)]
        self.again.update(copies)
        gone: dict[Operand, Operand] = {y: known[x] for y, x in recalled.items() if y is not None and x in found}
        self.gone |= gone
        self.recalls[loop] = [(s, block) for s, block in self.recalls[loop] if s.result not in gone]
        recalls = [s for s in step.statements if s.op == "recall" and s.result not in gone]
        step.statements = [*recalls, *copies, *(s for s in step.statements if s.op != "recall")]

    def rebuilt(
        self, wanted: Iterable[Operand], latch: Block, step: Block, given: Container[Operand]
    ) -> dict[Operand, Statement] | None:
        """What makes values of each iteration again from those given and those at hand; None if nothing does."""
        around, found = self.around(latch), dict[Operand, Statement]()
        assert around is not None
        pending = list(wanted)
        while pending:
            x = pending.pop()
            if x in given or x in found or isinstance(x, Constant):
                continue
            if self.home.get(x) not in around.body:
                if not self.is_there(x, step, latch) and self.keeper(x, step, latch) is None:
                    return None
                continue
            s = self.made.get(x)
            if s is None or not self._is_cheap(s) or not dominates(self.dominators, self.home[x], latch):
                return None
            found[x] = s
            pending += s.operands
            if cost(found) > _MOST:
                return None
        return found

    def _is_cheap(self, s: Statement) -> bool:
        """Whether a statement makes a number of numbers, or reads what is there still."""
        if s.op in ("binary", "unary"):
            return s.data in _ARITHMETIC and all(map(self._is_plain, [*s.operands, s.made]))
        if s.op == "project":
            return True
        if s.op == "unpack":
            return s.data[1] is None and (self.is_of(s.operands[0], Tuple) or s.operands[0] in self.pairs)
        if s.op == "getattr":
            return self.is_of(s.operands[0], Record) and self.is_steady(s.operands[0])
        return s.op == "getitem" and self._stays(s)

    def _stays(self, s: Statement) -> bool:
        """Whether an item of a list, a tuple or a dict is there to the end; a list of some would be another one."""
        whole, key = s.operands
        if not (self.is_of(whole, Dict) or self.is_of(whole, List, Tuple) and self._is_place(key)):
            return False
        return self.is_steady(whole) or self.lasts(s.made, whole) and self.is_of(s.result, Number, Reference)

    def _is_place(self, key: Operand) -> bool:
        return self.is_of(key, Number) or type(value_of(key)) in (int, str)

    def _is_plain(self, x: Operand) -> bool:
        """Whether an operand is an int or a float of Python."""
        if isinstance(x, Constant):
            return type(x.value) in (int, float)
        return is_number_of(self.tables[0].get(x, Abstract()), {int, float})

    def is_of(self, x: Operand | None, *kinds: type) -> bool:
        return isinstance(x, Variable) and isinstance(self.tables[0].get(x), kinds)

    def _is_fresh(self, x: Operand) -> bool:
        """Whether a value is a float that has been computed, and is not put anywhere."""
        s = self.made[x]
        made = s.op in ("binary", "unary", "call") and x not in self.held
        return made and is_number_of(self.tables[0].get(x, Abstract()), {float})  # type: ignore[arg-type]

    @lazy
    def held(self) -> set[Operand]:
        """What is put into lists, dicts and tuples."""
        statements = [s for s in statements_of(self.ir.blocks) if s.op in _HOLDING]
        return {x for s in statements for x in s.operands}

    @lazy
    def pairs(self) -> set[Operand]:
        """The items of what makes tuples."""
        found = set[Operand]()
        for block in self.ir.blocks:
            iterated = self.iterated(block)
            made = self.made.get(iterated) if iterated is not None else None
            if made is not None and calls(made, enumerate, zip):
                found.update(block.terminator.edges[0].target.params[:1])
        return found

    def place(self, x: Operand) -> tuple[int, int]:
        block = self.home[x]
        return self.order[block], block.statements.index(self.made[x])

    def copy(
        self, s: Statement, known: dict[Operand, Operand], target: Block, reader: Block, essential: set[Statement]
    ) -> Statement:
        """A statement for a block of the adjoint, of what is ``known`` there and at hand."""
        operands = [known.get(x) or self.at_hand(x, target, reader) for x in s.operands]
        copy = Statement(s.op, operands, Variable(s.result.name) if s.result is not None else None, s.data, s.position)
        if s.result is not None and copy.result is not None:
            known[s.result] = copy.result
            self.say(s.result, copy.result)
        if s in essential:
            self.essential.add(copy)
        return copy

    def at_hand(self, x: Operand, target: Block, reader: Block) -> Operand:
        """What a block of the primal reads, in one of the adjoint: it is there, or is recalled."""
        if self.is_there(x, target, reader):
            return x
        loop = self.keeper(x, target, reader)
        record, _ = self.records[loop]
        if x not in record.operands[1:]:
            record.operands.append(x)
        recalls, place = self.recalls[loop], record.operands.index(x, 1) - 1
        for s, _ in recalls:
            if s.data[1] == place and s.result is not None:
                return s.result
        assert isinstance(x, Variable)
        (first, step), result = recalls[0], Variable(x.name)
        recalls.append((Statement("recall", [first.operands[0]], result, (loop, place)), step))
        step.statements.insert(0, recalls[-1][0])
        self.say(x, result)
        return result

    def say(self, x: Variable, copy: Variable) -> None:
        """Let the tables say of a copy what they say of a value."""
        for table in self.tables:
            if x in table:
                table[copy] = table[x]


def cost(found: dict[Operand, Statement]) -> int:
    """How many operations statements are; parts of tuples are taken out at once."""
    return sum(s.op != "project" for s in found.values())
