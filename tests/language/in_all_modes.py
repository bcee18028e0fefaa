"""A derivative of a function of one number by each operator, and what it has to be."""

from autodiff_hook import gradient, hvp, jvp, pullback

MODES = {
    "gradient": lambda f, x: gradient(f, x)[0],
    "pullback": lambda f, x: [back(1.0)[0] for back in [pullback(f, x)[1]] for _ in range(2)][1],
    "jvp": lambda f, x: jvp(f, (x,), (1.0,))[1],
    "hvp": lambda f, x: hvp(f, (x,), (1.0,))[0],
}


def differences(f, x, order):
    """Central differences of fourth order, for the first and the second derivative."""
    if order == 1:
        h = 1e-4
        return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h)
    h = 1e-3
    return (-f(x - 2 * h) + 16 * f(x - h) - 30 * f(x) + 16 * f(x + h) - f(x + 2 * h)) / (12 * h * h)
