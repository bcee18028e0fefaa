"""How the distance of two cities changes when one moves: ``geographiclib``, unmodified, beside finite differences.

``geographiclib`` solves the inverse problem of geodesics on the ellipsoid in plain Python: Newton's method with
bisection as a fallback, series kept in lists that are filled in place, results in dicts. Run it as

    AUTODIFF_MODULES=geographiclib python examples/geodesic.py
"""

from __future__ import annotations

import sys

from geographiclib.geodesic import Geodesic

import autodiff_hook

NEW_YORK = (40.6, -73.8)
LONDON = (51.6, -0.5)


def distance(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """The length of the geodesic on WGS84, in metres; latitudes and longitudes in degrees."""
    length: float = Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)["s12"]
    return length


def main() -> int:
    """Print both gradients; the exit status is 1 if they do not agree to 7 digits."""
    point = (*NEW_YORK, *LONDON)
    gradient = autodiff_hook.gradient(distance, *point)
    step, worst = 1e-4, 0.0
    print(f"distance {distance(*point) / 1000:.3f} km; metres per degree:")
    for i, name in enumerate(("lat1", "lon1", "lat2", "lon2")):
        up, down = ([x + s * (i == j) for j, x in enumerate(point)] for s in (step, -step))
        numeric = (distance(*up) - distance(*down)) / (2 * step)
        worst = max(worst, abs(gradient[i] - numeric) / abs(numeric))
        print(f"  d/d{name}  autodiff_hook {gradient[i]:16.6f}   finite differences {numeric:16.6f}")
    print(f"worst relative difference: {worst:.0e}")
    return int(worst > 1e-7)


if __name__ == "__main__":
    sys.exit(main())
