"""Operators of classes, arrays that are given away, caches and shapes, in specialised programs."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy import linalg
from specialised_cases import GENERIC, check, check_all_ways, check_slopes, is_specialised, oracle, same, slopes

import autodiff_hook as ad

ROW = np.array([1.0, 2.0, 3.0])


class Left:
    def __init__(self, v):
        self.v = v

    def __mul__(self, other):
        return Left(self.v * other.v) if isinstance(other, Left) else NotImplemented

    def __iadd__(self, other):
        return NotImplemented

    def __add__(self, other):
        return Left(self.v + other)


class Right:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, other):
        return Left(other.v * self.v * 3)


class Base:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return self.v + other.v


class Derived(Base):
    def __radd__(self, other):
        return self.v * other.v * 100


class Elementwise:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, other):
        return self.v * (2.0 if isinstance(other, float) else 3.0)


def not_implemented_at_first(x):
    r = Left(x) * Right(x)
    m = Left(x)
    m += x
    try:
        m = m * 2.0
    except TypeError:
        m = Left(x * 5)
    return r.v * m.v if isinstance(r, Left) else x


def subclasses_come_first(x):
    return Base(x) + Derived(2 * x)


def sums_of_objects(x):
    class Number:
        def __init__(self, v):
            self.v = v

        def __add__(self, other):
            return Number(self.v * 2 + other.v)

    return sum([Number(x), Number(x * x)], Number(x)).v + sum([[x, 2.0], [x]], [])[2]


class Money:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        if other is None:
            return False
        return self.v == other.v if isinstance(other, Money) else NotImplemented

    def __lt__(self, other):
        return self.v < (other.v if isinstance(other, Money) else other)

    def __le__(self, other):
        return self.v <= other.v if isinstance(other, Money) else NotImplemented

    def __add__(self, other):
        return Money(self.v + other.v) if isinstance(other, Money) else NotImplemented

    def __radd__(self, other):
        return Money(self.v * 2 + other)


class Gold(Money):
    def __gt__(self, other):
        return False


def comparisons(x):
    a, b, plain = Money(x), Gold(x * x), Left(x)
    total = a.v if a < b else a.v * 7
    total += b.v * 2 if b > a else b.v * x
    total += 5 * x if a == Money(x) and a != b and a != None and not (None == a) else 0.0  # noqa: E711
    total += x**3 if 1.0 > a or a <= a and b >= a else 0.0
    total += 3 * x if plain == plain and plain != Left(x) and not (plain == 2.0) else 0.0
    return total


def no_order(x):
    try:
        return x if Money(x) <= 2.0 else 2 * x
    except TypeError:
        return x * x


def sums_with_numbers(x):
    total = sum([Money(x), Money(x * x)])
    total += Money(x)
    return (1.0 + total).v


def no_sum(x):
    try:
        return (Money(x) + 1.0).v
    except TypeError:
        return x * x * x


def items_of_numbers(x):
    """Whether something has items is found by asking for one."""
    total = 0.0
    for value in (x, np.float64(x) * 2.0, np.array([x, x * x]), 3, [x]):
        try:
            total += value[0] * 5.0
        except IndexError:
            total += value * value
        except Exception:
            total += value * x
    return total


def length_of(value):
    try:
        return len(value)
    except TypeError:
        return 0


def listed(value):
    try:
        return list(value)
    except TypeError:
        return [value, value]


def taken_apart(value):
    try:
        first, second = value
    except TypeError:
        first = second = 1
    return first, second


def has_items(value):
    try:
        iter(value)
    except TypeError:
        return False
    return True


def lengths_of_numbers(x):
    """Whether something is a sequence is found by asking for its length, or its items."""
    values = (x, 2, None, np.float64(x), np.array(3.0), np.array([x, x]), [x, x * x], (x,), "ab", {"a": x}, Left(x))
    total = 0.0
    for place, value in enumerate(values):
        total += (place + 1.0) * (length_of(value) * x + len(listed(value)) + has_items(value) * x * x)
    first, second = taken_apart([x, x * x])
    third, fourth = taken_apart(x)
    return total + first * second + third * x + fourth * sum(listed(x))


class Angle(float):
    def __eq__(self, other):
        return abs(self % math.tau - other % math.tau) < 1e-9

    def __sub__(self, other):
        return Angle(float(self) - other) if isinstance(other, Angle) else NotImplemented

    @classmethod
    def degrees(cls, x):
        return cls(math.tau * x / 360.0)

    @property
    def as_degrees(self):
        return self * 360.0 / math.tau


class Labelled(Angle):
    def __new__(cls, x, label="none"):
        self = super().__new__(cls, 2 * x)
        self.label = label
        return self


def angles(x):
    a, b = Angle(x), Labelled(x * x, "b")
    total = math.sin(a) * b + (b - a) * (1.0 - a) + abs(-a) ** 2 + a.as_degrees / 7 + sum([a, b])
    total += x if a == x + 4 * math.tau and a != x + 4 * math.tau and b.label == "b" and isinstance(a, float) else 0.0
    total += (3 * x if a < b else 5 * x) if a and b > 0.5 and type(a) is not float else 0.0
    return total * Angle.degrees(x) + float(b) + np.cos(a)


def larger_angle(x):
    return max(Angle(x), x - 1.0).as_degrees * x


def with_arrays(x):
    plain, row = Left(x), np.array([x, 2.0])
    return plain.v * 2 if (plain == row).any() or (row != plain).all() and not (plain == "text") else row[0]


OPERATORS = [not_implemented_at_first, subclasses_come_first, sums_of_objects, items_of_numbers, lengths_of_numbers]
OPERATORS += [comparisons, no_order, sums_with_numbers, no_sum, angles, larger_angle, with_arrays]


@pytest.mark.parametrize("f", OPERATORS)
def test_operators_of_classes(f):
    for x in (2.0, 3.0):
        value, grads = ad.withgradient(f, x)
        assert value == pytest.approx(f(x))
        assert grads[0] == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-6)
        same(ad.gradient(f, x), grads)
    assert GENERIC or is_specialised(f) or f in (sums_of_objects, larger_angle, with_arrays)


def ints_before_floats_of_a_class(x):
    a = Angle(x)
    return (3 + a) * (2 * a) + 5 / a + 2**a + 7 % a + (True + a)


def test_ints_before_floats_of_a_class():
    for grads in (ad.gradient(ints_before_floats_of_a_class, 2.5), oracle(ints_before_floats_of_a_class, 2.5)[1]):
        assert grads == pytest.approx(slopes(ints_before_floats_of_a_class, 2.5), rel=1e-6)


def test_arrays_of_objects_are_right_or_an_error():
    def f(x):
        return (x * Elementwise(x[0])).sum()

    try:
        found = ad.gradient(f, ROW)[0]
    except ad.NotDifferentiable:
        return
    assert found == pytest.approx([(f(ROW + d) - f(ROW - d)) / 2e-6 for d in 1e-6 * np.eye(3)])


class Holder:
    pass


def test_what_leaves_a_program_shares_no_memory_that_the_plain_run_does_not_share():
    x = ROW.copy()
    for f in (lambda x: x * 1.0, lambda x: 1 * x, lambda x: [x * 1.0, 1.0 * x][0]):
        value, _ = ad.pullback(f, x)
        value[0] = 99.0
        assert x[0] == 1.0
    holder = Holder()

    def g(x):
        holder.q = x * 2
        holder.p = holder.q * 1.0
        holder.r = x * 1.0
        return (x * x).sum()

    ad.gradient(g, x)
    holder.p[0] = holder.r[0] = 99.0
    assert holder.q[0] == 2.0
    assert x[0] == 1.0


def test_caches_are_used_where_nothing_is_differentiated():
    calls = []

    @functools.cache
    def table(n):
        calls.append(n)
        return tuple([1.0] * n)

    def f(x):
        held = [x]
        return held[0] * sum(table(3))

    for _ in range(3):
        same(ad.gradient(f, 2.0), (3.0,))
        assert calls == [3]


def test_shapes_of_what_is_changed_in_place():
    def f(x):
        a = np.zeros(1)
        a += x
        return (a * a).sum()

    def g(x):
        a = np.zeros(1)
        np.add(x, 1.0, out=a)
        return (a * a).sum()

    for h in (f, g):
        ad.gradient(h, np.ones(1))
        with pytest.raises(ValueError, match="broadcast"):
            ad.gradient(h, ROW)


def test_complex_values_have_no_gradient():
    for f in (lambda z: np.exp(z), lambda z: (np.asarray(z) * 2).sum(), lambda z: [z * 2][0]):
        for z in (2 + 1j, np.complex128(1j)):
            with pytest.raises(ad.Unsupported):
                ad.gradient(f, z)


def test_where_with_one_argument():
    def f(x):
        i = np.where(x > 1)[0]
        return (x[i] ** 2).sum()

    same(ad.gradient(f, ROW), (np.array([0.0, 4.0, 6.0]),))


def into_views(x):
    a = x * 1.0
    np.cumsum(x, 0, None, a)
    return (a * ROW).sum()


def accumulated(x):
    a = np.maximum.accumulate(x)
    a[0] = x[1]
    return (a * ROW).sum()


def counted(x):
    a = np.bincount([0, 0, 1], weights=x)
    a[0] = 0.0
    return (a * ROW[:2]).sum()


def vectorized(x):
    return (np.vectorize(lambda v: v * v)(x) * ROW).sum()


def flat(x):
    a = x * 1.0
    a.flat = x[1]
    return (a * ROW).sum()


def imaginary(x):
    z = x + 0j
    z.imag = x
    return np.abs(z).sum()


def iterated(x):
    a = x * 1.0
    for v in np.nditer(a, op_flags=["readwrite"]):
        v[...] = v * 2
    return (a * ROW).sum()


def whole_numbers(x):
    a = x.copy()
    a[0] = 5
    a[1] *= 3
    return (a * x).sum()


def transformed(x):
    a = np.fft.irfft(np.fft.rfft(x), 3)
    a[0] = x[1]
    return (a * ROW).sum()


def reduced(x):
    a = np.add.reduce(np.outer(x, x))
    for i in range(2):
        a[i] = x[i]
    return (a * ROW).sum()


def filled(x):
    a = np.full(3, x[0])
    b = np.full(3, float(x[1]))
    b[0] = 1
    a *= x
    return (a * b).sum()


def filled_with_numbers(x):
    a = np.full(3, x[0] * 1)
    a[0] = 1
    a *= 2
    return (a * x).sum()


def indices(x):
    k = np.arange(len(x))
    k[0] = 2
    return (x[k] ** 2).sum()


@pytest.mark.parametrize(
    ("f", "x"),
    [
        *((f, ROW) for f in (transformed, reduced, filled, filled_with_numbers, indices)),
        (filled_with_numbers, np.array([1, 2, 3])),
        *((f, ROW) for f in (into_views, accumulated, counted, vectorized, flat, imaginary, iterated)),
        (whole_numbers, np.array([1, 2, 3])),
    ],
)
def test_rare_ways_to_write_are_right_or_an_error(f, x):
    for gradient in (ad.gradient, lambda f, x: oracle(f, x)[1]):
        try:
            found = gradient(f, x.copy())[0]
        except ad.AutodiffError:
            continue
        x = x.astype(float)
        assert found == pytest.approx([(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)], rel=1e-6)


def test_arrays_made_of_a_number_are_stored_into():
    def f(v):
        k = np.full(3, v)
        k[0] = 1
        k *= 2
        return k.sum()

    for gradient in (ad.gradient, lambda f, v: oracle(f, v)[1]):
        for v in (2.0, 2, np.int64(2)):
            same(gradient(f, v), (4.0,))


def chosen_of_several(x):
    return min([(x - 1.0) * math.inf, x * x]) + max(v for v in ((1.0 - x) * math.inf, x))


def test_what_is_not_chosen_may_be_infinite():
    for _ in range(3):
        same(ad.gradient(chosen_of_several, 2.0), oracle(chosen_of_several, 2.0)[1])
    assert ad.gradient(chosen_of_several, 2.0) == (5.0,)


class Kept:
    def __init__(self, values):
        self.values = values
        self.values = [2.0 * v for v in values]


def divided(x):
    """A list that is divided by a number of NumPy's becomes an array, and its items go back into the list."""
    shear = Kept([x, x * x, 3.0]).values
    shear[1:] /= np.float64(x + 1.0)
    shear[:2] -= np.array([1.0, x])
    return shear[0] * shear[1] + shear[2] if isinstance(shear, list) else x


