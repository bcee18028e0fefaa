"""Abstract interpretation of a program from the types of its arguments; calls of Python code are inlined on the way.

The worklist follows only edges that can be taken. What a statement turns out to mean is kept in ``plans``;
``resolve.py`` has the meaning of each operation. A program that does anything which could be seen from
outside, or that is not understood, is ``Refused``: it is carried. So what is specialised may be
given up at any point and run again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from autodiff_hook import budget
from autodiff_hook.ir.types import RECEIVED, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.registry import Rule
from autodiff_hook.transform.specialise.abstract import (
    ANY,
    Abstract,
    Array,
    Bound,
    Closure,
    Fresh,
    Iterator,
    Known,
    Number,
    Outside,
    Tuple,
    is_true,
    join,
)
from autodiff_hook.transform.specialise.bodies import (
    Body,
    Changes,
    Parameters,
    Refused,
    copied,
    lifted,
    resolve,
    substitute,
)
from autodiff_hook.transform.specialise.world import World


@dataclass(slots=True)
class RulePlan:
    """A call with a rule: its parameters bound to operands. ``of_numbers``: all arguments are numbers."""

    rule: Rule
    values: list[Operand | list[Operand] | dict[str, Operand]]
    checks: bool = False
    of_numbers: bool = False


@dataclass(slots=True)
class Alias:
    """A statement whose result is a value that exists already."""

    operand: Operand


class Given(Exception):
    """A specialised program has come to what it does not know, and gives up; each such place has a class of its own."""

    reason: ClassVar[str] = "what it has computed is in doubt"
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
ITEMS: Final = "items"
"""The plan of making a list of numbers that the program may change."""
STORE: Final = "store"
"""The plan of assigning an item of a list, or a part of an array, that the program has made."""
COPY: Final = "copy"
"""The plan of copying an array that the program changes afterwards."""
READ: Final = "read"
"""The plan of reading from an array or a list that the program changes: a part of it, or all of it."""

Plan = RulePlan | Alias | str
_LIMIT: Final = 2500
_DEPTH: Final = 40


@dataclass(slots=True)
class Program:
    """A program understood: its blocks, the abstract values of its variables, the plan of each statement."""

    blocks: list[Block]
    types: dict[Variable, Abstract]
    plans: dict[Statement, Plan] = field(default_factory=dict)
    slots: dict[Statement, tuple[Variable, str]] = field(default_factory=dict)
    """The dicts and keys that attributes are read from and assigned to."""
    changed: frozenset[Any] = frozenset()
    """The places of lists and dicts that the program makes and changes, and of attributes that it assigns again."""
    items: dict[Any, Abstract] = field(default_factory=dict)
    """What is known of the items of lists and dicts that the program makes: ``lists.slot_of``."""

    def type_of(self, operand: Operand) -> Abstract:
        """The abstract value of an operand."""
        return Known(operand.value) if isinstance(operand, Constant) else self.types.get(operand, ANY)


Evaluate = Callable[["Inference", Statement], Abstract | None]


class Inference:
    """The interpreter: abstract values by variable, a worklist of blocks."""

    one_way: ClassVar[bool] = False

    def __init__(
        self, world: World, evaluate: Evaluate, types: dict[Variable, Abstract], changed: frozenset[Any] = frozenset()
    ) -> None:
        self.world, self.evaluate = world, evaluate
        self.program = Program([], types, changed=changed)
        self.types, self.plans = self.program.types, self.program.plans
        self.chains: dict[Block, tuple[Any, ...]] = {}
        self.globals_of: dict[Block, dict[str, Any]] = {}
        self.cells: dict[Operand, Operand] = {}
        self.items = self.program.items
        self.wanted: dict[Any, None] = {}
        """The places that are changed, for another try; what is found out after the first of them does not matter."""
        self.cell_places: dict[Operand, Any] = {}
        self.started: set[Operand] = set()
        self.records: dict[Variable, Variable] = {}
        """The dicts that hold those attributes of objects that are assigned again."""
        self.fields: dict[tuple[Variable, str], tuple[Operand, Statement]] = {}
        self.stores: dict[Operand, Statement] = {}
        self.orders: list[tuple[Statement, Statement]] = []
        self.pending: list[Block] = []
        self.taken: set[Edge] = set()
        self.visited: set[Block] = set()
        self.refusals: dict[str, None] = {}
        self.aliases: dict[Operand, Operand] = {}
        self.stale = False
        self.assumed: list[tuple[Operand, Any]] = []
        self.quiet = False
        self.commits: list[tuple[Operand, str | None, Operand]] = []
        self.warnings: list[tuple[Operand, Operand, dict[str, Any], int]] = []
        self.size = 0
        self.block: Block | None = None
        self.index = 0

    def run(
        self,
        code: Any,
        globals_: dict[str, Any],
        closure: Any,
        types: dict[Variable, Abstract],
        call: Parameters,
    ) -> None:
        """Interpret the function for arguments of these types, bound by ``call``."""
        body = self._copy(code, globals_)
        self.types.update(types)
        cells: list[Operand] = [Variable() for _ in body.frees]
        self.cells.update((variable, self.world.captured(cell)) for variable, cell in zip(cells, closure or ()))
        first = Block(list(types))
        self._bind(body, call, cells, first)
        body.blocks[0].params = first.params
        body.blocks[0].statements[:0] = first.statements
        self._admit(body, (code,), globals_)
        self.pending.append(body.blocks[0])
        while self.pending:
            self._visit(self.pending.pop())
            if not self.pending and self.stale:
                self.stale = False
                self.pending = list(reversed([b for b in self.program.blocks if b in self.visited]))
        if self.wanted:
            raise Changes("attributes are assigned again", *self.wanted)
        self._confirm()
        self.program.blocks = [b for b in self.program.blocks if b in self.visited]

    def type_of(self, operand: Operand) -> Abstract:
        """The abstract value of an operand."""
        if isinstance(operand, Constant):
            return Known(operand.value)
        return self.types.get(operand, ANY)

    def final(self, operand: Operand) -> Operand:
        """The operand that another one is known to be."""
        return resolve(operand, self.aliases)

    def assume(self, operand: Operand) -> None:
        """Remember what is called, because its body is put in the place of the call."""
        self.assumed.append((operand, _called(self.type_of(operand))))

    def known_call(
        self, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
    ) -> Abstract | None:
        """What a kind of interpretation has to say of a call of a known callable, before all else."""
        return None

    def defaults(self, function: Any) -> tuple[Any, ...]:
        """The default values of the parameters of a function."""
        return function.__defaults__ or ()

    def settled(
        self, s: Statement, function: Any, args: list[Operand], kwargs: dict[str, Operand]
    ) -> tuple[list[Operand], dict[str, Operand]]:
        """The arguments of a call that stays in the program."""
        return args, kwargs

    def begin(self, statement: Statement) -> None:
        """Put a statement in the place of the one that is being interpreted."""
        assert self.block is not None
        self.block.statements[self.index] = statement

    def _confirm(self) -> None:
        for operand, assumed in self.assumed:
            found = _called(self.type_of(operand))
            if not (found is assumed or _same_closure(found, assumed)):
                raise Refused("what is called changes while the program runs")

    def _copy(self, code: Any, globals_: dict[str, Any]) -> Body:
        return copied(lifted(code), self.world.load(globals_))

    def _copy_expression(self, code: Any, globals_: dict[str, Any]) -> Body:
        """A generator expression as a list comprehension: in a program without effects nobody sees the difference.

        What it runs over is finite, or it is refused elsewhere.
        """
        if code.co_name != "<genexpr>":
            raise Refused(f"{code.co_qualname} is a generator")
        body = copied(lifted(code, generators=True), self.world.load(globals_))
        items = Variable("items")
        for block in body.blocks:
            for s in block.statements:
                if s.op == "yield":
                    s.op, s.operands, s.result, s.data = "list_append", [items, s.operands[0]], None, None
            if block.terminator is not None and block.terminator.kind == "return":
                block.terminator.operands = [items]
        body.blocks[0].statements.insert(0, Statement("build_list", [], items))
        return body

    def _admit(self, body: Body, chain: tuple[Any, ...], globals_: dict[str, Any]) -> None:
        self.size += sum(len(b.statements) + 1 for b in body.blocks)
        if self.size > _LIMIT:
            raise Refused("the program is too large")
        for block in body.blocks:
            self.chains[block] = chain
            self.globals_of[block] = globals_
        self.program.blocks += body.blocks

    def _visit(self, block: Block) -> None:
        budget.check()
        self.visited.add(block)
        self.block, self.index = block, 0
        while self.index < len(block.statements):
            statement = block.statements[self.index]
            try:
                result = self.evaluate(self, statement)
            except Changes:
                raise
            except Refused as reason:
                reason.at(self.filename_of(block), statement.position)
                self._trap(block, reason)
                return
            if result is None:
                return
            if statement.result is not None:
                before = self.types.get(statement.result)
                self.stale = self.stale or (before is not None and before != result)
                self.types[statement.result] = result
            self.index += 1
        self._leave(block)

    def filename_of(self, block: Block) -> str:
        """The file that the code of a block is from."""
        return str(self.chains[block][-1].co_filename)

    def locate(self, reason: Refused) -> None:
        """Find the file of the statement for which a program is refused."""
        if reason.statement is None:
            return
        homes = [block for block in self.chains if reason.statement in block.statements]
        files = {self.filename_of(block) for block in homes or self.chains}
        if len(files) == 1:
            reason.at(files.pop(), reason.statement.position)

    def _trap(self, block: Block, reason: Refused) -> None:
        """What is not understood is given up where the program comes to it; then the function is carried."""
        self.refusals[str(reason)] = None
        del block.statements[self.index :]
        chain = tuple(map(weakref.ref, self.chains[block]))
        place = type("Given", (Given,), {"reason": str(reason), "chain": chain})
        block.terminator = Terminator("raise", [Constant(place)])

    def _leave(self, block: Block) -> None:
        terminator = block.terminator
        assert terminator is not None
        edges = terminator.edges
        if terminator.kind == "branch":
            truth = is_true(self.type_of(terminator.operands[0]))
            if truth is not None:
                edges = edges[:1] if truth else edges[1:]
        elif terminator.kind not in ("jump", "next", "return", "raise", "reraise"):
            self._trap(block, Refused(f"{terminator.kind} is not specialised"))
            return
        received = RECEIVED.get(terminator.kind, ())
        # The last is visited first: the body of a loop before what follows it.
        for edge in reversed(edges):
            count = received[terminator.edges.index(edge)]
            given = [self._item(terminator)] if count else []
            self._flow(edge, given + [self.type_of(x) for x in edge.args])

    def _item(self, terminator: Terminator) -> Abstract:
        iterator = self.type_of(terminator.operands[0])
        return iterator.item if isinstance(iterator, Iterator) else ANY

    def _flow(self, edge: Edge, given: list[Abstract]) -> None:
        changed = edge.target not in self.visited
        for param, abstract in zip(edge.target.params, given, strict=True):
            before = self.types.get(param)
            after = abstract if before is None else join(before, abstract)
            if before is None or after != before:
                self.types[param] = after
                changed = True
                self.stale = self.stale or before is not None
        self.taken.add(edge)
        if changed and edge.target not in self.pending:
            self.pending.append(edge.target)

    def inline(
        self, statement: Statement, code: Any, globals_: dict[str, Any], call: Parameters, cells: list[Operand]
    ) -> None:
        """Put the body of a function in the place of the call that is being interpreted."""
        block = self.block
        assert block is not None and block.terminator is not None
        chain = self.chains[block]
        if code in chain or len(chain) > _DEPTH:
            raise Refused(f"{code.co_qualname} is recursive")
        body = self._copy(code, globals_) if not code.co_flags & 0x20 else self._copy_expression(code, globals_)
        if len(call.values) != len(body.params) or len(cells) != len(body.frees):
            raise Refused(f"a call of {code.co_qualname} that does not fit")
        rest = Block(
            [statement.result] if statement.result is not None else [],
            block.statements[self.index + 1 :],
            block.terminator,
        )
        if statement.result is None:
            rest.params = [Variable("nothing")]
        del block.statements[self.index :]
        self._bind(body, call, cells, block)
        block.terminator = Terminator("jump", [], [Edge(body.blocks[0])], statement.position)
        body.blocks[0].params = []
        for inner in body.blocks:
            terminator = inner.terminator
            assert terminator is not None
            if terminator.kind == "return":
                inner.terminator = Terminator("jump", [], [Edge(rest, terminator.operands)], terminator.position)
        self._admit(body, (*chain, code), globals_)
        self.chains[rest], self.globals_of[rest] = chain, self.globals_of[block]
        self.program.blocks.append(rest)
        self._leave(block)

    def _bind(self, body: Body, call: Parameters, cells: list[Operand], block: Block) -> None:
        mapping: dict[Operand, Operand] = {}
        for param, value in zip(body.params, call.values, strict=True):
            if isinstance(value, list):
                build = Statement("build_tuple", value, param)
                self.types[param] = Tuple(tuple(map(self.type_of, value)))
                self.plans[build] = STRUCTURAL
                block.statements.append(build)
            elif isinstance(value, dict):
                build = Statement("build_map", [x for k, v in value.items() for x in (Constant(k), v)], param)
                self.types[param] = Tuple(tuple(map(self.type_of, value.values())), dict, tuple(value))
                self.plans[build] = STRUCTURAL
                block.statements.append(build)
            else:
                mapping[param] = value
        for free, cell in zip(body.frees, cells, strict=True):
            mapping[free] = cell
        substitute(body.blocks, mapping)


def _called(found: Abstract) -> Any:
    """What of a value decides about a call: the object itself, or the class of the receiver."""
    if isinstance(found, Known):
        return found.value
    if isinstance(found, Fresh):
        return found.made
    return found.cls if isinstance(found, Outside) else found


def _same_closure(a: Any, b: Any) -> bool:
    if isinstance(a, (Number, Array)) and isinstance(b, (Number, Array)):
        return True
    if isinstance(a, Bound) and isinstance(b, Bound):
        return a.function is b.function and a.receiver is b.receiver
    return isinstance(a, Closure) and isinstance(b, Closure) and a.code is b.code and a.cells == b.cells
