"""``scipy.optimize.elementwise``: each element is the solution of an equation of its own, or the place of a minimum."""

from __future__ import annotations

import numpy as np
from scipy.optimize import elementwise

from autodiff_hook import gradient
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.algebras.shadows import some
from autodiff_hook.semantics.functions import enter
from autodiff_hook.semantics.meanings import means
from autodiff_rules.scipy._callbacks import Call
from autodiff_rules.scipy.optimize.implicit import solution
from autodiff_rules.scipy.optimize.minima import with_result


def slope(x, f, args):
    """What is 0 at the minima: ``f[i]`` depends on ``x[i]`` alone."""
    return gradient(lambda x: np.sum(f(x, *args)), x)[0]


class Minima(Call):
    """A call of ``find_minimum``."""

    def operands(self, x, token):
        """The arguments of ``slope``, and their tokens."""
        (_, *args), (moving, _, *given) = self.passed(x, token)
        return (x, self.callback, tuple(args)), (None, token, moving, tuple(given) if some(given) else None)

    def equation(self, x, token):
        values, tokens = self.operands(x, token)
        return enter(self.alg, tokens, slope, values, {})

    def opened(self, x):
        _, f, args = self.operands(x, None)[0]
        return Reverse(lambda x: slope(x, f, args), (x,), {}, modules=self.alg.modules)

    def finish(self, x, token):
        self.token_of_value = self.follow(x, token)[1]


@means(elementwise.find_root)
def find_root(alg, t, args, kwargs):
    call = Call(alg, elementwise.find_root, "f", t, args, kwargs)
    result = call.run()
    token = solution(call, result.x, np.all(result.success), elementwise=True)
    return (result, None) if token is None else with_result(call, result, {"x": token, "f_x": None})


@means(elementwise.find_minimum)
def find_minimum(alg, t, args, kwargs):
    call = Minima(alg, elementwise.find_minimum, "f", t, args, kwargs)
    result = call.run()
    call.token_of_value = call.follow(result.x, None)[1]
    token = solution(call, result.x, np.all(result.success), elementwise=True)
    if alg.is_unknown(token):
        call.token_of_value = token
    known = {"x": token, "f_x": call.token_of_value}
    return (result, None) if call.token_of_value is None else with_result(call, result, known)