def test_lists_in_place_by_what_makes_arrays_of_them():
    check(divided, 0.7)
    assert ad.gradient(divided, 0.7) == pytest.approx(slopes(divided, 0.7))


def decomposed(x):
    """What a decomposition gives is stored into."""
    pair = np.linalg.eigh(np.array([[x, 1.0], [1.0, 2.0 * x]]))
    values, vectors = Kept([pair[0], pair[1]]) and pair
    before = vectors[:, 1]
    values[values < 0.0] *= 2.0
    vectors[:, 1] *= values[1]
    return float(values.sum() + (vectors**2)[0].sum() + before[0] ** 2 + (pair[1] ** 2)[1, 1] * pair[0][0])


def test_stores_into_what_a_decomposition_gives():
    check(decomposed, 0.3)
    assert ad.gradient(decomposed, 0.3) == pytest.approx(slopes(decomposed, 0.3))


def moved_grids(x):
    """What makes several arrays of what it is given is stored into, each for itself."""
    places = np.arange(0.5, 4.0)
    grids = np.meshgrid(places, places[:3] * x)
    across, down = Kept(grids) and grids
    across -= x
    down[across > 1.0] *= x
    row = down[0]
    down -= row
    shared = np.meshgrid(places, places, copy=False)[0]
    return float((across * across * down).sum() + (shared * x).sum() + (places * x).sum())


