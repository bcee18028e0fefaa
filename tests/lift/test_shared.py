from __future__ import annotations

import gc
import types

from autodiff_hook.errors import Unsupported
from autodiff_hook.ir.printer import to_text
from autodiff_hook.lift import lift
from autodiff_hook.lift import lifting as table
from autodiff_hook.lift.lifting import shared


def made(source):
    found = {}
    exec(source, found)
    return found["f"]


def test_a_code_object_is_lifted_once():
    code = made("def f(x): return x * x").__code__
    assert shared(code) is shared(code)
    assert to_text(shared(code)) == to_text(lift(code))


def test_equal_code_objects_have_an_ir_each():
    one, two = (made("def f(x): return x * x").__code__ for _ in range(2))
    assert one == two and shared(one) is not shared(two)


def test_why_there_is_none_is_known():
    @types.coroutine
    def f():
        yield

    found = shared(f.__code__)
    assert isinstance(found, Unsupported) and found.__traceback__ is None and "types.coroutine" in str(found)


def test_it_goes_with_the_code_object():
    function = made("def f(x): return x * x")
    key = id(function.__code__)
    shared(function.__code__)
    assert key in table._lifted
    del function
    gc.collect()
    assert key not in table._lifted
