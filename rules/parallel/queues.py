"""``multiprocessing.Queue``, out of which a thread of its own sends what is put into it."""

from multiprocessing.queues import Queue

from autodiff_hook.semantics.files import running_programs
from autodiff_hook.semantics.meanings import means

means(Queue.put)(running_programs(Queue.put))
