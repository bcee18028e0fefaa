"""``asyncio``: coroutines, tasks and futures that an event loop drives."""

import asyncio

import pytest
from language.in_all_modes import MODES, differences

import autodiff_hook as ad
from autodiff_rules import asynchronous as asynchronous


async def square(v):
    await asyncio.sleep(0)
    return v * v


async def triple(v):
    return v * 3


def awaited(x):
    async def main():
        return await square(x) * await triple(x)

    return asyncio.run(main()) + asyncio.run(square(x))


def gathered(x):
    async def main():
        (a, b), c = await asyncio.gather(pair(), triple(2.0 * x))
        squares = await asyncio.gather(*[square(x * i) for i in range(4)])
        return a * b[0] * c + sum(squares)

    async def pair():
        await asyncio.sleep(0)
        return x, (x * x, 2.0)

    return asyncio.run(main())


def tasks(x):
    async def main():
        first, second = asyncio.create_task(square(x)), asyncio.ensure_future(square(2 * x))
        value = await first
        await second
        done, _ = await asyncio.wait([asyncio.create_task(square(x * i)) for i in range(1, 4)])
        return value * first.result() * second.result() + sum(task.result() for task in done)

    return asyncio.run(main())


def waited_for(x):
    async def main():
        total = await asyncio.wait_for(square(x), 1.0) * await asyncio.shield(triple(x))
        for coroutine in asyncio.as_completed([square(x), square(2 * x)]):
            total += await coroutine
        return total

    return asyncio.run(main())


def futures(x):
    async def main():
        loop = asyncio.get_running_loop()
        now, later = loop.create_future(), loop.create_future()
        now.set_result(x * x)
        loop.call_soon(later.set_result, x)
        return await now * await later * await asyncio.sleep(0.0001, x)

    return asyncio.run(main())


def callbacks(x):
    found = []

    async def main():
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(square(x))
        task.add_done_callback(lambda task: found.append(task.result()))
        loop.call_soon(found.append, x)
        loop.call_soon_threadsafe(lambda: found.append(x * x))
        loop.call_later(0.0001, lambda v: found.append(v * x), x)
        await task
        await asyncio.sleep(0.002)

    asyncio.run(main())
    return sum(i * v for i, v in enumerate(sorted(found), 1)) * found[1]


def producer_and_consumer(x):
    async def produce(queue):
        for i in range(3):
            await queue.put(x * i)
        await queue.put(None)

    async def consume(queue):
        total = 0.0
        while (v := await queue.get()) is not None:
            total += v * v
        return total

    async def main():
        queue = asyncio.Queue(1)
        task = asyncio.create_task(produce(queue))
        total = await consume(queue)
        await task
        return total

    return asyncio.run(main())


def state_in_common(x):
    class Counter:
        value = x

        async def step(self, lock, event):
            await event.wait()
            await lock.acquire()
            self.value = self.value * x
            await asyncio.sleep(0)
            lock.release()

    async def main():
        counter, lock, event = Counter(), asyncio.Lock(), asyncio.Event()
        steps = asyncio.gather(*[counter.step(lock, event) for _ in range(3)])
        await asyncio.sleep(0)
        event.set()
        await steps
        return counter.value

    return asyncio.run(main())


def exceptions(x):
    async def fail(v):
        await asyncio.sleep(0)
        raise ValueError(v * v)

    async def main():
        error, value = await asyncio.gather(fail(x), square(x), return_exceptions=True)
        try:
            await asyncio.create_task(fail(2 * x))
        except ValueError as other:
            return error.args[0] * value * other.args[0]

    try:
        asyncio.run(fail(x))
    except ValueError as error:
        return error.args[0] * asyncio.run(main())


def a_loop_of_its_own(x):
    loop = asyncio.new_event_loop()
    try:
        found = loop.run_until_complete(square(x))
    finally:
        loop.close()
    with asyncio.Runner() as runner:
        return runner.run(square(x)) * runner.run(square(2 * x)) * found


