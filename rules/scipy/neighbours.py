"""Trees of points, ``KDTree`` and ``cKDTree``: which points are near has no derivative, how far they are has one.

The compiled tree only reads its points. One of points that are differentiated is of a class that keeps them beside it.
"""

import numpy as np
from scipy.spatial import KDTree, cKDTree

from autodiff_hook.errors import NotDifferentiable
from autodiff_hook.registry import nondifferentiable, writes
from autodiff_rules._constants import IS_A_POSITION, declare
from autodiff_rules._definitions import follow_instead
from autodiff_rules.scipy._metrics import minkowski
from autodiff_rules.scipy._standins import natively, settled


def querying(native):
    def query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
        options = {"eps": eps, "p": p, "distance_upper_bound": distance_upper_bound, "workers": workers}
        x = np.asarray(x)
        far, places = natively(native, (self, x, k), options)
        points = self.data
        there = np.less(places, len(points))
        near = points[np.where(there, places, 0)]
        apart = (x if np.ndim(places) < np.ndim(x) else x[..., None, :]) - near
        if self.boxsize is not None:
            apart = apart - turns(apart, self.boxsize)
        return settled(np.where(there, minkowski(apart, 0.0, p), np.inf), far), places

    return query


@nondifferentiable
def turns(apart, box):
    """What is between the nearest copies in a periodic box, whose length 0 says that it is none."""
    return box * np.round(apart / np.where(box > 0.0, box, np.inf))


class Moving:
    """A tree of points that are differentiated."""

    @property
    def data(self):
        return self.points

    @property
    def mins(self):
        return np.min(self.points, 0)

    @property
    def maxes(self):
        return np.max(self.points, 0)

    @property
    def tree(self):
        raise NotDifferentiable("the nodes of a tree of points that are differentiated", remedies=REMEDIES)

    def sparse_distance_matrix(self, other, *args, **options):
        raise NotDifferentiable("KDTree.sparse_distance_matrix has no derivative", remedies=REMEDIES)

    def __reduce__(self):
        raise NotDifferentiable("a copy of a tree of points that are differentiated", remedies=REMEDIES)


REMEDIES = ("make it of the points that query_pairs and query_ball_point name",)


def tree_class(base):
    return type(base.__name__, (Moving, base), {"__module__": base.__module__, "__qualname__": base.__qualname__})


def moving(base):
    kind = tree_class(base)

    def tree(data, *args, **options):
        made = natively(kind, (data, *args), options)
        made.points = settled(np.asarray(data), natively(np.array, (data, float), {}))
        return made

    return tree


for _tree in (cKDTree, KDTree):
    writes(_tree)
    follow_instead(_tree, moving(_tree))
    follow_instead(_tree.query, querying(_tree.query))
    declare(IS_A_POSITION, _tree.query_ball_point, _tree.query_ball_tree, _tree.query_pairs, _tree.count_neighbors)
