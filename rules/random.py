"""The sources of randomness in the standard library's ``random``.

Only the sources are constants. What is made of them (``uniform(a, b)``, ``gauss(mu, sigma)``, ``choice(seq)``)
depends on its arguments, and is differentiated through its own Python source.
"""

import random

from autodiff_hook.extend import effects
from autodiff_hook.registry import nondifferentiable
from autodiff_rules._constants import IS_A_SOURCE, declare

SOURCES = ("random", "seed", "getrandbits", "getstate", "setstate", "randbytes", "randrange", "randint")

for name in SOURCES:
    nondifferentiable(getattr(random, name), IS_A_SOURCE)
    nondifferentiable(getattr(random.Random, name), IS_A_SOURCE)
    nondifferentiable(getattr(random.SystemRandom, name), IS_A_SOURCE)
for name in ("_randbelow", "_randbelow_with_getrandbits", "_randbelow_without_getrandbits"):
    nondifferentiable(getattr(random.Random, name), IS_A_SOURCE)
if hasattr(random, "binomialvariate"):
    nondifferentiable(random.binomialvariate, IS_A_SOURCE)
    nondifferentiable(random.Random.binomialvariate, IS_A_SOURCE)
declare(IS_A_SOURCE, random.Random, random.SystemRandom)
effects(random.Random, random.SystemRandom)
