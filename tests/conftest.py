"""For all tests: the specialiser does not fail unless a test makes it fail, and takes the time that it needs."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

import pytest

from autodiff_hook import failures, telling, testing
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime import specialisations

specialisations.FREE = specialisations.MOST = 1000.0
gc.set_threshold(10_000)  # compiling makes much, and little that is garbage


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    failures.counted.clear()
    telling._said.clear()
    result = yield
    if failures.counted and item.get_closest_marker("injects_failures") is None:
        pytest.fail(f"the specialiser failed: {failures.counted}")
    return result


RULES: set[str] = set()
CHECKS: Counter[str] = Counter()
"""The functions that have rules, and how often each was checked, in all processes of this run."""
PARTIAL: set[str] = set()
"""Why it cannot be said of this run that it tried all rules."""
OF_RULES = Path(__file__).parent / "rules"


def _count(rules, checks, partial):
    RULES.update(rules)
    CHECKS.update(checks)
    PARTIAL.update(partial)


def pytest_deselected(items):
    PARTIAL.add("tests are left out")


def pytest_collection_finish(session):
    gc.collect()
    gc.freeze()  # the garbage collector would look through all tests again and again
    if session.config.option.collectonly or any("::" in argument for argument in session.config.args):
        PARTIAL.add("tests are named")
    if not {*OF_RULES.glob("test_*.py")} <= {item.path for item in session.items}:
        PARTIAL.add("files are left out")


def pytest_sessionfinish(session):
    if not PARTIAL:
        registry.packs.load()
    found = sorted(set(map(describe, registry.targets("autodiff_rules")))), dict(testing.checks), sorted(PARTIAL)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rules"] = found
        return
    _count(*found)
    if not PARTIAL and RULES - CHECKS.keys() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _count(*getattr(node, "workeroutput", {}).get("rules", ((), (), ("a process ended",))))


def pytest_terminal_summary(terminalreporter):
    checked = RULES & CHECKS.keys()
    if CHECKS:
        terminalreporter.write_line(
            f"rules: {len(RULES)} functions have one, {len(checked)} of them in {CHECKS.total()} checks of check_rule"
        )
    if not PARTIAL and checked != RULES:
        terminalreporter.write_line(f"FAILED: no check_rule of {', '.join(sorted(RULES - checked))}")
