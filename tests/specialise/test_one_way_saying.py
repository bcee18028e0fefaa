"""What programs that take objects print, log and warn of: derivatives are right, and all is said once, in order."""

from __future__ import annotations

import io
import logging
import types

import pytest
from specialised_cases import GENERIC, is_specialised

import autodiff_hook as ad
from autodiff_hook import reports

LOG = logging.getLogger("talking")


class Talking:
    def __init__(self, k):
        self.k, self.steps = k, 0

    def step(self, x):
        self.steps += 1
        print("step", self.steps, [x, self.k])
        LOG.warning("at %g", x)
        return x * self.k


def talks(x, model):
    for _ in range(2):
        x = model.step(x)
    print(f"in the end {x}")
    return x


def test_what_an_object_says(capsys, caplog):
    for form in (ad.gradient, ad.withgradient, lambda f, x, o: ad.jvp(lambda x: f(x, o), (x,), (1.0,))):
        for _ in range(3):
            plain, model = Talking(3.0), Talking(3.0)
            talks(2.0, plain)
            expected = capsys.readouterr(), [record.getMessage() for record in caplog.records]
            caplog.clear()
            form(talks, 2.0, model)
            assert (capsys.readouterr(), [record.getMessage() for record in caplog.records]) == expected
            caplog.clear()
            assert model.steps == 2
    assert ad.gradient(talks, 2.0, Talking(3.0))[0] == 9.0
    assert is_specialised(talks)


def asks_for_a_logger(x, model):
    log = logging.getLogger("talking")
    log.warning("asked for, at %g", x)
    return x * x if model is None else x * model.k


@pytest.mark.parametrize("model", [None, Talking(3.0)])
def test_loggers_that_a_program_asks_for(caplog, model):
    for _ in range(3):
        caplog.clear()
        assert ad.gradient(asks_for_a_logger, 3.0, model)[0] == pytest.approx(6.0 if model is None else 3.0)
        assert [(record.name, record.getMessage()) for record in caplog.records] == [("talking", "asked for, at 3")]
    assert is_specialised(asks_for_a_logger)


def may_show_an_object(x, model):
    LOG.debug("of %s at %g", model, x)
    return x * model.k


def test_loggers_that_are_silent_about_objects(caplog):
    model = Talking(3.0)
    assert [ad.gradient(may_show_an_object, 2.0, model)[0] for _ in range(3)] == [3.0] * 3
    assert is_specialised(may_show_an_object)
    with caplog.at_level(logging.DEBUG, "talking"):
        assert [ad.gradient(may_show_an_object, 2.0, model)[0] for _ in range(3)] == [3.0] * 3
    assert len(caplog.records) == 3


def tells_the_family(x, model):
    if x < 0:
        logging.getLogger("family").warning("odd")
        LOG.warning("odd")
    return x * model.k


def reads_of_the_family(x, model):
    return x * model.k * logging.getLogger("family").factor


class OfAFamily:
    """It holds a logger, which knows the others of its family, and the root, which knows all."""

    def __init__(self, k):
        self.k, self.log = k, logging.getLogger("family.member")


def test_loggers_that_an_argument_reaches():
    model = OfAFamily(3.0)
    with reports.collecting() as told:
        assert [ad.gradient(tells_the_family, x, model)[0] for x in (1.0, 2.0, 3.0)] == [3.0] * 3
    assert GENERIC or [each.kind for each in told] == ["typed"]
    assert [ad.gradient(tells_the_family, x, model)[0] for x in (-1.0, 3.0)] == [3.0] * 2
    assert [ad.jvp(tells_the_family, (x, model), (1.0, None))[1] for x in (1.0, 2.0)] == [3.0] * 2
    logging.getLogger("family").factor = 2.0
    assert [ad.gradient(reads_of_the_family, x, Talking(3.0))[0] for x in (1.0, 2.0, 3.0)] == [6.0] * 3
    assert is_specialised(reads_of_the_family)
    assert [ad.gradient(reads_of_the_family, x, model)[0] for x in (1.0, 2.0, 3.0)] == [6.0] * 3


def holds_what_is_outside(x, model):
    return x * model.k * SHARED.k if model.k > 0 else x


SHARED = Talking(2.0)


def test_what_is_outside_and_an_argument_is_refused_once():
    """Else a program would be made at each call, whose guards let nothing in."""
    model = Talking(3.0)
    model.shared = SHARED
    with reports.collecting() as told:
        for _ in range(3):
            with pytest.raises(ad.NotDifferentiable, match="two cannot be told apart"):
                ad.gradient(holds_what_is_outside, 2.0, model)
    assert [each.kind for each in told].count("typed") <= 1


def to_what_it_makes(x, model):
    stream = io.StringIO()
    print("abc", file=stream)
    model.stream.write("ab")
    return x * len(stream.getvalue()) * len(model.stream.getvalue())


def test_what_a_program_says_and_reads_again():
    model = types.SimpleNamespace(stream=io.StringIO())
    assert [ad.gradient(to_what_it_makes, 2.0, model)[0] for _ in range(4)] == [8.0, 16.0, 24.0, 32.0]
