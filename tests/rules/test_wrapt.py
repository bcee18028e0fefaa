"""What the decorators of ``wrapt`` put around functions and methods."""

from __future__ import annotations

import pytest
import wrapt

from autodiff_hook.testing import check_gradient

SWITCH = [True]


@wrapt.decorator
def twice(wrapped, instance, args, kwargs):
    kept = 1.0 if instance is None else getattr(instance, "scale", 3.0)
    return 2.0 * kept * wrapped(*args, **kwargs)


@wrapt.decorator(enabled=lambda: SWITCH[-1])
def switched(wrapped, instance, args, kwargs):
    return -wrapped(*args, **kwargs)


@twice
def square(x, *, power=2):
    return x**power


@switched
@twice
def cube(x):
    return square(x, power=3)


class Spring:
    kind = 5.0

    def __init__(self, scale):
        self.scale = scale

    @twice
    def force(self, x):
        return self.scale * x * x

    @twice
    @classmethod
    def of_class(cls, x):
        return cls.kind * x * x

    @twice
    @staticmethod
    def alone(x):
        return x * x * x


def unbound(x):
    return Spring.force(Spring(x), x)


@pytest.mark.parametrize(
    "f",
    [
        square,
        cube,
        lambda x: square(x, power=3) * x,
        lambda x: Spring(x * x).force(x),
        unbound,
        lambda x: Spring(x).of_class(x) + Spring.of_class(x),
        lambda x: Spring(x).alone(x) + Spring.alone(x),
        lambda x: twice(Spring(x).force)(x),
    ],
)
@pytest.mark.parametrize("on", [True, False])
def test_what_is_decorated(f, on, monkeypatch):
    monkeypatch.setattr("test_wrapt.SWITCH", [on])
    for x in (0.7, 1.9):
        check_gradient(f, x)
