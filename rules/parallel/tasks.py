"""The tasks of pools, and those of ``concurrent.futures``."""

import sys
from concurrent.futures import Future

from autodiff_hook.errors import NotDifferentiable
from autodiff_rules._definitions import follow_instead

REMEDIES = "do it in the tasks", "pass what it makes to them"


def outcome_of(function, args, kwargs):
    """Whether a task has succeeded, and its result or what it has raised."""
    try:
        return True, function(*args, **kwargs)
    except Exception as error:
        return False, error


def require_none(initializer):
    """Raise where threads or processes of a pool have something that the thread which differentiates has not."""
    if initializer is not None:
        raise NotDifferentiable(
            "what the initializer of a pool has done is in its threads or processes, and tasks that the gradient "
            "depends on are done by the thread that hands them on",
            remedies=REMEDIES,
        )


def initializer_of(executor):
    if sys.version_info >= (3, 14) and hasattr(executor, "_create_worker_context"):  # of contexts, one for each thread
        return getattr(executor._create_worker_context(), "initializer", None)
    return executor._initializer


def follow_tasks(executor, closed):
    """Differentiate the tasks of a class of executors, which are shut down if the attribute ``closed`` says so."""

    def submit(self, fn, /, *args, **kwargs):
        if getattr(self, closed):
            raise RuntimeError("cannot schedule new futures after shutdown")
        require_none(initializer_of(self))
        future = Future()
        future.set_running_or_notify_cancel()
        succeeded, outcome = outcome_of(fn, args, kwargs)
        (future.set_result if succeeded else future.set_exception)(outcome)
        return future

    follow_instead(executor.submit, submit)
