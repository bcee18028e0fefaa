"""``array.array``: every method on the array and on the list of its tokens.

What is stored is converted to the type of the items; rounding to their precision does not count. Who shows the memory
of an array (``memoryview``, ``np.frombuffer``) makes its items unknown, and a derivative stored there is an error.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

from autodiff_hook.algebras.shadows import Algebra, Result, keep_all, known, lose, reaches
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.typed_arrays import is_typed_array
from autodiff_hook.semantics.items import materialised, to_change_typed
from autodiff_hook.semantics.meanings import means, natively
from autodiff_hook.semantics.opaque import call_opaque

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def _made(alg: Algebra, result: array[Any], tokens: list[Any]) -> Result:
    keep_all(alg, result, tokens)
    return result, None


@means(array)
def make_array(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array(typecode, items)``."""
    typecode, *given = args
    if not given or isinstance(given[0], (bytes, bytearray, str)):
        return call_opaque(alg, t, array, args, kwargs, "of the bytes of numbers")
    items, tokens = materialised(alg, t[1], given[0])
    return _made(alg, array(typecode, given[0] if is_typed_array(given[0]) else items), tokens)


@means(array.append)
def array_append(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.append``."""
    owner, value = args
    found = to_change_typed(alg, owner, t[1:])
    array.append(owner, value)
    if found is not None:
        found.append(t[1])
    return None, None


@means(array.insert)
def array_insert(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.insert``."""
    owner, index, value = args
    found = to_change_typed(alg, owner, t[2:])
    array.insert(owner, index, value)
    if found is not None:
        found.insert(index, t[2])
    return None, None


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
    """``array += array``."""
    owner, value = args
    tokens = materialised(alg, None, value)[1] if is_typed_array(value) else []
    found = to_change_typed(alg, owner, tokens)
    array.__iadd__(owner, value)
    if found is not None:
        found.extend(tokens)
    return owner, None


@means(array.__imul__)
def array_imul(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array *= n``."""
    owner, count = args
    found = known(alg, owner)
    array.__imul__(owner, count)
    if found is not None:
        found[:] = found * count
    return owner, None


@means(array.__add__)
def array_add(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array + array``."""
    a, b = args
    joined = array.__add__(a, b)
    return _made(alg, joined, [token for part in args for token in materialised(alg, None, part)[1]])


@means(array.__mul__, array.__rmul__)
def array_mul(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array * n``."""
    owner, count = args
    return _made(alg, array.__mul__(owner, count), materialised(alg, None, owner)[1] * count)


@means(array.pop)
def array_pop(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.pop``."""
    owner, *index = args
    found = known(alg, owner)
    value = array.pop(owner, *index)
    return value, None if found is None else found.pop(*index)


@means(array.remove)
def array_remove(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.remove``."""
    owner, value = args
    array_pop(alg, (None,), (owner, array.index(owner, value)), {})
    return None, None


@means(array.reverse)
def array_reverse(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.reverse``."""
    found = known(alg, args[0])
    array.reverse(args[0])
    if found is not None:
        found.reverse()
    return None, None


@means(array.__copy__, array.__deepcopy__)
def array_copy(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``copy.copy`` and ``copy.deepcopy`` of an array."""
    return _made(alg, args[0][:], materialised(alg, None, args[0])[1])


@means(array.tolist)
def array_tolist(alg: Algebra, t: Any, args: Args, kwargs: Kwargs) -> Result:
    """``array.tolist``."""
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


_LOOKING: Final = (array.index, array.count, array.__contains__, array.__len__)
for _method in _LOOKING:
    natively(_method)
