"""The derivatives of ``scipy.fft``: all its transforms are linear, and real or complex multiples of orthogonal ones."""

from __future__ import annotations

from autodiff_rules.scipy.fft import fourier as fourier
from autodiff_rules.scipy.fft import hankel as hankel
from autodiff_rules.scipy.fft import legacy as legacy
from autodiff_rules.scipy.fft import trigonometric as trigonometric
