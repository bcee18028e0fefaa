"""A list, a dict or an object that is an argument and has another name, too, is two variables of the function."""

from __future__ import annotations

import copy
import weakref

import pytest

from autodiff_hook import NotDifferentiable, gradient, pullback
from autodiff_hook.algebras import given
from autodiff_hook.testing import check_gradient

LIST, TABLE = [3.0], {"a": 3.0}
HOLDER = [LIST]


class Model:
    shared = [5.0]

    def __init__(self, *weights):
        self.weights = list(weights)
        self.layers = [self.weights]
        self.name = "model"

    def by_attribute(self, weights):
        return weights[0] * self.weights[1]

    def by_argument(self, weights):
        return weights[0] * weights[1]

    def by_list(self, weights):
        return weights[0] * self.layers[0][0]


MODEL = Model(2.0, 3.0)


def with_default(weights, others=MODEL.weights):
    return weights[0] * others[1]


def captured(weights):
    return lambda given: given[0] * weights[1]


def unpacked(q):
    (found,) = HOLDER
    return found[0] * q[0]


NAMES = {
    "a global list": (lambda q: LIST[0] * q[0], LIST),
    "a global dict": (lambda q: TABLE["a"] * q["a"], TABLE),
    "a global object": (lambda m: m.weights[0] * MODEL.weights[1], MODEL),
    "an attribute of the receiver": (MODEL.by_attribute, MODEL.weights),
    "an item of an attribute": (MODEL.by_list, MODEL.weights),
    "an attribute of a global": (lambda w: w[0] * MODEL.weights[1], MODEL.weights),
    "a class attribute": (lambda w: w[0] * Model.shared[0], Model.shared),
    "a default value": (with_default, MODEL.weights),
    "a captured variable": (captured(MODEL.weights), MODEL.weights),
    "an item of a list": (lambda q: list(HOLDER)[0][0] * q[0], LIST),
    "an item of a tuple": (lambda q: tuple(HOLDER)[0][0] * q[0], LIST),
    "an item of a copy": (lambda q: HOLDER.copy()[0][0] * q[0], LIST),
    "an item of a slice": (lambda q: HOLDER[:][0][0] * q[0], LIST),
    "an item of a sum": (lambda q: (HOLDER + [])[0][0] * q[0], LIST),
    "an item of a product": (lambda q: (HOLDER * 2)[1][0] * q[0], LIST),
    "an item of what was sorted": (lambda q: sorted(HOLDER)[0][0] * q[0], LIST),
    "an item of what was spread": (lambda q: [*HOLDER][0][0] * q[0], LIST),
    "an unpacked item": (unpacked, LIST),
    "a global of a callee": (lambda q: (lambda t: t * LIST[0])(q[0]), LIST),
}


@pytest.mark.parametrize("name", NAMES)
def test_two_names_cannot_be_told_apart(name):
    f, argument = NAMES[name]
    for _ in range(4):
        with pytest.raises(NotDifferentiable, match=r"another variable of the function.*pass a copy"):
            gradient(f, argument)
    _, back = pullback(f, argument)
    with pytest.raises(NotDifferentiable, match="another variable of the function"):
        back(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_another_variable(name):
    f, argument = NAMES[name]
    if argument is MODEL:
        assert gradient(f, copy.deepcopy(argument))[0].weights == [3.0, 0.0]
    else:
        check_gradient(f, copy.deepcopy(argument))


def kept_by_the_program(weights):
    model = Model(1.0)
    model.weights = weights
    held, table = [weights], {"a": weights}

    def inner():
        return weights[1]

    return model.weights[0] * held[0][1] + table["a"][0] * inner()


def put_into_what_the_program_makes(weights):
    def rest(*args, default=weights, **options):
        return args[0][0] * default[1] * options["w"][0]

    held, table, many = [], {}, [weights] * 2 + [weights][:]
    held.append(weights)
    table["a"] = weights, 2.0
    pair = [x for x in [weights]][0], dict(w=weights)["w"]
    first, *others = [weights, *held]
    found = held[0][0] * table["a"][0][1] + pair[0][0] * pair[1][1] + many[2][0] * others[0][1]
    return found + sorted([weights], key=len)[0][0] + rest(weights, w=weights) + list((weights,))[0][1]


def kept_outside(weights):
    MODEL.kept = weights
    return MODEL.kept[0] * weights[1]


def read_of_another_name_only(model):
    return model.weights[0] * len(MODEL.name)


def test_what_the_program_makes_is_not_looked_for_outside(monkeypatch):
    monkeypatch.setattr(given, "_environment", None)
    check_gradient(put_into_what_the_program_makes, [2.0, 3.0])


@pytest.mark.parametrize("f", [kept_by_the_program, put_into_what_the_program_makes, kept_outside])
def test_names_that_the_program_gives_are_names_of_the_argument(f):
    check_gradient(f, [2.0, 3.0])
    assert gradient(f, MODEL.weights) == gradient(f, [2.0, 3.0])


def test_what_carries_no_derivative_may_be_read_by_any_name():
    check_gradient(MODEL.by_argument, MODEL.weights)
    assert gradient(read_of_another_name_only, MODEL)[0].weights == [5.0, 0.0]


@pytest.mark.parametrize("count", [20_000, 150_000])
def test_another_name_behind_many_others(count):
    argument = [2.0, 3.0]
    many = [[argument]] + [[float(i)] for i in range(count)]

    def f(weights):
        return weights[0] * many[0][0][1]

    with pytest.raises(NotDifferentiable, match="argument, too"):
        gradient(f, argument)


def test_proxies_of_what_has_died_are_not_asked_for_their_class():
    class Owner:
        pass

    owner, given = Owner(), [2.0]
    box = [weakref.proxy(owner), given]
    del owner

    def other_name(xs):
        return box[1][0] * xs[0]

    def new_name(xs):
        held = [box[0], xs]
        return held[1][0] * xs[0]

    with pytest.raises(NotDifferentiable, match="argument, too"):
        gradient(other_name, given)
    assert gradient(new_name, given) == ([4.0],)
