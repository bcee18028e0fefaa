"""``array.array``: every method on the array and on the list of its tokens.

What is stored is converted to the type of the items; rounding to their precision does not count. Who shows the memory
of an array (``memoryview``, ``np.frombuffer``) makes its items unknown, and a derivative stored there is an error.
"""

from __future__ import annotations

from array import array
from typing import Any

from autodiff_hook.algebras.searching import reaches
from autodiff_hook.algebras.shadows import Algebra, Result, keep_all, lose
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.typed_arrays import is_typed_array
from autodiff_hook.semantics.items import materialised, to_change_typed
from autodiff_hook.semantics.meanings import Args, Kwargs, means
from autodiff_hook.semantics.opaque import call_opaque
from autodiff_hook.semantics.parallel import made


@means(array)
def make_array(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    typecode, *given = args
    if not given or isinstance(given[0], (bytes, bytearray, str)):
        return call_opaque(alg, t, array, args, kwargs, "of the bytes of numbers")
    items, tokens = materialised(alg, t[1], given[0])
    return made(alg, array(typecode, given[0] if is_typed_array(given[0]) else items), tokens)


@means(array.extend)
def array_extend(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.extend``; what an iterable gives before an item that does not fit is there."""
    owner, value = args
    items, tokens = materialised(alg, t[1], value)
    found, before = to_change_typed(alg, owner, tokens), len(owner)
    try:
        array.extend(owner, value if is_typed_array(value) else items)
    finally:
        if found is not None:
            found.extend(tokens[: len(owner) - before])
    return None, None


@means(array.fromlist)
def array_fromlist(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.fromlist``: all items or none."""
    owner, value = args
    array.fromlist(array(owner.typecode), value)
    return array_extend(alg, t, args, kwargs)


@means(array.__iadd__)
def array_iadd(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    owner, value = args
    tokens = materialised(alg, None, value)[1] if is_typed_array(value) else []
    found = to_change_typed(alg, owner, tokens)
    array.__iadd__(owner, value)
    if found is not None:
        found.extend(tokens)
    return owner, None


@means(array.tolist)
def array_tolist(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    items, tokens = materialised(alg, None, args[0])
    keep_all(alg, items, tokens)
    return items, None


@means(array.tobytes)
def array_tobytes(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.tobytes``: bytes of which no derivative is known."""
    value = array.tobytes(args[0])
    if not reaches(alg, args[0]):
        return value, None
    return value, lose(alg, value, alg.unknown(failure(array.tobytes, "which makes bytes of numbers")))
