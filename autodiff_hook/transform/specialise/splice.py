"""Rules put into a program: the primal where the call stood, the pullback where the adjoint comes by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import Block, Constant, Operand, Position, Statement, Terminator, Variable
from autodiff_hook.registry import NotImplementedCotangent, not_implemented, registry
from autodiff_hook.short_forms import EXPRESSIONS
from autodiff_hook.strong import PLAIN
from autodiff_hook.transform.improve.shortcuts import COMPUTING, declared
from autodiff_hook.transform.specialise.bodies import Body, Refused, substitute
from autodiff_hook.transform.specialise.folding import fold
from autodiff_hook.transform.specialise.infer import RulePlan
from autodiff_hook.transform.specialise.templates import Cells, Instance, body_of, compute_once, instance_of

Residual = Callable[[Variable, Block], Operand]


@dataclass(slots=True)
class Use:
    """One use of a rule: its arguments in the order of the pullback's cotangents, and how it is lowered.

    ``called`` is the pullback that the rule made when it was called; else ``instance`` is put in its place.
    ``check`` is a function of the runtime that looks at what ``called`` returns.
    """

    arguments: list[Operand]
    statements: list[Statement] = field(default_factory=list)
    instance: Instance | None = None
    called: Variable | None = None
    check: Any = None
    reverse: Any = None
    """What takes residuals, which ``called`` is then, and the cotangent."""
    sure: list[bool] = field(default_factory=list)
    """Which cotangents ``reverse`` gives are certainly there."""
    strong: bool = False
    """Whether products of ``instance`` keep zeros."""


def use_of(plan: RulePlan, s: Statement, runtime: Mapping[str, Any]) -> Use:
    """Lower a call with a rule: inlined if the rule can be, else a call of the rule."""
    rule: Any = plan.rule
    code = rule.__code__
    positional, keyword_only = code.co_argcount, code.co_kwonlyargcount
    extra = plan.values[positional + keyword_only :]
    arguments = [x for x in plan.values[:positional] if not isinstance(x, (list, dict))]
    arguments += extra[0] if extra and isinstance(extra[0], list) else []
    # What a rule of others loads may change; it is called as it is.
    instance = instance_of(rule) if id(rule) in registry.tested else None
    if instance is None or not _is_placeable(instance):
        return called(plan, s, arguments, runtime)
    use = Use(arguments, instance=instance, strong=runtime["strong"])
    mapping: dict[Operand, Operand] = {}
    for param, value in zip(instance.params, plan.values, strict=True):
        if isinstance(value, list):
            use.statements.append(Statement("build_tuple", list(value), param))
        elif isinstance(value, dict):
            use.statements.append(
                Statement("build_map", [y for k, v in value.items() for y in (Constant(k), v)], param)
            )
        else:
            mapping[param] = value
    _substitute(instance, mapping)
    use.statements += instance.statements
    _expand(use.statements, instance.captured)
    _name_result(use, s)
    return use


def _expand(statements: list[Statement], captured: list[Operand]) -> None:
    """Write ``f(*args, **options)`` of a tuple and dicts that were made for the call as a call with names.

    What the pullback has ``captured`` stays.
    """
    made = {s.result: s for s in statements if s.result is not None}
    for s in [s for s in statements if s.op == "call_ex"]:
        function, args, options = s.operands
        given, named = made.get(args), made.get(options)  # type: ignore[arg-type]
        if given is None or named is None or given.op != "build_tuple" or named.op != "build_map":
            continue
        merges = [x for x in statements if x.op == "dict_merge" and x.operands[0] is options]
        maps = [named, *(made.get(x.operands[1]) for x in merges)]  # type: ignore[arg-type]
        if not all(m is not None and m.op == "build_map" for m in maps):
            continue
        pairs = [pair for m in maps for pair in zip(m.operands[::2], m.operands[1::2])]  # type: ignore[union-attr]
        if all(isinstance(key, Constant) and type(key.value) is str for key, _ in pairs):
            s.op, s.data = "call", tuple(key.value for key, _ in pairs)
            s.operands = [function, *given.operands, *(value for _, value in pairs)]
            used = {*captured, *(x for other in statements if other not in merges for x in other.operands)}
            gone = [*merges, *(m for m in (given, *maps) if m is not None and m.result not in used)]
            statements[:] = [x for x in statements if x not in gone]


def _substitute(instance: Instance, mapping: dict[Operand, Operand]) -> None:
    for statement in instance.statements:
        statement.operands = [mapping.get(x, x) for x in statement.operands]
    instance.value = mapping.get(instance.value, instance.value)
    instance.captured = [mapping.get(x, x) for x in instance.captured]


def _name_result(use: Use, s: Statement) -> None:
    """Let the value of the rule be the result of the call."""
    instance, result = use.instance, s.result
    assert instance is not None and result is not None
    value = instance.value
    made = next((x for x in use.statements if x.result is value), None)
    if made is None:
        raise Refused("a rule whose value is one of its arguments")
    made.result = result
    for statement in use.statements:
        statement.operands = [result if x is value else x for x in statement.operands]
    instance.captured = [result if x is value else x for x in instance.captured]


def called(plan: RulePlan, s: Statement, arguments: list[Operand], runtime: Mapping[str, Any]) -> Use:
    """Call the rule, and keep the pullback that it returns."""
    rule: Any = plan.rule
    code = rule.__code__
    positional, keyword_only = code.co_argcount, code.co_kwonlyargcount
    operands: list[Operand] = [x for x in plan.values[:positional] if not isinstance(x, (list, dict))]
    extra = plan.values[positional + keyword_only :]
    operands += extra[0] if extra and isinstance(extra[0], list) else []
    names = list(code.co_varnames[positional : positional + keyword_only])
    options = [x for x in plan.values[positional : positional + keyword_only] if not isinstance(x, (list, dict))]
    for named in extra:
        if isinstance(named, dict):
            names += named
            options += named.values()
    pair, pullback = Variable("pair"), Variable("pullback")
    assert s.result is not None
    statements = [
        Statement("call", [Constant(rule), *operands, *options], pair, tuple(names)),
        Statement("getitem", [pair, Constant(0)], s.result),
        Statement("getitem", [pair, Constant(1)], pullback),
    ]
    if id(rule) in registry.tested:
        return Use(arguments, statements, called=pullback)
    if plan.of_numbers:
        return Use(arguments, statements, called=pullback, check=runtime["numbers"])
    checking = Variable("checking")
    given = [Constant(runtime["checking"]), Constant(rule), pullback, *operands, *options]
    statements.append(Statement("call", given, checking, tuple(names)))
    return Use(arguments, statements, called=checking)


_placeable: Final[dict[int, tuple[CodeType, bool]]] = {}


def _is_placeable(instance: Instance) -> bool:
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
    if body is None or any(s.op in _SPLICED for b in body.blocks for s in b.statements):
        return None
    if any(b.terminator is not None and b.terminator.kind not in ("jump", "branch", "return") for b in body.blocks):
        return None
    return body if all(map(_returns_display, body.blocks)) else None


def multiplies_strongly(rule: Any) -> bool:
    """Whether the pullback of a rule has products in which zero stays zero."""
    instance = instance_of(rule) if isinstance(rule, FunctionType) else None
    if instance is None:
        return True
    return _calls_functions(instance.pullback, instance.globals)


def _calls_functions(code: CodeType, globals_: Mapping[str, Any]) -> bool:
    """Whether code names Python functions, which may multiply."""
    named = [x for name in code.co_names if isinstance(x := globals_.get(name), FunctionType)]
    return any(x not in EXPRESSIONS or _calls_functions(x.__code__, x.__globals__) for x in named)


def _multiply_plainly(body: Body) -> None:
    """Let products be those of Python: who runs the program looks whether anything has become nan."""
    for block in body.blocks:
        for s in block.statements:
            function = s.operands[0].value if s.op == "call" and isinstance(s.operands[0], Constant) else None
            if isinstance(function, FunctionType) and function in PLAIN:
                s.op, s.operands, s.data = "binary", s.operands[1:], PLAIN[function]


def _returns_display(block: Block) -> bool:
    """Whether a block that returns, returns a tuple display."""
    terminator = block.terminator
    if terminator is None or terminator.kind != "return":
        return True
    (value,) = terminator.operands
    if isinstance(value, Constant):
        return isinstance(value.value, tuple)
    return any(s.result is value and s.op == "build_tuple" for s in block.statements)


def splice(
    builder: Builder, use: Use, cotangent: Operand, residual: Residual, out: Block, position: Position | None
) -> tuple[list[Operand], Block, list[bool]]:
    """Run the pullback of ``use`` at the end of ``out``: its cotangents, where to go on, which are surely there."""
    count = len(use.arguments)
    if use.called is not None:
        pullback = residual(use.called, out)
        function = [pullback] if use.reverse is None else [Constant(use.reverse), pullback]
        pulled = builder.emit(out, "call", *function, cotangent, data=(), position=position)
        if use.check is not None:
            pulled = builder.emit(out, "call", Constant(use.check), Constant(count), pulled, data=(), position=position)
        parts: list[Operand] = [
            builder.emit(out, "getitem", pulled, Constant(i))
            if isinstance(use.arguments[i], Variable)
            else Constant(None)
            for i in range(count)
        ]
        return parts, out, use.sure or [False] * count
    assert use.instance is not None
    body = pullback_body(use.instance, use.strong)
    assert body is not None
    bind_pullback(body, use.instance, cotangent, lambda x: residual(x, out))
    parts, out, sure = _place(builder, body, out, position)
    if len(parts) != count:
        raise Refused(f"a pullback of {len(parts)} cotangents for {count} arguments")
    return parts, out, sure


def bind_pullback(body: Body, instance: Instance, cotangent: Operand, residual: Callable[[Variable], Operand]) -> None:
    """Put the cotangent, and what was captured, in place of the parameters of a pullback."""
    captured = [residual(x) if isinstance(x, Variable) else x for x in instance.captured]
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
    fold(body)


def _place(
    builder: Builder, body: Body, out: Block, position: Position | None
) -> tuple[list[Operand], Block, list[bool]]:
    """Copy blocks into the builder; several returns meet in a block with a parameter for each cotangent."""
    returns = [b for b in body.blocks if b.terminator is not None and b.terminator.kind == "return"]
    results = [results_of(b) for b in returns]
    sure = [all(_is_sure(x, body) for x in column) for column in zip(*results)]
    for block in body.blocks:
        for statement in block.statements:
            statement.position = position
    if len(body.blocks) == 1:
        out.statements += body.blocks[0].statements
        return results[0], out, sure
    placed = {block: builder.block() if i else out for i, block in enumerate(body.blocks)}
    after = builder.block()
    after.params = [Variable() for _ in results[0]]
    for block in body.blocks:
        target, terminator = placed[block], block.terminator
        assert terminator is not None
        if block is not body.blocks[0]:
            target.params = block.params
        target.statements += block.statements
        if terminator.kind == "return":
            edge = builder.edge(target, after)
            edge.args = results[returns.index(block)]
            target.terminator = Terminator("jump", [], [edge], position)
            continue
        edges = []
        for old in terminator.edges:
            edge = builder.edge(target, placed[old.target])
            edge.args = list(old.args)
            edges.append(edge)
        target.terminator = Terminator(terminator.kind, list(terminator.operands), edges, position)
    for block in (*placed.values(), after):
        if block is not out:
            builder.seal(block)
    builder.bypass(after, out)
    return _common(after, results), after, sure


def _is_sure(operand: Operand, body: Body) -> bool:
    """Whether a cotangent is a number or an array: neither None nor ``not_implemented``."""
    made = {s.result: s for b in body.blocks for s in b.statements}
    bound: dict[Operand, list[Operand]] = {}
    for block in body.blocks:
        for edge in block.edges():
            for param, arg in zip(edge.target.params, edge.args):
                bound.setdefault(param, []).append(arg)
    seen: set[Operand] = set()
    pending = [operand]
    while pending:
        operand = pending.pop()
        if operand in seen:
            continue
        seen.add(operand)
        if operand in bound:
            pending += bound[operand]
        elif not _is_there(operand, made):
            return False
    return True


def _is_there(operand: Operand, made: dict[Variable | None, Statement]) -> bool:
    if isinstance(operand, Constant):
        return isinstance(operand.value, (int, float))
    s = made.get(operand)
    if s is None or s.op in ("binary", "unary"):
        return True
    function = s.operands[0].value if s.op == "call" and isinstance(s.operands[0], Constant) else None
    return function is not None and not may_be_missing(function)


def may_be_missing(function: Any) -> bool:
    """Whether a function in a pullback may return ``not_implemented``: of rules that others wrote nothing is known."""
    if not isinstance(function, FunctionType):
        return getattr(function, "__module__", None) not in ("math", "builtins", "cmath", "numpy", None)
    if declared(COMPUTING, function):
        return False
    module = function.__module__ or ""
    if not (registry.is_pack(module) or module.startswith(("autodiff_hook.strong", "numpy"))):
        return True
    values = [function.__globals__.get(name) for name in function.__code__.co_names]
    return any(v is not_implemented or isinstance(v, NotImplementedCotangent) for v in values)


def _common(after: Block, results: list[list[Operand]]) -> list[Operand]:
    """None where every return gives None; else the parameters."""
    return [
        Constant(None) if all(isinstance(r[i], Constant) and r[i].value is None for r in results) else param  # type: ignore[union-attr]
        for i, param in enumerate(after.params)
    ]


def results_of(block: Block) -> list[Operand]:
    """The cotangents that a block returns."""
    assert block.terminator is not None
    (value,) = block.terminator.operands
    if isinstance(value, Constant) and isinstance(value.value, tuple):
        return list(map(Constant, value.value))
    made = next((s for s in block.statements if s.result is value), None)
    if made is None or made.op != "build_tuple":
        raise Refused("a pullback that does not return a tuple display")
    block.statements.remove(made)
    return list(made.operands)
