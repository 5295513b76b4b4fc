"""Kernels, which numba compiles to machine code at their first call.

This is the only module that imports numba. The import takes half a second, so it happens at the
first call of a kernel. Machine code is cached on disk (`bnmind._jit_cache`).

The first small tasks of a process may run kernels as Python functions (`PlainWork`), so that the
first answers need not wait for the compiler.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled. Kernels then run as Python functions, a hundred to
a thousand times slower, and every index is checked.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

from bnmind._kernel_source import KernelSource

__all__ = [
    "MOST_PLAIN_WORK",
    "Kernel",
    "PlainWork",
    "being_compiled",
    "compiles",
    "njit",
    "njit_superword",
    "not_stopping",
    "run_plainly",
    "stopping",
]

MOST_PLAIN_WORK = 2_000_000
"""The most work of kernels as Python functions, in operations: about half a second."""

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")

_being_compiled: list[str] = []
"""The kernels for `being_compiled`; for information only."""


def being_compiled() -> tuple[str, ...]:
    """Return the kernels that any thread is compiling, or reading from disk, at this moment.

    Programs can use this to explain why a first call takes long.
    """
    return tuple(_being_compiled)


def compiles() -> bool:
    """Return whether kernels are compiled: not with ``NUMBA_DISABLE_JIT=1``. It imports numba."""
    import numba

    return not numba.config.DISABLE_JIT


_stopping: set[int] = set()
"""Threads that are to raise KeyboardInterrupt before their next kernel."""


def stopping(thread: int) -> None:
    """Let a thread raise KeyboardInterrupt before its next kernel.

    Machine code may call Python to create its result, and must not be interrupted there. Before a
    kernel this is safe.
    """
    _stopping.add(thread)


def not_stopping(thread: int) -> bool:
    """Take `stopping` back, and return whether it was not too late."""
    try:
        _stopping.remove(thread)
    except KeyError:
        return False
    return True


class _Mode(threading.local):
    """Whether the kernels that this thread calls run as Python functions."""

    is_plain = False


_mode = _Mode()


class Kernel(KernelSource):
    """A function that numba compiles at its first call, from Python or from another kernel."""

    def __init__(self, function: Callable[..., Any], *, superword: bool = False) -> None:
        super().__init__(function, superword=superword)
        update_wrapper(self, function)

    @cached_property
    def _compiled(self) -> Any:
        import numba

        if numba.config.DISABLE_JIT:
            return _as_machine_words(self.function)
        from bnmind._jit_cache import KernelCache

        dispatcher = numba.njit(self.function, nogil=True)
        compile_for = dispatcher.compile

        def compile_interruptibly(signature: Any) -> Any:
            _being_compiled.append(self.function.__name__)
            try:
                with _keeping_interrupts(), self._settings():
                    return compile_for(signature)
            finally:
                _being_compiled.pop()

        # These two attributes give numba's dispatcher the cache and the compile function.
        dispatcher._cache = KernelCache(self)
        dispatcher.compile = compile_interruptibly
        return dispatcher

    def _settings(self) -> Any:
        return _superword_vectorization() if self.superword else nullcontext()

    @cached_property
    def _numba_type_(self) -> Any:
        # numba reads this if a kernel uses another kernel.
        import numba

        return numba.typeof(self._compiled)

    @property
    def is_loaded(self) -> bool:
        """Whether machine code is in memory; True if nothing is compiled."""
        compiled = self.__dict__.get("_compiled")
        return compiled is not None and bool(getattr(compiled, "signatures", True))

    @property
    def is_cached(self) -> bool:
        """Whether the cache on disk has machine code; numba is not imported to find out."""
        from bnmind._jit_cache import may_be_cached

        return may_be_cached(self)

    def __call__(self, *arguments: Any) -> Any:
        if _stopping and not_stopping(threading.get_ident()):
            raise KeyboardInterrupt
        if _mode.is_plain:
            return self.function(*arguments)
        try:
            return self._compiled(*arguments)
        except SystemError as error:
            # Machine code calls Python to create its result, where Ctrl-C may arrive.
            if _is_interrupted(error):
                raise KeyboardInterrupt from None
            raise


class PlainWork:
    """The work that kernels may do as Python functions, before they are compiled.

    A kernel and its Python function have equal results, so this affects only the time. An instance
    counts the operations of tasks of one kind. It allows plain work until the kernel is loaded, or
    until a limit is reached.

    Parameters
    ----------
    kernel
        The kernel of these tasks.
    most
        The limit of all plain work in the process, in operations of about .3 microseconds.
    if_cached
        The limit if the cache on disk has the machine code, which then only needs to be loaded.
    tasks
        The limit of the number of plain tasks.
    """

    def __init__(
        self,
        kernel: Callable[..., Any],
        most: int = MOST_PLAIN_WORK,
        *,
        if_cached: int = 0,
        tasks: float = math.inf,
    ) -> None:
        self._kernel = kernel
        self._most = most
        self._if_cached = if_cached
        self._tasks = tasks
        self._spent = 0.0
        self._is_over = False

    @cached_property
    def _limit(self) -> int:
        is_cached = isinstance(self._kernel, Kernel) and self._kernel.is_cached
        return self._if_cached if is_cached else self._most

    @property
    def left(self) -> int:
        """The plain work that is still allowed."""
        if self._is_over:
            return 0
        is_loaded = isinstance(self._kernel, Kernel) and self._kernel.is_loaded
        left = max(0, self._limit - int(self._spent))
        self._is_over = is_loaded or self._tasks <= 0 or left == 0
        return 0 if self._is_over else left

    def spend(self, work: float) -> None:
        """Subtract the work of a task from what is allowed."""
        self._spent += work
        self._tasks -= 1


def run_plainly(kernel: Callable[..., _T], *arguments: Any) -> _T:
    """Return the result of a kernel that runs as a Python function, with all kernels that it calls.

    >>> run_plainly(njit(abs), -2)
    2
    """
    import numpy as np

    function = kernel.function if isinstance(kernel, Kernel) else kernel
    before = _mode.is_plain
    _mode.is_plain = True
    try:
        # Integers wrap around without a warning, as in machine code.
        with np.errstate(over="ignore"):
            return cast(_T, function(*arguments))
    finally:
        _mode.is_plain = before


def _is_interrupted(error: BaseException) -> bool:
    """Return whether a KeyboardInterrupt caused an error, directly or indirectly."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _as_machine_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose integers wrap around without a warning, as in machine code."""
    import numpy as np

    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return call


