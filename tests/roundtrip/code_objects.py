"""The code objects that the sweeps run over: every function of the standard library and of NumPy."""

from __future__ import annotations

import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import numpy

_OPTIMIZED = 1


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions defined in a code object, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & _OPTIMIZED:
                yield constant
            yield from functions_in(constant)


def files() -> list[Path]:
    """All source files, in a fixed order."""
    library = Path(sysconfig.get_paths()["stdlib"])
    found = [p for p in library.rglob("*.py") if "site-packages" not in p.parts and "lib2to3" not in p.parts]
    return sorted(found) + sorted(Path(numpy.__file__).parent.rglob("*.py"))


def code_objects(every: int = 1, start: int = 0) -> Iterator[CodeType]:
    """The functions of every ``every``-th file."""
    for path in files()[start::every]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                module = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
        yield from functions_in(module)
