"""Every error that is ours."""

from __future__ import annotations


class AutodiffError(Exception):
    """The base class of all errors of autodiff_hook."""


class Unsupported(AutodiffError):
    """A construct, or a use of the API, that autodiff_hook cannot differentiate (yet)."""


class NotDifferentiable(AutodiffError):
    """A gradient would have to pass through a call that has no known derivative."""


class ConfigError(AutodiffError):
    """A setting (pyproject.toml, environment, ``install``) that is wrong; names the place and the key."""
