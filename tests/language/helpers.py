"""What the tests of the language share."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autodiff_hook import gradient, pullback
from autodiff_hook.runtime.reachable import Walk
from autodiff_hook.testing import check_gradient

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
"""What ``gradient_at`` was given: the corpus runs it in every mode."""


def gradient_at(*args: Any, **kwargs: Any) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """Make a test of a function: its gradient at ``args`` is right, from ``gradient`` and from ``pullback``.

    ``check_gradient`` compares with finite differences and calls ``back`` with several cotangents.
    """

    def decorate(f: Callable[..., Any]) -> Callable[[], None]:
        PROGRAMS.append((f, args))

        def test() -> None:
            check_gradient(f, *args, **kwargs)

        test.__name__, test.__doc__ = f.__name__, f.__doc__
        return test

    return decorate


def assert_gradients(f: Callable[..., Any], args: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Both modes give ``expected``; the pullback is linear: thrice the cotangent gives thrice that."""
    assert gradient(f, *args) == pytest.approx(expected)
    _, back = pullback(f, *args)
    assert back(1.0) == pytest.approx(expected)
    assert back(3.0) == pytest.approx(tuple(3 * g for g in expected))


def raised(f: Callable[..., Any], *args: Any) -> tuple[type, str, list[tuple[str, int | None]]]:
    """Type, message and traceback (functions and lines, from ``f`` on) of what ``f`` raises."""
    with pytest.raises(Exception) as caught:
        f(*args)
    return _report(caught.value)


def raised_in_gradient(f: Callable[..., Any], *args: Any) -> tuple[type, str, list[tuple[str, int | None]]]:
    """The same of ``f`` while it is differentiated."""
    with pytest.raises(Exception) as caught:
        gradient(f, *args)
    return _report(caught.value)


def _report(error: BaseException) -> tuple[type, str, list[tuple[str, int | None]]]:
    frames = [
        (frame.name, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "autodiff_hook/" not in frame.filename
    ]
    return type(error), str(error), frames


def assert_same_exception(f: Callable[..., Any], *args: Any) -> None:
    """What leaves ``f`` is the same when it is differentiated: type, message, functions and lines."""
    assert raised_in_gradient(f, *args) == raised(f, *args)


def searched_in(call: Callable[..., Any], *args: Any) -> list[Any]:
    """What is searched for derivatives during a call."""
    found: list[Any] = []
    levels = Walk.levels

    def noting(self: Walk, *values: Any) -> Iterator[list[Any]]:
        for items in levels(self, *values):
            found.extend(items)
            yield items

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Walk, "levels", noting)
        call(*args)
    return found
