"""What special methods of objects store while a builtin asks them: it has its derivative, or is an error."""

import functools
import io
import logging
import math
import operator
from functools import cached_property

import numpy as np
import pytest
from helpers import gradient_at
from in_all_modes import MODES, differences

from autodiff_hook import NotDifferentiable, gradient, withgradient


class Lazy:
    """An object that computes a part of itself when it is first looked at."""

    def __init__(self, x):
        self.x = x

    @cached_property
    def grid(self):
        return [self.x * self.x, self.x]

    def __repr__(self):
        return f"Lazy of {len(self.grid)}"

    def __hash__(self):
        return len(self.grid)

    def __index__(self):
        return len(self.grid)

    __floor__ = __ceil__ = __trunc__ = __index__


class Formatted(Lazy):
    def __format__(self, spec):
        return f"{self.grid!s:{spec}}"


class Remembering:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        value = self.x * len(name)
        setattr(self, name, value)
        return value


ASKED = {
    "str": str,
    "repr": repr,
    "format": format,
    "of a conversion": lambda o: f"{o!r:>20}",
    "in a text": lambda o: f"{o}",
    "by its own format": lambda o: f"{Formatted(o.x)}" and str(o),
    "print": lambda o: print("it is", o, file=io.StringIO()),
    "hash": hash,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "index": operator.index,
    "hasattr": lambda o: hasattr(o, "grid"),
    "key": lambda o: sorted([o, Lazy(1.0)], key=str),
    "map": lambda o: list(map(str, [o])),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asked", ASKED)
def test_what_a_special_method_keeps(asked, mode):
    ask = ASKED[asked]

    def f(x):
        o = Lazy(x)
        ask(o)
        return o.grid[0] * o.grid[1]

    for x in (0.7, 1.3):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_hasattr_asks_the_class(mode):
    def f(x):
        o = Remembering(x)
        return o.some * x if hasattr(o, "some") else x

    assert MODES[mode](f, 0.7) == pytest.approx({"hvp": 8.0}.get(mode, 8.0 * 0.7))


def test_hasattr_of_what_is_not_there():
    def f(o):
        return o.x if hasattr(o, "other") else 2.0 * o.x

    assert gradient(f, Lazy(0.7))[0].x == 2.0


class Storing:
    """What all of its special methods see, it keeps."""

    def __init__(self, x):
        self.x = self.seen = x

    def __hash__(self):
        self.seen = self.x * self.x
        return 1

    def __eq__(self, other):
        self.seen = self.x * other.x
        return True

    def __lt__(self, other):
        self.seen = other.seen = self.x * other.x * 2.0
        return self.x < other.x

    def __bool__(self):
        LOG.append(self.x * self.x)
        return True

    def __index__(self):
        self.seen = self.x**3
        return 1


LOG = []


def both_in_one(o, p):
    found = {p: 2.0}
    return found[o] * o.x


def removed(o, p):
    items = [o]
    items.remove(p)


def stored_at(o, p):
    items = [0.0, 0.0]
    items[o] = p.x


def cached(o, p):
    return functools.lru_cache(lambda key: 1.0)(o)


STORED = {
    "dict": lambda o, p: {o: 1.0},
    "key of a key": lambda o, p: {(1, o): 1.0},
    "two equal keys": both_in_one,
    "get": lambda o, p: {}.get(o),
    "setdefault": lambda o, p: {}.setdefault(o, 1.0),
    "in a dict": lambda o, p: o in {"a": 2.0},
    "set": lambda o, p: {o},
    "set of a list": lambda o, p: set([o]),  # noqa: C405
    "set.add": lambda o, p: set().add(o),
    "lru_cache": cached,
    "!=": lambda o, p: o != p,
    "== of lists": lambda o, p: [o] == [p],
    "== of tuples": lambda o, p: (1, o) == (1, p),
    "== of dicts": lambda o, p: {1: o} == {1: p},
    "in a list": lambda o, p: p in [o],
    "list.index": lambda o, p: [o, p].index(p),
    "list.count": lambda o, p: [o].count(p),
    "list.index of itself": lambda o, p: [o].index(o),
    "list.count of itself": lambda o, p: [o, p].count(o),
    "list.remove": removed,
    "< of tuples": lambda o, p: (1, o) < (1, p),
    "sorted tuples": lambda o, p: sorted([(1, o), (1, p)]),
    "sorted": lambda o, p: sorted([o, Storing(o.x * 3.0), p, Storing(o.x / 2.0)]),
    "sorted by keys": lambda o, p: sorted([2, 1], key={1: o, 2: p}.__getitem__, reverse=True),
    "any": lambda o, p: any([o]),
    "filter": lambda o, p: list(filter(None, [o])),
    "item": lambda o, p: [1.0, 2.0][o],
    "slice": lambda o, p: [1.0, 2.0][:o],
    "item of an array": lambda o, p: np.arange(3.0)[o],
    "store": stored_at,
    "repeated": lambda o, p: [1.0] * o,
    "insert": lambda o, p: [1.0, 2.0].insert(o, 3.0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STORED)
def test_what_is_stored_while_native_code_asks(name, mode):
    ask = STORED[name]

    def f(x):
        LOG.clear()
        o = Storing(x)
        ask(o, Storing(x * 2.0))
        return o.seen * x + sum(LOG)

    for x in (0.7, 1.3, 0.7, 1.3, 0.7):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-5)


def test_what_an_argument_stores_while_native_code_asks():
    def f(o):
        found = {o: 2.0}
        return found[o] * o.seen

    for _ in range(4):
        assert gradient(f, Storing(0.7))[0].x == pytest.approx(4 * 0.7)


def test_a_class_of_no_module():
    names = {}
    exec(
        "class Key:\n    def __init__(self, x): self.x = x\n    def __hash__(self): self.seen = self.x * 2; return 1\n"
        "def f(x):\n    key = Key(x)\n    return {key: x}[key] * key.seen\n",
        names,
    )
    for _ in range(4):
        assert gradient(names["f"], 0.7) == pytest.approx((2.8,))


def test_methods_that_store_are_what_they_were():
    o = Storing(3.0)
    assert (hash(o), o == Storing(2.0), bool(o), [1, 2][o], o.seen) == (1, True, True, 2, 27.0)
    assert Storing.__eq__.__name__ == "__eq__"


HIDDEN = {
    "in a list": lambda o: str([o]),
    "by %": lambda o: operator.mod("%s", o),
    "by % of several": lambda o: operator.mod("%s, %r", (1, o)),
    "str.format": "{!r}".format,
    "logging": lambda o: logging.getLogger(__name__).error("%s", o),
    "range": range,
}


@pytest.mark.parametrize("hidden", HIDDEN)
def test_native_code_that_asks_is_an_error(hidden):
    ask = HIDDEN[hidden]

    def f(x):
        o = Lazy(x)
        ask(o)
        return o.grid[0]

    with pytest.raises(NotDifferentiable, match="runs code of objects that stores"):
        gradient(f, 0.7)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_was_kept_before_is_known(hidden):
    ask = HIDDEN[hidden]

    def f(x):
        o = Lazy(x)
        o.grid[1] *= x
        ask(o)
        return o.grid[0] * o.grid[1]

    assert gradient(f, 0.7) == pytest.approx((differences(f, 0.7, 1),))


def test_what_is_no_text_is_what_python_raises():
    class Odd:
        def __init__(self, x):
            self.x = x

        def __str__(self):
            return self.x

    def f(x):
        return len(str(Odd(x))) * x

    with pytest.raises(TypeError, match="__str__ returned non-string"):
        gradient(f, 0.7)


class Asked:
    """Its special methods store, so they are carried where dicts and lists ask them."""

    def __init__(self, x):
        self.x = x

    def __hash__(self):
        self.asked = self.x * self.x
        return 3

    def __lt__(self, other):
        self.asked = self.x * 2.0
        return self.x < other.x


class Cache:
    def __init__(self, made):
        self.ask, self.compare = made.__hash__, made.__lt__


@pytest.mark.parametrize("mode", MODES)
def test_special_methods_that_are_taken_and_called_by_name(mode):
    def f(x):
        made, other = Asked(x), Asked(2.0 * x)
        kept, order = {made: x}, sorted([other, made])
        cache = Cache(made)
        total = cache.ask() * made.asked * kept[made]
        total += made.asked if cache.compare(other) and not Asked.__lt__(other, made) else 0.0
        return total + order[0].asked * other.asked

    assert MODES[mode](f, 0.7) == pytest.approx(differences(f, 0.7, 2 if mode == "hvp" else 1), rel=1e-6)


class Closed:
    """What gives items by place, but is not iterated over."""

    __iter__ = None

    def __init__(self, held):
        self.held = held

    def __getitem__(self, index):
        return self.held


class Single:
    def __init__(self, held):
        self.held = held


def is_iterable(value):
    try:
        iter(value)
    except TypeError:
        return False
    return True


@gradient_at(1.3)
def test_what_is_not_iterable(x):
    closed, single = Closed(x), Single(x * x)
    total = closed.held * single.held
    return total * (2.0 if is_iterable(closed) else 3.0) * (5.0 if is_iterable(single) else 7.0)


class Compared:
    """Has what ``object`` says of it."""

    def __init__(self, x):
        self.x, self.scale = x, 2.0

    def __eq__(self, other):
        return super().__eq__(other)

    def __hash__(self):
        return super().__hash__()

    def __repr__(self):
        return "seen: " + super().__repr__()

    def __lt__(self, other):
        return super().__lt__(other) is not NotImplemented


@pytest.mark.parametrize("mode", MODES)
def test_what_object_says_of_an_object_changes_nothing(mode):
    def f(x):
        a, b = Compared(x), Compared(x * x)
        held = {a: 3.0} if a == a and a != b and not a < b else {}
        return a.x**2 * a.scale * held[a] * b.x * b.scale * (repr(b)[:4] == "seen")

    assert MODES[mode](f, 0.7) == pytest.approx(differences(f, 0.7, 2 if mode == "hvp" else 1), rel=1e-5)


class Iterated:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i] * 2.0


