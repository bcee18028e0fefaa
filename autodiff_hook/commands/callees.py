"""What Python code calls, found without running it: it is lifted, and its calls are looked up."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any, Final

from autodiff_hook.ir.types import IR, Operand, Statement
from autodiff_hook.lift import lift
from autodiff_hook.semantics.analysing import analyse


def lifted(code: CodeType, globals_: dict[str, Any]) -> Iterator[IR]:
    """The function, and those that are written in it. Raises ``Unsupported`` for what cannot be lifted."""
    analyse(code, globals_)
    yield lift(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_flags & inspect.CO_OPTIMIZED:
            yield from lifted(inner, globals_)


_UNKNOWN: Final = object()


def called_by(ir: IR, globals_: dict[str, Any]) -> Iterator[Any]:
    """What a function calls, as far as globals, modules and classes say."""
    values: dict[Operand | None, Any] = {}
    for statement in (s for block in ir.blocks for s in block.statements):
        found = _value(statement, values, globals_)
        if found is not _UNKNOWN:
            values[statement.result] = found
    for statement in (s for block in ir.blocks for s in block.statements):
        if statement.op in ("call", "call_ex", "call_loaded"):
            called = values.get(statement.operands[0], _UNKNOWN)
        elif statement.op == "call_method":
            called = _attribute(values.get(statement.operands[0], _UNKNOWN), statement.data[0])
        else:
            continue
        if callable(called) and called is not _UNKNOWN:
            yield called


def _value(statement: Statement, values: dict[Operand | None, Any], globals_: dict[str, Any]) -> Any:
    """What a statement loads, if that is sure not to be the program's data."""
    if statement.op == "global":
        name = str(statement.data)
        found = globals_.get(name, getattr(builtins, name, _UNKNOWN))
        return found if isinstance(found, ModuleType) or callable(found) else _UNKNOWN
    if statement.op in ("getattr", "load_method"):
        return _attribute(values.get(statement.operands[0], _UNKNOWN), str(statement.data))
    return _UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    """An attribute of a module or a class, without running code of theirs."""
    if isinstance(owner, ModuleType):
        return owner.__dict__.get(name, _UNKNOWN)
    if isinstance(owner, type):
        found = inspect.getattr_static(owner, name, _UNKNOWN)
        return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
    return _UNKNOWN
