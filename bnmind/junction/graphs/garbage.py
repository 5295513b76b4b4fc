"""The garbage collector of Python, paused while a plan is made.

Planning makes some hundred thousand small objects, and the collector visits all objects of the
process whenever their number has grown by a quarter: a tenth of a second in a process with large
models. Plans have few cycles of references, so there is nothing to collect in the meantime.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["paused_collection"]


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the collector; if it was not running before, it does not run afterwards either."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
