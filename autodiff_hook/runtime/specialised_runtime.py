"""What specialised programs call."""

from __future__ import annotations

from typing import Any, Final

from autodiff_hook.registry import NotImplementedCotangent
from autodiff_hook.runtime.cotangents import accumulate, part, tuple_cotangent
from autodiff_hook.runtime.mirror import array_gradient, number_gradient


def uniform(items: list[Any], cls: type) -> bool:
    """Whether all items are of exactly this type."""
    return set(map(type, items)) == {cls}


def seed(value: Any) -> Any:
    """The cotangent 1 of a scalar; the generic path says what is wrong with anything else."""
    from autodiff_hook.runtime.session import scalar_seed

    return scalar_seed(value, seed)


def zeros_like(array: Any) -> Any:
    """Where the cotangents of the items of an array are added up."""
    import numpy as np

    return np.zeros(array.shape, array.dtype if array.dtype.kind == "f" else float)


def counted(present: Any, contribution: Any) -> Any:
    """The sum of cotangents, the second of which may be None or not implemented."""
    if isinstance(contribution, NotImplementedCotangent):
        raise contribution.fail()
    return present if contribution is None else accumulate(present, contribution)


def add_at(buffer: Any, index: Any, cotangent: Any) -> None:
    """Add to a part of a buffer."""
    import numpy as np

    if isinstance(index, (int, slice)) or (
        isinstance(index, tuple) and all(isinstance(i, (int, slice)) for i in index)
    ):
        buffer[index] += cotangent
    else:
        np.add.at(buffer, index, cotangent)


def zero_list(items: list[Any]) -> list[float]:
    """The gradient of a list of numbers that nothing depends on."""
    return [0.0] * len(items)


def float_list(items: list[Any]) -> list[float]:
    """Cotangents as plain floats."""
    return list(map(float, items))


RUNTIME: Final[dict[str, Any]] = {
    "accumulate": accumulate,
    "counted": counted,
    "part": part,
    "tuple_cotangent": tuple_cotangent,
    "seed": seed,
    "zeros_like": zeros_like,
    "add_at": add_at,
    "number_gradient": number_gradient,
    "array_gradient": array_gradient,
    "zero_list": zero_list,
    "float_list": float_list,
}
