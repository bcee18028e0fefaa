from __future__ import annotations

import importlib
import importlib.metadata
import math
import subprocess
import sys
import types

import numpy as np
import pytest

from autodiff_hook.cotangents import NotImplementedCotangent, not_implemented
from autodiff_hook.errors import AutodiffError, ConfigError, NotDifferentiable
from autodiff_hook.registry import Registry, describe, nondifferentiable, registry, rrule
from autodiff_hook.signatures import Any, Array, Complex, Real


def target(*args):
    """Something to register rules for."""


def named(name):
    def rule(*args):
        raise AssertionError("the tests only look rules up")

    rule.__qualname__ = name
    return rule


def found(rules, *types):
    rule = rules.rule(target, types)
    return rule and rule.__qualname__


@pytest.fixture
def rules():
    """A registry without packs."""
    empty = Registry()
    empty.packs.entries = []
    return empty


@pytest.mark.parametrize(
    "kind, members, others",
    [
        (Real, (int, float, np.float64, np.float32, np.int64), (bool, complex, np.bool_, np.ndarray, str)),
        (Complex, (int, float, complex, np.complex64, np.float32), (bool, np.bool_, np.ndarray)),
        (Array, (np.ndarray, np.memmap), (float, np.float64, list, np.matrix, np.ma.MaskedArray)),
        (Any, (object, float, bool, np.ndarray, type(None)), ()),
    ],
)
def test_kinds(kind, members, others):
    assert all(map(kind.contains, members))
    assert not any(map(kind.contains, others))


def test_the_most_specific_signature_wins(rules):
    for signature in ((), (Complex, Complex), (Real, Real), (float, float), (list,), (Array,)):
        rules.add(target, signature, named(str(signature)))
    assert found(rules, float, float) == str((float, float))
    assert found(rules, int, float) == "(Real, Real)"
    assert found(rules, np.float64, np.float64) == str((float, float))
    assert found(rules, float, complex) == "(Complex, Complex)"
    assert found(rules, list, int, int) == str((list,))
    assert found(rules, np.ndarray, float) == "(Array,)"
    assert found(rules, bool, str) == found(rules, float) == found(rules) == "()"


def test_a_missing_argument_matches_only_any(rules):
    rules.add(target, (Real, Real), named("two"))
    assert found(rules, float) is None
    assert found(rules, float, float, str) == "two"


def test_an_ambiguous_signature_is_an_error(rules):
    rules.add(target, (Real, Any), named("left"))
    with pytest.raises(AutodiffError, match=r"right .*target.*\(Any, Real\).*ambiguous.*\(Real, Real\) first"):
        rules.add(target, (Any, Real), named("right"))
    assert found(rules, str, float) is None
    rules.add(target, (Real, Real), named("both"))
    rules.add(target, (Any, Real), named("right"))
    assert [found(rules, float, float), found(rules, str, float), found(rules, float, str)] == ["both", "right", "left"]


def test_a_rule_with_the_same_signature_is_replaced(rules):
    rules.add(target, (Real,), named("old"))
    version = rules.version
    assert found(rules, float) == "old"
    rules.add(target, (Real, Any), named("new"))
    assert found(rules, float) == "new"
    assert rules.version > version


def test_an_unknown_target(rules):
    assert found(rules, float) is None
    assert not rules.has_rules(target) and not rules.is_constant(target)
    rules.add(target, (Real,), named("rule"))
    assert found(rules, str) is None
    assert rules.has_rules(target)


def test_the_last_declaration_holds(rules):
    rules.add(target, (Real,), named("rule"))
    rules.add_constant(target)
    assert rules.is_constant(target) and found(rules, float) is None
    rules.add(target, (Real,), named("rule"))
    assert not rules.is_constant(target) and found(rules, float) == "rule"


def test_the_decorators_return_what_they_are_given():
    def thrice(x):
        return 3 * x

    def thrice_rule(x):
        def thrice_pullback(ȳ):
            return (3 * ȳ,)

        return thrice(x), thrice_pullback

    assert rrule(thrice, Real)(thrice_rule) is thrice_rule
    assert registry.rule(thrice, (float,)) is thrice_rule
    assert nondifferentiable(thrice) is thrice
    assert registry.is_constant(thrice) and registry.rule(thrice, (float,)) is None


def test_a_cotangent_that_is_not_implemented():
    cotangent = not_implemented("the order of a Bessel function")
    assert isinstance(cotangent, NotImplementedCotangent)
    assert repr(cotangent) == "not_implemented('the order of a Bessel function')"
    with pytest.raises(NotDifferentiable, match="the order of a Bessel function"):
        raise cotangent.fail()


@pytest.mark.parametrize(
    "function, name",
    [(len, "len"), (math.sin, "math.sin"), (str.join, "str.join"), (np.linalg.norm, "numpy.linalg.norm")],
)
def test_names_in_messages(function, name):
    assert describe(function) == name