def test_stores_into_grids():
    check(moved_grids, 0.7)
    assert ad.gradient(moved_grids, 0.7) == pytest.approx(slopes(moved_grids, 0.7))


def stored_by_slices(x):
    values = Kept(np.array([x, x * x, 1.0])).values
    a = np.array([x, 2.0, x * x])
    a[1:] = values[0] * 3.0
    a[0] = values[1]
    return float((a * a).sum())


def test_second_derivatives_of_stores_by_slices():
    check(stored_by_slices, 0.7)
    assert ad.gradient(stored_by_slices, 0.7) == pytest.approx(slopes(stored_by_slices, 0.7))


class Held:
    """Keeps what it is given, so that programs with it are followed on one way."""

    def __init__(self, values):
        self.values = None
        self.values = values


class Metres(float):
    """A float whose operators stay within the class."""

    def __new__(cls, value, name=""):
        made = super().__new__(cls, value)
        made.name = name
        return made

    def __add__(self, other):
        return Metres(super().__add__(other), self.name)

    def __mul__(self, other):
        return Metres(float.__mul__(self, other), self.name)

    def __rsub__(self, other):
        return Metres(float.__rsub__(self, other), self.name)

    def __lt__(self, other):
        return float.__lt__(self, other)


def chosen(x):
    a, b = Metres(x, "a"), Metres(2.0, "b")
    best, worst = max(a, b), min([b, a, Metres(x * x)])
    rows = sorted([b, a], reverse=True)
    total = math.fsum([a, b * x, 1.0]) + rows[1] * best.real + worst
    total += float.__rpow__(x, 2.0) * float.__abs__(-x) + (5.0 - a) + float.__radd__(a, x)
    return float(total * (3.0 if a in (0.5, 4.0) else 1.0) * (2.0 if (-a).conjugate() not in (1.0,) else 1.0))


