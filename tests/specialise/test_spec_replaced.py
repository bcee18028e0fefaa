"""Arrays that lie in attributes, lists and dicts and are changed there in place: nobody sees that they are new ones."""

from __future__ import annotations

import types

import numpy as np
import pytest
from specialised_cases import GENERIC, close, outcome

import autodiff_hook as ad
from autodiff_hook.algebras import typed
from autodiff_hook.api import generic_hvp
from autodiff_hook.runtime import specialising

SOURCE = """
import numpy as np

class Particle:
    common = np.array([0.1, 0.2])
    def __init__(self, pos, vel, mass=1.0):
        self.pos, self.vel, self.mass = pos, vel, mass
    def kick(self, f):
        self.vel += f / self.mass
        return self.vel.sum()
class Spring:
    def __init__(self, a, b, k):
        self.a, self.b, self.k = a, b, k
    def pull(self, dt):
        d = self.b.pos - self.a.pos
        f = self.k * d * (1.0 - 1.0 / np.sqrt(d @ d))
        self.a.vel += dt * f / self.a.mass
        self.b.vel -= dt * f / self.b.mass
def row(count=3):
    return [Particle(np.array([1.1 * i, 0.3 * i * i]), np.zeros(2), 1.0 + i) for i in range(count)]
def energy(ps):
    return sum([0.5 * p.mass * p.vel @ p.vel + p.pos @ p.pos for p in ps])

def springs(k):
    ps = []
    for i in range(4):
        ps.append(Particle(np.array([1.1 * i, 0.3 * i * i]), np.zeros(2), 1.0 + i))
    ss = [Spring(ps[i], ps[i + 1], k) for i in range(3)]
    for _ in range(4):
        for s in ss:
            s.pull(0.1)
        for p in ps:
            p.pos += 0.1 * p.vel
    return energy(ps)
def by_index(k):
    ps = row()
    for i in range(3):
        force = [np.zeros(2) for _ in ps]
        for j in range(2):
            force[j] += k * ps[j + 1].pos
            force[j + 1] -= k * ps[j].pos
        for p, f in zip(ps, force):
            p.vel += f
            p.pos *= 1.0 + 0.1 * k
            p.pos /= p.mass
    return energy(ps)
def in_a_dict(k):
    params = {name: np.array([1.0, 2.0]) for name in ("w", "b", "c")}
    for _ in range(3):
        for name in params:
            params[name] -= 0.1 * k * params[name] ** 2
    return sum([x @ x for x in params.values()])
def by_a_method(k):
    ps, s = row(), 0.0
    for p in ps:
        s = s + p.kick(k * p.pos) * p.kick(np.array([k, 1.0]))
    return s
def made_anew(k):
    ps = row()
    for i in range(4):
        for p in ps:
            if i % 2:
                p.vel = k * p.pos
            p.vel += 0.5
    return energy(ps)
def through_a_local(k):
    ps = row()
    for p in ps:
        v = p.vel
        v += k * p.pos
        p.vel = v
    return energy(ps)

def one_for_all(k):
    v = np.zeros(2)
    ps = [Particle(np.ones(2), v), Particle(np.ones(2), v)]
    for p in ps:
        p.vel += k
    return energy(ps)
def one_in_a_loop(k):
    v, ps = np.zeros(2), []
    for i in range(3):
        ps.append(Particle(np.ones(2), v))
    for p in ps:
        p.vel += k
    return energy(ps)
def read_before(k):
    s, ps = 0.0, row()
    for p in ps:
        old = p.vel
        p.vel += k * p.pos
        s = s + old @ old
    return s
def viewed_before(k):
    s, ps = 0.0, row()
    for p in ps:
        first = p.vel[:1]
        p.vel += k * p.pos
        s = s + first[0]
    return s
def another_holds_it(k):
    ps = row()
    ps[1].vel = ps[0].vel
    for p in ps:
        p.vel += k * p.pos
    return energy(ps)
def two_attributes(k):
    ps = row()
    for p in ps:
        p.pos = p.vel
    for p in ps:
        p.vel += k
    return energy(ps)
def held_beside(k):
    ps, beside = [], []
    for i in range(3):
        v = np.zeros(2)
        beside.append(v)
        ps.append(Particle(np.ones(2), v))
    for p in ps:
        p.vel += k * p.pos
    return energy(ps) + sum([x @ x for x in beside])
def in_a_tuple(k):
    s, ps = 0.0, row()
    for p in ps:
        pair = (p.vel, 2.0)
        p.vel += k * p.pos
        s = s + pair[0] @ pair[0] * pair[1]
    return s
def captured(k):
    s, ps = 0.0, row()
    for p in ps:
        v = p.vel
        of = lambda: v @ v
        p.vel += k * p.pos
        s = s + of()
    return s
def list_copied(k):
    xs = [np.zeros(2), np.ones(2)]
    ys = xs[:]
    for i in range(2):
        xs[i] += k
    return sum([x @ y for x, y in zip(xs, ys)]) + ys[0] @ ys[1]
def repeated(k):
    xs = [np.zeros(2)] * 3
    for i in range(3):
        xs[i] += k
    return xs[0] @ xs[2]
def iterated(k):
    xs, s = [np.zeros(2), np.ones(2)], 0.0
    for x in xs:
        xs[0] += k
        s = s + x @ x
    return s
def changed_within(k):
    ps, s = row(), 0.0
    for p in ps:
        p.vel += k * p.kick(p.pos)
    return energy(ps)
def does_not_fit(k):
    ps = [Particle(np.ones((1, 2)), np.zeros((1, 2))), Particle(np.ones((3, 2)), np.ones((3, 2)))]
    for p in ps:
        p.vel += k * ps[1].pos
    return float(ps[0].vel.sum())
def of_ints(k):
    ps = [Particle(np.ones(2), np.zeros(2, dtype=int)) for _ in range(2)]
    for p in ps:
        p.vel += k
    return float(ps[0].vel.sum())
def of_singles(k):
    ps = [Particle(np.ones(2), np.zeros(2, dtype=np.float32)) for _ in range(2)]
    for p in ps:
        p.vel += k
    return float(ps[0].vel.sum())
def swapped(k):
    xs = [np.zeros(2), np.ones(2)]
    for i in range(3):
        xs[0], xs[1] = xs[1], xs[0]
        xs[0] += k * xs[1]
    return xs[0] @ xs[1]
def items_by_index(k):
    xs = [np.zeros(3) for _ in range(3)]
    for i in range(6):
        for j in range(2):
            xs[j][i % 3] += k * (i + 1)
            xs[j + 1][1:] = 0.5 * xs[j][:-1] + k * xs[j + 1][1:]
    return sum([x @ x for x in xs])
def items_by_key(k):
    xs = {name: np.ones(3) for name in "abc"}
    for i in range(4):
        for name in xs:
            xs[name][i % 3] *= k
        xs["a"][::2] += xs["b"][::2]
    return sum([x @ x for x in xs.values()])
def items_of_attributes(k):
    ps = row()
    for i in range(3):
        for p in ps:
            p.vel[0] -= k * p.pos[1]
            p.vel[i % 2] += 0.1
            p.pos += 0.1 * p.vel
            if p.pos[1] > 0.3:
                p.pos[1] = k
                p.vel[1] *= -1.0
    return energy(ps)
def items_by_a_local(k):
    xs, s = [np.ones(3) for _ in range(2)], 0.0
    for i in range(4):
        x = xs[i % 2]
        x[0] = k * x[1]
        for j in range(1, 3):
            x[j] += x[j - 1] * k
        if i > 1:
            x[2] = k
        s = s + x @ xs[0]
    return s
def items_of_whole_numbers(k):
    xs, s = [np.zeros(3, int) for _ in range(2)], 0.0
    for i in range(6):
        xs[i % 2][i % 3] += i
        xs[0][1] = k * 3
        s = s + xs[0] @ np.array([k, k * k, 1.0])
    return s
def items_within(k):
    xs = [np.ones(3) for _ in range(2)]
    def first(x):
        xs[1][0] = k
        return k * x
    for i in range(2):
        xs[1][1] += first(xs[1][0])
    return xs[1] @ xs[1]
def items_at_places(k):
    xs = [np.ones(3) for _ in range(2)]
    for i in range(3):
        xs[i % 2][np.array([0, 1, 0])] = k * xs[1 - i % 2] + np.array([1.0, 2.0, 3.0])
        xs[0][xs[0] > 2.0] = k
    return xs[0] @ xs[1]
def items_of_one_for_all(k):
    x = np.zeros(2)
    xs = [x, x]
    for i in range(2):
        xs[i][0] += k
    return xs[0] @ xs[1] + x[0]
def items_of_repeated(k):
    xs = [np.zeros(2)] * 3
    for i in range(3):
        xs[i][0] += k
    return xs[0] @ xs[2]
def items_held_beside(k):
    xs, ys = [], []
    for i in range(3):
        x = np.ones(2)
        xs.append(x)
        ys.append(x)
    for i in range(3):
        xs[i][1] = k * i
    return sum([y @ y for y in ys])
def items_moved(k):
    xs = [np.ones(2), np.zeros(2)]
    for i in range(3):
        x = xs[0]
        xs[0], xs[1] = xs[1], xs[0]
        x[0] += k
    return xs[0] @ xs[1] + xs[0][0]
def items_replaced(k):
    xs = [np.ones(2), np.zeros(2)]
    for i in range(3):
        x = xs[i % 2]
        xs[i % 2] = np.array([k, 2.0])
        x[0] += k
        xs[i % 2][1] += x[0]
    return xs[0] @ xs[1] + xs[0][0]
def items_viewed(k):
    xs, s = [np.ones(3), np.zeros(3)], 0.0
    for i in range(3):
        x = xs[i % 2][1:]
        xs[i % 2][1] += k
        x[1] *= k
        s = s + x @ x
    return s
def items_iterated(k):
    xs, s = [np.ones(3), np.zeros(3)], 0.0
    for i in range(2):
        for x in xs[i]:
            xs[i][2] += k
            s = s + x * x
    return s
def whole_iterated(k):
    xs, s = [np.ones(3), np.zeros(3)], 0.0
    for x in xs[0]:
        xs[0] += k
        s = s + x * x
    return s
def items_beyond(k):
    xs = [np.ones(2), np.zeros(2)]
    try:
        xs[0][1] = k
        xs[0][int(k * 3)] = k
    except IndexError:
        xs[1][0] = k * k
    return xs[0] @ xs[0] + xs[1][0]
def items_popped(k):
    xs = [np.ones(2), np.zeros(2)]
    x = xs[-1]
    xs.append(np.array([k, k]))
    x[0] += k
    xs[-1][1] *= k
    y = xs.pop()
    y[0] = k * k
    return sum([x @ x for x in xs]) + y @ y
def items_returned(k):
    xs = [np.ones(2), np.zeros(2)]
    for i in range(2):
        xs[i][0] = k * i
    return xs[1]
def of_the_class(k):
    ps = row()
    for p in ps:
        p.common += k
    return ps[0].common @ ps[2].pos

particles = row()
again = particles[1:]
def outside(k):
    for _ in range(3):
        for i, p in enumerate(particles):
            p.vel -= k * p.pos
            p.vel += 0.1 * particles[i - 1].pos
        for p in particles:
            p.pos += 0.1 * p.vel
    return energy(particles)
def outside_by_two_lists(k):
    for p in again:
        p.vel -= k * p.pos
    for p in particles:
        p.vel *= k
    return energy(particles)
def outside_with_numbers(k):
    for p in particles:
        p.vel += k * p.pos
        p.mass += k
    return energy(particles)
def outside_and_assigned(k):
    for p in particles:
        p.vel = p.vel + k
        p.vel += k
    return energy(particles)
def outside_and_returned(k):
    for p in particles:
        p.vel += k * p.pos
    return p.vel
def outside_and_kept(k):
    for p in particles:
        p.vel += k * p.pos
    kept.append(p.vel)
    return energy(particles)
kept = []
def outside_raises(k):
    for p in particles:
        p.vel += k * p.pos
        if p.mass > 2.0:
            raise ValueError
    return energy(particles)
def outside_on_some_ways(k):
    for p in particles:
        if k > 1.0:
            p.vel += k * p.pos
    return energy(particles) * k
"""
TYPED = """
springs by_index in_a_dict by_a_method made_anew through_a_local
items_by_index items_by_key items_of_attributes items_by_a_local items_of_whole_numbers items_at_places
outside outside_by_two_lists outside_with_numbers outside_on_some_ways
""".split()


