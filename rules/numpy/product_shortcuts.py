"""How products, powers and linear algebra are written where types and shapes are known."""

import math

import numpy as np

from autodiff_hook.extend import (
    ArrayFact,
    Constant,
    NumberFact,
    ShapeFact,
    TupleFact,
    borrowing,
    complex_by_value,
    contraction,
    fresh,
    shortcut,
    typed,
    viewing,
    zeros,
)
from autodiff_rules.numpy import decompositions, joining, linalg, powers, products, rearranging
from autodiff_rules.numpy.shortcuts import like, unbroadcast_typing
from autodiff_rules.numpy.sum_shortcuts import DOUBLE, NONE, NUMBER, ZERO

LAST = Constant(-1)

borrowing(products.matmul_left, products.matmul_right, products.dot_left, products.dot_right)
borrowing(powers.number_power_cotangent, powers.base_cotangent, powers.exponent_cotangent)
fresh(products.transposed_product)
fresh(np.zeros, np.dot, np.matmul, np.empty, np.arange, np.ones, np.full, np.linspace, np.identity, np.outer)
fresh(np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.concatenate, np.stack, np.vstack, np.hstack)
fresh(np.copy, np.tile, np.repeat, np.cumsum, np.cumprod, np.sort, np.kron, np.cross, np.column_stack, np.append)
fresh(np.linalg.matmul, np.linalg.outer, np.linalg.cross, np.linalg.vecdot, np.linalg.tensordot, np.linalg.trace)
fresh(np.linalg.multi_dot, np.linalg.matrix_norm, np.linalg.vector_norm, np.linalg.svdvals)
fresh(np.fft.fftfreq, np.fft.rfftfreq)
fresh(np.linalg.solve, np.linalg.inv, np.linalg.cholesky, np.tril, np.triu, np.eye)
fresh(np.linalg.norm, np.linalg.det, np.linalg.slogdet, np.linalg.svd, np.linalg.eig, np.linalg.eigh, np.linalg.pinv)
complex_by_value(np.linalg.eig, np.linalg.eigvals)
fresh(np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.qr, np.linalg.cond, np.linalg.lstsq)
fresh(
    np.inner, np.tensordot, np.trace, np.dstack, np.block, np.roll, np.pad, np.delete, np.insert, np.vander, np.interp
)
fresh(np.convolve, np.correlate, np.polyval, np.take, np.gradient)
fresh(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft, np.fft.fftshift, np.fft.ifftshift)
fresh(decompositions.one_triangle, decompositions.half_triangle, decompositions.inverse_of_lower)
fresh(rearranging.diagonal_matrix, rearranging.trace_cotangent)
viewing(np.transpose)
zeros(np.zeros)


# Linear algebra


typed(rearranging.trace_cotangent)(unbroadcast_typing)


@typed(linalg.adjoint)
def adjoint_typing(site, x):
    dims = site.dims(x)
    return ArrayFact(DOUBLE, (*dims[:-2], dims[-1], dims[-2])) if site.is_double(x) and len(dims) > 1 else None


@shortcut(linalg.adjoint)
def adjoint_shortcut(site, x):
    return site.emit("getattr", x, data="T") if site.is_double(x) and len(site.dims(x)) == 2 else None


@typed(np.linalg.solve)
def solve_typing(site, a, b):
    dims = site.dims(a)
    same = site.is_double(a) and site.is_double(b) and len(dims) == 2 and len(site.dims(b)) <= 2
    return ArrayFact(DOUBLE, site.dims(b)) if same else None


@typed(np.linalg.inv, np.linalg.cholesky, decompositions.inverse_of_lower)
def square_typing(site, a, upper=None):
    return site.fact(a) if site.is_double(a) else None


@typed(np.tril, np.triu, decompositions.one_triangle, decompositions.half_triangle)
def triangle_typing(site, m, k=ZERO):
    return site.fact(m) if site.is_double(m) and len(site.dims(m)) > 1 else None


@typed(np.diag)
def diag_typing(site, v, k=ZERO):
    dims = site.dims(v)
    square = site.is_double(v) and len(dims) == 2 and site.shapes.same(*dims) and site.value(k) == 0
    return ArrayFact(DOUBLE, dims[:1]) if square else None


