"""The reuse of freed memory between the steps of a program, and between runs.

The C library of Linux returns each freed array of 128 KiB or more to the system, so that the next
one costs a page fault for every 4 KiB: up to half the time of a run. It learns from the sizes of
freed arrays to keep more (the *dynamic mmap threshold* of glibc's ``mallopt``), but only after an
array of 32 MiB it keeps as much as it ever does, 64 MiB. Such an array, allocated once and freed
untouched, takes no memory. Other libraries are not affected.
"""

from __future__ import annotations

from functools import cache

import numpy as np

__all__ = ["WORTH_REUSE", "reuse_freed_memory"]

WORTH_REUSE = 2**14
"""The fewest cells of a register whose memory the library would return at once."""

_LEARNED_FROM = 2**25 - 2**16
"""The bytes of an array from which the library learns: a little less than its limit of 32 MiB."""


@cache
def reuse_freed_memory() -> None:
    """Let the C library keep up to 64 MiB of freed memory for later arrays of the process."""
    array = np.empty(_LEARNED_FROM, dtype=np.uint8)
    del array
