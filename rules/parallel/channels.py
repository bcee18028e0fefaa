"""``multiprocessing.Process``, which may answer through a pipe."""

from multiprocessing.process import BaseProcess

from autodiff_hook.semantics.files import running_programs
from autodiff_hook.semantics.meanings import means

means(BaseProcess.start)(running_programs(BaseProcess.start))
