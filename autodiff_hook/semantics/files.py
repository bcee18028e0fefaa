"""Files: what is written is a constant, but what is read out of a file that was given derivatives is unknown."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, Final

import numpy as np

from autodiff_hook.algebras.shadows import Algebra, Result, lose
from autodiff_hook.runtime.losses import failure
from autodiff_hook.semantics.meanings import Args, Kwargs, Meaning, means
from autodiff_hook.semantics.opaque import call_constant, call_opaque, call_showing, loses
from autodiff_hook.semantics.paths import note_file, note_program, written_to

TO_A_FILE: Final = "which writes it to a file"


def writing(function: Any, place: int, name: str, why: str = TO_A_FILE) -> Meaning:
    """A function that writes to the file that is its argument at ``place``, of this name."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        losing = loses(alg, t, None, args, kwargs)
        result = call_showing(alg, function, args, kwargs)
        file = args[place] if len(args) > place else kwargs.get(name)
        if losing:
            note_written(alg, file, function, why)
        return result

    return carried


def reading(function: Any, name: str) -> Meaning:
    """A function that reads from the file that is its first argument."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        file = args[0] if args else kwargs.get(name)
        unknown = written_to(alg, file)
        if unknown is None and not issubclass(type(file), _FILES) and loses(alg, t, None, args, kwargs):
            return call_opaque(alg, t, function, args, kwargs, "which reads numbers out of texts")
        value, token = call_showing(alg, function, args, kwargs)
        return value, token if unknown is None else lose(alg, value, unknown)

    return carried


def handing_over(function: Any) -> Meaning:
    """A function that hands on to another program, which may read what it is given, and the files that were written."""

    def carried(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
        if alg.files or loses(alg, t, None, args, kwargs):
            note_program(alg, alg.unknown(failure(function, "which hands it to another program")))
        return call_showing(alg, function, args, kwargs)

    return carried


def note_printed(alg: Algebra, file: Any) -> None:
    """What has derivatives was printed to a file; of the console, which is None, nothing is read."""
    note_written(alg, sys.stdout if file is None and isinstance(sys.stdout, io.StringIO) else file, print)


def note_written(alg: Algebra, file: Any, function: Any, why: str = TO_A_FILE) -> None:
    """A function has written what has derivatives to a file, from which it may be read, unlike from the console."""
    if file is not None and not any(file is console for console in (sys.__stdout__, sys.__stderr__, sys.stderr)):
        note_file(alg, file, alg.unknown(failure(function, why)))


_FILES: Final = (str, bytes, os.PathLike, io.IOBase)
"""What tells of a file; NumPy takes lists and iterators of lines as well."""
_BOTH: Final[tuple[Any, ...]] = (io.TextIOWrapper, io.BufferedRandom, io.FileIO)
_STREAMS: Final = (*_BOTH, io.StringIO, io.BytesIO, io.BufferedWriter)
_SOURCES: Final = (*_BOTH, io.BufferedReader)
_WRITERS: Final[tuple[tuple[Any, int, str], ...]] = (
    *((np.save, 0, "file"), (np.savez, 0, "file"), (np.savez_compressed, 0, "file"), (np.savetxt, 0, "fname")),
    *((np.ndarray.tofile, 1, "fid"), (np.ndarray.dump, 1, "file"), (json.dump, 1, "fp"), (os.write, 0, "fd")),
    *((method, 0, "self") for cls in _STREAMS for method in (cls.write, cls.writelines)),
)
_READERS: Final[tuple[tuple[Any, str], ...]] = (
    *((np.load, "file"), (np.loadtxt, "fname"), (np.genfromtxt, "fname"), (np.fromregex, "file")),
    *((np.fromfile, "file"), (np.memmap, "filename"), (json.load, "fp"), (os.read, "fd")),
    *((method, "self") for cls in _SOURCES for method in (cls.read, cls.readline, cls.readlines, cls.__next__)),
)
for _writer in _WRITERS:
    means(_writer[0])(writing(*_writer))
for _reader in _READERS:
    means(_reader[0])(reading(*_reader))
means(os.system)(handing_over(os.system))


@means(open)
def opened(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    file, _ = call_constant(alg, open, args, kwargs)
    unknown = written_to(alg, args[0] if args else kwargs.get("file"))
    return file, None if unknown is None else lose(alg, file, unknown)
