"""Constant folding in straight code and branches: what the operands say already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autodiff_hook.ir.substituting import resolve, substitute
from autodiff_hook.ir.types import IR, Block, Constant, Operand, Statement, Terminator, Variable
from autodiff_hook.semantics.operations import BINARY, COMPARE
from autodiff_hook.transform.specialise.bodies import Body

_ARITHMETIC: Final = {op: BINARY[op] for op in "+-*/"} | COMPARE
_NUMBERS: Final = (int, float, bool)


def straighten(ir: IR, first: Block) -> None:
    """Branches on what is known become jumps; blocks that only one jump connects become one, from ``first`` on."""
    body = Body(ir.blocks, [], [])
    fold(body, _test, first)
    ir.blocks = body.blocks


def _test(s: Statement) -> Operand | None:
    return _value(s) if s.op in ("is", "is_not", "truth", "not", "compare") else None


def fold(body: Body, value: Callable[[Statement], Operand | None] | None = None, first: Block | None = None) -> None:
    """Fold constants in ``body``; branches on constants become jumps, what cannot be reached is dropped.

    ``first`` remains a block of its own.
    """
    known: dict[Operand, Operand] = {}
    seen = {body.blocks[0]}
    pending = [body.blocks[0]]
    while pending:
        block = pending.pop()
        block.statements = [s for s in block.statements if not fold_statement(s, known, value)]
        terminator = block.terminator
        terminator.operands = [resolve(x, known) for x in terminator.operands]
        if terminator.kind == "branch" and isinstance(terminator.operands[0], Constant):
            edge = terminator.edges[0 if terminator.operands[0].value else 1]
            terminator = block.terminator = Terminator("jump", [], [edge], terminator.position)
        for edge in terminator.edges:
            edge.args = [resolve(x, known) for x in edge.args]
            if edge.target not in seen:
                seen.add(edge.target)
                pending.append(edge.target)
    body.blocks = [b for b in body.blocks if b in seen]
    merge(body.blocks, first=first)


def merge(
    blocks: list[Block],
    put: Callable[[list[Block], dict[Operand, Operand]], None] = substitute,
    first: Block | None = None,
) -> None:
    """Put blocks together that only one jump connects; ``put`` replaces the parameters that disappear.

    ``first`` is not put behind another.
    """
    ways: dict[Block, int] = dict.fromkeys((blocks[0], first or blocks[0]), 2)
    for block in blocks:
        for edge in block.edges():
            ways[edge.target] = ways.get(edge.target, 0) + 1
    mapping: dict[Operand, Operand] = {}
    merged: set[Block] = set()
    for block in blocks:
        if block in merged:
            continue
        target = _only_target(block)
        while target is not None and target is not block and ways[target] == 1 and _covered_alike(block, target):
            mapping.update(zip(target.params, block.terminator.edges[0].args))
            block.statements += target.statements
            block.terminator = target.terminator
            merged.add(target)
            target = _only_target(block)
    blocks[:] = [b for b in blocks if b not in merged]
    put(blocks, mapping)


def _covered_alike(block: Block, target: Block) -> bool:
    a, b = block.handler, target.handler
    return a is b or a is not None and b is not None and a.target is b.target and a.args == b.args


def _only_target(block: Block) -> Block | None:
    terminator = block.terminator
    return terminator.edges[0].target if terminator.kind == "jump" else None


def fold_statement(
    s: Statement, known: dict[Operand, Operand], value_of: Callable[[Statement], Operand | None] | None
) -> bool:
    """Whether the result of ``s`` is known now, so that it is not needed."""
    s.operands = [resolve(x, known) for x in s.operands]
    if s.result is None:
        return False
    value = (value_of or _value)(s)
    if value is None:
        return False
    known[s.result] = value
    return True


def _value(s: Statement) -> Operand | None:
    constants = [x.value for x in s.operands if isinstance(x, Constant)]
    if s.op in ("is", "is_not") and len(constants) == 2:
        return Constant((constants[0] is constants[1]) == (s.op == "is"))
    if len(constants) == len(s.operands) and all(type(c) in _NUMBERS for c in constants):
        return _computed(s, constants)
    if s.op == "binary" and len(constants) == 1:
        return _identity(s)
    return None


def computed(s: Statement) -> Constant | None:
    """The result of arithmetic, or of a function of ``math``, on constants."""
    function = s.callee
    if s.op not in ("binary", "unary") and getattr(function, "__module__", None) != "math":
        return None
    operands = s.arguments
    values = [x.value for x in operands if isinstance(x, Constant) and type(x.value) in (int, float)]
    if len(values) < len(operands) or not values:
        return None
    if s.op != "call":
        found = _computed(s, values)
        return found if isinstance(found, Constant) else None
    try:
        return Constant(function(*values))
    except (ValueError, ArithmeticError):
        return None


def _computed(s: Statement, values: list[Any]) -> Operand | None:
    if s.op in ("truth", "not"):
        return Constant(bool(values[0]) == (s.op == "truth"))
    if s.op == "unary" and s.data == "-":
        return Constant(-values[0])
    if s.op in ("binary", "compare") and s.data in _ARITHMETIC:
        try:
            return Constant(_ARITHMETIC[s.data](*values))
        except ArithmeticError:
            return None
    return None


def _identity(s: Statement) -> Operand | None:
    """``x ** 1``, which is ``x`` for a float: the pullbacks of powers have it."""
    a, b = s.operands
    if s.data == "**" and isinstance(a, Variable) and isinstance(b, Constant) and type(b.value) is int and b.value == 1:
        return a
    return None
