"""The Greeks of an option, from vollib's pricing function, beside the formulas that vollib ships for them.

vollib prices through four packages of numerical code, none of which knows of derivatives. They are opted in by name:

    AUTODIFF_MODULES=vollib,py_lets_be_rational,cody_special,piecewise_rational python examples/quickstart.py
"""

import math

from vollib.black_scholes import black_scholes
from vollib.black_scholes.greeks import analytical

import autodiff_hook

CALL = ("c", 100.0, 105.0, 0.5, 0.02, 0.25)  # flag, price of the stock, strike, years, rate, volatility


def main() -> None:
    value, (_, delta, _, minus_theta, rho, vega) = autodiff_hook.withgradient(black_scholes, *CALL)
    print(f"black_scholes{CALL} = {value:.6f}\n")
    print(f"{'':8}{'gradient':>22}{'vollib':>22}")
    rows = {
        "delta": (delta, analytical.delta(*CALL)),
        "theta": (-minus_theta / 365, analytical.theta(*CALL)),  # vollib's is for a day that passes,
        "rho": (rho / 100, analytical.rho(*CALL)),  # and these two are for one percentage point
        "vega": (vega / 100, analytical.vega(*CALL)),
    }
    for name, (ours, theirs) in rows.items():
        print(f"{name:8}{ours:22.15f}{theirs:22.15f}")
        if not math.isclose(ours, theirs, rel_tol=1e-12):
            raise SystemExit(f"{name}: {ours} is not {theirs}")


if __name__ == "__main__":
    main()
