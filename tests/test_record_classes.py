"""Records are dataclasses with slots; only their methods are made in another way."""

import pickle
from dataclasses import field, fields, replace

import numpy as np
import pytest

from autodiff_hook.records import record


@record(frozen=True)
class Base:
    """What all have."""

    note: object = field(default=None, compare=False, kw_only=True)


@record(frozen=True)
class Point(Base):
    """Compared by its parts."""

    x: float
    parts: list[int] = field(default_factory=list)
    absent: object = None


@record
class Counted:
    """Can be changed, so that it has no hash."""

    count: int = 0


@record(eq=False)
class Node:
    """Compared by identity."""

    name: str


def test_arguments_are_those_of_dataclasses():
    point = Point(1.0, note="here")
    assert (point.x, point.parts, point.absent, point.note) == (1.0, [], None, "here")
    assert Point(1.0).parts is not Point(1.0).parts
    assert Point(x=1.0, parts=[2], absent=3).parts == [2]
    assert replace(point, x=2.0).x == 2.0 and [f.name for f in fields(Point)] == ["note", "x", "parts", "absent"]
    for wrong in ((), (1.0, [], None, "note")):
        with pytest.raises(TypeError):
            Point(*wrong)


def test_what_is_equal_and_what_has_a_hash():
    nan = float("nan")
    assert Point(1.0, note=1) == Point(1.0, note=2) != Point(2.0) and Point(nan) != Point(float("nan"))
    array = np.ones(2)
    assert Counted(array) == Counted(array) != Base()  # a part is equal to itself, as in tuples
    assert Base() == Base() != Point(1.0) and hash(Base()) == hash(Base())
    assert hash(Point(1.0, ())) == hash(Point(1.0, (), note=5)) and Counted.__hash__ is None
    assert Node("a") != Node("a") and len({Node("a"), Node("a")}) == 2


def test_slots_text_and_pickling():
    with pytest.raises(AttributeError):
        Node("a").other = 1
    assert repr(Point(1.0, note=2)) == "Point(note=2, x=1.0, parts=[], absent=None)"
    assert pickle.loads(pickle.dumps(Point(1.0))) == Point(1.0)


def test_a_class_that_no_object_was_made_of_has_no_method_compiled():
    @record
    class Unused:
        """Nobody makes one."""

        value: int

    first = Unused.__init__
    Unused(1)
    assert Unused.__init__ is not first
