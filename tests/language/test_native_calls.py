"""What native code may have written, and what it may remember: right, or an error."""

from __future__ import annotations

import array
import copy
import ctypes
import functools
import json
import marshal
import pickle
import queue
import re
import struct
import typing
from typing import Optional

import numpy as np
import pytest
from helpers import assert_gradients, searched_in

from autodiff_hook import AutodiffError, NotDifferentiable, gradient, jvp, nondifferentiable, pullback
from autodiff_hook.api import generic_gradient
from autodiff_hook.registry import writes
from autodiff_hook.runtime.reachable import reachable
from autodiff_hook.runtime.reading import only_reads
from autodiff_hook.testing import check_gradient


def opaque(source, name="f", **names):
    """A function of a module that is not opted in."""
    namespace = {"__name__": "somewhere_else", "np": np, **names}
    exec(source, namespace)
    return namespace[name]


X = 1.3
WORKSPACE = np.zeros(2)
fill = opaque("def f(x, out): out[:] = x")
fill_nested = opaque("def g(x, out): out[0] = x\ndef f(x, out): g(x, out)")
fill_by_ufunc = opaque("def f(x, out): np.multiply(x, 2.0, out=out)")
fill_in_place = opaque("def f(x, out): out += x")
normalise = opaque("def f(x): x /= np.sqrt((x * x).sum())")


def written_to_a_workspace(x):
    fill(x, WORKSPACE)
    return WORKSPACE.sum()


def written_to_a_workspace_by_a_callee(x):
    fill_nested(x, WORKSPACE)
    return WORKSPACE.sum()


def written_to_a_workspace_by_a_ufunc(x):
    fill_by_ufunc(x, WORKSPACE)
    return WORKSPACE.sum()


def written_to_empty_memory(x):
    out = np.empty(2)
    fill(x, out)
    return out.sum()


def written_zeros(x):
    out = np.zeros(2)
    fill_in_place(np.zeros(2) + (x - X), out)
    return out.sum()


def written_to_an_argument_that_stays_as_it_is(x):
    direction = np.array([x / X, 0.0])
    normalise(direction)
    return direction[0]


def written_by_a_foreign_function(x):
    source, out = np.array([x, 2.0]), np.empty(2)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (out, source)]
    ctypes.memmove(*pointers, 16)
    return out.sum()


def written_by_a_foreign_function_at_an_address(x):
    source, out = np.array([x, 2.0]), np.empty(2)
    ctypes.memmove(out.ctypes.data, source.ctypes.data, 16)
    return out.sum()


def written_at_an_address_of_the_interface(x):
    source, out = np.array([x, 2.0]), np.empty(2)
    ctypes.memmove(out.__array_interface__["data"][0], source.__array_interface__["data"][0], 16)
    return out.sum()


def written_through_a_memoryview(x):
    out = np.empty(2)
    memoryview(out)[0] = x
    return out[0]


def written_through_struct(x):
    out = np.zeros(2)
    struct.pack_into("d", out, 8, x)
    return out[1]


def written_by_place(x):
    out = np.zeros(2)
    np.place(out, [True, True], [x, x])
    return out.sum()


def written_through_nditer(x):
    out = np.zeros(2)
    with np.nditer(out, op_flags=["writeonly"]) as it:
        for item in it:
            item[...] = x
    return out.sum()


def written_by_sort(x):
    a = np.array([x, 1.0, 3 * x])
    a.sort()
    return a[0] + 2 * a[1]


def written_at_repeated_indices(x):
    out = np.zeros(2)
    np.add.at(out, [1, 1], x)
    return out.sum()


def written_by_shuffle(x):
    a = np.array([x, 1.0, 3 * x])
    np.random.default_rng(0).shuffle(a)
    return a[0]


def written_to_two_results(x):
    fraction, whole = np.empty(1), np.empty(1)
    np.modf(np.array([x]), out=(fraction, whole))
    return fraction.sum() * x


def written_to_two_results_by_place(x):
    fraction, whole = np.empty(1), np.empty(1)
    np.divmod(np.array([x]), np.array([0.3]), whole, fraction)
    return fraction.sum() * whole.sum()


