"""Parts around the loops of a function that is carried for one statement: they are typed."""

from __future__ import annotations

import ast
import math
import os
import random
import sys
import threading
from unittest.mock import patch

import numpy as np
import pytest
import random_exceptions
import random_iterations
import random_outside
import random_stores
import random_values
from specialised_cases import GENERIC, close, oracle, outcome

import autodiff_hook as ad
from autodiff_hook import reports
from autodiff_hook.runtime import specialising, splitting

pytestmark = pytest.mark.skipif(GENERIC, reason="there are no specialised programs")

COUNT = int(os.environ.get("AUTODIFF_TEST_PROGRAMS", "4"))
FIRST = int(os.environ.get("AUTODIFF_TEST_SEED", "0"))
LOCK = threading.Lock()
WEIGHTS = [0.5, 1.5, 2.5]


class Model:
    def __init__(self, k):
        self.k, self.lock = k, threading.Lock()

    def run(self, x):
        self.lock.acquire()
        self.lock.release()
        s = 0.0
        for i in range(60):
            s += math.sin(x * i) * self.k
        return s


def behind(x):
    LOCK.locked()
    s = 0.0
    for i in range(60):
        s = s * 0.9 + math.sin(x * i) * x
    return s


def between(x):
    s, t = 0.0, 1.0
    for i in range(60):
        s = s * 0.9 + math.sin(x * i) * x
        t *= 1.0 + 0.01 * s
    LOCK.locked()
    for i in range(60):
        s = s * 0.9 + math.cos(x * i) * t
    return s


def filled(x):
    values, table = [], {}
    LOCK.locked()
    for i in range(60):
        values.append(math.sin(x * i) * x)
        table["last"] = values[-1]
    return sum(values) * table["last"]


def returning(x):
    LOCK.locked()
    s = x
    for i in range(60):
        s = s * 0.99 + math.sin(x * i)
        if s > 40.0:
            return s * 2.0
    if s < 0.2:
        return s * s
    return s


def in_a_loop(x):
    s = 0.0
    for _ in range(3):
        LOCK.locked()
        for i in range(40):
            s = s * 0.9 + math.sin(x * i) * x
        s = s * s
    return s


def captured(x):
    scale, offset = x * 2.0, 0.0
    LOCK.locked()

    def shifted(v):
        return v * scale + offset

    for i in range(60):
        offset = math.sin(scale * i)
        scale = scale * 0.99
    return shifted(x)


def with_weights(x):
    LOCK.locked()
    s = 0.0
    for _ in range(30):
        for w in WEIGHTS:
            s = s * 0.9 + math.sin(x * w)
    return s


def arrays(x):
    a = np.linspace(0.0, 1.0, 5) * x
    LOCK.locked()
    for _ in range(60):
        a = a + 0.01 * np.sin(a)
    LOCK.locked()
    return float(a.sum())


def tried(x):
    s = 0.0
    try:
        LOCK.acquire()
        for i in range(60):
            t = math.sin(x * i) * x
        s = t + x
    finally:
        LOCK.release()
    return s


def method(x):
    return Model(0.5).run(x)


def with_numbers_of_a_file(x):
    with open(os.devnull, "w") as file:
        file.write("nothing")
    s = 0.0
    for i in range(60):
        s = s * 0.9 + math.sin(x * i) * x
    return s


@pytest.mark.parametrize(
    "f",
    [
        behind,
        between,
        filled,
        returning,
        in_a_loop,
        with_weights,
        arrays,
        tried,
        method,
        with_numbers_of_a_file,
    ],
)
def test_loops_beside_a_statement_that_is_carried_are_typed(f):
    with reports.collecting() as told:
        for x in (0.7, 0.3, 0.9, 0.7, 0.1, 0.2, 0.4):
            _, expected = oracle(f, x)
            close(ad.gradient(f, x), expected)
            close(ad.withgradient(f, x)[0], f(x))
    name = Model.run.__qualname__ if f is method else f.__qualname__
    assert any(report.kind == "typed" and report.what == "apart" and report.name == name for report in told)


