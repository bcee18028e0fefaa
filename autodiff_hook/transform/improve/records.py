"""What loops leave for the adjoint, as items of lists: tuples of what is recalled, or that alone if it is one value."""

from __future__ import annotations

from autodiff_hook.ir.analysis import places_of
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.improve.liveness import Liveness


def take_away(ir: IR, live: Liveness) -> None:
    """Let the adjoint take records away that hold those of inner loops, in programs that are not to be cut."""
    readers = _Readers(ir)
    if readers.is_cut:
        return
    inner = {s.operands[0] for s in live.records.values()}
    for loop, record in live.records.items():
        items, kept = record.operands[0], [record.operands[1 + i] for i in live.kept.get(loop, ())]
        made = live.made.get(items)
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
        self.home = places_of(ir.blocks)
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
                if not s.data and s.callee is reversed:
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


def lower_records(ir: IR, live: Liveness) -> None:
    """Let loops append what the adjoint recalls to lists, and the adjoint take that out of the items."""
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


def _unpack(block: Block, live: Liveness) -> None:
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
