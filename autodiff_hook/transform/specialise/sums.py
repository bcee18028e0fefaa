"""Lists of which nothing but the sum is asked: all of their items have one cotangent, which is no list."""

from __future__ import annotations

from collections.abc import Iterable

from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Terminator, Variable
from autodiff_hook.transform.specialise.abstract import Abstract, List
from autodiff_hook.transform.specialise.lattice import is_real, number_types
from autodiff_hook.transform.specialise.program import APPEND, Program, RulePlan


def summed_lists(program: Program, blocks: Iterable[Block]) -> set[Variable]:
    """The lists of numbers that begin empty, are appended to, and are read by ``sum`` alone."""
    statements = list(statements_of(blocks))
    found = {s.made for s in statements if s.result is not None and _begins(s, program)}
    for s in statements:
        found.difference_update(x for x in s.operands if x in found and not _may_take(s, x, program))
    for block in blocks:
        terminator = block.terminator or Terminator("return", [])
        found.difference_update(terminator.operands, *(edge.args for edge in block.edges()))
    return found


def is_sum(plan: object) -> bool:
    """Whether a statement with this plan is a call of ``sum`` whose only term that varies is what it iterates over."""
    return isinstance(plan, RulePlan) and plan.target is sum and all(isinstance(x, Constant) for x in plan.values[1:])


def _begins(s: Statement, program: Program) -> bool:
    if s.op != "build_list" or s.operands or s.result is None:
        return False
    kind = program.types[s.result]
    return isinstance(kind, List) and kind.item is not None and _is_of_one_kind(kind.item)


def _is_of_one_kind(value: Abstract) -> bool:
    """Whether the cotangent of a number is the same for a term and for the sum: none of them is real alone."""
    return is_real(value) or number_types(value) == frozenset({complex})


def _may_take(s: Statement, items: Operand, program: Program) -> bool:
    plan = program.plans.get(s)
    if plan == APPEND:
        return s.operands[0] is items and s.operands[1] is not items
    return is_sum(plan) and s.result is not None and _is_of_one_kind(program.types[s.result])
