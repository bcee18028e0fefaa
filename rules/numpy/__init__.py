"""The derivatives of NumPy, found through the entry point ``numpy`` once NumPy is imported."""

from __future__ import annotations

from autodiff_rules.numpy import accumulations as accumulations
from autodiff_rules.numpy import arithmetic as arithmetic
from autodiff_rules.numpy import builtins as builtins
from autodiff_rules.numpy import calculus as calculus
from autodiff_rules.numpy import constants as constants
from autodiff_rules.numpy import contractions as contractions
from autodiff_rules.numpy import conversion as conversion
from autodiff_rules.numpy import converters as converters
from autodiff_rules.numpy import creation as creation
from autodiff_rules.numpy import decompositions as decompositions
from autodiff_rules.numpy import dunders as dunders
from autodiff_rules.numpy import editing as editing
from autodiff_rules.numpy import elementwise as elementwise
from autodiff_rules.numpy import extremes as extremes
from autodiff_rules.numpy import forward as forward
from autodiff_rules.numpy import fourier as fourier
from autodiff_rules.numpy import indexing as indexing
from autodiff_rules.numpy import joining as joining
from autodiff_rules.numpy import linalg as linalg
from autodiff_rules.numpy import matrix_vectors as matrix_vectors
from autodiff_rules.numpy import norms as norms
from autodiff_rules.numpy import operators as operators
from autodiff_rules.numpy import padding as padding
from autodiff_rules.numpy import product_shortcuts as product_shortcuts
from autodiff_rules.numpy import products as products
from autodiff_rules.numpy import quantiles as quantiles
from autodiff_rules.numpy import random as random
from autodiff_rules.numpy import ratio_samples as ratio_samples
from autodiff_rules.numpy import rearranging as rearranging
from autodiff_rules.numpy import reductions as reductions
from autodiff_rules.numpy import samples as samples
from autodiff_rules.numpy import scalars as scalars
from autodiff_rules.numpy import selection as selection
from autodiff_rules.numpy import shape_shortcuts as shape_shortcuts
from autodiff_rules.numpy import shapes as shapes
from autodiff_rules.numpy import shortcuts as shortcuts
from autodiff_rules.numpy import stores as stores
from autodiff_rules.numpy import ufuncs as ufuncs
from autodiff_rules.numpy import windows as windows
from autodiff_rules.numpy import writing as writing
