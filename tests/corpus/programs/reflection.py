"""Programs that look at themselves, make classes and functions, and read what is outside."""

from __future__ import annotations

import bisect
import weakref

from corpus.registry import program


@program("introspection", 2.0, 3.0, error_allowed=True)
def contents_of_a_cell(x, y):
    def captured():
        return y

    return captured.__closure__[0].cell_contents * x


@program("introspection", 2.0, 3.0, error_allowed=True)
def default_values(x, y):
    def scaled(t, p=y):
        return t * p

    return scaled.__defaults__[0] * x


@program("introspection", 1.3)
def attribute_of_a_class_made_by_type(m):
    return type("Made", (), {"value": m}).value


@program("introspection", 1.3, error_allowed=True)
def function_made_by_exec(x):
    names = {}
    exec("def f(t): return 4 * t * t", names)
    return names["f"](x)


KNOTS, ROWS = [0.0, 1.0, 2.0], [[1.0], [2.0], [3.0]]


@program("data from outside", 1.5)
def slice_of_a_global_list(x):
    return ROWS[:-1][0][0] * x * bisect.bisect(KNOTS, x)


class Plain:
    pass


HELD = [weakref.proxy(Plain()), 1.0]


@program("data from outside", 1.5)
def dead_proxy_beside_a_number(x):
    return x * HELD[1]