def made():
    module = types.ModuleType("replaced")
    exec(compile(SOURCE, "replaced.py", "exec"), vars(module))
    return module


def left(module):
    """What is outside, and which arrays are one."""
    arrays = [x for p in module.particles for x in (p.pos, p.vel)] + [module.Particle.common, *module.kept]
    same = [[i for i, y in enumerate(arrays) if y is x] for x in arrays]
    return [(x.tolist(), where) for x, where in zip(arrays, same)], [sorted(vars(p)) for p in module.particles]


FUNCTIONS = [
    n for n, f in vars(made()).items() if isinstance(f, types.FunctionType) and f.__code__.co_varnames[:1] == ("k",)
]


def number(value):
    return float(np.sum(value)) if isinstance(value, np.ndarray) else value


def slope(name, k, before=()):
    """Central differences."""
    ends = []
    for d in (1e-5, -1e-5):
        module = made()
        for earlier in before:
            outcome(getattr(module, name), earlier)
        ends.append(number(outcome(getattr(module, name), k + d)))
    return (ends[0] - ends[1]) / 2e-5 if not isinstance(ends[0], type) else None


def is_typed(f):
    kept = specialising._known.found.get(id(f.__code__), {}).values()
    return any(x.entries for x in kept) and not any(x.one_way for x in kept)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_changed_where_they_lie(name):
    plain, reverse, forward, second = made(), made(), made(), made()
    called = []
    for k in (1.3, 0.7, 1.1):
        value, wanted = outcome(getattr(plain, name), k), slope(name, k, called)
        whole = isinstance(value, np.ndarray)
        f = getattr(reverse, name)
        found = outcome(ad.pullback, f, k) if whole else outcome(ad.withgradient, f, k)
        along = outcome(ad.jvp, getattr(forward, name), (k,), (1.0,))
        if isinstance(value, type):
            assert found is along is value
        else:
            grad = found[1](np.ones(2)) if whole else found[1]
            assert np.all(found[0] == value) and np.all(along[0] == value)
            rel = 1e-2 if name == "of_singles" else 1e-6
            assert (grad[0], number(along[1])) == pytest.approx((wanted, wanted), rel=rel, abs=1e-7)
            assert left(reverse) == left(plain)
        assert left(forward) == left(plain)
        if not whole and not isinstance(value, type):
            close(ad.hvp(getattr(second, name), (k,), (1.0,)), carried_hvp(name, k, called))
            assert left(second) == left(plain)
        called.append(k)
    if name in TYPED and not (GENERIC or specialising.ONE_WAY):
        assert is_typed(getattr(reverse, name)) and is_typed(getattr(forward, name))


