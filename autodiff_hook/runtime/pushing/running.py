"""A rule and its transpose in one step, which has a pullback of its own."""

from __future__ import annotations

from typing import Any

from autodiff_hook.runtime.checking import Owed, pair
from autodiff_hook.runtime.context import Context, Pullback, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.opaque import live
from autodiff_hook.runtime.pushing.context import Result, TangentContext
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.pushing.primitives import add_module, allow
from autodiff_hook.runtime.pushing.transposing import Transposed, dense_parts, push_transpose, transpose
from autodiff_hook.runtime.session import module_of
from autodiff_hook.runtime.slots import loaded
from autodiff_hook.runtime.structures import Structure, absorb, mark_deep, structure_of, take

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def run_rule(rule: Any, args: Args, kwargs: Kwargs, tangents: Args) -> tuple[Any, Any]:
    """The value of a rule, and its tangent; ``tangents`` are in the order of the rule's cotangents."""
    value, pullback = pair(rule, rule(*args, **kwargs))
    return value, transpose(pullback, value, tangents, Owed(rule, args, kwargs))


def run_operator(rule: Any, tangents: Args, *args: Any) -> tuple[Any, Any]:
    """``run_rule`` for an operator; its operands are told apart."""
    return run_rule(rule, args, {}, tangents)


@handles(run_operator)
def _run_operator_in_reverse(ctx: Context, w: Any, given: Args, kwargs: Kwargs) -> Any:
    rule, tangents, *args = given
    result, ran = _run_in_reverse(ctx, w[2:], rule, tuple(args), {}, tangents)

    def operator_pullback(sweep: Sweep, cotangent: Any) -> Any:
        _, found, _, moved = ran(sweep, cotangent)
        return None, moved, *found

    return result, operator_pullback


@pushes(run_operator)
def _push_run_operator(ctx: TangentContext, t: Any, given: Args, kwargs: Kwargs) -> Result:
    rule, tangents, *args = given
    return _push_run_rule(ctx, (None, t[2:], None, t[1]), (rule, tuple(args), {}, tangents), {})


@bookkeeping
def require_pair(rule: Any, returned: Any) -> None:
    """Raise an error if a rule returned something else than a value and a pullback."""
    pair(rule, returned)


@handles(run_rule)
def _run_rule_in_reverse(ctx: Context, w: Any, given: Args, kwargs: Kwargs) -> Any:
    rule, args, named, tangents = given
    witnesses = [w[1] if live(ctx, w[1], value) else None for value in args]
    return _run_in_reverse(ctx, witnesses, rule, args, named, tangents)


def _run_in_reverse(ctx: Context, w: Any, rule: Any, args: Args, named: Kwargs, tangents: Args) -> Any:
    """The value's cotangent goes to the rule's pullback itself; only what that captured needs the rule's body."""
    from autodiff_hook.runtime.calls import apply

    ctx.modules.add(module_of(rule))
    loads = [loaded(ctx, named, name, value) for name, value in named.items()]
    returned, back = apply(ctx, (None, *w, *loads), rule, args, named)
    value, pullback = pair(rule, returned)
    owed = Owed(rule, args, named)
    tangent = transpose(pullback, value, tangents, owed)
    ran = Ran(ctx, owed, (*args, *named.values()), loads, value, pullback, back)
    if tangent is not None:
        ran.transposed = Transposed(ctx, pullback, tangent, tangents)
    for reference in (value, tangent):
        mark_deep(ctx, reference)
    return (value, tangent), ran


class Ran:
    """Pullback of ``run_rule``."""

    __slots__ = ("back", "context", "loads", "owed", "pullback", "result", "structures", "transposed")

    def __init__(
        self, ctx: Context, owed: Owed, values: Args, loads: list[Any], value: Any, pullback: Any, back: Any
    ) -> None:
        self.context, self.pullback, self.back, self.loads, self.owed = ctx, pullback, back, loads, owed
        self.structures: list[Structure | None] = [structure_of(ctx, x) for x in values]
        self.result = structure_of(ctx, value)
        self.transposed: Pullback | None = None

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        moved = None if cotangent is None else cotangent[1]
        whole = dense_parts(take(sweep, self.result, None if cotangent is None else cotangent[0]))
        given = self.transposed(sweep, moved) if self.transposed is not None else None
        found: list[Any] = [None] * len(self.structures)
        if given is not None and self.back is not None:
            captured = self.back(sweep, None)
            if captured is not None:
                found = list(captured[1:])
        if whole is not None:
            direct = self.owed.checked(self.pullback(whole))
            for index, place in enumerate(self.owed.places):
                if place is not None:
                    edge = absorb(sweep, self.structures[index], direct[place])
                    found[index] = accumulate(found[index], edge)
        for load, part in zip(self.loads, found[self.owed.count :]):
            if load is not None:
                load(sweep, part)
        return None, tuple(found[: self.owed.count]), None, None if given is None else given[2]


@pushes(run_rule)
def _push_run_rule(ctx: TangentContext, t: Any, given: Args, kwargs: Kwargs) -> Result:
    """``run_rule`` pushed forward: the rule's own transpose once more, and that of what its pullback captured."""
    from autodiff_hook.runtime.pushing.calls import apply
    from autodiff_hook.runtime.pushing.context import load

    rule, args, named, tangents = given
    allow(rule)
    add_module(ctx, rule)
    moving = (None,) * len(args) if t[1] is None else t[1]
    found, tangent = apply(ctx, (None, *moving, *[load(ctx, named, name) for name in named]), rule, args, named)
    require_pair(rule, found)
    value, pullback = found
    second, change = push_transpose(ctx, (None, None, t[3]), (pullback, value, tangents), {})
    first = None if tangent is None else tangent[0]
    return (value, second), None if first is None and change is None else (first, change)
