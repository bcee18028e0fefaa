"""Abstract interpretation of a program from the types of its arguments; calls of Python code are inlined on the way.

The worklist follows only edges that can be taken. What a statement turns out to mean is kept in ``plans``;
``resolve.py`` has the meaning of each operation. A program that does anything which could be seen from
outside, or that is not understood, is ``Refused``: it is carried. So what is specialised may be
given up at any point and run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import CO_GENERATOR
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final, Protocol

from autodiff_hook import budget
from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.substituting import go_on_at, resolve, substitute
from autodiff_hook.ir.types import IR, Args, Block, Constant, Edge, Kwargs, Operand, Statement, Terminator, Variable
from autodiff_hook.runtime.fitting import given_ids
from autodiff_hook.transform.specialise import keywords, producers, raising
from autodiff_hook.transform.specialise.abstract import Abstract, Closure, Dict, Fresh, Instance, Outside, Tuple
from autodiff_hook.transform.specialise.activations import Activations
from autodiff_hook.transform.specialise.assumptions import Assumptions
from autodiff_hook.transform.specialise.bodies import Body, Changes, Parameters, Rebuilt, Refused, foreseen, lifted
from autodiff_hook.transform.specialise.ends import Ends
from autodiff_hook.transform.specialise.folding import merge
from autodiff_hook.transform.specialise.gathering import gather
from autodiff_hook.transform.specialise.kept import KEPT
from autodiff_hook.transform.specialise.lattice import sites_in
from autodiff_hook.transform.specialise.merging import LENGTHS, Merging
from autodiff_hook.transform.specialise.peeling import peel
from autodiff_hook.transform.specialise.program import PURE, STRUCTURAL, Alias, Outer, Plan, Program
from autodiff_hook.transform.specialise.refining import Test, refine
from autodiff_hook.transform.specialise.traps import Traps
from autodiff_hook.transform.specialise.worklist import Worklist
from autodiff_hook.transform.specialise.world import World

STATEMENTS: Final = 2500
"""How many statements a program may have besides those of the function itself."""
_WRITTEN: Final = 10_000
"""Up to how many these may be."""
_ROUNDS: Final = 40


Evaluate = Callable[["Inference", Statement], Abstract | None]


class Callees(Protocol):
    """Calls functions by programs of their own."""

    @property
    def inferences(self) -> list[Inference]:
        """What is known of these programs."""

    def halves(self) -> list[IR]:
        """The halves that are called, as IR."""

    def place(
        self, inf: Inference, s: Statement, function: FunctionType | Closure, args: Args, kwargs: Any
    ) -> Abstract | None:
        """Call a function by a program of its own, if it is to have one; None if it is not."""

    def call(self, inf: Inference, s: Statement, call: Any, operands: list[Operand]) -> Abstract:
        """The result of a call that was placed."""

    def rests(self) -> bool:
        """Whether what these programs are made for is what is known now; if not, they are forgotten."""

    def settle(self, inf: Inference) -> None:
        """Bring the programs into shape of which nothing is assumed any more."""


class Inference:
    """The interpreter: abstract values by variable, a worklist of blocks."""

    one_way: ClassVar[bool] = False
    block: Block
    """What is being interpreted, once that has begun."""

    def __init__(
        self,
        world: World,
        evaluate: Evaluate,
        types: dict[Variable, Abstract],
        changed: frozenset[Any] = frozenset(),
        limit: int = STATEMENTS,
    ) -> None:
        self.world, self.evaluate, self.limit = world, evaluate, limit
        self.program = Program([], types, changed=changed)
        self.types, self.plans, self.type_of = self.program.types, self.program.plans, self.program.type_of
        self.chains: dict[Block, tuple[Any, ...]] = {}
        self.around: tuple[Any, ...] = ()
        """The code objects within which a function with a program of its own is called first."""
        self.activations = Activations()
        self.globals_of: dict[Block, dict[str, Any]] = {}
        self.cells: dict[Operand, Operand] = {}
        self.wanted: dict[Any, None] = {}
        """The places that are changed, for another try; what is found out after the first of them does not matter."""
        self.cell_places: dict[Operand, Any] = {}
        self.given = Variable("given")
        """The identities of the lists and dicts from outside, where some may be changed."""
        self.checked: set[Statement] = set()
        """What changes lists or dicts, and looks before whether they are the program's own."""
        self.foreseen: dict[Statement, Constant] = {}
        """What globals were taken for, by what loads them."""
        self.params: dict[Operand, Abstract] = {}
        self.started: set[Operand] = set()
        self.records: dict[Variable, Variable] = {}
        """The dicts that hold those attributes of objects that are assigned again."""
        self.classes: dict[Statement, type] = {}
        """The classes of the named tuples that statements put together."""
        self.fields: dict[tuple[Variable, str], tuple[Operand, Statement | None]] = {}
        """The attributes of objects, and what assigns them; those of merged objects come by parameters."""
        self.results: set[Variable] = set()
        """Objects of library classes of which nothing but fields are read, however the class looks them up."""
        self.stores: dict[Operand, Statement] = {}
        self.orders: dict[Statement | Edge, list[Statement]] = {}
        """What assigns an attribute or a captured variable, and what reads it or takes it along."""
        self.pending = Worklist()
        self.taken: dict[Edge, None] = {}
        self.merging = Merging(self)
        self.visited: set[Block] = set()
        self.tests: dict[Variable, Test] = {}
        """What is known of names that only exist where a test came out in one way."""
        self.traps = Traps(self)
        self.ends = Ends(self)
        self.aliases: dict[Operand, Operand] = {}
        self.suspended: set[Statement] = set()
        """What makes generators in this program."""
        self.consumed: list[tuple[Statement, Block]] = []
        """What makes the generators that are iterated over, and where that begins."""
        self.halves: dict[Statement, Any] = {}
        """What the generators that are context managers do where these end, by what makes them."""
        self.written: dict[Block, dict[Any, Block]] = {}
        """The blocks of handlers, by the kind of exceptions that they are written for."""
        self.tested: dict[Statement, set[Any]] = {}
        """The tests that stand before statements that may raise what the program handles."""
        self.listed: set[Statement] = set()
        """What makes lists of tuples that are iterated over."""
        self.of_copies = False
        """Whether what the program is given are copies, which have identities of their own."""
        self.keeps = any(type(place) is tuple and place[0] in (KEPT, LENGTHS) for place in changed)
        """Whether objects are to stand for functions, or lists for tuples."""
        self.stale = False
        self.assumptions = Assumptions()
        self.quiet = self.strict = False
        self.locks: dict[int, Any] = {}
        """What the program holds while it runs, by identity."""
        self.once = False
        """Whether what the program gives up for a derivative has none of its own: it is right to first order alone."""
        self.values_only = False
        """Whether nothing is differentiated."""
        self.returns_none = False
        self.give: Callable[[Operand], None] | None = None
        """Who is told what is returned, by a function that has a program of its own."""
        self.callees: Callees | None = None
        """Who calls functions by programs of their own."""
        self.outer = Outer()
        self.queue: Variable | None = None
        """The list of what the program says at its end."""
        self.commits: list[tuple[Operand, str | None, Operand]] = []
        self.said: list[Operand] = []
        """The same on one way, each by itself."""
        self.size = 0
        self.index = 0

    def run(
        self, code: Any, globals_: dict[str, Any], closure: Any, types: dict[Variable, Abstract], call: Parameters
    ) -> None:
        """Interpret the function for arguments of these types, bound by ``call``."""
        cells: list[Operand] = [Variable() for _ in closure or ()]
        self.cells.update((variable, self.world.captured(cell)) for variable, cell in zip(cells, closure or ()))
        self.interpret(code, globals_, types, call, cells)

    def interpret(
        self,
        code: Any,
        globals_: dict[str, Any],
        types: dict[Variable, Abstract],
        call: Parameters,
        cells: list[Operand],
    ) -> None:
        """Interpret code whose captured variables are ``cells``."""
        body = self._copy(code, globals_)
        self.limit += min(body.size(), _WRITTEN)
        self.types.update(types)
        self.params.update(types.items())
        first = Block(list(types))
        self._bind(body, call, cells, first)
        body.blocks[0].params = first.params
        body.blocks[0].statements[:0] = first.statements
        self._admit(body, (code,), globals_, None)
        self.outer.first = body.blocks[0]
        self.pending.add(self.outer.first)
        rounds = 0
        while self.pending:
            self._visit(self.pending.pop())
            if not self.pending:
                self.merging.unite_stored()
                self.stale = self.stale or self.callees is not None and not self.callees.rests()
            if not self.pending and self.stale:
                self.stale, rounds = False, rounds + 1
                if rounds > _ROUNDS:
                    raise Refused("what is known of its values does not come to rest")
                for block in self.visited:
                    self.pending.add(block)
        if self.wanted:
            raise Changes("attributes are assigned again", *self.wanted)
        for block in self.program.blocks:
            block.handler = None
        for block in [b for b in self.program.blocks if b in self.visited and self.ends.is_empty(b.terminator)]:
            self.traps.confirm_empty(block)
        self.merging.confirm()
        self.assumptions.confirm(self.type_of, self.attributes_of)
        producers.confirm(self)
        if any(self.given in s.operands for s in statements_of(self.visited)):
            self._note_given(body.blocks[0])
        self.program.blocks = [b for b in self.program.blocks if b in self.visited]
        if self.callees is not None:
            self.callees.settle(self)

    def final(self, operand: Operand) -> Operand:
        """The operand that another one is known to be."""
        found = resolve(operand, self.aliases)
        kind = self.types.get(found) if isinstance(found, Variable) else None
        return found if not isinstance(kind, Outside) or kind.at is None else kind.at

    def _note_given(self, first: Block) -> None:
        lists = [v for v in self.types if self.is_from_outside(v) and sites_in(self.types[v])]
        s = Statement("call", [Constant(given_ids), *lists], self.given, ())
        self.plans[s], self.types[self.given] = PURE, Instance(set)
        first.statements.insert(0, s)

    def is_from_outside(self, operand: Operand) -> bool:
        """Whether an operand is an argument, or was loaded on entry."""
        return operand in self.params or self.world.is_outside(operand)

    def attributes_of(self, value: Abstract) -> dict[str, Abstract]:
        """What is known of the attributes of an object that the program makes."""
        if isinstance(value, Dict):
            return dict(value.site.named)
        assert isinstance(value, Fresh)
        known = {name: self.type_of(x) for (made, name), (x, _) in self.fields.items() if made is value.made}
        record = self.types.get(self.records[value.made]) if value.made in self.records else None
        return known | record.site.named if isinstance(record, Dict) else known

    @property
    def acts(self) -> bool:
        """Whether the program does more than compute a value."""
        return bool(self.said or self.commits or self.quiet or self.strict or self.locks)

    @property
    def stores_outside(self) -> bool:
        """Whether what is outside is another thing than on entry for who reads it; ``world.changing`` has the rest."""
        return False

    def order(self, first: Statement, then: Statement | Edge) -> None:
        """Require that a statement is run before another one, or before an edge is taken."""
        self.orders.setdefault(then, []).append(first)

    def hold(self, made: Variable, name: str, value: Operand) -> None:
        """Give an object that the program makes an attribute, of which it is known that it stays."""
        self.fields[made, name] = value, None

    def held_by(self, made: Variable) -> Iterable[tuple[str, Operand, Statement | None]]:
        """The attributes of an object that the program makes, each with the statement that has stored it."""
        if made in self.records:
            raise Refused("a derivative of a function of an object whose attributes are assigned again")
        return [(name, value, store) for (owner, name), (value, store) in self.fields.items() if owner is made]

    def frozen(self, operand: Operand) -> Operand:
        """A value that code can get hold of."""
        return operand

    def before(self, s: Statement, op: str, operands: list[Operand], data: Any = None) -> Operand:
        """The result of an operation that is done before ``s``, which is being interpreted."""
        made, end = Statement(op, operands, Variable(), data, s.position), self.block.terminator
        found = self.evaluate(self, made)
        if found is None:
            raise (Refused if self.block.terminator is end else Rebuilt)(f"{op} is no single operation")
        self.insert(made, found)
        return made.made

    def insert(self, s: Statement, result: Abstract | None = None, plan: Plan | None = None) -> None:
        """Put a statement before the one that is being interpreted."""
        if result is not None:
            self.types[s.made] = result
        if plan is not None:
            self.plans[s] = plan
        self.block.statements.insert(self.index, s)
        self.index += 1

    def first(self, *statements: Statement) -> Abstract | None:
        """Evaluate statements before the one that is being interpreted, which was made to follow them."""
        following = self.block.statements[self.index]
        self.block.statements[self.index : self.index] = statements
        for s in statements:
            found = self.evaluate(self, s)
            if found is None:
                return None
            if s.result is not None:
                self.types[s.result] = found
            self.index += 1
        return self.evaluate(self, following)

    def assume(self, operand: Operand) -> None:
        """Remember what is called, because its body is put in the place of the call."""
        self.assumptions.call(operand, self.type_of(operand))

    def known_call(self, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> Abstract | None:
        """What a kind of interpretation has to say of a call of a known callable, before all else."""
        return None

    def settled(self, s: Statement, function: Any, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        """The arguments of a call that stays in the program."""
        return args, kwargs

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """The functions that are part of the program."""
        # Code with slices among its constants, as emitted code has, cannot be hashed.
        return tuple({id(chain[-1]): chain[-1] for chain in self.chains.values()}.values())

    def _copy(self, code: Any, globals_: dict[str, Any], generators: bool = False) -> Body:
        handlers = not (generators or self.one_way) and raising.UNHANDLED not in self.program.changed
        body, known = foreseen(lifted(code, generators), self.world.foresee(globals_), handlers)
        self.foreseen |= known
        if not self.one_way:
            raising.settle(body)
            # But for their handlers, blocks are one.
            merge(body.blocks)
            gather(body.blocks, self.program.changed)
            peel(body, code, self.program.changed)
        self.tests |= refine(body)
        return body

    def add(self, block: Block, *others: Block) -> None:
        """Let the program have other blocks, of the same body as ``block``."""
        for other in others:
            self.chains[other], self.globals_of[other] = self.chains[block], self.globals_of[block]
        self.program.blocks += others

    def leave_nothing(self, s: Statement) -> None:
        """What a statement makes only exists while the program is made."""
        self.plans[s] = Alias(Constant(None))

    def _admit(self, body: Body, chain: tuple[Any, ...], globals_: dict[str, Any], within: Block | None) -> None:
        self.size += body.size()
        if self.size > self.limit:
            raise Refused("the program is too large")
        self.pending.place(body.blocks, within)
        for block in body.blocks:
            self.chains[block] = chain
            self.globals_of[block] = globals_
        self.program.blocks += body.blocks

    def _visit(self, block: Block) -> None:
        self.visited.add(block)
        self.traps.take_back(block)
        self.block, self.index = block, 0
        while self.index < len(block.statements) or self.ends.keep(block):
            budget.check(4)
            statement = block.statements[self.index]
            if statement.result is not None:
                self.aliases.pop(statement.result, None)
            self.orders.pop(statement, None)
            try:
                result = self.evaluate(self, statement)
            except Refused as reason:
                if reason.is_of_whole(self.program.changed):
                    raise
                self.ends.cut(block, statement, reason)
                return
            if result is None:
                return
            if statement.result is not None:
                before = self.types.get(statement.result)
                self.stale = self.stale or (before is not None and before != result)
                self.types[statement.result] = result
            self.index += 1
        self.ends.leave(block)

    @property
    def globals_here(self) -> dict[str, Any]:
        """The global names of the function that is being interpreted."""
        return self.globals_of[self.block]

    @property
    def code_here(self) -> Any:
        """The code of the function that is being interpreted."""
        return self.chains[self.block][-1]

    def filename_of(self, block: Block) -> str:
        """The file that the code of a block is from."""
        return str(self.chains[block][-1].co_filename)

    def fork(
        self,
        block: Block,
        tests: list[Statement],
        failing: Block,
        holds: bool,
        renamed: tuple[Variable, Variable] | None = None,
    ) -> None:
        """Go on with ``failing`` before the next statement unless the last of ``tests`` comes out as it ``holds``."""
        rest = Block([], block.statements[self.index :], block.terminator, block.handler)
        edge = Edge(rest)
        if renamed is not None:
            substitute([rest], {renamed[0]: renamed[1]})
            rest.params, edge.args = [renamed[1]], [renamed[0]]
        block.statements[self.index :] = tests
        edges = [edge, Edge(failing)]
        block.terminator = Terminator("branch", [tests[-1].made], edges if holds else edges[::-1])
        self.add(block, rest, failing)
        self.ends.leave(block)

    def joined(self, a: Abstract, b: Abstract) -> Abstract:
        """The least that is true of both: lists and dicts that come by one name may be one."""
        return self.merging.joined(a, b)

    def inline(
        self, statement: Statement, code: Any, globals_: dict[str, Any], call: Parameters, cells: list[Operand]
    ) -> None:
        """Put the body of a function in the place of the call that is being interpreted."""
        block = self.block
        kinds = tuple([self._kind_of(x) for x in call.values])
        chain = self.activations.enter(self.chains[block], code, kinds, statement.position)
        if code.co_flags & CO_GENERATOR:
            producers.begin(self, statement, producers.Suspended(code, globals_, call, cells, chain))
            return
        body = self._copy(code, globals_)
        if len(call.values) != len(body.params) or len(cells) != len(body.frees):
            raise Refused(f"a call of {code.co_qualname} that does not fit")
        raising.cover(body.blocks, block.handler)
        self._admit(body, chain, globals_, block)
        rest = Block(
            [statement.result] if statement.result is not None else [],
            block.statements[self.index + 1 :],
            block.terminator,
            block.handler,
        )
        if statement.result is None:
            rest.params = [Variable("nothing")]
        del block.statements[self.index :]
        self._bind(body, call, cells, block)
        block.terminator = Terminator("jump", [], [Edge(body.blocks[0])], statement.position)
        body.blocks[0].params = []
        go_on_at(rest, body.blocks)
        self.add(block, rest)
        self.pending.place_after(rest, block)
        self.ends.leave(block)

    def _kind_of(self, value: Operand | list[Operand] | dict[str, Operand]) -> Any:
        if isinstance(value, dict):
            return tuple((name, self.type_of(x)) for name, x in value.items())
        return tuple(map(self.type_of, value)) if isinstance(value, list) else self.type_of(value)

    def _bind(self, body: Body, call: Parameters, cells: list[Operand], block: Block) -> None:
        mapping: dict[Operand, Operand] = {}
        for param, value in zip(body.params, call.values, strict=True):
            if isinstance(value, list):
                build = Statement("build_tuple", value, param)
                found = self.evaluate(self, build)
                assert found is not None
                self.types[param] = found
                block.statements.append(build)
            elif isinstance(value, dict):
                keywords.settle(body, param, value)
                build = Statement("build_map", [x for k, v in value.items() for x in (Constant(k), v)], param)
                self.types[param] = Tuple(tuple(map(self.type_of, value.values())), dict, tuple(value))
                self.plans[build] = STRUCTURAL
                block.statements.append(build)
            else:
                mapping[param] = value
        for free, cell in zip(body.frees, cells, strict=True):
            mapping[free] = cell
        substitute(body.blocks, mapping)