def written_to_memory_of_another_kind(x):
    memory = array.array("d", [0.0, 0.0])
    np.frombuffer(memory)[0] = x
    return memory[0]


def read_through_asarray_of_a_memoryview(x):
    a = np.zeros(1)
    b = np.asarray(memoryview(a))
    b[0] = 2 * x
    return a[0] * 1.0


KEPT = [0.0]


def written_by_a_callback_to_a_global_list(x):
    KEPT[:] = [0.0]
    re.sub("a", lambda match: KEPT.append(x) or "b", "aa")
    return KEPT[-1] * x


BUFFER = np.zeros(2)
VIEW = memoryview(BUFFER)
ARRAY_OF_VIEW = np.frombuffer(VIEW)
FLAT = BUFFER.flat


def read_through_a_memoryview(x):
    BUFFER[0] = x
    return VIEW[0] ** 2 * 1.0


def read_through_frombuffer(x):
    BUFFER[0] = x
    return ARRAY_OF_VIEW[0] ** 2


def read_through_a_flat_iterator(x):
    BUFFER[0] = x
    return FLAT[0] ** 2


def remembered_by_ctypes(x):
    a = np.zeros(2)
    number = ctypes.c_double.from_buffer(a)
    a[0] = x
    return number.value


def remembered_by_an_array_of_ctypes(x):
    a = np.zeros(2)
    numbers = np.ctypeslib.as_ctypes(a)
    a[0] = x
    return numbers[0]


def remembered_by_a_pointer(x):
    a = np.zeros(2)
    pointer = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    a[0] = x
    return pointer[0] + pointer.contents.value


def remembered_by_an_iterator_of_bytes(x):
    a = np.zeros(2)
    numbers = struct.iter_unpack("d", a)
    a[0] = x
    return next(numbers)[0]


def remembered_by_an_iterator_of_bytes_in_a_loop(x):
    a = np.zeros(2)
    numbers = struct.iter_unpack("d", a)
    a[0] = x
    total = 0.0
    for (number,) in numbers:
        total = total + number
    return total


def remembered_by_a_pickle_buffer(x):
    a = np.zeros(2)
    buffer = pickle.PickleBuffer(a)
    a[0] = x
    return np.frombuffer(buffer)[0] + buffer.raw().cast("d")[0]


def remembered_by_a_slice_of_a_memoryview(x):
    a = np.zeros(4)
    view = memoryview(a)[1:][::2]
    a[1] = x
    return view[0] + sum(view) + view.tolist()[0] + list(view)[0]


def remembered_by_an_iterator(x):
    a = np.zeros(2)
    numbers = iter(memoryview(a))
    a[0] = x
    return next(numbers)


def remembered_by_nditer(x):
    a = np.zeros(2)
    numbers = np.nditer(a)
    a[0] = x
    return float(next(numbers)) * 1.0


OUTSIDE = np.zeros(2)
NUMBER = ctypes.c_double.from_buffer(OUTSIDE)
NUMBERS = [NUMBER]


def remembered_from_outside(x):
    OUTSIDE[0] = x
    return NUMBER.value * 2


def remembered_from_outside_in_a_list(x):
    OUTSIDE[0] = x
    return NUMBERS[0].value * 2


def remembered_by_a_foreign_function(x):
    OUTSIDE[0] = x
    out = np.zeros(2)
    ctypes.memmove(out.ctypes.data, ctypes.addressof(NUMBER), 8)
    return out[0]


def read_by_unpacking(x):
    a = np.zeros(2)
    a[0] = x
    return struct.unpack("2d", a)[0] + struct.unpack_from("d", a)[0]


def read_by_tobytes(x):
    a = np.zeros(2)
    a[0] = x
    return np.frombuffer(a.tobytes())[0]


PROGRAMS = [value for name, value in sorted(globals().items()) if name.startswith(("written_", "read_", "remembered_"))]


def agrees_or_refuses(f, x, h=1e-6):
    """Whether gradient and pullback are those of finite differences, or an error; twice, as memory is used again."""
    expected = (f(x + h) - f(x - h)) / (2 * h)
    f(x)
    for differentiate in (lambda: gradient(f, x), lambda: pullback(f, x)[1](1.0)) * 2:
        try:
            (found,) = differentiate()
        except AutodiffError:
            continue
        assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_native_code_writes_is_right_or_an_error(f):
    agrees_or_refuses(f, X)


