"""Discrete cosine and sine transforms: the transpose of type II is type III, of the others themselves.

That holds for orthogonalized ones; of the others, an end of the signal or of the spectrum counts half
(``scipy.fft.dct`` and ``dst`` have the sums).
"""

import numpy as np
from scipy import fft

from autodiff_hook.extend import cotangents, fresh
from autodiff_hook.registry import LINEAR, frule
from autodiff_rules.numpy.fourier import TRANSPOSED, axes_of, cut, ends_scaled

TRANSPOSED_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}
IGNORED_OF_COMPLEX = np.array_equal(fft.dct([1j, 2j], orthogonalize=True), fft.dct([1j, 2j], orthogonalize=False))
"""Whether this SciPy takes no notice of ``orthogonalize`` where the argument is complex."""


def cosine_transposed(ȳ, kind, axis, norm, orthogonal):
    c = ȳ
    if not orthogonal and kind in (1, 2):
        c = ends_scaled(c, axis, 2.0, 2.0 if kind == 1 else 1.0)
    c = fft.dct(c, TRANSPOSED_TYPE[kind], axis=axis, norm=norm, orthogonalize=orthogonal)
    if not orthogonal and kind in (1, 3):
        c = ends_scaled(c, axis, 0.5, 0.5 if kind == 1 else 1.0)
    return c


def sine_transposed(ȳ, kind, axis, norm, orthogonal):
    c = ends_scaled(ȳ, axis, 1.0, 2.0) if not orthogonal and kind == 2 else ȳ
    c = fft.dst(c, TRANSPOSED_TYPE[kind], axis=axis, norm=norm, orthogonalize=orthogonal)
    return ends_scaled(c, axis, 1.0, 0.5) if not orthogonal and kind == 3 else c


def cotangent_of(ȳ, x, transposed, kind, s, axes, norm, orthogonalize, inverse):
    """The cotangent of ``x`` from one of its transform along ``axes``."""
    axes = axes_of(x, s, axes)
    if inverse:
        kind, norm = TRANSPOSED_TYPE[kind], TRANSPOSED[norm]
    unsaid = orthogonalize is None or IGNORED_OF_COMPLEX and np.iscomplexobj(x)
    orthogonal = norm == "ortho" if unsaid else orthogonalize
    c = ȳ
    for axis in axes:
        c = transposed(c, kind, axis, norm, orthogonal)
    return cut(c, x, axes)


ONE = "x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None"
ALL = "x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None"


def declare(name, transposed, inverse):
    """Declare the transforms of this name along one axis, and along all if none are named."""

    def one(ȳ, x, type, n, axis, norm, orthogonalize):
        return cotangent_of(ȳ, x, transposed, type, n, axis, norm, orthogonalize, inverse)

    def several(ȳ, x, type, s, axes, norm, orthogonalize):
        return cotangent_of(ȳ, x, transposed, type, s, axes, norm, orthogonalize, inverse)

    targets = getattr(fft, name), getattr(fft, f"{name}n")
    fresh(*targets)
    frule(targets, LINEAR)
    cotangents(getattr(fft, name), ONE)(one)
    cotangents(getattr(fft, f"{name}n"), ALL)(several)


for transposed, plain, inverse in ((cosine_transposed, "dct", "idct"), (sine_transposed, "dst", "idst")):
    declare(plain, transposed, False)
    declare(inverse, transposed, True)