@typed(np.eye)
def eye_typing(site, count, *options):
    fact = site.fact(count)
    known = isinstance(fact, NumberFact) and fact.dim is not None and not options
    return ArrayFact(DOUBLE, (fact.dim, fact.dim)) if known else None


# New arrays


@typed(np.zeros, np.ones, np.empty)
def zeros_typing(site, shape, *options):
    if options:
        return None
    fact, length = site.fact(shape), site.length(shape)
    if length is not None:
        return ArrayFact(DOUBLE, (length,))
    return ArrayFact(DOUBLE, fact.dims) if isinstance(fact, ShapeFact) else None


@typed(joining.concatenate_rule)
def concatenate_typing(site, arrays, axis=ZERO, out=NONE, casting=NONE, dtype=NONE):
    """What is known of the value and the pullback."""
    made, place = site.source(arrays), site.value(axis)
    parts = made.operands if made is not None and made.op in ("build_tuple", "build_list") else []
    plain = site.value(out) is None and site.value(dtype) is None and type(place) is int
    if not parts or not plain or not all(map(site.is_double, parts)):
        return None
    first, *others = map(site.dims, parts)
    rank = len(first)
    if not -rank <= place < rank or any(len(dims) != rank for dims in others):
        return None
    joined = place % rank
    if not all(site.shapes.same(first[i], dims[i]) for dims in others for i in range(rank) if i != joined):
        return None
    lengths = [site.shapes.find(dims[joined]) for dims in (first, *others)]
    known = site.items(arrays) is not None and all(isinstance(length, int) for length in lengths)
    whole = (sum(lengths),) if known else site.unknown()
    return TupleFact((ArrayFact(DOUBLE, (*first[:joined], *whole, *first[joined + 1 :])), None))


# Products


@typed(contraction)
def contraction_typing(site, product, a, b):
    return product_typing(site, a, b) if site.value(product) is np.dot else None


@typed(np.matmul)
def matmul_typing(site, x, y):
    if site.is_double(x) and site.is_double(y) and min(len(site.dims(x)), len(site.dims(y))) >= 2:
        a, b = site.dims(x), site.dims(y)
        batch = site.shapes.broadcast(a[:-2], b[:-2])
        return None if batch is None else ArrayFact(DOUBLE, (*batch, a[-2], b[-1]))
    return product_typing(site, x, y)


@typed(np.transpose)
def transpose_typing(site, a, axes=NONE):
    order = site.value(axes)
    if not site.is_array(a) or not (order is None or isinstance(order, tuple)):
        return None
    dims = site.dims(a)
    if order is not None and sorted(order) != list(range(len(dims))):
        return None
    return ArrayFact(site.fact(a).dtype, dims[::-1] if order is None else tuple(dims[i] for i in order))


@typed(np.dot)
def product_typing(site, x, y, *options):
    if any(site.value(o) is not None for o in options) or not (site.is_double(x) and site.is_double(y)):
        return None
    a, b = site.dims(x), site.dims(y)
    if len(a) > 2 or len(b) > 2:
        return None
    dims = (*a[:-1], *(b[1:] if len(b) == 2 else ()))
    return ArrayFact(DOUBLE, dims) if dims else NUMBER


@typed(products.matmul_left, products.dot_left)
def left_typing(site, c, x, y):
    return like(site, x, c, y)


@typed(products.matmul_right, products.dot_right)
def right_typing(site, c, x, y):
    return like(site, y, c, x)


@shortcut(products.matmul_left, products.dot_left)
def left_shortcut(site, c, x, y):
    if stacked(site, c, x, y):
        return site.call(np.matmul, c, flipped(site, y))
    if not products_of_doubles(site, c, x, y):
        return None
    ranks = len(site.dims(x)), len(site.dims(y))
    if ranks == (1, 1):
        return site.emit("binary", c, y, data="*")
    if ranks[1] == 1:
        column = site.emit("getitem", c, Constant((slice(None), None)))
        return site.emit("binary", column, y, data="*")
    return site.call(np.dot, c, site.emit("getattr", y, data="T"))


