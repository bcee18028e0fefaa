"""What a program reads of its functions, methods, objects and arrays by looking into them."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import itertools
import numbers
import operator
import types
import warnings

import numpy as np
import pytest
from helpers import gradient_at

from autodiff_hook import NotDifferentiable, gradient, hvp, jvp
from autodiff_hook.testing import check_gradient


class Thing:
    """Attributes."""


@gradient_at(1.3)
def test_cell_contents(x):
    y = x * 3

    def get():
        return y

    return get.__closure__[0].cell_contents * x


@gradient_at(1.3)
def test_cell_contents_assigned(x):
    y = x * 3

    def get():
        return y

    get.__closure__[0].cell_contents = x * x
    return get() + y


@gradient_at(1.3)
def test_defaults(x):
    def g(t, p=x * x, *, q=x):
        return t * p * q

    return g.__defaults__[0] * x + g.__kwdefaults__["q"] * g(x)


@gradient_at(1.3)
def test_defaults_assigned(x):
    def g(t, p=1.0, *, q=1.0, r=2.0):
        return t * p * q * r

    g.__defaults__ = (x * x,)
    g.__kwdefaults__["r"] = x
    first = g(x)
    g.__kwdefaults__ = {"q": x, "r": 3.0}
    return first + g(x)


@gradient_at(1.3)
def test_bound_arguments_of_a_signature(x):
    def g(t, p=1.0):
        return t * p

    bound = inspect.signature(g).bind(x, p=x * x)
    return bound.arguments["p"] * bound.args[0] + g(*bound.args)


@gradient_at(1.3)
def test_wrapped_and_function_attributes(x):
    def decorated(f):
        @functools.wraps(f)
        def wrapper(*a):
            wrapper.calls += 1
            return f(*a) * x

        wrapper.calls = 0
        return wrapper

    @decorated
    def g(t, k=x * x):
        return t * k

    g.scale = x * x
    return g.__wrapped__(x) + g(x) * g.__dict__["scale"] + g.__wrapped__.__defaults__[0]


class Gain:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t):
        return self.gain * t


class Wrapper:
    def __init__(self, f):
        functools.update_wrapper(self, f)

    def __call__(self, t):
        return self.__wrapped__(t) * self.gain


@gradient_at(1.3)
def test_attributes_that_a_wrapper_is_given(x):
    def g(t):
        return t * x

    g.gain = x * x
    wrapper = functools.wraps(g)(lambda t: g(t) * wrapper.gain)
    return wrapper(x) * Wrapper(Gain(x))(x) * functools.update_wrapper(Thing(), x).__wrapped__


@gradient_at(1.3)
def test_defaults_that_a_wrapper_is_given(x):
    def g(t, k=x * x):
        return t * k

    return functools.update_wrapper(lambda t, k: t + k, g, ("__defaults__",))(x)


@gradient_at(1.3)
def test_dictionaries_of_objects(x):
    o, p, q = Thing(), Thing(), Thing()
    o.a = x
    vars(o)["b"] = x * x
    p.__dict__.update(o.__dict__)
    q.__dict__ = {"a": x, "b": x * x}
    q.__dict__["b"] = q.b * x
    return o.a * o.b + p.b + q.a * q.b


@gradient_at(1.3)
def test_receivers_and_partials(x):
    a = np.array([x, x * x])
    items = [x, x * x]
    p = functools.partial(lambda u, v: u * v, x * x)
    return a.dot.__self__.sum() * x + items.append.__self__[1] + p.func(p.args[0], x)


@gradient_at(1.3)
def test_tee(x):
    log = []

    def gen():
        for i in range(3):
            log.append(x * i)
            yield x * i

    a, b, c = itertools.tee(gen(), 3)
    r = next(a) + next(b) + next(a) * 2
    log.append(x * 10)
    r += sum(u * v for u, v in zip(b, c))
    return r + log[3] * log[1] + sum(a)


def shape_assigned(x):
    a = np.array([x, 2 * x])
    a.shape = (2, 1)
    return float((a @ a.T).sum())


def real_part_assigned(x):
    a = np.array([x, 2 * x])
    a.real = a * 2
    return a.sum()


def flat_assigned(x):
    a = np.zeros(2)
    a.flat = [x, x]
    return a.sum()


@pytest.mark.parametrize("f", [shape_assigned, real_part_assigned, flat_assigned])
@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_assigned_attributes_of_arrays(f):
    check_gradient(f, 1.3)
    assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(gradient(f, 1.3)[0])


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_shape_of_a_constant_array():
    def f(x):
        a = np.arange(2.0)
        a.shape = (2, 1)
        return float((a @ a.T).sum() * x)

    assert gradient(f, 1.3) == (1.0,) and jvp(f, (1.3,), (1.0,)) == (1.3, 1.0)


def test_forward_mode():
    def f(x):
        def g(t, p=x * x):
            return t * p

        def get():
            return y

        y = x * 3
        get.__closure__[0].cell_contents = y * x
        m = np.array([x, x * x]).dot
        return g.__defaults__[0] * get() + m.__self__.sum()

    slope = 12 * 1.3**3 + 1 + 2 * 1.3
    assert gradient(f, 1.3)[0] == pytest.approx(slope)
    assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(slope)
    assert hvp(f, (1.3,), (1.0,))[0] == pytest.approx(36 * 1.3**2 + 2)


def test_keywords_of_a_partial():
    def f(x):
        return functools.partial(max, key=None, default=x).keywords["default"] * x

    check_gradient(f, 1.3)


class Tripled:
    """What assigns through a property keeps three times the value."""

    unit = 0.0

    def __init__(self, value):
        self._value = value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        self._value = value * 3

    @value.deleter
    def value(self):
        self._value = self._value * 5


class Delegating(Tripled):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __delattr__(self, name):
        super().__delattr__(name)


class Slotted:
    __slots__ = ("a",)


@gradient_at(1.3)
def test_attributes_assigned_past_what_a_class_makes_of_it(x):
    plain, delegating = Tripled(0.0), Delegating(0.0)
    object.__setattr__(plain, "value", x)
    delegating.value = x
    product = plain._value * delegating.value
    delegating.__setattr__("value", x * x)
    del delegating.value
    object.__delattr__(plain, "value")
    return product + delegating.value * plain.value


@gradient_at(1.3)
def test_descriptors_that_are_assigned_to_by_hand(x):
    owner, slotted = Tripled(0.0), Slotted()
    Tripled.value.__set__(owner, x)
    property.__set__(Tripled.value, owner, owner.value * x)
    Tripled.value.__delete__(owner)
    Slotted.a.__set__(slotted, x)
    return owner.value * slotted.a


@gradient_at(1.3)
def test_items_assigned_by_functions(x):
    items, table = [x, 2.0, x], {}
    operator.setitem(items, 1, x * x)
    operator.delitem(items, 0)
    operator.setitem(table, "a", x * 3)
    return items[0] * items[1] * table["a"]


@gradient_at(1.3)
def test_class_attributes_assigned_past_the_metaclass(x):
    type.__setattr__(Tripled, "unit", x)
    product = Tripled.unit * Tripled(x).unit
    type.__setattr__(Tripled, "unit", 0.0)
    return product


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_a_shape_assigned_by_hand():
    def f(a):
        b = a * 2.0
        np.ndarray.shape.__set__(b, (2, 2))
        return (b[0] * b[1]).sum()

    a = np.arange(1.0, 5.0)
    check_gradient(f, a)
    assert jvp(f, (a,), (a,))[1] == pytest.approx(gradient(f, a)[0] @ a)


@pytest.mark.parametrize("derivative", [gradient, lambda f, x: jvp(f, (x,), (1.0,))])
def test_functions_made_by_hand_hold_defaults(derivative):
    def f(x):
        made = types.FunctionType((lambda a, b: a * b).__code__, {}, "made", (x,))
        return made(x)

    for _ in range(3):
        with pytest.raises(NotDifferentiable, match="function"):
            derivative(f, 1.3)


@gradient_at(1.3)
def test_signature_of_what_is_wrapped(x):
    def g(a, b=x):
        return a * b

    wrapper = functools.wraps(g)(lambda *args: 0.0)
    return inspect.signature(wrapper).parameters["b"].default * x


@gradient_at(1.3)
def test_signature_with_keywords_only(x):
    def g(a, *, b=x):
        return a * b

    return inspect.signature(g).parameters["b"].default * x


@gradient_at(1.3)
def test_signatures_of_classes_and_objects(x):
    class Scaled:
        def __init__(self, a, b=x):
            self.a = a

        def method(self, k=x * x):
            return k

        def __call__(self, *, z=3.0 * x):
            return z

    made = inspect.signature(Scaled).parameters["b"].default
    scaled = Scaled(1.0)
    called = inspect.signature(scaled).parameters["z"].default
    return made * inspect.signature(scaled.method).parameters["k"].default * called


class Named:
    """Keeps what it is given under the names of the parameters."""

    def __init__(self, a, b=2.0, *, scale=1.0):
        self.__dict__.update(locals())
        del self.self


class NamedToo(Named):
    def __init__(self, a, k):
        super().__init__(a, b=k * a, scale=k)
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)


@gradient_at(1.3)
def test_attributes_by_the_names_of_parameters(x):
    named, other = Named(x, scale=x * x), NamedToo(x * x, 3.0)
    return named.a * named.b * named.scale + other.a * other.b * other.k * other.scale


@gradient_at(1.3)
def test_what_locals_say_stays_when_names_are_assigned(x):
    y = x * x
    held = locals()
    y, z = y * 3.0, x
    held["x"] = 2.0
    return held["y"] * held["x"] * x + y * z + len(held) * x + len("%(x).2f" % held) * x


@gradient_at(1.3)
def test_locals_with_captured_names(x):
    def outer(y):
        inner = lambda: y * x  # noqa: E731
        return sum(v for v in locals().values() if isinstance(v, float)) * inner()

    return outer(x * x)


@gradient_at(1.3)
def test_the_one_dict_of_a_frame_before_3_13(x):
    y = x * x
    held = locals()
    held["z"] = x * 2.0
    y = y * 3.0
    first = held["y"] * x + len(held)
    again = locals()
    return first + again["y"] + held["y"] + held["z"] * len(again) + (x if again is held else x * x)


@gradient_at(1.3)
def test_locals_again_and_again(x):
    kept = []
    for i in range(1, 4):
        y = x * i
        kept.append(locals())
        if i == 2:
            del y
            kept.append(locals())
    return kept[0]["y"] * x + kept[-1]["y"] * kept[1]["i"] + len(kept[2]) * x


@gradient_at(1.3)
def test_locals_of_names_that_may_have_no_value(x):
    if x > 1.0:
        y = x * x
    else:
        z = x
    for i in range(int(x)):
        last = x * i + 2.0
    held = locals()
    return held.get("y", x) * held["last"] + held.get("z", x) + len(held) * x


@gradient_at(1.3)
def test_names_that_are_captured_and_assigned(x):
    def get():
        return y + last  # noqa: F821 (deleted at the end)

    before, y = len(locals()), x * x
    if x > 1.0:
        last = eval("y * 2.0")
    found = get() + locals()["y"] * eval("last") + before * x
    del y
    return found * len(vars()) + ("y" in dir()) * x


@gradient_at(1.3)
def test_locals_of_the_body_of_a_class(x):
    class Made:
        first = x * x
        locals()["second"] = first * x
        for i in range(3):
            vars()[f"power{i}"] = x**i
        whole = dict(locals())
        locals().update(last=whole["second"] * x)

    class Own:
        locals = lambda: {"y": 3.0}  # noqa: A001, E731
        y = locals()["y"] * x

    return Made.second * Made.power2 + Made.last * Made.whole["first"] + Own.y


@pytest.mark.parametrize(
    "take",
    [
        lambda x: iter([x]).__reduce__()[1][0][0],
        lambda x: itertools.repeat(x, 3).__reduce__()[1][0],
        lambda x: iter([x, 2 * x]).__setstate__(1),
    ],
)
def test_iterators_are_not_taken_apart(take):
    with pytest.raises(NotDifferentiable, match="an iterator over what is differentiated is copied"):
        gradient(take, 1.3)


@gradient_at(1.3)
def test_another_function_of_the_name(x):
    namespace = {"locals": lambda: {"x": 3.0}}
    exec("def f(x): return locals()['x'] * x", namespace)
    return namespace["f"](x)


class Unlike:
    """Equals nothing."""


UNLIKE = Unlike()


@gradient_at(1.3)
def test_what_is_no_other(x):
    def get():
        return x

    found = {"one": x, "list": [x], "dict": {}, "function": get, "object": Thing(), "none": None}
    kept = [name for name, value in found.items() if value is not UNLIKE and UNLIKE is not value]
    return x * len(kept) * get()


@gradient_at(1.3)
def test_what_iterators_and_methods_are(x):
    def powers():
        yield x
        yield x * x

    gen, items = powers(), iter([3.0, x])
    advance, method = items.__next__, [x, x * x, 2.0].pop
    kinds = isinstance(gen, types.GeneratorType) + isinstance(gen, list) + isinstance(gen, collections.abc.Iterator)
    called = sum(v * x for v in iter([x, x * x, 1.0, x].pop, 1.0))
    return sum(gen) * kinds * advance() + advance() * method() + len(method.__self__) * x + called


@gradient_at(1.3)
def test_vars_and_dir_of_a_function(x):
    y = x * x
    return vars()["y"] * len(dir()) + len(vars()) * x


@gradient_at(1.3)
def test_text_that_reads_the_names_of_a_function(x):
    y, text = x * x, "y * 3.0"
    found = eval(text) + eval("  [x, y]")[1]

    class Within:
        z = found * x
        w = eval("z * 2.0")

    return found * x + Within.w + eval("lambda t: t * t")(x) + eval("(lambda t: t * 3.0)(x)")


@gradient_at(1.3)
def test_text_in_namespaces(x):
    namespace = {"a": 2.0, "x": x}
    found = eval("a * x + np.sin(x)", {"np": np}, namespace)
    exec("b = x * a\ndef f(t):\n    return t * b\nclass C:\n    c = b * x\ndel a", namespace)
    code = compile("b * x", "<text>", "eval")
    return found * namespace["b"] + namespace["f"](x) + namespace["C"].c + eval(code, namespace, None) + len(namespace)


@pytest.mark.parametrize("formula", ["a * np.exp(-k * t)", "np.where(t > 0.3, a, k * t)"])
def test_a_formula_again_and_again(formula):
    def model(a, k):
        return np.sum(eval(formula, {"np": np, "t": np.linspace(0.0, 1.0, 5)}, {"a": a, "k": k}))

    check_gradient(model, 1.3, 0.7)
    check_gradient(model, 0.4, 1.9)


@gradient_at(1.3)
def test_text_that_assigns_names(x):
    exec("z = x * x")
    before = locals().get("z", x * x)
    exec("global TOLD\nTOLD = x * 3.0")
    return before * x + TOLD * eval("TOLD")  # noqa: F821 (which the text assigns)


def test_text_whose_frame_is_not_seen_is_an_error():
    with pytest.raises(NotDifferentiable, match="looks for the variables of its caller"):
        gradient(lambda x: sum(map(eval, ["2.0", "3.0"])) * x, 1.3)


class Doubled(dict):
    """Gives twice what it is asked for, and keeps half of what it is given."""

    def __getitem__(self, name):
        return 2.0 * super().__getitem__(name)

    def __setitem__(self, name, value):
        super().__setitem__(name, value / 2.0)


@gradient_at(1.3)
def test_text_in_other_mappings(x):
    chain, doubled = collections.ChainMap({"x": x}, {"y": x * x}), Doubled(x=x)
    exec("z = x * y", {}, chain)
    exec("y = x * x\nz = y * x\ndel y", {}, doubled)
    return chain["z"] + doubled["z"] + eval("x * z", {"x": 1.0}, doubled) + len(doubled) * x


@gradient_at(1.3)
def test_what_a_flat_iterator_goes_over(x):
    return np.array([x, x * x]).flat.base[1] * x


IN_ORDER = functools.cmp_to_key(lambda a, b: (a > b) - (a < b))


@gradient_at(1.3)
def test_what_is_compared_by_a_key_from_before(x):
    return sorted([x * x, x], key=IN_ORDER)[0] * IN_ORDER(x).obj * IN_ORDER(obj=x * x).obj


@gradient_at(1.3)
def test_what_is_imported_from_a_module(x):
    numbers.kept = x * x
    from numbers import Real, kept

    del numbers.kept
    return kept * x if isinstance(x, Real) else x


def test_the_memory_of_a_number():
    with pytest.raises(NotDifferentiable):
        gradient(lambda x: np.float64(x).data[()] * x, 1.3)


SHOWN = [
    lambda x: zip([x], [1]),
    lambda x: enumerate([x]),
    lambda x: map(abs, [x]),
    lambda x: filter(None, [x]),
    lambda x: reversed([x]),
    lambda x: iter([x]),
    lambda x: iter((x,)),
    lambda x: iter({1: x}),
    lambda x: (y for y in [x]),
    lambda x: itertools.chain([x], [1]),
    lambda x: itertools.islice([x], 1),
    lambda x: itertools.accumulate([x]),
    lambda x: np.errstate(all="ignore"),
    lambda x: warnings.catch_warnings(),
]


@pytest.mark.parametrize("made", SHOWN)
def test_the_class_of_what_only_stands_for_another_thing(made):
    """The program goes where it would without a derivative."""
    cls = type(made(1.0))

    def f(x):
        thing = made(x)
        if type(thing) is cls:
            x = x * x
        if isinstance(thing, (cls, str)) and thing.__class__ is cls:
            x = x * x
        return x if cls.__name__ in repr(thing) else 0.0

    for x in (1.3, 0.7, 1.1):
        assert gradient(f, x)[0] == pytest.approx(4 * x**3)


ATTRIBUTES = ("__call__", "__name__", "__bases__", "__mro__", "mro", "__len__", "real", "append", "flat")
ASKED = [
    lambda x: [x],
    lambda x: {"a": x},
    lambda x: (x, 1),
    lambda x: {1},
    lambda x: x,
    np.float64,
    lambda x: np.array([x]),
    lambda x: "text",
    lambda x: None,
    lambda x: range(3),
    lambda x: Thing(),
    lambda x: Thing,
    lambda x: lambda: x,
]


@pytest.mark.parametrize("made", ASKED)
def test_what_classes_have_is_not_what_their_objects_have(made):
    def f(x):
        thing = made(x)
        for i, name in enumerate(ATTRIBUTES):
            if hasattr(thing, name):
                x = x * (i + 2)
            if getattr(thing, name, None) is None:
                x = x + i
        try:
            thing.__bases__  # noqa: B018
        except AttributeError:
            x = x * 3.0
        return x

    for x in (1.3, 0.7):
        check_gradient(f, x)


def named_by_index(x):
    names = ["y[{i}]".format(i=i) for i in range(3)] + ["{}-{}".format("a", 1)]  # noqa: UP032
    values = {name: x * i for i, name in enumerate(names)}
    return values["y[2]"] * values["a-1"] + len("/".join(names).split("/")) * x


def test_texts_that_are_formatted_by_names_are_keys():
    check_gradient(named_by_index, 1.3)


@gradient_at(1.3)
def test_names_that_only_classes_have(x):
    a = np.array([x, 2.0])
    for thing in (x, a, [x], (x, 1)):
        x = x * 2 if hasattr(thing, "__name__") or hasattr(thing, "mro") else x * x
    for thing in (x, a):
        x = x * getattr(thing, "__qualname__", 3.0) * len(getattr(thing, "__dict__", "a"))
        try:
            thing.__dict__
        except AttributeError:
            x = x * x
    return x
