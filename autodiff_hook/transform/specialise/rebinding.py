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
    stores = {s: root for root in settling.changes for s in _rebound(program, settling, root, loops_of)}
    if not stores:
        return
    origin: dict[Variable, Variable] = {root: root for root in stores.values()}
    for s, root in stores.items():
        step = settling.made[s.operands[2]]  # type: ignore[index]
        origin[step.made] = root
        _replace(program, settling, s, step)
    _settle(ir, program, origin)


def _rebound(
    program: Program, settling: Settling, root: Variable, loops_of: dict[Block, list[Loop]]
) -> list[Statement]:
    """The statements that change all of an array, if each change may be a new version."""
    if not isinstance(program.type_of(root), Array):
        return []
    places = settling.changes[root]
    stores = [block.statements[place] for block, place in places]
    around = {loop for block, _ in places for loop in loops_of[block]}
    within = [settling.places[s][0] for s in settling.users[root] if _takes_items(s)]
    outside = all(around.issuperset(loops_of[block]) for block in within)
    wholly = all(_is_step(program, settling, s) for s in stores)
    return stores if wholly and outside and settling.is_alone(root) else []


def _takes_items(s: Statement) -> bool:
    return s.op == "get_iter" or s.op == "getitem" and not is_whole(s.operands[1])


def _is_step(program: Program, settling: Settling, s: Statement) -> bool:
    """Whether a statement stores into all of an array the result of an operation, which nobody else is given."""
    if s.op != "setitem":
        return False
    array, key, new = s.operands
    made = settling.made.get(new)  # type: ignore[arg-type]
    kinds = program.type_of(array), program.type_of(new)
    alike = all(isinstance(kind, Array) for kind in kinds) and len({(x.dtype, x.ndim) for x in kinds}) == 1  # type: ignore[attr-defined]
    own = settling.users[new] == [s] and new not in settling.passed_on
    return alike and own and is_whole(key) and made is not None and made.op == "binary"


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
