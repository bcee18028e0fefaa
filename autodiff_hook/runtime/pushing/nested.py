"""Derivatives within derivatives: a ``Session`` opened while an outer differentiation runs.

The gradient of ``f`` for a cotangent ``ȳ`` is the gradient of ``x ↦ ⟨ȳ, f(x)⟩``; so its pullback with ``w``
is the gradient of ``x ↦ ⟨ȳ, jvp(f, x, w)⟩``, and its pushforward with ``ẋ`` that of ``x ↦ ⟨ȳ, jvp(f, x, ẋ)⟩``.
Both run ``f`` again.
"""

from __future__ import annotations

import functools
from typing import Any

from autodiff_hook import api
from autodiff_hook.algebras.worlds import World, check_again
from autodiff_hook.errors import Unsupported, located
from autodiff_hook.runtime.applying import unchanging
from autodiff_hook.runtime.context import Context, Sweep
from autodiff_hook.runtime.cotangents import accumulate
from autodiff_hook.runtime.handlers import handles
from autodiff_hook.runtime.pulled import Pulled, opened
from autodiff_hook.runtime.pushing.context import Result, TangentContext, keep_attribute, kind, load, reaches
from autodiff_hook.runtime.pushing.handlers import bookkeeping, pushes
from autodiff_hook.runtime.session import Session, module_of, scalar_seed
from autodiff_hook.runtime.slots import Attribute, loaded
from autodiff_hook.runtime.structures import absorb, mark_deep, structure_of, take
from autodiff_hook.tangent import Tangent

Args = tuple[Any, ...]
Kwargs = dict[str, Any]

_BOOKKEEPING: tuple[Any, ...] = (scalar_seed, api._chosen, check_again, functools.wraps, functools.update_wrapper)
for _function in _BOOKKEEPING:
    bookkeeping(_function)

_VALUE = Attribute("value")


def _generic(form: Any) -> None:
    """Within what is differentiated, gradients are those of the generic path, which is differentiated itself."""
    plain = {api.gradient: api.generic_gradient, api.withgradient: api.generic_withgradient}[form]

    def in_reverse(ctx: Context, w: Any, args: Args, kwargs: Kwargs) -> Any:
        from autodiff_hook.runtime.calls import apply

        value, pullback = apply(ctx, (None, *w), plain, args, kwargs)

        def form_pullback(sweep: Sweep, cotangent: Any) -> Any:
            assert pullback is not None
            given = pullback(sweep, cotangent)
            return given and given[1:]

        return value, None if pullback is None else form_pullback

    def pushed(ctx: TangentContext, t: Any, args: Args, kwargs: Kwargs) -> Result:
        from autodiff_hook.runtime.pushing.calls import apply

        result: Result = apply(ctx, (None, *t), plain, args, kwargs)
        return result

    handles(form)(in_reverse)
    pushes(form)(pushed)


_generic(api.gradient)
_generic(api.withgradient)


@handles(Session, opened)
def _open_in_reverse(ctx: Context, w: Any, given: Args, kwargs: Kwargs) -> Any:
    f, args, named = given
    if w[1] is None and not any(map(ctx.reaches, given)):
        return Session(*given, **kwargs), None
    if kwargs:
        raise Unsupported(located("J within a function that is differentiated: use pullback, which is differentiated"))
    world = World(f, args, named)
    session = Session(f, args, named)
    world.check("changes what is outside of it")
    for array in world.arrays():
        ctx.buffers.hold(array)
    ctx.modules.add(module_of(f))
    ctx.mark(session, _VALUE)
    mark_deep(ctx, session.value)
    ctx.effects += 1
    return session, Opened(ctx, w[1], given, session, world)


class Opened:
    """Pullback of opening a session: what its value and its calls of ``back`` received."""

    __slots__ = ("context", "given", "loads", "session", "structure", "witness", "world")

    def __init__(self, ctx: Context, witness: Any, given: Args, session: Session, world: World) -> None:
        self.context, self.witness, self.given, self.session, self.world = ctx, witness, given, session, world
        self.structure = structure_of(ctx, session.value)
        self.loads = [loaded(ctx, given[2], name, value) for name, value in given[2].items()]

    def __call__(self, sweep: Sweep, cotangent: Any) -> Any:
        shadow = sweep.shadow(self.session)
        whole = take(sweep, self.structure, shadow.pop(_VALUE, None))
        records = shadow.pop("records", ())
        if whole is None and not records:
            return None
        self.world.check("is run again, but what it depends on has been changed since")
        f, args, named = self.given
        total: Any = None
        if whole is not None:
            total = self._run(sweep, f, (), args, lambda value: whole)
        for seed, moved in records:
            given = self._run(sweep, slope, (f, self.session.value, seed, moved), args, lambda value: 1.0)
            total = accumulate(total, given)
        return None, total, None

    def _run(self, sweep: Sweep, function: Any, lead: Args, args: Args, seed: Any) -> Any:
        """Run a function of ``args`` and its reverse; the cotangents of ``args``."""
        from autodiff_hook.runtime.calls import apply

        ctx, named = self.context, self.given[2]
        witnesses = (None, *(None,) * len(lead), *(self.witness,) * len(args), *self.loads)
        value, back = apply(ctx, witnesses, function, (*lead, *args), named)
        if back is None:
            return None
        given = back(sweep, absorb(sweep, structure_of(ctx, value), seed(value)))
        if given is None:
            return None
        for found, part in zip(self.loads, given[1 + len(lead) + len(args) :]):
            if found is not None:
                found(sweep, part)
        return tuple(given[1 + len(lead) : 1 + len(lead) + len(args)])