def test_floats_of_a_class_are_compared_and_called_by_name():
    for x in (0.7, 1.3, 3.0):
        check(chosen, x)
        assert ad.gradient(chosen, x) == pytest.approx(slopes(chosen, x))


class Cooperative:
    def __init__(self, x):
        self.x = x
        then = getattr(super(), "prepare", None)
        if then is not None:
            then()
        self.x = self.x * 2.0


class Prepared:
    def prepare(self):
        self.x = self.x * self.x


class Both(Cooperative, Prepared):
    pass


def cooperating(x):
    return Cooperative(x).x * Both(x).x


def test_what_super_may_not_have():
    check_all_ways(cooperating, 0.7)


def layouts(x, a):
    kept = Held(a)
    if not kept.values.flags.contiguous or not kept.values.flags["F_CONTIGUOUS"]:
        kept.values = kept.values.copy(order="F")
    width = kept.values.T.flags.c_contiguous + np.float64(x).itemsize
    return x * width * kept.values.sum()


def test_how_items_lie():
    for a in (np.ones((2, 3)), np.ones((2, 3), order="F"), np.ones((4, 6))[::2, ::2]):
        check(layouts, 0.7, a, specialised=None)
        f = lambda x, a=a: layouts(x, a)  # noqa: E731
        check(f, 0.7)


