"""Rules put into a program: the primal where the call stood, the pullback where the adjoint comes by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from autodiff_hook.ir.analysis import definitions
from autodiff_hook.ir.builder import Builder
from autodiff_hook.ir.types import (
    Block,
    Constant,
    Operand,
    Position,
    Statement,
    Terminator,
    Variable,
    is_nothing,
    value_of,
)
from autodiff_hook.records import record
from autodiff_hook.registry import registry
from autodiff_hook.transform.specialise.bodies import Body, Refused
from autodiff_hook.transform.specialise.program import RulePlan
from autodiff_hook.transform.specialise.pullbacks import is_placeable, pullback_for, results_of
from autodiff_hook.transform.specialise.templates import Instance, instance_of

Residual = Callable[[Variable, Block], Operand]


@record
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
    more: list[Operand] = field(default_factory=list)
    """What else ``reverse`` is given: the table of the cotangents of what it shares."""
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
    if instance is None or not is_placeable(instance):
        return called(plan, s, arguments, runtime)
    use = Use(arguments, strong=runtime["strong"])
    mapping: dict[Operand, Operand] = {}
    for param, value in zip(instance.params, plan.values, strict=True):
        if isinstance(value, (list, dict)):
            made = mapping[param] = Variable(param.name)
            use.statements.append(_gathered(value, made))
        else:
            mapping[param] = value
    instance = use.instance = instance.again(mapping)
    use.statements += instance.statements
    _expand(use.statements, instance.captured)
    _name_result(use, s)
    return use


def _gathered(value: list[Operand] | dict[str, Operand], made: Variable) -> Statement:
    """What makes ``*args`` or ``**options`` of a call."""
    if isinstance(value, list):
        return Statement("build_tuple", list(value), made)
    return Statement("build_map", [y for k, v in value.items() for y in (Constant(k), v)], made)


def _expand(statements: list[Statement], captured: list[Operand]) -> None:
    """Write ``f(*args, **options)`` of a tuple and dicts that were made for the call as a call with names.

    What the pullback has ``captured`` stays.
    """
    made = definitions(statements)
    for s in [s for s in statements if s.op == "call_ex"]:
        function, args, options = s.operands
        given, named = made.get(args), made.get(options)
        if given is None or named is None or given.op != "build_tuple" or named.op != "build_map":
            continue
        merges = [x for x in statements if x.op == "dict_merge" and x.operands[0] is options]
        maps = [named, *(made[x.operands[1]] for x in merges if x.operands[1] in made)]
        if len(maps) <= len(merges) or not all(m.op == "build_map" for m in maps):
            continue
        pairs = [pair for m in maps for pair in zip(m.operands[::2], m.operands[1::2])]
        names = tuple(value_of(key) for key, _ in pairs)
        if all(type(name) is str for name in names):
            s.op, s.data = "call", names
            s.operands = [function, *given.operands, *(value for _, value in pairs)]
            used = {*captured, *(x for other in statements if other not in merges for x in other.operands)}
            gone = [*merges, *(m for m in (given, *maps) if m.result not in used)]
            statements[:] = [x for x in statements if x not in gone]


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
    statements = [
        Statement("call", [Constant(rule), *operands, *options], pair, tuple(names)),
        Statement("getitem", [pair, Constant(0)], s.made),
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


def splice(
    builder: Builder,
    use: Use,
    cotangent: Operand,
    wanted: Iterable[bool],
    residual: Residual,
    out: Block,
    position: Position | None,
) -> tuple[list[Operand], Block, list[bool]]:
    """Run the pullback of ``use`` at the end of ``out``: its cotangents, where to go on, which are surely there.

    What is not ``wanted`` may be None.
    """
    count = len(use.arguments)
    if use.called is not None:
        pullback = residual(use.called, out)
        function = [pullback] if use.reverse is None else [Constant(use.reverse), pullback]
        pulled = builder.emit(out, "call", *function, cotangent, *use.more, data=(), position=position)
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
    captured = [residual(x, out) if isinstance(x, Variable) else x for x in use.instance.captured]
    body, sure = pullback_for(use.instance, use.strong, (cotangent, *captured), tuple(wanted))
    if len(sure) != count:
        raise Refused(f"a pullback of {len(sure)} cotangents for {count} arguments")
    return (*_place(builder, body, out, position), sure)


def _place(builder: Builder, body: Body, out: Block, position: Position | None) -> tuple[list[Operand], Block]:
    """Copy blocks into the builder; several returns meet in a block with a parameter for each cotangent."""
    returns = [b for b in body.blocks if b.terminator.kind == "return"]
    results = [results_of(b) for b in returns]
    for block in body.blocks:
        for statement in block.statements:
            statement.position = position
    if len(body.blocks) == 1:
        out.statements += body.blocks[0].statements
        return results[0], out
    placed = {block: builder.block() if i else out for i, block in enumerate(body.blocks)}
    after = builder.block()
    after.params = [Variable() for _ in results[0]]
    for block in body.blocks:
        target, terminator = placed[block], block.terminator
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
    return _common(after, results), after


def _common(after: Block, results: list[list[Operand]]) -> list[Operand]:
    """None where every return gives None; else the parameters."""
    return [Constant(None) if all(is_nothing(r[i]) for r in results) else param for i, param in enumerate(after.params)]
