"""Arrays that are written to, in reverse mode: each store makes a new version of the buffer, which is a node.

An array is a value until something is stored into its memory. Then every read, through whatever view, is a node that
adds into the cotangent of the current version, and a store takes its part out of that and leaves zero. The cotangent
of a version is the sweep's own: it is handed on and changed in place. A store into what a pullback holds keeps what it
overwrites; the sweep puts it back as it passes, so each pullback finds what it captured, and at its end memory is as
the program left it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from autodiff_hook.algebras.odd import refuse_shared, truncates
from autodiff_hook.algebras.placing import is_other_field
from autodiff_hook.algebras.restoring import HOLDERS, Memory, content_at, set_shape
from autodiff_hook.algebras.stores import Begun, Layout, Overwritten, Part, Read, Reshaped, Storing, StoringNumber
from autodiff_hook.errors import CUT, NotDifferentiable
from autodiff_hook.runtime.buffers import frozen_key, root_of
from autodiff_hook.runtime.kinds import kind_of
from autodiff_hook.runtime.losses import plain, shape_of

if TYPE_CHECKING:
    from autodiff_hook.algebras.tape import Tape

Token = Any


_DOUBLES: Final = frozenset({float, np.float64})
_UNREADABLE: Final = "an array of {} that shows memory which was written to is not differentiated"
_GIVEN: Final = "an argument, or an array that another pullback holds, gets another shape in place"


class Buffers:
    """The buffers that a tape knows: what they were made as, which version they have, which pullbacks hold them."""

    def __init__(self, tape: Tape) -> None:
        self.nodes, self.versions = tape.nodes, tape.buffers
        self.held, self.uncaptured = tape.held, tape.uncaptured
        self._tape = weakref.ref(tape)
        self.memory = Memory(self.held)
        self.made: dict[int, Token] = {}
        """The tokens that buffers were made with, which are held."""
        self.views: dict[int, Layout] = {}
        """Where in it the array is that the token of a buffer is of, if that is a view."""
        self.given: set[int] = set()
        """The buffers that were there before the program."""
        self._layouts: dict[int, tuple[Any, Layout]] = {}
        self._holders: dict[int, tuple[int, list[Memory]]] = {}

    def _unknown(self, error: NotDifferentiable) -> Token:
        tape = self._tape()
        assert tape is not None
        return tape.unknown(error)

    def _node(self, pullback: Any, inputs: Any) -> Token:
        self.nodes.append((pullback, inputs))
        return len(self.nodes) - 1

    def _layout(self, root: Any, array: Any) -> Layout:
        """The layout of an array, found again for what was asked for last."""
        known = self._layouts.get(id(root))
        if known is not None and known[0] is array:
            layout = known[1]
            if layout.shape == array.shape and layout.strides == array.strides:
                return layout
        layout = Layout(root, array)
        self._layouts[id(root)] = array, layout
        return layout

    def _others(self, root: Any) -> list[Memory]:
        """The memories of earlier passes that hold a buffer."""
        known = self._holders.get(id(root))
        if known is None or known[0] != HOLDERS.generation:
            known = self._holders[id(root)] = HOLDERS.generation, HOLDERS.of(root)
        return known[1]

    def note(self, array: Any, token: Token) -> None:
        """``array``, or the buffer that it views, is new, and was made with this token."""
        root = root_of(array)
        key = id(root)
        self.held[key] = root
        self.uncaptured.discard(key)
        if key not in self.made:
            self.made[key] = token
            if array is not root:
                self.views[key] = Layout(root, array)

    def hold_all(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A pullback holds the arguments of a rule."""
        held, uncaptured = self.held, self.uncaptured
        for item in args:
            cls = type(item)
            if cls is np.ndarray:
                root = item if item.base is None else root_of(item)
                held[id(root)] = root
                uncaptured.discard(id(root))
            elif cls is not float:
                self.hold_in(item)
        for item in kwargs.values():
            self.hold_in(item)

    def hold_in(self, value: Any) -> None:
        """A pullback holds what is in a value."""
        kind = kind_of(type(value))
        if kind == "array":
            self.hold(value)
        elif kind in ("tuple", "list"):
            for item in value:
                self.hold_in(item)

    def hold(self, array: Any) -> None:
        """A pullback holds ``array``."""
        root = root_of(array)
        self.held[id(root)] = root
        self.uncaptured.discard(id(root))

    def _is_captured(self, place: int) -> bool:
        """Whether a pullback may have captured a buffer."""
        return place in self.held and place not in self.uncaptured

    def read(self, array: Any, token: Token) -> Token:
        """The token of an array."""
        if not self.versions:
            return token
        root = root_of(array)
        found = self.versions.get(id(root))
        if found is None or is_other_field(root, array):
            return token
        return self._read(self._layout(root, array), ..., found[1])

    def _read(self, layout: Layout, key: Any, version: Token) -> Token:
        """The token of what a layout has at a key."""
        if layout.dtype is None:
            return self._unknown(NotDifferentiable(_UNREADABLE.format(layout.shown)))
        return self._node(Read(layout, key), (version,))

    def part(self, array: Any, key: Any, value: Any, token: Token) -> Token:
        """The token of ``value``, which is ``array[key]``."""
        root = root_of(array) if self.versions else None
        found = self.versions.get(id(root)) if self.versions else None
        if found is None or is_other_field(root, array):
            if token is None:
                return None
            node = self._node(Part(array, frozen_key(key)), (token,))
            if kind_of(type(value)) == "array":
                self.note(value, node)
            return node
        is_array = kind_of(type(value)) == "array"
        if is_array and root_of(value) is root:
            layout = Layout(root, value)
            return None if layout.dtype is None else self._read(layout, ..., found[1])
        node = self._read(self._layout(root, array), frozen_key(key), found[1])
        if is_array:
            self.note(value, node)
        return node

    def write(self, array: Any, key: Any, value: Any, before: Token, moving: Token) -> None:
        """``array[key] = value``, where ``before`` is the token of the array."""
        if type(key) is int and type(value) in _DOUBLES and array.base is None:
            if self._write_number(array, key, value, moving):
                return
        root = array if array.base is None else root_of(array)
        place = id(root)
        known, held, others = self.versions.get(place), self._is_captured(place), self._others(root)
        if moving is not None and truncates(array, value):
            moving = None
        if moving is None and before is None and known is None and place not in self.held and not others:
            array[key] = value
            return
        key = frozen_key(key)
        content = content_at(plain(array), key) if held or others else None
        for memory in others:
            memory.later.append((array, key, content))
        layout = self._layout(root, array)
        if moving is None and is_other_field(root, array):
            before, known = None, None
        carries = moving is not None or before is not None or known is not None or place in self.made
        if carries:
            _check(array, layout, moving)
            version = self._begun(root, before, layout) if known is None else known[1]
        array[key] = value
        if not carries:
            self._node(Storing(self.memory, array, key, None, layout, content), (None, None))
            return
        shape = None if moving is None else () if kind_of(type(value)) == "number" else shape_of(value)
        store = Storing(self.memory, array, key, shape, layout, content if held else None)
        self.versions[place] = root, self._node(store, (version, moving))

    def _write_number(self, array: Any, key: int, value: float, moving: Token) -> bool:
        """Store a number where nothing has to be kept for pullbacks; whether it is that simple."""
        place = id(array)
        known = self.versions.get(place)
        if known is None or moving is None or place in self.held and place not in self.uncaptured:
            return False
        layout = self._layout(array, array)
        if not layout.takes_numbers(array) or self._others(array):
            return False
        array[key] = value
        self.nodes.append((StoringNumber(layout, key), (known[1], moving)))
        self.versions[place] = array, len(self.nodes) - 1
        return True

    def begin(self, array: Any, token: Token) -> None:
        """A field of records has this token from the beginning."""
        root = root_of(array)
        known = self.versions.get(id(root))
        store = Storing(self.memory, array, ..., array.shape, Layout(root, array), None)
        self.versions[id(root)] = root, self._node(store, (None if known is None else known[1], token))

    def reshape(self, array: Any, before: Token, shape: Any) -> None:
        """``array.shape = shape``, where ``before`` is the token of the array."""
        root, earlier = root_of(array), array.shape
        known = self.versions.get(id(root))
        if known is None and before is None and id(root) not in self.made and id(root) not in self.held:
            set_shape(array, shape)
            return
        if id(array) in self.given or array is root and self._others(root):
            raise NotDifferentiable(_GIVEN, remedies=("make another array of it: b = a.reshape(...)", CUT))
        version = self._begun(root, before, self._layout(root, array)) if known is None else known[1]
        set_shape(array, shape)
        self.versions[id(root)] = root, self._node(Reshaped(self.memory, array, earlier), (version,))

    def overwritten(self, array: Any, before: Any, unknown: Token) -> None:
        """Native code has written to an array, or may have: constants, or what is unknown."""
        root = root_of(array)
        known, held = self.versions.get(id(root)), id(root) in self.held
        HOLDERS.keep(array, ..., before)
        if array.dtype.kind not in "fciuOV" or known is None and unknown is None and not held:
            return
        layout = self._layout(root, array)
        version = self._begun(root, None, layout) if known is None else known[1]
        store = Storing(self.memory, array, ..., None, layout, before if held else None)
        node = self._node(store, (version, None))
        if unknown is not None:
            node = self._node(Overwritten(layout, self.nodes[unknown][0]), (node,))
        self.versions[id(root)] = (root, node)

    def _begun(self, root: Any, before: Token, layout: Layout) -> Token:
        key = id(root)
        if key in self.made:
            layout, before = self.views.get(key) or Layout(root, root), self.made[key]
        return self._node(Begun(layout), (before,))

    def finish(self, own: Callable[[Any], bool]) -> None:
        """The forward pass is over: keep what buffers hold that others can write to; ``own`` tells which nobody can."""
        self.memory.note_mapped()
        for place, (root, _) in self.versions.items():
            made = place in self.made and place not in self.given
            if place in self.held and not made and not own(root) and _is_kept(root):
                self.memory.at_end.append((root, np.array(root)))


def _is_kept(root: Any) -> bool:
    return root.dtype.kind in "fciu" or root.dtype.names is not None and not root.dtype.hasobject


def _check(array: Any, layout: Layout, moving: Token) -> None:
    """Raise for a store whose derivative is not known."""
    refuse_shared(array, moving, layout)
    if layout.dtype is None:
        raise NotDifferentiable(
            f"a store of what is differentiated into an array of {array.dtype} is not differentiated. Remedy: make the "
            f"array one of floats (dtype=float)"
        )
