"""``functools.partial``: made by the program, or from outside."""

from __future__ import annotations

from functools import partial
from typing import Any

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Partial
from autodiff_hook.transform.specialise.bodies import Refused, Unfit
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import number_types
from autodiff_hook.transform.specialise.program import Alias

Call = tuple[Operand, list[Operand], dict[str, Operand]]
"""A function, with arguments by position and by name."""


def make(inf: Inference, s: Statement, args: Args, kwargs: Kwargs) -> Abstract:
    """A call of ``functools.partial``: nothing is made, its parts are known."""
    if not args:
        raise Refused("a partial of no function")
    if number_types(inf.type_of(args[0])) is not None:
        raise Unfit("a partial of a number", None)
    inf.plans[s] = Alias(Constant(None))
    inner = inf.type_of(args[0])
    if isinstance(inner, Partial):
        return Partial(inner.function, (*inner.args, *args[1:]), {**inner.kwargs, **kwargs})
    return Partial(args[0], tuple(args[1:]), dict(kwargs))


def unfold(s: Statement, made: Partial, args: Args, kwargs: Kwargs) -> Call:
    """The call that calling a partial is, which is written in its place."""
    return _write(s, made.function, [*made.args, *args], {**made.kwargs, **kwargs})


def unfold_known(inf: Inference, s: Statement, made: partial[Any], args: Args, kwargs: Kwargs) -> Call:
    """The same of a partial from outside, whose arguments are loaded on entry."""
    inf.world.partial(made)
    whole, options = Constant(made.args), Constant(made.keywords)
    inf.world.length(options, made.keywords)
    bound = [inf.world.part(whole, made.args, i, True) for i in range(len(made.args))]
    named = {name: inf.world.part(options, made.keywords, name, True) for name in made.keywords}
    return _write(s, Constant(made.func), [*bound, *args], {**named, **kwargs})


def _write(s: Statement, function: Operand, args: Args, kwargs: Kwargs) -> Call:
    s.op, s.operands, s.data = "call", [function, *args, *kwargs.values()], tuple(kwargs)
    return function, args, kwargs
