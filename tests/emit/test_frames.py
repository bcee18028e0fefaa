"""Frames of emitted code as debuggers, tracers and coverage tools see them."""

from __future__ import annotations

import asyncio
import dis
import sys
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

import pytest

import autodiff_hook as ad
from autodiff_hook.emit import emit
from autodiff_hook.lift import lift

RELEASE = pytest.mark.parametrize("release", [False, True])


def again(function: Callable[..., Any], release: bool) -> FunctionType:
    assert isinstance(function, FunctionType)
    code = emit(lift(function.__code__), release)
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


# What a frame holds


def look() -> float:
    """Read every local of every frame, of running ones and of those that an exception came through."""
    frames: list[FrameType | None] = [sys._getframe()]
    raised: TracebackType | None = sys.exception().__traceback__ if sys.exception() is not None else None
    while raised is not None:
        frames.append(raised.tb_frame)
        raised = raised.tb_next
    seen = 0
    for frame in frames:
        while frame is not None:
            for name, value in dict(frame.f_locals).items():
                seen += isinstance(name, str) and id(type(value)) != 0
            frame = frame.f_back
    assert seen
    return 1.0


@contextmanager
def manager() -> Iterator[float]:
    try:
        yield look()
    except ZeroDivisionError:
        look()
        raise
    finally:
        look()


def nested(x: float) -> float:
    try:
        try:
            y = x / (x - 2.0)
        except KeyError:
            y = look()
        finally:
            y = x * look()
    except ZeroDivisionError as error:
        look()
        y = x * x
        try:
            raise ValueError(x) from error
        except ValueError:
            y = y + x * look()
        finally:
            look()
    return y * look()


def managed(x: float) -> float:
    y = x
    for i in range(3):
        try:
            with manager() as a, manager():
                y = y * x + a
                if i == 1:
                    y = y / (x - x)
        except ZeroDivisionError:
            y = y + look()
    return y


def reraised(x: float) -> float:
    def inner(z: float) -> float:
        try:
            return z / 0
        except ZeroDivisionError:
            look()
            raise
        finally:
            look()

    try:
        return inner(x)
    except ArithmeticError as error:
        look()
        traceback.TracebackException.from_exception(error, capture_locals=True).format()
    return x * x


def delegating(x: float) -> float:
    def part(z: float) -> Iterator[float]:
        try:
            yield z
            yield z * look()
        finally:
            look()

    def whole(z: float) -> Iterator[float]:
        try:
            yield from part(z)
            raise ValueError
        except ValueError:
            look()
            yield z * z

    return sum(whole(x)) * x


def yielding(x: float) -> float:
    def squares(z: float) -> Iterator[float]:
        try:
            yield z * look()
        finally:
            look()
        yield z * z

    return sum(squares(x)) * x


HANDLERS = [nested, managed, reraised, delegating, yielding]


@RELEASE
@pytest.mark.parametrize("function", HANDLERS, ids=lambda x: x.__name__)
def test_locals_can_be_read_while_handlers_run(function: Callable[..., Any], release: bool) -> None:
    for x in (2.0, 3.0):
        assert again(function, release)(x) == function(x)


@pytest.mark.parametrize("function", [nested, managed, reraised, yielding], ids=lambda x: x.__name__)
def test_locals_can_be_read_while_handlers_of_a_gradient_run(function: Callable[..., Any]) -> None:
    for x in (2.0, 3.0):
        with ThreadPoolExecutor(1) as alone:  # the frames of pytest hold all tests
            slope = alone.submit(ad.gradient, function, x).result()[0]
        assert slope == pytest.approx((function(x + 1e-6) - function(x - 1e-6)) / 2e-6) or x == 2.0


# What sys.monitoring says of branches


def branching(x: float, n: int) -> float:
    r = 0.0
    for i in range(n):
        if i % 2:
            r += x
        elif i > 3 and r > x:
            r *= x
        else:
            r -= x
        if r > 100:
            r = x
            break
    else:
        r = r * x
    while r > 5 or n == 3:
        r -= x
        n -= 1
    return r if x > 1 else -r