class Backwards(Iterated):
    def __reversed__(self):
        return iter((self.items[0], 5.0))


class OneByOne(Iterated):
    def __reversed__(self):
        yield from self.items


class OwnList(list):
    def __reversed__(self):
        return iter(self)


REVERSED = {
    "by index": lambda x: list(reversed(Iterated(x, x * x, 1.0)))[1] * x,
    "an iterator": lambda x: sum(reversed(Backwards(x, x * x))) * x,
    "a generator": lambda x: sum(i * v for i, v in enumerate(reversed(OneByOne(x, x * x, 1.0)))),
    "a derived list": lambda x: next(reversed(OwnList([x, x * x]))) * x,
    "zip": lambda x: sum(a * b for a, b in zip(reversed(Backwards(x, 1.0)), reversed([x * x, 2.0]))),
    "loop": lambda x: [v * x for v in reversed(Backwards(x, x * x))][0],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REVERSED)
def test_reversed_asks_the_class(name, mode):
    f = REVERSED[name]
    for x in (0.7, 1.3, 0.9):
        assert MODES[mode](f, x) == pytest.approx(differences(f, x, 2 if mode == "hvp" else 1), rel=1e-4)
        assert withgradient(f, x)[0] == pytest.approx(f(x))


class Index:
    def __init__(self, place):
        self.place = place

    def __index__(self):
        return self.place