def slope(f: Any, expected: Any, cotangent: Any, directions: Args, /, *args: Any, **kwargs: Any) -> Any:
    """The derivative of ``⟨cotangent, f(*args)⟩`` in the given directions."""
    from autodiff_hook.runtime.pushing.session import push

    value, tangent = push(f, args, directions, kwargs)
    check_again(f, expected, value)
    return inner(cotangent, tangent)


def inner(cotangent: Any, tangent: Any) -> Any:
    """The real inner product of a cotangent and a tangent of one value."""
    if cotangent is None or tangent is None:
        return 0.0
    form = kind(tangent)
    if form == "number":
        return (cotangent.conjugate() * tangent).real
    if form == "array":
        return (cotangent.conjugate() * tangent).real.sum()
    total = 0.0
    for key in tangent if form == "dict" else range(len(tangent)):
        total = total + inner(part(cotangent, key), tangent[key])
    return total


def part(cotangent: Any, key: Any) -> Any:
    """One part of a cotangent, which may be incomplete."""
    return cotangent.get(key) if kind(cotangent) == "dict" else cotangent[key]


@handles(Session.back)
def _back_in_reverse(ctx: Context, w: Any, given: Args, kwargs: Kwargs) -> Any:
    session, cotangent = given
    result = session.back(cotangent)
    opened = id(session) in ctx.marks
    moves = w[1] is not None or ctx.reaches(cotangent)
    if not opened and not moves:
        return result, None
    fields = _without_tangents(result)
    mark_deep(ctx, fields)
    structure, origin = structure_of(ctx, fields), structure_of(ctx, cotangent)
    seed = unchanging(cotangent)
    ctx.effects += 1

    def back_pullback(sweep: Sweep, received: Any) -> Any:
        moved = take(sweep, structure, received)
        if moved is None:
            return None
        if opened:
            sweep.shadow(session).setdefault("records", []).append((seed, moved))
        return None, absorb(sweep, origin, _pushed(session, moved)) if moves else None

    return result, back_pullback


def _pushed(session: Session, moved: Any) -> Any:
    from autodiff_hook.runtime.pushing.session import push

    f, args, kwargs = session.call
    value, tangent = push(f, args, moved, kwargs)
    check_again(f, session.value, value)
    return tangent


def _without_tangents(tree: Any) -> Any:
    """A tree of gradients with the dicts of fields in the place of each ``Tangent``."""
    if isinstance(tree, Tangent):
        return tree._fields
    return tuple(map(_without_tangents, tree)) if type(tree) is tuple else tree


@handles(Pulled.back)
def _back_of_specialised(ctx: Context, w: Any, given: Args, kwargs: Kwargs) -> Any:
    return _back_in_reverse(ctx, w, (given[0].session(), given[1]), kwargs)


@pushes(Session, opened)
def _push_open(ctx: TangentContext, t: Any, given: Args, kwargs: Kwargs) -> Result:
    from autodiff_hook.runtime.pushing.calls import apply
    from autodiff_hook.runtime.pushing.primitives import add_module, allow
    from autodiff_hook.runtime.pushing.structures import gather, spread

    f, args, named = given
    world = world_of(f, args, named)
    session = Session(f, args, named, **kwargs)
    check_world(world, "changes what is outside of it")
    if t[1] is None and not reaches(ctx, given):
        return session, None
    refuse_options(kwargs)
    allow(f)
    add_module(ctx, f)
    moving = (None,) * len(args) if t[1] is None else t[1]
    value, tangent = apply(ctx, (None, *moving, *[load(ctx, named, name) for name in named]), f, args, named)
    check_again(f, session.value, value)
    keep_attribute(ctx, session, "value", spread(ctx, session.value, gather(ctx, value, tangent)))
    ctx.sessions[id(session)] = (session, f, args, named, moving, world)
    return session, None


@bookkeeping
def world_of(f: Any, args: Args, kwargs: Kwargs) -> World:
    """What a call can see."""
    return World(f, args, kwargs)


@bookkeeping
def check_world(world: World, what: str) -> None:
    """Raise if what a call can see has changed."""
    world.check(what)


@bookkeeping
def refuse_options(kwargs: Kwargs) -> None:
    """Raise for a session of ``J``."""
    if kwargs:
        raise Unsupported(located("J within a function that is differentiated: use pullback, which is differentiated"))


@pushes(Session.back)
def _push_back(ctx: TangentContext, t: Any, given: Args, kwargs: Kwargs) -> Result:
    from autodiff_hook.runtime.pushing.structures import gather, spread
    from autodiff_hook.runtime.pushing.transposing import added

    session, cotangent = given
    result = session.back(cotangent)
    moving = gather(ctx, cotangent, t[1])
    change = None if moving is None else session.back(moving)
    if id(session) in ctx.sessions:
        change = added(change, _second(ctx, session, cotangent))
    return result, spread(ctx, result, change)


def _second(ctx: TangentContext, session: Session, cotangent: Any) -> Any:
    """How the gradient moves with the arguments, and with what the function captured."""
    from autodiff_hook.runtime.pushing.calls import apply
    from autodiff_hook.runtime.pushing.primitives import allow
    from autodiff_hook.runtime.pushing.structures import gather

    _, f, args, named, moving, world = ctx.sessions[id(session)]
    check_world(world, "is run again, but what it depends on has been changed since")

    def of_arguments(*values: Any) -> Any:
        allow(f)
        value, tangent = apply(ctx, (None, *moving, *[load(ctx, named, name) for name in named]), f, values, named)
        return inner(cotangent, gather(ctx, value, tangent))

    return api.gradient(of_arguments, *args)


@pushes(Pulled.back)
def _push_back_of_specialised(ctx: TangentContext, t: Any, given: Args, kwargs: Kwargs) -> Result:
    return _push_back(ctx, t, (given[0].session(), given[1]), kwargs)
