"""How kernels run: compiled, or as the Python functions that they are."""

from __future__ import annotations

import os

__all__ = ["UNCOMPILED"]

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether nothing is compiled: kernels are then slow, and every index is checked."""
