"""A cross-section of the standard library lifts into well-formed IR, and what does not is refused."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift

LIBRARY = Path(os.__file__).parent
MODULES = (
    "argparse.py asyncio/base_events.py asyncio/streams.py asyncio/taskgroups.py contextlib.py dataclasses.py "
    "decimal.py email/_header_value_parser.py enum.py fractions.py functools.py heapq.py importlib/_bootstrap.py "
    "inspect.py json/encoder.py logging/__init__.py pickle.py random.py shutil.py statistics.py subprocess.py "
    "tarfile.py tempfile.py threading.py traceback.py turtle.py typing.py unittest/mock.py zipfile.py"
).split()


def functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from functions(constant)


@pytest.mark.parametrize("module", [x for x in MODULES if (LIBRARY / x).exists()])
def test_module(module: str) -> None:
    path = LIBRARY / module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(path.read_bytes(), str(path), "exec")
    for function in functions(code):
        try:
            ir = lift(function)
        except Unsupported as error:
            assert "the code of a module" in str(error)
        else:
            verify(ir)
