"""Derivatives against finite differences and against one another: what ``testing`` checks by."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook import api
from autodiff_hook._testing_trees import (
    Path,
    absolute,
    at,
    copied,
    cotangent,
    direction,
    inner,
    is_integer,
    leaves,
    replaced,
    shifted,
    shown,
)
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import LINEAR, Rule
from autodiff_hook.signatures import is_exact

DIGITS: Final = (4, 5, 3, 6, 2, 7, 1, 8)
"""The steps of differences, as powers of 0.1: those first which mostly agree with a derivative that is right."""
ATTRIBUTES: Final = (GetSetDescriptorType, MemberDescriptorType)
"""What stands in a class for an attribute that is computed."""
UNDEFINED = (ArithmeticError, ValueError, TypeError, LookupError)
"""What a function may raise beside the point in question: outside its domain, or between integers."""


def require(condition: bool, message: str, *values: Any) -> None:
    # The text of an array takes longer than most checks: it is made where it is shown.
    if not condition:
        raise AssertionError(message.format(*values))


def check_forms(
    name: str,
    rule: Any,
    described: tuple[Any, Callable[..., Any]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    value: Any,
    pulled: tuple[Any, tuple[Any, ...]],
    rng: np.random.Generator,
    rtol: float,
) -> None:
    """A form is the transpose of the pullback: both give one product of a cotangent with a tangent."""
    (forms, function), (ȳ, cotangents) = described, pulled
    if any(np.iscomplexobj(leaf) or is_exact(type(leaf)) for _, leaf in leaves((args, value))):
        return
    for i, form in enumerate(forms[: len(args)]):
        x = args[i]
        if form is None or not any(True for _ in leaves((x,))) or isinstance(cotangents[i], NotImplementedCotangent):
            continue
        ẋ = cotangent(x, rng)
        if form is LINEAR:
            part = function(*args[:i], copied(ẋ), *args[i + 1 :], **kwargs)
        else:
            bound = inspect.signature(rule).bind(*args, **kwargs)
            has_options = bool(bound.kwargs)
            bound.apply_defaults()
            if has_options or form.__code__.co_argcount != 2 + len(bound.args):
                continue
            arity = getattr(rule, "arity", 0)
            given = [np.array(v) if isinstance(v, (list, tuple)) and j < arity else v for j, v in enumerate(bound.args)]
            tangent = np.array(ẋ) if isinstance(ẋ, (list, tuple)) and i < arity else ẋ
            part = form(tangent, value, *given)
        ours, theirs = inner(ȳ, part), inner(cotangents[i], ẋ)
        size = inner(absolute(ȳ), absolute(part))
        close = math.isclose(ours, theirs, rel_tol=rtol, abs_tol=rtol * size)
        require(close, "{}, args[{}]: the forward form says {!r}, the pullback {!r}", name, i, ours, theirs)


def compare(
    where: str,
    says: str,
    loss: Callable[..., float],
    args: tuple[Any, ...],
    path: Path,
    leaf: Any,
    x̄: Any,
    rng: np.random.Generator,
    rtol: float,
    atol: float,
) -> None:
    """The product of ``x̄`` with a random direction at ``path`` against differences in that direction."""
    ẋ = direction(leaf, rng)
    ours = inner(x̄, ẋ)

    def moved(step: float) -> float:
        return loss(*replaced(args, path, shifted(leaf, ẋ, step)))

    found: list[float] = []
    for estimate in _differences(moved):
        if abs(estimate - ours) <= rtol * abs(ours) + atol:
            return
        found.append(estimate)
    if not found:
        if is_integer(leaf):
            return
        raise AssertionError(f"{where}: the function cannot be evaluated around {leaf!r}")
    theirs = min(found, key=lambda estimate: abs(estimate - ours))
    close = abs(theirs - ours) <= rtol * max(abs(theirs), abs(ours)) + atol
    require(close, "{}: {} {!r}, finite differences {!r}", where, says, ours, theirs)


def _differences(moved: Callable[[float], float]) -> Iterator[float]:
    """Central differences with several steps, and their Richardson extrapolations."""
    central: dict[int, float] = {}
    for k in DIGITS:
        step = 10.0**-k
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                central[k] = (moved(step) - moved(-step)) / (2 * step)
            except UNDEFINED:
                continue
        pairs = [(central[i], central[i + 1]) for i in (k - 1, k) if i in central and i + 1 in central]
        yield from filter(math.isfinite, [central[k], *((100 * finer - coarser) / 99 for coarser, finer in pairs)])


def of_known(function: Any, known: list[bool], args: tuple[Any, ...]) -> Any:
    """``function`` as one of the arguments by which its derivative is known; the others stay as they are."""
    if all(known):
        return function
    places = [sum(known[:i]) if here else None for i, here in enumerate(known)]

    def by_known(*free: Any, **kwargs: Any) -> Any:
        return function(*[args[i] if place is None else free[place] for i, place in enumerate(places)], **kwargs)

    return by_known


def rule_of_known(rule: Rule, known: list[bool], args: tuple[Any, ...]) -> Rule:
    if all(known):
        return rule
    called = of_known(rule, known, args)

    def rule_by_known(*free: Any, **kwargs: Any) -> Any:
        y, pullback = called(*free, **kwargs)

        def pullback_by_known(ȳ: Any) -> Any:
            cotangents = pullback(ȳ)
            return *[cotangents[i] for i, here in enumerate(known) if here], *cotangents[len(known) :]

        return y, pullback_by_known

    return rule_by_known


def check_second_order(
    name: str, rule: Rule, args: Any, kwargs: Any, ȳ: Any, rng: np.random.Generator, rtol: float, atol: float
) -> None:
    """Differentiate the cotangents with ``autodiff_hook.pullback``, as a function of the arguments."""

    def cotangents(*primals: Any) -> Any:
        _, back = rule(*primals, **kwargs)
        return back(ȳ)

    first = cotangents(*copied(args))
    weights = cotangent(first, rng)

    def loss(*moved: Any) -> float:
        return inner(weights, cotangents(*copied(moved)))

    size = inner(absolute(weights), absolute(first))
    _, back = api.pullback(cotangents, *copied(args))
    second = back(weights)
    for path, leaf in leaves(args):
        x̄ = at(second, path)
        if not isinstance(x̄, NotImplementedCotangent):
            where = f"{name}, second derivative, args{shown(path)}"
            compare(where, "the pullback's pullback says", loss, args, path, leaf, x̄, rng, rtol, atol * size)


def check_forward(
    name: str,
    rule: Rule,
    target: Any,
    args: Any,
    kwargs: Any,
    ȳ: Any,
    rng: np.random.Generator,
    rtol: float,
    atol: float,
) -> None:
    """``jvp`` against the pullback by the product with ``ȳ``, and the gradient of that product."""

    def cotangents(*primals: Any) -> Any:
        return rule(*primals, **kwargs)[1](ȳ)[: len(args)]

    first = cotangents(*copied(args))
    tangents = tuple(_movable(ẋ, x̄) for ẋ, x̄ in zip(cotangent(args, rng), first))
    if all(ẋ is None for ẋ in tangents):
        return

    attribute = target.__name__ if isinstance(target, ATTRIBUTES) else None

    def call(*primals: Any) -> Any:
        return target(*primals, **kwargs) if attribute is None else getattr(primals[0], attribute)

    def forward(*primals: Any) -> Any:
        return inner(ȳ, api.jvp(call, primals, tangents)[1])

    def backward(*primals: Any) -> float:
        return inner(cotangents(*copied(primals)), tangents)

    ours, theirs, size = forward(*copied(args)), backward(*args), inner(absolute(first), absolute(tangents))
    close = abs(ours - theirs) <= 1e-2 * rtol * (abs(theirs) + size) or ours != ours and theirs != theirs
    require(close, "{}: jvp says {!r}, the pullback {!r}", name, ours, theirs)
    second = api.gradient(forward, *copied(args))
    for path, leaf in leaves(args):
        where = f"{name}, gradient of jvp, args{shown(path)}"
        compare(where, "the transpose says", backward, args, path, leaf, at(second, path), rng, rtol, atol * size)


def _movable(ẋ: Any, x̄: Any) -> Any:
    """A tangent without the parts for which there is no cotangent."""
    if x̄ is None or isinstance(x̄, NotImplementedCotangent):
        return None
    if isinstance(ẋ, (list, tuple)):
        return type(ẋ)([_movable(part, other) for part, other in zip(ẋ, x̄)])
    if isinstance(ẋ, dict):
        return {key: _movable(part, x̄.get(key)) for key, part in ẋ.items()}
    return ẋ