def test_what_is_captured_and_assigned_is_carried():
    for x in (0.7, 0.3, 0.9, 0.7, 0.1, 0.2, 0.4):
        close(ad.gradient(captured, x), oracle(captured, x)[1])


def test_a_part_that_is_not_given_is_not_taken_for_something_else():
    class Held:
        def __init__(self, x):
            self.x, self.stream = x, sys.stdout

        def run(self):
            self.stream.flush()
            s = 0.0
            for i in range(60):
                s += math.sin(self.x * i) * (2.0 if self.stream is sys.stdout else 1.0)
            return s

    def f(x):
        return Held(x).run()

    for x in (0.7, 0.3, 0.9, 0.7, 0.1):
        close(ad.withgradient(f, x), oracle(f, x))


def test_an_error_names_its_line():
    def f(x):
        LOCK.locked()
        s = 0.0
        for i in range(60):
            s += math.sin(x * i) / (x - 0.5)
        return s

    for x in (0.7, 0.3, 0.9, 0.8):
        ad.gradient(f, x)
    with pytest.raises(ZeroDivisionError) as found:
        ad.gradient(f, 0.5)
    assert found.traceback[-1].lineno == f.__code__.co_firstlineno + 3


def test_explain_says_which_lines_are_typed():
    with patch.object(splitting, "_WORTH", 0), patch.object(splitting, "_LEAST", 0):
        carried, *_ = ad.explain(behind, 0.7).functions
    assert [line.how for line in carried.lines] == ["carried", "carried", "typed", "typed", "typed"]


ODD = ["sys.getswitchinterval()", "LOCK.locked()", "odd = sys.getswitchinterval() * 0.0"]
WRITERS = {
    "outside": lambda seed: random_outside.Writer(seed).source(),
    "exceptions": lambda seed: random_exceptions.Writer(seed).source(),
    "iterations": lambda seed: random_iterations.Writer(seed).source(),
    "stores": lambda seed: random_stores.Writer(seed).source(),
    "values": lambda seed: random_values.Writer(seed).program(),
}


class Adding(ast.NodeVisitor):
    """Puts statements that no typed program understands between those of functions."""

    def __init__(self, choice, share):
        self.choice, self.share = choice, share

    def visit_ClassDef(self, node):
        pass

    def generic_visit(self, node):
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, [])
            if isinstance(node, ast.Module) or not isinstance(body, list):
                continue
            for place in reversed(range(len(body))):
                if not isinstance(body[place], (ast.Global, ast.Nonlocal)) and self.choice.random() < self.share:
                    body[place:place] = ast.parse(self.choice.choice(ODD)).body


def made(source):
    namespace = {"__name__": "random_regions", "math": math, "np": np, "sys": sys, "LOCK": LOCK}
    exec(compile(source, "<program>", "exec"), namespace)
    return namespace


@pytest.mark.skipif(specialising.ONE_WAY, reason="nothing is typed for all ways")
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_programs(seed, kind):
    """With statements that do nothing, values, derivatives and what is left outside are what they are without."""
    source, choice = WRITERS[kind](seed), random.Random(seed)
    tree = ast.parse(source)
    Adding(choice, choice.choice([0.05, 0.15, 0.3])).visit(tree)
    plain, odd = made(source), made(ast.unparse(tree))
    with patch.object(splitting, "_WORTH", 1), patch.object(splitting, "_LEAST", 0):
        for _ in range(6):
            args = choice.uniform(0.1, 0.9), choice.uniform(0.1, 0.9)
            expected, found = outcome(oracle, plain["f"], *args), outcome(ad.withgradient, odd["f"], *args)
            if isinstance(expected, type):
                assert found is expected
            else:
                close(found, expected)
            if "state" in plain:
                assert plain["state"]() == odd["state"]()
