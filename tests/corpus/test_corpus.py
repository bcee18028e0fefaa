"""Every program of the corpus in every mode: right, a clear error that is marked as such, or waiting for an issue."""

from __future__ import annotations

import pytest

import autodiff_hook as ad
from corpus.collected import collected
from corpus.marks import ERROR, FIRST_ORDER, ISSUES, MARKS_EVERYWHERE, is_acceptable, mark
from corpus.modes import RUN
from corpus.table import FILE, table


def _cases(errors):
    cases = []
    for name, program in collected().items():
        for mode in program.modes:
            found = mark(program, mode)
            waits = [pytest.mark.xfail(reason=f"waits for: {found}", strict=True)] if found in ISSUES else []
            if errors is (found == ERROR):
                cases.append(pytest.param(name, mode, id=f"{mode}-{name}", marks=waits))
    return cases


def _run(name, mode):
    program = collected()[name]
    if program.needs:
        pytest.importorskip(program.needs)
    RUN[mode](program)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name, mode", _cases(errors=False))
def test_right(name, mode):
    _run(name, mode)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name, mode", _cases(errors=True))
def test_clear_error(name, mode):
    for _ in range(2 if mode in FIRST_ORDER else 1):
        with pytest.raises(ad.AutodiffError):
            _run(name, mode)


def test_errors_are_marked_where_they_will_do():
    marked = {key for key, found in MARKS_EVERYWHERE.items() if found == ERROR}
    assert [(name, mode) for name, mode in marked if not is_acceptable(collected()[name], mode)] == []


def test_the_table_is_fresh():
    assert FILE.read_text() == table(), "write it again: cd tests && python -m corpus.table"