def deleted(items, place):
    del items[place]
    return items[0]


def stored(items, place):
    items[place] = 2.0 * items[place]
    return items[place]


INDEXED = {
    "a list": lambda x, place: [1.0, x, x * x][place],
    "a tuple": lambda x, place: (1.0, x, x * x)[place],
    "a slice": lambda x, place: [1.0, x, x * x][place:][0],
    "pop": lambda x, place: [1.0, x, x * x].pop(place),
    "insert": lambda x, place: [1.0, x].insert(place, 2.0) or x,
    "del": lambda x, place: deleted([x, x * x, 2.0], place),
    "store": lambda x, place: stored([x, x * x, 2.0], place),
    "__getitem__": lambda x, place: [1.0, x, x * x].__getitem__(place),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INDEXED)
def test_objects_that_are_indices(name, mode):
    def f(x):
        total = 0.0
        for place in (Index(0), Index(1), Index(x), Index(7)):
            try:
                total += INDEXED[name](x, place)
            except TypeError:
                total = 3.0 * total + x * x
            except IndexError:
                total = 5.0 * total + x
        return total

    for x in (1.3, 0.7, 1.9):
        expected = differences(f, x, 2 if mode == "hvp" else 1)
        assert MODES[mode](f, x) == pytest.approx(expected, rel=1e-5, abs=1e-6)


