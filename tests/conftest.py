"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# The first call of a compiled kernel takes seconds, all others microseconds: no deadline.
settings.register_profile("bnmind", deadline=None)
settings.load_profile("bnmind")
