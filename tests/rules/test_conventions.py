"""The table of ``docs/conventions.md``: what derivatives are at kinks, ties and edges, in every mode."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from corpus.modes import RUN
from corpus.registry import Program

import autodiff_hook as ad

PAGE = Path(__file__).parent.parent.parent / "docs" / "conventions.md"
NAMES = {"np": np, "math": math, "inf": math.inf, "nan": math.nan}


def rows():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            text, at, ours = (cell.strip("`") for cell in cells[:3])
            yield pytest.param(text, at, ours, id=f"{text} at {at}")


ROWS = list(rows())


def made(text, at):
    """The function, its argument, and the derivatives as a flat list of numbers."""
    value = eval(at, NAMES)
    if isinstance(value, list):
        return eval(f"lambda x: np.sum({text})", NAMES), np.array(value)
    return eval(f"lambda x: {text}", NAMES), value


def test_all_rows_are_read():
    assert len(ROWS) == len(re.findall(r"^\| `", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) > 50


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", ["typed", "path", "carried", "pullback"])
@pytest.mark.parametrize("text, at, ours", ROWS)
def test_reverse(text, at, ours, mode, monkeypatch):
    function, value = made(text, at)
    expected = eval(f"[{ours}]", NAMES)
    found = []
    monkeypatch.setattr("corpus.modes._is_gradient", lambda program, grads, *rest, **options: found.append(grads[0]))
    monkeypatch.setattr("corpus.modes._is_value", lambda program, value: None)
    RUN[mode](Program("conventions", text, function, lambda: (value,), tuple(expected)))
    times = [1.0] * len(found) if mode != "pullback" else [1.0, 3.0]
    assert found
    for gradient, factor in zip(found, times, strict=True):
        np.testing.assert_allclose(np.ravel(gradient), factor * np.array(expected), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("text, at, ours", ROWS)
def test_forward(text, at, ours):
    function, value = made(text, at)
    expected = eval(f"[{ours}]", NAMES)
    if not isinstance(value, np.ndarray):
        found = [ad.jvp(function, (value,), (1.0,))[1]]
    else:
        found = [ad.jvp(function, (value,), (unit,))[1] for unit in np.eye(len(value))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