class Answering:
    """An object that answers what it is told to, of whatever type."""

    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer

    __len__ = __float__ = __int__ = __complex__ = __index__ = __bool__


class Sized:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count


ASKING = {
    "bool": lambda x, n: x if Answering((True, 1, x)[n]) else 2.0 * x,
    "not": lambda x, n: x if not Answering((False, 0, x)[n]) else 2.0 * x,
    "len": lambda x, n: len(Sized((2, -1, x)[n])) * x,
    "filled": lambda x, n: x if Sized((2, -1, x)[n]) else 2.0 * x,
    "float": lambda x, n: float(Answering((x, 1, "a")[n])),
    "complex": lambda x, n: complex(Answering((x * 1j, 1, x)[n])).imag,
    "int": lambda x, n: int(Answering((2, x, "a")[n])) * x,
    "index": lambda x, n: operator.index(Answering((2, x, "a")[n])) * x,
    "keywords": lambda x, n: dict(**{"a": x, ("b", 5, None)[n]: 1.0})["a"],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ASKING)
def test_what_special_methods_must_not_answer(name, mode):
    for n in (0, 1, 2):

        def f(x, n=n):
            try:
                return ASKING[name](x, n)
            except TypeError:
                return x * x
            except ValueError:
                return x * x * x

        for x in (1.3, 0.7, 1.9):
            expected = differences(f, x, 2 if mode == "hvp" else 1)
            assert MODES[mode](f, x) == pytest.approx(expected, rel=1e-5, abs=1e-6)


class Pair(tuple):
    """Says of itself what it equals and what comes behind it, to builtin tuples too."""

    def __eq__(self, other):
        return "equal"

    def __gt__(self, other):
        return True

    __hash__ = tuple.__hash__


class Items(list):
    def __eq__(self, other):
        return True

    __hash__ = None


class Unsure(list):
    def __eq__(self, other):
        return NotImplemented

    __hash__ = None


class Size(float):
    def __eq__(self, other):
        return True

    def __rmul__(self, other):
        return 7.0

    __hash__ = float.__hash__


DERIVED = {
    "tuple": lambda x: (1,) == Pair((2,)),
    "tuple before": lambda x: (9,) < Pair((2,)),
    "tuple in tuples": lambda x: Pair((2,)) in [(1,)],
    "tuples": lambda x: [(1,)] == [Pair((2,))],
    "unequal list": lambda x: [1] != Items([2]),
    "list": lambda x: [x] == Items([2]),
    "unsure list": lambda x: Unsure([1]) == [1],
    "list beside an unsure one": lambda x: [1] == Unsure([1]),
    "unsure and unequal": lambda x: Unsure([1]) == [2],
    "complex": lambda x: 1j == Size(x),
    "product of a complex": lambda x: (1j * Size(x)).imag > 5.0,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DERIVED)
def test_builtin_values_beside_objects_of_derived_classes(name, mode):
    def f(x):
        return x * x if DERIVED[name](x) else x**3

    for x in (1.3, 0.7, 1.9):
        expected = differences(f, x, 2 if mode == "hvp" else 1)
        assert MODES[mode](f, x) == pytest.approx(expected, rel=1e-5, abs=1e-6)
