"""``jvp`` and ``hvp`` with respect to objects, by typed programs alone: against differences."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from trees import assert_slopes, slope, slopes, typed

import autodiff_hook as ad
from autodiff_hook import Tangent, operators
from autodiff_hook._testing_trees import leaves
from autodiff_hook.runtime.guards import MISS


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    kind: str = "tanh"

    def __call__(self, x):
        z = self.w @ x + self.b
        return np.tanh(z) if self.kind == "tanh" else z


@dataclass
class Net:
    layers: list

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def net_loss(net, xs, ys):
    return sum(np.sum((net(x) - y) ** 2) for x, y in zip(xs, ys)) / len(xs)


class Cell:
    def __init__(self, wx, wh, out):
        self.wx, self.wh, self.out = wx, wh, out

    def step(self, h, x):
        return np.tanh(self.wx @ x + self.wh @ h)

    def loss(self, xs, target):
        h, total = np.zeros(len(self.out)), 0.0
        for x, y in zip(xs, target):
            h = self.step(h, x)
            total += (self.out @ h - y) ** 2
        return total


def recurrent(cell, xs, ys):
    return cell.loss(xs, ys)


class Node:
    def __init__(self, x, y, m):
        self.x, self.y, self.m = x, y, m


class Spring:
    __slots__ = ("a", "b", "k")

    def __init__(self, a, b, k):
        self.a, self.b, self.k = a, b, k


def springs_energy(nodes, springs):
    energy = 0.0
    for s in springs:
        a, b = nodes[s.a], nodes[s.b]
        energy += 0.5 * s.k * (math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2) - 0.5) ** 2
    for n in nodes:
        energy += n.m * 9.81 * n.y
    return energy


@dataclass
class Rates:
    beta: float
    gamma: float
    scale: np.float64 = np.float64(1.5)

    @property
    def ratio(self):
        return self.beta / self.gamma


class Epidemic:
    def __init__(self, rates):
        self.rates = rates

    def run(self, n):
        s, i, p = 0.99, 0.01, self.rates
        for _ in range(n):
            s, i = s - p.beta * s * i * p.scale, i + p.beta * s * i - p.gamma * i
        return i * p.ratio


def epidemic(rates):
    return Epidemic(rates).run(8)


class Bond:
    def __init__(self, coupon, n):
        self.coupon, self.n = coupon, n

    def price(self, r):
        return sum(self.coupon / (1 + r) ** t for t in range(1, self.n + 1)) + 1.0 / (1 + r) ** self.n


class Swap(Bond):
    def price(self, r):
        return sum((r - self.coupon) / (1 + r) ** t for t in range(1, self.n + 1))


def portfolio(instruments, weights, r):
    return sum(w * i.price(r) for w, i in zip(weights, instruments))


@dataclass
class Tree:
    value: float
    left: object = None
    right: object = None


def folded(tree, x):
    if tree is None:
        return 1.0
    return tree.value * math.sin(folded(tree.left, x)) + x * folded(tree.right, x)


def beside_numbers(pair, named):
    return pair[0].x * pair[1] ** 2 * named["node"].y ** 3 * named["k"] + np.sum(pair[2] ** 2) * pair[0].m


class Held:
    unit = 0.7

    def __init__(self, pair, named, rows):
        self.pair, self.named, self.rows, self.count = pair, named, rows, 3

    def value(self):
        total = self.unit * self.pair[0] * np.sum(self.pair[1] ** 2) * self.named["a"] ** self.count
        for row in self.rows:
            total += row[0] * row[1] ** 2
        return total


def held(holder):
    return holder.value()


def mixed(holder, x):
    """The list holds several kinds of things, so this is followed on one way."""
    found = [x, "a", holder.pair, holder.rows]
    return found[0] * found[2][0] * np.sum(found[2][1] * found[0]) * found[3][1][0] ** 2 * holder.rows[0][1]


def changed(pair, holder):
    """The list is changed, so it is asked whether it is one of what was given."""
    found = []
    for i in range(3):
        found.append(pair[0].x * pair[1] * (i + 1) * holder.pair[0])
    found[0] = found[1] ** 2
    mixed = [found[0], "a", sum(found)]
    return mixed[0] * mixed[2]


R = np.random.default_rng(7)
NODES = [Node(0.1 * i, 0.3 * (i % 3), 1.0 + i) for i in range(4)]
CELL = Cell(R.normal(size=(2, 3)), R.normal(size=(2, 2)), R.normal(size=2))
HELD = Held((0.6, np.array([0.3, 0.9])), {"a": 1.2, "b": 0.1}, [[0.5, 0.7], [1.1, 0.2]])
CASES = {
    net_loss: (
        Net([Layer(R.normal(size=(3, 2)), R.normal(size=3)), Layer(R.normal(size=(1, 3)), R.normal(size=1), "id")]),
        R.normal(size=(4, 2)),
        R.normal(size=(4, 1)),
    ),
    recurrent: (
        Cell(R.normal(size=(2, 3)), R.normal(size=(2, 2)), R.normal(size=2)),
        R.normal(size=(4, 3)),
        R.normal(size=4),
    ),
    springs_energy: (NODES, [Spring(0, 1, 1.0), Spring(1, 3, 2.0), Spring(2, 0, 0.5)]),
    epidemic: (Rates(0.5, 0.3),),
    portfolio: ([Bond(0.3, 3), Swap(0.1, 2), Bond(0.2, 1)], [1.0, 2.0, 0.5], 0.1),
    folded: (Tree(0.5, Tree(1.2, None, Tree(0.4)), Tree(0.9)), 0.7),
    beside_numbers: ((NODES[1], 1.5, np.array([0.2, 0.4])), {"node": NODES[2], "k": 0.7}),
    held: (HELD,),
    mixed: (HELD, 0.8),
    changed: ((NODES[2], 0.7), HELD),
}


def direction(value):
    """A direction in the form of a gradient: whole numbers stay where they are."""
    if isinstance(value, np.ndarray):
        return R.normal(size=value.shape)
    if isinstance(value, float):
        return R.normal()
    if isinstance(value, (list, tuple)):
        return type(value)([direction(x) for x in value])
    if isinstance(value, dict):
        return {key: direction(x) for key, x in value.items()}
    if value is None or isinstance(value, (int, str)):
        return None
    names = getattr(type(value), "__slots__", None) or vars(value)
    return Tangent(type(value).__name__, {name: direction(getattr(value, name)) for name in names})


@pytest.mark.parametrize("f", CASES)
def test_directions(f):
    point = CASES[f]
    v = tuple(map(direction, point))
    expected, products = slope(f, point, v), slopes(f, point, v)
    for _ in range(2):
        value, found = typed("jvp", f, point, v)
        assert value == f(*point) and found == pytest.approx(expected, rel=1e-6)
        assert_slopes(typed("hvp", f, point, v), products)


def kinetic(a, b, x):
    return a.x**2 * b[0].x * b[1].y * x


def test_an_object_of_several_names_moves_as_one():
    shared = Node(1.1, 0.7, 2.0)
    v = (Tangent("Node", {"x": 0.3, "y": None, "m": 0.1}), [None, {"x": 0.3, "y": 0.4}], 0.5)
    value, found = ad.jvp(kinetic, (shared, [Node(0.4, 0.2, 1.0), shared], 1.5), v)
    x, y = shared.x, shared.y
    assert found == pytest.approx(0.4 * 1.5 * (2 * x * 0.3 * y + x * x * 0.4) + value / 1.5 * 0.5)
    aliased = [shared, shared]
    for v in ([{"x": 0.3}, {"x": 0.3}], [{"x": 0.3}, None], [{"x": 0.3}, {"x": None}]):
        assert ad.jvp(lambda b: b[0].x * b[1].x, (aliased,), (v,))[1] == pytest.approx(2 * x * 0.3)


def test_what_has_several_names_has_one_tangent():
    shared, node = [2.0, 3.0], Node(1.1, 0.7, 2.0)
    node.at = (1.0, 2.0)
    rows = [
        (lambda a, b: a[0] * b[1], (shared, shared), ([1.0, 0.5], [1.0, 2.0]), r"tangents\[1\]\[1\]"),
        (lambda a, b: a[0] * b["k"][1], (shared, {"k": shared}), ([1.0, 0.5], {"k": [0.25, 0.5]}), r"\['k'\]\[0\]"),
        (lambda a, b: a.x * b.x, (node, node), ({"x": 1.0}, {"x": 2.0}), r"tangents\[1\]\.x"),
        (lambda a, b: a.at[1], (node, node), ({"at": (0.0, 1.0)}, {"at": (None, 2.0)}), r"\.at\[1\]"),
    ]
    for f, point, v, where in rows:
        for _ in range(5):
            for form in (ad.jvp, ad.hvp):
                with pytest.raises(ad.Unsupported, match=f"{where}: the arguments hold this under another name"):
                    form(f, point, v)
    for v in (([1.0, 0.5], [1.0, 0.5]), ([1.0, 0.5], None), ([1.0, 0.5], [None, None]), ([1.0, None], [None, 0.5])):
        for _ in range(2):
            assert ad.jvp(rows[0][0], (shared, shared), v) == (6.0, 4.0)
            assert ad.hvp(rows[0][0], (shared, shared), v) == ([0.5, 1.0], [0.5, 1.0])


def test_derivatives_by_tangents_of_arrays_in_lists_and_dicts():
    point = np.array([0.5, 2.0])
    for given, moving in (
        (lambda v: [v, v * 2.0], lambda xs: xs[0] @ xs[1]),
        (lambda v: {"a": v}, lambda d: d["a"] @ d["a"]),
    ):

        def slope(v, given=given, moving=moving):
            return ad.jvp(moving, (given(point),), (given(v),))[1]

        for _ in range(4):
            (found,) = ad.gradient(slope, np.array([1.0, -1.0]))
            difference = [slope(np.eye(2)[i]) for i in range(2)]
            assert found == pytest.approx(difference, rel=1e-12)


def test_a_list_that_holds_itself():
    items, v = [2.0], [1.0]
    items.append(items)
    v.append(v)
    for _ in range(4):
        assert ad.jvp(lambda a: a[0] * a[1][0], (items,), (v,)) == (4.0, 4.0)
        product = ad.hvp(lambda a: a[0] * a[1][0], (items,), (v,))[0]
        assert product[0] == 2.0 and product[1] is product


def test_a_graph_of_objects_in_all_directions():
    def settled(nodes):
        for _ in range(2):
            found = [n.x * 0.5 + 0.1 * sum(m.x * n.x for m in n.near) for n in nodes]
            for n, x in zip(nodes, found):
                n.x = x
        return sum(n.x**2 for n in nodes)

    def graph(t=0.0):
        nodes = [Node(1.0 + t * 0.3, 0.0, 0.0), Node(2.0 - t, 0.0, 0.0), Node(3.0 + t * 0.5, 0.0, 0.0)]
        for n in nodes:
            n.near = [m for m in nodes if m is not n]
        return nodes

    v = ad.gradient(settled, graph())[0]
    for tangent, x in zip(v, (0.3, -1.0, 0.5)):
        tangent._fields["x"] = x
    slope = [(p.x - m.x) / 2e-5 for p, m in zip(*[ad.gradient(settled, graph(t))[0] for t in (1e-5, -1e-5)])]
    for _ in range(4):
        found = ad.hvp(settled, (graph(),), (v,))[0]
        assert [n.x for n in found] == pytest.approx(slope, rel=1e-6)


def test_only_some_arguments_move():
    point = (NODES, CASES[springs_energy][1])
    v = (None, [None, {"k": 0.3}, Tangent("Spring", {"a": None, "k": 2.0})])
    expected = ad.gradient(springs_energy, *point)[1]
    found = typed("jvp", springs_energy, point, v)[1]
    assert found == pytest.approx(0.3 * expected[1].k + 2.0 * expected[2].k)


def test_objects_that_refer_to_each_other():
    a, b = Node(1.0, 2.0, 3.0), Node(0.5, 0.2, 0.1)
    a.other, b.other = b, a
    there, back = Tangent("Node", {"x": 0.3}), Tangent("Node", {"y": 0.7})
    there._fields["other"], back._fields["other"] = back, there
    for _ in range(2):
        found = ad.jvp(lambda a: a.x**2 * a.other.y * a.other.other.x, (a,), (there,))[1]
        assert found == pytest.approx(3 * 0.2 * 0.3 + 0.7)


@pytest.mark.parametrize("f", (springs_energy, mixed))
def test_wrong_tangents_are_named(f):
    wrong = {springs_energy: ([{"x": "1"}, None, None, None], None), mixed: ({"rows": [[1.0, [2.0]], None]}, None)}[f]
    where = {springs_energy: r"tangents\[0\]\[0\]\.x", mixed: r"tangents\[0\]\.rows\[0\]\[1\]"}[f]
    for form in (ad.jvp, ad.hvp):
        with pytest.raises(ad.Unsupported, match=f"{where} must be a number"):
            form(f, CASES[f], wrong)


def test_products_of_the_same_object_in_two_places():
    def f(pair):
        return pair[0].x ** 2 * pair[1].x

    shared = Node(1.1, 0.7, 2.0)
    tangent = Tangent("Node", {"x": 0.3, "y": None, "m": None})
    for _ in range(2):
        (found,) = ad.hvp(f, ([shared, shared],), ([tangent, tangent],))
        assert found[0].x == found[1].x == pytest.approx(6 * 1.1 * 0.3)


@pytest.mark.parametrize("f", (recurrent, springs_energy, epidemic, folded, beside_numbers, held, mixed))
def test_hessians(f, monkeypatch):
    places = tuple(range(len(CASES[f]))) if f is not recurrent else 0
    found = ad.hessian(f, places)(*CASES[f])
    monkeypatch.setattr(operators, "_typed_rows", lambda *_: MISS)
    expected = ad.hessian(f, places)(*CASES[f])
    assert same_form(found, expected)
    for (path, x), (other, y) in zip(leaves(found), leaves(expected), strict=True):
        assert path == other and x == pytest.approx(y, rel=1e-8, abs=1e-10), path


def same_form(a, b):
    """Whether two gradients are of the same types in all their parts."""
    if type(a) is not type(b):
        return False
    keys = list(a) if isinstance(a, (dict, Tangent)) else range(len(a)) if isinstance(a, (list, tuple)) else ()
    return all(same_form(a[key], b[key]) for key in keys)


def test_a_hessian_by_an_object_in_two_places():
    def f(pair):
        return pair[0].x ** 2 * pair[1].y

    shared = Node(1.1, 0.7, 2.0)
    found = ad.hessian(f)([shared, shared])
    assert found[0].x[0].x == pytest.approx(2 * 0.7) and found[0].x[1].y == pytest.approx(2 * 1.1)
