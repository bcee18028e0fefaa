"""Random numbers drawn from generators that the program makes itself, whose state nobody else sees.

What is drawn from others changes with each run, so a program that is given up must not have drawn from them.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Operand, Statement
from autodiff_hook.transform.specialise.abstract import Abstract, Instance
from autodiff_hook.transform.specialise.infer import Inference
from autodiff_hook.transform.specialise.lattice import differentiable, example_of, is_none, number_types
from autodiff_hook.transform.specialise.lists import WHOLE
from autodiff_hook.transform.specialise.plans import pure

_GENERATORS: Final = {np.random.default_rng: np.random.Generator, np.random.RandomState: np.random.RandomState}
_DRAWING: Final = frozenset(
    """
    beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers laplace
    logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f
    normal pareto permutation poisson power rand randint randn random random_integers random_sample rayleigh
    standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald
    weibull zipf
    """.split()
)
"""The methods that draw numbers and change nothing but the state of the generator."""


def made(function: Any, inf: Inference, s: Statement, args: list[Operand]) -> Abstract | None:
    """A generator made with a number as its seed, or without; None if it may be somebody's."""
    types = [inf.type_of(x) for x in args]
    if not all(is_none(kind) or (number_types(kind) or {None}) <= WHOLE for kind in types):
        return None
    seeds = [example_of(kind) if isinstance(example_of(kind), (int, np.integer)) else 0 for kind in types]
    return pure(inf, s, Instance(_GENERATORS[function], example=function(*seeds)))


QUESTIONS: Final = {function: partial(made, function) for function in _GENERATORS}


def is_drawn(function: Any, types: list[Abstract]) -> bool:
    """Whether a method of an own generator is called with what has no derivative."""
    if not is_own(types) or any(map(differentiable, types)):
        return False
    name = getattr(function, "__name__", "")
    return name in _DRAWING and function is getattr(types[0].cls, name, None)  # type: ignore[attr-defined]


def is_own(types: list[Abstract]) -> bool:
    """Whether a method of a generator that the program has made is called."""
    return bool(types) and isinstance(types[0], Instance) and types[0].cls in _GENERATORS.values()
