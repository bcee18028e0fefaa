"""What of a code object can carry a derivative, and what in it is not differentiated."""

from __future__ import annotations

import builtins
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from autodiff_hook.errors import Unsupported, located, place_of
from autodiff_hook.ir.types import IR, Statement
from autodiff_hook.lift import lift
from autodiff_hook.runtime.giving_up import note_part, places
from autodiff_hook.transform.generic.primal import Primal
from autodiff_hook.transform.generic.regions import give_functions

_CONSTANT_GLOBALS: Final = (FunctionType, type, ModuleType, type(len))
_ASYNCHRONOUS: Final = ("aiter", "anext", "enter_async")

_MISSING: Final = object()


def analyse(code: CodeType, globals_: dict[str, Any]) -> Primal:
    """Lift a code object and find out what of it can carry a derivative."""
    ir: IR = lift(code, lifetimes=True)
    if ir.kind not in ("function", "generator", "coroutine"):
        place = place_of(ir.filename, ir.first_line, ir.qualname)
        construct = f"an {ir.kind.replace('_', ' ')} is not differentiated"
        raise Unsupported(located(construct, place), construct, ir.first_line)
    for block in ir.blocks:
        for statement in block.statements:
            if statement.op in _ASYNCHRONOUS:
                _refuse_statement(ir, statement, "async for and async with are not differentiated")
    where = places(code)
    if where:
        for part in give_functions(ir, where):
            note_part(part, code)
    return Primal(
        ir,
        lambda name: _is_constant(name, globals_),
        lambda name: _global(name, globals_) if _is_constant(name, globals_) else None,
    )


def _refuse_statement(ir: IR, statement: Statement, why: str) -> None:
    line = statement.position.line if statement.position else ir.first_line
    raise Unsupported(located(why, place_of(ir.filename, line, ir.qualname)), why, line)


class GlobalFacts:
    """Which globals of a code object are functions, classes and modules, and which are builtins for want of others."""

    __slots__ = ("_absent", "_names", "_types")

    def __init__(self, code: CodeType, globals_: dict[str, Any]) -> None:
        self._names = [name for name in code.co_names if name in globals_ and _is_constant(name, globals_)]
        self._types = {type(globals_[name]) for name in self._names}
        self._absent = [name for name in code.co_names if name not in globals_ and hasattr(builtins, name)]

    def hold(self, globals_: dict[str, Any]) -> bool:
        """Whether these globals have nothing else by those names."""
        if self._names and not self._types.issuperset(map(type, map(globals_.get, self._names))):
            return False
        return not self._absent or globals_.keys().isdisjoint(self._absent)


def _is_constant(name: str, globals_: dict[str, Any]) -> bool:
    return issubclass(type(_global(name, globals_)), _CONSTANT_GLOBALS)


def _global(name: str, globals_: dict[str, Any]) -> Any:
    value = globals_.get(name, _MISSING)
    return getattr(builtins, name, _MISSING) if value is _MISSING else value
