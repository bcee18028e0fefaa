"""Assignments to the attributes of arrays that say what they hold: stores, and other shapes in place."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, is_held
from autodiff_hook.errors import CUT, NotDifferentiable
from autodiff_hook.runtime.buffers import root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import array_mutation
from autodiff_hook.runtime.overlaps import require_read_first_of_flat
from autodiff_hook.semantics.arrays import store_array
from autodiff_hook.semantics.meanings import apply, means

_CONTENT: Final = ("flat", "real", "imag", "data", "dtype", "strides", "shape")


def is_content(owner: Any, name: str) -> bool:
    """Whether an attribute of an array says what the array holds, or how it is to be read."""
    return name in _CONTENT and kind_of(type(owner)) == "array"


def assign_content(alg: Algebra, t: Any, name: str, owner: Any, value: Any) -> None:
    """``owner.name = value`` of an array, which a derivative depends on."""
    before = alg.read(owner, t[0])
    if name == "shape":
        _reshape(alg, before, owner, value)
    elif name == "flat":
        if t[1] is not None:
            require_read_first_of_flat(owner, ..., np.asarray(value, order="F" if owner.flags.f_contiguous else None))
        repeated, moving = apply(alg, (None, t[1], None), np.resize, (value, owner.shape), {})
        store_array(alg, (before, None, moving), owner, ..., repeated)
    elif name == "real" or name == "imag" and owner.dtype.kind == "c":
        part, token = apply(alg, (None, before), _PARTS[name], (owner,), {})
        store_array(alg, (token, None, t[1]), part, ..., value)
    elif name == "imag":
        owner.imag = value  # NumPy refuses this
    elif name == "dtype" and owner.dtype.names is not None and owner.dtype.fields == value.fields:
        owner.dtype = value  # another class of records
    else:
        raise array_mutation(f"the assignment to the attribute {name} writes to")


_PARTS: Final[Any] = {"real": np.real, "imag": np.imag}


def _reshape(alg: Algebra, token: Any, array: Any, shape: Any) -> None:
    if root_of(array) is array and not array.flags.c_contiguous:
        raise NotDifferentiable(
            "an array that the gradient depends on, and that is not in C order, gets another shape in place, which is "
            "not differentiated",
            remedies=("make another array of it: b = a.reshape(...)", CUT),
        )
    alg.reshape(array, token, shape)


def set_shape(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array._set_shape(shape)``, which NumPy's own classes call since 2.5."""
    _reshape(alg, alg.read(args[0], t[0]), *args)
    return None, None


if hasattr(np.ndarray, "_set_shape"):
    means(np.ndarray._set_shape)(set_shape)


@means(np.ndarray.resize)
def resize(alg: Algebra, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
    """``array.resize(shape)``, which moves memory."""
    if t[0] is not None or reaches(alg, args[0]) or is_held(alg, args[0]):
        raise NotDifferentiable(
            "an array that the gradient depends on gets another size in place, which is not differentiated",
            remedies=("make another array of it: np.pad, np.concatenate, np.resize or a[:n]", CUT),
        )
    np.ndarray.resize(*args, **{**kwargs, "refcheck": False})
    return None, None
