"""
A ship and four stations
========================

Four stations on the coast have measured how far away a ship is, along the ellipsoid of the Earth. Where is it? The
distances come from ``geographiclib``, a package that knows nothing of derivatives: Newton's method with bisection as a
fallback, series in lists that are filled in place, results in dicts. It is opted in by name.
"""

import matplotlib.pyplot as plt
import numpy as np
from geographiclib.geodesic import Geodesic

import autodiff_hook as ad

ad.install("geographiclib")

STATIONS = {"Lisbon": (38.72, -9.14), "Brest": (48.39, -4.49), "Reykjavik": (64.15, -21.94), "Halifax": (44.65, -63.57)}
rng = np.random.default_rng(0)
sigma = 20.0


def distances(lat, lon):
    """Of the ship to each station, in kilometres."""
    return [Geodesic.WGS84.Inverse(lat, lon, *station)["s12"] / 1000 for station in STATIONS.values()]


measured = np.array(distances(47.3, -31.8)) + rng.normal(scale=sigma, size=len(STATIONS))

# %%
# Gauss and Newton: the residuals are made linear, solved, and made linear again. ``jacobian`` with ``argnums`` gives
# one column for each coordinate.

place = np.array([60.0, -50.0])
way = [place]
for step in range(6):
    residual = np.array(distances(*place.tolist())) - measured
    slopes = np.array(ad.jacobian(distances, argnums=(0, 1))(*place.tolist())).T
    place = place - np.linalg.lstsq(slopes, residual, rcond=None)[0]
    way.append(place)
    print(f"step {step + 1}: {place[0]:9.5f} {place[1]:10.5f}   residual {np.linalg.norm(residual):10.4f} km")

# %%
# The same Jacobian says how far the errors of the measurements carry: an ellipse around the place.

covariance = sigma**2 * np.linalg.inv(slopes.T @ slopes)
values, axes_of_ellipse = np.linalg.eigh(covariance)
angle = np.linspace(0.0, 2 * np.pi, 100)
ellipse = place[:, None] + 2 * axes_of_ellipse @ (np.sqrt(values)[:, None] * (np.cos(angle), np.sin(angle)))

# %%
fig, (chart, detail) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=(3, 2))
for (name, (lat, lon)), distance, colour in zip(STATIONS.items(), measured, ("C0", "C1", "C2", "C3")):
    azimuths = np.linspace(0.0, 360.0, 241)
    circle = [Geodesic.WGS84.Direct(lat, lon, azimuth, 1000 * distance) for azimuth in azimuths]
    for axes in (chart, detail):
        axes.plot([p["lon2"] for p in circle], [p["lat2"] for p in circle], color=colour, lw=1)
    chart.plot(lon, lat, "^", color=colour)
    chart.annotate(name, (lon, lat), xytext=(6, -10), textcoords="offset points", ha="right" if lon > -10 else "left")
for axes in (chart, detail):
    axes.plot(*np.array(way).T[::-1], "k.-", lw=1)
    axes.plot(*ellipse[::-1], "k", lw=2)
    axes.set(xlabel="longitude", ylabel="latitude", aspect=1.0 / np.cos(np.radians(place[0])))
chart.set(xlim=(-70, 0), ylim=(33, 68), title="stations, distances, steps")
detail.set(xlim=place[1] + np.array([-1, 1]), ylim=place[0] + np.array([-0.7, 0.7]), title="two standard deviations")
plt.show()
