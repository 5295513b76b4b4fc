"""One typed door to numba.

`njit` compiles a function to machine code when it is first called, and keeps the
code on disk beside the source. numba itself is imported at that moment too, not
before: it takes half a second, which ``bnmind --help`` should not cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

__all__ = ["njit", "njit_superword"]

_F = TypeVar("_F", bound=Callable[..., Any])


class _Kernel:
    """A function that numba compiles at its first call, from Python or from another kernel."""

    def __init__(self, function: Callable[..., Any], *, superword: bool = False) -> None:
        update_wrapper(self, function)
        self._function = function
        self._superword = superword

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
        kernel = self._compiled
        if self._superword and not kernel.signatures:
            # Not compiled yet: this call will.
            with _superword_vectorization():
                return kernel(*arguments)
        return kernel(*arguments)


@contextmanager
def _superword_vectorization() -> Iterator[None]:
    """Let what is compiled meanwhile join neighboring scalar operations into vector ones.

    numba leaves that pass out unless this setting, which it has for whole processes only
    (NUMBA_SLP_VECTORIZE), says otherwise.
    """
    from numba.core import config

    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


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


def njit_superword(function: _F) -> _F:
    """Return the function compiled as by `njit`, neighboring operations joined into vector ones.

    For kernels that write out the same operation for each lane of a register.
    """
    return cast(_F, _Kernel(function, superword=True))
