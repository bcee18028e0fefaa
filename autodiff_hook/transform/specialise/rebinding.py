"""``u *= v`` of an array that nobody else knows is ``u = u * v``: nothing is changed in place, or kept for that."""

from __future__ import annotations

from autodiff_hook.ir.analysis import Loop
from autodiff_hook.ir.types import IR, Block, Statement, Variable
from autodiff_hook.transform.specialise.abstract import Array
from autodiff_hook.transform.specialise.memory import Settling, replaced
from autodiff_hook.transform.specialise.program import STORE, Program, RulePlan
from autodiff_hook.transform.specialise.replacing import checks, is_whole, read_itself
from autodiff_hook.transform.specialise.versions import Versions


def rebind(ir: IR, program: Program, loops_of: dict[Block, list[Loop]]) -> None:
    """Give arrays of which all is changed, each time, a new version there, if nobody could see the difference.

    Those that loops within take items out of keep one cotangent, to which these loops add.
    """
    if not program.does(STORE):
        return
    settling = Settling(ir, program)
    origin: dict[Variable, Variable] = {}
    for root, places in settling.changes.items():
        if not isinstance(program.type_of(root), Array):
            continue
        stores = [block.statements[place] for block, place in places]
        steps = [_step(program, settling, s) for s in stores]
        around = {loop for block, _ in places for loop in loops_of[block]}
        homes = [settling.places[s][0] for s in settling.users[root] if _takes_items(s)]
        outside = all(around.issuperset(loops_of[block]) for block in homes)
        if None not in steps and outside and settling.is_alone(root):
            origin[root] = root
            for s, step in zip(stores, steps):
                assert step is not None
                origin[step.made] = root
                _replace(program, settling, s, step)
    if origin:
        _settle(ir, program, origin)


def _takes_items(s: Statement) -> bool:
    return s.op == "get_iter" or s.op == "getitem" and not is_whole(s.operands[1])


def _step(program: Program, settling: Settling, s: Statement) -> Statement | None:
    """The operation whose result a statement stores into all of an array, and that nobody else is given."""
    if s.op != "setitem":
        return None
    array, key, new = s.operands
    made = settling.made.get(new)  # type: ignore[arg-type]
    kinds = program.type_of(array), program.type_of(new)
    alike = all(isinstance(kind, Array) for kind in kinds) and len({(x.dtype, x.ndim) for x in kinds}) == 1  # type: ignore[attr-defined]
    own = settling.users[new] == [s] and new not in settling.passed_on
    return made if alike and own and is_whole(key) and made is not None and made.op == "binary" else None


def _replace(program: Program, settling: Settling, s: Statement, step: Statement) -> None:
    """Let an operation read the array itself, and only check that the result fits where it was stored."""
    array, block = s.operands[0], settling.places[s][0]
    found = checks(program, step.operands[0], step)
    read_itself(program, settling.made, array, step)
    place = block.statements.index(s)
    block.statements[place : place + 1] = found


def _settle(ir: IR, program: Program, origin: dict[Variable, Variable]) -> None:
    given = {s: list(s.operands) for block in ir.blocks for s in block.statements}
    versions = Versions(ir.blocks, origin)
    versions.settle()
    program.types |= {param: program.type_of(origin_of) for param, origin_of in versions.joined}
    for s, before in given.items():
        plan = program.plans.get(s)
        if isinstance(plan, RulePlan):
            for old, new in zip(before, s.operands):
                plan.values = [replaced(x, old, new) for x in plan.values] if old is not new else plan.values
