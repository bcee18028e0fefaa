"""Classes that the standard library makes within a program: it is given all globals of this module, which are few."""

import abc
import dataclasses
import functools
import typing


def class_body_library(x):
    @dataclasses.dataclass
    class P:
        a: float
        b: float = 2.0
        c: list = dataclasses.field(default_factory=lambda: [x])

        def scaled(self):
            return self.a * self.b * x

    class N(typing.NamedTuple):
        a: float
        b: float = x * x

    class A(abc.ABC):
        s = x * 2

        @abc.abstractmethod
        def m(self): ...

    class B(A):
        def m(self):
            return self.s * x

        @functools.cached_property
        def v(self):
            return x * x

    return P(x).scaled() + P(3.0).c[0] + N(x).b * N(2.0, x).b + B().m() + B().v
