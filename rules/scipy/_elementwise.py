"""What rules of functions of SciPy share: cotangents by partial derivatives, and results of several parts."""

from autodiff_hook.extend import cotangents
from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import conj, unbroadcast


def cotangent(ȳ, slope, x):
    """The cotangent of the argument ``x`` from its partial derivative."""
    return unbroadcast(times(ȳ, conj(slope)), x)


def several(target, slopes):
    """Declare the derivative of a function of one argument that returns a tuple; ``slopes`` returns theirs."""
    cotangents(target, "x, /", x=lambda ȳ, y, x: summed(ȳ, slopes(x, y), x))


def summed(ȳ, slopes, x):
    """The cotangent of ``x`` from those of several values."""
    total = None
    for part, slope in zip(ȳ, slopes):
        if part is not None:
            c = cotangent(part, slope, x)
            total = c if total is None else total + c
    return total
