"""Checks for rules and gradients: values, types and aliasing, and derivatives against finite differences.

``check_rule`` is for authors of rules, ``check_gradient`` for everybody. Both raise ``AssertionError`` with a
message that names the function, the argument and both numbers.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import compress
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, Final

import numpy as np

from autodiff_hook import api
from autodiff_hook._testing_trees import (
    Path,
    absolute,
    at,
    close,
    combined,
    copied,
    cotangent,
    direction,
    inner,
    is_integer,
    is_leaf,
    is_object,
    keys_of,
    leaves,
    like,
    mapped,
    part_of,
    replaced,
    same,
    shifted,
    shown,
    tolerances,
    zero,
)
from autodiff_hook.cotangents import NotImplementedCotangent
from autodiff_hook.registry import LINEAR, Rule, describe, registry
from autodiff_hook.runtime.mirror import is_like
from autodiff_hook.signatures import Real, is_exact
from autodiff_hook.tangent import Tangent

DIGITS: Final = (4, 5, 3, 6, 2, 7, 1, 8)
"""The steps of differences, as powers of 0.1: those first which mostly agree with a derivative that is right."""
checks: Counter[str] = Counter()
"""How often ``check_rule`` has looked at the rules of each function."""
ATTRIBUTES: Final = (GetSetDescriptorType, MemberDescriptorType)
"""What stands in a class for an attribute that is computed."""
UNDEFINED = (ArithmeticError, ValueError, TypeError, LookupError)
"""What a function may raise beside the point in question: outside its domain, or between integers."""


def check_rule(
    target: Any,
    /,
    *args: Any,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    second_order: bool = False,
    differences: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> None:
    """Check the rule that is registered for ``target`` and the types of these arguments.

    The rule's value must be the target's own, the pullback linear and repeatable, with one cotangent of the
    right structure, shape and dtype for each positional argument; none of the inputs may be modified (arrays
    are passed read-only); and the cotangents must agree with central differences, in a random direction for
    each number and array in ``args``, up to ``rtol`` times the derivative plus ``atol`` times the value. Forward forms
    of ``target`` (``frule``) must be the transposes of the pullback, where the arguments are real. Single
    precision is compared with 1e-4 at best. Choose arguments away from kinks. ``kwargs`` are constants.
    ``second_order`` differentiates the pullback as well, transposes it (``jvp``), and differentiates the transpose.

    ``target`` may be an attribute of a class, such as ``np.ndarray.T``; generators of random numbers among ``args`` are
    in the same state at every call. ``differences`` is a function of the same arguments whose differences are taken
    where those of ``target`` are not the derivative: of a sample that was rejected and drawn again, or of a value that
    was computed apart from what it depends on.

    >>> import math
    >>> check_rule(math.atan2, 3.0, -4.0)
    >>> from autodiff_hook.registry import rrule
    >>> def cube(x):
    ...     return x**3
    >>> @rrule(cube)
    ... def cube_rule(x):
    ...     def cube_pullback(ȳ):
    ...         return (2 * x**2 * ȳ,)
    ...     return x**3, cube_pullback
    >>> check_rule(cube, 2.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: ...cube, args[0]: the rule says ..., finite differences ...
    """
    name = describe(target)
    rule = registry.rule(target, tuple(map(type, args)), tuple(kwargs))
    if rule is None:
        kinds = ", ".join(type(x).__name__ for x in args)
        raise AssertionError(f"{name}: no rule is registered for arguments of the types ({kinds})")
    checks[name] += 1
    rng = np.random.default_rng(0)
    function = _reading(target) if isinstance(target, ATTRIBUTES) else target
    expected = function(*copied(args), **copied(kwargs))
    inputs = copied(args, writeable=False)
    value, pullback = rule(*inputs, **copied(kwargs, writeable=False))
    _require(same(value, expected), "{}: the rule returns {!r}, the function {!r}", name, value, expected)
    _check_aliases(name, value, inputs, function, args, kwargs)

    ȳ = cotangent(value, rng)
    cotangents = pullback(ȳ)
    _check_count(name, rule, args, kwargs, cotangents)
    for i, (x̄, x) in enumerate(zip(cotangents, args)):
        _check_mirror(f"{name}, args[{i}]", x̄, x, value)
    _check_linear(name, pullback, ȳ, cotangents, cotangent(value, rng))
    rtol, atol = tolerances((args, value), rtol, atol)
    _check_forms(name, rule, (registry.forms(target), function), inputs, kwargs, value, (ȳ, cotangents), rng, rtol)
    _require(same(inputs, args), "{}: the rule modifies its arguments", name)

    def loss(*shifted: Any) -> float:
        return inner(ȳ, (differences or function)(*copied(shifted), **kwargs))

    size = inner(absolute(ȳ), absolute(value))
    for path, leaf in leaves(args):
        x̄ = at(cotangents, path)
        if not isinstance(x̄, NotImplementedCotangent):
            _compare(f"{name}, args{shown(path)}", "the rule says", loss, args, path, leaf, x̄, rng, rtol, atol * size)
    if second_order:
        known = [not isinstance(x̄, NotImplementedCotangent) for x̄ in cotangents[: len(args)]]
        target, rule, args = (
            _by_known(target, known, args),
            _rule_by_known(rule, known, args),
            tuple(compress(args, known)),
        )
        _check_second_order(name, rule, args, kwargs, ȳ, rng, rtol, atol)
        _check_forward(name, rule, target, args, kwargs, ȳ, rng, rtol, atol)


def check_gradient(f: Callable[..., Any], /, *args: Any, rtol: float = 1e-6, atol: float = 1e-8, **kwargs: Any) -> None:
    """Check ``autodiff_hook.gradient(f, *args, **kwargs)`` against finite differences.

    Compared are all numbers and arrays in the arguments, also those in lists, tuples, dicts and attributes of objects
    (each of which is met once), each in a random direction; so a method is checked by its class,
    ``check_gradient(Spring.energy, spring, x)``, or with respect to its arguments alone,
    ``check_gradient(spring.energy, x)``. Besides, the value that the differentiated function returns and the state in
    which it leaves its arguments must be those of ``f`` itself, and the pullback must be linear and repeatable.
    ``f`` is called many times.

    >>> check_gradient(lambda x: x * abs(x), -1.5)
    """
    name = describe(f)
    rng = np.random.default_rng(0)
    plain, traced = copied(args), copied(args)
    expected = f(*plain, **copied(kwargs))
    value, gradients = api.withgradient(f, *traced, **copied(kwargs))
    _require(same(value, expected), "{}: the value is {!r}, differentiated {!r}", name, expected, value)
    _require(same(traced, plain), "{}: differentiated, it leaves its arguments as {!r}, not {!r}", name, traced, plain)
    _require(len(gradients) == len(args), "{}: {} gradients of {} arguments", name, len(gradients), len(args))
    for i, (x̄, x) in enumerate(zip(gradients, args)):
        _check_mirror(f"{name}, args[{i}]", x̄, x, x, complete=True)
    _, back = api.pullback(f, *copied(args), **copied(kwargs))
    one = like(1.0, value)
    cotangents = back(one)
    _check_linear(name, back, one, cotangents, like(-0.7, value))

    rtol, atol = tolerances((args, value), rtol, atol)

    def loss(*shifted: Any) -> float:
        return inner(one, f(*copied(shifted), **copied(kwargs)))

    size = inner(one, absolute(value))
    for path, leaf in leaves(args):
        where = f"{name}, args{shown(path, args)}"
        _compare(where, "gradient says", loss, args, path, leaf, at(gradients, path), rng, rtol, atol * size)
        _compare(where, "pullback says", loss, args, path, leaf, at(cotangents, path), rng, rtol, atol * size)


def _reading(attribute: Any) -> Callable[..., Any]:
    def read(x: Any) -> Any:
        return getattr(x, attribute.__name__)

    return read


def _require(condition: bool, message: str, *values: Any) -> None:
    # The text of an array takes longer than most checks: it is made where it is shown.
    if not condition:
        raise AssertionError(message.format(*values))


def _check_forms(
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
        _require(close, "{}, args[{}]: the forward form says {!r}, the pullback {!r}", name, i, ours, theirs)


# The derivative


def _compare(
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
    _require(close, "{}: {} {!r}, finite differences {!r}", where, says, ours, theirs)


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


def _by_known(function: Any, known: list[bool], args: tuple[Any, ...]) -> Any:
    """``function`` as one of the arguments by which its derivative is known; the others stay as they are."""
    if all(known):
        return function
    places = [sum(known[:i]) if here else None for i, here in enumerate(known)]

    def by_known(*free: Any, **kwargs: Any) -> Any:
        return function(*[args[i] if place is None else free[place] for i, place in enumerate(places)], **kwargs)

    return by_known


def _rule_by_known(rule: Rule, known: list[bool], args: tuple[Any, ...]) -> Rule:
    if all(known):
        return rule
    called = _by_known(rule, known, args)

    def rule_by_known(*free: Any, **kwargs: Any) -> Any:
        y, pullback = called(*free, **kwargs)

        def pullback_by_known(ȳ: Any) -> Any:
            cotangents = pullback(ȳ)
            return *[cotangents[i] for i, here in enumerate(known) if here], *cotangents[len(known) :]

        return y, pullback_by_known

    return rule_by_known


def _check_second_order(
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
            _compare(where, "the pullback's pullback says", loss, args, path, leaf, x̄, rng, rtol, atol * size)


def _check_forward(
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
    _require(close, "{}: jvp says {!r}, the pullback {!r}", name, ours, theirs)
    second = api.gradient(forward, *copied(args))
    for path, leaf in leaves(args):
        where = f"{name}, gradient of jvp, args{shown(path)}"
        _compare(where, "the transpose says", backward, args, path, leaf, at(second, path), rng, rtol, atol * size)


def _movable(ẋ: Any, x̄: Any) -> Any:
    """A tangent without the parts for which there is no cotangent."""
    if x̄ is None or isinstance(x̄, NotImplementedCotangent):
        return None
    if isinstance(ẋ, (list, tuple)):
        return type(ẋ)([_movable(part, other) for part, other in zip(ẋ, x̄)])
    if isinstance(ẋ, dict):
        return {key: _movable(part, x̄.get(key)) for key, part in ẋ.items()}
    return ẋ


# The other requirements


def _check_count(name: str, rule: Rule, args: Any, kwargs: Any, cotangents: Any) -> None:
    bound = inspect.signature(rule).bind(*args, **kwargs)
    count = 0
    for parameter in bound.signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            count += len(bound.arguments.get(parameter.name, ()))
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            count += 1
    if not isinstance(cotangents, tuple):
        raise AssertionError(f"{name}: the pullback returns {cotangents!r}, which is no tuple")
    message = "{}: the pullback returns {} cotangents for {} positional parameters"
    _require(len(cotangents) == count, message, name, len(cotangents), count)


def _check_mirror(where: str, x̄: Any, x: Any, value: Any, complete: bool = False) -> None:
    """Whether ``x̄`` can be the cotangent of ``x``; ``complete`` forbids None where there is a derivative."""
    if isinstance(x̄, NotImplementedCotangent) or (x̄ is None and not (complete and any(leaves(x)))):
        return
    described = "{}: the cotangent of {!r} is {!r}"
    if isinstance(x, (list, tuple)):
        fits = isinstance(x̄, list if isinstance(x, list) else tuple) and len(x̄) == len(x)
        _require(fits, described, where, x, x̄)
        for i, (part, whole) in enumerate(zip(x̄, x)):
            _check_mirror(f"{where}[{i}]", part, whole, value, complete)
    elif isinstance(x, dict):
        fits = isinstance(x̄, dict) and (x̄.keys() == x.keys() if complete else x̄.keys() <= x.keys())
        _require(fits, described, where, x, x̄)
        for key in x̄:
            _check_mirror(f"{where}[{key!r}]", x̄[key], x[key], value, complete)
    elif isinstance(x, np.ndarray) and keys_of(x) is not None:
        _require(is_like(x, x̄) and keys_of(x̄) == keys_of(x), described, where, x, x̄)
        for key in keys_of(x) or ():
            _check_mirror(f"{where}[{key!r}]", part_of(x̄, key), part_of(x, key), value, complete)
    elif is_object(x):
        _require(isinstance(x̄, Tangent) and list(x̄) == list(vars(x)), described, where, x, x̄)
        for key in x̄:
            _check_mirror(f"{where}.{key}", x̄[key], vars(x)[key], value, complete)
    elif isinstance(x, np.ndarray):
        _require(isinstance(x̄, np.ndarray) and x̄.shape == x.shape, described, where, x, x̄)
        dtype = x.dtype if x.dtype.kind in "fc" else np.result_type(float)
        _require(x̄.dtype == dtype, described + ", of dtype {} instead of {}", where, x, x̄, x̄.dtype, dtype)
    else:
        _require(_fits_number(x̄, x, value), described + ", of type {}", where, x, x̄, type(x̄).__name__)


def _fits_number(x̄: Any, x: Any, value: Any) -> bool:
    inexact = (float, np.floating) if Real.contains(type(x)) or isinstance(x, bool) else (complex, float, np.inexact)
    if isinstance(x, np.inexact) and type(value) is type(x) and isinstance(x̄, np.inexact):
        return x̄.dtype == x.dtype
    return (is_leaf(x) or isinstance(x, bool)) and isinstance(x̄, inexact)


def _check_linear(name: str, pullback: Callable[[Any], Any], ȳ: Any, cotangents: Any, other: Any) -> None:
    """The pullback is linear (over the reals), can be called again, and takes None in a tuple for zero."""
    _require(same(pullback(ȳ), cotangents), "{}: the pullback called twice gives two results", name)
    whole = pullback(mapped(combined, ȳ, other))
    parts = mapped(combined, cotangents, pullback(other))
    _require(close(whole, parts, ȳ), "{}: the pullback is not linear: {!r} instead of {!r}", name, whole, parts)
    for i in range(len(ȳ)) if isinstance(ȳ, (list, tuple)) else ():
        absent = pullback(replaced(ȳ, (i,), None))
        zeroed = pullback(replaced(ȳ, (i,), mapped(zero, ȳ[i])))
        message = "{}: the pullback takes None at [{}] for {!r}, 0 for {!r}"
        _require(close(absent, zeroed, ȳ), message, name, i, absent, zeroed)


def _check_aliases(name: str, value: Any, inputs: Any, target: Any, args: Any, kwargs: Any) -> None:
    """The rule's value shares memory with the arguments only where the function's own value does."""
    if _shares(value, inputs):
        copies = copied(args)
        expected = target(*copies, **copied(kwargs))
        _require(_shares(expected, copies), "{}: the rule's value is a view of an argument", name)


def _shares(value: Any, args: Any) -> bool:
    arrays = [leaf for _, leaf in leaves((value,)) if isinstance(leaf, np.ndarray)]
    others = [leaf for _, leaf in leaves(args) if isinstance(leaf, np.ndarray)]
    return any(np.may_share_memory(a, b) for a in arrays for b in others)
