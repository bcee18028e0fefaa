"""What has no derivative, with the reasons."""

import numpy as np
from numpy.lib import array_utils

from autodiff_hook.extend import effects
from autodiff_rules._constants import (
    COMPARES,
    CONSISTS_OF_STEPS,
    DRAWS_INTEGERS,
    IS_A_POSITION,
    IS_A_SHAPE,
    IS_A_SOURCE,
    IS_OF_INTEGERS,
    IS_TEXT,
    SETTING,
    SHOWS_MEMORY,
    TIMES,
    declare,
    declare_names,
    refuse,
)

HAS_NO_VALUES_YET = "it is an array of zeros, ones or places, whatever it is made like"
IS_A_FILE = "what stands in a file does not depend on the program's numbers"

FUNCTIONS = {
    COMPARES: """
        equal not_equal less less_equal greater greater_equal isclose allclose array_equal array_equiv
        logical_and logical_or logical_xor logical_not isnan isinf isfinite isnat isneginf isposinf isreal iscomplex
        isrealobj iscomplexobj isscalar signbit any all in1d isin bool""",
    IS_OF_INTEGERS: """
        bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count gcd lcm packbits unpackbits
        int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp longlong ulonglong""",
    IS_A_POSITION: """
        argmax argmin nanargmax nanargmin argsort argpartition argwhere nonzero flatnonzero searchsorted digitize
        count_nonzero lexsort unravel_index ravel_multi_index indices diag_indices diag_indices_from tril_indices
        tril_indices_from triu_indices triu_indices_from mask_indices ndindex""",
    IS_A_SHAPE: """
        shape size ndim broadcast_shapes isfortran iterable may_share_memory shares_memory result_type
        promote_types can_cast min_scalar_type common_type issubdtype isdtype finfo iinfo dtype get_include einsum_path
        mintypecode typename""",
    CONSISTS_OF_STEPS: "floor ceil rint trunc fix round around floor_divide spacing",
    HAS_NO_VALUES_YET: "zeros ones empty eye identity tri zeros_like ones_like empty_like",
    IS_TEXT: """
        array2string array_repr array_str format_float_positional format_float_scientific base_repr binary_repr
        str_ bytes_ info""",
    SETTING: """
        set_printoptions get_printoptions printoptions errstate seterr geterr seterrcall geterrcall getbufsize
        setbufsize show_config show_runtime test""",
    IS_A_FILE: "load loadtxt fromfile fromregex genfromtxt save savetxt savez savez_compressed",
    TIMES: """
        busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday datetime64 timedelta64""",
}
METHODS = {
    COMPARES: "any all __bool__ __contains__",
    IS_A_POSITION: "argmax argmin argsort argpartition nonzero searchsorted",
    IS_A_SHAPE: "setflags __sizeof__ __len__ __array_namespace__",
    CONSISTS_OF_STEPS: "round __int__ __index__",
    IS_TEXT: "tofile dump __format__ __repr__ __str__",
}
ATTRIBUTES = {IS_A_SHAPE: "shape ndim size dtype itemsize nbytes strides flags device __array_priority__"}
OF_RANDOM = {IS_A_SOURCE: "BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence"}
NODES = {
    **{"legendre": "leggauss", "chebyshev": "chebgauss chebpts1 chebpts2", "laguerre": "laggauss"},
    **{"hermite": "hermgauss", "hermite_e": "hermegauss"},
}
"""Nodes and weights of quadrature, by how many there are."""
OF_UFUNCS = {IS_A_SHAPE: "identity nargs nin nout ntypes resolve_dtypes signature types"}
REFUSED = {
    SHOWS_MEMORY: "frombuffer from_dlpack ndarray nditer nested_iters record void",
    "reads numbers out of a text": "fromstring",
    "makes arrays of objects, which numbers in have no derivatives": "object_",
}
REFUSED_METHODS = {SHOWS_MEMORY: "base byteswap ctypes data dumps getfield setfield tobytes resize"}
REFUSED_DRAWS = {
    DRAWS_INTEGERS: """
        binomial geometric hypergeometric logseries multinomial multivariate_hypergeometric negative_binomial poisson
        zipf""",
    SHOWS_MEMORY: "bit_generator",
}
EFFECTS = """
    set_printoptions printoptions errstate seterr geterr seterrcall geterrcall getbufsize setbufsize get_printoptions
    show_config show_runtime load loadtxt fromfile fromregex genfromtxt save savetxt savez savez_compressed info test
""".split()
"""What does something, or depends on more than its arguments."""


declare_names(np, FUNCTIONS)
for table in (METHODS, ATTRIBUTES):
    for owner in (np.ndarray, np.generic):
        declare_names(owner, table)
for module, names in NODES.items():
    declare_names(getattr(np.polynomial, module), {IS_OF_INTEGERS: names})
declare_names(np.ufunc, OF_UFUNCS)
declare_names(np.random, OF_RANDOM)
refuse(np, REFUSED)
for owner in (np.ndarray, np.generic):
    refuse(owner, REFUSED_METHODS)
refuse(np.generic, {SHOWS_MEMORY: "flat"})
for owner in (np.random, np.random.Generator, np.random.RandomState):
    refuse(owner, REFUSED_DRAWS)
declare(IS_A_POSITION, np.linalg.matrix_rank, array_utils.normalize_axis_index)
effects(*(getattr(np.random, name) for name in OF_RANDOM[IS_A_SOURCE].split()))
effects(
    *(getattr(np, name) for name in EFFECTS if hasattr(np, name)),
    np.ndarray.tofile,
    np.ndarray.dump,
    np.ndarray.setflags,
)
