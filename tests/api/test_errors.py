"""Messages: what is wrong, where, and what helps."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_hook
from autodiff_hook import (
    AutodiffError,
    ConfigError,
    NotDifferentiable,
    Unsupported,
    code_adjoint,
    grad,
    gradient,
    jacobian,
    pullback,
    value_and_grad,
)


@pytest.mark.parametrize("entry", [gradient, pullback, autodiff_hook.J, autodiff_hook.withgradient, autodiff_hook.vjp])
def test_what_cannot_be_called(entry):
    with pytest.raises(Unsupported, match="not callable: 3.0"):
        entry(3.0, 1.0)


@pytest.mark.parametrize("entry", [grad, value_and_grad, jacobian])
def test_what_cannot_be_called_is_refused_at_once(entry):
    with pytest.raises(Unsupported, match="not callable: 'text'"):
        entry("text")


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (np.ones(3), "ndarray of shape (3,)"),
        ([1.0], "list"),
        ((1.0, 2.0), "tuple"),
        (None, "NoneType"),
        ("text", "str"),
        (1j, "complex"),
        (True, "bool"),
        (np.bool_(True), "bool"),
        (np.zeros((0,)), "ndarray of shape (0,)"),
        ({"a": 1.0}, "dict"),
    ],
)
def test_a_value_that_is_no_real_scalar(value, described):
    def returns_that(x):
        return value

    with pytest.raises(Unsupported) as caught:
        gradient(returns_that, 1.0)
    message = str(caught.value)
    assert described in message and "returns_that" in message
    assert "pullback" in message and "jacobian" in message


@pytest.mark.parametrize("argnums", [2, -3, (0, 5), "x", 1.0, (0, "y")])
@pytest.mark.parametrize("entry", [grad, value_and_grad, jacobian])
def test_argnums_that_do_not_exist(entry, argnums):
    with pytest.raises(Unsupported, match="argnums"):
        entry(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_arguments_that_have_no_derivative():
    with pytest.raises(NotDifferentiable, match="argument 0 of .* is a str and has no derivative; .*argnums"):
        grad(lambda s, x: x)("text", 1.0)
    with pytest.raises(NotDifferentiable, match="argument 1 of .* is a bool"):
        grad(lambda x, flag: x, (0, 1))(1.0, True)
    assert grad(lambda s, x: x, 1)("text", 1.0) == 1.0


def test_wrong_arguments_are_pythons_own_errors():
    def f(x, y):
        return x

    with pytest.raises(TypeError, match=r"f\(\) missing 1 required positional argument: 'y'"):
        gradient(f, 1.0)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        gradient(f, 1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        gradient(f, 1.0, 2.0, z=3.0)


def test_a_lost_flow():
    namespace = {"__name__": "somewhere_else"}
    exec("def helper(x): return x * x", namespace)
    helper = namespace["helper"]

    def model(x):
        a = x + 1
        return helper(a)

    with pytest.raises(NotDifferentiable) as caught:
        gradient(model, 1.0)
    message = str(caught.value)
    line = model.__code__.co_firstlineno + 2
    assert message.startswith(f"{__file__}:{line} in ") and "model" in message
    assert "somewhere_else.helper, which is not opted in and has no rule" in message
    assert "AUTODIFF_MODULES" in message and "@autodiff_hook.rrule" in message


def test_the_first_loss_is_named():
    namespace = {"__name__": "somewhere_else"}
    exec("def first(x): return {'v': x}\ndef second(d): return d['v']", namespace)
    with pytest.raises(NotDifferentiable, match="somewhere_else.first"):
        gradient(lambda x: namespace["second"](namespace["first"](x)), 1.0)


def test_an_unsupported_construct_is_named():
    async def squares(x):
        yield x * x

    def driven(x):
        try:
            squares(x).asend(None).send(None)
        except StopIteration as found:
            return found.value

    with pytest.raises(AutodiffError, match="an async generator is not differentiated") as caught:
        gradient(driven, 1.0)
    assert "test_errors.py" in str(caught.value)
    with pytest.raises(Unsupported, match="async generator"):
        code_adjoint(squares, 1.0)


def test_asynchronous_iteration_has_no_program():
    async def iterates(x):
        async for item in x:
            return item

    with pytest.raises(Unsupported, match="async for"):
        code_adjoint(iterates, 1.0)


def test_a_module_that_does_not_exist():
    with pytest.raises(ConfigError, match="no_such_module_anywhere"):
        autodiff_hook.install("no_such_module_anywhere")


def test_every_error_is_ours():
    for error in (Unsupported, NotDifferentiable, ConfigError):
        assert issubclass(error, AutodiffError)


def test_an_error_in_a_pullback_of_the_users_has_its_line():
    def f(x):
        return x * x

    @autodiff_hook.rrule(f)
    def f_rule(x):
        def f_pullback(ȳ):
            return (ȳ / 0,)

        return x * x, f_pullback

    def model(x):
        return f(x) + 1

    with pytest.raises(ZeroDivisionError) as caught:
        gradient(model, 2.0)
    names = [entry.name for entry in caught.traceback]
    assert names[-1] == "f_pullback"
    assert "model" in names or any("model" in note for note in getattr(caught.value, "__notes__", ()))
