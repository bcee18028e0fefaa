"""What a callback changes while a solver calls it natively.

The engine does not see those calls. Before the callback is followed, what it changed is put back, so that the engine
sees every store: into a cache, into a dict of results, into a work array. Where the run that is followed does not store
again what the native ones did (a list of all iterates), the native content comes back, and using it in a derivative is
an error. Generators of random numbers are left where the native run has left them.
"""

import random
import weakref
from functools import _lru_cache_wrapper
from types import FunctionType

import numpy as np

from autodiff_hook.algebras.shadows import keep, lose
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.altering import GENERATORS, Drawn
from autodiff_hook.runtime.buffers import is_writeable
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.lookup import behind, native_method
from autodiff_hook.runtime.losses import failure
from autodiff_hook.runtime.reachable import LEAVES, changeable, names_in
from autodiff_hook.semantics.opaque import is_written, note_answers

MISSING = object()
NEAR_CHANGE, NEAR = 1e-3, 1e-6
"""How far what is stored at the solution may be from what was stored last, relative to the change and to itself."""
_SOLVED = "which a solver called: what it stored is not differentiated"


class Memory:
    """The slots and arrays that can be reached from ``roots``, with their tokens, now and after a native run."""

    def __init__(self, alg, *roots):
        self.alg = alg
        roots = [root for root in roots if type(root) not in LEAVES]
        self.before = {id(item): (item, contents(item)) for item in changeable(roots)}
        self.caches = [(x, x.cache_info()) for x, _ in self.before.values() if type(x) is _lru_cache_wrapper]
        self.arrays = [(array, array.copy()) for array in arrays_of(roots, self.before, "fc")]
        self.roots, self.counts = roots, []
        self.generators = list(map(Drawn, generators_of([item for item, _ in self.before.values()])))
        self.drawn = self.generators
        self.after = {}
        self.written = []
        self.tokens = {key: tokens_of(alg, reference_of(item)) for key, (item, _) in self.before.items()}
        self.versions = versions(alg, self.arrays)

    def ran(self):
        """The native run is over: note what it changed."""
        for key, (item, old) in self.before.items():
            new = contents(item)
            if any(matters(new.get(name), old.get(name, MISSING)) for name in new) or any(n not in new for n in old):
                self.after[key] = (item, new)
        self.counts = [(item, without_derivative(item)) for item, _ in self.before.values()]
        self.counts += [(array, array.copy()) for array in arrays_of(self.roots, self.before, "iub")]
        for cache, info in self.caches:
            note_answers(self.alg, cache, info, self.alg.unknown(failure(cache, _SOLVED)))
        self.drawn = [Drawn(each.generator) for each in self.generators]
        self.written = [(a, old, a.copy()) for a, old in self.arrays if not np.array_equal(a, old, equal_nan=True)]

    @property
    def changed(self):
        """Whether the native run has left anything behind."""
        drawn = any(not new.was_at(old.state) for old, new in zip(self.generators, self.drawn))
        return drawn or bool(self.after or self.written)

    def rewind(self):
        """Put back what the native run changed; counters go on."""
        for key, (item, new) in self.after.items():
            old = self.before[key][1]
            kept = {name: v for name, v in new.items() if not matters(v, old.get(name, MISSING))}
            put(item, {**old, **kept})
        for array, old, _ in self.written:
            array[...] = old
        for each in self.generators:
            each.exchange()

    def undo(self):
        """Put back what a run that was followed has changed, with its tokens; counters go on."""
        native, self.after = self.after, {}
        for key, (item, old) in self.before.items():
            new = contents(item)
            if new.keys() != old.keys() or any(new[name] is not old[name] for name in new):
                self.after[key] = item, new
            reference = reference_of(item)
            self.alg.shadows.pop(id(reference), None)
            if self.tokens[key] is not None:
                self.alg.lifetimes.hold(reference, self.tokens[key].copy())
        self.undo_arrays()
        written, self.written = self.written, []
        self.rewind()
        self.after, self.written = native, written

    def undo_arrays(self):
        """Put back what a run that was followed has stored into arrays; pullbacks of it find what they captured."""
        for array, old in self.arrays:
            content = array.copy()
            if is_written(self.alg, array) or not np.array_equal(content, old, equal_nan=True):
                array[...] = old
                self.alg.overwritten(array, content, None)
        restore_versions(self.alg, self.arrays, self.versions)

    def settle(self, function):
        """The last run is over: what it did not store again has no derivative."""
        unknown = self.alg.unknown(failure(function, _SOLVED))
        for each in self.drawn:
            each.exchange()
        for key, (item, new) in self.after.items():
            old, now = self.before[key][1], contents(item)
            lost = any(
                matters(v, old.get(name, MISSING)) and now.get(name, MISSING) is old.get(name, MISSING)
                for name, v in new.items()
            )
            reference = reference_of(item)
            if lost or now.keys() != new.keys():
                put(item, new)
                self.alg.shadows.pop(id(reference), None)
                lose(self.alg, reference, unknown)
                continue
            others = [name for name, value in now.items() if not is_found_again(value, new[name], old.get(name))]
            put(item, {name: self.as_native(value, new[name]) for name, value in now.items()})
            for name in others:
                keep(self.alg, reference, name, lose(self.alg, new[name], unknown))
        check_arrays(self.written)
        for array, old, content in self.written:
            again = is_found_again(array, content, old)
            self.refill(array, content)
            if not again:
                self.alg.overwritten(array, content, unknown)
        self.uncount()

    def uncount(self):
        """Leave counters, and what else has no derivative, as the native run did: the program knows of no other."""
        for item, left in self.counts:
            if type(left) is not dict:
                self.refill(item, left)
                continue
            now = without_derivative(item)
            changed = {name: value for name, value in left.items() if now.get(name, value) is not value}
            if changed:
                put(item, contents(item) | changed)

    def as_native(self, value, native):
        """What a slot holds now, with the content that the native run left there; its token is that of ``value``."""
        if not matters(native, value) or type(native) is not type(value):
            return value
        if kind_of(type(value)) == "number":
            return native
        if kind_of(type(value)) == "array" and is_writeable(value) and value.dtype.kind in "fc":
            if (value.shape, value.dtype) == (native.shape, native.dtype):
                self.refill(value, native)
        return value

    def refill(self, array, content):
        """Give an array other content, but keep what it depends on; pullbacks find what they captured."""
        if np.array_equal(array, content, equal_nan=True):
            return
        before, found = array.copy(), versions(self.alg, [(array, None)])
        array[...] = content
        self.alg.overwritten(array, before, None)
        restore_versions(self.alg, [(array, None)], found)


