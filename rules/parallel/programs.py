"""``subprocess``: what starts all its programs."""

from subprocess import Popen

from autodiff_hook.semantics.files import running_programs
from autodiff_hook.semantics.meanings import means

means(Popen._execute_child)(running_programs(Popen._execute_child))
