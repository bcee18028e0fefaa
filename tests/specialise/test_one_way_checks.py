"""What libraries ask before they compute, on one way: parameters, settings, kinds of tables, warnings of casts."""

from __future__ import annotations

import inspect
import threading
import types
import uuid
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from specialised_cases import GENERIC, check, check_slopes, is_specialised

from autodiff_hook import NotDifferentiable, gradient


def outside(source, **names):
    """A function of a module that is not opted in."""
    namespace = {"__name__": "somewhere_else", **names}
    exec(source, namespace)
    return namespace["f"]


SETTINGS = {"skip": False, "limit": 3.0}
LOCAL = threading.local()
CONSTRAINTS = {"x": "no_validation", "kind": ["array-like", None], "extra": [None]}
HOOKS = frozenset(["a.b"])


def settings():
    if not hasattr(LOCAL, "settings"):
        LOCAL.settings = SETTINGS.copy()
    return LOCAL.settings


@contextmanager
def changed_settings(**changes):
    before = settings().copy()
    settings().update(changes)
    try:
        yield
    finally:
        settings().update(before)


def scaled(x, kind=None, extra=None):
    for name, value in {"x": x, "kind": kind, "extra": extra}.items():
        allowed = CONSTRAINTS[name]
        if allowed == "no_validation":
            continue
        if not any(value is None and each is None for each in allowed):
            raise TypeError(name)
    with changed_settings(skip=True):
        names = [p.name for p in inspect.signature(scaled).parameters.values()]
        return x * x * len(names) * settings()["limit"] * (2.0 if settings()["skip"] else 1.0)


def test_parameters_that_are_checked_beside_settings_that_change():
    check_slopes(lambda x: scaled(x) + scaled(x * x), 1.3)
    assert SETTINGS == {"skip": False, "limit": 3.0}
    assert settings() == SETTINGS


SHOWN = {"a": 2.0}
VIEW = types.MappingProxyType(SHOWN)
OTHER = {"a": 3.0}


def viewed(x):
    total = sum(VIEW.values()) * x
    OTHER["a"] = x * x
    return total * OTHER["a"] + VIEW["a"] * x


def test_views_beside_dicts_that_change(monkeypatch):
    for other in ({"a": 3.0}, SHOWN, {"a": 4.0}):
        monkeypatch.setitem(globals(), "OTHER", other)
        SHOWN["a"] = 2.0
        x = 1.3
        expected = 6 * x**2 + (3 * x**2 if other is SHOWN else 2.0)
        assert gradient(viewed, x)[0] == pytest.approx(expected)
    SHOWN["a"] = 2.0


class Named(list):
    """Finds what it holds by name."""

    def __getitem__(self, name):
        return next(x for x in self if x.name == name)


class Fixed(tuple):
    """The same, of what stays as it is."""

    __slots__ = ()

    def __getitem__(self, name):
        return next(x for x in self if x.name == name)


class Plugin:
    def __init__(self, name):
        self.name = name


PLUGINS = Named([Plugin("a"), Plugin("bc")])
FIXED = Fixed(PLUGINS)

is_frame = outside(
    "import inspect\n"
    "NOTHING = object()\n"
    "def f(x):\n"
    "    marked = inspect.getattr_static(x, '__frame__', NOTHING) is not NOTHING\n"
    "    hooked = any(h == 'pandas' for h in HOOKS) or any(p.name == 'x' for p in FIXED)\n"
    "    return marked or hooked or isinstance(x, dict) or len([p for p in PLUGINS]) > 5",
    HOOKS=HOOKS,
    FIXED=FIXED,
    PLUGINS=PLUGINS,
)


def asking(x):
    values = np.array([x, x * x])
    jobs = PLUGINS["bc"].name + FIXED["a"].name
    if is_frame(x) or is_frame(values) or is_frame(None):
        return 0.0
    return values.sum() * len(jobs)


def test_questions_to_code_that_is_not_in_scope():
    check_slopes(asking, 1.3)
    assert GENERIC or is_specialised(asking)


double = outside("def f(x): return x * 2.0")
keep = outside("def f(box, x): box.append(x)")
fill = outside("def f(a): a[0] = 0.0")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: double(x) * x,
        lambda x, box=(): keep(box := [], x) or box[0] * x,
        lambda x: fill(a := np.array([x, x])) or a.sum() + a[0],
    ],
)
def test_what_does_more_than_answer_is_an_error(f):
    with pytest.raises(NotDifferentiable):
        gradient(f, 1.3)


def cast(a):
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        b = np.asarray(a, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = b / np.zeros(3)
    return np.sum(np.where(np.isfinite(shares), shares, b) ** 2)


def test_warnings_of_casts_that_are_errors():
    check(cast, np.array([1.0, 2.0, 3.0]), specialised=None)


class Run:
    def __init__(self, x):
        self.identifier, self.x = uuid.uuid4(), x


def told(x):
    run = Run(x)
    try:
        known = "unique" in np.array([x]).dtype.metadata
    except TypeError:
        known = run.identifier is None
    wide = "equal_nan" in inspect.signature(np.unique).parameters
    return x * run.x * (2.0 if known else 1.0) * (3.0 if wide else 1.0)


def test_identifiers_metadata_and_signatures_of_numpy():
    check_slopes(told, 1.3)