def cancelled(x):
    found = []

    async def sleeper():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            found.append(x * x)
            raise
        finally:
            found.append(x)

    async def main():
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            await asyncio.wait_for(sleeper(), 0.001)
        except asyncio.TimeoutError:
            return found[0] * found[3] + found[1]

    return asyncio.run(main())


def workers(x):
    async def work(queue, found):
        while True:
            v = await queue.get()
            found.append(v * v)
            queue.task_done()

    async def main():
        queue, found = asyncio.Queue(), []
        running = [asyncio.create_task(work(queue, found)) for _ in range(2)]
        for i in range(4):
            queue.put_nowait(x * i)
        await queue.join()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        return sum(found)

    return asyncio.run(main())


def recursion(x):
    async def both(n, v):
        if n < 2:
            return v
        (a, b), c = await asyncio.gather(asyncio.gather(both(n - 1, v * 1.1), both(n - 2, v)), square(v))
        return a + b * x + c

    return asyncio.run(both(4, x))


def first_come(x):
    async def main():
        waiting, total = {asyncio.create_task(square(x * i)) for i in (1, 2, 3)}, 0.0
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            total += sum(task.result() for task in done) * x
        return total

    return asyncio.run(main())


def constants(x):
    async def main():
        return (await asyncio.gather(square(1.0), square(2.0)))[1]

    return asyncio.run(main()) * x


def another_thread(x):
    async def main():
        return await asyncio.to_thread(pow, x, 2)

    return asyncio.run(main())


def stored_by_another_thread(x):
    found = []

    async def main():
        await asyncio.get_running_loop().run_in_executor(None, lambda: found.append(x * x))

    asyncio.run(main())
    return found[0]


def threads(x):
    async def main():
        return sum(await asyncio.gather(*[asyncio.to_thread(pow, x, k) for k in range(3)]))

    return asyncio.run(main())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "f",
    [
        *(awaited, gathered, tasks, waited_for, futures, callbacks, producer_and_consumer, state_in_common, exceptions),
        *(a_loop_of_its_own, cancelled, workers, recursion, first_come, constants),
        *(another_thread, stored_by_another_thread, threads),
    ],
)
def test_programs(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-3 if mode == "hvp" else 1e-8)


def asynchronous_with(x):
    async def main():
        async with asyncio.Lock():
            return x * x

    return asyncio.run(main())


def stored_by_what_is_not_carried(x):
    found = []

    async def store():
        async with asyncio.Lock():
            found.append(x * x)

    async def main():
        await asyncio.gather(store(), store())

    asyncio.run(main())
    return found[0] * x


def stored_over_what_has_a_derivative(x):
    found, named = [x], {"a": x}

    class Holder:
        value = 1.0

    holder = Holder()
    holder.value = x

    async def store():
        async with asyncio.Lock():
            found[0] = named["a"] = holder.value = x * x

    async def main():
        await store()

    asyncio.run(main())
    return found[0] * named["a"] * holder.value


def asynchronous_for(x):
    async def numbers():
        yield x

    async def main():
        return sum([v async for v in numbers()])

    return asyncio.run(main())


def groups(x):
    async def main():
        async with asyncio.TaskGroup() as group:
            task = group.create_task(square(x))
        return task.result()

    return asyncio.run(main())


def tasks_of_what_is_not_carried(x):
    async def locked(v):
        async with asyncio.Lock():
            return v * v

    async def main():
        task = asyncio.create_task(locked(x))
        await asyncio.wait([task])
        return task.result()

    return asyncio.run(main())


REFUSED = [
    stored_over_what_has_a_derivative,
    *(asynchronous_with, stored_by_what_is_not_carried, asynchronous_for, groups),
    tasks_of_what_is_not_carried,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", REFUSED)
def test_what_is_not_carried_is_an_error(f, mode):
    with pytest.raises(ad.NotDifferentiable):
        MODES[mode](f, 0.7)
