"""``eval`` and ``exec``: what a text says is carried, as the body of a class is, in the namespaces that it is given."""

from __future__ import annotations

import builtins
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, some
from autodiff_hook.semantics.functions import enter_carried, unsupported
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means
from autodiff_hook.semantics.opaque import call_opaque, fail


def running(run: Any) -> Meaning:
    """What ``eval`` or ``exec`` means."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        source, *namespaces = args
        globals_, namespace = (*namespaces, None, None)[:2]
        namespace = globals_ if namespace is None else namespace
        if globals_ is None and not kwargs:
            fail(run, "which looks for the variables of its caller: give it dicts")
        if not kwargs and type(globals_) is dict and t[0] is None and not reaches(alg, source):
            code = compiled(source, run.__name__) if type(source) is str else source
            body = FunctionType(code, globals_) if type(code) is CodeType and not code.co_freevars else None
            if body is not None and not unsupported(body) and (some(t) or reaches(alg, body, namespace)):
                globals_.setdefault("__builtins__", builtins)
                value, token = enter_carried(alg, (None, None), body, (namespace,), {})
                return (value, token) if run is eval else (None, None)
            args = (code, *namespaces)
        return call_opaque(alg, t, run, args, kwargs, _REASON)

    return carried


_REASON: Final = "which runs text that is computed, or not followed"


@lru_cache(1 << 10)
def compiled(source: str, mode: str) -> CodeType:
    """The code of a text."""
    return compile(source.lstrip(" \t") if mode == "eval" else source, "<string>", mode, dont_inherit=True)


for _run in (eval, exec):
    means(_run)(running(_run))
