"""Which engine carries what is not specialised: the backward runtime, or, with AUTODIFF_ENGINE=tape, the algebras."""

from __future__ import annotations

import os
from typing import Any, Final

CARRIED: Final = os.environ.get("AUTODIFF_ENGINE") == "tape"


def open_session(f: Any, args: Any, kwargs: Any, of_function: bool = False) -> Any:
    """A forward pass, and what its reverse sweeps need."""
    if CARRIED:
        from autodiff_hook.algebras.reverse import Reverse

        return Reverse(f, args, kwargs, of_function=True) if of_function else Reverse(f, args, kwargs)
    from autodiff_hook.runtime.session import Session

    return Session(f, args, kwargs, of_function=True) if of_function else Session(f, args, kwargs)


def push(f: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Value and tangent."""
    if CARRIED:
        from autodiff_hook.algebras import forward

        return forward.push(f, primals, tangents)
    from autodiff_hook.runtime.pushing.session import push as push_
    from autodiff_hook.runtime.session import deeper_recursion

    with deeper_recursion:
        return push_(f, primals, tangents)


def hessian_of(function: Any, closed: Any, values: Any, single: bool) -> Any:
    """The Hessian of ``closed``, which is ``function`` with only the arguments that count."""
    if CARRIED:
        from autodiff_hook.algebras import hessians

        return hessians.hessian_of(closed, values, single)
    from autodiff_hook.runtime.pushing.hessians import hessian_of as hessian_of_

    return hessian_of_(function, closed, values, single)
