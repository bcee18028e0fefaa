"""How cotangents are summed where types and shapes are known: in as few passes as possible."""

import numpy as np

from autodiff_hook.extend import LARGE, ArrayFact, Constant, NumberFact, fresh, typed

DOUBLE = np.dtype(float)
NUMBER = NumberFact(frozenset({np.float64}))
NONE, TRUE, FALSE, ZERO = map(Constant, (None, True, False, 0))


def row_sums(subscripts, *factors):
    """``np.einsum`` where it makes a new array."""
    return np.einsum(subscripts, *factors)


fresh(np.vdot, row_sums)


def total(site, c):
    made = site.source(c)
    if made is not None and made.op == "unary" and made.data == "-":
        return site.emit("unary", total(site, made.operands[0]), data="-")
    if made is not None and made.op == "binary" and made.data == "*":
        x, y = made.operands
        for number, array in ((x, y), (y, x)):
            if site.is_floating(number) and site.is_double(array):
                return site.emit("binary", total(site, array), number, data="*")
        if site.is_double(x) and site.is_double(y) and site.alike(x, y):
            return site.call(np.vdot, x, y)
    return site.call(np.add.reduce, c, NONE)


@typed(np.vdot)
def vdot_typing(site, a, b):
    return NUMBER if site.is_double(a) and site.is_double(b) else None


def summed(site, c, dims, wanted):
    """``c`` summed to another shape; None if it is not known over which axes."""
    lead = len(dims) - len(wanted)
    if lead < 0:
        return None
    axes = [i for i, (have, want) in enumerate(zip(dims[lead:], wanted)) if want == 1 and have != 1]
    rest = [(h, w) for i, (h, w) in enumerate(zip(dims[lead:], wanted)) if i not in axes]
    if not all(site.shapes.same(h, w) for h, w in rest) or (lead and axes):
        return None
    over = tuple(range(lead)) if lead else tuple(axes)
    axis = Constant(over[0] if len(over) == 1 else over)
    made = site.source(c)
    negated = made is not None and made.op == "unary" and made.data == "-"
    c = made.operands[0] if negated else c
    if over == (len(dims) - 2,) and len(dims) > 2 and (site.shapes.count(dims) or 0) >= LARGE:
        result = contracted(site, c)
    else:
        result = reduced(site, c, axis, not lead)
    return site.emit("unary", result, data="-") if negated else result


def contracted(site, c, done=None):
    """``c`` summed over the last axis but one, which is kept; ``done`` has what was summed before."""
    done = {} if done is None else done
    if c not in done:
        done[c] = distributed(site, c, done) if is_linear(site, c) else summed_rows(site, c)
    return done[c]


def distributed(site, c, done):
    """``contracted`` of what ``c`` is made of, row by row."""
    made = site.source(c)
    first, second = made.operands[-2:]
    if made.op == "call":
        return site.call(np.matmul, contracted(site, first, done), second)
    if made.data in ("+", "-"):
        return site.emit("binary", contracted(site, first, done), contracted(site, second, done), data=made.data)
    whole, factor = (first, second) if site.alike(first, c) else (second, first)
    return site.emit("binary", contracted(site, whole, done), factor, data="*")


def summed_rows(site, c):
    """``contracted`` in one pass, over the factors of ``c`` if it is a product."""
    made = site.source(c)
    factors = made.operands if made is not None and made.op == "binary" and made.data == "*" else [c]
    if not all(site.is_double(x) and site.alike(x, c) for x in factors):
        factors = [c]
    total = site.call(row_sums, Constant(",".join(["...ij"] * len(factors)) + "->...j"), *factors)
    return site.emit("getitem", total, Constant((..., None, slice(None))))


def is_linear(site, c):
    """Whether ``c`` is made of arrays, row by row, so that their rows may be summed first."""
    made, dims = site.source(c), site.dims(c)
    if made is None or made.op not in ("binary", "call") or not all(map(site.is_double, made.operands[-2:])):
        return False
    first, second = map(site.dims, made.operands[-2:])
    if made.op == "call":
        function = made.callee
        return function is np.matmul and len(made.operands) == 3 and len(first) == len(second) == len(dims)
    if made.data in ("+", "-"):
        return all(site.alike(x, c) and is_linear(site, x) for x in made.operands)
    return made.data == "*" and any(
        len(a) == len(b) == len(dims) and site.shapes.known_equal(a, dims) and b[-2] == 1
        for a, b in ((first, second), (second, first))
    )


@typed(row_sums)
def row_sums_typing(site, subscripts, a, *others):
    if site.value(subscripts) not in ("...ij->...j", "...ij,...ij->...j") or not site.is_double(a):
        return None
    dims = site.dims(a)
    return ArrayFact(DOUBLE, (*dims[:-2], dims[-1]))


def reduced(site, c, axis, keepdims):
    if keepdims:
        return site.call(np.add.reduce, c, axis, NONE, NONE, TRUE)
    return site.call(np.add.reduce, c, axis)
