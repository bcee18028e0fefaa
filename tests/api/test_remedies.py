"""The texts of errors: the line, the callable, the reason, and remedies that help."""

from __future__ import annotations

import ctypes
import pickle
import zlib

import numpy as np
import pytest

import autodiff_hook as ad

ALWAYS = "register a derivative (@autodiff_hook.rrule)"


def told(f, *args, differentiate=ad.gradient):
    """The text of the error, which names a line of ``f``."""
    with pytest.raises(ad.NotDifferentiable) as caught:
        differentiate(f, *args)
    text = str(caught.value)
    code = f.__code__
    lines = {line for _, _, line in code.co_lines() if line}
    assert any(text.startswith(f"{__file__}:{line} in {code.co_qualname}: ") for line in lines), text
    assert ALWAYS in text or "@autodiff_hook.rrule" in text, text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text
    return text


def forward(f, x):
    return ad.jvp(f, (x,), (np.ones_like(x) if isinstance(x, np.ndarray) else 1.0,))


def foreign(source, module="somewhere.else_"):
    namespace = {"__name__": module}
    exec(source, namespace)
    return namespace["f"]


@pytest.mark.parametrize("differentiate", [ad.gradient, forward])
def test_a_function_that_is_not_opted_in(differentiate):
    square = foreign("def f(x): return x * x")
    text = told(lambda x: square(x) * 2, 3.0, differentiate=differentiate)
    assert "the call of somewhere.else_.f, which is not opted in and has no rule. Remedies: opt the module in " in text
    assert "(AUTODIFF_MODULES=somewhere, autodiff_hook.install('somewhere')), register a" in text


class Measured:
    """Python code that cannot be lifted."""

    async def later(self, x):
        return x


async def squares(x):
    yield x * x


def driven(x):
    try:
        squares(x).asend(None).send(None)
    except StopIteration as found:
        return found.value


@pytest.mark.parametrize("differentiate", [ad.gradient, forward])
@pytest.mark.parametrize(
    ("f", "named"),
    [
        (lambda x: ctypes.c_double(x).value * x, "c_double"),
        (lambda x: memoryview(np.array([x]))[0] * x, "memoryview"),
        (lambda x: x * zlib.crc32(np.array([x])), "crc32"),
        (driven, "squares"),
    ],
)
def test_opting_in_is_no_remedy_where_it_does_not_help(f, named, differentiate):
    text = told(f, 3.0, differentiate=differentiate)
    assert named in text
    assert "opt the module in" not in text and "autodiff_hook.install" not in text


def test_what_is_opted_in_already():
    with ad.install(__name__):
        assert "opt the module in" not in told(driven, 3.0)


@pytest.mark.parametrize("differentiate", [ad.gradient, forward])
def test_errors_of_rules(differentiate):
    def exponential(x):
        y = x * 2
        return np.ldexp(y, 2, signature="di->d")

    text = told(exponential, 0.2, differentiate=differentiate)
    assert f":{exponential.__code__.co_firstlineno + 2} in " in text
    assert "np.ldexp with different types in signature= is not differentiated" in text and ALWAYS in text


def test_errors_of_pullbacks():
    def vectors(a):
        b = a * 1.0
        _, v = np.linalg.eigh(b)
        return v[0, 0]

    text = told(vectors, np.eye(2))
    assert f":{vectors.__code__.co_firstlineno + 2} in " in text


@pytest.mark.parametrize("differentiate", [ad.gradient, forward])
def test_options(differentiate):
    def half(x, scale=1.0):
        return x / 2 * scale

    @ad.rrule(half)
    def half_rule(x, *, scale=1.0):
        def half_pullback(ȳ):
            return (ȳ / 2 * scale,)

        return x / 2 * scale, half_pullback

    text = told(lambda x: half(x, scale=x), 3.0, differentiate=differentiate)
    assert "the option 'scale'" in text and "(autodiff_hook.stop_gradient(scale))" in text


def test_stores():
    def written(x):
        a = np.zeros(3)
        a.setfield(x, float)
        return a[0]

    text = told(written, 3.0)
    assert f":{written.__code__.co_firstlineno + 2} in " in text and "numpy.ndarray.setfield" in text


def test_not_implemented():
    def product(x, y):
        raise AssertionError

    @ad.rrule(product)
    def product_rule(x, y):
        def product_pullback(z̄):
            return z̄ * y, ad.not_implemented("nobody knows dz/dy")

        return x * y, product_pullback

    with pytest.raises(ad.NotDifferentiable, match="nobody knows dz/dy.*@autodiff_hook.rrule"):
        ad.gradient(lambda y: product(2.0, y), 3.0)


def test_an_argument_without_derivative_has_no_remedy_but_another():
    with pytest.raises(ad.NotDifferentiable) as caught:
        ad.grad(lambda s, x: x)("text", 1.0)
    assert "choose others with argnums" in str(caught.value) and "Remed" not in str(caught.value)