def test_what_is_right():
    for f in (
        written_to_two_results,
        written_to_two_results_by_place,
        read_through_asarray_of_a_memoryview,
        read_through_frombuffer,
    ):
        check_gradient(f, X)


# What only reads leaves everything as it is

all_finite = opaque("def f(x): return bool(np.isfinite(x).all())")
validated = opaque(
    "def norm(x): return np.sqrt((x * x).sum())\n"
    "def f(x, limit=10.0):\n"
    "    total = 0.0\n"
    "    for v in x:\n"
    "        total += v\n"
    "    if norm(x) > limit or not np.all(np.isfinite(x)) or total > limit:\n"
    "        raise ValueError(f'too long: {x}')\n"
)
reported = opaque("def f(x): print('x', x.shape, [float(v) for v in x.ravel()], x.mean())")


@pytest.mark.parametrize("look", [all_finite, validated, reported, json.dumps, pickle.dumps, np.array_str, repr])
def test_what_only_reads_takes_nothing_away(look):
    def f(x):
        a = x * 2
        look(a.tolist() if look is json.dumps else a)
        return (a * a).sum()

    check_gradient(f, np.array([1.0, 2.0]))
    if look is not pickle.dumps:
        assert jvp(f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))[1] == pytest.approx(8.0)


def test_containers_that_are_written_to_a_text_stay_as_they_are():
    def f(p):
        json.dumps(p)
        pickle.dumps(p)
        return p["a"] ** 2

    assert gradient(f, {"a": 2.0})[0]["a"] == pytest.approx(4.0)


def test_a_predicate_that_is_not_python_code_takes_nothing_away():
    asked = ctypes.pythonapi.PyObject_IsTrue
    asked.argtypes, asked.restype = [ctypes.py_object], bool

    def f(x):
        a = x * np.array([1.0])
        return (a * a).sum() if asked(a) else a.sum()

    check_gradient(f, 2.0)


def test_a_mask_that_is_not_of_python_code_is_a_constant():
    compare = ctypes.PyDLL(None).PyObject_RichCompare
    compare.argtypes, compare.restype = [ctypes.py_object, ctypes.py_object, ctypes.c_int], ctypes.py_object

    def f(x):
        a = x * np.array([1.0, -2.0, 3.0])
        positive = compare(a, 0.0, 4)
        return (a[positive] ** 2).sum() + (a * positive).sum() + a[1]

    check_gradient(f, 2.0)
    check_gradient(f, -2.0)


def test_declared_effects():
    copy_in = opaque("def f(source, out): g(source, out)", g=lambda source, out: out.__setitem__(..., source))
    writes(copy_in, 1)

    def of_the_source(x):
        source = np.array([x, 1.0])
        copy_in(source, np.empty(2))
        return (source * source).sum()

    def of_the_result(x):
        out = np.zeros(2)
        copy_in(np.array([x, 1.0]), out)
        return out.sum()

    assert_gradients(of_the_source, (2.0,), (4.0,))
    with pytest.raises(NotDifferentiable, match="somewhere_else.f"):
        gradient(of_the_result, 2.0)


def test_a_declared_constant_leaves_arrays_as_they_are():
    norm = opaque("def f(x): return x.some_method_that_nobody_knows() if x is None else 1.0")
    nondifferentiable(norm)
    check_gradient(lambda x: (x * x).sum() * norm(x), np.array([1.0, 2.0]))


def test_constants_that_native_code_writes():
    def f(x):
        work = np.zeros(3)
        y = (work + x).sum()
        np.random.default_rng(0).standard_normal(out=work)
        return y * x * (work * x).sum()

    check_gradient(f, 1.5)


def test_comparing_does_not_call_methods_of_subclasses():
    class Guarded(np.ndarray):
        def tobytes(self, *args):
            raise NotImplementedError

        def copy(self, *args):
            raise NotImplementedError

    looks = opaque("def f(x): x.some_method_that_nobody_knows if x is None else None")

    def f(x):
        a = np.ones(2).view(Guarded)
        looks([a, x])
        return x * 3.0

    assert_gradients(f, (2.0,), (3.0,))


