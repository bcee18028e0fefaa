"""What programs print, log and warn of: derivatives are right, and all is said once, in order, as plainly."""

from __future__ import annotations

import contextlib
import io
import logging
import types
import warnings

import pytest
from specialised_cases import GENERIC, outcome

import autodiff_hook as ad
from autodiff_hook.runtime import specialising

CARRIED = GENERIC or specialising.ONE_WAY
SOURCE = """
import logging, math, sys, warnings
import numpy as np

log = logging.getLogger("outside.saying")
history, total = [], 0.0

class Solver:
    def __init__(self):
        self.log, self.x, self.path = logging.getLogger("outside.saying.solver"), 1.0, []
    def step(self, k):
        self.x = self.x - 0.1 * math.sin(k * self.x)
        self.path.append(self.x)
        self.log.info("at %.9f after %d", self.x, len(self.path))
        if self.x < 0.5:
            warnings.warn("small", RuntimeWarning)

solver = Solver()

def prints(x):
    s = 0.0
    for i in range(40):
        s = s + math.sin(x * i)
        if i % 10 == 0:
            print("step", i, s, sep="\\t")
    print(f"in the end {s:.3f}", end="!\\n", flush=True)
    return s * s
def prints_structures(x):
    print([x, 2.0], (x, "a"), {"x": x}, None, x > 1.0, np.ones(2) * x)
    xs = [x * i for i in range(3)]
    print(xs, len(xs))
    xs[0] = x * x
    print(xs)
    a = np.zeros(3)
    for i in range(3):
        a[i] = x * i
        print(a, a[i], a.shape)
    return sum(xs) * a[2]
def prints_elsewhere(x):
    print("to", x, file=sys.stderr)
    print("and to", x)
    print(file=None)
    return x * x
def logs(x):
    s = x
    for i in range(6):
        s = math.sin(s) * x
        log.debug("unheard %s", s)
        log.info("step %d: %g", i, s)
        if log.isEnabledFor(logging.WARNING) and i == 3:
            log.warning(f"three {s:.4f}")
            log.log(logging.ERROR, "as a number %r", s)
    a = np.ones(2) * s
    log.info("an array %s", a)
    a[0] = x
    return s * a.sum()
def warns(x):
    for i in range(5):
        if i * x > 2.0:
            warnings.warn(f"large {i}")
            warnings.warn("of a kind", RuntimeWarning)
            warnings.warn("by name", category=DeprecationWarning, stacklevel=1)
    return x * x
def says_all(x):
    global total
    for i in range(3):
        print("first", i)
        warnings.warn("then")
        log.info("last")
        history.append(x * i)
        total = total + x * i
    return total * x
def solves(x):
    solver.x = 1.0
    for _ in range(8):
        solver.step(x)
    return solver.x * x
def writes(x):
    s, length = 0.0, 0
    for i in range(5):
        s = s + math.sin(x * i)
        length = length + sys.stdout.write(f"\\rstep {i}: {s:.3f}")
        print("printed", end=" ")
        sys.stderr.write("%g " % s)
        sys.stdout.flush()
    write = sys.stdout.write
    write("done" + chr(10))
    return s * s * length
def prints_in_a_branch(x):
    if x > 1.0:
        print("above", x)
        return x * x
    print("below", x)
    return x
def told(x, i):
    print("told", i)
    return x * i
def prints_within(x):
    return sum(told(x, i) for i in range(3)) + max([told(x, i) for i in range(2)])
def steps(x):
    for i in range(3):
        print("yields", i)
        yield x * i
    print("is done")
def prints_as_it_yields(x):
    s = 0.0
    for y in steps(x):
        print("has", y)
        s = s + y * y
    return s
def prints_what_is_summed(x):
    s = 0.0
    for i in range(5):
        y = math.exp(x * i)
        print("part", i)
        s += math.sin(y) * y
    return s
def calls_itself(x, n=4):
    print("n", n)
    return x if n == 0 else math.sin(calls_itself(x, n - 1)) * x
def raises_after(x):
    print("before")
    log.info("before")
    return math.log(-x)
def handles(x):
    print("before")
    try:
        s = math.log(1.0 - x)
    except ValueError:
        print("in between")
        s = x * x
    print("after")
    return s
def prints_the_same(x):
    for i in range(3):
        print("again")
    return x * x
def loses_its_way(x):
    print("x", x)
    return math.sqrt(abs(x - 1.1)) * 0.0 + x
"""
LEFT = {"log": logging.getLogger("outside.saying")}


