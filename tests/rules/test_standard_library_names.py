"""The whole public surface of the numeric standard library: each name has a derivative that is right, or a reason."""

from fractions import Fraction

import numpy as np
import pytest
from language.in_all_modes import MODES, differences
from standard_library_names import NO_FLOATS, PROGRAMS

import autodiff_hook as ad
from autodiff_hook.commands.covering import coverage

AT = 0.7
FOUND = {found.module: found for found in coverage(*PROGRAMS)}


def without_floats(module):
    return {name for table in NO_FLOATS.values() for name in table.get(module, "").split()}


@pytest.mark.parametrize("module", PROGRAMS)
def test_every_name_has_a_program_or_a_reason(module):
    found = FOUND[module]
    assert found.names["missing"] == [] == found.names["in part"]
    reasons = set(found.names["constant"] + found.names["refused"])
    assert all(found.reasons[name] for name in reasons)
    known = set(found.names["rule"] + found.names["own source"])
    assert known - PROGRAMS[module].keys() - without_floats(module) == set()


def public():
    return [(module, name) for module in PROGRAMS for name in PROGRAMS[module] if is_here(module, name)]


def is_here(module, name):
    return any(name in names for names in FOUND[module].names.values())


@pytest.fixture(autouse=True, scope="module")
def followed():
    """Once for all: each change of what is opted in makes all programs out of date."""
    with ad.install("standard_library_names"):
        yield


@pytest.mark.parametrize(("module", "name"), public())
def test_derivatives(module, name):
    f = PROGRAMS[module][name]
    for mode, derivative in MODES.items():
        expected = differences(f, AT, 2 if mode == "hvp" else 1)
        assert derivative(f, AT) == pytest.approx(expected, rel=1e-5, abs=1e-6), mode


def to_fraction(x):
    """A fraction that is a float, too."""
    return Fraction(round(64 * x), 64)


@pytest.mark.parametrize("kind", [np.float64, np.float32, to_fraction])
@pytest.mark.parametrize(("module", "name"), public())
def test_derivatives_by_numbers_of_other_kinds(module, name, kind):
    """Those by the nearest float, in the precision of the kind, if the function takes it."""
    f, x = PROGRAMS[module][name], kind(AT)
    try:
        f(x)
    except (TypeError, ValueError):
        return
    precision = 1e-4 if kind is np.float32 else 1e-9
    for mode in ("gradient", "jvp"):
        expected = MODES[mode](f, float(x))
        assert MODES[mode](f, x) == pytest.approx(expected, rel=precision, abs=precision), mode


def test_programs_are_of_public_names():
    later = {"fma", "sumprod", "kde", "kde_random", "from_number", "batched", "clear"}
    unknown = {(m, name) for m in PROGRAMS for name in PROGRAMS[m] if not is_here(m, name) and name not in later}
    assert {name for _, name in unknown if not name.endswith("_max")} == set()
