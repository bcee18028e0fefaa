"""Compares the gradient of a function with finite differences, as autodiff_hook.testing.check_gradient does. The exit
code is 0 if they agree, and 1 if they do not, if there is no gradient, or if the function raises an error."""

from __future__ import annotations

import argparse
import sys

from autodiff_hook.commands import inputs
from autodiff_hook.commands.explain import add_call, call_of
from autodiff_hook.errors import NotDifferentiable, Unsupported

NAME = "check"
HELP = "compare a gradient with finite differences"
EXAMPLE = "check math:hypot --args 3.0,4.0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_call(parser)
    parser.add_argument("--rtol", type=float, default=1e-6, help="relative tolerance (default: %(default)g)")
    parser.add_argument("--atol", type=float, default=1e-8, help="absolute tolerance (default: %(default)g)")


def execute(options: argparse.Namespace) -> int:
    # Where it runs: --help, and status on an interpreter that is not supported, do without the engine.
    from autodiff_hook import withgradient
    from autodiff_hook.testing import check_gradient

    function, args, kwargs = call_of(options)
    shown = inputs.called(options.args, function)
    try:
        check_gradient(function, *args, rtol=options.rtol, atol=options.atol, **kwargs)
        value, gradients = withgradient(function, *args, **kwargs)
    except (AssertionError, NotDifferentiable, Unsupported) as error:
        print(f"{shown}: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        print(f"{shown} {inputs.raised(error)}", file=sys.stderr)
        return 1
    print(f"{shown} = {value!r}")
    for index, gradient in enumerate(gradients):
        print(f"  gradient[{index}] = {gradient!r}")
    print("agrees with finite differences")
    return 0