def written_where_it_can_be(x, a):
    kept, made = Held(a).values, np.exp(x * a)
    shown = made[:2]
    if kept.flags.writeable and made.flags.writeable and made.reshape(2, -1).T[0].flags.writeable:
        shown[0] *= 2.0 if shown.flags.writeable else 3.0
        return made.sum() * kept[0]
    return made.sum()


def test_what_can_be_written_to():
    given = np.arange(1.0, 5.0)
    check(lambda x: written_where_it_can_be(x, given), 0.7)
    given.flags.writeable = False
    check(lambda x: written_where_it_can_be(x, given), 0.7, specialised=None)


def as_required(requirements):
    def f(x, a):
        rows = np.require(a, float, requirements)
        same = np.array(a, order="C", copy=None, subok=True)
        if requirements and not same.flags[requirements[0]]:
            return x * same.sum()
        return np.sum((x * rows) ** 2) + same[0, 1] * x

    return f


@pytest.mark.parametrize("requirements", [None, ["W"], ["C", "W"], ["F", "A"], ["WRITEABLE", "C_CONTIGUOUS"]])
def test_what_is_required_of_arrays(requirements):
    f = as_required(requirements)
    for a in (
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.ones((2, 3))),
        np.ones((4, 6))[::2, ::2],
        np.ones((2, 2), int),
    ):
        check(f, 0.7, a, specialised=None)
    frozen = np.arange(6.0).reshape(2, 3)
    frozen.flags.writeable = False
    check(f, 0.7, frozen, specialised=None)


def test_what_needs_no_copy_is_the_array():
    def f(x):
        rows = np.require(x, float, ["C", "W"])
        return np.sum(rows * np.array(rows, dtype=None, order="A", copy=None, subok=False)[0])

    check(f, np.arange(1.0, 5.0))


def test_a_copy_that_is_required_is_one():
    def f(x):
        rows = np.require(np.reshape(x, (2, 2)).T, float, ["C"])
        rows[0] = 1.0
        same = np.asarray(x, order="F")
        same = same * rows.sum()
        return same.sum() * rows[1, 0]

    check(f, np.array([0.3, 0.4, 0.9, 1.1]), specialised=None)


@pytest.mark.parametrize("of", ["evaluate", "logpdf"])
def test_compiled_code_that_refuses_arrays_which_cannot_be_written_to(of):
    stats = pytest.importorskip("scipy.stats")

    def f(data, x, weights):
        return getattr(stats.gaussian_kde(data, weights=weights), of)([x, 0.4]).sum()

    check(f, np.array([0.1, 0.7, 1.9, 2.2]), 0.3, np.array([0.2, 0.5, 0.3, 0.4]))


