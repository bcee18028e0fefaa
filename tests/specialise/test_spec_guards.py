"""Redefinition takes effect: everything that a specialised program takes for granted is guarded."""

from __future__ import annotations

import math
import pickle
import sys
import tracemalloc
import types

import numpy as np
import pytest
from specialised_cases import changes, check, check_slopes, is_specialised, scope

import autodiff_hook as ad
from autodiff_hook.runtime import specialising


def test_a_global_function():
    names = scope("def g(x): return 2 * x\ndef f(x): return g(x) * x")
    changes(names["f"], lambda: names.update(scope("def g(x): return 5 * x")), 3.0)
    changes(names["f"], lambda: names.update(g=math.sin), 3.0)


def test_the_globals_of_a_way_that_is_not_taken_are_not_asked_for(monkeypatch, capsys):
    source = """
def f(x, way="two"):
    if way == "one":
        return one(x) + sum(TABLE) + undefined(x)
    return two(x) * x
"""
    names = scope(source + "def two(x): return 2 * x", TABLE=[1.0, 2.0, 3.0])
    check(names["f"], 3.0)
    monkeypatch.setenv("AUTODIFF_TRACE", "1")
    for value in (None, [], {"a": object()}, math.sin):
        names["one"] = names["TABLE"] = value
        assert ad.gradient(names["f"], 3.0) == (12.0,)
    assert "infer" not in capsys.readouterr().err
    changes(names["f"], lambda: names.update(two=math.sin), 3.0)
    names.update(one=math.exp, TABLE=[4.0], undefined=math.cos)
    check(names["f"], 3.0, "one")


def test_a_global_number_of_every_type():
    names = scope("k = 2\ndef f(x): return x * k * x")
    check(names["f"], 3.0)
    for value in (3, 4.5, np.float64(2.5), True, np.array(3.0), False, 7):
        names["k"] = value
        check(names["f"], 3.0, specialised=None)
    for value, error in ((None, TypeError), ("a", TypeError), (np.ones(2), ad.Unsupported)):
        names["k"] = value
        with pytest.raises(error):
            ad.gradient(names["f"], 3.0)
    names["k"] = 2
    check(names["f"], 3.0, specialised=None)


def test_a_global_that_a_callee_rebinds_in_the_middle():
    source = "k = 2.0\ndef g(x):\n    global k\n    k = 5.0\n    return x\ndef f(x): return k * g(x) * k"
    names = scope(source)
    for _ in range(3):
        names["k"] = 2.0
        assert ad.gradient(names["f"], 3.0) == (10.0,)
        assert names["k"] == 5.0
        names["k"] = 2.0
        assert ad.withgradient(names["f"], 3.0) == (30.0, (10.0,))


def test_a_global_function_that_is_rebound_in_the_middle():
    source = "def f(x):\n    global g\n    a = g(x)\n    g = h\n    return a * g(x)\ndef h(x): return 3 * x\n"
    names = scope(source + "def two(x): return 2 * x")
    for _ in range(3):
        names["g"] = names["two"]
        assert ad.gradient(names["f"], 2.0) == (24.0,)


def closure(k, g):
    """A function with two cells, and what sets them."""

    def f(x):
        return g(x) * k * x

    def set_k(value):
        nonlocal k
        k = value

    def set_g(value):
        nonlocal g
        g = value

    return f, set_k, set_g


def test_closure_cells():
    f, set_k, set_g = closure(2.0, lambda t: 2 * t)
    for value in (3.0, 4, np.float64(2.5), np.array(1.5), True, 2.0):
        changes(f, lambda value=value: set_k(value), 3.0)
    for g in (lambda t: 5 * t, math.sin, lambda t: t):
        changes(f, lambda g=g: set_g(g), 3.0)
    assert f(3.0) == 18.0


def test_default_values():
    def g(x, k=2.0):
        return x * k

    def f(x, k=2.0):
        return g(x) * k

    changes(f, lambda: setattr(f, "__defaults__", (5.0,)), 3.0)
    changes(f, lambda: setattr(g, "__defaults__", (7.0,)), 3.0)
    assert ad.gradient(f, 3.0) == (35.0,)


