"""For all tests: the specialiser does not fail unless a test makes it fail, and takes the time that it needs."""

from __future__ import annotations

from collections import Counter

import pytest

from autodiff_hook import failures, telling, testing
from autodiff_hook.registry import describe, registry
from autodiff_hook.runtime import specialising

specialising.FREE = specialising.MOST = 1000.0


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


def _count(rules, checks):
    RULES.update(rules)
    CHECKS.update(checks)


def pytest_sessionfinish(session):
    found = sorted({describe(target) for target in registry.targets("autodiff_rules")}), dict(testing.checks)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rules"] = found
    else:
        _count(*found)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _count(*getattr(node, "workeroutput", {}).get("rules", ((), ())))


def pytest_terminal_summary(terminalreporter):
    if CHECKS:
        checked = RULES & CHECKS.keys()
        terminalreporter.write_line(
            f"rules: {len(RULES)} functions have one, {len(checked)} of them in {CHECKS.total()} checks of check_rule"
        )