def compared_by_parts(x, a):
    kept = Held(a).values * x
    shapes = {part.shape for part in (kept, a, np.sin(kept))}
    state = ("kept", kept.ndim, x * 2.0)
    same = state == ("kept", 1, x * 2.0) and state != ("kept", 1, x)
    try:
        kind = (kept, x).dtype
    except AttributeError:
        kind = np.all(a > 0.0).dtype.kind
    return kept.sum() * len(shapes) if same and kind == "b" else x


def test_tuples_of_numbers_and_attributes_that_they_do_not_have():
    a = np.arange(1.0, 4.0)
    check(lambda x: compared_by_parts(x, a), 0.7)
    assert ad.gradient(lambda x: compared_by_parts(x, a), 0.0) == (1.0,)


def stored_into_what_is_made(x, a):
    h = 0
    for k in range(2):
        h += x * Held(a).values
        h -= k * x
    h = np.array(h, copy=None, dtype=np.float64)
    h *= 3.0
    one = np.array(h.astype(np.float64, copy=True))
    one[..., 1] *= x
    np.sqrt(one, one, casting="unsafe")
    np.clip(one.real, 0.5, 9.0, out=one.real)
    return one.sum() + h[0]


def test_arrays_that_are_made_on_the_way_are_stored_into():
    a = np.arange(2.0, 6.0)
    check(lambda x: stored_into_what_is_made(x, a), 0.7)


class Bunch(tuple):
    """A tuple with attributes beside its items, as SciPy's results are."""

    names = {"extra"}

    def __new__(cls, x, y, **extra):
        return tuple.__new__(cls, (x, y))

    def __init__(self, x, y, **extra):
        for key, value in extra.items():
            if key in self.names:
                self.__dict__[key] = value


def bunched(x, a):
    made = Bunch(Held(a).values.sum() * x, x * x, extra=np.sin(x))
    return made[0] * made.extra + made[1]


def test_tuples_with_attributes_of_their_own():
    a = np.arange(1.0, 4.0)
    check(lambda x: bunched(x, a), 0.7)


