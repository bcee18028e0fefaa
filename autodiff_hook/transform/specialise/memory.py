"""Which arrays and lists a program changes, and what it reads of them before the next change.

The adjoint of a store needs the array to be the program's own, and known by one name: nothing that may be a view of
it is used after a store. What is read is a value of its own in the adjoint, so it is copied where a residual is made
of it and a store may follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import chain
from typing import Any

from autodiff_hook.ir.analysis import closure, dominates, dominators, passed_on, successors
from autodiff_hook.ir.liveness import live_from, live_out
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable
from autodiff_hook.records import record
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Dict, Iterator, List, Reference, Site, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.lattice import is_number_of, reached, sites_in
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.origins import heirs, is_arithmetic, makes_new, may_hold
from autodiff_hook.transform.specialise.overlaps import is_read_first, is_whole, may_be_overwritten, views_from
from autodiff_hook.transform.specialise.plans import checked
from autodiff_hook.transform.specialise.program import (
    APPEND,
    DROP,
    PURE,
    READ,
    STORE,
    STRUCTURAL,
    Given,
    OwnPlan,
    Program,
    RulePlan,
)
from autodiff_hook.transform.specialise.questions import QUESTIONS

TypeOf = Callable[[Operand], Abstract]


@record
class Memory:
    """What a program changes."""

    stored: set[Variable] = field(default_factory=set)
    """The arrays that are stored into."""
    saved: set[Variable] = field(default_factory=set)
    """Views that a residual has to be a copy of."""
    copied: set[Variable] = field(default_factory=set)
    """Parts that are copied when they are read."""

    @property
    def volatile(self) -> set[Variable]:
        """Arrays that the program changes, and views of them."""
        return self.stored | self.saved


def settle(ir: IR, program: Program) -> Memory:
    """Let each reading from what is changed be a ``READ``; ``Refused`` where one name is not enough."""
    if not (program.does(STORE, APPEND, DROP) or any(program.lent) or sharing(program)):
        return Memory()
    return _Settling(ir, program).run()


def sharing(program: Program) -> list[Abstract]:
    """What called programs are given, or give, of those that share lists, dicts or objects with this one."""
    calls = [s for s, plan in program.plans.items() if isinstance(plan, OwnPlan) and plan.lower.shares]
    return [program.type_of(x) for s in calls for x in (*s.operands, s.made)]


def show_arrays(kinds: Sequence[Abstract]) -> bool:
    """Whether some values may be arrays, or hold some."""
    roots = {root for kind in kinds for site in sites_in(kind) for root in reached(site)}
    return any(map(may_hold, chain(kinds, *(root.kinds() for root in roots))))


class _Settling:
    def __init__(self, ir: IR, program: Program) -> None:
        self.ir, self.program, self.type_of = ir, program, program.type_of
        self.memory = Memory()
        self.homes: dict[Variable, tuple[Block, int]] = {p: (b, -1) for b in ir.blocks for p in b.params}
        self.made: dict[Operand, Statement] = {}
        self.users: dict[Operand, list[Statement]] = {}
        self.places: dict[Statement, tuple[Block, int]] = {}
        self.changes: dict[Variable, list[tuple[Block, int]]] = {}
        self.names = Counter[Site]()
        """How many variables may be lists or dicts of a site."""
        self.passed_on: set[Operand] = set()
        self.lent = {site for kind in program.lent for own in sites_in(kind) for site in reached(own)}
        self.called: list[tuple[set[Site], tuple[Block, int]]] = []
        """What called programs change, and where."""
        self.live = live_out(ir.blocks)
        self.immediate = dominators(ir)
        self.handed_on = heirs(program, ir.blocks, may_hold)
        self.checks: dict[Statement, list[Statement]] = {}
        """What is done before statements."""
        for block in ir.blocks:
            for place, s in enumerate(block.statements):
                self._note(block, place, s)
        for variable in self.homes:
            self.names.update(site.root() for site in sites_in(self.type_of(variable)))
        for block in ir.blocks:
            self.passed_on.update(passed_on(block))

    def _note(self, block: Block, place: int, s: Statement) -> None:
        self.places[s] = block, place
        if s.result is not None:
            self.homes[s.result], self.made[s.result] = (block, place), s
        for operand in s.operands:
            self.users.setdefault(operand, []).append(s)
        plan = self.program.plans.get(s)
        if isinstance(plan, OwnPlan):
            self.called.append((plan.changed, (block, place)))
        if plan in (STORE, APPEND, DROP):
            assert isinstance(s.operands[0], Variable)
            self.changes.setdefault(s.operands[0], []).append((block, place))

    def run(self) -> Memory:
        """Check all arrays that are stored into; rewrite what reads from them."""
        for root in self.changes:
            made = self.made.get(root)
            if isinstance(self.type_of(root), Reference):
                continue
            if made is None or not makes_new(made, self.type_of):
                raise self._refused(root, "is changed in place, and others may hold it, too")
            self.memory.stored.add(root)
            if show_arrays(sharing(self.program)):
                raise self._refused(root, "is changed in place beside calls that are given lists or objects")
        for root in self.memory.stored:
            self._require_one_name(root)
        for block in self.ir.blocks:
            self._read(block)
        return self.memory

    # Other names

    def _require_one_name(self, root: Variable) -> None:
        names = self._names(root)
        for name in (root, *names):
            for s in self.users.get(name, ()):
                if name in self.program.put_by(s) and self._changes_after(root, *self.places[s]):
                    raise self._refused(root, "is changed in place after a list was given it")
        for block, place in self.changes[root]:
            self._require_read_first(root, block.statements[place], names)
            for name in names.intersection(live_from(block, self.live, place + 1)):
                row, changed = self._row_iterated(root, name), self._row(block.statements[place].operands[1])
                if row is None or changed is None:
                    raise self._refused(root, "is changed in place, and a view of it is used afterwards")
                check = Statement("call", [Constant(require_other_row), root, row, changed], None, ())
                self.program.plans[check] = PURE
                self.checks.setdefault(block.statements[place], []).append(check)
        for name in names:
            if name not in self.made and self._changes_after(root, *self.homes[name]):
                raise self._refused(root, "is changed in place, and has several names")

    def _require_read_first(self, root: Variable, store: Statement, names: set[Variable]) -> None:
        """Refuse a store of what may show the array, unless NumPy reads all of it before it is overwritten."""
        _, key, value = store.operands
        if (
            value not in names
            or is_whole(self.type_of(key))
            or not may_be_overwritten(*map(self.type_of, store.operands))
        ):
            return
        views = views_from(lambda x: x is root, value, self.made.get)
        if not views or not is_read_first(views, key, self.type_of):
            raise self._refused(root, "is stored into memory that it shows")

    def _refused(self, root: Variable, what: str) -> Refused:
        """Why a program is refused that changes an array."""
        block, place = self.changes[root][0]
        name = f"the array {root.name}" if root.name is not None else "an array"
        return Refused(f"{name} {what}", block.statements[place])

    def _names(self, root: Variable) -> set[Variable]:
        """Everything else that may lie in the memory of an array, while that array is the newest made at its place."""
        home = self.homes[root][0]

        def others(name: Operand) -> list[Operand]:
            heirs = [x for x in self.handed_on.get(name, ()) if x in self.made or self._is_behind(x, home)]
            # An iteration over the array itself reads what is there, one over a part that was read does not.
            return [*heirs, *(self._iterators(name) if name is not root else ())]

        return {x for x in closure(list[Operand]([root]), others) if isinstance(x, Variable) and x is not root}

    def _iterators(self, name: Operand) -> list[Variable]:
        """The iterators that a value is given to, whatever their items are."""
        made = [s.result for s in self.users.get(name, ()) if s.result is not None]
        return [x for x in made if isinstance(self.type_of(x), Iterator)]

    def _row_iterated(self, root: Variable, name: Variable) -> Operand | None:
        """Which row of an array an iterator runs over; None if it is something else."""
        at: Operand | None = name if isinstance(self.type_of(name), Iterator) else None
        while at is not None:
            made = self.made.get(at)
            if made is None:
                return None
            if made.op == "getitem" and made.operands[0] is root:
                return self._row(made.operands[1])
            given = [x for x in made.operands if may_hold(self.type_of(x)) or isinstance(self.type_of(x), Iterator)]
            at = given[0] if len(given) == 1 else None
        return None

    def _row(self, key: Operand) -> Operand | None:
        """The first place of a key, if that is a whole number."""
        made = self.made.get(key)
        if isinstance(key, Constant) and type(key.value) is tuple:
            key = Constant(key.value[0])
        elif made is not None and made.op == "build_tuple":
            key = made.operands[0]
        return key if is_number_of(self.type_of(key), WHOLE) else None

    def _is_behind(self, param: Variable, home: Block) -> bool:
        """Whether what a parameter is bound to was made in a block, and not anew since."""
        target = self.homes[param][0]
        return target is not home and dominates(self.immediate, home, target)

    def _changes_after(self, root: Variable, block: Block, place: int) -> bool:
        """Whether a change may follow before the array or list is made anew."""
        kind = self.type_of(root)
        if isinstance(kind, Reference) and not self.lent.isdisjoint(reached(kind.site)):
            return True
        places = self._changes_of(root)
        if any(b is block and i > place for b, i in places):
            return True
        changing = {b for b, _ in places}
        home = [self.homes[root][0]] if self._is_only_name(root) else []
        behind = closure(successors(block), successors, home)
        return not changing.isdisjoint(behind.keys() - home)

    def _changes_of(self, root: Variable) -> list[tuple[Block, int]]:
        """Where an array or a list is changed, or a list that may be the same, or in it."""
        kind = self.type_of(root)
        if not isinstance(kind, Reference):
            return self.changes.get(root, [])
        return self._changes_of_site(kind.site)

    def _changes_of_site(self, site: Site) -> list[tuple[Block, int]]:
        called = [place for changed, place in self.called if not changed.isdisjoint(reached(site))]
        return called + [place for x in self.changes if self._may_change(x, site) for place in self.changes[x]]

    def _may_change(self, changed: Variable, site: Site) -> bool:
        kind = self.type_of(changed)
        return isinstance(kind, Reference) and kind.site.root() in reached(site)

    def _is_only_name(self, root: Variable) -> bool:
        """Whether a change after the statement that makes ``root`` is one of what it has made."""
        kind = self.type_of(root)
        return not isinstance(kind, Reference) or root in self.made and self.names[kind.site.root()] == 1

    # Reading

    def _read(self, block: Block) -> None:
        statements: list[Statement] = []
        for place, s in enumerate(block.statements):
            statements += self.checks.get(s, ())
            for root in dict.fromkeys(s.operands):
                if isinstance(root, Variable):
                    self._read_from(root, s, block, place, statements)
            statements.append(s)
        block.statements = statements

    def _read_from(self, root: Variable, s: Statement, block: Block, place: int, before: list[Statement]) -> None:
        plan, kind = self.program.plans.get(s), self.type_of(root)
        if isinstance(plan, OwnPlan) and root not in self.memory.stored:
            return
        if root in self.memory.stored and s.op == "getitem" and s.operands[0] is root:
            self.program.plans[s] = READ
            if isinstance(self.type_of(s.result), Array) and self._changes_after(root, block, place):
                self._keep(s.made, self.users.get(s.made, []), s.made in self.passed_on)
        elif isinstance(kind, Reference) or root in self.memory.stored:
            whole = self._asks_for_all(root, s, plan) and not self._is_closure(s)
            if whole and self._changes_after(root, block, place):
                before.append(self._whole(root, s))
        elif isinstance(kind, Tuple) and isinstance(plan, RulePlan):
            for site in sites_in(kind):
                if self.lent or self._changes_of_site(site):
                    raise Refused("lists in a tuple that are changed are used as a whole", s)

    def _asks_for_all(self, root: Variable, s: Statement, plan: Any) -> bool:
        """Whether a statement uses an array or a list as a whole, as it is there, in the adjoint, too."""
        if isinstance(plan, RulePlan) or s.op in ("getitem", "setitem") and s.operands[1] is root:
            return True
        handed_on = plan == STRUCTURAL or plan == PURE and s.result in self.handed_on.get(root, ())
        return handed_on and root in self.memory.stored

    def _is_closure(self, s: Statement) -> bool:
        """Whether a tuple only says what a function captures."""
        users = self.users.get(s.result, []) if s.result is not None else []
        return s.op == "build_tuple" and bool(users) and all(x.op == "make_function" for x in users)

    def _whole(self, root: Variable, s: Statement) -> Statement:
        """Read all of an array or a list for the statement that uses it."""
        kind = self.type_of(root)
        if isinstance(kind, Dict) or isinstance(kind, List) and len(reached(kind.site)) > 1:
            raise Refused("a dict, or a list of lists, that is changed is used as a whole", s)
        value = Variable(root.name)
        self.program.types[value] = self.type_of(root)
        is_list = root not in self.memory.stored
        read = Statement("getitem", [root, Constant(slice(None) if is_list else Ellipsis)], value, None, s.position)
        self.program.plans[read] = READ
        s.operands = [value if x is root else x for x in s.operands]
        plan = self.program.plans.get(s)
        if isinstance(plan, RulePlan):
            plan.values = [replaced(x, root, value) for x in plan.values]
        if not is_list:
            self._keep(value, [s], False)
        return read

    def _keep(self, part: Variable, users: list[Statement], passed_on: bool) -> None:
        """A part that goes into arithmetic only is copied where the adjoint asks for it, others right away."""
        if not passed_on and all(is_arithmetic(s, part, self.type_of) for s in users):
            self.memory.saved.add(part)
        else:
            self.memory.copied.add(part)


def require_other_row(array: Any, row: int, changed: int) -> None:
    """Give up if the row that is iterated over is changed meanwhile."""
    if (row - changed) % len(array) == 0:
        raise Given("a row is changed while it is iterated over")


QUESTIONS[require_other_row] = checked


def replaced(value: Any, old: Operand, new: Operand) -> Any:
    """What a parameter of a rule is bound to, with one operand for another."""
    if isinstance(value, dict):
        return {key: replaced(x, old, new) for key, x in value.items()}
    if isinstance(value, list):
        return [replaced(x, old, new) for x in value]
    return new if value is old else value