@pytest.mark.parametrize(
    ("whose", "way"),
    [
        ("own", "assigned"),
        ("own", "changed"),
        ("callee", "assigned"),
        ("callee", "changed"),
    ],
)
def test_keyword_only_default_values(way, whose):
    def g(x, *, k=2.0):
        return x * k

    def outer(x):
        return g(x)

    f = g if whose == "own" else outer
    check(f, 3.0)
    if way == "assigned":
        g.__kwdefaults__ = {"k": 5.0}
    else:
        g.__kwdefaults__["k"] = 5.0
    check(f, 3.0, specialised=None)
    assert ad.gradient(f, 3.0) == (5.0,)


class Sigmoid:
    steep = 1.0

    def __call__(self, x):
        return 1.0 / (1.0 + math.exp(-self.steep * x))

    def twice(self, x):
        return self(self(x))


UNSET = object()
SIGMOID = Sigmoid()


def activated(x, act=SIGMOID, *, other=Sigmoid()):  # noqa: B008
    return act(x) * other.twice(x) if act is SIGMOID else act(x)


def of_activated(x):
    return activated(x) + activated(x, other=SIGMOID) + activated(x, Sigmoid())


def weighed(x, factor=UNSET, weights=[2.0, 3.0]):  # noqa: B006
    return weights[0] * x if factor is UNSET else weights[1] * x * factor


def of_weighed(x):
    return weighed(x) + weighed(x, x) + weighed(x, weights=[x, x])


@pytest.mark.parametrize("f", [activated, of_activated, weighed, of_weighed])
def test_objects_and_sentinels_as_default_values(f, monkeypatch):
    check_slopes(f, 0.3)
    changes(f, lambda: monkeypatch.setattr(SIGMOID, "steep", 2.0, raising=False), 0.3)
    changes(f, lambda: monkeypatch.setattr(Sigmoid, "twice", lambda self, x: x), 0.3)
    changes(f, lambda: weighed.__defaults__[1].reverse(), 0.3)
    changes(f, lambda: monkeypatch.setattr(weighed, "__defaults__", (2.0, [5.0, 1.0])), 0.3)
    changes(f, lambda: monkeypatch.setitem(globals(), "SIGMOID", lambda x: x * x), 0.3)


class Linear:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x


def test_default_values_that_are_arguments_too():
    line = Linear(2.0)

    def along(x, act=line):
        return act(x)

    def of_object(o, x):
        return along(x) * o.slope

    def of_list(xs):
        return weighed(xs[0])

    check(of_object, Linear(3.0), 0.3)
    check(of_list, [0.5, 1.5])
    for f, args in ((of_object, (line, 0.3)), (of_list, weighed.__defaults__[1:])):
        for _ in range(3):
            with pytest.raises(ad.NotDifferentiable, match="cannot be told apart"):
                ad.gradient(f, *args)


def test_code_that_is_assigned():
    def g(x):
        return x * 2

    def f(x):
        return g(x) * x

    changes(f, lambda: setattr(g, "__code__", (lambda x: x * 9).__code__), 3.0)
    changes(g, lambda: setattr(g, "__code__", (lambda x: x * 11).__code__), 3.0)
    assert ad.gradient(f, 3.0) == (66.0,)


def test_an_attribute_of_a_module_is_patched(monkeypatch):
    module = types.ModuleType("patched")
    module.sin, module.k, module.table = math.sin, 2.0, {"a": [1.0, 2.0]}

    def f(x):
        return module.sin(x) * module.k * module.table["a"][1]

    changes(f, lambda: monkeypatch.setattr(module, "sin", math.cos), 3.0)
    changes(f, lambda: monkeypatch.setattr(module, "k", 5), 3.0)
    changes(f, lambda: module.table["a"].append(module.table["a"].pop(0)), 3.0)

    def g(x):
        return math.sin(x) * x

    check(g, 3.0)
    with monkeypatch.context() as patch:
        patch.setattr(math, "sin", math.cos)
        check(g, 3.0)
    check(g, 3.0)


def test_a_builtin_is_shadowed():
    names = scope("def f(x): return abs(x) * x")
    changes(names["f"], lambda: names.update(abs=math.exp), 3.0)
    inner = scope("def g(x): return abs(x) * x", __name__=__name__)
    f = scope("def f(x): return g(x)", g=inner["g"], __name__=__name__)["f"]
    changes(f, lambda: inner.update(abs=math.exp), 3.0)


