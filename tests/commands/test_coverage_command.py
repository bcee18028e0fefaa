"""``coverage``: what is known of public callables, and ``docs/coverage.md``."""

import json
import sys
from pathlib import Path

import pytest

from autodiff_hook import NotDifferentiable, gradient
from autodiff_hook.commands import coverage_page
from autodiff_hook.commands.covering import KINDS, coverage, default_modules
from autodiff_hook.commands.reaching import Reach
from autodiff_hook.registry import describe, registry

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"

REACHING = """
import math
import statistics
import zlib


def clear(x):
    return math.sin(x) + statistics.mean([x, 2.0])


def native(x):
    return zlib.crc32(x)


def through(x):
    if x > 1e9:
        return native(x)
    return clear(x)


def frames(x):
    return eval("x") + locals()["x"]


class Weight:
    def __init__(self, x):
        self.x = native(x)

    def heavy(self):
        return through(self.x)

    def light(self):
        return clear(self.x)

    @property
    def half(self):
        return self.x / 2

    @staticmethod
    def nothing():
        return None

    def _hidden(self):
        return native(self.x)
"""


@pytest.fixture
def reaching(tmp_path, monkeypatch):
    (tmp_path / "reaching_sample.py").write_text(REACHING)
    monkeypatch.syspath_prepend(tmp_path)
    return coverage("reaching_sample", "reaching_sample.Weight")


def test_totals_and_names(command, folder):
    lines = command("coverage", "math", "shop.model", "--missing").stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["module", "math", "shop.model", "total"]
    (found,) = coverage("math")
    assert {"sin", "hypot"} <= set(found.names["rule"]) and "floor" in found.names["constant"]
    names = json.loads(command("coverage", "cmath", "--json").stdout)["cmath"]
    assert tuple(names) == KINDS and "exp" in names["rule"]


def test_the_default_are_the_modules_with_rules(command):
    lines = command("coverage").stdout.splitlines()
    assert any(line.startswith("numpy ") for line in lines)
    assert not any(line.startswith("numpy.linalg ") for line in lines)  # it has no pack of its own


def test_own_source_is_followed_to_what_has_no_derivative(reaching):
    module, weight = reaching
    assert module.names["own source"] == ["clear", "frames"]
    assert module.names["in part"] == ["Weight", "native", "through"]
    assert module.obstacles["through"] == module.obstacles["Weight"] == ("zlib.crc32",)
    assert weight.names["own source"] == ["half", "light", "nothing"] and weight.names["in part"] == ["heavy"]
    assert (module.total, weight.total) == (5, 4)


def test_methods_and_attributes_of_native_classes():
    (found,) = coverage("numpy.ndarray")
    assert {"T", "real", "sum", "reshape"} <= set(found.names["rule"])
    assert {"shape", "argmax", "dtype"} <= set(found.names["constant"])


def test_what_is_an_error_on_purpose_says_why():
    import numpy as np

    (found,) = coverage("numpy")
    assert "frombuffer" in found.names["refused"] and found.reasons["frombuffer"].startswith("it shows memory")
    with pytest.raises(NotDifferentiable, match="frombuffer, which shows memory past what derivatives follow"):
        gradient(lambda x: np.frombuffer(x)[0], np.ones(2))


def test_reach_stops_at_rules_and_constants():
    import statistics

    import numpy as np

    reach = Reach()
    assert reach.obstacles(statistics.covariance) == () == reach.obstacles(np.polyfit)
    assert reach.obstacles(np.sin) == ()


def test_exceptions_and_what_belongs_to_others_are_left_out():
    (found,) = coverage("statistics")
    listed = [name for names in found.names.values() for name in names]
    assert "StatisticsError" not in listed and "mean" in listed and "NormalDist" in listed


def test_every_constant_of_the_rules_has_a_reason():
    default_modules()
    unexplained = [target for target, reason in registry.constants() if reason is None]
    own = ("autodiff_rules.", "autodiff_hook.")  # helpers of rules
    packs = [describe(target) for target in unexplained if is_public(target)]
    assert [name for name in packs if not name.startswith(own)] == []


def is_public(target):
    home = (getattr(target, "__module__", None) or "").partition(".")[0]
    return home in ("builtins", "math", "cmath", "operator", "random", "numpy", "scipy", "decimal", "fractions")


def test_the_page_has_totals_reasons_and_names():
    found = coverage("math", "statistics")
    lines = coverage_page.page(found).splitlines()
    assert "| math | 55 | 41 | 0 | 0 | 14 | 0 | 0 |" in lines or sys.version_info > (3, 12)
    assert any(line.startswith("* *it is constant by steps:* math.ceil, math.floor") for line in lines)
    assert any(line.startswith("**rule:** `acos`, `acosh`") for line in lines)
    assert [line for line in lines if line.startswith("## ")] == [
        *("## Constants, and why", "## Refused, and why", "## math", "## statistics")
    ]


def test_the_committed_page_is_of_its_modules():
    lines = PAGE.read_text().splitlines()
    assert [line[3:] for line in lines if line.startswith("## ")][2:] == list(coverage_page.MODULES)
