"""Which files hold what was written with derivatives: by their path, or because another program may have written them.

Which descriptors are the ends of one pipe nobody tells, so all are one file.
"""

from __future__ import annotations

import io
import os
import time
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Token, kind, note_lost

_SUFFIXES: Final = (".npy", ".npz")
"""What NumPy appends to the names of files."""
_DESCRIPTORS: Final = ""
"""The path of what is known by its descriptor."""
_TICK: Final = 2_000_000_000
"""How much older than what it is a file may look, in ns: what file systems round its time to."""


def note_file(alg: Algebra, file: Any, unknown: Token) -> None:
    """What has derivatives was written to a file, which is given by its path, its descriptor, or open."""
    under = file
    while kind(under) == "object":
        note_lost(alg, under, unknown)
        under = _under(under)
    path = _path_of(file)
    if path is not None:
        alg.files[path] = unknown


def _under(stream: Any) -> Any:
    """The stream to which another one hands on what is written to it; None if it does not."""
    try:
        return stream.buffer if isinstance(stream, io.TextIOWrapper) else getattr(stream, "raw", None)
    except ValueError:  # it was detached
        return None


def note_program(alg: Algebra, unknown: Token) -> None:
    """Another program was given derivatives: it may answer through a pipe, and write to any file from now on."""
    alg.files[_DESCRIPTORS] = unknown
    if not alg.handed_over:
        alg.handed_over.append(time.time_ns() - _TICK)


def written_to(alg: Algebra, file: Any) -> Token:
    """The token of what is read out of a file."""
    if id(file) in alg.losses:
        return alg.losses[id(file)][1]
    path = _path_of(file)
    if path is None:
        return None
    if alg.handed_over and path not in alg.files and _changed_since(path, alg.handed_over[0]):
        return alg.files[_DESCRIPTORS]
    return alg.files.get(path)


def _changed_since(path: str, moment: int) -> bool:
    found = [path + suffix for suffix in ("", *_SUFFIXES) if os.path.exists(path + suffix)]
    return any(os.stat(name).st_mtime_ns > moment for name in found)


def _path_of(file: Any) -> str | None:
    path = file if isinstance(file, (str, os.PathLike, int)) else getattr(file, "name", None)
    if isinstance(path, int) or hasattr(file, "recv"):
        return _DESCRIPTORS
    if not isinstance(path, (str, os.PathLike)):
        return None
    stem, suffix = os.path.splitext(os.path.realpath(os.fsdecode(path)))
    return stem if suffix in _SUFFIXES else stem + suffix
