"""What the callables of NumPy's without derivative write to.

Functions of the C core that are not named here may write to anything; ufuncs and what dispatches on its arguments
only read them, but for those that are named.
"""

from types import BuiltinFunctionType

import numpy as np

from autodiff_hook.registry import writes

for function in vars(np).values():
    if type(function) is BuiltinFunctionType:
        writes(function)
for function in (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis):
    writes(function, 0)
writes(np.ufunc.at, 1)
for owner in (np.random.Generator, np.random.RandomState):
    for name, method in vars(owner).items():
        if not name.startswith("_"):
            writes(method, 0)
    writes(owner.shuffle, 0, 1)
for method in (np.random.Generator.random, np.random.Generator.standard_normal):
    writes(method, 0, 3)
for method in (np.random.Generator.standard_exponential, np.random.Generator.standard_gamma):
    writes(method, 0, 4)