def test_what_an_object_holds_is_reached_by_native_code():
    class Holder:
        def __init__(self, v):
            self.v = v

    measure = opaque("def f(h): return h.v * 2.0")
    for differentiate in (lambda f: gradient(f, 2.0), lambda f: jvp(f, (2.0,), (1.0,))):
        with pytest.raises(NotDifferentiable):
            differentiate(lambda x: measure(Holder(x)))


class Compiled:
    """As the dispatchers of Numba are: called natively, the Python function beside."""

    __module__ = "numba.core.registry"
    __call__ = staticmethod(float.__mul__)

    def __init__(self, py_func):
        self.py_func = self.__wrapped__ = py_func


def multiplied(a, b):
    return scale_by(a, 1.0) * b


def scaled(a, b):
    return a * b


compiled, scale_by, closed = Compiled(multiplied), Compiled(scaled), Compiled(opaque("def f(a, b): return a * b"))


def test_the_python_function_that_was_compiled_is_followed():
    def f(x):
        return sum([compiled(x, 1.0 + i) for i in range(3)]) * compiled(2.0, 3.0)

    check_gradient(f, 0.7)
    assert jvp(f, (0.7,), (1.0,))[1] == pytest.approx(36.0)
    with pytest.raises(NotDifferentiable, match="not opted in"):
        gradient(lambda x: closed(x, x), 2.0)


def test_functions_that_numba_has_compiled_are_followed():
    numba = pytest.importorskip("numba")

    def power(x, n):
        y = 1.0
        for _ in numba.prange(n):
            y *= x
        return y

    power = numba.njit(power)

    def rows(x):
        found = np.empty_like(x)
        for i in range(len(x)):
            found[i] = power(x[i], 3)
        return found

    rows = numba.njit(rows)
    check_gradient(lambda x: np.sum(rows(x) * power(2.0, 2)), np.array([0.3, 0.7]))


def test_a_compiled_function_reaches_what_its_python_code_names_and_not_its_compiler():
    class Compiled:
        __module__ = "numba.core"

        def __init__(self, function):
            self.__wrapped__ = function
            self.context = opened

        __call__ = staticmethod(float.__mul__)

    opened, captured = [], []

    def f(x):
        opened.append(x)
        return sum(opened) * Compiled(twice)(1.0, 2.0)

    def g(x):
        captured.append(x)
        return x * Compiled(first)(1.0, 2.0)

    twice, first = opaque("def f(a, b): return 2.0"), opaque("def f(a, b): return h[0]", h=captured)
    assert gradient(f, 3.0) == (2.0,)
    with pytest.raises(NotDifferentiable, match="numba.core"):
        gradient(g, 3.0)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): x.append(1.0 + g())",
        "def f(x): x.append(1.0)",
        "def f(x): x[0] = 1.0",
        "def f(x): x += [1.0]",
        "def f(x): del x[0]",
        "def f(x): x.v = 1.0",
        "def f(x): (lambda: x.sort())()",
        "def f(x): [v.sort() for v in [x]]",
        "def f(x):\n    for v in [x]: v.reverse()",
        "def f(x): np.add(x, x, out=x)",
        "def f(x): np.add(x, x, x)",
        "def f(x): x.clip(0, 1, x)",
        "def f(x): list(map(x.append, x))",
        "def f(x): sorted(x, key=x.remove)",
        "def f(x): h(*x)",
        "def f(x): h(x)",
        "def f(x): setattr(x, 'v', 1.0)",
        "def f(x):\n    global y\n    y = x",
        "def f(x):\n    with x: pass",
        "def f(x): yield x",
        "def f(x): np.copyto(x, 0.0)",
        "def f(x): np.ndarray.sort(x)",
        "def f(x): np.nan_to_num(x, copy=False)",
        "def f(x): x.sum(0, None, x)",
    ],
)
def test_functions_that_may_write(source):
    assert not only_reads(opaque(source, g=lambda: 1.0))


