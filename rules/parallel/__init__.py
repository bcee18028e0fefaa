"""Threads and processes that are given derivatives.

A tape belongs to one thread. Tasks of a pool do not depend on when, and in what order, they are done; so the thread
that differentiates does each as it is handed on, and its outcome waits where it would have waited. What comes back
from a process that was started by hand is unknown.
"""