def test_rules_and_declarations():
    def g(x):
        return x * x

    def f(x):
        return g(x) * x

    check(f, 3.0)
    for factor in (100.0, 200.0):

        @ad.rrule(g)
        def g_rule(x, factor=factor):
            def g_pullback(c):
                return factor * c, None

            return x * x, g_pullback

        assert ad.gradient(f, 3.0) == (factor * 3.0 + 9.0,)


def test_a_declaration_that_there_is_no_derivative():
    def g(x):
        return x * x

    def f(x):
        return g(x) * x

    check(f, 3.0)
    ad.nondifferentiable(g)
    assert ad.gradient(f, 3.0) == (9.0,)


SCALE = 3.0


def scaled(x):
    return x * SCALE


def applied(f, x):
    return f(x) * x


def applied_in_a_dict(x, tools):
    return tools["f"](x) * tools["of"].cos(x) * tools["k"]


def test_functions_and_modules_with_names_may_be_arguments(monkeypatch):
    """Each is a program of its own, which reads what the function reads."""
    for f in (math.sin, np.exp, scaled):
        check(applied, f, 0.7)
    check(applied_in_a_dict, 0.7, {"f": scaled, "of": math, "k": 2.0})
    before = ad.gradient(applied, scaled, 0.7)[1]
    monkeypatch.setitem(globals(), "SCALE", 6.0)
    assert ad.gradient(applied, scaled, 0.7) == (None, 2 * before)
    monkeypatch.setattr(scaled, "__code__", (lambda x: x**3).__code__)
    assert ad.gradient(applied, scaled, 0.7)[1] == pytest.approx(4 * 0.7**3)


def test_functions_that_have_captured_something_are_variables():
    k = 2.0
    found = ad.gradient(applied, lambda x: x * k, 0.7)
    assert found[0]["k"] == pytest.approx(0.7**2) and found[1] == pytest.approx(2 * k * 0.7)


def test_what_a_rule_calls_is_redefined():
    names = scope("def g(x): return x * x\ndef f(x): return g(x)\ndef helper(c): return 10 * c\nk = 2.0")
    source = """def rule(x):
    def pullback(c):
        return (helper(c) * k,)
    return x * x, pullback
"""
    exec(source, names)
    ad.rrule(names["g"])(names["rule"])
    assert ad.gradient(names["f"], 3.0) == (20.0,)
    names["k"] = 3.0
    assert ad.gradient(names["f"], 3.0) == (30.0,)
    names["helper"] = lambda c: 20 * c
    assert ad.gradient(names["f"], 3.0) == (60.0,)


