"""The version, readable without importing anything else (setuptools reads it as text)."""

from __future__ import annotations

__version__ = "0.1.0"
