"""``subprocess``: what starts all its programs."""

from subprocess import Popen

from autodiff_hook.semantics.files import handing_over
from autodiff_hook.semantics.meanings import means

means(Popen._execute_child)(handing_over(Popen._execute_child))
