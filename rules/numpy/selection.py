"""Choosing between values by conditions and bounds."""

import numpy as np
from numpy._core.umath import clip

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import rrule
from autodiff_rules.numpy._shared import ABSENT, array_rrule, stretched, unbroadcast


@rrule(np.where)
def where_rule(condition, x=ABSENT, y=ABSENT, /):
    def where_pullback(z̄):
        if x is ABSENT:
            return None, None, None
        return None, unbroadcast(np.where(condition, z̄, 0.0), x), unbroadcast(np.where(condition, 0.0, z̄), y)

    return chosen(condition, x, y), where_pullback


def chosen(condition, x, y):
    return np.where(condition) if x is ABSENT else np.where(condition, x, y)


@array_rrule(np.clip)
def clip_rule(a, a_min=ABSENT, a_max=ABSENT, out=None, min=ABSENT, max=ABSENT):
    lower = a_min if min is ABSENT else min
    upper = a_max if max is ABSENT else max

    def clip_pullback(ȳ):
        ā, lower_cotangent, upper_cotangent = clip_cotangents(ȳ, a, lower, upper)
        return ā, lower_cotangent, upper_cotangent, None, lower_cotangent, upper_cotangent

    return np.clip(a, a_min, a_max, out, min=min, max=max), clip_pullback


cotangents((np.ndarray.clip, np.generic.clip), "self, min=None, max=None, out=None", 0, "self, min, max")(
    lambda ȳ, self, min, max: clip_cotangents(ȳ, self, min, max)
)


cotangents(clip, "x1, x2, x3, /", 3, "x1, x2, x3")(lambda ȳ, x1, x2, x3: clip_cotangents(ȳ, x1, x2, x3))


def clip_tangent(ẋ, y, place, a, a_min, a_max, min=ABSENT, max=ABSENT):
    """What the tangent of ``a`` (place 0) or of a bound contributes to that of what is clipped."""
    raised, lowered = clipped(a, a_min if min is ABSENT else min, a_max if max is ABSENT else max)
    taken = (~(raised | lowered), raised, lowered)[place]
    return stretched(np.where(taken, ẋ, 0.0), y)


def clipped(a, lower, upper):
    """Where the lower and where the upper bound is taken."""
    raised = np.False_ if lower is None or lower is ABSENT else np.less(a, lower)
    lowered = np.False_
    if upper is not None and upper is not ABSENT:
        lowered = np.greater(np.where(raised, 0.0 if lower is None or lower is ABSENT else lower, a), upper)
    return raised & ~lowered, lowered


def clip_cotangents(ȳ, a, lower, upper):
    """The cotangents of ``a`` and its bounds; at a bound that of ``a``."""
    raised, lowered = clipped(a, lower, upper)
    return (
        unbroadcast(np.where(raised | lowered, 0.0, ȳ), a),
        None if lower is None or lower is ABSENT else unbroadcast(np.where(raised, ȳ, 0.0), lower),
        None if upper is None or upper is ABSENT else unbroadcast(np.where(lowered, ȳ, 0.0), upper),
    )


@cotangents(np.select, "condlist, choicelist, default=0", 0, "choicelist, default")
def select_cotangents(ȳ, condlist, choicelist, default):
    taken = np.False_
    parts = []
    for condition, choice in zip(condlist, choicelist):
        parts.append(unbroadcast(np.where(np.logical_and(condition, ~taken), ȳ, 0.0), choice))
        taken = np.logical_or(taken, condition)
    rest = unbroadcast(np.where(taken, 0.0, ȳ), default)
    return parts if isinstance(choicelist, list) else tuple(parts), rest


def made_finite(x, nan=0.0, posinf=None, neginf=None):
    """``np.nan_to_num`` of a copy."""
    return np.nan_to_num(x, True, nan, posinf, neginf)


cotangents(
    made_finite,
    "x, nan=0.0, posinf=None, neginf=None",
    x=lambda ȳ, x: unbroadcast(np.where(np.isfinite(x), ȳ, 0.0), x),
    nan=lambda ȳ, x, nan: unbroadcast(np.where(np.isnan(x), ȳ, 0.0), nan),
    posinf=lambda ȳ, x, posinf: None if posinf is None else unbroadcast(np.where(np.isposinf(x), ȳ, 0.0), posinf),
    neginf=lambda ȳ, x, neginf: None if neginf is None else unbroadcast(np.where(np.isneginf(x), ȳ, 0.0), neginf),
)
