"""What has no derivative: comparisons, indices, shapes, types, rounding, and reading the environment."""

from __future__ import annotations

import numpy as np

from autodiff_hook.extend import effects
from autodiff_hook.registry import nondifferentiable

FUNCTIONS = """
    equal not_equal less less_equal greater greater_equal isclose allclose array_equal array_equiv
    logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
    bitwise_count isnan isinf isfinite isnat isneginf isposinf isreal iscomplex isrealobj iscomplexobj isscalar
    signbit any all
    argmax argmin nanargmax nanargmin argsort argpartition argwhere nonzero flatnonzero searchsorted digitize
    count_nonzero lexsort unravel_index ravel_multi_index indices diag_indices diag_indices_from tril_indices
    tril_indices_from triu_indices triu_indices_from mask_indices
    shape size ndim broadcast_shapes isfortran iterable may_share_memory shares_memory
    result_type promote_types can_cast min_scalar_type common_type issubdtype isdtype finfo iinfo dtype
    floor ceil rint trunc fix round around floor_divide spacing gcd lcm
    zeros ones empty eye identity tri zeros_like ones_like empty_like
    in1d isin array2string array_repr array_str format_float_positional format_float_scientific base_repr binary_repr
    set_printoptions get_printoptions printoptions errstate seterr geterr seterrcall geterrcall getbufsize setbufsize
    may_share_memory ndindex get_include show_config show_runtime
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp longlong ulonglong
    load loadtxt fromstring fromfile genfromtxt save savetxt savez savez_compressed
""".split()
METHODS = """
    any all argmax argmin argsort argpartition nonzero searchsorted round
    tofile dump __sizeof__ __format__ __len__ __bool__ __int__ __index__ __contains__
    __repr__ __str__ __array_namespace__
""".split()
EFFECTS = """
    set_printoptions printoptions errstate seterr geterr seterrcall geterrcall getbufsize setbufsize get_printoptions
    show_config show_runtime load loadtxt fromfile genfromtxt save savetxt savez savez_compressed
""".split()
"""What does something, or depends on more than its arguments."""
ATTRIBUTES = "shape ndim size dtype itemsize nbytes strides flags device".split()


for name in FUNCTIONS:
    if hasattr(np, name):
        nondifferentiable(getattr(np, name))
for name in (*METHODS, *ATTRIBUTES):
    for owner in (np.ndarray, np.generic):
        if hasattr(owner, name) and getattr(owner, name) is not getattr(object, name, None):
            nondifferentiable(getattr(owner, name))
nondifferentiable(np.linalg.matrix_rank)
effects(*(getattr(np, name) for name in EFFECTS if hasattr(np, name)), np.ndarray.tofile, np.ndarray.dump)
