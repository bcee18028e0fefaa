"""Hessians: the Jacobian of the gradient, which runs once; each row is a sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_hook import api
from autodiff_hook.runtime.engine import open_session
from autodiff_hook.runtime.trees import refuse_complex, rows_of


def hessian_of(f: Callable[..., Any], values: tuple[Any, ...], single: bool) -> Any:
    """The Hessian in the form of gradients, with that form again at each leaf; a ``single`` one has no tuple around."""
    refuse_complex(values)

    def slopes(*values: Any) -> Any:
        grads = api.generic_gradient(f, *values)
        return grads[0] if single else grads

    session = open_session(slopes, values, {})

    def row(seed: Any) -> Any:
        grads = session.back(seed)
        return grads[0] if single else grads

    return rows_of(session.value, row)