@shortcut(products.matmul_right, products.dot_right)
def right_shortcut(site, c, x, y):
    if stacked(site, c, x, y):
        return site.call(np.matmul, flipped(site, x), c)
    if not products_of_doubles(site, c, x, y):
        return None
    ranks = len(site.dims(x)), len(site.dims(y))
    if ranks == (1, 1):
        return site.emit("binary", c, x, data="*")
    if ranks[0] == 1:
        column = site.emit("getitem", x, Constant((slice(None), None)))
        return site.emit("binary", column, c, data="*")
    if site.is_double(c) and is_large(site, x, c):
        return site.call(products.transposed_product, x, c)
    return site.call(np.dot, site.emit("getattr", x, data="T"), c)


def is_large(site, x, c):
    """Whether ``x.T @ c`` was a product of matrices in the example that took longer than choosing a way does."""
    if len(site.dims(c)) != 2:
        return False
    lengths = [site.shapes.count((d,)) for d in (*site.dims(x), site.dims(c)[1])]
    return None not in lengths and math.prod(lengths) > 4096


@typed(products.transposed_product)
def transposed_product_typing(site, x, c):
    dims = site.dims(x), site.dims(c)
    return ArrayFact(DOUBLE, (dims[0][1], dims[1][1])) if site.is_double(x) and site.is_double(c) else None


def stacked(site, c, x, y):
    """Whether these are stacks of as many matrices of doubles, and ``c`` a cotangent of their products."""
    if not all(map(site.is_double, (c, x, y))):
        return False
    stacks = [site.dims(v)[:-2] for v in (c, x, y)]
    return all(stacks) and all(site.shapes.known_equal(stacks[0], dims) for dims in stacks[1:])


def flipped(site, x):
    """Matrices in a stack, transposed."""
    rank = len(site.dims(x))
    return site.call(np.transpose, x, Constant((*range(rank - 2), rank - 1, rank - 2)))


def products_of_doubles(site, c, x, y):
    """Whether these are matrices and vectors of doubles, and ``c`` a cotangent of their product."""
    operands = all(site.is_double(v) and len(site.dims(v)) <= 2 for v in (x, y))
    return operands and (site.is_double(c) or site.is_floating(c))


@shortcut(np.matmul)
def matmul_shortcut(site, x, y):
    # np.dot reaches BLAS where a length is 1, too; the last bit may differ, so the program itself keeps its product
    if not site.exact and site.is_double(x) and site.is_double(y) and len(site.dims(x)) <= 2 and len(site.dims(y)) <= 2:
        return site.call(np.dot, x, y)
    return None


# Vectors in space


@typed(np.cross, np.linalg.cross)
def cross_typing(site, a, b, axisa=LAST, axisb=LAST, axisc=LAST, axis=NONE):
    return site.fact(a) if are_in_space(site, a, b, (axisa, axisb, axisc, axis)) else None


@shortcut(np.cross)
def cross_shortcut(site, a, b, axisa=LAST, axisb=LAST, axisc=LAST, axis=NONE):
    plain = not site.exact and are_in_space(site, a, b, (axisa, axisb, axisc, axis))
    return site.call(crossed, a, b) if plain else None


def are_in_space(site, a, b, axes):
    """Whether two arrays of doubles have one shape, with vectors of length 3 along the last axis."""
    if not (site.is_double(a) and site.is_double(b)) or not {site.value(x) for x in axes} <= {-1, None}:
        return False
    return site.alike(a, b) and site.shapes.same(site.dims(a)[-1], 3)


def crossed(a, b):
    """``np.cross`` of what ``are_in_space`` says."""
    if a.ndim == 1:
        (x, y, z), (u, v, w) = a.tolist(), b.tolist()
        return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
    result = np.empty(a.shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return result


@typed(crossed)
def crossed_typing(site, a, b):
    return site.fact(a) if site.is_double(a) else None


# Powers


@typed(powers.number_power_cotangent)
def power_typing(site, c, x, y):
    return like(site, x, c) if site.is_number(y) else None


@shortcut(powers.number_power_cotangent)
def power_shortcut(site, c, x, y):
    exponent = site.value(y)
    if not site.is_double(x) or type(exponent) not in (int, float) or not exponent or not site.alike(c, x):
        return None
    number = site.dense(c)
    rest = x if exponent == 2 else site.emit("binary", x, Constant(exponent - 1), data="**")
    if number is c and exponent == 2:
        twice = site.emit("binary", c, Constant(2.0), data="*")
        return site.emit("binary", twice, x, data="*")
    factor = site.emit("binary", number, Constant(exponent), data="*")
    return site.emit("binary", factor, rest, data="*")
