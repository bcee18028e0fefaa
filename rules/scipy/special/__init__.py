"""The derivatives of ``scipy.special``, found through the entry point of that name."""

from __future__ import annotations

from scipy import special as _functions

from autodiff_rules.numpy.ufuncs import define_all_with_options
from autodiff_rules.scipy.special import bessel as bessel
from autodiff_rules.scipy.special import complex_gammas as complex_gammas
from autodiff_rules.scipy.special import distributions as distributions
from autodiff_rules.scipy.special import elementary as elementary
from autodiff_rules.scipy.special import elliptic as elliptic
from autodiff_rules.scipy.special import errors as errors
from autodiff_rules.scipy.special import gammas as gammas
from autodiff_rules.scipy.special import hidden as hidden
from autodiff_rules.scipy.special import hypergeometric as hypergeometric
from autodiff_rules.scipy.special import information as information
from autodiff_rules.scipy.special import integrals as integrals
from autodiff_rules.scipy.special import oscillating as oscillating
from autodiff_rules.scipy.special import polynomials as polynomials
from autodiff_rules.scipy.special import probability as probability
from autodiff_rules.scipy.special import spherical as spherical
from autodiff_rules.scipy.special import sums as sums
from autodiff_rules.scipy.special import symmetric as symmetric

define_all_with_options(vars(_functions).values())
