"""Context managers made of generators, as typed programs follow them (``transform/specialise/halves.py``)."""

from __future__ import annotations

from typing import Any


def contextmanager(function: Any) -> Any:
    """``contextlib.contextmanager``."""

    def helper(*args: Any, **kwargs: Any) -> Any:
        return manager(function(*args, **kwargs))

    return helper


def managed(function: Any, args: Any, kwargs: Any) -> Any:
    """What a function with ``contextlib.contextmanager`` makes."""
    return manager(function(*args, **kwargs))


def manager(generator: Any) -> Any:
    """The manager that runs a generator."""
    raise NotImplementedError("typed programs make none")


def begun(generator: Any) -> Any:
    """What is done where ``with`` begins, and its value."""
    return next(generator)


def ended(generator: Any, kind: Any, error: Any, traceback: Any) -> None:
    """What is done at an end of ``with``."""
    next(generator, None)
