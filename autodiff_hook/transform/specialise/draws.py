"""Random numbers drawn from generators that the program makes, whose state nobody else sees, and from those outside.

The state of a generator from outside is kept on entry, and put back if the program is given up: so it has been drawn
from as often as by the plain run, whatever becomes of the program.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from functools import partial
from types import BuiltinMethodType, MethodType
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Args, Constant, Kwargs, Operand, Statement, Variable
from autodiff_hook.registry import registry
from autodiff_hook.runtime.altering import GENERATORS, drawn, draws_from
from autodiff_hook.runtime.lookup import dictionary_of
from autodiff_hook.transform.specialise.abstract import Abstract, Bound, Instance, Known, Outside, Tuple
from autodiff_hook.transform.specialise.bodies import Refused
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import differentiable, example_of, is_none, is_number_of, number_types
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.plans import alias, pure
from autodiff_hook.transform.specialise.program import PURE, Alias
from autodiff_hook.transform.specialise.results import outcome

_MADE: Final = {
    np.random.default_rng: np.random.Generator,
    np.random.RandomState: np.random.RandomState,
    random.Random: random.Random,
}
_DRAWING: Final = frozenset(
    """
    _randbelow_with_getrandbits beta betavariate binomial binomialvariate chisquare choice dirichlet exponential
    expovariate f gamma gammavariate gauss geometric getrandbits gumbel hypergeometric integers laplace logistic
    lognormal lognormvariate logseries multinomial multivariate_normal negative_binomial noncentral_chisquare
    noncentral_f normal normalvariate pareto paretovariate permutation poisson power rand randbytes randint randn
    random random_integers random_sample randrange ranf rayleigh sample seed standard_cauchy standard_exponential
    standard_gamma standard_normal standard_t triangular uniform vonmises vonmisesvariate wald weibull
    weibullvariate zipf
    """.split()
)
"""The methods that draw numbers and change nothing but the state of the generator."""


def seeded(function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call makes a generator with a seed that is given by name."""
    return not args and kwargs.keys() == {"seed"} and type(function).__hash__ is not None and function in _MADE


def made(function: Any, inf: Inference, s: Statement, args: Args) -> Abstract | None:
    """A generator made with a number as its seed, or without; None if it may be somebody's."""
    if function is np.random.default_rng and len(args) == 1:
        given = taken(inf, s, args[0])
        if is_own([inf.type_of(given)]) and inf.type_of(given).cls is np.random.Generator:  # type: ignore[attr-defined]
            return alias(inf, s, given)
    types = [inf.type_of(x) for x in args]
    if not all(is_none(kind) or is_number_of(kind, WHOLE) for kind in types):
        return None
    seeds = [example_of(kind) if isinstance(example_of(kind), (int, np.integer)) else 0 for kind in types]
    return pure(inf, s, Instance(_MADE[function], example=function(*seeds)))


def _begun(inf: Inference, s: Statement, args: Args) -> Abstract:
    value = example_of(inf.type_of(args[0]))
    return pure(inf, s, inf.types.get(s.made) or Instance(type(value), example=copy.deepcopy(value)))


QUESTIONS: Final[dict[Any, Any]] = {draws_from: _begun, **{function: partial(made, function) for function in _MADE}}


def drawing(inf: Inference, s: Statement, function: Callable[..., Any], args: Args, kwargs: Kwargs) -> Abstract | None:
    """A call of a method of a generator whose result has no derivative; None if it is another call."""
    types, options = [inf.type_of(x) for x in args], {name: inf.type_of(x) for name, x in kwargs.items()}
    name: str = getattr(function, "__name__", "")
    if not is_own(types) or name not in _DRAWING:
        return None
    moving = [kind for kind in (*types, *options.values()) if differentiable(kind) and not _is_shape(kind)]
    if moving and not (registry.is_constant(function) and all(number_types(kind) is not None for kind in moving)):
        return None
    if function is not getattr(types[0].cls, name, None):  # type: ignore[attr-defined]
        return None
    s.op, s.operands, s.data = "call_method", [*args, *kwargs.values()], (name, tuple(kwargs))
    return pure(inf, s, outcome(function, types, options, constant=True))


