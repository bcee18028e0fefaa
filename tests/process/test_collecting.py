"""The garbage collector waits while programs are made, and goes on afterwards as it was."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from autodiff_hook.collecting import uncollected

IMPORTED = """
import gc
import autodiff_hook
import autodiff_hook.collecting, autodiff_hook.interpreter, importlib
collected = []
gc.set_threshold(100, 1, 1)
gc.callbacks.append(lambda phase, info: collected.append(phase))
autodiff_hook.gradient
gc.callbacks.clear()
print(len(collected), gc.isenabled())
"""


@pytest.mark.parametrize("enabled", [True, False])
def test_what_was_is_so_again(enabled):
    try:
        (gc.enable if enabled else gc.disable)()
        with uncollected():
            assert not gc.isenabled()
            with pytest.raises(ZeroDivisionError), uncollected():
                1 / 0  # noqa: B018
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_nothing_is_collected_while_the_engine_is_imported():
    ran = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    phases, enabled = ran.stdout.split()
    # Once it is over the collector may look at what has come.
    assert int(phases) <= 6 and enabled == "True"
