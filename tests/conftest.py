"""For all tests: the specialiser does not fail unless a test makes it fail, and takes the time that it needs."""

from __future__ import annotations

import pytest

from autodiff_hook import failures, telling
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
