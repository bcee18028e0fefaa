"""Derivatives as functions, in the form that typed programs follow."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from autodiff_hook.ir.types import Constant, Operand, Variable
from autodiff_hook.transform.specialise.abstract import Cell, Closure
from autodiff_hook.transform.specialise.infer import Inference


def operator_of(work: Any) -> Any:
    """What makes a function of another one, as Python code."""

    def operator(f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
        def derivative_of_f(*args: Any, **kwargs: Any) -> Any:
            return work(f, argnums, has_aux, args, kwargs)

        return derivative_of_f

    # Operators of operators are not recursive: each has code of its own.
    inner = _code_within(operator.__code__, "derivative_of_f")
    own = inner.replace(co_name=work.__name__)
    constants = tuple([own if x is inner else x for x in operator.__code__.co_consts])
    operator.__code__ = operator.__code__.replace(co_consts=constants)
    return operator


def _code_within(code: CodeType, name: str) -> CodeType:
    """The code of a function within another one, which may have more: from 3.14 on annotations have code, too."""
    return next(x for x in code.co_consts if isinstance(x, CodeType) and x.co_name == name)


def derivative(inference: Inference, work: Any, argnums: Any, f: Operand) -> Closure:
    """A derivative of a function of a program."""
    operator = operator_of(work)
    code = _code_within(operator.__code__, work.__name__)
    captured = {"work": Constant(work), "argnums": Constant(argnums), "has_aux": Constant(False), "f": f}
    cells = [cell_of(inference, captured[name]) for name in code.co_freevars]
    return Closure(code, operator.__globals__, tuple(cells))


def cell_of(inference: Inference, content: Operand) -> Variable:
    """A captured variable that has a value."""
    made = Variable()
    inference.types[made] = Cell()
    inference.cells[made] = content
    return made
