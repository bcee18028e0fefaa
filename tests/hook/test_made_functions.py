"""Functions that are made by ``exec``: in scope by the module that their maker names, or entered if it names none."""

from __future__ import annotations

import pytest

MAKE = '''
import autodiff_hook as ad
def made(module=None, **names):
    """A function as attrs and astropy make them: of a namespace that is no module's."""
    namespace = dict(names)
    exec("def f(t):\\n    return 4 * t * t", namespace)
    if module is not None:
        namespace["f"].__module__ = module
    return namespace["f"]
def slope(f):
    try:
        found, = ad.gradient(lambda x: f(x) * x, 2.0)
        assert found == 48.0 and ad.jvp(lambda x: f(x) * x, (2.0,), (1.0,))[1] == 48.0
        return True
    except ad.NotDifferentiable as error:
        assert "which is not opted in" in str(error)
        return False
'''
PATHS = [{}, {"AUTODIFF_GENERIC": "1"}, {"AUTODIFF_ONE_WAY": "1"}]
paths = pytest.mark.parametrize("path", PATHS, ids=["default", "generic", "one way"])


@paths
def test_the_module_that_the_maker_names(sample, path):
    sample.check(
        MAKE
        + """
for names in ({}, {"__name__": "invented"}, {"__name__": None}, {"__name__": 3}):
    assert not slope(made("pkg.mod", **names)), names
    with ad.install("pkg"):
        assert slope(made("pkg.mod", **names)), names
    assert slope(made("__main__", **names)) and slope(made("json", **names))
""",
        **path,
    )


@paths
def test_globals_of_a_module_say_more_than_the_attribute(sample, path):
    sample.write("elsewhere.py", "def square(x):\n    return 4 * x * x\n")
    sample.check(
        MAKE
        + """
from elsewhere import square
square.__module__ = "__main__"
assert not slope(square)
with ad.install("elsewhere"):
    assert slope(square)
""",
        **path,
    )


@paths
def test_what_is_of_no_module_is_entered(sample, path):
    sample.write("pkg/square.py", "def square(x):\n    return 4 * x * x\n")
    sample.check(
        MAKE
        + """
assert made().__module__ is None and slope(made())
with ad.install("pkg"):
    assert slope(made())
assert slope(made(__name__=None)) and ad.gradient(made(), 3.0) == (24.0,)
assert slope(made(__name__="<a name that no module can have>"))
import runpy
assert slope(runpy.run_path("pkg/square.py")["square"])
""",
        **path,
    )


CLASSES = """
import collections, dataclasses, typing
import autodiff_hook as ad

@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: float
    b: float = 2.0
    def __post_init__(self):
        object.__setattr__(self, "b", self.b * self.a)

@dataclasses.dataclass
class Filled:
    a: float
    c: dataclasses.InitVar[float] = 1.0
    rest: list = dataclasses.field(default_factory=list)
    d: float = dataclasses.field(init=False)
    def __post_init__(self, c):
        self.d = self.a * c
        self.rest.append(self.d)

Made = dataclasses.make_dataclass("Made", [("a", float), ("b", float)])
Pair = collections.namedtuple("Pair", "a b", defaults=[3.0])

class Typed(typing.NamedTuple):
    a: float
    b: float = 1.0
    def product(self):
        return self.a * self.b

class Doubled(Pair):
    __slots__ = ()
    def __new__(cls, a, b=2.0):
        return super().__new__(cls, a * 2, b)

PROGRAMS = [
    (lambda x, y: Frozen(x, y).a * Frozen(x, y).b, (2 * 3.0 * 5.0, 9.0)),
    (lambda x, y: dataclasses.replace(Frozen(x, y), b=y).b, (5.0, 3.0)),
    (lambda x, y: Filled(x, c=y).d * Filled(x, y).rest[0], (2 * 3.0 * 25.0, 2 * 9.0 * 5.0)),
    (lambda x, y: Made(x, y).a * Made(b=y, a=x).b, (5.0, 3.0)),
    (lambda x, y: Pair(x, y).a * Pair(x)._replace(b=y).b, (5.0, 3.0)),
    (lambda x, y: Typed(x, y).product() + Typed._make([x, y]).b * Typed(x).b, (5.0, 4.0)),
    (lambda x, y: Doubled(x, y).a * y + Doubled(x).b, (10.0, 6.0)),
]
"""


@paths
def test_classes_whose_constructors_are_made(sample, path):
    sample.write("pkg/classes.py", CLASSES)
    check = "for f, expected in PROGRAMS:\n    assert ad.gradient(f, 3.0, 5.0) == expected, (f, expected)\n"
    sample.check(CLASSES + check, **path)
    sample.check("from pkg.classes import *\n" + check, AUTODIFF_MODULES="pkg", **path)


@paths
def test_classes_of_a_module_that_cannot_be_imported(sample, path):
    """dataclasses makes their methods with globals that are empty."""
    sample.check(
        f"namespace = {{'__name__': 'nowhere'}}\nexec({CLASSES!r}, namespace)\n"
        "import autodiff_hook as ad\nFrozen = namespace['Frozen']\n"
        "assert ad.gradient(Frozen.__post_init__.__globals__['PROGRAMS'][0][0], 3.0, 5.0) == (30.0, 9.0)\n",
        **path,
    )


DECORATORS = """
import functools

def fix(args):
    return tuple(args)

def put_around(caller):
    def decorate(function):
        @functools.wraps(function)
        def around(*args):
            return caller(function, *fix(args))
        return around
    return decorate
"""


@paths
def test_decorators_of_other_packages(sample, path):
    sample.write("decorators.py", DECORATORS)
    sample.write(
        "decorated.py",
        "import decorators\n"
        "def twice(function, x):\n    return 2 * function(x)\n"
        "@decorators.put_around(twice)\n@decorators.put_around(twice)\ndef f(x):\n    return x * x\n",
    )
    sample.check(
        MAKE
        + """
from decorated import f
assert not slope(f)
with ad.install("decorated"):
    assert slope(f)
""",
        **path,
    )