def made():
    module = types.ModuleType("outside")
    vars(module)["__file__"] = "outside.py"
    exec(compile(SOURCE, "outside.py", "exec"), vars(module))
    return module


@contextlib.contextmanager
def heard(strict=False, places=False):
    """All that is said, in the order of each kind, and the places if they are asked for."""
    found = {"out": io.StringIO(), "err": io.StringIO(), "log": io.StringIO(), "warned": []}
    log = logging.getLogger("outside.saying")
    handler = logging.StreamHandler(found["log"])
    place = "" if not places else "%(filename)s:%(lineno)d:%(funcName)s "
    handler.setFormatter(logging.Formatter(place + "%(name)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        with (
            contextlib.redirect_stdout(found["out"]),
            contextlib.redirect_stderr(found["err"]),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("error" if strict else "always")
            yield found
        where = [() if not places else (w.filename, w.lineno) for w in caught]
        found["warned"] += [(str(w.message), w.category, *place) for w, place in zip(caught, where)]
        found.update({k: found[k].getvalue() for k in ("out", "err", "log")})
    finally:
        log.removeHandler(handler)


NAMES = [
    n
    for n, f in vars(made()).items()
    if isinstance(f, types.FunctionType) and f.__code__.co_varnames[:1] == ("x",) and n not in ("told", "steps")
]
TYPED = {*NAMES} - {"raises_after", "handles", "calls_itself", "loses_its_way"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said(name):
    plain, reverse, forward = made(), made(), made()
    f, g = getattr(reverse, name), getattr(forward, name)
    typed = name in TYPED and not CARRIED
    for x in (1.3, 0.6, 1.1, 1.2):
        with heard():
            ends = [outcome(getattr(made(), name), x + d) for d in (1e-6, -1e-6)] if name != "says_all" else []
        with heard(places=True) as expected:
            value = outcome(getattr(plain, name), x)
        with heard(places=True) as by_gradient:
            found = outcome(ad.withgradient, f, x)
        with heard(places=True) as by_jvp:
            along = outcome(ad.jvp, g, (x,), (1.0,))
        assert by_gradient == by_jvp == expected
        if isinstance(value, type):
            assert found is along is value
            continue
        assert found[0] == along[0] == value
        assert found[1][0] == pytest.approx(along[1])
        if ends:
            assert found[1][0] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5)
        assert (reverse.history, reverse.total, reverse.solver.path) == (plain.history, plain.total, plain.solver.path)
    if typed:
        kept = specialising._known.found[id(f.__code__)].values()
        assert any(x.entries for x in kept) and not any(x.one_way for x in kept)


@pytest.mark.parametrize("name", ["warns", "says_all"])
def test_warnings_that_are_errors(name):
    """What comes before them is said once."""
    plain, own = made(), made()
    for _ in range(3):
        with heard(strict=True) as expected:
            assert outcome(getattr(plain, name), 1.3) is UserWarning
        with heard(strict=True) as found:
            assert outcome(ad.gradient, getattr(own, name), 1.3) is UserWarning
        assert found == expected
        with heard():
            ad.gradient(getattr(own, name), 1.3)
            getattr(plain, name)(1.3)


def test_a_closed_stream():
    module, stream = made(), io.StringIO()
    with heard():
        ad.gradient(module.writes, 1.3)
    stream.close()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()) as others:
        for f in (module.writes, made().writes):
            with pytest.raises(ValueError, match="closed"):
                ad.gradient(f, 1.3)
    assert others.getvalue() == ""


def test_streams_of_classes_of_their_own():
    """What they do may be seen by the program."""
    module = made()
    exec(
        "class Stream:\n    def __init__(self):\n        self.texts = []\n"
        "    def write(self, text):\n        self.texts.append(text)\n    def flush(self):\n        pass\n"
        "stream = Stream()\n"
        "class Counting(logging.Handler):\n    def emit(self, record):\n        history.append(record.getMessage())\n"
        "def to_stream(x):\n    print('a', file=stream)\n    return x * len(stream.texts)\n"
        "def to_handler(x):\n    log.warning('a')\n    return x * len(history)\n"
        "def to_output(x):\n    print('a')\n    return x * len(stream.texts)\n",
        vars(module),
    )
    for i in range(1, 4):
        assert ad.gradient(module.to_stream, 2.0) == (2.0 * i,)
    module.stream.texts.clear()
    for i in range(1, 4):
        with contextlib.redirect_stdout(module.stream):
            assert ad.gradient(module.to_output, 2.0) == (2.0 * i,)
    handler = module.Counting()
    module.log.addHandler(handler)
    try:
        for i in range(1, 4):
            assert ad.gradient(module.to_handler, 2.0) == (float(i),)
    finally:
        module.log.removeHandler(handler)


def test_what_decides_where_it_is_said():
    module = made()
    exec(
        "import io\n"
        "def redirected(x):\n    own, sys.stdout = sys.stdout, io.StringIO()\n    print('unheard')\n"
        "    sys.stdout = own\n    print('heard')\n    return x * x\n"
        "def disabled(x):\n    log.disabled = True\n    log.warning('unheard')\n    log.disabled = False\n"
        "    log.warning('heard')\n    return x * x\n"
        "def unhandled(x):\n    handlers = log.handlers[:]\n    log.handlers.clear()\n"
        "    log.handlers.append(logging.NullHandler())\n    log.warning('unheard')\n    log.handlers[:] = handlers\n"
        "    log.warning('heard')\n    return x * x\n"
        "def levelled(x):\n    log.setLevel(40)\n    log.warning('unheard')\n    log.setLevel(20)\n"
        "    log.warning('heard')\n    return x * x\n",
        vars(module),
    )
    for name in ("redirected", "disabled", "unhandled", "levelled"):
        for _ in range(3):
            with heard() as found:
                assert ad.gradient(getattr(module, name), 3.0) == (6.0,)
            assert "unheard" not in found["out"] + found["log"]
            assert "heard\n" in found["out"] + found["log"]


def test_a_stream_that_cannot_be_written_to():
    """Nothing is said twice, and the error is that of the line."""
    module = made()
    exec("def f(x):\n    print('plain')\n    print('not \\u00e4scii')\n    return x * x", vars(module))
    for _ in range(3):
        raw = io.BytesIO()
        with contextlib.redirect_stdout(io.TextIOWrapper(raw, "ascii", write_through=True)) as stream:
            with pytest.raises(UnicodeEncodeError):
                ad.gradient(module.f, 2.0)
            stream.flush()
            assert raw.getvalue().split() == [b"plain"]


@pytest.mark.parametrize("count", [1, 3])
def test_operators_say_it_once(count):
    module = made()
    source = (
        f"def f(x):\n    for i in range({count}):\n        print('a')\n    return x * x * x\n"
        "def both(x):\n    return np.ones(2) * f(x)"
    )
    exec(source, vars(module))
    for work in (
        lambda: ad.gradient(module.f, 2.0),
        lambda: ad.value_and_grad(module.f)(2.0),
        lambda: ad.pullback(module.f, 2.0)[1](1.0),
        lambda: ad.jvp(module.f, (2.0,), (1.0,)),
        lambda: ad.hvp(module.f, (2.0,), (1.0,)),
        lambda: ad.hessian(module.f)(2.0),
        lambda: ad.gradient(lambda x: ad.gradient(module.f, x)[0], 2.0),
        lambda: ad.jacobian(module.both)(2.0),
    ):
        for _ in range(3):
            with heard() as found:
                work()
            assert found["out"] == "a\n" * count
