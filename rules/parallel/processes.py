"""``concurrent.futures.ProcessPoolExecutor``."""

from concurrent.futures.process import ProcessPoolExecutor

from autodiff_rules.parallel.tasks import follow_tasks


def initializer_of(pool):
    return pool._initializer


follow_tasks(ProcessPoolExecutor, "_shutdown_thread", initializer_of)
