"""Programs that have gone wrong in other tools, before and after a round trip."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy
import pytest
from code_checks import check_code
from ir_interpreter import interpret

from autodiff_hook.emit import emit
from autodiff_hook.ir.verifier import verify
from autodiff_hook.lift import lift


def again(function: Callable[..., Any], release: bool = False) -> Callable[..., Any]:
    """The function after a round trip."""
    assert isinstance(function, FunctionType)
    ir = lift(function.__code__)
    verify(ir)
    code = emit(ir, release)
    check_code(code)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error), type(error.__context__), type(error.__cause__)


def same(function: Callable[..., Any], *args: Any) -> Any:
    """Check that the round trip, once and twice, and, for plain functions, the interpreter agree with the original."""
    assert isinstance(function, FunctionType)
    expected = outcome(function, *args)
    assert outcome(again(function), *args) == expected
    assert outcome(again(function, release=True), *args) == expected
    assert outcome(again(again(function)), *args) == expected
    return expected


def interpreted(function: Callable[..., Any], *args: Any) -> Any:
    assert isinstance(function, FunctionType)
    ir = lift(function.__code__)
    values = [*args, *(function.__defaults__ or ())][: len(ir.signature.names)]
    return outcome(lambda: interpret(ir, values, function.__globals__, function.__closure__ or ()))


def crasher(n: int) -> list[Any]:
    out: list[Any] = []
    for x in range(n):
        try:
            try:
                {}[x]
            except ValueError:
                out.append((x, 1))
                raise ZeroDivisionError from None
        except KeyError:
            out.append("fin")
    return out


def test_the_program_that_crashes_after_a_round_trip_through_bytecode() -> None:
    assert same(crasher, 3) == ["fin"] * 3
    assert interpreted(crasher, 3) == ["fin"] * 3


def rotate(n: int) -> tuple[int, int, int]:
    a, b, c = 1, 2, 3
    while n:
        a, b, c = c, a, b
        n -= 1
    return a, b, c


def swap_in_handler(x: Any) -> Any:
    a, b = 1, 2
    for i in range(4):
        try:
            a, b = b, a
            x[i]
        except IndexError:
            a, b = b, a + 10
    return a, b


@pytest.mark.parametrize("n", range(4))
def test_rotations_and_swaps(n: int) -> None:
    assert same(rotate, n) == interpreted(rotate, n)
    assert same(swap_in_handler, [0] * n) == interpreted(swap_in_handler, [0] * n)


def branches(x: Any) -> list[Any]:
    out = []
    if x:
        out.append("if")
    if not x:
        out.append("not")
    out.append("yes" if x else "no")
    out.append(x or "or")
    out.append(x and "and")
    while x:
        out.append("while")
        break
    return [str(y) for y in out]


@pytest.mark.parametrize("x", [0, 1, [], [1], numpy.False_, numpy.True_, numpy.float64(0), "", None, 0.0, -0.0])
def test_branch_on_anything(x: Any) -> None:
    assert same(branches, x) == interpreted(branches, x)


def maybe_unbound(flag: Any) -> Any:
    if flag:
        value = 1
    return value


def unbound_after_delete(x: Any) -> Any:
    del x
    return x  # noqa: F821


def unbound_in_handler(f: Any) -> Any:
    try:
        value = f()
    except ValueError as error:  # noqa: F841
        pass
    return value, error  # noqa: F821


def test_unbound_locals() -> None:
    assert same(maybe_unbound, True) == 1
    for function, argument in [(maybe_unbound, False), (unbound_after_delete, 1), (unbound_in_handler, lambda: 1)]:
        kind, message, *_ = same(function, argument)
        assert kind is UnboundLocalError and "where it is not associated with a value" in message
        assert interpreted(function, argument)[:2] == (kind, message)


def shadowing(x: Any) -> Any:
    inner = [x * 2 for x in range(x)]
    nested = {x: [y for y in range(x) if y] for x in inner}
    return x, inner, nested, {x for x in inner}


def unbound_around_comprehension(n: Any) -> Any:
    if n:
        x = 5
    y = [x for x in range(3)]
    return y, x


def test_comprehensions() -> None:
    assert same(shadowing, 4)[0] == 4
    assert same(unbound_around_comprehension, 1) == ([0, 1, 2], 5)
    assert same(unbound_around_comprehension, 0)[0] is UnboundLocalError


def cells(x: Any) -> Any:
    total = 0

    def add(y: Any) -> Any:
        nonlocal total
        total += y * x
        return total

    add(1)
    functions = [lambda: i for i in range(3)]  # noqa: B023
    return [add(i) for i in range(3)], total, [f() for f in functions]


def deleted_cell(x: Any) -> Any:
    def inner() -> Any:
        return x  # noqa: F821

    del x
    return inner()


def test_cells() -> None:
    assert same(cells, 2) == ([2, 4, 8], 8, [2, 2, 2])
    assert same(deleted_cell, 2)[0] is NameError


def catching(f: Any) -> Any:
    log = []
    try:
        try:
            log.append("try")
            f()
        except (KeyError, IndexError) as e:
            log.append(repr(e))
            raise RuntimeError("again") from e
        except ZeroDivisionError:
            raise
        else:
            log.append("else")
        finally:
            log.append("finally")
    except RuntimeError as e:
        log.append(repr(e.__cause__))
    with contextlib.suppress(AttributeError) as nothing:
        log.append(nothing)
        f.missing  # noqa: B018
    return log


def test_exceptions() -> None:
    for body in (lambda: 1, lambda: {}[0], lambda: [][0], lambda: 1 / 0, lambda: int("x")):
        same(catching, body)


def closing(log: list[Any]) -> Any:
    try:
        for i in range(3):
            try:
                got = yield i
                log.append(got)
            except ValueError as e:
                log.append(repr(e))
            finally:
                log.append("inner")
    finally:
        log.append("outer")
    return "done"


def delegating(log: list[Any]) -> Any:
    result = yield from closing(log)
    log.append(result)
    with contextlib.suppress(KeyError):
        yield from iter("ab")


def drive(make: Callable[..., Any], *how: Any) -> list[Any]:
    log: list[Any] = []
    generator = make(log)
    log.append(next(generator))
    for step in how:
        try:
            if step == "close":
                generator.close()
            elif isinstance(step, Exception):
                log.append(generator.throw(step))
            else:
                log.append(generator.send(step))
        except Exception as error:
            log.append(repr(error))
    return log


@pytest.mark.parametrize("function", [closing, delegating])
@pytest.mark.parametrize(
    "how", [("close",), (1, 2, 3, 4, 5), (ValueError("a"), "close"), (KeyError(1), 2), (1, "close", 3)]
)
def test_generators(function: Callable[..., Any], how: tuple[Any, ...]) -> None:
    expected = drive(function, *how)
    assert drive(again(function), *how) == expected
    assert drive(again(function, release=True), *how) == expected


async def waiting(n: int) -> Any:
    out = []

    @contextlib.asynccontextmanager
    async def manager() -> Any:
        out.append("in")
        try:
            yield 1
        finally:
            out.append("out")

    async def numbers() -> Any:
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async for i in numbers():
        async with manager() as one:
            out.append(i + one)
    try:
        async with asyncio.timeout(0):
            await asyncio.sleep(10)
    except TimeoutError:
        out.append("late")
    return out, [x async for x in numbers() if x]


def test_coroutines() -> None:
    assert asyncio.run(again(waiting)(3)) == asyncio.run(waiting(3))


def matching(x: Any) -> Any:
    match x:
        case {"a": 1, **rest}:
            return rest
        case [first, *_, last] if first != last:
            return first, last
        case complex(real=r) | str(r):
            return r
        case None | True:
            return "single"
    return "other"


@pytest.mark.parametrize("x", [{"a": 1, "b": 2}, [1, 2, 3], [1, 1], 1j, "s", None, True, 5, {}, ()])
def test_match(x: Any) -> None:
    assert same(matching, x) == interpreted(matching, x)


def groups(errors: list[Exception]) -> Any:
    log: list[Any] = []
    try:
        raise ExceptionGroup("g", errors)
    except* ValueError as e:
        log.append(repr(e))
    except* KeyError:
        log.append("key")
    return log


def test_exception_groups() -> None:
    same(groups, [ValueError(1), KeyError(2)])
    same(groups, [ValueError(1), TypeError(2)])


def failing(x: Any, log: Any = ()) -> Any:
    value = [y for y in x]
    try:
        with contextlib.nullcontext():
            return value[0] + value[1] / value[2]
    finally:
        len(log)


def formatted(function: Callable[..., Any], *args: Any) -> list[str]:
    try:
        function(*args)
    except Exception as error:
        assert error.__traceback__ is not None
        text = traceback.format_exception(type(error), error, error.__traceback__.tb_next)
        return [line.replace("again(failing)", "failing") for line in text]
    raise AssertionError


def test_tracebacks_and_carets() -> None:
    for argument in ([1, 2, 0], [1], 5, [1, 2, "a"]):
        expected = formatted(failing, argument)
        assert formatted(again(failing), argument) == expected
        assert any("^" in line or "~" in line for line in expected)


def test_development_mode() -> None:
    """The programs of this file under ``python -X dev``."""
    if sys.flags.dev_mode:
        return
    command = [sys.executable, "-X", "dev", "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent.parent.parent))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
