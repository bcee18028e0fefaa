"""Hypergeometric functions with respect to their variable."""

from scipy import special

from autodiff_hook.extend import elementwise

IN_PARAMETERS = "a hypergeometric function with respect to its parameters"


# DLMF 15.5.1.
elementwise(
    special.hyp2f1,
    a=IN_PARAMETERS,
    b=IN_PARAMETERS,
    c=IN_PARAMETERS,
    z=lambda a, b, c, z: a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z),
)
# DLMF 13.3.15.
elementwise(
    special.hyp1f1, a=IN_PARAMETERS, b=IN_PARAMETERS, z=lambda a, b, z: a / b * special.hyp1f1(a + 1.0, b + 1.0, z)
)
# DLMF 13.3.22.
elementwise(
    special.hyperu, a=IN_PARAMETERS, b=IN_PARAMETERS, z=lambda a, b, z: -a * special.hyperu(a + 1.0, b + 1.0, z)
)
elementwise(special.hyp0f1, v=IN_PARAMETERS, z=lambda v, z: special.hyp0f1(v + 1.0, z) / v)  # DLMF 16.3.1
