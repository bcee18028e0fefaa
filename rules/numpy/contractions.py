"""Tensor products and contractions."""

from functools import lru_cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase

import numpy as np

from autodiff_hook.extend import cotangents
from autodiff_hook.registry import nondifferentiable, rrule
from autodiff_hook.strong import contraction, times
from autodiff_rules.numpy._shared import conj, reshaped, unbroadcast
from autodiff_rules.numpy.products import tensor_product
from autodiff_rules.numpy.shapes import inverse_permutation


@cotangents(np.tensordot, "a, b, axes=2", 2, "a, b")
def tensordot_cotangents(ȳ, a, b, axes):
    (a_free, a_axes), (b_free, b_axes) = contracted(a, b, axes)
    split = len(a_free)
    of_a, of_b = list(range(split)), list(range(split, np.ndim(ȳ)))
    order = sorted(range(len(a_axes)), key=b_axes.__getitem__)
    ā = tensor_product(ȳ, conj(b), (of_b, b_free))
    ā = np.transpose(ā, inverse_permutation(a_free + [a_axes[i] for i in order]))
    order = sorted(range(len(b_axes)), key=a_axes.__getitem__)
    b̄ = tensor_product(ȳ, conj(a), (of_a, a_free))
    b̄ = np.transpose(b̄, inverse_permutation(b_free + [b_axes[i] for i in order]))
    return unbroadcast(ā, a), unbroadcast(b̄, b)


@nondifferentiable
def contracted(a, b, axes):
    """For each factor the axes that stay, and those that are summed over."""
    if np.ndim(axes) == 0:
        axes = (list(range(np.ndim(a) - axes, np.ndim(a))), list(range(axes)))
    summed = []
    for x, chosen in zip((a, b), axes):
        chosen = [i % np.ndim(x) for i in (chosen if np.ndim(chosen) else [chosen])]
        summed.append(([i for i in range(np.ndim(x)) if i not in chosen], chosen))
    return summed


@rrule(np.einsum, str)
def einsum_rule(subscripts, *operands, out=None, optimize=False, **options):
    def einsum_pullback(ȳ):
        inputs, result, products = explicit(subscripts, tuple(map(np.ndim, operands)))
        factors = [conj(x if hasattr(x, "conjugate") else np.array(x)) for x in operands]
        cotangents = []
        for i, x in enumerate(operands):
            others = [ȳ, *factors[:i], *factors[i + 1 :]]
            if products[i] is not None:
                c = sum_of_products(products[i], others, optimize)
            else:
                terms = [result, *inputs[:i], *inputs[i + 1 :]]
                c = einsum_cotangent(inputs[i], np.shape(x), terms, others, optimize)
            cotangents.append(unbroadcast(c if np.shape(c) == np.shape(x) else c + np.zeros(np.shape(x)), x))
        return None, *cotangents

    return np.einsum(subscripts, *operands, out=out, optimize=optimize, **options), einsum_pullback