def test_a_module_is_opted_in_later(tmp_path, monkeypatch):
    (tmp_path / "spec_opted_in_later.py").write_text("def g(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import spec_opted_in_later

    def f(x):
        return spec_opted_in_later.g(x) * x

    for _ in range(2):
        with pytest.raises(ad.NotDifferentiable):
            ad.gradient(f, 3.0)
        with ad.install("spec_opted_in_later"):
            check(f, 3.0)
            assert ad.gradient(f, 3.0) == (27.0,)


def test_one_code_object_in_two_namespaces():
    code = compile("def f(x): return x * k * g(x)\ndef g(x): return x + k\ndef h(x): return 3 * x * x", "<one>", "exec")
    first, second = {"k": 2.0, "__name__": "first"}, {"k": 5, "__name__": "second"}
    exec(code, first)
    exec(code, second)
    assert first["f"].__code__ is second["f"].__code__
    for _ in range(2):
        for names in (first, second):
            check(names["f"], 3.0)
            check(names["h"], 3.0)
    second["g"] = math.sin
    for names in (first, second, first):
        check(names["f"], 3.0, specialised=None)


def test_arguments_of_many_types_one_after_another():
    def f(x):
        return np.sum(x * x + 1)

    values = [1.0, 2, np.float64(3.0), True, np.array(2.0), np.float32(2.0), np.ones(2), np.ones((2, 3)), np.array(2)]
    values += [np.arange(3), np.ones(2, np.float32), np.ones((0, 2)), np.ones((1, 1, 1)), np.bool_(True), np.int64(3)]
    for value in values * 2:
        check(f, value, specialised=None)
    for value in (1 + 2j, None, "a", [1.0], (1.0,), {"a": 1.0}):
        with pytest.raises((TypeError, ad.Unsupported)):
            ad.gradient(f, value)
    assert is_specialised(f)
    check(f, 1.0)


def squared(x):
    return np.sum(x * x) * x[0]


def squared_by_recursion(x, n=2):
    return squared(x) if n == 0 else squared_by_recursion(np.squeeze(x[::-1]), n - 1)


@pytest.mark.skipif(specialising.GENERIC, reason="there are no programs")
@pytest.mark.parametrize("f", [squared, squared_by_recursion])
def test_dtypes_that_are_equal_but_not_the_same_need_no_program_of_their_own(f):
    a = np.array([1.0, 2.0, 3.0])
    for x in (pickle.loads(pickle.dumps(a)), a, pickle.loads(pickle.dumps(a)), a[::-1]):
        check(f, x)
    programs = specialising._known.found[id(f.__code__)].values()
    assert [known.attempts for known in programs] == [1] * len(programs)
    check(f, a.astype(np.float32))
    assert max(known.attempts for known in programs) == 2


def product_of(x, of, *args):
    for a in args:
        x = x * a
    return of(x)


@pytest.mark.skipif(specialising.GENERIC, reason="there are no programs")
def test_calls_with_more_and_fewer_arguments_in_turn():
    """The program that is entered first is for another number of them: it has not failed."""
    for _ in range(5):
        assert ad.gradient(product_of, 2.0, lambda x: x * x, 3.0) == (36.0, None, 24.0)
        assert ad.gradient(product_of, 1.0, lambda x: x**3, 3.0, 2.0) == (648.0, None, 216.0, 324.0)
    programs = specialising._known.found[id(product_of.__code__)].values()
    assert [(known.attempts, known.failures) for known in programs] == [(1, 0)] * 2


class Typed:
    def __init__(self, scale, dtype):
        self.scale, self.dtype = scale, dtype


def of_dtype(held, x):
    whole = held.dtype is np.dtype(float)
    return np.sum(np.full(2, x, dtype=held.dtype)) * held.scale * (2.0 if whole else 1.0)


@pytest.mark.skipif(specialising.GENERIC, reason="there are no programs")
def test_dtypes_of_objects_that_are_unpickled():
    held, other = Typed(3.0, np.dtype(float)), Typed(3.0, np.dtype(np.float32))
    for _ in range(3):
        check(of_dtype, pickle.loads(pickle.dumps(held)), 0.7)
    programs = specialising._known.found[id(of_dtype.__code__)].values()
    assert [known.attempts for known in programs] == [1] * len(programs)
    for given in (held, other, pickle.loads(pickle.dumps(other)), pickle.loads(pickle.dumps(held)), Typed(1.0, "f8")):
        check(of_dtype, given, 0.7, specialised=None)


def test_numbers_that_come_out_of_a_table_which_carries_derivatives():
    names = scope(
        "import numpy as np\nTABLE = np.zeros(3)\nBOX = [0.0]\n"
        "def look(i, s): return TABLE[i] * s\n"
        "def peek(s): return BOX[0] * s\n"
        "def f(x):\n    TABLE[1] = x * x\n    BOX[0] = x\n    return look(1, x) + peek(x)\n"
    )
    for _ in range(3):
        (slope,) = ad.gradient(names["f"], 2.0)
        assert slope == 3 * 4.0 + 2 * 2.0


def test_what_is_captured_is_checked_in_little_memory():
    pairs = [(0.5 * i, i) for i in range(4000)]

    def weighted(k):
        total = 0.0
        for x, i in pairs:
            total += k * x * i
        return total

    for _ in range(3):
        expected = ad.gradient(weighted, 2.0)
    tracemalloc.start()
    try:
        assert ad.gradient(weighted, 2.0) == expected
        assert tracemalloc.get_traced_memory()[1] < 20_000 or specialising.GENERIC or specialising.ONE_WAY
    finally:
        tracemalloc.stop()


def test_what_a_function_imports_is_there_for_its_next_call(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)

    def f(x):
        import colorsys

        return colorsys.hls_to_rgb(0.2, 0.5, x)[0] * x

    expected = ad.gradient(f, 0.3)
    assert "colorsys" in sys.modules
    assert ad.gradient(f, 0.3) == pytest.approx(expected)
    assert is_specialised(f)


def test_what_is_never_imported_is_tried_once():
    def f(x):
        try:
            import no_such_module_at_all.part
        except ImportError:
            return [x][0] * x
        return no_such_module_at_all.part.f(x)

    for _ in range(3):
        assert ad.gradient(f, 0.3) == (0.6,)