def carried_hvp(name, k, before):
    module = made()
    for earlier in before:
        getattr(module, name)(earlier)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(typed, "GENERIC", True)
        return generic_hvp(getattr(module, name), (k,), (1.0,))


GIVEN = """
def moved(ps, k):
    for _ in range(3):
        for i, p in enumerate(ps):
            p.vel -= k * ps[i - 1].pos
        for p in ps:
            p.pos += 0.1 * p.vel
    return energy(ps)
def moved_alone(p, k):
    p.vel += k * p.pos
    p.pos += k * p.vel
    return p.vel @ p.pos
def moved_by(ps, k, f):
    for p in ps:
        p.vel += k * f
    return energy(ps) * f[0]
"""


def of_arrays(ps):
    return [x.copy() for p in ps for x in (p.pos, p.vel)]


def given_slopes(module, f, make):
    """Central differences with respect to all positions and velocities."""
    found = []
    for i, x in enumerate(of_arrays(make())):
        for j in range(x.size):
            ends = []
            for d in (1e-5, -1e-5):
                ps = make()
                [y for p in ps for y in (p.pos, p.vel)][i][j] += d
                ends.append(f(ps))
            found.append((ends[0] - ends[1]) / 2e-5)
    return found


@pytest.mark.parametrize("name", ["moved", "moved_alone", "moved_by"])
def test_arguments_with_arrays(name):
    module = made()
    exec(GIVEN, vars(module))
    f = getattr(module, name)
    more = (np.array([0.3, 0.4]),) if name == "moved_by" else ()

    def call(work, ps):
        return work(ps[0] if name == "moved_alone" else ps, 1.2, *more)

    count = 1 if name == "moved_alone" else 3
    slopes = given_slopes(module, lambda ps: call(f, ps), lambda: module.row(count))
    for _ in range(3):
        plain, given = module.row(count), module.row(count)
        arrays = [x for p in given for x in (p.pos, p.vel)]
        value = call(f, plain)
        found, grads = call(lambda *args: ad.withgradient(f, *args), given)
        gradients = [grads[0]] if name == "moved_alone" else grads[0]
        assert found == value
        assert np.concatenate([x for g in gradients for x in (g.pos, g.vel)]) == pytest.approx(slopes, abs=1e-6)
        assert all(x is y for x, y in zip(arrays, [x for p in given for x in (p.pos, p.vel)]))
        moved = module.row(count)
        whole = moved[0] if name == "moved_alone" else moved
        along = ad.jvp(f, (whole, 1.2, *more), (grads[0], None, *[None for _ in more]))
        squares = sum(x * x for x in slopes) + sum(g.mass * g.mass for g in gradients if g.mass is not None)
        assert along == pytest.approx((value, squares), rel=1e-6)
        assert [x.tolist() for x in of_arrays(moved)] == [x.tolist() for x in of_arrays(plain)]
        assert [x.tolist() for x in arrays] == [x.tolist() for x in of_arrays(plain)]
    if name != "moved_alone" and not (GENERIC or specialising.ONE_WAY):
        assert is_typed(f)