def check_arrays(written):
    """Raise if the last run did not write where the native ones did."""
    for array, old, new in written:
        if np.any((array == old) & (new != old)):
            raise NotDifferentiable(
                "the function given to a solver wrote to parts of an array that it does not write to at the "
                "solution: this is not differentiated"
            )


def is_found_again(value, native, old):
    """Whether a followed run has stored what the native ones left, which is no sum or choice of what they did."""
    if native is value or not (is_of_numbers(value) and is_of_numbers(native)) or np.shape(value) != np.shape(native):
        return True
    old = old if is_of_numbers(old) and np.shape(old) == np.shape(native) else 0.0
    near = NEAR_CHANGE * np.abs(np.subtract(native, old)) + NEAR * np.abs(native)
    return bool(np.all((np.abs(np.subtract(value, native)) <= near) | np.equal(value, native) | np.isnan(native)))


def is_of_numbers(value):
    """Whether a value is a number with a derivative, or an array of some."""
    kind = kind_of(type(value))
    return may_move(value) and (kind == "number" or kind == "array" and value.dtype.kind in "fc")


def levels(alg):
    while alg is not None:
        yield alg
        alg = alg.over


def versions(alg, arrays):
    return {id(array): [level.version(array) for level in levels(alg)] for array, _ in arrays}


def restore_versions(alg, arrays, found):
    for array, _ in arrays:
        for level, version in zip(levels(alg), found[id(array)]):
            level.restore_version(array, version)


def tokens_of(alg, item):
    entry = alg.shadows.get(id(item))
    return None if entry is None else entry[1].copy()


def matters(new, old):
    """Whether a slot was changed to something that may carry a derivative."""
    return new is not old and may_move(new)


def may_move(value):
    """Whether a value may carry a derivative."""
    return kind_of(type(value)) != "inert" and not issubclass(type(value), (int, np.integer))


def without_derivative(item):
    """The slots of a reference that hold what carries no derivative."""
    return {name: value for name, value in contents(item).items() if not may_move(value)}


def contents(item):
    kind = kind_of(type(item))
    if kind == "list":
        return dict(enumerate(item))
    if kind == "dict":
        return dict(item)
    if kind == "cell":
        try:
            return {0: item.cell_contents}
        except ValueError:
            return {}
    if issubclass(type(item), type):
        return dict(vars(item))
    if kind != "object" or issubclass(type(item), weakref.ProxyTypes):
        # What a weak proxy stands for is not its own, and may be gone.
        return {}
    attributes = getattr(item, "__dict__", None)
    return dict(attributes) if isinstance(attributes, dict) else {}


def put(item, slots):
    """Make ``slots`` the content of a reference."""
    kind = kind_of(type(item))
    if kind == "list":
        item[:] = [slots[i] for i in range(len(slots))]
    elif kind == "cell":
        if slots:
            item.cell_contents = slots[0]
        else:
            del item.cell_contents
    elif issubclass(type(item), type):
        put_attributes(item, slots)
    else:
        target = item if kind == "dict" else item.__dict__
        for name in [name for name in target if name not in slots]:
            del target[name]
        for name, value in slots.items():
            if target.get(name, MISSING) is not value:
                target[name] = value


def put_attributes(cls, slots):
    for name in vars(cls).keys() - slots.keys():
        native_method(type(cls), "__delattr__")(cls, name)
    for name, value in slots.items():
        if vars(cls).get(name, MISSING) is not value:
            native_method(type(cls), "__setattr__")(cls, name, value)


def reference_of(item):
    """What has the tokens of a reference: that of a class is its dict."""
    return behind(item.__dict__) if issubclass(type(item), type) else item


def generators_of(items):
    """The generators of random numbers among some items, and those of modules that functions among them may name."""
    found = [item for item in items if type(item) in GENERATORS]
    if any(type(item) is FunctionType and "random" in names_in(item.__code__) for item in items):
        found += [random.random.__self__, np.random.normal.__self__]
    return list({id(each): each for each in found}.values())


def arrays_of(roots, known, kinds):
    """The arrays of these kinds of numbers that can be written to, each once."""
    found = {}
    for value in (*roots, *(v for _, slots in known.values() for v in slots.values())):
        for item in value if type(value) is tuple else (value,):
            if issubclass(type(item), np.ndarray) and is_writeable(item) and item.dtype.kind in kinds:
                found[id(item)] = item
    return list(found.values())
