"""Files of text, settings of the system and JSON that a program reads, on one way: their texts decide about the way."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib

import pytest
from specialised_cases import check, check_slopes

import autodiff_hook as ad

TABLE = "# a b\n1.5 2.0\n\n3.0 4.0"
SETTINGS = '{"powers": [1.5, 2.0, {"more": 3.0}], "name": null, "on": true, "scale": 2.5}'


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "table.txt"
    found.write_text(TABLE)
    return str(found)


def by_lines(x, path):
    total = 0.0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                a, b = map(float, line.split())
                total += (a * x - b) ** 2
    return total


def by_single_lines(x, path):
    file = open(path)
    names = file.readline().lstrip("# ").split()
    while line := file.readline():
        for name, value in zip(names, line.split()):
            x = x * float(value) if name == "a" else x + float(value)
    file.close()
    try:
        file.read()
    except ValueError:
        return x * len(names)
    return x


def by_parts(x, path):
    with open(path) as file, open(path) as other:
        head = file.read(1)
        rows = [line.split() for line in file.readlines() if line.strip()]
        count = sum(1 for _ in enumerate(other))
    return x**count * float(rows[-1][-1]) * len(head + file.name) * file.closed


def by_paths(x, path):
    folder = pathlib.Path(path).parent
    return sum(x * float(line.split()[0]) for line in (folder / "table.txt").read_text().split("\n")[1:] if line)


def by_what_is_there(x, path):
    there = pathlib.Path(path)
    if there.exists() and there.is_file() and there.parent.is_dir() and not (there.parent / "other").exists():
        x = x * x
    return x * len(there.name) * (2.0 if os.path.exists(path) else 1.0)


def by_rows(x, path):
    with open(path, newline="") as file:
        return sum(float(row[0]) * x * x for row in csv.reader(file, delimiter=" ") if row and row[0] != "#")


def by_what_memory_is(x, path):
    written, read = io.StringIO(), io.StringIO(TABLE)
    written.write("3.0")
    read.seek(read.getvalue().index("1.5"))
    return x * x * float(written.getvalue()) * float(read.read(3))


def by_what_it_is(x, path):
    with open(path) as file:
        x = x * len(file.mode)
        return x * x * file.fileno() ** 0 * len(file.encoding) ** 0 * len(type(file).__name__)


def in_memory(x, path):
    table, packed = io.StringIO(TABLE), io.BytesIO(b"1.5\n2.5")
    names = table.readline().split()[1:]
    rows = [line.split() for line in table if line.strip()]
    with packed as file:
        first, rest = file.readline(), file.read()
    source = io.StringIO("1.0 2.0 ")
    blocks = [float(block) for block in iter(lambda: source.read(4), "")]
    kinds = isinstance(packed, io.BytesIO) + isinstance(table, io.StringIO) + hasattr(table, "name")
    assert first[:-1] == b"1.5" and packed.closed
    return x * x * float(rows[1][0]) * float(rest) + len(names) * x * sum(blocks) * kinds


@pytest.mark.parametrize("f", [by_lines, by_single_lines, by_parts, by_paths, by_what_is_there, in_memory])
def test_files_that_are_read(f, path):
    check_slopes(lambda x: f(x, path), 0.7)


@pytest.mark.parametrize("f", [by_rows, by_what_it_is, by_what_memory_is])
def test_files_of_which_more_is_asked(f, path):
    check_slopes(lambda x: f(x, path), 0.7, specialised=None)


@pytest.mark.parametrize("text", ["", "1.0 2.0", "1.0 2.0\n", "# b\n\n2.0 3.0\n\n", "1.0 2.0\r\n"])
def test_files_that_become_others(text, path):
    def f(x):
        return by_lines(x, path) * x

    check_slopes(f, 0.7)
    with open(path, "w", newline="") as file:
        file.write(text)
    for _ in range(3):
        check_slopes(f, 0.7, specialised=None)


def test_files_that_come_and_go(path):
    def f(x):
        return by_what_is_there(x, path)

    for _ in range(2):
        check_slopes(f, 0.7, specialised=None)
        os.rename(path, path + ".gone")
        for _ in range(3):
            check_slopes(f, 0.7, specialised=None)
        os.rename(path + ".gone", path)


def test_files_that_are_not_there(path):
    def f(x):
        try:
            with open(path) as file:
                return x * len(file.read())
        except FileNotFoundError:
            return x * x

    check(f, 0.7)
    os.remove(path)
    for _ in range(3):
        check_slopes(f, 0.7, specialised=None)
    with open(path, "w") as file:
        file.write("abc")
    check_slopes(f, 0.7, specialised=None)


def test_files_that_are_written_meanwhile(path):
    with open(path, "w") as out:

        def f(x):
            print(x, file=out, flush=True)
            with open(path) as file:
                return x * float(file.readlines()[-1])

        for _ in range(4):
            with pytest.raises(ad.NotDifferentiable, match="print"):
                ad.gradient(f, 0.7)


def test_settings_of_json(path):
    def f(x):
        with open(path) as file:
            given = json.load(file)
        given["powers"].append(json.loads("1e0"))
        parts = [x**p if isinstance(p, float) else p["more"] * x for p in given["powers"]]
        return sum(parts) * given["scale"] if given["on"] and given["name"] is None else x

    pathlib.Path(path).write_text(SETTINGS)
    check_slopes(f, 0.7)
    pathlib.Path(path).write_text(SETTINGS.replace("2.5", "4.0").replace("null", '"b"'))
    check_slopes(f, 0.7)


def test_settings_of_the_system(monkeypatch):
    def f(x):
        return x * x * float(os.environ.get("AUTODIFF_TEST_SCALE", "2.0")) * (3.0 if "HOME" in os.environ else 1.0)

    check_slopes(f, 0.7)
    monkeypatch.setenv("AUTODIFF_TEST_SCALE", "5.0")
    check_slopes(f, 0.7)
    monkeypatch.delenv("AUTODIFF_TEST_SCALE")
    monkeypatch.delenv("HOME", raising=False)
    for _ in range(3):
        check_slopes(f, 0.7)


def test_what_can_be_read_once():
    def f(x, place):
        with open(f"/dev/fd/{place}") as file:
            return x * float(file.readline())

    for number in (2.0, 3.0, 4.0):
        there, here = os.pipe()
        os.write(here, f"{number}\n".encode())
        os.close(here)
        assert ad.gradient(f, 0.7, there)[0] == number
        os.close(there)


def test_files_that_others_keep(path):
    kept = []

    def f(x):
        kept.append(open(path))
        return x * len(kept[-1].readline())

    for _ in range(3):
        assert ad.gradient(f, 0.7) == pytest.approx((6.0,))
        assert kept[-1].readline() == "1.5 2.0\n"
    for file in kept:
        file.close()