@rrule(np.einsum)
def einsum_sublists_rule(*operands, **options):
    arrays, lists = operands[: len(operands) // 2 * 2 : 2], operands[1::2]
    terms = [in_letters(numbers) for numbers in lists]
    subscripts = ",".join(terms)
    if len(operands) % 2:
        subscripts += "->" + in_letters(operands[-1])
    y, einsum_back = einsum_rule(subscripts, *arrays, **options)

    def einsum_pullback(ȳ):
        cotangents = [c for x̄ in einsum_back(ȳ)[1:] for c in (x̄, None)]
        return (*cotangents, None) if len(operands) % 2 else tuple(cotangents)

    return y, einsum_pullback


@nondifferentiable
def in_letters(numbers):
    """A list of subscripts as a string: NumPy gives them these letters."""
    return "".join(["..." if number is ... else LETTERS[number] for number in numbers])


LETTERS = ascii_uppercase + ascii_lowercase


def einsum_cotangent(letters, shape, terms, factors, optimize):
    """The product of ``factors`` in the shape that ``letters`` says, repeated letters being a diagonal."""
    target = ""
    for letter, n in zip(letters, shape):
        if letter in target:
            fresh = next(c for c in ascii_letters if c not in letters + target and all(c not in term for term in terms))
            terms, factors = [*terms, letter + fresh], [*factors, np.eye(n)]
            letter = fresh
        elif all(letter not in term for term in terms):
            terms, factors = [*terms, letter], [*factors, np.ones(n)]
        target += letter
    return sum_of_products(f"{','.join(terms)}->{target}", factors, optimize)


def sum_of_products(subscripts, factors, optimize):
    """``np.einsum``, in which a zero of the first two factors stays zero."""
    if len(factors) == 1:
        return np.einsum(subscripts, *factors, optimize=optimize)

    def product(ȳ, second):
        return np.einsum(subscripts, ȳ, second, *factors[2:], optimize=optimize)

    return contraction(product, factors[0], factors[1])


@nondifferentiable
@lru_cache(maxsize=1024)
def explicit(subscripts, ranks):
    """The subscripts of each operand and of the result, with letters for the ellipsis, and those of each cotangent.

    Those are None for an operand with a letter twice, or with one that is nowhere else.
    """
    subscripts = subscripts.replace(" ", "")
    left, arrow, result = subscripts.partition("->")
    inputs = left.split(",")
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        result = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    spare = [c for c in ascii_letters if c not in subscripts]
    hidden = [rank - len(term) + 3 if "..." in term else 0 for term, rank in zip(inputs, ranks)]
    extra = "".join(spare[: max(hidden)])
    inputs = [term.replace("...", extra[len(extra) - n :]) for term, n in zip(inputs, hidden)]
    result = result.replace("...", extra)
    products = []
    for i, term in enumerate(inputs):
        terms = [result, *inputs[:i], *inputs[i + 1 :]]
        plain = len(set(term)) == len(term) and set(term) <= set("".join(terms))
        products.append(f"{','.join(terms)}->{term}" if plain else None)
    return inputs, result, products


@cotangents(np.kron, "a, b", 2, "a, b")
def kron_cotangents(ȳ, a, b):
    axes = max(np.ndim(a), np.ndim(b))
    x = np.reshape(a, interleaved(a, axes, 0))
    y = np.reshape(b, interleaved(b, axes, 1))
    c = np.reshape(ȳ, np.broadcast_shapes(x.shape, y.shape))
    ā, b̄ = unbroadcast(times(c, conj(y)), x), unbroadcast(times(c, conj(x)), y)
    return reshaped(ā, a), reshaped(b̄, b)


@nondifferentiable
def interleaved(x, axes, place):
    """The shape of ``x`` with an axis of length 1 after (``place`` 0) or before each of its ``axes``."""
    lengths = [1] * (axes - np.ndim(x)) + list(np.shape(x))
    return [n for length in lengths for n in ((length, 1) if place == 0 else (1, length))]


@cotangents(np.cross, "a, b, axisa=-1, axisb=-1, axisc=-1, axis=None", 2, "a, b")
def cross_cotangents(ȳ, a, b, axisa, axisb, axisc, axis):
    a_axis, b_axis, c_axis = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    u, v = np.moveaxis(a, a_axis, -1), np.moveaxis(b, b_axis, -1)
    if np.shape(u)[-1] == 3 == np.shape(v)[-1]:
        c = np.moveaxis(ȳ, c_axis, -1)
        ū, v̄ = np.cross(conj(v), c), np.cross(c, conj(u))
    else:
        ū, v̄ = planar_cotangents(ȳ, u, v, c_axis)
    return np.moveaxis(unbroadcast(ū, u), -1, a_axis), np.moveaxis(unbroadcast(v̄, v), -1, b_axis)


def planar_cotangents(ȳ, u, v, axis):
    """Those of vectors of which one or both have two components, up to NumPy 2.4: the third is 0."""
    plane = np.shape(u)[-1] == np.shape(v)[-1]
    c = np.stack([0 * ȳ, 0 * ȳ, ȳ], -1) if plane else np.moveaxis(ȳ, axis, -1)
    ū, v̄ = np.cross(conj(spatial(v)), c), np.cross(c, conj(spatial(u)))
    return ū[..., : np.shape(u)[-1]], v̄[..., : np.shape(v)[-1]]


def spatial(x):
    """Vectors with three components."""
    return x if np.shape(x)[-1] == 3 else np.concatenate([x, 0 * x[..., :1]], -1)


@cotangents(np.linalg.cross, "x1, x2, /, *, axis=-1", 2, "x1, x2")
def linalg_cross_cotangents(ȳ, x1, x2, axis):
    return cross_cotangents(ȳ, x1, x2, axis, axis, axis, None)


@cotangents(np.linalg.tensordot, "x1, x2, /, *, axes=2", 2, "x1, x2")
def linalg_tensordot_cotangents(ȳ, x1, x2, axes):
    return tensordot_cotangents(ȳ, x1, x2, axes)


cotangents(
    np.linalg.outer,
    "x1, x2, /",
    2,
    x1=lambda ȳ, x1, x2: unbroadcast(contraction(np.dot, ȳ, conj(x2)), x1),
    x2=lambda ȳ, x1, x2: unbroadcast(contraction(np.dot, conj(x1), ȳ), x2),
)


@cotangents((np.vecdot, np.linalg.vecdot), "x1, x2, /, *, axis=-1", 2, "x1, x2")
def vecdot_cotangents(ȳ, x1, x2, axis):
    u, v, c = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1), np.expand_dims(ȳ, -1)
    ū, v̄ = unbroadcast(times(conj(c), v), u), unbroadcast(times(c, u), v)
    return np.moveaxis(ū, -1, axis), np.moveaxis(v̄, -1, axis)