def test_a_callback_that_writes_to_a_captured_list():
    def f(x):
        xs = [x, 0.3]
        re.sub("a", lambda match: xs.append(x * 2) or "b", "a")
        return xs[-1]

    with pytest.raises(NotDifferentiable):
        gradient(f, X)


def far_away(x):
    items = [[x * x]] + [[float(i)] for i in range(20_000)]
    return marshal.loads(marshal.dumps(items))[0][0] * x


@pytest.mark.parametrize("operator", [gradient, lambda f, x: pullback(f, x)[1](1.0), lambda f, x: jvp(f, (x,), (1.0,))])
def test_what_is_found_only_behind_many_others_is_lost_as_well(operator):
    with pytest.raises(NotDifferentiable, match="dumps"):
        operator(far_away, 1.5)


def test_what_a_rule_calls_is_not_searched_for_what_the_engine_keeps():
    """Else each call of it looks through all programs that there are."""
    from autodiff_rules.numpy.ufuncs import require_same

    assert list(reachable(require_same, True)) == [require_same]


class Named:
    held = [0.0]


def test_caches_of_the_standard_library_are_not_searched_for_what_all_programs_have_asked_them():
    assert any(x is Named for x in reachable(typing.Optional[Named]))
    assert not any(x is Named for x in reachable(typing.Literal["a", "b"]))


class Remote:
    """What only a cache of ``typing`` holds, among much else."""


@functools.lru_cache
def cached(i, kind=Optional[int]):  # noqa: UP045
    return i * 0.5


def test_what_the_standard_library_keeps_for_itself_is_not_searched():
    assert Optional[Remote]  # noqa: UP045

    def f(x):
        queue.SimpleQueue().put(1)
        held = [x * x]
        return held[0] * cached(3)

    assert gradient(f, X)[0] == 3.0 * X
    assert Remote not in searched_in(gradient, f, X)


@functools.lru_cache
def kept(i):
    return Remote()


def test_what_a_cache_keeps_is_not_written_to_by_asking_it():
    def f(x):
        queue.SimpleQueue().put(1)
        held = np.array([x, 2.0])
        squares = held * held
        return squares.sum() if kept(3) else x

    assert gradient(f, X)[0] == 2.0 * X
    assert kept(3) not in searched_in(gradient, f, X)


class Length:
    def __init__(self, x):
        self.x = x

    @functools.partial(lambda given, method: lambda self: method(self) or given, None)
    def table(self):
        return LENGTHS


LENGTHS = {i: Length(float(i)) for i in range(100)}
KINDS = (Length, float)


def scaled_by_kind(x):
    for _ in range(3):
        x = x * 2.0 if isinstance(x, KINDS) else x
    return x


def test_what_classes_name_is_not_searched_where_a_typed_program_asks_for_them():
    def f(x):
        queue.SimpleQueue().put(1)
        held = [x * x]
        return sum([scaled_by_kind(held[0]) for _ in range(3)])

    for _ in range(4):
        assert gradient(f, X)[0] == 48.0 * X
    assert LENGTHS[3] not in searched_in(gradient, f, X)


def test_what_classes_are_asked_of_themselves_is_a_constant():
    def f(x):
        queue.SimpleQueue().put(1)
        Length.scale = held = [x * x]
        found = Length(x)
        return held[0] if Length in type(found).mro() and type(found).__subclasses__() == [] else x

    assert gradient(f, X)[0] == 2.0 * X
    assert LENGTHS[3] not in searched_in(gradient, f, X)


class Setting:
    """What names much, and holds little."""

    scale = 1.0

    def __init__(self, place):
        self.place = place

    def __copy__(self):
        found = Setting(self.place + 1)
        found.scale = SETTINGS[self.place].scale
        return found


SETTINGS = [Setting(i) for i in range(5000)]


def test_python_code_of_libraries_is_entered_where_a_search_for_a_reason_would_be_long():
    def f(x):
        held = [x * x]
        SETTINGS[2].scale = 3.0 * held[0]
        try:
            return copy.copy(SETTINGS[1]).scale + copy.copy(SETTINGS[2]).scale * held[0]
        finally:
            del SETTINGS[2].scale

    for _ in range(2):
        assert gradient(f, X)[0] == pytest.approx(12.0 * X**3)
    assert len(searched_in(gradient, f, X)) < len(SETTINGS)