def in_rows(x):
    a, total = np.arange(10.0) * x, 0.0
    sizes = Held(np.array([2, 3, 4], dtype=np.int32)).values
    for size in sizes:
        whole = a[: len(a) - len(a) % size]
        total += np.sum(np.reshape(whole, (len(a) // size, size)).mean(axis=0) ** 2) + [x, x * x, x, x, x][size]
    return total


def elements_in_order(x):
    a = Held(np.arange(6.0).reshape(2, 3) * x).values
    flat, part = a.flat, a.T.flat[1:4]
    first, chosen = flat[2], a.flat[[1, -1]]
    a[0, 2] = x * x
    a.T[1, 1] = 5.0 * x
    part[0] *= 3.0
    return first * flat[2] + part.sum() * flat[-1] + chosen[0] * a.flat[np.int32(4)] + chosen.sum()


def test_elements_in_order():
    check(elements_in_order, 0.7)
    assert ad.gradient(elements_in_order, 0.7) == pytest.approx(slopes(elements_in_order, 0.7))


def test_whole_numbers_of_numpy_cut_and_choose():
    check(in_rows, 0.7)


def accumulated(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * Held(x).values
    np.multiply.accumulate(a[:, 1:], out=a[:, 1:], axis=1)
    total = np.sum(np.add.accumulate(a) ** 2) + np.sum(np.vander(a[0], 3)[1])
    return total * np.polyval(np.polyfit(np.linspace(0.0, 1.0, 5), np.sin(x * np.arange(5.0)), 2), 0.3)


def test_ufuncs_that_accumulate():
    check(accumulated, 0.7)
    assert ad.gradient(accumulated, 0.7) == pytest.approx(slopes(accumulated, 0.7))


def through_infinities(x):
    kept = Held(np.array([np.inf, x, np.inf]))
    kept.values = kept.values * np.array([x, x * x, x])
    return kept.values[1] * kept.values[1]


@pytest.mark.filterwarnings("ignore")
def test_products_with_what_is_infinite():
    for _ in range(8):
        assert ad.gradient(through_infinities, 0.7) == pytest.approx(slopes(through_infinities, 0.7))
    assert is_specialised(through_infinities)


class Tripling(Metres):
    def __mul__(self, other):
        return 3.0 * float(self) * float(other)

    __rmul__ = __mul__

    def __gt__(self, other):
        return False


LIMIT, TRIPLING = Metres(1.0, "limit"), Tripling(2.0)


def with_floats_outside(x):
    a = Held(x).values
    total = math.sqrt(LIMIT * a) + LIMIT / a + max(a, LIMIT) + LIMIT.real * len(LIMIT.name)
    total += (a * TRIPLING + TRIPLING * a) * (1.0 if a < TRIPLING else 2.0)
    return total * (x if a < LIMIT else 1.0)


def test_floats_of_a_class_from_outside():
    global LIMIT
    for limit in (1.0, 2.5, 0.4):
        LIMIT = Metres(limit, "limit")
        for x in (0.7, 1.3):
            check(with_floats_outside, x)
            assert ad.gradient(with_floats_outside, x) == pytest.approx(slopes(with_floats_outside, x))


def flat_elements(x):
    a, b, _, c = np.cov(x, x * x, bias=1).flat
    elements = np.outer(x, x)[::2].T.flat
    total = 0.0
    for v in elements:
        total = total * 0.5 + v * v
    return total + a * b / c + len(list(elements))


def flat_and_changed(x):
    a = x * 1.0
    total = 0.0
    for i, v in enumerate(a.flat):
        a[-1] = v * x[i]
        total = total + v
    return total


def flat_begun_anew(x):
    elements = (x * x).flat
    first = next(iter(elements))
    return first * elements[1] * next(elements)


def of_a_common_type(x):
    a = np.zeros(x.shape, dtype=np.common_type(x, ROW))
    a[:] = x * x
    return (a * ROW).sum()


def put_nowhere(x):
    sums = np.add(x, ROW, None) * np.cumsum(x, axis=0, out=None)
    return np.nancumprod(x + 1)[-1] * np.sum(sums, out=None) + np.nansum(np.where(x > 0.5, x, np.nan))


@pytest.mark.parametrize("f", [flat_elements, flat_and_changed, of_a_common_type, put_nowhere])
def test_options_and_elements_of_arrays(f):
    check(f, ROW)
    check(f, ROW[::-1].copy())


def test_elements_that_are_begun_anew():
    check(flat_begun_anew, ROW, specialised=None)


def sellmeier(x):
    total, square = np.ones_like(x), x**2
    kept, powers = total, np.array(x)
    for a in (x, 2.0):
        total += a * square / (square - 0.01)
        powers *= a
        powers **= 2
    return float(np.sqrt(kept) * powers + x * (total is kept) + total.ndim)


def test_arrays_without_axes_that_are_changed_in_place():
    check_slopes(sellmeier, 0.7)


def stored_into_what_may_be_a_view(x, a):
    spectrum = np.fft.ifft(np.fft.fft(a * x, 8) ** 2)
    found = spectrum.real
    found /= 3.0
    found[1:3] *= found[0]
    turned = (a * x)[::-1].conj()
    turned += x
    return np.sum(found**2) + np.sum(np.cumsum(turned))


def what_it_shows_is_read_again(x, a):
    spectrum = np.fft.ifft(np.fft.fft(a * x, 8) ** 2)
    found = spectrum.real
    found *= x
    return np.sum(np.abs(spectrum)) + np.sum(found)


def turned_in_place(x, a):
    b = a * x
    turned = b.conj()[1:]
    turned *= x
    return np.sum(b) + np.sum(turned**2)


def test_what_may_be_a_view_of_what_is_made_is_stored_into():
    a = np.arange(1.0, 6.0)
    check(lambda x: stored_into_what_may_be_a_view(x, a), 0.7)
    check(lambda x: what_it_shows_is_read_again(x, a), 0.7, specialised=None)
    check(lambda x: turned_in_place(x, a), 0.7)


def of_their_own(x, a):
    places = np.digitize(a, np.array([1.5, 2.5, 3.5]))
    places[np.where(places > 0)] -= 1
    total = np.empty((), dtype=float)
    total = np.subtract(np.add(np.nanmean(a * x, axis=0, out=total), 1, out=total), x * x, out=total)
    return total.item() + np.sum(a[places] * x**places)


def filled(v, how):
    if how == "mean":
        v[np.isnan(v)] = np.nanmean(v)
    return v


def along_an_axis(rows):
    return np.sum(np.apply_along_axis(filled, 0, rows, "mean") ** 2)


def test_results_that_are_arrays_of_their_own():
    a = np.arange(1.0, 6.0)
    check(lambda x: of_their_own(x, a), 0.7)
    check(along_an_axis, np.array([[1.0, 2.0], [4.0, np.nan], [0.3, 5.0]]))


class Sealed:
    def __init__(self, values):
        self.values = np.asarray(values).copy()
        self.values.flags.writeable = False

    def norm(self):
        return np.sum(self.values**2)


def sealed(x):
    a = np.array([x, 2.0])
    a.setflags(write=False)
    return Sealed(a).norm() * a[0]


def asked_whether_sealed(x):
    a = np.array([x, 2.0])
    a.setflags(write=False)
    return x if a.flags.writeable else x * x


def stored_where_sealed(x):
    a = np.array([x, 2.0])
    a.flags.writeable = False
    try:
        a[0] = 1.0
    except ValueError:
        return x * x
    return x


def asked_of_parts_of_what_is_sealed(x):
    a = np.array([x, 2.0])
    before = a[:1]
    a.setflags(write=False)
    return x if a[:1].flags.writeable else before.flags.writeable * x * x


def unsealed(x):
    a = np.array([x, 2.0])
    a.flags.writeable = False
    found = a[0] * a[1]
    a.flags.writeable = True
    a[0] = x * x
    return found * a[0]


def stored_where_a_view_is_sealed(x):
    a = np.array([x, 2.0, 3.0])
    part = a[:2]
    part.setflags(write=False)
    try:
        part[0] = 1.0
    except ValueError:
        return x * x * part[0]
    return x


def views_that_are_sealed(x):
    a = np.array([x, 2.0, 3.0])
    part = a[:2]
    part.setflags(write=False)
    a[0] = x * x
    return part[0] * a[0] * (x if part[:1].flags.writeable else 2.0) * (x if a.flags.writeable else 3.0)


def only_read_in_part(x):
    a = np.array([x, 2.0, 3.0])
    part = a[:2]
    part.setflags(write=False)
    return np.sum(part**2) * a[2]


LENT = np.ones(2)


def sealed_from_outside(x):
    LENT.setflags(write=False)
    found = x if LENT.flags.writeable else x * x
    LENT.setflags(write=True)
    return found


def test_arrays_that_are_only_read():
    check(sealed, 0.3)
    check(only_read_in_part, 0.3)
    for f in (
        stored_where_a_view_is_sealed,
        views_that_are_sealed,
        asked_whether_sealed,
        asked_of_parts_of_what_is_sealed,
        stored_where_sealed,
        unsealed,
        sealed_from_outside,
    ):
        check(f, 0.3, specialised=None)


def triangle(a):
    """What nobody asks for, the vectors that complete a basis, is no reason to give up."""
    held = {1: linalg.qr(a)[1], "two": Left(a), "three": None}
    held[2] = held[1][:2, :2] ** 3
    return np.sum(held[2]) + (np.sum(held[1]) if held[2][0, 0] > 0 else np.sum(held["two"].v))


def test_parts_that_nobody_asks_for():
    a = np.random.default_rng(0).normal(size=(4, 2))
    for sign in (1.0, -1.0, 1.0):
        check(triangle, sign * a)
