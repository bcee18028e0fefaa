"""Regular expressions, on one way: what is found in texts decides about the way, and carries no derivative."""

from __future__ import annotations

import re

import pytest
from specialised_cases import check_slopes, is_specialised

import autodiff_hook as ad

NUMBER = re.compile(r"(?P<digits>\d+)(\w*)")


class Named:
    """Counts its objects, so that each has another name."""

    made = 0

    def __init__(self, x, name=None):
        if name is None:
            name = f"thing[{Named.made}]"
            Named.made += 1
        self.x, self.name = x, name
        self.x = 2.0 * x


def matched(x, text="12ab"):
    found = NUMBER.match(Named(x, text).name)
    return x * int(found.group("digits")) + (x * x if found[2] == "ab" else 0.0)


def searched(x, text="a1 b22"):
    values = [int(v) for v, _ in re.findall(NUMBER, Named(x, text).name)]
    return x * sum(values) + x * x * len(re.split(r"\s", text))


def replaced(x):
    text = Named(x, re.sub(r"\d", "", "a1b2")).name
    return x * len(text) if re.fullmatch("ab", text) and not re.search("z", text) else x * x


def names(x):
    found = re.match(r"thing\[\d+\]", Named(x).name)
    return x * x if found is not None and found.group().startswith("thing") else x


@pytest.mark.parametrize("f", [matched, searched, replaced], ids=lambda f: f.__name__)
def test_regular_expressions(f):
    check_slopes(f, 0.7)


def test_texts_that_are_others_each_time():
    for _ in range(4):
        assert ad.gradient(names, 0.7) == pytest.approx((1.4,))
    assert is_specialised(names)


def test_texts_are_guarded():
    f = lambda text: ad.gradient(lambda x: matched(x, text), 0.5)[0]  # noqa: E731
    assert [f(text) for text in ("12ab", "7ab", "7cd", "12ab")] == [13.0, 8.0, 7.0, 13.0]
