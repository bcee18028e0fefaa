"""Regular expressions, dates and times, on one way: what is found decides about the way, and carries no derivative."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pytest
from specialised_cases import check_slopes, is_specialised, slopes

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


TABLE = str.maketrans({"a": "1", "b": None, "c": ord("2")})
BLANK = re.compile(rb"^[ \t]*(?:[#\r\n]|$)")


def translated(x):
    made = {ord("1"): "3"}
    return x * x * float("abac".translate(TABLE)) + x * int("1".translate(made))


def in_bytes(x):
    line, count = b"ab # c", b"12"[:1]
    return x * x * int(count) if not BLANK.match(line) and BLANK.match(line[3:]) else x


@pytest.mark.parametrize("f", [matched, searched, replaced, translated, in_bytes], ids=lambda f: f.__name__)
def test_regular_expressions(f):
    check_slopes(f, 0.7)


def rounded_by_texts(x):
    kept = Named(x, "n")
    kept.count = len(np.atleast_1d(np.ones(3))) + (kept.name == "n")
    level = float(f"{kept.count / 10:.6f}")
    return x * x * level if level <= 0.45 and int(str(kept.count)) > 3 else x


def test_what_is_read_out_of_a_text_that_a_program_writes_decides_about_the_way():
    for x in (0.7, 0.8, 0.7):
        check_slopes(rounded_by_texts, x)
    points = lambda a, s: np.sum(a * a) * (s if float(f"{a.shape[0] / 10:.6f}") <= 0.35 else 1.0)  # noqa: E731
    for count in (4, 3, 4, 3, 4, 3):
        assert ad.gradient(points, np.ones(count), 3.0)[0] == pytest.approx([6.0 if count == 3 else 2.0] * count)
    assert is_specialised(points)


def test_texts_that_are_others_each_time():
    for _ in range(4):
        assert ad.gradient(names, 0.7) == pytest.approx((1.4,))
    assert is_specialised(names)


def test_texts_are_guarded():
    f = lambda text: ad.gradient(lambda x: matched(x, text), 0.5)[0]  # noqa: E731
    assert [f(text) for text in ("12ab", "7ab", "7cd", "12ab")] == [13.0, 8.0, 7.0, 13.0]


UTC = datetime.UTC
NOON = datetime.datetime(2020, 5, 3, 12, tzinfo=UTC)


class Sky:
    def __init__(self, when, x):
        self.when, self.x = when, x
        self.x = 2.0 * x

    def days(self):
        since = self.when - NOON
        return since.total_seconds() / 86400.0 + since.days * 0.5


def daylight(x, when):
    sky = Sky(when, x)
    at, hour = when.time(), when.hour
    zone = when.utcoffset()
    early = sky.when.replace(month=2, day=1) + datetime.timedelta(hours=1.5) < when
    total = sky.days() * sky.x + at.minute * x + (x * x if early and when.tzinfo is not None else x)
    total += len(when.isoformat()) * (0.0 if zone is None else zone.total_seconds()) + sky.when.timetuple().tm_yday
    return total * sky.x * hour * (1.0 if hasattr(when, "shape") else 2.0)


MOMENTS = [
    NOON + datetime.timedelta(days=1, minutes=7),
    datetime.datetime(2021, 7, 3, 11, 21, tzinfo=UTC),
    datetime.datetime(2021, 1, 3, 11, 21, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    datetime.datetime(2021, 8, 3, 9, 21, tzinfo=UTC),
]


def test_dates_and_times():
    for when in MOMENTS:
        f = lambda x, when=when: daylight(x, when)  # noqa: E731
        check_slopes(f, 0.7)
    for when in MOMENTS * 2:
        assert ad.gradient(daylight, 0.7, when)[0] == pytest.approx(slopes(lambda x, w=when: daylight(x, w), 0.7)[0])


def since_noon(when):
    return (when - NOON).total_seconds()


def read_from_text(x, text, form):
    parsed, day = datetime.datetime.strptime(text, form), datetime.date.fromisoformat("2020-05-04")
    sky = Sky(parsed.replace(tzinfo=UTC), x)
    return sky.x * (sky.days() + day.timetuple().tm_yday) * sky.x


def asked_of_the_clock(x):
    sky = Sky(datetime.datetime.now(UTC), x)
    near = abs(sky.when.date() - datetime.date.today()).days < 2 and sky.when.timestamp() > 0.0
    return sky.x * since_noon(sky.when) + (x if near else x * x)


def of_whole_numbers(x, hours):
    try:
        day = datetime.date(2021, 2, int(10.0 * x))
    except ValueError:
        return x * x
    when = datetime.datetime(day.year, day.month, day.day, int(x)) + datetime.timedelta(hours=hours)
    return x * (day - datetime.date(2020, 1, 1)).days + x * when.timetuple().tm_yday * when.hour


def test_dates_that_are_made_of_whole_numbers():
    for hours in (1.5, 30.0, 2):
        for x in (0.75, 1.31, 2.75, 3.2, 0.05):
            check_slopes(lambda x, hours=hours: of_whole_numbers(x, hours), x)


def test_dates_that_are_made_of_what_is_differentiated():
    def by_number(n, x):
        return x * datetime.date(2021, 2, n).toordinal()

    def by_seconds(x):
        return datetime.timedelta(seconds=x).total_seconds()

    for _ in range(3):
        for f, *args in ((by_number, 3, 2.0), (by_seconds, 2.5)):
            with pytest.raises(ad.NotDifferentiable, match="the call of datetime"):
                ad.gradient(f, *args)


def test_dates_that_are_read_from_text():
    for text, form in (("2020-05-06", "%Y-%m-%d"), ("7.5.2020 3", "%d.%m.%Y %H"), ("2020-05-08", "%Y-%m-%d")):
        check_slopes(lambda x, text=text, form=form: read_from_text(x, text, form), 0.7)
    with pytest.raises(ValueError, match="does not match format"):
        ad.gradient(read_from_text, 0.7, "2020", "%Y-%m-%d")


def test_the_clock_is_asked_each_time():
    for _ in range(3):
        before = since_noon(datetime.datetime.now(UTC))
        (slope,) = ad.gradient(asked_of_the_clock, 0.7)
        assert 2.0 * before <= slope - 1.0 <= 2.0 * since_noon(datetime.datetime.now(UTC))
    assert is_specialised(asked_of_the_clock)


def test_times_that_carry_derivatives():
    with pytest.raises(ad.NotDifferentiable, match="timedelta"):
        ad.gradient(lambda x: Sky(NOON + datetime.timedelta(hours=x), x).days(), 0.7)
    with pytest.raises(ad.NotDifferentiable, match="timedelta"):
        ad.gradient(lambda x, n: Sky(NOON + datetime.timedelta(n), x).days(), 0.7, 2)


def test_times_that_are_missing():
    with pytest.raises(TypeError, match="offset-naive"):
        ad.gradient(daylight, 0.7, datetime.datetime(2021, 1, 3))


WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])


class Labelled:
    def __init__(self, x):
        self.labels, self.days, self.x = LABELS, DAYS, x
        self.x = 2.0 * x

    def chosen(self):
        mine = self.labels.copy()
        return np.sum(WEIGHTS[: len(mine)][mine == "a"] * self.x) + np.sum(np.isin(mine, ["c", "bb"]) * self.x**2)

    def first(self):
        return self.x * len(self.labels[1]) + (self.x**2 if self.labels[0] == "a" else 1.0) * self.labels.size

    def by_shape(self):
        return self.x * self.labels.shape[0] * self.days.shape[0] + self.x**2 * len(self.days)

    def listed(self):
        return sum(self.x * len(name) for name in self.labels.tolist()) + (self.x**2 if "bb" in self.labels else 0.0)


LABELS = np.array(["a", "bb", "a", "c"])
DAYS = np.array(["2020-01-01", "2020-02-01", "2020-03-01", "2020-05-01"], dtype="datetime64[D]")


@pytest.mark.parametrize("ask", [Labelled.chosen, Labelled.first, Labelled.by_shape, Labelled.listed])
def test_arrays_of_texts_and_dates(ask, monkeypatch):
    f = lambda x: ask(Labelled(x))  # noqa: E731
    check_slopes(f, 0.7)
    before = LABELS.copy()
    for labels in (["c", "a", "bb", "a"], ["bb", "c", "c", "bb"], before):
        LABELS[:] = labels
        check_slopes(f, 0.7, specialised=None)
    for some in (slice(2), slice(None, None, -1), slice(1, None)):
        monkeypatch.setitem(globals(), "LABELS", before[some])
        monkeypatch.setitem(globals(), "DAYS", DAYS[::-1][some])
        check_slopes(f, 0.7, specialised=None)
        monkeypatch.undo()


def by_day(x, day, gone=0):
    """Dates and what lies between them are keys; a date is counted on in place."""
    flow, since, level, start = {}, {datetime.timedelta(2): 3.0, datetime.timedelta(4): 5.0}, x, day
    for i in range(6):
        level = 0.9 * level + (x if day.weekday() < 5 else x * x)
        flow[day] = level + since.get(day - start, 0.0) * x
        day += datetime.timedelta(days=1 + (i == gone))
    monthly = {}
    for when, value in flow.items():
        monthly.setdefault((when.year, when.month), []).append(value)
    late = sum(v for when, v in flow.items() if when >= start + datetime.timedelta(3))
    return late + max(sum(v) / len(v) for v in monthly.values())


def test_dates_as_keys():
    days = [datetime.date(2021, 2, 26), datetime.date(2021, 3, 6), datetime.date(2021, 2, 25)]
    for day in (*days, *days):
        for gone in (0, 3):
            check_slopes(lambda x, day=day, gone=gone: by_day(x, day, gone), 0.7)
            expected = slopes(lambda x, day=day, gone=gone: by_day(x, day, gone), 0.7)[0]
            assert ad.gradient(by_day, 0.7, day, gone)[0] == pytest.approx(expected)
    assert is_specialised(by_day)
