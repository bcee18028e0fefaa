"""``scipy.optimize.elementwise``: each element is the solution of an equation of its own, or the place of a minimum."""

import numpy as np
from scipy.optimize import elementwise

from autodiff_hook import gradient
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._callbacks import Call
from autodiff_rules.scipy.optimize.implicit import solution
from autodiff_rules.scipy.optimize.minima import with_result


def values(x, f, args):
    """The function as SciPy calls it: with vectors of what belongs together."""
    shape = np.shape(x)
    found = f(np.ravel(x), *[np.ravel(np.broadcast_to(item, shape)) for item in args])
    return np.reshape(found, shape)[()]


def slopes(x, f, args):
    """What is 0 at the minima: ``f[i]`` depends on ``x[i]`` alone."""
    return gradient(lambda x: np.sum(values(x, f, args)), x)[0]


class Elements(Call):
    """A call of a solver that brings ``equal`` to 0."""

    equal = staticmethod(values)

    def is_one(self, args):
        return not np.iterable(args)

    def finish(self, x, token):
        self.token_of_values = self.of_values(x, token)

    def of_values(self, x, token):
        """The token of the values of the function."""
        operands, tokens = self.operands(x, token)
        return enter(self.alg, tokens, values, operands, {})[1]


class Minima(Elements):
    """A call of ``find_minimum``."""

    equal = staticmethod(slopes)


@means(elementwise.find_root)
def find_root(alg, t, args, kwargs):
    call = Elements(alg, elementwise.find_root, "f", t, args, kwargs)
    result = call.run()
    token = solution(call, result.x, np.all(result.success), elementwise=True)
    return (result, None) if token is None else with_result(call, result, {"x": token, "f_x": None})


@means(elementwise.find_minimum)
def find_minimum(alg, t, args, kwargs):
    call = Minima(alg, elementwise.find_minimum, "f", t, args, kwargs)
    result = call.run()
    call.token_of_values = call.of_values(result.x, None)
    token = solution(call, result.x, np.all(result.success), elementwise=True)
    if alg.is_unknown(token):
        call.token_of_values = token
    known = {"x": token, "f_x": call.token_of_values}
    return (result, None) if call.token_of_values is None else with_result(call, result, known)
