"""Maps that are linear in a signal and in a filter: their derivatives by both, in all orders, from two transposes.

With y of x and w, and c in the form of y, Σ c y is linear in x, w and c. So what stands beside x in it is a function of
c and w, what stands beside w one of x and c, and the cotangents of each of the three functions are the two others.
"""

import numpy as np

from autodiff_hook.extend import cotangents, fresh, frule
from autodiff_hook.registry import LINEAR
from autodiff_rules.numpy._shared import unbroadcast


def bilinear(applied, beside_signal, beside_filter):
    """Declare y = ``applied(x, w, options, cval)`` and what stands beside x and beside w.

    These are ``beside_signal(c, w, options, shape)`` and ``beside_filter(x, c, options, cval, shape)``; ``cval`` is
    what the signal is beyond its borders, ``options`` are constants, ``shape`` is that of the result. Gives ``applied``
    for a filter without derivative: that costs more than the derivative by the signal.
    """

    def signal_applied(x, w, options, cval):
        return applied(x, w, options, cval)

    def border(x, w, options):
        """What ones beyond the borders add to y."""
        return applied(np.zeros(np.shape(x)), w, options, 1.0)

    def signal_of(ȳ, x, w, options):
        return unbroadcast(beside_signal(ȳ, np.conj(w), options, np.shape(x)), x)

    def filter_of(ȳ, x, w, options, cval):
        return unbroadcast(beside_filter(np.conj(x), ȳ, options, np.conj(cval), np.shape(w)), w)

    def border_of(ȳ, x, w, options, cval):
        return unbroadcast(np.vdot(border(x, w, options), ȳ), cval)

    def moved(ẋ, y, x, w, options, cval):
        return applied(ẋ, w, options, 0.0)

    def bordered(ċ, y, x, w, options, cval):
        return ċ * border(x, w, options)

    cotangents(applied, "x, w, options, cval", 0, x=signal_of, w=filter_of, cval=border_of)
    frule(applied, moved, LINEAR, None, bordered)
    cotangents(signal_applied, "x, w, options, cval", 0, x=signal_of)
    frule(signal_applied, moved)
    cotangents(
        beside_signal,
        "c, w, options, shape",
        0,
        c=lambda ȳ, c, w, options: unbroadcast(applied(ȳ, np.conj(w), options, 0.0), c),
        w=lambda ȳ, c, w, options: unbroadcast(beside_filter(ȳ, np.conj(c), options, 0.0, np.shape(w)), w),
    )
    frule(beside_signal, LINEAR, LINEAR)
    cotangents(
        beside_filter,
        "x, c, options, cval, shape",
        0,
        x=lambda ȳ, x, c, options: unbroadcast(beside_signal(np.conj(c), ȳ, options, np.shape(x)), x),
        c=lambda ȳ, x, c, options, cval: unbroadcast(applied(np.conj(x), ȳ, options, np.conj(cval)), c),
        cval=lambda ȳ, x, c, options, cval: unbroadcast(np.vdot(c, border(x, ȳ, options)), cval),
    )
    frule(beside_filter, lambda ẋ, y, x, c, options, cval, shape: beside_filter(ẋ, c, options, 0.0, shape), LINEAR)
    fresh(applied, signal_applied, beside_signal, beside_filter)
    return signal_applied
