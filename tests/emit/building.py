"""Short ways to write an IR by hand and to run it."""

from __future__ import annotations

from types import CellType, CodeType, FunctionType
from typing import Any

from code_checks import check_code

from autodiff_hook.emit import emit
from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Signature, Statement, Terminator, Variable
from autodiff_hook.ir.verifier import verify


def operand(value: Any) -> Operand:
    return value if isinstance(value, (Variable, Constant)) else Constant(value)


def do(op: str, *operands: Any, to: Variable | None = None, data: Any = None) -> Statement:
    return Statement(op, [operand(x) for x in operands], to, data)


def to(target: Block, *args: Any) -> Edge:
    return Edge(target, [operand(x) for x in args])


def jump(target: Block, *args: Any) -> Terminator:
    return Terminator("jump", [], [to(target, *args)])


def branch(condition: Any, yes: Edge, no: Edge) -> Terminator:
    return Terminator("branch", [operand(condition)], [yes, no])


def returning(value: Any) -> Terminator:
    return Terminator("return", [operand(value)])


def function_of(*blocks: Block, free: tuple[str, ...] = (), **attributes: Any) -> IR:
    count = len(blocks[0].params) - len(free)
    names = tuple(p.name or f"p{i}" for i, p in enumerate(blocks[0].params[:count]))
    return IR("f", Signature(names, count), free_names=free, blocks=list(blocks), **attributes)


def code_of(ir: IR, release: bool = False) -> CodeType:
    verify(ir)
    code = emit(ir, release)
    check_code(code)
    return code


def run(ir: IR, *args: Any, cells: tuple[CellType, ...] = (), release: bool = False) -> Any:
    return FunctionType(code_of(ir, release), {}, "f", None, cells)(*args)
