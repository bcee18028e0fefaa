"""Calls of functions that call a function back."""

import inspect

from scipy import integrate, optimize

from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.algebras.shadows import reaches, some
from autodiff_hook.semantics.calls import apply
from autodiff_rules.scipy._memory import Memory

ONE_ARGUMENT = {
    integrate.quad,
    optimize.bisect,
    optimize.brenth,
    optimize.brentq,
    optimize.fsolve,
    optimize.leastsq,
    optimize.minimize,
    optimize.minimize_scalar,
    optimize.ridder,
    optimize.root,
    optimize.root_scalar,
    optimize.toms748,
}
"""What takes ``args`` that are no tuple for one argument; the others spread them."""


class Call:
    """The arguments of a call of ``target`` by name, with their tokens; ``function`` names the callback.

    The callback is a part of an equation, here all of it, which solvers bring to 0.
    """

    def __init__(self, alg, target, function, t, args, kwargs):
        self.alg, self.target, self.function = alg, target, function
        signature = inspect.signature(target)
        names = [*list(signature.parameters)[: len(args)], *kwargs]
        self.tokens = dict(zip(names, t))
        self.bound = signature.bind(*args, **kwargs)
        self.bound.apply_defaults()
        self.arguments = self.bound.arguments
        self.memory = Memory(alg, *self.arguments.values())
        given = self.arguments.get("args", ())
        if not isinstance(given, tuple) and (given is not None or self.is_one(given)):
            self.make_tuple(given, self.tokens.get("args"))

    @property
    def name(self):
        return f"{'.'.join(self.target.__module__.split('.')[:2])}.{self.target.__name__}"

    @property
    def callback(self):
        return self.arguments[self.function]

    def run(self):
        """The native call, with the arguments as they are now."""
        value = self.target(*self.bound.args, **self.bound.kwargs)
        self.memory.ran()
        return value

    def may_move(self, names):
        """Whether any of the arguments with these names may have a derivative."""
        moving = some([self.tokens.get(name) for name in names])
        return moving or any(reaches(self.alg, self.arguments[name]) for name in names)

    def make_tuple(self, args, token):
        """Make the further arguments of the callback the tuple that ``target`` makes of them."""
        if self.is_one(args):
            found, tokens = (args,), None if token is None else (token,)
        else:
            found, tokens = apply(self.alg, (None, token), tuple, (args,), {})
        self.arguments["args"], self.tokens["args"] = found, tokens

    def is_one(self, args):
        """Whether ``args``, which are no tuple, are one argument of the callback."""
        return self.target in ONE_ARGUMENT

    def extra(self):
        return self.arguments["args"]

    def passed(self, x, token):
        """The arguments of the callback at ``x``, and its own token with theirs."""
        given = self.tokens.get("args") or (None,) * len(self.extra())
        return (x, *self.extra()), (self.tokens.get(self.function), token, *given)

    def operands(self, x, token):
        """The same of a function of ``x``, the callback and the further arguments."""
        (_, *args), (moving, _, *given) = self.passed(x, token)
        return (x, self.callback, tuple(args)), (None, token, moving, tuple(given) if some(given) else None)

    def follow(self, x, token):
        """What the callback gives for ``x``, with its token."""
        args, tokens = self.passed(x, token)
        return apply(self.alg, tokens, self.callback, args, {})

    def equation(self, x, token):
        """What is 0 at the solution ``x``, with its token."""
        return self.follow(x, token)

    def opened(self, x):
        """The equation at ``x``, open to sweeps back to ``x``."""
        args, _ = self.passed(x, None)
        return Reverse(self.callback, args, {}, modules=self.alg.modules)

    def refined(self, x):
        """The solution that is differentiated."""
        return x

    def finish(self, x, token):
        """The last run of the callback, at the solution, with its token: what it stores is what remains."""
        self.follow(x, token)

    def slack(self):
        """How far from the root the solver was allowed to stop, with a margin."""
        return 10.0 * sum(self.arguments.get(name) or 0.0 for name in ("xtol", "rtol", "tol"))
