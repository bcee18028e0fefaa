"""Pools, whose tasks are differentiated, and processes, pipes and programs, of which nothing comes back by itself."""

import math
import multiprocessing
import os
import pathlib
import pickle
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait
from multiprocessing.pool import ThreadPool

import pytest
from joblib import Parallel, delayed
from language.in_all_modes import MODES, differences

import autodiff_hook as ad


def wave(x, k=2):
    return math.sin(k * x) * k


def both(pair):
    return wave(*pair)


class Model:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, k):
        return self.scale**k

    def add(self, x):
        self.scale += x


def mapped(x):
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(wave, [x, x * x], [1, 3]))


def submitted(x):
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(wave, x, k=k) for k in range(3)]
        return sum(future.result() for future in futures)


def as_they_come(x):
    with ThreadPoolExecutor(2) as pool:
        futures = {pool.submit(lambda k: x**k, k): k for k in range(3)}
        return sum(futures[future] * future.result() for future in as_completed(futures))


def waited_for(x):
    with ThreadPoolExecutor(2) as pool:
        model = Model(x)
        done, _ = wait([pool.submit(model.add, x * k) for k in range(3)])
        return model.scale * len(done)


def stored(x):
    found = [1.0]

    def store():
        found[0] = x * x

    with ThreadPoolExecutor(1) as pool:
        pool.submit(store).result()
    return found[0]


def failed(x):
    def fail(k):
        raise ValueError(x * k)

    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(fail, 3.0).exception()
        try:
            pool.submit(fail, 2.0).result()
        except ValueError as other:
            return error.args[0] * other.args[0]


def called_back(x):
    found = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(wave, x).add_done_callback(lambda future: found.append(future.result()))
    return found[0]


def in_a_pool_of_threads(x):
    with ThreadPool(2) as pool:
        found = pool.map(both, [(x, 1), (x, 2)]) + pool.starmap(wave, [(x, 3)]) + pool.map(both, [])
        return sum(found) * pool.apply(wave, (x,), {"k": 1})


def in_a_pool_step_by_step(x):
    with ThreadPool(2) as pool:
        found = []
        later = pool.apply_async(Model(x), (2,), callback=lambda y: found.append(y * x))
        several = pool.map_async(Model(x), range(3), chunksize=2)
        one_by_one = sum(pool.imap(Model(x), range(3))) + sum(pool.imap_unordered(Model(x), iter([1, 2]), chunksize=2))
        return later.get() * sum(several.get()) + one_by_one * found[0]


def failed_in_a_pool(x):
    with ThreadPool(1) as pool:
        try:
            pool.apply(lambda: [].pop(x))
        except TypeError:
            return x * x


def in_processes(x):
    with ProcessPoolExecutor(1) as pool:
        return sum(pool.map(Model(x), range(3))) * pool.submit(wave, x).result()


def in_a_pool_of_processes(x):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(wave, (x,))


def jobs(x):
    several = Parallel(n_jobs=2)(delayed(wave)(x, k=k) for k in range(3))
    return sum(several) * sum(Parallel(n_jobs=2, return_as="generator")(delayed(Model(x))(k) for k in range(3)))


def constants_elsewhere(x):
    with ThreadPoolExecutor(1, initializer=str) as pool:
        return x * x * sum(pool.map(Model(2.0), range(3)))


TASKS = [
    *(mapped, submitted, as_they_come, waited_for, stored, failed, called_back, constants_elsewhere),
    *(in_a_pool_of_threads, in_a_pool_step_by_step, failed_in_a_pool, in_processes, jobs),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", TASKS)
def test_tasks_of_pools(f, mode):
    assert MODES[mode](f, 0.7) == pytest.approx(differences(f, 0.7, 2 if mode == "hvp" else 1), rel=1e-5, abs=1e-7)


def test_pools_of_processes_of_multiprocessing():
    assert ad.gradient(in_a_pool_of_processes, 0.7)[0] == pytest.approx(4 * math.cos(1.4))


def test_what_an_initializer_has_done_is_not_there():
    def f(x):
        with ThreadPoolExecutor(1, initializer=str) as pool:
            return pool.submit(wave, x).result()

    with pytest.raises(ad.NotDifferentiable, match="the initializer of a pool"):
        ad.gradient(f, 0.7)


def test_closed_pools_take_no_tasks():
    def f(x):
        pool = ThreadPoolExecutor(1)
        pool.shutdown()
        return pool.submit(wave, x).result()

    with pytest.raises(RuntimeError, match="after shutdown"):
        ad.gradient(f, 0.7)


SQUARE = "import sys; print(float(sys.argv[1]) ** 2)"
FILE = pathlib.Path(tempfile.gettempdir(), f"autodiff_hook_{os.getpid()}.txt")


@pytest.fixture(autouse=True)
def no_file():
    yield
    FILE.unlink(missing_ok=True)


def answer(queue, x):
    queue.put(x * x)


def of_a_process(x):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=answer, args=(queue, x))
    process.start()
    found = queue.get()
    process.join()
    return found


def through_a_pipe(x):
    here, there = multiprocessing.Pipe()
    here.send(x)
    return there.recv() ** 2


def through_descriptors(x):
    reading, writing = os.pipe()
    with open(reading, "rb") as there, open(writing, "wb") as here:
        here.write(pickle.dumps(x))
        here.close()
        return pickle.loads(there.read())


def through_a_socket(x):
    here, there = socket.socketpair()
    with here, there:
        here.sendall(pickle.dumps(x))
        return pickle.loads(there.recv(1000))


def of_a_program(x):
    return float(subprocess.check_output(["echo", repr(x)])) ** 2


def of_a_program_that_reads(x):
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        program.stdin.write(f"{x!r}\n")
        program.stdin.close()
        return float(program.stdout.readline()) ** 2


def of_a_file_that_a_program_wrote(x):
    os.system(f"echo {x!r} > {FILE}")
    return float(FILE.read_text())


def of_a_path(x):
    FILE.write_text(repr(x))
    return float(FILE.read_text()) ** 2


UNKNOWN = [
    *(of_a_process, through_a_pipe, through_descriptors, through_a_socket),
    *(of_a_program, of_a_program_that_reads, of_a_file_that_a_program_wrote, of_a_path),
]


@pytest.mark.skipif(sys.platform == "win32", reason="programs of POSIX")
@pytest.mark.parametrize("f", UNKNOWN)
def test_what_comes_back_from_outside_is_an_error(f):
    with pytest.raises(ad.NotDifferentiable):
        ad.gradient(f, 0.7)


@pytest.mark.skipif(sys.platform == "win32", reason="programs of POSIX")
def test_files_older_than_a_program_are_constants():
    def f(x):
        subprocess.run(["true", repr(x)], check=True)
        return x * float(FILE.read_text())

    FILE.write_text("3.0")
    os.utime(FILE, (1e9, 1e9))
    assert ad.gradient(f, 0.7) == (3.0,)
