"""``concurrent.futures.ThreadPoolExecutor``."""

import sys
from concurrent.futures.thread import ThreadPoolExecutor

from autodiff_rules.parallel.tasks import follow_tasks


def initializer_of(pool):
    if sys.version_info >= (3, 14):  # of contexts, one for each thread
        return getattr(pool._create_worker_context(), "initializer", None)
    return pool._initializer


follow_tasks(ThreadPoolExecutor, "_shutdown", initializer_of)
