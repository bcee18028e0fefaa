# ruff: noqa: B007, B012, B904
"""Functions that use one construct each: control flow, exceptions, generators, async."""

from __future__ import annotations

import asyncio

from sampling import SIDE, Item, calls, fail, manager

# Control flow


@calls((5, 3), (0, 3), (5, 0))
def loops(n, m):
    r = []
    for i in range(n):
        if i == m:
            continue
        for j in range(i):
            if j == m - 1:
                break
            r.append((i, j))
        else:
            r.append(i)
    else:
        r.append("done")
    k = 0
    while k < n:
        k += 1
        if k % 2:
            continue
        if k > m:
            break
        r.append(k)
    else:
        r.append("while done")
    for _ in r:
        pass
    return r


@calls((3,), (0,))
def loop_variable(n):
    for i in range(n):
        pass
    return i


@calls((7,))
def endless(n):
    while True:
        n -= 1
        if n < 0:
            return n
        while True:
            if n % 2:
                break
            n -= 1


@calls((1,), (0,))
def assertion(x):
    assert x, "message"
    assert x
    return x


@calls((1,), ("abc",), ([1, 2, 3],), ({"k": 1, "z": 2},), (Item(4),), (None,), ((1,),), (1.5,), ([],))
def matching(x):
    match x:
        case 1 | 2:
            return "small"
        case str(s):
            return s
        case [a, *rest] if rest:
            return a, rest
        case {"k": k, **others}:
            return k, others
        case Item(value=v):
            return v
        case None:
            return "none"
        case (y,):
            return y
        case float():
            return "float"
    return "nothing"


@calls((2,))
def imports(x):
    import math
    from math import floor
    from os import path as p

    return math.sqrt(x), floor(x + 0.5), p.join("a", "b")


# Exceptions


@calls((0,), (1,), (2,), (3,), (4,))
def handlers(n):
    r = []
    try:
        r.append("try")
        if n == 1:
            raise ValueError("one")
        if n == 2:
            fail(KeyError, "two")
        if n == 3:
            fail(IndexError)
        x = [1][n]
    except ValueError as e:
        r.append(str(e))
    except (KeyError, TypeError):
        r.append("key")
        try:
            raise
        except KeyError as again:
            r.append(again.args)
    except IndexError:
        if n == 3:
            raise ZeroDivisionError from None
        r.append("index")
    else:
        r.append(x)
    finally:
        r.append("finally")
        SIDE.append(n)
    return r


@calls((0,), (1,), (2,))
def finally_paths(n):
    for i in range(3):
        try:
            if i == n:
                continue
            if n == 2:
                break
            if i == 2:
                return i
        finally:
            SIDE.append(i)
    return "end", SIDE[-3:]


@calls((0,))
def return_in_finally(n):
    try:
        return 1 / n
    finally:
        return "finally"


@calls((0,), (1,))
def locals_in_handler(n):
    a = 1
    try:
        a = 2
        b = 1 / n
        a = 3
    except ZeroDivisionError:
        return a, "b" in locals() if n is None else 0
    return a, b


@calls((3,))
def handler_in_loop(n):
    out = []
    for x in range(n):
        try:
            try:
                fail(KeyError)
            except ValueError:
                out.append((x, 1))
                raise ZeroDivisionError
        except KeyError as e:
            out.append((type(e), e.__context__))
    return out


@calls((0,), (1,))
def chained(n):
    try:
        try:
            fail(KeyError, n)
        except KeyError as e:
            if n:
                raise ValueError from e
            raise TypeError
    except (ValueError, TypeError) as e:
        return type(e), type(e.__cause__), type(e.__context__)


@calls((0,), (1,), (2,), (3,))
def groups(n):
    r = []
    try:
        if n == 1:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
        if n == 2:
            raise ValueError(3)
        if n == 3:
            raise ExceptionGroup("g", [ZeroDivisionError()])
    except* ValueError as e:
        r.append(len(e.exceptions))
    except* KeyError:
        r.append("key")
    return r


@calls((0,), (1,), (2,))
def with_statement(n):
    SIDE.clear()
    with manager(n == 1) as a, manager():
        if n:
            fail(ValueError if n == 1 else KeyError)
        SIDE.append(a)
        return "returned", SIDE[:]
    return SIDE[:]


@calls((2,))
def with_in_loop(n):
    SIDE.clear()
    for i in range(n):
        with manager():
            if i:
                break
            continue
    return SIDE[:]


# Generators and async: driven by a plain function, so that one call shows the whole behaviour


def generator(n):
    total = 0
    try:
        for i in range(n):
            got = yield i
            if got is not None:
                total += got
    except KeyError as e:
        yield "caught", e.args
    finally:
        SIDE.append("closed")
    return total


def delegating(n):
    r = yield from generator(n)
    yield "sub", r
    return (yield n + 1) if n else "end"


def leaking(n):
    yield n
    raise StopIteration


async def coroutine(n):
    r = []
    async with asyncio.Lock():
        r.append(await asyncio.sleep(0, n))
    async for x in asynchronous(n):
        r.append(x)
    r += [x async for x in asynchronous(2) if x]
    try:
        await awaiting_failure()
    except ValueError as e:
        r.append(str(e))
    return r


async def awaiting_failure():
    await asyncio.sleep(0)
    raise ValueError("awaited")


async def asynchronous(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


GENERATORS = [generator, delegating, leaking]
COROUTINES = [coroutine]
ASYNC_GENERATORS = [asynchronous]
