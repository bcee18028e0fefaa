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
