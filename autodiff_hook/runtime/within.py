"""Derivatives within typed programs.

The derivative of a function, for arguments of the types at hand, is a program of its own; it becomes a function that is
put in the place of the call like any function of the user's, and is differentiated with what is around it. Derivatives
within it have been put in their places by then, so there may be any number of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from autodiff_hook import api, operators
from autodiff_hook.ir.types import Args, Constant, Operand, Statement, Variable
from autodiff_hook.runtime import adjoint_steps as adjoint_steps
from autodiff_hook.runtime import directions
from autodiff_hook.runtime.deriving import operator_of
from autodiff_hook.runtime.inner_paths import following_within
from autodiff_hook.runtime.inner_programs import Result
from autodiff_hook.runtime.tangents import transposed
from autodiff_hook.transform.one_way.containers import pairs, parts
from autodiff_hook.transform.one_way.path import Path
from autodiff_hook.transform.specialise.abstract import Abstract, Array, Known, Number, Partial, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.calling import BODIES, NAMED, STEPS
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.inlining import inline_call
from autodiff_hook.transform.specialise.lattice import example_of, is_none, is_number_of, is_real
from autodiff_hook.transform.specialise.plans import spread
from autodiff_hook.transform.specialise.stopping import stop
from autodiff_hook.transform.specialise.wording import named

Step = Callable[[Inference, Statement, Any, list[Operand]], Abstract | None]
Options = Mapping[str, Operand]
NO_OPTIONS: Final[Options] = MappingProxyType({})
Work = Callable[[Inference, Statement, Operand, Any, bool, list[Operand]], None]
"""What an operator does when it is called: of a function, ``argnums``, whether there is more, and the arguments."""


def _gradients(
    valued: bool, inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS
) -> None:
    """``gradient`` and ``withgradient``."""
    if not args:
        raise Refused("a derivative of no function")
    function, has_aux = with_options(inf, args[0], options), is_set(inf, options, "has_aux")
    _place(valued, inf, s, function, tuple(range(len(args) - 1)), has_aux, args[1:])


def is_set(inf: Inference, options: Options, name: str) -> bool:
    """Whether an option is chosen."""
    chosen = _known(inf, options.get(name, Constant(False)))
    if type(chosen) is not bool:
        raise Refused("an operator whose options are not known")
    return chosen


def _known(inf: Inference, option: Operand) -> Any:
    """The value of an option, which is the same whenever the program comes there."""
    kind = inf.type_of(option)
    if not isinstance(kind, Known):
        raise Refused("an operator whose options are not known")
    inf.assumptions.fixed.append((option, kind))
    return kind.value


def with_options(inf: Inference, function: Operand, options: Options) -> Operand:
    """A function with its arguments by name; ``has_aux`` is none of these."""
    own = {name: x for name, x in options.items() if name != "has_aux"}
    if not own:
        return function
    made = Variable()
    inf.types[made] = Partial(function, (), own)
    return made


def _place(
    valued: bool, inf: Inference, s: Statement, function: Operand, argnums: Any, has_aux: bool, primals: list[Operand]
) -> None:
    """Put the gradients of a function, with its value or without it, in the place of a call."""
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    if type(chosen) is not tuple or not all(type(i) is int and -len(primals) <= i < len(primals) for i in chosen):
        raise Refused("argnums that do not fit")
    result = Result(isinstance(argnums, int), valued, has_aux)
    following_within(inf, s, function).place_gradients(function, primals, chosen, result)


def _in_direction(inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS) -> None:
    """``jvp``."""
    args = _directed(inf, args, options)
    primals, tangents = (_items(inf, x) for x in args[1:])
    if len(primals) != len(tangents):
        raise Refused("a derivative in a direction that does not fit")
    _tangent(inf, s, args[0], primals, moving(inf, tangents))


def moving(inf: Inference, tangents: list[Operand]) -> dict[int, Operand]:
    """The tangents that are not None, by their places; the others are None whenever the program comes there."""
    found = dict(enumerate(tangents))
    for i, x in enumerate(tangents):
        if is_none(inf.type_of(x)):
            inf.assumptions.fixed.append((found.pop(i), Known(None)))
    return found


def _at_place(inf: Inference, s: Statement, called: Any, args: Args) -> None:
    """``gradient_at`` and ``tangent_at``."""
    function, place, whole, *direction = args
    number, primals = _known(inf, place), _items(inf, whole)
    if direction:
        _tangent(inf, s, function, primals, {number: direction[0]})
    else:
        _place(False, inf, s, function, number, False, primals)


def _directed(inf: Inference, args: Args, options: Options) -> list[Operand]:
    """A function, primals and tangents, which may be given by name."""
    named = [options[name] for name in _DIRECTED[len(args) :] if name in options]
    if len(args) + len(named) != len(_DIRECTED) or is_set(inf, options, "has_aux"):
        raise Refused("a derivative in a direction that does not fit")
    return [*args, *named]


_DIRECTED: Final = ("f", "primals", "tangents")


def _tangent(
    inf: Inference, s: Statement, function: Operand, primals: list[Operand], tangents: dict[int, Operand]
) -> None:
    inner = following_within(inf, s, function)
    inner.place_tangent(function, primals, {i: like(inf, s, primals[i], x) for i, x in tangents.items()})


def like(inf: Inference, s: Statement, primal: Operand, tangent: Operand) -> Operand:
    """A tangent as a program takes it: a float, or an array of doubles."""
    value, direction = inf.type_of(primal), inf.type_of(tangent)
    if isinstance(value, Array) and isinstance(direction, Array):
        doubles = all(x.dtype == np.dtype(float) and not x.scalar for x in (value, direction))
        if doubles and value.ndim == direction.ndim:
            return tangent
    if (is_number_of(value, {float}) or is_number_of(value, {np.float64})) and is_real(direction):
        return tangent if is_number_of(direction, {float}) else inf.before(s, "call", [Constant(float), tangent], ())
    raise Refused(f"a tangent {named(direction)} of {named(value)}")


# Operators


def _applied(work: Work, inf: Inference, s: Statement, called: Any, args: Args) -> None:
    """What an operator does when it is called."""
    function, argnums, has_aux, whole, options = args
    numbers = _known(inf, argnums)
    function = with_options(inf, function, _named_items(inf, options))
    work(inf, s, function, numbers, is_set(inf, {"has_aux": has_aux}, "has_aux"), _items(inf, whole))


def _items(inf: Inference, whole: Operand) -> list[Operand]:
    """What a tuple holds."""
    return parts(inf, whole) if isinstance(inf, Path) else spread(inf, whole)


def _named_items(inf: Inference, whole: Operand) -> dict[str, Operand]:
    """What a dict of arguments by name holds."""
    if isinstance(inf, Path):
        return pairs(inf, whole)
    kind = inf.type_of(whole)
    if not isinstance(kind, Tuple):
        raise Refused("an operator whose options are not known")
    return dict(zip(kind.keys, spread(inf, whole, kind.keys)))


def _operated(inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS) -> None:
    """What an operator from outside has made, called; or the class of that, where an operator makes one."""
    work = _WORKS.get(called._work) if isinstance(called, operators.Operator) else None
    if work is None:
        raise Refused(f"a call of {called!r}")
    work(inf, s, with_options(inf, Constant(called._f), options), called._argnums, called._has_aux, args)


def _alone(work: Callable[..., None]) -> Work:
    """What an operator does that hands on nothing besides."""

    def placed(inf: Inference, s: Statement, function: Operand, argnums: Any, has_aux: bool, args: Any) -> None:
        if has_aux:
            raise Refused("a Hessian or a Jacobian with has_aux")
        work(inf, s, function, argnums, args)

    return placed


def _hessian(inf: Inference, s: Statement, function: Operand, argnums: Any, args: Args) -> None:
    by_array = isinstance(_chosen(inf, argnums, args), Array)
    _follow(inf, s, directions.hessian_by_array if by_array else directions.hessian_by_number, function, argnums, args)


def _jacobian(by_rows: bool | None, inf: Inference, s: Statement, function: Operand, argnums: Any, args: Args) -> None:
    """``jacobian``, which goes by rows or by columns, whatever are fewer."""
    x, y = _chosen(inf, argnums, args), following_within(inf, s, function).value(function, args)
    if isinstance(y, Number):
        _place(False, inf, s, function, argnums, False, args)
        return
    if not isinstance(y, Array):
        raise Refused(f"a Jacobian of {named(y)}")
    if not isinstance(x, Array):
        _follow(inf, s, directions.slopes_by_number, function, argnums, args)
        return
    if by_rows is None:
        by_rows = np.size(example_of(y)) <= np.size(example_of(x))
    _follow(inf, s, directions.jacobian_by_rows if by_rows else directions.jacobian_by_columns, function, argnums, args)


def _chosen(inf: Inference, argnums: Any, args: Args) -> Abstract:
    """The argument that a Hessian or a Jacobian is with respect to."""
    if type(argnums) is not int or not -len(args) <= argnums < len(args):
        raise Refused("a Hessian or a Jacobian by several arguments")
    return inf.type_of(args[argnums])


def _follow(inf: Inference, s: Statement, followed: Any, function: Operand, argnums: int, args: Args) -> None:
    """Put a function of ``directions`` in the place of a call."""
    whole = inf.before(s, "build_tuple", args)
    inline_call(inf, s, followed, [function, Constant(argnums % len(args)), whole], {})


_WORKS: Final[dict[Any, Work]] = {
    operators._grad: partial(_place, False),
    operators._value_and_grad: partial(_place, True),
    operators._hessian: _alone(_hessian),
    operators._jacobian: _alone(partial(_jacobian, None)),
    operators._jacrev: _alone(partial(_jacobian, True)),
    operators._jacfwd: _alone(partial(_jacobian, False)),
}


def _operator(
    followed: Any, inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS
) -> None:
    """Make a function that gives derivatives."""
    inline_call(inf, s, followed, args, dict(options))


def _along(inf: Inference, s: Statement, called: Any, args: Args) -> Abstract | None:
    """``along``: a product for each leaf, and their sum."""
    if inf.one_way:
        return inline_call(inf, s, called, args, {})
    steps, total = list[Statement](), None
    for made in list(_products(inf, *args)):
        steps.append(made)
        if total is not None:
            steps.append(Statement("binary", [total, made.result], Variable(), "+"))  # type: ignore[list-item]
        total = steps[-1].result
    steps.append(Statement("check", [Constant(0.0) if total is None else total], s.made))
    for step in steps:
        step.position = s.position
    inf.block.statements[inf.index : inf.index + 1] = steps
    inf.index -= 1
    return Number(frozenset({float}))


def _products(inf: Inference, gradients: Operand, tangents: Operand) -> Iterator[Statement]:
    if is_none(inf.type_of(tangents)) or is_none(inf.type_of(gradients)):
        return
    if isinstance(inf.type_of(gradients), Tuple):
        for slope, tangent in zip(spread(inf, gradients), spread(inf, tangents), strict=True):
            yield from _products(inf, slope, tangent)
    else:
        yield Statement("call", [Constant(directions.dot), gradients, tangents], Variable(), ())


def _followed(inf: Inference, s: Statement, called: Any, args: Args) -> None:
    """A function of ``directions`` that is Python code."""
    inline_call(inf, s, called, args, {})


def _transposed(inf: Inference, s: Statement, called: Any, args: Args) -> None:
    """What has no forward form, in the tangent of a program."""
    inline_call(inf, s, directions.transposing, args, {})


def _product(inf: Inference, s: Statement, called: Any, args: Args, options: Options = NO_OPTIONS) -> None:
    """``hvp``."""
    inline_call(inf, s, directions.product, _directed(inf, args, options), {})


_BY_NAME: Final[dict[Any, Callable[..., None]]] = {
    api.gradient: partial(_gradients, False),
    api.withgradient: partial(_gradients, True),
    api.jvp: _in_direction,
    api.hvp: _product,
    operators.Operator: _operated,
    **{
        operator: partial(_operator, operator_of(work))
        for operator, work in (
            (operators.grad, operators._grad),
            (operators.value_and_grad, operators._value_and_grad),
            (operators.hessian, operators._hessian),
            (operators.jacobian, operators._jacobian),
            (operators.jacrev, operators._jacrev),
            (operators.jacfwd, operators._jacfwd),
        )
    },
}
_STEPS: Final[dict[Any, Step]] = {
    **_BY_NAME,
    api.stop_gradient: stop,
    directions.gradient_at: _at_place,
    directions.tangent_at: _at_place,
    directions.along: _along,
    directions.dot: _followed,
    directions.row: _followed,
    directions.slopes_along: _followed,
    transposed: _transposed,
    **{work: partial(_applied, placed) for work, placed in _WORKS.items()},
}
NAMED.update(_BY_NAME)
BODIES.update(_STEPS)
STEPS.update(_STEPS)
