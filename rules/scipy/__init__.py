"""The derivatives of SciPy. Each subpackage has an entry point of its own, and is loaded once SciPy's is imported."""

import scipy

from autodiff_hook.extend import Unsuited

LOWEST = (1, 17)  # below, functions that the rules stand in for are missing, or have other arguments

if tuple(map(int, scipy.__version__.split(".")[:2])) < LOWEST:
    needed = ".".join(map(str, LOWEST))
    raise Unsuited(
        "scipy",
        f"is differentiated from SciPy {needed} on, and this is {scipy.__version__}: "
        f"upgrade it (pip install -U 'scipy>={needed}')",
    )
