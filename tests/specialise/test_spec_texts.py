"""Texts that programs for all ways take apart: what they are made of, and what they say, has no derivative."""

from __future__ import annotations

import math
import re
from operator import itemgetter

import numpy as np
import pytest
from specialised_cases import check, check_all_ways, check_raises

import autodiff_hook as ad

NETWORK = """
R1 in a 1k
R2 a b 0.22
R3 b out 3.3k
"""
SUFFIXES = {"k": 2.0, "m": 0.5}
REACTIONS = {"A + B -> C": "fast", "C -> A": "slow"}


def parsed(x, y):
    total = x
    for line in NETWORK.strip().splitlines():
        name, start, end, text = line.split()
        value = float(text[:-1]) * SUFFIXES[text[-1]] if text[-1] in SUFFIXES else float(text)
        total += math.sin(total) * value * (y if name.endswith("2") else x) + len(start + end)
    return total


def reactions(x, y):
    rates, found = {"fast": x, "slow": x * y}, []
    for text, key in REACTIONS.items():
        left, right = text.split("->")
        found.append(([s.strip() for s in left.split("+")], [s.strip() for s in right.split("+")], rates[key]))
    amounts = {s: 1.0 + len(s) for used, made, _ in found for s in used + made}
    for _ in range(3):
        for used, made, rate in found:
            flow = rate
            for s in used:
                flow *= amounts[s]
            for s in used:
                amounts[s] -= 0.01 * flow
            for s in made:
                amounts[s] += 0.01 * flow
    return sum(amounts.values()) * y


def in_parts(x, y):
    total = 0.0
    for text in ["a=1.5", "b=2.5;c", "d"]:
        name, found, value = text.partition("=")
        total += len(name) * x + (len(found) + len(value.rpartition(";")[2])) * y
    return total + sum(float(v) for v in "1 2,3 4".replace(",", " ").rsplit(" ", 2)[1:]) * x


def put_together(x, y):
    words, total = [], 0.0
    for k in range(5):
        words.append(f"{'ab'[k % 2]}{k:02d}")
    for word in ",".join(words).split(","):
        total = total * 0.5 + (x if word.startswith("a") else y) * int(word[1:])
    parts = "p q".split()
    parts.append("r")
    return total + len(parts) * x * y


SPACES = re.compile(r"\s+")
LINE = re.compile(r"(\w+)\s*=\s*([\d.]+)")
TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([A-Za-z_]\w*)|(.))")


def found_by_patterns(x, y):
    total = x
    for line in "a = 1.5\nbb=2\n# c\nd = 3".splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        total += float(match.group(2)) * x * len(match.group(1)) + match.start()
    for number, name, sign in TOKEN.findall("a*2.5 + b"):
        total += float(number) * y if number else len(name) * x - len(sign)
    for match in re.finditer(r"\d", "1 2 3"):
        total += int(match.group()) * y
    rates = {match.group(1): float(match.group(2)) for match in re.finditer(r"([a-z])(\d)", "x1 y2")}
    total += rates["x"] * x * rates["y"]
    return total + len(SPACES.sub("", "a b")) * y


def substituted_by_a_text(x, y):
    return len(re.sub(r"\s+", "", "a b")) * x * y


def test_patterns_that_are_texts_are_right_where_they_are_not_typed():
    # From 3.13 on, re.sub has default values of which it asks what they are.
    check(substituted_by_a_text, 0.7, 1.3, specialised=None)


@pytest.mark.parametrize("f", [found_by_patterns, parsed, reactions, in_parts, put_together])
def test_texts_are_taken_apart(f):
    check_all_ways(f, 0.7, 1.3)
    check_all_ways(f, 1.1, 0.4)


def of_a_given_text(text, x):
    total = x
    for word in text.split():
        total += math.sin(total) * float(word)
    return total


def with_patterns(text, x):
    total = x
    for number, name, sign in TOKEN.findall(text):
        total += float(number) * x if number else math.sin(total) * len(name) - len(sign)
    for part in re.split(r"[+*]", text):
        total += len(part.strip()) * x
    return total + len(re.sub(r"\s+", "", text)) * x


def test_patterns_in_a_text_that_is_given():
    for text in ("a*2.5 + b", "", "3"):
        check(with_patterns, text, 0.7)


def test_attributes_whose_names_are_put_together():
    check_all_ways(named_by_a_text, 0.7, 0.4)


def test_a_text_that_is_given():
    for text in ("1 2", "", "3 4 5"):
        check(of_a_given_text, text, 0.7)


def named_by_a_text(x, y):
    total, kinds = x, ("sin", "cos")
    for _ in range(3):
        total = rounded(kinds[1], 1)(total) * y + rounded("sin", 0)(x)
    return total


def rounded(kind, number):
    return getattr(math, f"a{kind}" if number > 1 else f"{kind}{'h' * number!s}")


def by_another_name_later(x, y):
    name, get, total = OTHERS[0] or "cos", itemgetter(0), 0.0
    for _ in range(2):
        total += getattr(math, name)(x) * get((x, y, 3.0))
        name, get = "tan", itemgetter(1)
    return total


OTHERS = ["sin", "exp"]


def test_what_is_known_of_a_name_is_known_of_its_first_value_only():
    check(by_another_name_later, 0.7, 0.4, specialised=None)


def too_few(x):
    for line in ["a b", "c"]:
        first, second = line.split()
        x *= len(first + second)
    return x


def no_separator(x):
    return x * len("ab".split(""))


def not_found(x):
    return x * "ab".index("c")


@pytest.mark.parametrize("f", [too_few, no_separator, not_found])
def test_errors_are_those_of_the_plain_call(f):
    check_raises(f, 0.7)


NAMES = np.array(["a", "b", "c"])
WEIGHTS = {"a": 2.0, "b": 3.0, "c": 4.0}


def by_names_in_an_array(x, y):
    total = 0.0
    for i, name in enumerate(NAMES):
        if name == "a":
            total += x * i
        elif name in ("b", "z") or name.startswith("c"):
            total += y * WEIGHTS[name]
    return total + (x if NAMES[1] != "b" else y * y)


def by_a_mask_of_names(x, y):
    values = np.array([x, y, x * y])
    return np.sum(values[NAMES == "a"]) + np.sum(np.where(NAMES != "b", values, values**2))


def by_each_name(x, y):
    values = np.array([x, y, x * y])
    return sum(np.sum(values[NAMES == name]) ** 2 for name in np.unique(NAMES))


@pytest.mark.parametrize("f", [by_names_in_an_array, by_a_mask_of_names, by_each_name])
def test_arrays_of_texts(f):
    check_all_ways(f, 0.7, 1.3)


def test_arrays_of_texts_that_become_arrays_of_numbers(monkeypatch):
    def f(x):
        return sum(x * (2.0 if NAMES[i] == "a" else 3.0 if type(NAMES[i]) is np.str_ else NAMES[i]) for i in range(2))

    for names, slope in ((["a", "b"], 5.0), ([1.0, 2.0], 3.0), (["b", "b"], 6.0), (["a", "longer"], 5.0)):
        monkeypatch.setitem(globals(), "NAMES", np.array(names))
        for _ in range(3):
            assert ad.gradient(f, 0.7) == (pytest.approx(slope),)


def by_a_pattern_that_nobody_has_asked_for(x, words=("A1", "3.5", "B2")):
    total = 0.0
    for i, word in enumerate(words):
        total += x * i if re.match(r"[A-F]\d", word) else float(word) * x * x
    return total


def test_patterns_are_made_with_the_program():
    re.purge()
    check_all_ways(by_a_pattern_that_nobody_has_asked_for, 0.7)
