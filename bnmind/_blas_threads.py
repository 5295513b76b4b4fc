"""Matrix products on one thread.

The products of learning take less than a millisecond each, and those of a plan with a small table
wait for memory. BLAS shares such a product among all cores, and its threads wait for each other in
busy loops. On a machine that does other work too, this takes many times longer than one thread, and
it wastes the time of the other cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_blas_thread"]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside a ``with`` block, and as many as before after it."""
    with _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    """Return the BLAS libraries that are loaded, at least that of NumPy."""
    import numpy  # noqa: F401 - loads it
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
