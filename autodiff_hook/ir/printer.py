"""The IR as text, in the grammar of ``types.py``."""

from __future__ import annotations

from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.ir.types import IR, Block, Constant, Edge, Operand, Position, Statement, Terminator, Variable

_WIDTH: Final = 40


def to_text(ir: IR, lines: bool = False) -> str:
    """``ir`` as text; variables and blocks are numbered in order of appearance."""
    return _Printer(ir, lines).text()


class _Printer:
    def __init__(self, ir: IR, lines: bool) -> None:
        self._ir = ir
        self._lines = lines
        self._variables: dict[Variable, int] = {}
        self._blocks: dict[Block, int] = {block: i for i, block in enumerate(ir.blocks)}

    def text(self) -> str:
        ir = self._ir
        params = ", ".join(self._variable(p) for p in ir.blocks[0].params) if ir.blocks else ""
        kind = "" if ir.kind == "function" else f" {ir.kind}"
        out = [f"function {ir.name}({params}){kind}"]
        for block in ir.blocks:
            out += self._block(block)
        return "\n".join(out) + "\n"

    def _variable(self, variable: Variable) -> str:
        return f"%{self._variables.setdefault(variable, len(self._variables) + 1)}"

    def _operand(self, operand: Operand) -> str:
        return self._variable(operand) if isinstance(operand, Variable) else constant_text(operand)

    def _label(self, block: Block) -> str:
        return f"b{self._blocks.setdefault(block, len(self._blocks))}"

    def _edge(self, edge: Edge) -> str:
        return f"{self._label(edge.target)}({', '.join(map(self._operand, edge.args))})"

    def _block(self, block: Block) -> list[str]:
        head = f"{self._label(block)}({', '.join(map(self._variable, block.params))})"
        if block.handler is not None:
            head += f" handler {self._edge(block.handler)}"
        out = [f"{head}:"]
        out += [self._with_line(self._statement(s), s.position) for s in block.statements]
        out.append(self._with_line(self._terminator(block.terminator), block.terminator.position))
        return out

    def _with_line(self, text: str, position: Position | None) -> str:
        line = f"  # line {position.line}" if self._lines and position is not None else ""
        return f"    {text}{line}"

    def _statement(self, statement: Statement) -> str:
        operands = " ".join(self._operand(x) for x in statement.operands)
        data = f"[{_data(statement.data)}]" if statement.data is not None else ""
        text = f"{statement.op}{data} {operands}".rstrip()
        return f"{self._variable(statement.result)} = {text}" if statement.result is not None else text

    def _terminator(self, terminator: Terminator) -> str:
        parts = [terminator.kind, *map(self._operand, terminator.operands), *map(self._edge, terminator.edges)]
        return " ".join(parts)


def constant_text(constant: Constant) -> str:
    """How a constant is printed: code by its qualified name, the rest by a short repr."""
    value = constant.value
    name = _qualified_name(value)
    return name if name is not None else _shorten(_repr(value))


def _qualified_name(value: Any) -> str | None:
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, CodeType):
        return f"<code {value.co_qualname}>"
    if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
        module = getattr(value, "__module__", None)
        return value.__qualname__ if module in (None, "builtins") else f"{module}.{value.__qualname__}"
    return None


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _shorten(text: str) -> str:
    text = " ".join(text.split("\n"))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _data(data: Any) -> str:
    if isinstance(data, str):
        return data
    if isinstance(data, tuple):
        return ", ".join(_data(x) for x in data)
    return constant_text(Constant(data))
