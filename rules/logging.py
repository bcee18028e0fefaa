"""Logging says what it is told and returns nothing: no derivative flows through it."""

import logging

from autodiff_hook.registry import nondifferentiable
from autodiff_rules._constants import IS_TEXT, SETTING

LEVELS = ("debug", "info", "warning", "error", "exception", "critical", "log")

for name in LEVELS:
    nondifferentiable(getattr(logging, name), IS_TEXT)
for owner in (logging.Logger, logging.LoggerAdapter):
    for name in (*LEVELS, "isEnabledFor", "getEffectiveLevel"):
        nondifferentiable(getattr(owner, name), IS_TEXT)
for function in (logging.getLogger, logging.basicConfig, logging.disable):
    nondifferentiable(function, SETTING)
