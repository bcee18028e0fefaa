"""Solvers that keep their steps while they run natively."""

from typing import NamedTuple

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, Radau
from scipy.integrate._ivp.rk import MAX_FACTOR

from autodiff_rules.scipy.integrate.explicit import use_fresh_slopes


class Taken(NamedTuple):
    """A step of an explicit method, as it was taken."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    P: np.ndarray | None
    """What makes of the slopes those of the polynomial between the ends; None if these are not enough."""
    t_old: float
    t: float
    y_old: np.ndarray
    y: np.ndarray
    f: np.ndarray
    K: np.ndarray
    free: bool
    """Whether its error was so small that the next step may be longer by as much as a step may ever be."""


class Recording:
    """A solver that appends its steps to a list."""

    def __init__(self, *args, steps, **options):
        super().__init__(*args, **options)
        self.steps = steps

    def _step_impl(self):
        start, y = self.t, self.y
        self.before()
        value = super()._step_impl()
        if value[0]:
            self.steps.append(self.taken(start, y))
        return value


class Explicit(Recording):
    """An explicit method of Runge and Kutta."""

    def before(self):
        use_fresh_slopes(self)

    def taken(self, start, y):
        between = None if isinstance(self, DOP853) else self.P
        free = self.h_abs > 0.99 * MAX_FACTOR * abs(self.t - start)
        return Taken(self.A, self.B, self.C, between, start, self.t, y, self.y, self.f, self.K, free)


class RecordedRK23(Explicit, RK23):
    pass


class RecordedRK45(Explicit, RK45):
    pass


class RecordedDOP853(Explicit, DOP853):
    pass


class Implicit(Recording):
    """Each step is what gives the states between its ends."""

    def before(self):
        pass

    def taken(self, start, y):
        self.t_old = start
        return self._dense_output_impl()


class RecordedLSODA(Implicit, LSODA):
    pass


class Between(NamedTuple):
    """A polynomial between the ends of a step, as that of LSODA: ``yh @ ((time - t) / h) ** [0, 1, …]``."""

    t: float
    h: float
    yh: np.ndarray


class OfPolynomials(Implicit):
    """What gives the states between the ends of a step is a polynomial in another form."""

    def taken(self, start, y):
        inside, h = super().taken(start, y), self.t - start
        places = np.linspace(-1.0, 0.0, self.degree() + 1)
        values = inside(self.t + places * h)
        return Between(self.t, h, np.linalg.solve(np.vander(places, increasing=True), values.T).T)


class RecordedBDF(OfPolynomials, BDF):
    def degree(self):
        return self.order


class RecordedRadau(OfPolynomials, Radau):
    def degree(self):
        return self.sol.order + 1


_RECORDED = {
    **{RK23: RecordedRK23, RK45: RecordedRK45, DOP853: RecordedDOP853},
    **{LSODA: RecordedLSODA, BDF: RecordedBDF, Radau: RecordedRadau},
}
RECORDED = _RECORDED | {method.__name__: recorded for method, recorded in _RECORDED.items()}
