"""Derivatives within derivatives: the operators of the public surface, where their caller is carried."""

from __future__ import annotations

from typing import Any

from autodiff_hook import api, operators
from autodiff_hook.algebras.forward import push, pushed
from autodiff_hook.algebras.levels import settled
from autodiff_hook.algebras.reverse import Reverse
from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, keep_attribute, load
from autodiff_hook.runtime.choosing import chosen_of
from autodiff_hook.runtime.guards import MISS
from autodiff_hook.runtime.jacobians import gradient_of_zero, require_numbers
from autodiff_hook.runtime.linear import Linear
from autodiff_hook.runtime.preparing import require_aux, scalar_seed
from autodiff_hook.runtime.pulled import Pulled
from autodiff_hook.runtime.pulled import opened as open_any
from autodiff_hook.semantics.calls import apply
from autodiff_hook.semantics.meanings import Args, Kwargs, means, natively
from autodiff_hook.semantics.structures import gather

for _function in (
    scalar_seed,
    require_aux,
    chosen_of,
    gradient_of_zero,
    require_numbers,
):
    natively(_function)


def _generic(form: Any, plain: Any) -> None:
    """What is differentiated once more is carried."""

    @means(form)
    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        return apply(alg, (None, *t), plain, args, kwargs)


_generic(api.gradient, api.generic_gradient)
_generic(api.withgradient, api.generic_withgradient)
_generic(api.jvp, api.generic_jvp)
_generic(api.hvp, api.generic_hvp)
_generic(api.linearize, api.generic_linearize)
_generic(api.partial_gradients, api.generic_gradients)


@means(operators._swept_rows, operators._typed_rows, operators._typed_columns)
def typed_parts(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """What is differentiated once more is carried."""
    return MISS, None


def _session(
    f: Any, args: Args, named: Kwargs, of_function: bool = False, has_aux: bool = False, places: Any = None
) -> Any:
    return f, args, named, of_function, places


@means(Reverse, open_any)
def opened(alg: Algebra, t: Any, given: Args, kwargs: Kwargs) -> Result:
    """A differentiation of what may carry derivatives itself."""
    f, args, named, of_function, places = _session(*given, **kwargs)
    if t[1] is None and not reaches(alg, f, args, named):
        return Reverse(f, args, named, of_function, places=places), None
    tokens = (None,) * len(args) if t[1] is None else t[1]
    names = [load(alg, named, name, value) for name, value in named.items()]
    session = Reverse.over(alg, (f, args, named), tokens, names, of_function, places)
    keep_attribute(alg, session, "value", settled(alg, session.value, session.below))
    return session, None


@means(Reverse.back)
def back(alg: Algebra, t: Any, given: Args, kwargs: Kwargs) -> Result:
    """The gradients, with derivatives with respect to what the function saw and to the cotangent."""
    session, cotangent = given
    tokens = gather(alg, cotangent, t[1])
    if session.tape.over is None and tokens is None:
        return session.back(cotangent), None
    if session.tape.over is not alg:
        # Another algebra carries this caller than the one that began the session: the pullback of a rule, transposed.
        args, named = session.tokens
        session = Reverse.over(alg, session.call, args, named, session.function is not None, session.places)
    grads: Result = session.back_over(alg, cotangent, tokens)
    return grads


@means(Pulled.back)
def back_of_specialised(alg: Algebra, t: Any, given: Args, kwargs: Kwargs) -> Result:
    """The same of a specialised pullback."""
    return back(alg, t, (given[0].session(), given[1]), kwargs)


@means(Linear.__call__)
def product(alg: Algebra, t: Any, given: Args, kwargs: Kwargs) -> Result:
    """A product of ``linearize``, with derivatives with respect to the tangents."""
    return apply(alg, (None, None, *t[1:]), api.generic_product, given, kwargs)


@means(push)
def push_within(alg: Algebra, t: Any, given: Args, kwargs: Kwargs) -> Result:
    """``jvp`` of what may carry derivatives itself."""
    f, primals, tangents, has_aux = given
    tokens = (None,) * len(primals) if t[1] is None else t[1]
    moving = [gather(alg, x, None if t[2] is None else t[2][i]) for i, x in enumerate(tangents)]
    value, tangent, below, tree = pushed(alg, f, primals, tangents, tokens, moving, has_aux)
    return (value, tangent), (settled(alg, value, below), settled(alg, tangent, tree))
