"""A joint program cut in two where the adjoint begins: forward and reverse, with the residuals between them."""

from __future__ import annotations

from dataclasses import replace

from autodiff_hook.ir.analysis import free_variables, reverse_postorder
from autodiff_hook.ir.types import IR, Block, Edge, Signature, Statement, Terminator, Variable


def cut(ir: IR) -> tuple[IR, IR]:
    """``forward(f, args) -> (value, residuals)`` and ``reverse(residuals, cotangent) -> cotangents``."""
    block, index = next((b, i) for b in ir.blocks for i, s in enumerate(b.statements) if s.op == "resume")
    mark, rest = block.statements[index], block.statements[index + 1 :]
    resumed = Block([], rest, block.terminator)
    del block.statements[index:]
    backwards = IR("reverse", Signature(("residuals", "cotangent"), 2, 2), blocks=[resumed])
    backwards.blocks = reverse_postorder(backwards)
    residuals = [x for x in free_variables(backwards.blocks) if x is not mark.result]
    kept = Variable("residuals")
    pair = Variable("pair")
    block.statements += [
        Statement("build_tuple", list(residuals), kept),
        Statement("build_tuple", [mark.operands[0], kept], pair),
    ]
    block.terminator = Terminator("return", [pair])
    ir.blocks = reverse_postorder(ir)
    _begin(backwards, mark, residuals)
    return ir, replace(backwards, name=ir.name, qualname=ir.qualname, filename=ir.filename, first_line=ir.first_line)


def _begin(ir: IR, mark: Statement, residuals: list[Variable]) -> None:
    given, cotangent = Variable("residuals"), mark.result or Variable("cotangent")
    first = Block([given, cotangent])
    if residuals:
        parts = Variable("parts")
        first.statements.append(Statement("unpack", [given], parts, (len(residuals), None)))
        first.statements += [Statement("project", [parts], r, i) for i, r in enumerate(residuals)]
    first.terminator = Terminator("jump", [], [Edge(ir.blocks[0])])
    ir.blocks.insert(0, first)
