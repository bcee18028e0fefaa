"""Loggers in typed programs: what nobody would write down is left out, and where somebody would, they give up."""

from __future__ import annotations

import logging
from types import FunctionType
from typing import Any, Final

from autodiff_hook.transform.specialise.infer import Given


def listens(logger: Any, level: int) -> Any:
    """``logger.isEnabledFor(level)``, of a logger that has been asked before."""
    cls: Any = type(logger)
    if cls is not logging.Logger and cls is not logging.RootLogger:
        raise Given("a logger of a class of its own")
    return not logger.disabled and logger._cache[level]


def _silent(level: int) -> Any:
    def says_nothing(logger: Any, message: Any, *args: Any, **kwargs: Any) -> None:
        if logger.isEnabledFor(level):
            raise Given("something is logged")

    return says_nothing


def followed(function: Any) -> FunctionType | None:
    """The code that is followed in the place of a method of ``Logger``; None of anything else."""
    return _METHODS.get(function) if isinstance(function, FunctionType) else None


_METHODS: Final[dict[Any, FunctionType]] = {
    logging.Logger.isEnabledFor: listens,  # type: ignore[dict-item]
    **{getattr(logging.Logger, logging.getLevelName(n).lower()): _silent(n) for n in (10, 20, 30, 40, 50)},
}
