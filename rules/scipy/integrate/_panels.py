"""The derivative of a flow along a path that is known: panels of a few steps of its solver, each taken as one step of
an implicit method of Radau, whose order is above that of the solver.

The right-hand side is followed at all stages by one program. A sweep of that gives one row of its Jacobian at each of
them; with these, the cotangents of the slopes are found panel by panel, and one last sweep takes them back.
"""

from functools import partial, reduce

import numpy as np

from autodiff_hook.runtime.cotangents import accumulate
from autodiff_rules.scipy._callbacks import Program
from autodiff_rules.scipy.integrate._collocation import between, of_gap, radau
from autodiff_rules.scipy.integrate._free_steps import Resolved

WIDEST = 16
"""How many steps of a solver a panel may have; halved until the stages satisfy the equations of one step."""

HELD = 10**7
"""How many numbers the Jacobians have that are held at once."""


class Path:
    """Steps of an implicit method: where they end, and the states there and between."""

    def __init__(self, start, y, steps):
        self.ends = np.array([start, *(step.t for step in steps)])
        self.direction = np.sign(self.ends[-1] - start)
        orders = [step.yh.shape[1] - 1 for step in steps]
        self.order, self.lengths = max(orders), np.array([step.h for step in steps])
        self.scaled = np.zeros((len(steps), len(y), self.order + 1))
        for held, step in zip(self.scaled, steps):
            held[:, : step.yh.shape[1]] = step.yh
        self.states = np.concatenate([y[None], self.scaled[:, :, 0]])

    def at(self, times):
        """The states at times."""
        step = self.interval(times, self.ends)
        powers = ((times - self.ends[step + 1]) / self.lengths[step])[:, None] ** np.arange(self.order + 1)
        return (self.scaled[step] @ powers[:, :, None])[:, :, 0]

    def interval(self, times, ends):
        """Which of the intervals between ``ends`` has each time; an end belongs to the one before it."""
        return np.minimum(np.searchsorted(self.direction * ends[1:], self.direction * times), len(ends) - 2)


class Panels:
    """Panels of a path between times, and the stages within them."""

    def __init__(self, path, starts, ends):
        self.path, self.bounds, self.lengths = path, np.append(starts, ends[-1]), ends - starts
        self.nodes, self.matrix = radau((path.order + 3) // 2 + 1)
        self.times = starts[:, None] + self.nodes * self.lengths[:, None]
        self.times[:, -1] = ends
        self.starts = np.where((starts == path.ends[0])[:, None], path.states[0], path.at(starts))
        self.stages = path.at(self.times.ravel()).reshape(*self.times.shape, -1)

    def gaps(self, fun):
        """What is 0 for the stages of each panel, if they are those of a step."""
        slopes = [[fun(time, y) for time, y in zip(*panel)] for panel in zip(self.times.tolist(), self.stages)]
        slopes = np.reshape(slopes, self.stages.shape)
        return self.stages - self.starts[:, None] - self.lengths[:, None, None] * (self.matrix @ slopes)

    def outputs(self, times):
        """The panel of each time, and its weights of the start and of the stages there."""
        panel = self.path.interval(times, self.bounds)
        places = (times - self.bounds[panel]) / self.lengths[panel]
        return panel, places[:, None] ** np.arange(len(self.nodes) + 1) @ between(self.nodes)


def resolving(path, fun, rtol, atol):
    """The times between which panels are as wide as the solver's accuracy allows."""
    count = len(path.ends) - 1
    waiting = [(first, min(first + WIDEST, count)) for first in range(0, count, WIDEST)]
    done = []
    while waiting:
        done += [(first, last) for first, last in waiting if last - first == 1]
        wide = [(first, last) for first, last in waiting if last - first > 1]
        waiting = []
        if wide:
            panels = Panels(path, *path.ends[np.transpose(wide)])
            # The errors of the steps add up.
            allowed = (atol + rtol * np.max(np.abs(panels.stages), axis=1)) * np.diff(wide)
            fits = np.all(np.abs(panels.gaps(fun)) <= allowed[:, None], axis=(1, 2))
            for (first, last), fit in zip(wide, fits):
                middle = (first + last) // 2
                (done if fit else waiting).extend([(first, last)] if fit else [(first, middle), (middle, last)])
    return path.ends[[0, *sorted(last for _, last in done)]]


def slopes_of(states, fun, args, times, tfirst):
    slopes = np.empty(states.shape)
    for j, y in enumerate(states):
        slopes[j] = fun(times[j], y, *args) if tfirst else fun(y, times[j], *args)
    return slopes


def flow(call, path, bounds, times, tfirst):
    """The pullback of states at ``times`` along a path: by the first state, and by all that a right-hand side has.

    A solver takes wide steps where the states hardly move, though their derivatives may. So the panels, between
    ``bounds``, are compared with wider ones, and halved until the cotangents agree.
    """
    return resolved(call, partial(Sweep, call, path, times, tfirst), bounds)


def resolved(call, along, bounds):
    """What ``along`` makes over panels between ``bounds``, which are halved until it agrees with wider ones."""
    wider = bounds[[*range(0, len(bounds) - 1, 2), -1]] if len(bounds) > 2 else None
    return Resolved(call.name, along, bounds, halved, wider)


def halved(bounds):
    found = np.repeat(bounds, 2)[:-1]
    found[1::2] = (bounds[1:] + bounds[:-1]) / 2
    return found


class Sweep:
    """The pullback along a path by its panels between ``bounds``."""

    def __init__(self, call, path, times, tfirst, bounds):
        self.panels = panels = Panels(path, bounds[:-1], bounds[1:])
        self.outputs = panels.outputs(times)
        count, n = panels.times.shape[1], panels.starts.shape[1]
        size = max(1, HELD // (count * n * n))
        self.parts = [slice(at, at + size) for at in range(0, len(panels.lengths), size)]
        states, times = panels.stages.reshape(-1, n), panels.times.ravel()
        self.programs = [
            Program(call, slopes_of, states[rows].copy(), (times[rows].tolist(), tfirst))
            for rows in (slice(part.start * count, part.stop * count) for part in self.parts)
        ]

    def __call__(self, cotangent):
        panels, (panel, weights) = self.panels, self.outputs
        _, count, n = panels.stages.shape
        given = np.zeros((len(panels.lengths), count + 1, n))
        np.add.at(given, panel, weights[:, :, None] * cotangent[:, None])
        moving, found = np.zeros(n), []
        for part, program in zip(reversed(self.parts), reversed(self.programs)):
            slopes = self.jacobians(program, n).reshape(-1, count, n, n)
            seeds = np.empty(slopes.shape[:3])
            for i in range(len(slopes) - 1, -1, -1):
                at = part.start + i
                given[at, -1] += moving
                of_stages = given[at, 1:].ravel()
                weights = panels.lengths[at] * panels.matrix
                gap = np.linalg.solve(of_gap(slopes[i], weights).T, of_stages).reshape(count, n)
                moving, seeds[i] = given[at, 0] + gap.sum(axis=0), weights.T @ gap
            found.append(program.back(seeds.reshape(-1, n))[1:])
        return moving, *(reduce(accumulate, column) for column in zip(*found))

    @staticmethod
    def jacobians(program, n):
        """The Jacobians of the right-hand side at all states of a program."""
        rows = []
        for k in range(n):
            seed = np.zeros(program.value.shape)
            seed[:, k] = 1.0
            row = program.back(seed)[0]
            rows.append(np.zeros_like(seed) if row is None else row)
        return np.stack(rows, axis=1)
