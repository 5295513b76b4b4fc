"""One typed door to numba.

`njit` compiles a function to machine code when it is first called, and keeps the
code on disk beside the source. numba itself is imported at that moment too, not
before: it takes half a second, which ``bnmind --help`` should not cost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

__all__ = ["njit"]

_F = TypeVar("_F", bound=Callable[..., Any])


class _Kernel:
    """A function that numba compiles at its first call, from Python or from another kernel."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function = function

    @cached_property
    def _compiled(self) -> Any:
        import numba

        return numba.njit(self._function, cache=True, nogil=True)

    @cached_property
    def _numba_type_(self) -> Any:
        # numba asks for this when a kernel is named inside another one.
        import numba

        return numba.typeof(self._compiled)

    def __call__(self, *arguments: Any) -> Any:
        return self._compiled(*arguments)


def njit(function: _F) -> _F:
    """Return the function compiled by numba, without Python objects and without fast-math.

    To the type checker the function stays what it is. Its arguments must be
    positional. ``function.__wrapped__`` is the Python source function.

    Examples
    --------
    >>> @njit
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> double.__wrapped__(21)
    42
    """
    return cast(_F, _Kernel(function))
