"""Distribution functions, and what is made of them: the complement, and the inverses of both."""

from autodiff_hook.extend import elementwise, per, scaled
from autodiff_hook.short_forms import function_of


def distribution(function, complement=None, inverse=None, inverse_of_complement=None, /, *, edge=None, **slopes):
    """Declare a distribution function by its partial derivatives, and those of its relatives, None if there is none.

    That by the ``edge``, the last parameter if no other is named, is the density. The inverses have a probability in
    its place: from F(y; a) = p follows ∂y/∂p = 1/F′ and ∂y/∂a = -∂F/∂a / F′.
    """
    edge = edge or list(slopes)[-1]
    if function is not None:
        elementwise(function, **slopes)
    if complement is not None:
        elementwise(complement, **{name: slope and scaled(-1.0, slope) for name, slope in slopes.items()})
    for target, sign in ((inverse, 1.0), (inverse_of_complement, -1.0)):
        if target is not None:
            of_probability = {edge: per(written("density", edge, density=slopes[edge]), sign)}
            of_others = {
                name: slope and written("-slope / density", edge, slope=slope, density=slopes[edge])
                for name, slope in slopes.items()
            }
            elementwise(target, **(of_others | of_probability))


def written(expression, edge, **functions):
    """The function that is this expression of ``functions``, whose parameter ``edge`` is the value ``y``."""
    given = []
    for name, function in functions.items():
        code = function.__code__
        reads = ["y" if x == edge else x for x in code.co_varnames[: code.co_argcount]]
        given += [x for x in reads if x not in given]
        expression = expression.replace(name, f"{name}({', '.join(reads)})")
    module = functions["density"].__module__
    return function_of(f"def written({', '.join(given)}):\n return {expression}\n", functions, module)
