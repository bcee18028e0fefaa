"""``erfa``: directions and vectors as astropy's coordinates compute them (the routines of IAU SOFA of these names)."""

import numpy as np
from erfa import ufunc

from autodiff_hook.extend import cotangents
from autodiff_rules.numpy._shared import collect, unbroadcast


def along_longitude(theta, phi):
    """How the direction of a longitude and a latitude changes with the longitude."""
    return np.stack(np.broadcast_arrays(-np.sin(theta) * np.cos(phi), np.cos(theta) * np.cos(phi), 0.0), axis=-1)


def along_latitude(theta, phi):
    """How it changes with the latitude."""
    parts = -np.cos(theta) * np.sin(phi), -np.sin(theta) * np.sin(phi), np.cos(phi)
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


cotangents(
    ufunc.s2c,
    "theta, phi, /",
    theta=lambda ȳ, theta, phi: unbroadcast(np.vecdot(ȳ, along_longitude(theta, phi)), theta),
    phi=lambda ȳ, theta, phi: unbroadcast(np.vecdot(ȳ, along_latitude(theta, phi)), phi),
)
cotangents(
    ufunc.s2p,
    "theta, phi, r, /",
    theta=lambda ȳ, theta, phi, r: unbroadcast(r * np.vecdot(ȳ, along_longitude(theta, phi)), theta),
    phi=lambda ȳ, theta, phi, r: unbroadcast(r * np.vecdot(ȳ, along_latitude(theta, phi)), phi),
    r=lambda ȳ, theta, phi, r: unbroadcast(np.vecdot(ȳ, ufunc.s2c(theta, phi)), r),
)


def of_angles(longitude, latitude, p):
    """The cotangent of a vector from those of its longitude and its latitude."""
    x, y, z = np.moveaxis(p, -1, 0)
    across = x * x + y * y
    ρ, squared = np.sqrt(across), across + z * z
    turned, raised = longitude / across, latitude / (squared * ρ)
    return np.stack([-y * turned - x * z * raised, x * turned - y * z * raised, latitude * ρ / squared], axis=-1)


cotangents(ufunc.c2s, "p, /", p=lambda ȳ, y, p: of_angles(*collect(ȳ, y), p))


def spherical_cotangent(ȳ, y, p):
    longitude, latitude, r = collect(ȳ, y)
    return of_angles(longitude, latitude, p) + (r / y[2])[..., None] * p


cotangents(ufunc.p2s, "p, /", p=spherical_cotangent)
cotangents(ufunc.pm, "p, /", p=lambda ȳ, y, p: (ȳ / y)[..., None] * p)
for _wrapped in (ufunc.anp, ufunc.anpm):
    cotangents(_wrapped, "a, /", a=lambda ȳ: ȳ)
cotangents(
    ufunc.rxp,
    "r, p, /",
    r=lambda ȳ, r, p: unbroadcast(ȳ[..., None] * p[..., None, :], r),
    p=lambda ȳ, r, p: unbroadcast(np.matvec(np.swapaxes(r, -1, -2), ȳ), p),
)
