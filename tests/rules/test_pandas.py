"""Tables of pandas that programs ask: what they hold is constant, and asked anew at each call."""

from __future__ import annotations

import numpy as np
import pytest
from bilinear_checks import require_typed

from autodiff_hook import gradient, jvp
from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.runtime.specialising import GENERIC
from autodiff_hook.testing import check_gradient

pd = pytest.importorskip("pandas")

POINT = np.array([1.1, 0.7])


def table(count=9, shift=0.0):
    x = np.linspace(0.0, 1.0, count) + shift
    names = [("a", "b", "c")[i % 3] for i in range(count)]
    days = pd.date_range("2026-01-30", periods=count)
    return pd.DataFrame({"x": x, "y": (1.0 + x) ** 2, "name": names, "day": days, "whole": np.arange(count)})


class Fit:
    def __init__(self, data):
        self.data = data

    def misfit(self, p):
        return np.sum((self.data["x"].values * p[0] + p[1] - self.data.y.to_numpy()) ** 2)


def by_rows(p, data):
    total = 0.0
    for _, row in data.iterrows():
        total += (row["x"] * p[0] + p[1] - row["y"]) ** 2
    return total


def by_tuples(p, data):
    return sum((r.x * p[0] + p[1] - r.y) ** 2 * r.whole for r in data.itertuples())


def by_places(p, data):
    return sum(data.iloc[i]["x"] * p[0] * data.loc[i, "y"] + p[1] ** 2 for i in range(len(data)))


def by_labels(p, data):
    return sum(data.at[i, "x"] * p[0] ** 2 + p[1] for i in data.index)


def by_groups(p, data):
    return sum(np.mean(group["x"].values * p[0] + p[1]) ** 2 for _, group in data.groupby("name"))


def by_names(p, data):
    factors = {"a": p[0], "b": p[1], "c": p[0] * p[1]}
    return sum(factors[name] * x for name, x in zip(data["name"], data["x"]))


def by_days(p, data):
    days = (data["day"] - data["day"].iloc[0]).dt.days.values
    return np.sum(np.exp(-0.1 * days * p[0])) * p[1] + sum(day.month * p[0] ** 2 for day in data["day"])


def chosen(p, data):
    some = data[(data["x"] > 0.3) & data["name"].isin(["a", "b"])]
    return np.sum(some["x"].values * p[0]) * p[1] + some.shape[0] * p[0] ** 2


def of_several(p, data):
    return np.sum((data[["x", "y"]].to_numpy() @ p) ** 2)


def of_statistics(p, data):
    means = data.groupby("name")["x"].mean()
    return data["x"].mean() * p[0] ** 2 + data["y"].std() * p[1] + means["a"] * p[0] * p[1]


def of_functions(p, data):
    return np.sum(np.exp(data["x"]).values * p[0]) * p[1] + np.asarray(data["y"])[2] * p[0] ** 2


def stored(p, data):
    x = data["x"].to_numpy().copy()
    x[1:3] = p
    return np.sum(x**2)


PROGRAMS = [
    lambda p, data: Fit(data).misfit(p),
    *(by_rows, by_tuples, by_places, by_labels, by_groups, by_names, by_days, chosen, of_several, of_statistics),
    *(of_functions, stored),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_tables_that_are_captured_and_tables_that_are_given(program):
    data, fit = table(), Fit(table())
    for point in (POINT, POINT[::-1].copy(), 2.0 * POINT):
        check_gradient(lambda p: program(p, data), point)
        check_gradient(lambda p: program(p, fit.data), point)
        expected = gradient(lambda p: program(p, data), point)[0]
        for each in (table(), table(), table(shift=1.0), table(7)):
            expected = gradient(lambda p, each=each: program(p, each), point)[0]
            assert gradient(program, point, each)[0] == pytest.approx(expected)


@pytest.mark.skipif(GENERIC, reason="nothing is typed")
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_ask_a_table_are_typed(program):
    data = table()
    require_typed(lambda p: program(p, data), POINT)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_table_that_is_changed_between_calls_is_asked_anew(program):
    data = table()

    def f(p):
        return program(p, data)

    def change(data, step):
        if step == 1:
            data["x"] = data["x"] * 2.0
        if step == 2:
            data.loc[3, "name"] = "a"
        if step == 3:
            data["x"] = np.arange(len(data))
        if step == 4:
            data.loc[len(data)] = data.iloc[2]

    for step in range(6):
        change(data, step)
        fresh = table()
        for i in range(step + 1):
            change(fresh, i)
        value, expected = program(POINT, fresh), gradient(lambda p, fresh=fresh: program(p, fresh), POINT)[0]
        assert f(POINT) == pytest.approx(value)
        assert gradient(f, POINT)[0] == pytest.approx(expected)
        assert jvp(f, (POINT,), (POINT,))[1] == pytest.approx(expected @ POINT)


def test_a_table_that_shows_an_array_which_the_program_changes():
    def f(p, x, data):
        x[0, 0] = p * p
        return np.sum(data["a"].values)

    for p in (1.5, 2.5, 3.5):
        x = np.ones((3, 2))
        data = pd.DataFrame(x, columns=["a", "b"], copy=False)
        if not np.shares_memory(x, data.values):
            pytest.skip("this pandas has a copy")
        try:
            found = gradient(f, p, x, data)[0]
        except NotDifferentiable:
            continue
        assert found == pytest.approx(2.0 * p)


def test_methods_of_tables_that_derivatives_flow_into_are_an_error():
    data = table()
    for f in (
        lambda p: float((data["x"] * p[0]).sum()),
        lambda p: float(pd.Series(p * 2.0).sum()),
        lambda p: float(pd.DataFrame({"a": p})["a"].sum()),
        lambda p: float(data["x"].apply(lambda x: x * p[0]).sum()),
    ):
        with pytest.raises(NotDifferentiable, match="not opted in"):
            gradient(f, POINT)


def test_what_a_table_does_not_have_is_the_error_of_pandas():
    data = table()
    with pytest.raises(KeyError, match="nothing"):
        gradient(lambda p: data["nothing"].values[0] * p[0], POINT)
    with pytest.raises(AttributeError, match="nothing"):
        gradient(lambda p: data.nothing.values[0] * p[0], POINT)

    def handled(p):
        try:
            return data["nothing"].values[0] * p[0]
        except KeyError:
            return data["x"].values[2] * p[1]

    for _ in range(3):
        check_gradient(handled, POINT)
    data["nothing"] = 5.0
    check_gradient(handled, POINT)