def _is_shape(kind: Abstract) -> bool:
    """Whether a value says how many numbers are drawn along each axis."""
    return isinstance(kind, Tuple) and kind.cls is tuple and all(is_number_of(item, WHOLE) for item in kind.items)


def is_own(types: list[Abstract]) -> bool:
    """Whether a method is called of a generator that the program has made, or whose state is kept."""
    return bool(types) and isinstance(types[0], Instance) and types[0].cls in GENERATORS


def taken(inf: Inference, s: Statement, owner: Operand) -> Operand:
    """What has an attribute that is looked up: if it is a generator from outside, one whose state is kept."""
    kind = inf.type_of(owner)
    value = example_of(kind) if isinstance(kind, (Outside, Known)) else None
    if type(value) not in GENERATORS or (dictionary_of(value) or {}).keys() - {"gauss_next"}:
        return owner
    return _kept(inf, s, inf.final(owner), value)


def bound(inf: Inference, s: Statement, owner: Operand, name: str) -> Abstract | None:
    """A method of a generator as a value; None if there is no such."""
    kind = inf.type_of(owner)
    function = getattr(kind.cls, name, None) if is_own([kind]) else None  # type: ignore[attr-defined]
    if not callable(function):
        return None
    inf.plans[s] = Alias(Constant(None))
    return Bound(function, owner)


def as_method(s: Statement, function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Let a call of a bound method of a generator, such as ``random.random``, be one of a method."""
    if type(function) in (BuiltinMethodType, MethodType):
        owner, name = function.__self__, function.__name__
    else:
        owner, name = _HIDDEN, _NAMES.get(id(function))
    found = name is not None and type(owner) in GENERATORS
    if found:
        s.op, s.operands = "call_method", [Constant(owner), *args, *kwargs.values()]
        s.data = name, tuple(kwargs)
    return found


_HIDDEN: Final[Any] = getattr(np.random.random, "__self__")  # noqa: B009
_NAMES: Final = {id(np.random.seed): "seed", id(np.random.sample): "random_sample", id(np.random.ranf): "random_sample"}
"""Functions that are methods of the generator of NumPy's module, but know it by its name."""


def _kept(inf: Inference, s: Statement, at: Operand, value: Any) -> Operand:
    """A generator whose state is kept where the program begins, or on one way where it first draws."""
    if not inf.outer.acts or isinstance(at, Variable) and not inf.world.is_outside(at):
        raise Refused("random numbers are drawn from a generator that is not the program's own")
    key = at if isinstance(at, Variable) else id(value)
    if key not in inf.outer.drawn and inf.one_way:
        begun = inf.outer.drawn[key] = inf.before(s, "call", [Constant(draws_from), at], ())
        inf.outer.random.add(begun)
    elif key not in inf.outer.drawn:
        own = inf.outer.drawn[key] = Variable("generator")
        begin = Statement("call", [Constant(draws_from), at], own, ())
        inf.types[own], inf.plans[begin] = Instance(type(value), example=copy.deepcopy(value)), PURE
        inf.outer.first.statements.insert(0, begin)
        inf.index += inf.block is inf.outer.first
    return inf.outer.drawn[key]


def settle(inf: Inference) -> list[Statement]:
    """What ends the drawing."""
    return [Statement("call", [Constant(drawn), own], None, ()) for own in inf.outer.drawn.values()]


def _scaled(generator: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + generator.gauss(0.0, 1.0) * sigma


MEANINGS: Final[dict[Any, Any]] = {random.Random.gauss: _scaled}
"""Methods that are followed by what they mean: in Python they keep a part of the state in attributes."""
