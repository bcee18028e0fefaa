"""The pullbacks of rules as statements, ready to stand where the adjoint comes by."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.cotangents import NotImplementedCotangent, not_implemented
from autodiff_hook.ir.analysis import bindings, closure, definitions, statements_of
from autodiff_hook.ir.substituting import key_of, substitute
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable, is_nothing
from autodiff_hook.records import record
from autodiff_hook.registry import registry
from autodiff_hook.short_forms import EXPRESSIONS
from autodiff_hook.strong import PLAIN
from autodiff_hook.transform.improve.liveness import removable
from autodiff_hook.transform.improve.shortcuts import COMPUTING, declared
from autodiff_hook.transform.specialise.bodies import Body, Refused
from autodiff_hook.transform.specialise.folding import fold
from autodiff_hook.transform.specialise.templates import (
    Cells,
    Instance,
    Template,
    again,
    body_of,
    compute_once,
    instance_of,
    template_of,
)

_placeable: Final[dict[int, tuple[CodeType, bool]]] = {}


def is_placeable(instance: Instance) -> bool:
    """Whether the pullback of a rule can be put into a program; found out once in a process."""
    code = instance.pullback
    known = _placeable.get(id(code))
    if known is None or known[0] is not code:
        known = _placeable[id(code)] = code, pullback_body(instance) is not None
    return known[1]


_SPLICED = ("make_cell", "make_function", "cell_set", "yield", "get_iter")


def pullback_body(instance: Instance, strong: bool = False) -> Body | None:
    """A copy of the pullback of one use of a rule; None if it cannot be put into a program.

    Its products are plain, unless they are to be ``strong``.
    """
    body = body_of(instance.pullback, instance.globals)
    if body is not None and not strong:
        _multiply_plainly(body)
    if body is None or any(s.op in _SPLICED for s in statements_of(body.blocks)):
        return None
    if any(b.terminator.kind not in ("jump", "branch", "return") for b in body.blocks):
        return None
    return body if all(map(_returns_display, body.blocks)) else None


def multiplies_strongly(rule: Any) -> bool:
    """Whether the pullback of a rule has products in which zero stays zero."""
    instance = instance_of(rule) if type(rule) is FunctionType else None
    if instance is None:
        return True
    return _calls_functions(instance.pullback, instance.globals)


def _calls_functions(code: CodeType, globals_: Mapping[str, Any]) -> bool:
    """Whether code names Python functions, which may multiply."""
    named = [x for name in code.co_names if type(x := globals_.get(name)) is FunctionType]
    return any(x not in EXPRESSIONS or _calls_functions(x.__code__, x.__globals__) for x in named)


def _multiply_plainly(body: Body) -> None:
    """Let products be those of Python: who runs the program looks whether anything has become nan."""
    for block in body.blocks:
        for s in block.statements:
            if type(s.callee) is FunctionType and s.callee in PLAIN:
                s.op, s.operands, s.data = "binary", s.operands[1:], PLAIN[s.callee]


def _returns_display(block: Block) -> bool:
    """Whether a block that returns, returns a tuple display."""
    terminator = block.terminator
    if terminator.kind != "return":
        return True
    (value,) = terminator.operands
    if isinstance(value, Constant):
        return isinstance(value.value, tuple)
    return any(s.result is value and s.op == "build_tuple" for s in block.statements)


@record
class _Bound:
    """A pullback whose cotangent, and what was captured, is bound to operands of one kind."""

    template: Template
    given: list[Operand]
    """What stands for the cotangent and what was captured; constants are what they are."""
    body: Body
    sure: list[bool]


_bound: Final[dict[Any, _Bound]] = {}
_MOST: Final = 2000


def pullback_for(
    instance: Instance, strong: bool, given: tuple[Operand, ...], wanted: tuple[bool, ...]
) -> tuple[Body, list[bool]]:
    """The pullback of a use of a rule for a cotangent and what was captured, and which cotangents are surely there.

    What makes it is done once in a process for operands that are constants, or the same variable, at the same places.
    """
    code, globals_ = instance.pullback, instance.globals
    numbers: dict[Operand, int] = {}
    pattern = [numbers.setdefault(x, len(numbers)) if isinstance(x, Variable) else key_of(x) for x in given]
    key = (id(code), id(globals_), strong, wanted, *pattern)
    found = _bound.get(key)
    template = template_of(code, globals_)
    if found is None or found.template is not template:
        if len(_bound) >= _MOST:
            _bound.clear()
        found = _bound[key] = _made(template, instance, strong, given, wanted)
    return again(found.body, dict(zip(found.given, given))), found.sure


def passes_on(instance: Instance, strong: bool) -> list[bool]:
    """Which arguments of a use of a rule may have cotangents: to the others its pullback gives None on all ways."""
    given = (Variable(), *instance.captured)
    body, sure = pullback_for(instance, strong, given, (True,) * len(instance.params))
    results = [_results(b)[1] for b in body.blocks if b.terminator.kind == "return"]
    return [not all(is_nothing(r[i]) for r in results) for i in range(len(sure))]


def _made(
    template: Template, instance: Instance, strong: bool, given: tuple[Operand, ...], wanted: tuple[bool, ...]
) -> _Bound:
    own: dict[Operand, Operand] = {x: Variable() if isinstance(x, Variable) else x for x in given}
    cotangent, *captured = placed = [own[x] for x in given]
    body = pullback_body(instance, strong)
    assert body is not None
    bind_pullback(body, captured, cotangent)
    returns = [b for b in body.blocks if b.terminator.kind == "return"]
    results = [_results(b)[1] for b in returns]
    sure = [all(_is_sure(x, body) for x in column) for column in zip(*results)]
    if len(body.blocks) == 1:
        _keep(body.blocks[0], wanted)
    return _Bound(template, placed, body, sure)


def _keep(block: Block, wanted: tuple[bool, ...]) -> None:
    """Drop what is not wanted of straight code."""
    display, results = _results(block)
    if display is None:
        return
    display.operands = [x if want else Constant(None) for x, want in zip(results, wanted)] + results[len(wanted) :]
    used: set[Operand] = set()
    kept = []
    for s in reversed(block.statements):
        if s is display or s.result in used or not removable(s, set()):
            used.update(s.operands)
            kept.append(s)
    block.statements = kept[::-1]


def bind_pullback(body: Body, captured: list[Operand], cotangent: Operand) -> None:
    """Put the cotangent, and what was captured, in place of the parameters of a pullback."""
    cells = Cells()
    for free, value in zip(body.frees, captured, strict=True):
        cells.contents[free] = value
    mapping: dict[Operand, Operand] = {body.params[0]: cotangent}
    substitute(body.blocks, mapping)
    for block in body.blocks:
        statements = cells.promote(block)
        if statements is None:
            raise Refused("a pullback with cells of its own")
        block.statements = statements
    substitute(body.blocks, cells.aliases)
    compute_once(body)
    body.blocks[0].params = []
    body.params, body.frees = [], []
    fold(body)


def results_of(block: Block) -> list[Operand]:
    """The cotangents that a block returns."""
    display, results = _results(block)
    if display is not None:
        block.statements.remove(display)
    return results


def _results(block: Block) -> tuple[Statement | None, list[Operand]]:
    """The statement that makes a tuple of what a block returns, unless that is a constant; and these cotangents."""
    (value,) = block.terminator.operands
    if isinstance(value, Constant) and isinstance(value.value, tuple):
        return None, list(map(Constant, value.value))
    made = next((s for s in block.statements if s.result is value), None)
    if made is None or made.op != "build_tuple":
        raise Refused("a pullback that does not return a tuple display")
    return made, list(made.operands)


def _is_sure(operand: Operand, body: Body) -> bool:
    """Whether a cotangent is a number or an array: neither None nor ``not_implemented``."""
    made = definitions(statements_of(body.blocks))
    bound: dict[Operand, list[Operand]] = {}
    for block in body.blocks:
        for param, arg in bindings(block):
            bound.setdefault(param, []).append(arg)
    origins = closure([operand], lambda x: bound.get(x, ()))
    return all(x in bound or _is_there(x, made) for x in origins)


def _is_there(operand: Operand, made: dict[Operand, Statement]) -> bool:
    if isinstance(operand, Constant):
        return isinstance(operand.value, (int, float))
    s = made.get(operand)
    if s is None or s.op in ("binary", "unary"):
        return True
    return s.callee is not None and not may_be_missing(s.callee)


def may_be_missing(function: Any) -> bool:
    """Whether a function in a pullback may return ``not_implemented``: of rules that others wrote nothing is known."""
    if type(function) is not FunctionType:
        return getattr(function, "__module__", None) not in ("math", "builtins", "cmath", "numpy", None)
    if declared(COMPUTING, function):
        return False
    module = function.__module__ or ""
    if not (registry.packs.declares(module) or module.startswith(("autodiff_hook.strong", "numpy"))):
        return True
    values = [function.__globals__.get(name) for name in function.__code__.co_names]
    return any(v is not_implemented or isinstance(v, NotImplementedCotangent) for v in values)