@contextmanager
def _superword_vectorization() -> Iterator[None]:
    """Enable superword vectorization for kernels compiled in a ``with`` block.

    numba has a setting for this (NUMBA_SLP_VECTORIZE), but only for whole processes.
    """
    from numba.core import config

    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before


@contextmanager
def _keeping_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt if Ctrl-C was pressed in a ``with`` block, even if it was lost.

    LLVM calls Python functions, and Python calls functions while it frees memory. Exceptions in
    such functions are lost: Python passes them to `sys.unraisablehook` and continues. This context
    raises the interrupt again before the next pass of the compiler, or in place of a resulting
    error.
    """
    from numba.core import event

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    before, lost = sys.unraisablehook, threading.Event()

    def keep(unraisable: Any) -> None:
        is_interrupt = isinstance(unraisable.exc_value, KeyboardInterrupt)
        if is_interrupt:
            lost.set()
        # A hook of the user's program may end the program at once.
        if not is_interrupt or before is not sys.__unraisablehook__:
            before(unraisable)

    class Passes(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            if lost.is_set() and threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt

        def on_end(self, _: Any) -> None:
            pass

    sys.unraisablehook = keep
    try:
        with event.install_listener("numba:run_pass", Passes()):
            yield
    except Exception:
        if lost.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        sys.unraisablehook = before
    if lost.is_set():
        raise KeyboardInterrupt


def njit(function: _F) -> _F:
    """Return the function compiled by numba, without Python objects and without fast-math.

    The type of the function does not change. Its arguments must be positional.
    ``function.__wrapped__`` is the Python source function.

    Examples
    --------
    >>> @njit
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> double.__wrapped__(21)
    42
    """
    return cast(_F, Kernel(function))


def njit_superword(function: _F) -> _F:
    """Return the function compiled as by `njit`, with superword vectorization.

    Use it for kernels that spell out the same operation for each lane of a register.
    """
    return cast(_F, Kernel(function, superword=True))
