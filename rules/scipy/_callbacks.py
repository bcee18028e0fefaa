"""Calls of functions that call a function back."""

import inspect
from functools import cache, cached_property

from scipy import integrate, optimize

from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import some
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.functions import enter
from autodiff_rules.scipy._captured import differentiable_alone, taken_back
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


signature_of = cache(inspect.signature)


def called(x, function, args):
    return function(x, *args)


class Program:
    """A function of x, the callback and its arguments, followed by a program of its own."""

    def __init__(self, call, function, x, others):
        found = call.alone
        self.count, self.further = len(found.values), len(call.extra())
        self.value, self.pulled = taken_back(found, function, x, call.extra(), *others)

    def back(self, cotangent):
        """The cotangents of x, and of all that has tokens."""
        x̄, *given = self.pulled(cotangent)
        return x̄, *given[: self.count], *(given[self.count] or [None] * self.further)


class Call:
    """The arguments of a call of ``target`` by name, with their tokens; ``function`` names the callback.

    Solvers bring to 0 what ``equal`` makes of x, the callback and its further arguments, and of ``others``.
    """

    equal = staticmethod(called)
    others = ()

    def __init__(self, alg, target, function, t, args, kwargs):
        self.alg, self.target, self.function = alg, target, function
        signature = signature_of(target)
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
        return moving or reaches(self.alg, *[self.arguments[name] for name in names])

    def depends(self):
        """Whether the callback, or its further arguments, may have a derivative."""
        return self.may_move([name for name in (self.function, "args") if name in self.arguments])

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

    def operands(self, x, token):
        """What ``equal`` is given, with the tokens."""
        given = self.tokens.get("args")
        return (x, self.callback, self.extra(), *self.others), (None, token, self.tokens.get(self.function), given)

    def equation(self, x, token):
        """What is 0 at the solution ``x``, with its token."""
        values, tokens = self.operands(x, token)
        return enter(self.alg, (*tokens, *[None] * (len(values) + 1 - len(tokens))), self.equal, values, {})

    @cached_property
    def alone(self):
        """The callback, if what was made of it has nothing else with a token, and it leaves nothing behind; or None."""
        if self.memory.changed:
            return None
        found = differentiable_alone(self.alg, self.callback, self.extra())
        return None if found is None or found.taken() is None else found

    def tokens_alone(self):
        """The tokens of what a program of the callback depends on, beside x."""
        return *self.alone.tokens, *(self.tokens.get("args") or (None,) * len(self.extra()))

    def opened(self, x):
        """The equation at ``x``, open to sweeps back to ``x``."""
        values, _ = self.operands(x, None)
        if self.alone is not None:
            return Program(self, self.equal, x, values[3:])
        return Reverse(lambda x: self.equal(x, *values[1:]), (x,), {}, modules=self.alg.modules)

    def refined(self, x):
        """The solution that is differentiated."""
        return x

    def finish(self, x, token):
        """The last run of the callback, at the solution, with its token: what it stores is what remains."""
        if self.alone is None:
            self.equation(x, token)

    def slack(self):
        """How far from the root the solver was allowed to stop, with a margin."""
        return 10.0 * sum(self.arguments.get(name) or 0.0 for name in ("xtol", "rtol", "tol"))
