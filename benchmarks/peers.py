"""The same programs under other differentiators, as far as they are installed and take the program as it is.

A peer gets the workload's own functions, with its own modules under the names ``np`` and ``math``. It is measured with
its arrays already made; a program that it cannot differentiate unchanged (stores into arrays, branches on traced
values, objects) is left out, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.workloads.base import Case, mapped

Prepared = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments: the call returns the gradients (containers of any form, leaves in order)."""

Peer = Callable[[Case], Prepared]

MATH = ("sin", "cos", "sqrt", "exp", "log", "log10", "erf")

UNROLLED_TOO_LONG = ("index_loop", "index_list", "nbody", "scalar_mlp", "clenshaw", "rk4", "tree")
"""Loops and recursions that ``jax.jit`` unrolls, and then compiles for half a minute and more."""


def retargeted(function: Callable[..., Any], **modules: object) -> Callable[..., Any]:
    """A copy of a function, and of the functions of its module, with other modules under the given names."""
    assert isinstance(function, FunctionType)
    scope = dict(function.__globals__, **modules)
    for name, value in function.__globals__.items():
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            scope[name] = FunctionType(value.__code__, scope, name, value.__defaults__, value.__closure__)
    copy: Callable[..., Any] = scope[function.__name__]
    return copy


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of lists, tuples and dicts, without None."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    elif tree is not None:
        yield tree


def check_params(case: Case, *also: type) -> None:
    """Refuse parameters other than numbers and arrays, and what ``also`` names, in containers."""
    for leaf in leaves(case.params):
        if not isinstance(leaf, (float, np.ndarray, *also)):
            raise TypeError(f"a parameter is of the type {type(leaf).__name__}")


def math_of(library: Any, is_active: Callable[[Any], bool], **more: Any) -> SimpleNamespace:
    """The module ``math`` for the arrays of a library, which get its functions; numbers still get Python's own."""

    def either(name: str) -> Callable[[Any], Any]:
        own, plain = more.get(name) or getattr(library, name, None), getattr(math, name)
        return lambda x: own(x) if own and is_active(x) else plain(x)

    return SimpleNamespace(**{**vars(math), **{name: either(name) for name in MATH}})


def torch_peer() -> Peer:
    import torch

    def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
        def reduce(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
            return function(x) if axis is None else function(x, dim=axis, keepdim=keepdims)

        return reduce

    functions = ("exp", "log", "tanh", "concatenate", "diag")
    library = SimpleNamespace(
        **{name: getattr(torch, name) for name in functions},
        sum=reduction(torch.sum),
        max=reduction(torch.amax),
        maximum=lambda x, least: torch.clamp(x, min=least),
        copy=torch.clone,
        zeros=lambda shape: torch.zeros(shape, dtype=torch.float64),
        eye=lambda n: torch.eye(n, dtype=torch.float64),
        transpose=torch.permute,
        linalg=torch.linalg,
    )
    library_math = math_of(torch, torch.is_tensor)
    torch.set_num_threads(1)

    def prepare(case: Case) -> Prepared:
        check_params(case, str)
        forward = retargeted(case.forward, np=library, math=library_math)
        params = mapped(lambda x: torch.tensor(x, dtype=torch.float64, requires_grad=True), case.params)
        constants = mapped(lambda x: torch.from_numpy(x) if isinstance(x, np.ndarray) else x, case.constants)
        inputs = [leaf for leaf in leaves(params) if torch.is_tensor(leaf)]

        def gradients() -> Any:
            return torch.autograd.grad(forward(*params, *constants), inputs, materialize_grads=True)

        return gradients, ()

    return prepare


def autograd_peer() -> Peer:
    import autograd
    import autograd.builtins
    import autograd.numpy
    from autograd.tracer import isbox

    try:
        from autograd.scipy.special import erf
    except ImportError:  # it needs SciPy
        erf = None
    library_math = math_of(autograd.numpy, isbox, erf=erf)

    def prepare(case: Case) -> Prepared:
        check_params(case)
        forward = retargeted(
            case.forward, np=autograd.numpy, math=library_math, isinstance=autograd.builtins.isinstance
        )
        places = tuple(range(len(case.params)))
        gradient = autograd.grad(lambda *params: forward(*params, *case.constants), places)
        return gradient, case.params

    return prepare


def jax_peer() -> Peer:
    import jax

    jax.config.update("jax_enable_x64", True)
    library_math = math_of(jax.numpy, lambda x: isinstance(x, jax.Array), erf=jax.scipy.special.erf)

    def prepare(case: Case) -> Prepared:
        check_params(case)
        forward = retargeted(case.forward, np=jax.numpy, math=library_math)
        places = tuple(range(len(case.params)))
        gradient = jax.jit(jax.grad(lambda *params: forward(*params, *case.constants), places))
        params = mapped(lambda x: jax.numpy.asarray(x, dtype=float), case.params)
        return lambda *params: jax.block_until_ready(gradient(*params)), params

    return prepare


PEERS: dict[str, Callable[[], Peer]] = {"torch": torch_peer, "autograd": autograd_peer, "jax": jax_peer}


def installed() -> dict[str, Peer]:
    """The peers that can be imported."""
    found = {}
    for name, load in PEERS.items():
        try:
            found[name] = load()
        except ImportError:
            pass
    return found


def why_not(name: str, workload: str) -> str | None:
    """Why a peer is not even tried."""
    if name == "jax" and workload in UNROLLED_TOO_LONG:
        return "jax.jit unrolls the loop and compiles for too long"
    return None
