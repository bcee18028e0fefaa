"""What the tests of specialised programs share: the oracle, comparisons, and whether a program was specialised."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import autodiff_hook as ad
from autodiff_hook.algebras import typed
from autodiff_hook.api import generic_hvp, generic_jvp, generic_withgradient
from autodiff_hook.runtime import specialising
from autodiff_hook.runtime.entering import entries
from autodiff_hook.runtime.specialising import GENERIC


def oracle(f: Callable[..., Any], *args: Any) -> tuple[Any, tuple[Any, ...]]:
    """Value and gradients of the carried program alone, within calls too."""
    with patch.object(typed, "GENERIC", True):
        return generic_withgradient(f, *args)


def is_specialised(f: Any) -> bool:
    """Whether there is a specialised program of ``f``; with AUTODIFF_GENERIC that is not asked."""
    return GENERIC or id(f.__code__) in entries()[type(f)]


def has_all_ways(f: Any, *forms: str) -> bool:
    """Whether there are typed programs of ``f``, in any form or in some, and all of them are for all ways."""
    programs = specialising._known.found[id(f.__code__)].items()
    known = [x for (form, *_), x in programs if not forms or form in forms]
    return any(x.entries for x in known) and not any(x.one_way for x in known)


def check(f: Callable[..., Any], *args: Any, specialised: bool | None = True) -> tuple[Any, ...]:
    """The value is that of the plain call, to the bit; the gradients are those of the carried program.

    ``specialised`` says whether there has to be a specialised program; None: it does not matter.
    """
    value = f(*args)
    _, expected = oracle(f, *args)
    for _ in range(2):
        same(ad.gradient(f, *args), expected)
    found, grads = ad.withgradient(f, *args)
    identical(found, value)
    same(grads, expected)
    if specialised is not None and not GENERIC:
        assert is_specialised(f) is specialised
    check_directions(f, lambda: args, value, expected)
    return expected


def check_directions(f: Callable[..., Any], make: Callable[[], Any], value: Any, gradient: tuple[Any, ...]) -> None:
    """In a direction, first and second derivatives are those of the carried programs; ``make`` makes the arguments."""
    known: dict[int, Any] = {}
    v = tuple([direction(x, i, known) for i, x in enumerate(gradient)])
    if all(x is None for x in v):
        return
    found, wanted = outcome(ad.jvp, f, make(), v), outcome(generic_jvp, f, make(), v)
    if isinstance(found, type) or isinstance(wanted, type):
        assert found is wanted
    else:
        identical(found[0], value)
        close(found[1], wanted[1])
    found, wanted = outcome(ad.hvp, f, make(), v), outcome(generic_hvp, f, make(), v)
    if isinstance(found, type) or isinstance(wanted, type):
        assert found is wanted
    else:
        close(found, wanted)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        return function(*args)
    except Exception as error:
        return type(error)


def direction(gradient: Any, number: int = 0, known: dict[int, Any] | None = None) -> Any:
    """A direction in the form of a gradient: what several names share has one."""
    known = {} if known is None else known
    if type(gradient) in (int, float, type(None)) or isinstance(gradient, np.generic):
        return None if gradient is None else type(gradient)(math.cos(number))
    if id(gradient) not in known:
        known[id(gradient)] = _directed(gradient, number, known)
    return known[id(gradient)]


def _directed(gradient: Any, number: int, known: dict[int, Any]) -> Any:
    if isinstance(gradient, (tuple, list)):
        parts = [direction(x, number + 3 * i, known) for i, x in enumerate(gradient)]
        return getattr(type(gradient), "_make", type(gradient))(parts)
    if isinstance(gradient, dict):
        return {key: direction(x, number + 3 * i, known) for i, (key, x) in enumerate(gradient.items())}
    if isinstance(gradient, ad.Tangent):
        parts = {key: direction(gradient[key], number + i, known) for i, key in enumerate(gradient)}
        return ad.Tangent(gradient._of, parts)
    if isinstance(gradient, np.ndarray):
        return (np.cos(number + 2.0 * np.arange(gradient.size)).reshape(gradient.shape)).astype(gradient.dtype.type)
    return type(gradient)(math.cos(number))


def close(a: Any, b: Any) -> None:
    """Second derivatives of one form, equal but for rounding."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, (dict, ad.Tangent)):
        for key in b:
            close(a[key], b[key])
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            close(x, y)
    elif a is not None:
        a, b = (np.where(np.isinf(x), np.nan, x) for x in (a, b))
        scale = 1.0 + float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0))
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * scale)


def changes(f: Callable[..., Any], change: Callable[[], Any], *args: Any) -> None:
    """Check ``f`` before and after ``change``; both times it is specialised."""
    check(f, *args)
    check(f, *args)
    change()
    check(f, *args, specialised=None)


def slopes(f: Callable[..., Any], *args: float, step: float = 1e-6) -> tuple[float, ...]:
    """Central differences of a function of floats."""
    found = []
    for i, x in enumerate(args):
        there, back = ([*args[:i], x + d, *args[i + 1 :]] for d in (step, -step))
        found.append((f(*there) - f(*back)) / (2 * step))
    return tuple(found)


def check_slopes(f: Callable[..., Any], *args: float, specialised: bool | None = True) -> None:
    """``check``, and finite differences agree."""
    check(f, *args, specialised=specialised)
    assert ad.gradient(f, *args) == pytest.approx(slopes(f, *args), rel=1e-5, abs=1e-7)


def check_all_ways(f: Callable[..., Any], *args: float) -> None:
    """``check_slopes``, and one program has all ways through ``f``."""
    check_slopes(f, *args, specialised=None if specialising.ONE_WAY else True)
    if not (GENERIC or specialising.ONE_WAY):
        assert has_all_ways(f, "gradient", "value")


def identical(a: Any, b: Any) -> None:
    """Two values of one type and with the same bits."""
    assert type(a) is type(b)
    if isinstance(a, (np.ndarray, np.generic)):
        assert a.tobytes() == b.tobytes()
    else:
        assert repr(a) == repr(b)


def same(a: Any, b: Any) -> None:
    """Gradients of one form, equal but for rounding."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, ad.Tangent):
        same({k: a[k] for k in a}, {k: b[k] for k in b})
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape
        digits = np.finfo(a.dtype).eps / np.finfo(float).eps if a.dtype.kind in "fc" else 1.0
        np.testing.assert_allclose(a, b, rtol=1e-9 * min(digits, 1e4), atol=1e-12 * digits)
    elif a is not None:
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12, nan_ok=True)


def raised(function: Callable[..., Any], *args: Any) -> tuple[type, str, list[tuple[str, int | None]]]:
    """Type, message and traceback, outside the engine, of what a call raises."""
    with pytest.raises(Exception) as caught:
        function(*args)
    frames = traceback.extract_tb(caught.value.__traceback__)
    kept = [(x.name, x.lineno) for x in frames if x.filename != __file__ and "autodiff_hook/" not in x.filename]
    return type(caught.value), str(caught.value), kept


def check_raises(f: Callable[..., Any], *args: Any) -> None:
    """What leaves ``f`` is the same in the plain run and in both forms of the gradient, time and again."""
    plain = raised(f, *args)
    for _ in range(3):
        assert raised(ad.gradient, f, *args) == plain
        assert raised(ad.withgradient, f, *args) == plain


def scope(source: str, **names: Any) -> dict[str, Any]:
    """The names that ``source`` defines, in a namespace of its own."""
    found = {"__name__": "specialised_scope", **names}
    exec(compile(source, "<specialised>", "exec"), found)
    return found
