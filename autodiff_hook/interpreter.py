"""The interpreters that programs can be differentiated on: the engine reads and writes the bytecode of each version."""

from __future__ import annotations

import sys

SUPPORTED = ((3, 11), (3, 12), (3, 13), (3, 14))
TUPLES_ASK_LENGTH = sys.version_info < (3, 14)
"""Whether ``tuple(x)`` asks an object for its length before it takes any items, as ``list(x)`` does."""
LISTS_DOUBLE = sys.version_info >= (3, 13)
"""Whether a list that is extended by itself is not asked for an iterator, whatever its class says."""

_NAMES = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalPy"}


def obstacle() -> str | None:
    """Why nothing can be differentiated on this interpreter; None if it is supported."""
    name, version = sys.implementation.name, sys.version_info[:2]
    if name == "cpython" and version in SUPPORTED:
        return None
    return f"{_NAMES.get(name, name)} {_dotted(version)} is not supported: autodiff_hook works on {supported()}"


def supported() -> str:
    """The supported versions, for messages."""
    *versions, last = map(_dotted, SUPPORTED)
    return f"CPython {', '.join(versions)} and {last}"


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def is_free_threaded() -> bool:
    """Whether this is a build without the global interpreter lock, whether or not that is on."""
    enabled = getattr(sys, "_is_gil_enabled", None)
    if enabled is None:
        return False
    import sysconfig  # only builds of one kind have to ask

    return not enabled() or bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
