"""``concurrent.futures.ProcessPoolExecutor``."""

from concurrent.futures.process import ProcessPoolExecutor

from autodiff_rules.parallel.tasks import follow_tasks

follow_tasks(ProcessPoolExecutor, "_shutdown_thread")
