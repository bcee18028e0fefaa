"""``joblib.Parallel``."""

from functools import wraps

from joblib.parallel import Parallel, delayed

from autodiff_rules._definitions import defines, follow_instead


@defines(delayed)
def delay(function):
    @wraps(function)
    def task(*args, **kwargs):
        return function, args, kwargs

    return task


def call(self, iterable):
    results = (function(*args, **kwargs) for function, args, kwargs in iterable)
    return results if self.return_generator else list(results)


follow_instead(Parallel.__call__, call)