class Entry:
    """An entry point whose pack can fail to load."""

    def __init__(self, name, failures=0):
        self.name, self.value, self.failures, self.loaded = name, f"pack_of_{name}", failures, 0

    def load(self):
        if self.failures:
            self.failures -= 1
            raise ImportError(self.name)
        self.loaded += 1


def test_packs_are_loaded_once_their_module_is_imported(rules, monkeypatch):
    first, second, other = Entry("math"), Entry("math"), Entry("a_module_to_come")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [first, second, other])
    rules.packs.entries = None
    rules.has_rules(target)
    assert (first.loaded, second.loaded, other.loaded) == (1, 1, 0)
    monkeypatch.setitem(sys.modules, "a_module_to_come", types.ModuleType("a_module_to_come"))
    rules.has_rules(target)
    assert (first.loaded, second.loaded, other.loaded) == (1, 1, 1)


def test_without_entry_points_nothing_is_differentiated(rules, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    rules.packs.entries = None
    for _ in range(2):
        with pytest.raises(ConfigError, match="imported, but not installed.*pip install autodiff-hook"):
            rules.rule(target, (float,))


def test_a_pack_that_cannot_be_imported_is_not_forgotten(rules, monkeypatch):
    entry = Entry("math", failures=1)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    rules.packs.entries = None
    with pytest.raises(ConfigError, match="pack_of_math .*'math'.* cannot be imported: ImportError: math") as caught:
        rules.rule(target, (float,))
    assert isinstance(caught.value.__cause__, ImportError)
    assert entry.loaded == 0
    rules.rule(target, (float,))
    assert entry.loaded == 1


def test_a_pack_waits_for_the_end_of_the_import_of_its_module(rules, monkeypatch, tmp_path):
    entry = Entry("a_module_that_asks")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    rules.packs.entries = None
    asked = []
    monkeypatch.setattr(sys, "asks", lambda: asked.append((rules.has_rules(target), entry.loaded)), raising=False)
    (tmp_path / "a_module_that_asks.py").write_text("import sys\nsys.asks()\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("a_module_that_asks")
    assert asked == [(False, 0)]
    rules.has_rules(target)
    assert entry.loaded == 1
    del sys.modules["a_module_that_asks"]


LAZY = """
import math, sys
import autodiff_hook as ad

def wave(x):
    total = 0.0
    for y in [x, 2.0 * x]:
        total += math.sin(y) ** 2
    return total * sum([x, x]) / max(x, 1.0)

ad.gradient(wave, 0.3), ad.jvp(wave, (0.3,), (1.0,)), ad.hvp(wave, (0.3,), (1.0,))
assert "numpy" in sys.modules and "autodiff_rules.numpy" not in sys.modules
import numpy
assert ad.gradient(lambda x: numpy.sin(x) * x, 0.0) == (0.0,)
assert ad.gradient(lambda x: (x @ x.T).sum(), numpy.ones((2, 2)))[0].tolist() == [[4.0, 4.0], [4.0, 4.0]]
assert "autodiff_rules.numpy" in sys.modules
"""


def test_functions_of_numbers_load_no_rules_of_numpy():
    subprocess.run([sys.executable, "-c", LAZY], check=True, timeout=120)


DIRECT = "import scipy.fft, scipy.signal, importlib; importlib.import_module('autodiff_rules.scipy.{}')"


@pytest.mark.parametrize("pack", ["ndimage", "signal", "interpolate"])
def test_a_pack_can_be_imported_before_others_are_loaded(pack):
    subprocess.run([sys.executable, "-c", DIRECT.format(pack)], check=True, timeout=120)


OLD = """
import math
import scipy.fft
import scipy.special
import autodiff_hook as ad

scipy.__version__ = "1.9.3"
assert ad.gradient(lambda x: math.sin(x) * len(scipy.fft.fft([1.0])), 0.0) == (1.0,)
for f in (lambda x: scipy.special.erf(x), lambda x: abs(scipy.fft.fft([x, 1.0])[0])):
    try:
        ad.gradient(f, 0.3)
    except ad.NotDifferentiable as error:
        said = str(error)
    else:
        raise AssertionError("derivatives of a SciPy that the rules are not for")
assert "which is differentiated from SciPy 1.17 on, and this is 1.9.3" in said, said
assert "upgrade it (pip install -U 'scipy>=1.17')" in said, said
"""


def test_a_scipy_that_is_too_old_is_an_error_where_it_matters():
    subprocess.run([sys.executable, "-c", OLD], check=True, timeout=120)


def test_who_listens_is_told_once_of_what_a_pack_adds(rules):
    class Pack:
        name, value = "sys", "the rules of sys"

        def load(self):
            for each in (target, named("other"), named("third")):
                rules.add(each, (), named("rule"))

    told = []
    rules.when_changed(lambda: told.append(rules.has_rules(target)))
    rules.packs.entries = [Pack()]
    assert rules.has_rules(target) and told == [True]
    rules.add(target, (float,), named("by hand"))
    assert told == [True, True]
