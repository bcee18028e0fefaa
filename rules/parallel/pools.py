"""``multiprocessing.Pool`` and ``multiprocessing.pool.ThreadPool``, by what their other methods are made of."""

from multiprocessing.pool import ApplyResult, IMapIterator, MapResult, Pool, ThreadPool

from autodiff_rules._definitions import follow_instead
from autodiff_rules.parallel.tasks import outcome_of, require_none


def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):  # noqa: B006
    require_ready(self)
    result = ApplyResult(self, callback, error_callback)
    result._set(0, outcome_of(func, args, kwds))
    return result


def map_async(self, func, iterable, mapper, chunksize=None, callback=None, error_callback=None):
    require_ready(self)
    tasks = list(iterable)
    result = MapResult(self, len(tasks), len(tasks), callback, error_callback=error_callback)
    if tasks:
        result._set(0, outcome_of(mapper, ((func, tasks),), {}))
    return result


def imap(self, func, iterable, chunksize=1):
    require_ready(self)
    if chunksize < 1:
        raise ValueError(f"Chunksize must be 1+, not {chunksize}")
    result, done = IMapIterator(self), 0
    for task in iterable:
        result._set(done, outcome_of(func, (task,), {}))
        done += 1
    result._set_length(done)
    return result


def require_ready(pool):
    pool._check_running()
    if not isinstance(pool, ThreadPool):
        require_none(pool._initializer)


follow_instead(Pool.apply_async, apply_async)
follow_instead(Pool._map_async, map_async)
follow_instead(Pool.imap, imap)
follow_instead(Pool.imap_unordered, imap)
