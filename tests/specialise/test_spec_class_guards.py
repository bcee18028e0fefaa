"""What a class defines is guarded: methods, operators, how objects are made."""

from __future__ import annotations

import abc
import enum
import functools

import pytest
from specialised_cases import changes, check, scope

import autodiff_hook as ad


@pytest.mark.parametrize(
    ("made", "name"),
    [
        *(("inside", name) for name in "mscp"),
        *(("outside", name) for name in "mscp"),
    ],
)
def test_what_a_class_defines(name, made):
    class Base:
        def __init__(self, k):
            self.k = k

        def m(self, x):
            return x * 2

        @staticmethod
        def s(x):
            return x * 2

        @classmethod
        def c(cls, x):
            return x * 2

        @property
        def p(self):
            return 2.0

    call = "o.p * x" if name == "p" else f"o.{name}(x)"
    start = "    o = Base(x)\n" if made == "inside" else ""
    f = scope(f"def f(x):\n{start}    return {call} * x", Base=Base, o=Base(1.0), __name__=__name__)["f"]
    new = {
        "m": lambda self, x: 7 * x,
        "s": staticmethod(lambda x: 7 * x),
        "c": classmethod(lambda cls, x: 7 * x),
        "p": property(lambda self: 7.0),
    }
    # Class methods of objects from outside are carried.
    check(f, 3.0, specialised=None if name == "c" else True)
    setattr(Base, name, new[name])
    check(f, 3.0, specialised=None)
    assert f(3.0) == 63.0 and ad.gradient(f, 3.0) == (42.0,)


OPERATORS = {
    "__mul__": ("o * x", lambda self, x: 7 * x),
    "__rmul__": ("x * o", lambda self, x: 7 * x),
    "__call__": ("o(x)", lambda self, x: 7 * x),
    "__neg__": ("-o * x", lambda self: 7.0),
    "__getitem__": ("o[0] * x", lambda self, i: 7.0),
}


@pytest.mark.parametrize(
    ("made", "name"),
    [(made, name) for name in OPERATORS for made in ("inside", "outside")],
)
def test_operators_of_a_class(name, made):
    class Base:
        def __init__(self, k):
            self.k = k

        def __mul__(self, x):
            return 2 * x

        def __rmul__(self, x):
            return 2 * x

        def __call__(self, x):
            return 2 * x

        def __neg__(self):
            return 2.0

        def __getitem__(self, i):
            return 2.0

    expression, new = OPERATORS[name]
    start = "    o = Base(x)\n" if made == "inside" else ""
    f = scope(f"def f(x):\n{start}    return {expression}", Base=Base, o=Base(1.0), __name__=__name__)["f"]
    check(f, 3.0, specialised=None)
    setattr(Base, name, new)
    assert f(3.0) == 21.0 and ad.gradient(f, 3.0) == (7.0,)


def test_a_method_that_super_finds():
    class Base:
        def __init__(self, k):
            self.k = k

        def m(self, x):
            return 2 * x

    class Sub(Base):
        def m(self, x):
            return super().m(x) * 3

    def f(x):
        return Sub(x).m(x)

    check(f, 3.0)
    Base.m = lambda self, x: 7 * x
    assert f(3.0) == 63.0 and ad.gradient(f, 3.0) == (21.0,)


NAMES = ["__setattr__", "__new__", "__getattribute__", "x"]


@pytest.mark.parametrize("name", [*NAMES, "__init__"])
def test_how_a_class_makes_objects(name):
    class Thing:
        def __init__(self, x):
            self.x = 3 * x

    class Other:
        x = 5.0

    def f(x):
        o = Thing(x)
        return o.x * x

    new = {
        "__setattr__": lambda self, key, value: object.__setattr__(self, key, 2 * value),
        "__new__": staticmethod(lambda cls, x: Other()),
        "__getattribute__": lambda self, key: 5.0 if key == "x" else object.__getattribute__(self, key),
        "x": property(lambda self: 5.0, lambda self, value: None),
        "__init__": lambda self, x: setattr(self, "x", 5.0),
    }
    check(f, 3.0)
    setattr(Thing, name, new[name])
    check(f, 3.0, specialised=None)


def test_a_method_of_an_instance_and_its_class():
    class Base:
        def m(self, x):
            return 2 * x

    class Other(Base):
        def m(self, x):
            return 5 * x

    o = Base()

    def f(x):
        return o.m(x) * x

    changes(f, lambda: setattr(o, "m", lambda x: 9 * x), 3.0)
    del o.m
    changes(f, lambda: setattr(o, "__class__", Other), 3.0)
    assert f(3.0) == 45.0


ASKED = {
    "isinstance": "isinstance(o, Kind)",
    "one of several": "isinstance(o, (int, Kind))",
    "of what the program makes": "isinstance(type(o)(), Kind)",
    "issubclass": "issubclass(type(o), Kind)",
    "match": None,
}


@pytest.mark.parametrize("question", ASKED)
def test_classes_that_are_told_their_instances_later(question):
    Kind = abc.ABCMeta("Kind", (), {})

    class Thing:
        pass

    told = f"x * x if {ASKED[question]} else 3 * x"
    body = "match o:\n        case Kind(): return x * x\n    return 3 * x" if question == "match" else f"return {told}"
    f = scope(f"def f(x):\n    {body}", Kind=Kind, o=Thing(), __name__=__name__)["f"]
    check(f, 5.0, specialised=True)
    assert ad.gradient(f, 5.0) == (3.0,)
    Kind.register(Thing)
    check(f, 5.0, specialised=None)
    assert ad.gradient(f, 5.0) == (10.0,)


