"""What programs ask of the process and the clock along the way: constants (``os``, ``sys``, ``time``, ``warnings``)."""

import _thread
import abc
import os
import sys
import time
import uuid
import warnings

from autodiff_hook.extend import effects, pure
from autodiff_hook.registry import nondifferentiable
from autodiff_rules._constants import ASKS_THE_SYSTEM, TIMES

for name, function in vars(time).items():
    if callable(function) and not name.startswith("_") and function is not time.struct_time:
        nondifferentiable(function, TIMES)
        if name in ("sleep", "tzset") or name.endswith(("settime", "settime_ns")):
            effects(function)
for function in (
    *(warnings.warn, warnings.warn_explicit, warnings.simplefilter, warnings.filterwarnings),
    *(os.getpid, os.getcwd, os.getenv, os.cpu_count, os.urandom, os.listdir, uuid.uuid1, uuid.uuid4),
    *(os.path.exists, os.path.isfile, os.path.isdir, os.path.join, os.path.basename, os.path.dirname),
    *(os.fspath, abc.get_cache_token, _thread.RLock),
    *(sys.getsizeof, sys.getrefcount, sys.getrecursionlimit, sys.setrecursionlimit, sys.exc_info, sys.intern),
):
    nondifferentiable(function, ASKS_THE_SYSTEM)
pure(os.getpid, os.getcwd, os.cpu_count, os.path.exists, os.path.isfile, os.path.isdir, sys.getrecursionlimit)
pure(uuid.uuid1, uuid.uuid4)
