"""The attribute ``J``."""

from __future__ import annotations

import pytest

IMPORTED = "import autodiff_hook, pkg.mod\nmod = pkg.mod\nautodiff_hook.install('pkg')\n"
HOOKED = "import autodiff_hook\nautodiff_hook.install('pkg')\nimport pkg.mod\nmod = pkg.mod\n"
both = pytest.mark.parametrize("prelude", [IMPORTED, HOOKED], ids=["imported before", "imported by the hook"])


@both
def test_every_kind_of_function_has_its_own(sample, prelude):
    sample.check(
        prelude
        + """
C = mod.C
for function in (
    mod.f, mod.outer, mod.cached, mod.cached.__wrapped__, C.m, C.s, C.c.__func__, C.p.fget, vars(C)["lazy"].func,
    C.Inner.m,
):
    assert function.J.function is function, function
assert C().m.J is C.m.J and C.c.J is C.c.__func__.J
assert repr(C.m.J) == "<J of pkg.mod.C.m>"
import functools, json
assert not hasattr(json.dumps, "J") and not hasattr(functools.lru_cache, "J")
"""
    )


@both
def test_it_is_the_function_J(sample, prelude):
    sample.check(
        prelude
        + """
def check(J, *args, value, cotangents, **kwargs):
    y, back = J(*args, **kwargs)
    assert y == value and back(1.0)[1:] == cotangents, (y, back(1.0))

obj = mod.C()
check(pkg.f.J, 3.0, 2.0, value=18.0, cotangents=(12.0, 9.0))
check(pkg.f.J, 3.0, k=2.0, value=18.0, cotangents=(12.0,))
check(mod.cached.J, 2.0, value=6.0, cotangents=(3.0,))
check(mod.C.s.J, 2.0, value=10.0, cotangents=(5.0,))
assert mod.C.m.J(obj, 3.0)[1](1.0)[2] == 2.0
assert mod.C.c.J(mod.C, 3.0)[1](1.0)[2] == 2.0
assert mod.C.p.fget.J(obj)[0] == 4.0
"""
    )


def test_what_looks_at_functions_sees_no_difference(sample):
    program = """
import inspect, mod, pydoc
print(inspect.signature(mod.f), inspect.getsource(mod.C.m), inspect.signature(mod.C), inspect.getdoc(mod.f))
print(mod.f.__module__, mod.f.__qualname__, mod.f.__annotations__, mod.f.__defaults__, mod.f(2.0), mod.C().m(1.0))
print(pydoc.render_doc(mod.f), sorted(vars(mod.C)))
"""
    sample.write("mod.py", (sample.root / "pkg/mod.py").read_text())
    plain = sample.output("-c", program)
    assert (
        sample.output("-c", program.replace("import inspect", "import autodiff_hook, inspect"), AUTODIFF_MODULES="mod")
        == plain
    )


def test_wraps_copies_it_and_attaching_again_mends_that(sample):
    sample.check(
        HOOKED
        + """
import functools
@functools.wraps(mod.f)
def wrapper(x):
    return -mod.f(x)
assert wrapper.J.function is mod.f
mod.wrapper = wrapper
autodiff_hook.install("pkg.mod")
assert wrapper.J.function is wrapper and mod.f.J.function is mod.f
"""
    )


def test_decorated_functions_have_their_own(sample):
    sample.write(
        "pkg/decorated.py",
        "import functools\nfrom elsewhere import decorate\n"
        "@decorate\ndef f(x):\n    return x\n"
        "@functools.singledispatch\ndef g(x):\n    return x\n",
    )
    sample.write(
        "elsewhere.py",
        "import functools\n"
        "def decorate(function):\n"
        "    @functools.wraps(function)\n"
        "    def wrapper(x):\n        return 2 * function(x)\n"
        "    return wrapper\n",
    )
    sample.check(
        HOOKED + "from pkg.decorated import f, g\nimport elsewhere\n"
        "assert f.J.function is f and f.__wrapped__.J.function is f.__wrapped__ and g.J.function is g\n"
        "assert not hasattr(elsewhere.decorate, 'J')"
    )


