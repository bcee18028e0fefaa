"""Dicts of keywords that a function changes, by keys that are written out: what they hold is known at each place.

So ``kwargs.pop("mu", 0.1)`` before ``super().__init__(**kwargs)`` needs no dict.
"""

from __future__ import annotations

from typing import Final

from autodiff_hook.ir.analysis import statements_of
from autodiff_hook.ir.types import Block, Constant, Operand, Statement, Variable
from autodiff_hook.transform.specialise.bodies import Body

Entries = dict[str, Operand]


def settle(body: Body, whole: Variable, entries: Entries) -> None:
    """Let each statement that asks ``whole`` be given what it holds there, if that is known, and if some change it."""
    _call_at_once(body, whole)
    own, first = set(body.blocks), body.blocks[0]
    states: dict[Block, Entries | None] = {first: entries}
    pending = [first]
    asked, changed = dict[Statement, Entries](), dict[Statement, Operand]()
    while pending:
        block = pending.pop()
        held, truths = states[block], dict[Operand, bool]()
        for s in [s for s in block.statements if whole in s.operands]:
            if held is None:
                # Somebody else has the dict as well.
                return
            step = _step(s, held)
            if step is not None:
                held, changed[s] = step
                continue
            if s.op in ("in", "not_in") and s.result is not None and isinstance(s.operands[0], Constant):
                truths[s.result] = (s.operands[0].value in held) == (s.op == "in")
            asked[s] = held
            held = held if _only_reads(s, whole) else None
        end = block.terminator
        edges = list(block.edges())
        if end.kind == "branch" and end.operands[0] in truths:
            edges = [edges[not truths[end.operands[0]]], *edges[2:]]
        if whole in end.operands or any(whole in edge.args for edge in edges):
            return
        for edge in [edge for edge in edges if edge.target in own]:
            if edge.target not in states:
                states[edge.target] = held
                pending.append(edge.target)
            if not _is_same(states[edge.target], held) or edge is block.handler and not _is_same(states[block], held):
                return
    if changed:
        for block in body.blocks:
            block.statements = [x for s in block.statements for x in _rewritten(s, whole, asked, changed)]


def _call_at_once(body: Body, whole: Variable) -> None:
    """Let methods of a dict, which nothing can replace, be looked up where they are called."""
    for block in body.blocks:
        for s in [s for s in block.statements if s.op == "load_method" and s.operands[0] is whole]:
            for call in [x for x in statements_of(body.blocks) if x.operands[:1] == [s.result]]:
                call.op, call.operands[0], call.data = "call_method", whole, (s.data, call.data or ())
            block.statements.remove(s)


def _is_same(a: Entries | None, b: Entries | None) -> bool:
    return a is b or a is not None and b is not None and [*a.items()] == [*b.items()]


def _step(s: Statement, held: Entries) -> tuple[Entries, Operand] | None:
    """What a dict holds behind a change, and what that gives; None for other statements, and for what raises."""
    key = s.operands[1].value if len(s.operands) > 1 and isinstance(s.operands[1], Constant) else None
    if type(key) is not str:
        return None
    rest = {name: x for name, x in held.items() if name != key}
    if s.op == "setitem" and len(s.operands) == 3:
        return {**held, key: s.operands[2]}, Constant(None)
    if s.op == "delitem" and key in held:
        return rest, Constant(None)
    value = held.get(key, s.operands[2] if len(s.operands) == 3 else None)
    if s.op != "call_method" or value is None or s.operands[0] in s.operands[1:]:
        return None
    if s.data == ("pop", ()):
        return rest, value
    return ({**held, key: value}, value) if s.data == ("setdefault", ()) else None


def _only_reads(s: Statement, whole: Variable) -> bool:
    """Whether nobody has the dict behind a statement who has not had it before."""
    place = s.operands.index(whole)
    if s.op == "call_method":
        return place == 0 and s.operands.count(whole) == 1 and s.data[0] in _READING
    return place == _ASKING.get(s.op)


_ASKING: Final = {"in": 1, "not_in": 1, "truth": 0, "not": 0, "getitem": 0, "star": 0}
"""The operations that only ask a dict, and the place of it among their operands."""
_READING: Final = ("get", "keys", "items", "values", "copy")


def _rewritten(
    s: Statement, whole: Variable, asked: dict[Statement, Entries], changed: dict[Statement, Operand]
) -> list[Statement]:
    if s in changed:
        return [Statement("same", [changed[s]], s.result, None, s.position)]
    if s not in asked:
        return [s]
    parts = [x for name, value in asked[s].items() for x in (Constant(name), value)]
    made = Statement("build_map", parts, Variable(whole.name), None, s.position)
    s.operands = [made.made if x is whole else x for x in s.operands]
    return [made, s]