def handling(x: float, n: int) -> float:
    y = x
    try:
        if x > 3:
            y = 1 / (x - n)
        else:
            y = x + n
    except ZeroDivisionError:
        y = -x
    finally:
        if n:
            y = y * x
    with manager() as a:
        if y is None:
            y = a + x
        elif y is not None and x:
            y = a - x
    assert y != a
    return y + sum([z for z in range(n) if z % 2])


def matching(x: float, n: int) -> float:
    match [x, n][:n]:
        case [a, b]:
            return a * b
        case [a] if a > 2:
            return a + n
    return x * n


def quantified(x: float, n: int) -> float:
    if all(x > i for i in range(n)):
        return x * n
    if any(x > i for i in range(n)):
        return x + n
    return tuple(x - i for i in range(n))[0]


def looping(x: float, n: int) -> float:
    k = n
    while n := n - 1:
        k -= 1
        if n > 3:
            x += n
            continue
        if not n - x:
            x -= k
            break
    return x + n


async def items(n: int) -> AsyncIterator[float]:
    for i in range(n):
        yield float(i)


async def asynchronous(x: float, n: int) -> float:
    async for i in items(n):
        if i > x:
            x += i
        async for j in items(n):
            x -= j
            if x < 0:
                x += i
                break
    return x + n


BRANCHES = [branching, handling, matching, quantified, looping, asynchronous]
ARGUMENTS = [(2.0, 1), (4.0, 2), (1.0, 3), (4.0, 4), (30.0, 7)]


def events(function: FunctionType, x: float, n: int) -> tuple[Counter[Any], Any]:
    """The branches that CPython names in advance and that are taken: where they stand, and which; and the result."""
    monitoring, code = sys.monitoring, function.__code__
    kinds = (monitoring.events.BRANCH_LEFT, monitoring.events.BRANCH_RIGHT)  # type: ignore[attr-defined, unused-ignore]
    places = {source: (left, right) for source, left, right in code.co_branches()}  # type: ignore[attr-defined, unused-ignore]
    positions = {x.offset: x.positions for x in dis.get_instructions(code)}
    taken: Counter[Any] = Counter()

    def note(kind: int) -> Callable[[CodeType, int, int], None]:
        def event(code: CodeType, source: int, destination: int) -> None:
            if destination in places.get(source, ()):
                assert places[source][kind] == destination
                leads_to = _line(code, destination, positions[source].lineno)
                taken[positions[source].lineno, leads_to] += 1

        return event

    monitoring.use_tool_id(monitoring.COVERAGE_ID, "test")
    try:
        for kind, event in enumerate(kinds):
            monitoring.register_callback(monitoring.COVERAGE_ID, event, note(kind))
        monitoring.set_local_events(monitoring.COVERAGE_ID, code, sum(kinds))
        try:
            result = function(x, n)
            if not isinstance(result, float):
                result = asyncio.run(result)
        except AssertionError:
            result = None
    finally:
        monitoring.set_local_events(monitoring.COVERAGE_ID, code, 0)
        monitoring.free_tool_id(monitoring.COVERAGE_ID)
    return taken, result


def _line(code: CodeType, offset: int, line: int | None) -> int | None:
    """The first other line that control comes to from a place, if there is one before the next branch."""
    instructions = {x.offset: x for x in dis.get_instructions(code)}
    following = dict(zip(instructions, list(instructions)[1:]))
    while offset is not None:
        x = instructions[offset]
        found = x.positions.lineno if x.positions is not None else None
        if found not in (None, line):
            return found
        if x.opname.startswith(("POP_JUMP", "FOR_ITER", "SEND", "RE", "RAISE")):
            return None
        offset = x.argval if x.opname.startswith("JUMP") else following.get(offset)
    return None


@pytest.mark.skipif(sys.version_info < (3, 14), reason="events of 3.14")
@RELEASE
@pytest.mark.parametrize("function", BRANCHES, ids=lambda x: x.__name__)
def test_branches_are_those_of_the_original(function: Callable[..., Any], release: bool) -> None:
    assert isinstance(function, FunctionType)
    for arguments in ARGUMENTS:
        expected, value = events(function, *arguments)
        found, result = events(again(function, release), *arguments)
        assert found == expected and result == value
        assert expected.total() > 0
