"""The workloads: plain functions of the kinds that numerical programs consist of, with gradients written by hand."""

from __future__ import annotations

from benchmarks.workloads import arrays, containers, references, scalar, statistics
from benchmarks.workloads.base import WORKLOADS, Case, Workload

__all__ = ["WORKLOADS", "Case", "Workload", "arrays", "containers", "references", "scalar", "statistics"]