def test_bases_that_are_assigned():
    class Base:
        pass

    class Other:
        pass

    class Thing(Base):
        pass

    f = scope("def f(x):\n    return x * x if isinstance(o, Base) else 3 * x", Base=Base, o=Thing(), __name__=__name__)[
        "f"
    ]
    check(f, 5.0, specialised=True)
    Thing.__bases__ = (Other,)
    check(f, 5.0, specialised=None)
    assert ad.gradient(f, 5.0) == (3.0,)


MEANWHILE = {
    "x if o else 3 * x": ("__bool__", lambda self: False, 3.0),
    "getattr(o, 'k', 1.0) * x": ("__getattr__", lambda self, name: 5.0, 5.0),
    "x if isinstance(x, Thing) else 3 * x": ("__instancecheck__", lambda cls, x: True, 1.0),
    "number * x * x": ("__mul__", lambda self, x: 7 * x, 70.0),
}


@pytest.mark.parametrize("text", MEANWHILE)
def test_an_attribute_that_takes_the_place_of_another(text):
    class Meta(type):
        before = 1

    class Thing(metaclass=Meta):
        before = 1

    class Double(float):
        before = 1

    name, method, slope = MEANWHILE[text]
    f = scope(f"def f(x):\n    return {text}", o=Thing(), Thing=Thing, number=Double(2.0), __name__=__name__)["f"]
    check(f, 5.0, specialised=None)
    for cls in (Meta, Thing, Double):
        del cls.before
    setattr({"__instancecheck__": Meta, "__mul__": Double}.get(name, Thing), name, method)
    check(f, 5.0, specialised=None)
    assert ad.gradient(f, 5.0) == (slope,)


def test_bases_that_bring_attributes():
    class Base:
        pass

    class Empty:
        def __bool__(self):
            return False

    class Thing(Base):
        pass

    f = scope("def f(x):\n    return x if o else 3 * x", o=Thing(), __name__=__name__)["f"]
    check(f, 5.0, specialised=None)
    Thing.__bases__ = (Empty,)
    check(f, 5.0, specialised=None)
    assert ad.gradient(f, 5.0) == (3.0,)


def test_functions_that_partials_and_properties_are_given_later():
    class Thing:
        def __init__(self, k):
            self.k = k

        @functools.cached_property
        def square(self):
            return self.k**2

    double = functools.partial(pow, exp=2)

    def f(x):
        return double(x) * Thing(x).square

    check(f, 3.0, specialised=None)
    double.__setstate__((pow, (), {"exp": 3}, {}))
    check(f, 3.0, specialised=None)
    Thing.square.func = lambda self: 5 * self.k
    check(f, 3.0, specialised=None)
    assert ad.gradient(f, 3.0) == (540.0,)


def test_a_class_that_decides_what_is_derived_from_it():
    class Deciding(type):
        def __subclasscheck__(cls, other):
            return answers[0]

    answers = [True]
    kind = Deciding("Kind", (), {})
    f = scope("def f(x):\n    return x * x if issubclass(int, Kind) else 3 * x", Kind=kind, __name__=__name__)["f"]
    check(f, 5.0, specialised=None)
    answers[0] = False
    check(f, 5.0, specialised=None)
    assert ad.gradient(f, 5.0) == (3.0,)


SPEAKING = """
class Meta(type):
    def __getitem__(cls, key): return K * key
    def __abs__(cls): return K
    def __bool__(cls): return K > 3
class Kind(metaclass=Meta): pass
class Items:
    def __class_getitem__(cls, key): return K * key
class Unit(enum.Enum):
    A = 1.0
    def __mul__(self, other): return K * other
    def __neg__(self): return K
    def __float__(self): return K
    def __str__(self): return "a" * int(K)
    def __bool__(self): return K > 3
class Silent(enum.Enum):
    A = 1.0
"""
SPOKEN = (
    *("Kind[2] * x", "abs(Kind) * x", "x if Kind else 3 * x", "Items[2] * x", "Unit.A * 2.0 * x", "-Unit.A * x"),
    *("float(Unit.A) * x", "len(str(Unit.A)) * x", "len(f'{Unit.A}') * x", "x if Unit.A else 3 * x"),
)


@pytest.mark.parametrize("text", SPOKEN)
def test_what_classes_of_constants_say_in_python(text):
    made = scope(f"K = 2.0\n{SPEAKING}\ndef f(x):\n    return {text}", enum=enum, __name__=__name__)
    f = made["f"]
    check(f, 5.0, specialised=None)
    made["K"] = 7.0
    check(f, 5.0, specialised=None)


def test_what_the_class_of_a_constant_says_later():
    made = scope(f"{SPEAKING}\ndef f(x):\n    return len(str(Silent.A)) * x", enum=enum, __name__=__name__)
    f = made["f"]
    check(f, 5.0, specialised=None)
    made["Silent"].__str__ = lambda self: "a" * 20
    check(f, 5.0, specialised=None)
    assert ad.gradient(f, 5.0) == (20.0,)


def test_classes_derived_from_a_class():
    class Base:
        name = "none"

    class Square(Base):
        name = "square"

        def of(self, x):
            return x * x

    def f(x, name):
        for cls in Base.__subclasses__():
            if cls.name == name:
                return cls().of(x)
        return 3.0 * x

    check(f, 0.3, "square")
    check(f, 0.3, "cube")

    class Cube(Base):
        name = "cube"

        def of(self, x):
            return x * x * x

    check(f, 0.3, "cube")
    check(f, 0.3, "square")