PARTS = """
class State:
    def __init__(self):
        self.u, self.v, self.n = np.array([0.1, 0.2, 0.3]), np.zeros(3), 2.0
    def step(self, k):
        for i in range(3):
            self.u[i] = self.u[i] + k * self.v[i - 1] * self.n
        self.v[:] = self.v + 0.1 * self.u
def stepped(s, k):
    for _ in range(4):
        s.step(k)
    return s.u @ s.v
"""


def view(s):
    s.v = s.u[:]


def whole(s):
    s.v = s.u


def test_parts_of_arrays_of_an_argument():
    module = made()
    exec(PARTS, vars(module))
    f = module.stepped

    def given(k, d):
        s = module.State()
        s.u[k] += d
        return s

    slopes = [(f(given(i, 1e-6), 0.3) - f(given(i, -1e-6), 0.3)) / 2e-6 for i in range(3)]
    slope = (f(module.State(), 0.3 + 1e-6) - f(module.State(), 0.3 - 1e-6)) / 2e-6
    for _ in range(3):
        plain, reverse, forward = module.State(), module.State(), module.State()
        arrays, value = (reverse.u, reverse.v), f(plain, 0.3)
        found, (grad, by_k) = ad.withgradient(f, reverse, 0.3)
        assert found == value and by_k == pytest.approx(slope, rel=1e-6)
        assert grad.u == pytest.approx(slopes, rel=1e-6)
        assert ad.jvp(f, (forward, 0.3), (None, 1.0)) == pytest.approx((value, slope), rel=1e-6)
        assert reverse.u is arrays[0] and reverse.v is arrays[1]
        for s in (reverse, forward):
            assert s.u.tolist() == plain.u.tolist() and s.v.tolist() == plain.v.tolist()
    if not (GENERIC or specialising.ONE_WAY):
        assert is_typed(f)
    for change in (view, whole):
        s = module.State()
        change(s)
        with pytest.raises(ad.NotDifferentiable, match="several arguments show"):
            ad.gradient(f, s, 0.3)


