"""``concurrent.futures.ThreadPoolExecutor``."""

from concurrent.futures.thread import ThreadPoolExecutor

from autodiff_rules.parallel.tasks import follow_tasks

follow_tasks(ThreadPoolExecutor, "_shutdown")
