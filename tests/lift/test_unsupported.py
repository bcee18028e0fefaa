"""What cannot be lifted is refused with what, where and in which function."""

from __future__ import annotations

import sys
import textwrap
import types
from types import CodeType

import pytest

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift
from autodiff_hook.lift.abstract import Machine
from autodiff_hook.lift.values import skip


def codes(source: str) -> dict[str, CodeType]:
    """All code objects of a source by qualified name."""
    found: dict[str, CodeType] = {}

    def walk(code: CodeType) -> None:
        found[code.co_qualname] = code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                walk(constant)

    walk(compile(textwrap.dedent(source), "file.py", "exec"))
    return found


@pytest.mark.parametrize(("source", "name"), [("class C:\n    x = y\n    del x\n", "C"), ("x = y\ndel x", "<module>")])
def test_the_body_of_a_class_and_of_a_module_has_its_namespace_as_parameter(source: str, name: str) -> None:
    ir = lift(codes(source)[name])
    verify(ir)
    assert ir.signature.names == (".namespace",)
    ops = [s.op for block in ir.blocks for s in block.statements]
    assert ops.count("name_get") == 1 + (name == "C") and ops.count("name_del") == 1


def test_generator_based_coroutines_are_refused() -> None:
    @types.coroutine
    def f():
        yield

    with pytest.raises(Unsupported, match=r"types\.coroutine .*test_unsupported\.py:\d+, in .*f\)"):
        lift(f.__code__)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of 3.12")
def test_annotation_scopes_in_classes_are_refused() -> None:
    found = codes(
        """
        class C:
            kind = int
            type Alias = kind
        """
    )
    with pytest.raises(Unsupported, match=r"the opcode LOAD_FROM_DICT_OR_GLOBALS .*\(file\.py:4, in C\.Alias\)"):
        lift(found["C.Alias"])


def test_unknown_opcodes_are_refused_with_name_and_line() -> None:
    def f(x):
        return x

    line = f.__code__.co_firstlineno
    with pytest.raises(Unsupported, match=rf"the opcode RESUME .* \(.*test_unsupported\.py:{line}, in .*f\)"):
        Machine(f.__code__, {"COPY_FREE_VARS": skip}).run()