HELD = [1.0]
ask_held = opaque("def f(): return ask(0)", ask=HELD.__getitem__)


def test_what_the_method_of_a_container_that_is_named_is_bound_to_is_reached():
    def f(x):
        HELD[0] = x * x
        return ask_held() * x

    with pytest.raises(NotDifferentiable):
        gradient(f, X)


KEY = """
class Key:
    asked = []
    def __init__(self, name):
        self.name = name
    def __hash__(self):
        self.seen = True
        Key.asked.append(self)
        return hash(self.name)
    def __eq__(self, other):
        return self.name == other.name

KEYS = {Key(str(i)): float(i) for i in range(20)}
def f(x):
    return x * KEYS[Key("3")]
"""


def test_the_keys_of_others_are_asked_as_often_as_in_the_plain_run():
    look_up = opaque(KEY)
    asked = look_up.__globals__["Key"].asked

    def f(x):
        look_up.__globals__["Key"]("met")
        look_up(x)
        return x * x

    asked.clear()
    f(X)
    plain = len(asked)
    asked.clear()
    assert pullback(f, X)[1](1.0) == (2.0 * X,)
    assert len(asked) == plain


def test_tuples_of_leaves_are_not_searched():
    values = [(1.0, "m", True), (), (np.ones(1), 1.0), ((2,),)]
    assert [type(x) for x in reachable(values, True)] == [list, tuple, tuple, np.ndarray]


def test_what_a_call_may_write_to_is_seen_by_the_search_for_what_it_reads():
    many = [[float(i)] for i in range(300)]
    look = opaque("def f(many, a): many.extend(()); return 2.0 * len(many)")

    def f(x):
        held = [x * x]
        return float(held[0].sum()) * look(many, np.ones(3))

    assert generic_gradient(f, np.ones(2))[0] == pytest.approx(np.full(2, 1200.0))
    assert len([x for x in searched_in(generic_gradient, f, np.ones(2)) if x is many[7]]) == 1


def test_pandas_remembers_nothing_of_a_program_but_what_can_be_seen():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})

    def f(x):
        table = {name: np.zeros(1) for name in frame.keys()}
        table["a"][0] = x * x
        if pd.isna(x):
            return 0.0
        weights = frame.reindex(frame.index.union([2])).interpolate().to_numpy()[-1]
        return float(np.concatenate([table[name] for name in frame.keys()]) @ weights)

    assert_gradients(f, (X,), expected=(4.0 * X,))
    assert list(reachable(pd.isna)) == [pd.isna]


def test_sympy_remembers_nothing_of_a_program_but_what_can_be_seen():
    sympy = pytest.importorskip("sympy")
    length = sympy.Symbol("length", positive=True)

    def constant(x):
        weights = {"m": [x * x]}
        powers = (length**2 / sympy.sqrt(length)).as_powers_dict()
        return weights["m"][0] * float(powers[length])

    assert_gradients(constant, (X,), expected=(3.0 * X,))
    for lost in (lambda x: float((length * x).subs(length, 2.0)), lambda x: float(sympy.cos(x) * length / length)):
        with pytest.raises(NotDifferentiable, match="sympy"):
            gradient(lost, X)
    assert list(reachable(sympy.expand)) == [sympy.expand]


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]


@ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
def _new(cls, args, keywords):
    GIVEN.append(keywords)
    return args


GIVEN = []
SLOTS = (_Slot * 2)(_Slot(65, ctypes.cast(_new, ctypes.c_void_p).value), _Slot(0, None))  # Py_tp_new
make_type = ctypes.pythonapi.PyType_FromSpec
make_type.restype, make_type.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec)]
Native = make_type(ctypes.byref(_Spec(b"m.Native", object.__basicsize__, 0, 0, SLOTS)))


@pytest.mark.parametrize("f", [lambda x: (Native(x), x * x)[1], lambda x: (Native(3), x * x)[1]])
def test_native_types_are_given_no_keywords_where_there_are_none(f):
    for _ in range(3):
        GIVEN.clear()
        assert gradient(f, 2.0) == (4.0,)
        assert GIVEN and set(GIVEN) == {None}