def shares(ps):
    ps[1].vel = ps[0].vel


def shows(ps):
    ps[1].vel = ps[0].pos[:]


def is_behind(ps):
    both = np.ones(4)
    ps[0].vel, ps[1].vel = both[:2], both[2:]


def overlaps(ps):
    both = np.ones(3)
    ps[0].vel, ps[1].vel = both[:2], both[1:]


def is_held(ps):
    ps[2].more = [ps[0].vel]


def is_frozen(ps):
    ps[0].vel.flags.writeable = False


def is_of_the_class(ps):
    del ps[0].vel
    type(ps[0]).vel = np.ones(2)


@pytest.mark.parametrize("change", [shares, shows, is_behind, overlaps, is_held, is_frozen, is_of_the_class])
def test_arguments_that_are_not_alone(change):
    module = made()
    exec(GIVEN, vars(module))
    ad.gradient(module.moved, module.row(), 1.2)
    for _ in range(2):
        plain, given = module.row(), module.row()
        change(plain)
        value = outcome(module.moved, plain, 1.2)
        if change is is_of_the_class:
            del module.Particle.vel
        change(given)
        found = outcome(ad.withgradient, module.moved, given, 1.2)
        assert found is value or found is ad.NotDifferentiable or found[0] == value
        if found is not ad.NotDifferentiable:
            assert [x.tolist() for x in of_arrays(given)] == [x.tolist() for x in of_arrays(plain)]


def test_an_array_that_is_given_twice():
    module = made()
    exec(GIVEN, vars(module))
    for which in (0, 1):
        plain, given = module.row(), module.row()
        ad.gradient(module.moved_by, module.row(), 1.2, np.ones(2))
        value = module.moved_by(plain, 1.2, plain[which].vel)
        found = outcome(ad.withgradient, module.moved_by, given, 1.2, given[which].vel)
        assert found is ad.NotDifferentiable or found[0] == value
        if found is not ad.NotDifferentiable:
            assert [x.tolist() for x in of_arrays(given)] == [x.tolist() for x in of_arrays(plain)]
