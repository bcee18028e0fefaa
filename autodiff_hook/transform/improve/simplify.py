"""The joint program without what nobody reads, and its records as items of lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from types import BuiltinFunctionType
from typing import Any

from autodiff_hook import budget
from autodiff_hook.ir.analysis import predecessors, reverse_postorder
from autodiff_hook.ir.substituting import resolve, substitute
from autodiff_hook.ir.types import IR, RECEIVED, Block, Constant, Edge, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.improve.arithmetic import economise
from autodiff_hook.transform.improve.backwards import Backwards
from autodiff_hook.transform.improve.counts import drop_counts
from autodiff_hook.transform.improve.facts import value_of
from autodiff_hook.transform.improve.params import drop_params
from autodiff_hook.transform.improve.polish import polish, program_start
from autodiff_hook.transform.improve.reuse import reuse
from autodiff_hook.transform.improve.shortcuts import EFFECTS, declared
from autodiff_hook.transform.improve.sinking import look_up_once, sink
from autodiff_hook.transform.specialise.abstract import Abstract
from autodiff_hook.transform.specialise.folding import computed, merge
from autodiff_hook.transform.specialise.invariants import sums_floats
from autodiff_hook.transform.specialise.lattice import is_number_of

_REMOVABLE = frozenset(
    "build_tuple build_list build_map project recall binary unary compare truth not is is_not getitem getattr "
    "build_slice call unpack get_iter call_method make_function".split()
)
_PURE_METHODS = frozenset({"copy", "reshape", "argmax", "argmin"})


def simplify(
    ir: IR,
    essential: set[Statement],
    adjoint: set[Statement],
    floats: Callable[[Operand], bool],
    types: dict[Variable, Abstract] | None,
    numbers: bool,
    volatile: Container[Variable],
    guarded: bool,
    is_steady: Callable[[Operand], bool],
    lasts: Callable[[Variable, Operand], bool],
) -> None:
    """Fold ``0.0 + x`` and ``1.0 * x`` in the ``adjoint``, remove what is dead, lower records.

    ``essential`` statements stay.
    ``floats`` says whether an operand is a float, or an array of them. With the ``types`` of variables,
    operations of arrays are written as these allow. ``numbers`` says that there are none. What is ``volatile``,
    an array that the program changes or a view of one, is only read where the program reads it. ``guarded`` says
    whether the program begins with guards. Loops leave no records where that reads only what ``is_steady``, what the
    program does not change, or ``lasts``: has been read by the statement with a result as it is to the end.
    """
    ir.blocks = reverse_postorder(ir)
    whole = _whole_numbers(ir, floats)
    known, floats = floats, lambda x: known(x) and x not in whole
    _fold(ir, adjoint, floats)
    again: set[Statement] = set()
    if types is not None and drop_params(ir, program_start(ir) if guarded else ir.entry):
        _fold(ir, adjoint, floats)
    if numbers:
        live = _Liveness(ir, essential)
        if types is not None and _forget_dividends(ir, essential, live, types):
            live = _Liveness(ir, essential)
        _sweep(ir, live, essential)
        if types is not None:
            _iterate_again(ir, essential, [types], is_steady, lasts, guarded, again)
        economise(ir, essential, {s for s in adjoint if all(map(floats, s.operands))})
    site = polish(ir, types, essential, volatile, guarded) if types is not None else None
    live = _Liveness(ir, essential)
    _sweep(ir, live, essential)
    if _drop_branches(ir):
        live = _Liveness(ir, essential)
        _sweep(ir, live, essential)
    if (
        site is not None
        and types is not None
        and _iterate_again(ir, essential, [types, site.facts], is_steady, lasts, guarded, again)
    ):
        live = _Liveness(ir, essential)
    drop_counts(ir)
    if guarded:
        _take_away(ir, live)
    _lower_records(ir, live)
    look_up_once(ir)
    sink(ir, again)
    if site is not None:
        reuse(ir, site)


def _forget_dividends(ir: IR, essential: set[Statement], live: _Liveness, types: dict[Variable, Abstract]) -> bool:
    """Let divisions that happen only as they may raise, which the divisor says, divide 1.0; whether there are any."""
    found = False
    for s in [s for block in ir.blocks for s in block.statements if s in essential]:
        if s.op in ("binary", "inplace") and s.data == "/" and s.result not in live.variables:
            first, second = s.operands
            divisor = types.get(second, Abstract())  # type: ignore[arg-type]
            if is_number_of(divisor, {float, int, bool}) and _is_never_large(first, live, types):
                s.operands[0], found = Constant(1.0), True
    return found


def _is_never_large(x: Operand, live: _Liveness, types: dict[Variable, Abstract]) -> bool:
    """Whether a number is no int, but for the sum of no floats at all: large ints may be too large to be divided."""
    if is_number_of(types.get(x, Abstract()), {float}):  # type: ignore[arg-type]
        return True
    made = live.made.get(x)  # type: ignore[arg-type]
    return made is not None and sums_floats(made, lambda operand: types.get(operand, Abstract()))  # type: ignore[arg-type]


def _iterate_again(
    ir: IR,
    essential: set[Statement],
    tables: list[dict[Variable, Any]],
    is_steady: Callable[[Operand], bool],
    lasts: Callable[[Variable, Operand], bool],
    guarded: bool,
    again: set[Statement],
) -> bool:
    """Let loops leave less, or no records, in programs that are not to be cut; whether there are any.

    What is done ``again`` in place of that is added.
    """
    found = False
    operations = {s.op for block in ir.blocks for s in block.statements}
    if "recall" not in operations or "resume" in operations:
        return found
    while (loops := Backwards(ir, essential, tables, is_steady, lasts)).run():
        again |= loops.again
        _sweep(ir, _Liveness(ir, essential), essential)
        merge(ir.blocks, first=program_start(ir) if guarded else ir.entry)
        found = True
    if loops.thin():
        again |= loops.again
        _sweep(ir, _Liveness(ir, essential), essential)
        found = True
    return found


def _drop_branches(ir: IR) -> bool:
    """Drop branches that lead to one place whatever is tested; whether there were any."""
    found = False
    for block in ir.blocks:
        terminator = block.terminator
        if terminator.kind != "branch":
            continue
        first, second = map(_destination, terminator.edges)
        if first.target is second.target and first.args == second.args:
            block.terminator = Terminator("jump", [], [first], terminator.position)
            found = True
    if found:
        ir.blocks = reverse_postorder(ir)
        merge(ir.blocks)
    return found


def _destination(edge: Edge) -> Edge:
    """Where an edge leads to, past blocks that do nothing."""
    target = edge.target
    while not target.statements and not target.params:
        if target.terminator.kind != "jump" or target.terminator.edges[0].target is target:
            break
        edge = target.terminator.edges[0]
        target = edge.target
    return edge


def _fold(ir: IR, adjoint: set[Statement], floats: Callable[[Operand], bool]) -> None:
    known: dict[Operand, Operand] = {}
    for block in ir.blocks:
        budget.check()
        kept = []
        for s in block.statements:
            s.operands = [resolve(x, known) for x in s.operands]
            same = (_neutral(s, floats) if s in adjoint else None) or computed(s)
            if same is None or s.result is None:
                kept.append(s)
            else:
                known[s.result] = same
        block.statements = kept
    substitute(ir.blocks, known)


_ROUNDING = frozenset({math.floor, math.ceil, math.trunc, math.gcd, math.lcm, math.comb, math.perm, math.isqrt})


def _whole_numbers(ir: IR, floats: Callable[[Operand], bool]) -> set[Operand]:
    """What the types do not know and may be an int: made of ints alone."""
    whole: set[Operand] = set()

    def is_float(operand: Operand) -> bool:
        return operand not in whole and floats(operand)

    changed = True
    while changed:
        before = len(whole)
        for block in ir.blocks:
            for s in block.statements:
                if s.result is None or not floats(s.result):
                    continue
                if s.op in ("binary", "unary", "inplace"):
                    exact = s.data != "/" and not any(map(is_float, s.operands))
                else:
                    function = s.operands[0].value if s.op == "call" and isinstance(s.operands[0], Constant) else None
                    exact = isinstance(function, BuiltinFunctionType) and function in _ROUNDING
                if exact:
                    whole.add(s.result)
            for edge in block.edges():
                whole.update(p for p, x in edge.bound() if floats(p) and not _is_number(x, is_float))
        changed = len(whole) != before
    return whole


def _is_number(operand: Operand, is_float: Callable[[Operand], bool]) -> bool:
    """Whether an argument of an edge is a float, or nothing that a sum would be made of."""
    return is_float(operand) or isinstance(operand, Constant) and type(operand.value) is not int


def _neutral(s: Statement, floats: Callable[[Operand], bool]) -> Operand | None:
    """The operand that a statement returns unchanged."""
    if s.op == "call" and len(s.operands) == 3 and _is_sum(s.operands[0]):
        first = s.operands[1]
        return s.operands[2] if isinstance(first, Constant) and first.value is None else None
    if s.op != "binary" or len(s.operands) != 2:
        return None
    for constant, other in (s.operands, reversed(s.operands)):
        if isinstance(constant, Constant) and type(constant.value) is float and floats(other):
            if s.data == "+" and constant.value == 0.0 or s.data == "*" and constant.value == 1.0:
                return other
            if s.data == "*" and constant.value == -1.0:
                s.op, s.operands, s.data = "unary", [other], "-"
                return None
    return None


def _is_sum(function: Operand) -> bool:
    return isinstance(function, Constant) and getattr(function.value, "__name__", "") == "accumulate"


class _Liveness:
    """What a program needs: by a worklist from what it returns and does."""

    def __init__(self, ir: IR, essential: set[Statement]) -> None:
        self.incoming = predecessors(ir)
        self.made: dict[Variable, Statement] = {}
        self.home: dict[Variable, tuple[Block, int]] = {}
        self.records: dict[object, Statement] = {}
        self.kept: dict[object, set[int]] = {}
        self.appended: dict[Operand, list[Operand]] = {}
        """What is appended to lists that begin in the program."""
        self.variables: set[Variable] = set()
        self.pending: list[Operand] = []
        for block in ir.blocks:
            budget.check()
            self.home |= {param: (block, i) for i, param in enumerate(block.params)}
            for s in block.statements:
                if s.result is not None:
                    self.made[s.result] = s
                if s.op == "record":
                    self.records[s.data[0]] = s
                    self.pending.append(s.operands[0])
                elif s.op == "list_append" and self._begins(s.operands[0]):
                    self.appended.setdefault(s.operands[0], []).append(s.operands[1])
                elif not removable(s, essential):
                    self.pending += s.operands
            self.pending += block.terminator.operands
        while self.pending:
            self._need(self.pending.pop())

    def _begins(self, items: Operand) -> bool:
        made = self.made.get(items)  # type: ignore[arg-type]
        return made is not None and made.op == "build_list"

    def is_idle(self, s: Statement) -> bool:
        """Whether a statement appends to a list that nobody reads."""
        return s.op == "list_append" and s.operands[0] in self.appended and s.operands[0] not in self.variables

    def _need(self, operand: Operand) -> None:
        if not isinstance(operand, Variable) or operand in self.variables:
            return
        self.variables.add(operand)
        self.pending += self.appended.get(operand, ())
        statement = self.made.get(operand)
        if statement is not None:
            self.pending += statement.operands
            if statement.op == "recall":
                loop, index = statement.data
                if index not in self.kept.setdefault(loop, set()):
                    self.kept[loop].add(index)
                    self.pending.append(self.records[loop].operands[1 + index])
            return
        found = self.home.get(operand)
        if found is not None:
            block, index = found
            for _, edge in self.incoming[block]:
                place = index - (len(block.params) - len(edge.args))
                if place >= 0:
                    self.pending.append(edge.args[place])


def removable(s: Statement, essential: set[Statement]) -> bool:
    """Whether a statement may go if nobody reads its result."""
    if s.op == "call_method" and s.data[0] not in _PURE_METHODS:
        return False
    if s.op == "call" and declared(EFFECTS, value_of(s.operands[0])):
        return False
    return s.result is not None and s.op in _REMOVABLE and s not in essential


def _sweep(ir: IR, live: _Liveness, essential: set[Statement]) -> None:
    for block in ir.blocks:
        block.statements = [
            s
            for s in block.statements
            if s.result in live.variables or not removable(s, essential) and not live.is_idle(s)
        ]
    for block in ir.blocks:
        terminator = block.terminator
        for edge, received in zip(terminator.edges, RECEIVED.get(terminator.kind, ())):
            params = edge.target.params[received:]
            edge.args = [arg for param, arg in zip(params, edge.args, strict=True) if param in live.variables]
    for block in ir.blocks[1:]:
        count = max((_received(edge, source) for source, edge in live.incoming[block]), default=0)
        block.params = block.params[:count] + [p for p in block.params[count:] if p in live.variables]


def _received(edge: Edge, source: Block) -> int:
    terminator = source.terminator
    return RECEIVED.get(terminator.kind, (0,))[terminator.edges.index(edge)]


def _take_away(ir: IR, live: _Liveness) -> None:
    """Let the adjoint take records away that hold those of inner loops, in programs that are not to be cut."""
    readers = _Readers(ir)
    if readers.is_cut:
        return
    inner = {s.operands[0] for s in live.records.values()}
    for loop, record in live.records.items():
        items, kept = record.operands[0], [record.operands[1 + i] for i in live.kept.get(loop, ())]
        made = live.made.get(items)  # type: ignore[arg-type]
        if made is None or made.op != "build_list" or inner.isdisjoint(kept):
            continue
        turned = readers.turning(items, record)
        if turned is not None:
            block = readers.home[turned]
            take = Statement("getattr", [turned.operands[1]], Variable("take"), "pop")
            block.statements.insert(block.statements.index(turned), take)
            made.operands, turned.operands = [_END], [Constant(iter), take.made, _END]


class _Readers:
    """What reads the variables of a program."""

    def __init__(self, ir: IR) -> None:
        self.home = {s: block for block in ir.blocks for s in block.statements}
        self.is_cut = any(s.op == "resume" for s in self.home)
        self.statements: dict[Operand, list[Statement]] = {}
        self.recalls: dict[tuple[object, int], list[Variable]] = {}
        for s in self.home:
            for x in s.operands:
                self.statements.setdefault(x, []).append(s)
            if s.op == "recall":
                self.recalls.setdefault(s.data, []).append(s.made)
        self.params: dict[Operand, list[Variable]] = {}
        self.args: dict[Operand, list[Operand]] = {}
        for block in ir.blocks:
            for x in block.terminator.operands:
                self.params.setdefault(x, []).append(Variable())
            for param, arg in [bound for edge in block.edges() for bound in edge.bound()]:
                self.params.setdefault(arg, []).append(param)
                self.args.setdefault(param, []).append(arg)

    def turning(self, x: Operand, record: Statement | None) -> Statement | None:
        """The only statement that reads a list beside what appends its records, if that turns it round."""
        while True:
            reading = [s for s in self.statements.get(x, ()) if s is not record]
            params, found = set(self.params.get(x, ())), list[Variable]()
            if len(reading) == 1 and not params:
                (s,) = reading
                if s.op == "call" and not s.data and value_of(s.operands[0]) is reversed:
                    return s
                places = [i for i, y in enumerate(s.operands[1:]) if y is x] if s.op == "record" else []
                found = [y for i in places for y in self.recalls.get((s.data[0], i), ())]
            elif not reading and len(params) == 1:
                found = [p for p in params if all(y is x or isinstance(y, Constant) for y in self.args.get(p, [_END]))]
            if len(found) != 1 or found[0] is x:
                return None
            x, record = found[0], None


_END = Constant(None)
"""What lies below the records that are taken away one by one."""


def _lower_records(ir: IR, live: _Liveness) -> None:
    for block in ir.blocks:
        kept: list[Statement] = []
        for s in block.statements:
            if s.op == "record":
                _insert(_append(s, sorted(live.kept.get(s.data[0], ()))), kept)
            else:
                kept.append(s)
        block.statements = kept
        _unpack(block, live)


def _insert(record: list[Statement], statements: list[Statement]) -> None:
    """Put the record before the test that ends the iteration: a test is cheapest right before its branch."""
    place = len(statements)
    used = {x for s in record for x in s.operands}
    while place and statements[place - 1].op in ("truth", "compare") and statements[place - 1].result not in used:
        place -= 1
    statements[place:place] = record


def _append(s: Statement, kept: list[int]) -> list[Statement]:
    values = [s.operands[1 + i] for i in kept]
    if len(values) == 1:
        return [Statement("list_append", [s.operands[0], values[0]])]
    if not values:
        return [Statement("list_append", [s.operands[0], Constant(None)])]
    record = Variable("record")
    return [Statement("build_tuple", values, record), Statement("list_append", [s.operands[0], record])]


def _unpack(block: Block, live: _Liveness) -> None:
    recalls = [s for s in block.statements if s.op == "recall"]
    if not recalls:
        return
    rest = [s for s in block.statements if s.op != "recall"]
    record, loop = recalls[0].operands[0], recalls[0].data[0]
    order = sorted(live.kept[loop])
    if len(order) == 1:
        (only,) = recalls
        block.params = [only.made if p is record else p for p in block.params]
        block.statements = rest
        return
    parts = Variable("parts")
    unpack = Statement("unpack", [record], parts, (len(order), None))
    projects = [Statement("project", [parts], s.result, order.index(s.data[1])) for s in recalls]
    block.statements = [unpack, *projects, *rest]
