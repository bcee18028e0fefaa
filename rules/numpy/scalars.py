"""The methods that scalars of NumPy have because arrays have them: those of arrays without axes."""

import numpy as np

from autodiff_rules._definitions import defines

METHODS = "choose compress diagonal fill put repeat resize sort swapaxes take to_device trace transpose view".split()


def as_array(name):
    def method(self, *args, **options):
        made = getattr(np.asarray(self), name)(*args, **options)
        return made[()] if isinstance(made, np.ndarray) else made

    return method


@defines(np.ndarray.to_device)
def to_device(self, device, /, *, stream=None):
    """``array.to_device("cpu")``: the array itself."""
    if device != "cpu" or stream is not None:
        raise ValueError(f"to_device({device!r}, stream={stream!r}): NumPy's arrays are on the cpu")
    return self


for _name in METHODS:
    defines(getattr(np.generic, _name))(as_array(_name))
