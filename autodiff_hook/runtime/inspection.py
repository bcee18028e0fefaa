"""What the compiler makes of a function, as text."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.analysis import free_variables, reverse_postorder
from autodiff_hook.ir.printer import to_text
from autodiff_hook.ir.types import IR, Signature
from autodiff_hook.lift import lift
from autodiff_hook.runtime.binding import Call
from autodiff_hook.runtime.preparing import prepare
from autodiff_hook.runtime.programs import Made, joint_ir
from autodiff_hook.runtime.specialising import OPERATIONS
from autodiff_hook.semantics.analysing import analyse
from autodiff_hook.semantics.table import TABLE
from autodiff_hook.transform.generic.carrying import carrying_pass
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.folding import merge


def _function(f: Any) -> FunctionType:
    if type(f) is MethodType:
        f = f.__func__
    if type(f) is not FunctionType:
        raise Unsupported(f"{f!r} is not a Python function: there is no bytecode to show")
    return f


def ir_text(f: Any) -> str:
    """The SSA form of a function."""
    return to_text(lift(_function(f).__code__), lines=True)


def adjoint_text(f: Any, args: tuple[Any, ...]) -> str:
    """The joint program of a function for arguments like these, or that of their way; else the carried program."""
    function = _function(f)
    prepare()
    texts = list[str]()
    for refused, operations in (("not for all ways", 0), ("carried", OPERATIONS)) if args else ():
        try:
            programs = _without_guards(joint_ir(Call.plain(function, args), one_way=operations), function.__name__)
            break
        except Refused as reason:
            texts.append(f"# {refused}: {reason}\n")
    else:
        programs = [carrying_pass(analyse(function.__code__, function.__globals__), TABLE)]
    return "\n".join([*texts, *[to_text(ir, lines=True) for ir in programs]])


def _without_guards(made: Made, name: str) -> list[IR]:
    """The joint program behind its guards; what those load is among its parameters. Then the halves that it calls."""
    ir = IR(name, Signature(), blocks=[made.body])
    ir.blocks = reverse_postorder(ir)
    merge(ir.blocks)
    ir.entry.params += free_variables(ir.blocks)
    return [ir, *(made.callees.halves() if made.callees is not None else ())]
