"""A joint program cut in two where the adjoint begins: forward and reverse, with the residuals between them."""

from __future__ import annotations

from dataclasses import replace

from autodiff_hook.ir.analysis import free_variables, reverse_postorder
from autodiff_hook.ir.types import IR, Block, Edge, Signature, Statement, Terminator, Variable


def cut(ir: IR, *given: Variable) -> tuple[IR, IR]:
    """``forward(f, args) -> (value, residuals)`` and ``reverse(residuals, cotangent, *given) -> cotangents``."""
    block, index = next((b, i) for b in ir.blocks for i, s in enumerate(b.statements) if s.op == "resume")
    mark, rest = block.statements[index], block.statements[index + 1 :]
    resumed = Block([], rest, block.terminator)
    del block.statements[index:]
    names = ("residuals", "cotangent", *(f"given{i}" for i in range(len(given))))
    backwards = IR("reverse", Signature(names, len(names), len(names)), blocks=[resumed])
    backwards.blocks = reverse_postorder(backwards)
    residuals = [x for x in free_variables(backwards.blocks) if x is not mark.result and x not in given]
    kept = Variable("residuals")
    pair = Variable("pair")
    block.statements += [
        Statement("build_tuple", list(residuals), kept),
        Statement("build_tuple", [mark.operands[0], kept], pair),
    ]
    block.terminator = Terminator("return", [pair])
    ir.blocks = reverse_postorder(ir)
    _begin(backwards, mark, residuals, given)
    return ir, replace(backwards, name=ir.name, qualname=ir.qualname, filename=ir.filename, first_line=ir.first_line)


def _begin(ir: IR, mark: Statement, residuals: list[Variable], given: tuple[Variable, ...]) -> None:
    kept, cotangent = Variable("residuals"), mark.result or Variable("cotangent")
    first = Block([kept, cotangent, *given])
    if residuals:
        parts = Variable("parts")
        first.statements.append(Statement("unpack", [kept], parts, (len(residuals), None)))
        first.statements += [Statement("project", [parts], r, i) for i, r in enumerate(residuals)]
    first.terminator = Terminator("jump", [], [Edge(ir.blocks[0])])
    ir.blocks.insert(0, first)
