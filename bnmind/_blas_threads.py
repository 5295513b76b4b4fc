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
from threading import Lock
from typing import Any

__all__ = ["one_blas_thread"]


_lock = Lock()
_inside: list[Any] = []
"""The limit of BLAS, once for each block that is running; blocks in other threads share it."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside a ``with`` block, and as many as before after the last one."""
    with _lock:
        _inside.append(_inside[0] if _inside else _libraries().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop()
            if not _inside:
                limit.restore_original_limits()


@cache
def _libraries() -> Any:
    """Return the BLAS libraries that are loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
