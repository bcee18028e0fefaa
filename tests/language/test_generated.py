"""Random programs: value and side effects as in the plain run, gradients as finite differences say."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from random_programs import Program

from autodiff_hook.testing import check_gradient

EXAMPLES = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "60"))
PARTS = compile(Path(__file__).with_name("parts.py").read_text(), "<parts>", "exec")
ARGUMENTS = (0.61, -0.37, [0.53, -0.83, 0.29], {"p": 0.41, "q": -0.72})


@st.composite
def sources(draw):
    """The text of a random program."""
    program = Program(lambda count: draw(st.integers(0, count - 1)))
    return program.source(size=draw(st.integers(1, 8)))


def run(source):
    """Check the gradient of ``f`` of a program."""
    namespace = {"__name__": "generated_program"}
    exec(PARTS, namespace)
    exec(compile(source, "<generated>", "exec"), namespace)
    check_gradient(namespace["f"], *ARGUMENTS)


@given(sources())
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="AUTODIFF_TEST_PROGRAMS" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_random_programs(source):
    note(source)
    run(source)