def test_what_it_must_not_touch(sample):
    sample.write(
        "pkg/odd.py",
        "from math import sin\nfrom json import dumps\n"
        "class Proxy:\n"
        "    @property\n    def __class__(self):\n        raise RuntimeError\n"
        "    def __getattr__(self, name):\n        raise RuntimeError(name)\n"
        "    def __hash__(self):\n        raise RuntimeError\n"
        "proxy = Proxy()\nlength = len\nmethod = [].append\n"
        "def own(x):\n    return x\n"
        "own.J = 'mine'\n",
    )
    sample.check(
        HOOKED + "import pkg.odd, json\nassert pkg.odd.own.J == 'mine' and not hasattr(json.dumps, 'J')\n"
        "autodiff_hook.uninstall()\nassert pkg.odd.own.J == 'mine'"
    )


def test_modules_that_load_lazily_stay_unloaded(sample):
    sample.check(
        """
import autodiff_hook, importlib.util, sys
spec = importlib.util.find_spec("pkg.mod")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = sys.modules["pkg.mod"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
autodiff_hook.install("pkg")
assert "f" not in object.__getattribute__(module, "__dict__")
from autodiff_hook import config
assert config.in_scope(module.f.__globals__)
"""
    )


def test_a_module_that_installs_itself(project):
    project.write("pkg.py", "import autodiff_hook\nautodiff_hook.install(__name__)\ndef f(x):\n    return x\n")
    project.check(
        "import autodiff_hook, pkg\nfrom autodiff_hook import config\nassert config.in_scope(pkg.f.__globals__)"
    )


FORMS = """
import enum
import functools

@functools.singledispatch
def chosen(x):
    return x

@chosen.register
def _(x: float):
    return 3 * x * x

@chosen.register(list)
def of_list(x):
    return 2 * x[0]

class Base:
    def inherited(self, x):
        return 7 * x

class C(Base):
    k = 2.0

    def __init__(self, v):
        self.v = v

    def inherited(self, x):
        return super().inherited(x) * self.v

    def m(self, x, n=2.0):
        return self.v * x * n

    by_five = functools.partialmethod(m, n=5.0)

    @functools.cached_property
    def cube(self):
        return self.v ** 3

    @functools.singledispatchmethod
    def either(self, x):
        return self.v * x

    @functools.lru_cache
    def kept(self, x):
        return self.v * x

    @classmethod
    def c(cls, x):
        return cls.k * x * x

    def __call__(self, x):
        return self.v * x * x

class Level(enum.Enum):
    LOW = 2.0

    def scaled(self, x):
        return self.value * x
"""


@pytest.mark.parametrize("path", [{}, {"AUTODIFF_GENERIC": "1"}], ids=str)
def test_forms_of_functions(sample, path):
    sample.write("pkg/forms.py", FORMS)
    sample.check(
        """
import autodiff_hook as ad
ad.install("pkg")
from pkg.forms import *
def slopes(J, *args):
    return J(*args)[1](1.0)[1:]
o = C(3.0)
assert slopes(chosen.J, 3.0) == slopes(chosen.dispatch(float).J, 3.0) == ad.gradient(chosen, 3.0) == (18.0,)
assert slopes(chosen.J, [3.0]) == slopes(of_list.J, [3.0]) == ([2.0],)
assert slopes(C.inherited.J, o, 2.0)[1] == 21.0 and slopes(Base.inherited.J, o, 2.0)[1] == 7.0
assert slopes(C.m.J, o, 2.0)[1] == 6.0 and slopes(vars(C)["by_five"].func.J, o, 2.0, 5.0)[1] == 15.0
assert slopes(C.cube.func.J, C(3.0))[0].v == 27.0 and slopes(vars(C)["either"].func.J, o, 2.0)[1] == 3.0
assert slopes(C.kept.J, o, 2.0)[1] == 3.0 and slopes(C.c.J, C, 2.0)[1] == 8.0
assert slopes(C.__call__.J, o, 2.0)[1] == 12.0 and slopes(Level.scaled.J, Level.LOW, 3.0)[1] == 2.0
for bound, slope in ((o.m, 6.0), (o.by_five, 15.0), (o.either, 3.0), (o.c, 8.0), (o, 12.0), (Level.LOW.scaled, 2.0)):
    assert ad.gradient(bound, 2.0) == (slope,), bound
assert ad.gradient(lambda o: o.cube, C(3.0))[0].v == 27.0
""",
        **path,
    )
