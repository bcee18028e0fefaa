"""What rules of functions of SciPy share: cotangents by partial derivatives, and results of several parts."""

from autodiff_hook.strong import times
from autodiff_rules.numpy._shared import array_rrule, conj, unbroadcast


def cotangent(ȳ, slope, x):
    """The cotangent of the argument ``x`` from its partial derivative."""
    return unbroadcast(times(ȳ, conj(slope)), x)


def several(target, slopes):
    """Register the derivative of a function of one argument that returns a tuple; ``slopes`` returns theirs."""

    def several_rule(x, /):
        y = target(x)

        def several_pullback(ȳ):
            x̄ = None
            for part, slope in zip(ȳ, slopes(x, y)):
                if part is not None:
                    c = cotangent(part, slope, x)
                    x̄ = c if x̄ is None else x̄ + c
            return (x̄,)

        return y, several_pullback

    array_rrule(target)(several_rule)
