from __future__ import annotations

from hypothesis import settings

settings.register_profile("rules", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("rules")
