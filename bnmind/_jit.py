"""Kernels, which numba compiles to machine code at their first call.

This is the only module that imports numba. The import takes half a second, so it happens at the
first call of a kernel. Machine code is cached on disk.

The first small tasks of a process may run kernels as Python functions (`PlainWork`), so that the
first answers need not wait for the compiler.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled. Kernels then run as Python functions, a hundred to
a thousand times slower, and every index is checked.

**The cache.** numba's own cache detects only changes to the file of a kernel. Our kernels call
kernels in other files and use constants of other modules, and numba would use outdated code of
these. This cache therefore names a file by *everything* that the kernel is compiled from:

=========  ==================================================================
name       of
=========  ==================================================================
content    the kernel's bytecode and constants, the global values that it
           names, and the same of every kernel that it calls (`content_of`)
key        the types of the arguments, the processor, and the versions and
           settings of Python, NumPy, numba and LLVM
=========  ==================================================================

The cache uses numba's directory, the first that can be written: ``NUMBA_CACHE_DIR`` if it is set,
``__pycache__`` beside the source, the user's cache directory. Code in those before it, which can
only be read, is used too. A file starts with a checksum, and is written to a temporary name first.
If a file cannot be read or written, or is damaged, the kernel is compiled in memory, as without a
cache.

Writing a file deletes other versions of the same kernel, and files that were not used for
`KEPT_DAYS` days.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cache, cached_property, partial, update_wrapper
from importlib import import_module
from itertools import chain, takewhile
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

from bnmind._files import check_writable_directory, write_file
from bnmind.errors import ModelFileError


class KernelSource:
    """A function that is compiled to machine code when it is first called."""

    def __init__(self, function: Callable[..., Any], *, superword: bool = False) -> None:
        self.function = function
        """The Python source function."""
        self.superword = superword
        """Whether neighboring scalar operations are joined into vector operations."""


MOST_PLAIN_WORK = 2_000_000
"""The most work of kernels as Python functions, in operations: about half a second."""

_MOST_WHILE_COMPILING = 300_000
"""The most work of such a task if another thread has the compiler: about a tenth of a second."""

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")

_being_compiled: list[str] = []
"""The kernels for `being_compiled`; for information, and to decide what runs plainly."""


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
        from numba.core import config

        if config.DISABLE_JIT:
            return partial(run_plainly, self.function)
        _teach_bits()
        dispatcher = numba.njit(self.function, nogil=True)
        compile_for = dispatcher.compile

        def compile_interruptibly(signature: Any) -> Any:
            _being_compiled.append(self.function.__name__)
            before = config.SLP_VECTORIZE  # numba has this setting only for whole processes
            config.SLP_VECTORIZE = before | self.superword
            try:
                with _keeping_interrupts():
                    return compile_for(signature)
            finally:
                config.SLP_VECTORIZE = before
                _being_compiled.pop()

        # These two attributes give numba's dispatcher the cache and the compile function.
        dispatcher._cache = KernelCache(self)
        dispatcher.compile = compile_interruptibly
        return dispatcher

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
    until a limit is reached. Small tasks are allowed beyond the limit if another thread has the
    compiler, which would keep them waiting for many seconds.

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
        self._is_loaded = False

    @cached_property
    def _limit(self) -> int:
        if self._if_cached == self._most:
            return self._most
        is_cached = isinstance(self._kernel, Kernel) and self._kernel.is_cached
        return self._if_cached if is_cached else self._most

    @property
    def left(self) -> int:
        """The plain work that is still allowed."""
        if not self._is_loaded:
            self._is_loaded = isinstance(self._kernel, Kernel) and self._kernel.is_loaded
        if self._is_loaded:
            return 0
        left = max(0, self._limit - int(self._spent)) if self._tasks > 0 else 0
        return max(left, _MOST_WHILE_COMPILING) if _being_compiled else left

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


@cache
def _teach_bits() -> None:
    """Let kernels call `int.bit_count` and `int.bit_length` of numbers of 64 bits."""
    import numpy as np
    from numba.core import types
    from numba.extending import intrinsic, overload_method

    @intrinsic  # type: ignore[untyped-decorator]
    def ones(_: Any, number: Any) -> Any:
        return number(number), lambda _, builder, __, values: builder.ctpop(values[0])

    @intrinsic  # type: ignore[untyped-decorator]
    def zeros_above(_: Any, number: Any) -> Any:
        no = types.boolean
        return number(number), lambda context, builder, _, values: builder.ctlz(
            values[0], context.get_constant(no, False)
        )

    overload_method(types.Integer, "bit_count")(
        lambda number: lambda number: np.int64(ones(number))
    )
    overload_method(types.Integer, "bit_length")(
        lambda number: lambda number: np.int64(64) - np.int64(zeros_above(number))
    )


def _is_interrupted(error: BaseException) -> bool:
    """Return whether a KeyboardInterrupt caused an error, directly or indirectly."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


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


KEPT_DAYS = 90
"""Files that were not used for this number of days are deleted."""

MUST_SAVE = "BNMIND_MUST_SAVE_CODE"
"""A variable of the environment; if it is set, code that cannot be saved is an error."""

NO_DIRECTORY = "no directory for machine code can be written; set NUMBA_CACHE_DIR to one that can"

_SUFFIX = ".bnk"
_HEAD = b"bnmind kernel 1\n"
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))
_SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "DEBUGINFO_DEFAULT",
)


class KernelCache:
    """The cache of machine code of a dispatcher of numba."""

    def __init__(self, kernel: KernelSource) -> None:
        self._kernel = kernel

    @cached_property
    def cache_path(self) -> str | None:
        """The directory of the cache; None if no directory is writable."""
        from numba.core.caching import CompileResultCacheImpl

        try:
            return str(CompileResultCacheImpl(self._kernel.function).locator.get_cache_path())
        except Exception:  # numba says that no directory will do
            return None

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """The directories from which code is read; the last one is that of `cache_path`, if any."""
        from numba.core import config
        from numba.core.caching import _CacheLocator

        source = self._kernel.function.__code__.co_filename
        folders = [Path(source).parent / "__pycache__"]
        if config.CACHE_DIR:
            inside = _CacheLocator.get_suitable_cache_subpath(source)
            folders.insert(0, Path(config.CACHE_DIR, inside))
        if self.cache_path is None:
            return tuple(folders)
        path = Path(self.cache_path)
        return (*takewhile(path.__ne__, folders), path)

    @cached_property
    def _content(self) -> str | None:
        return content_of(self._kernel)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the code for some types of arguments; None if it must be compiled."""
        target_context.refresh()
        name = self._name(signature, target_context.codegen())
        for folder in self.folders if name is not None else ():
            if (code := _loaded(folder / str(name), target_context)) is not None:
                return code
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Save the code for some types of arguments, if possible.

        Raises
        ------
        ModelFileError
            If it cannot be saved, and `MUST_SAVE` is set.
        """
        name = self._name(signature, code.codegen)
        if name is None or code.lifted or code.library.has_dynamic_globals:
            return
        must = os.environ.get(MUST_SAVE)
        with contextlib.nullcontext() if must else contextlib.suppress(Exception):
            from numba.core.serialize import dumps

            path = Path(self._writable_folder(bool(must)), name)
            payload = dumps(code._reduce())
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, _HEAD + _checksum(path, payload) + payload)
            _sweep(path)

    def _writable_folder(self, must: bool) -> str:
        """Return `cache_path`; `ModelFileError` if there is none, or the user wants another."""
        from numba.core import config

        if must and config.CACHE_DIR:
            check_writable_directory(config.CACHE_DIR)
        if self.cache_path is None:
            raise ModelFileError(NO_DIRECTORY, "")
        return self.cache_path

    def flush(self) -> None:
        """Do nothing: the cache is always enabled, and holds no outdated code."""

    enable = disable = flush

    def _name(self, signature: Any, codegen: Any) -> str | None:
        """Return the name of the file for some types of arguments; None if there is none."""
        if self._content is None:
            return None
        key = _hashed(_types(signature), codegen.magic_tuple(), _versions(), self._kernel.superword)
        return f"{_stem(self._kernel, self._content)}{key[:16]}{_SUFFIX}"


def may_be_cached(kernel: KernelSource) -> bool:
    """Return whether there is a file with code for a kernel, for any types and versions of numba.

    The function looks in ``NUMBA_CACHE_DIR``, or else beside the source, without numba; in both if
    the former cannot be written.
    """
    content = content_of(kernel)
    if content is None:
        return False
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    name = f"{_stem(kernel, content)}*{_SUFFIX}"
    if chosen and any(Path(chosen).glob(f"*/{name}")):
        return True
    if chosen and (os.access(chosen, os.W_OK) or not os.path.exists(chosen)):
        return False
    source = Path(kernel.function.__code__.co_filename)
    return any((source.parent / "__pycache__").glob(name))


def cached_code() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return the directories of all machine code, and the files in them.

    Without any code, it is the directory where it will be written; there is none if none can be
    written. It has files of other programs, too, if it is ``NUMBA_CACHE_DIR`` or the user's cache
    directory; those are not returned.
    """
    package = Path(__file__).parent
    cache = KernelCache(KernelSource(_versions))  # any function of bnmind
    roots = [package if path.is_relative_to(package) else path.parent for path in cache.folders]
    found = {root: sorted(root.rglob(f"bnmind.*{_SUFFIX}")) for root in roots}
    used = [root for root in roots if found[root]]
    if not used and cache.cache_path is not None:
        used = roots[-1:]
    return tuple(used), tuple(chain.from_iterable(found.values()))


def _stem(kernel: KernelSource, content: str) -> str:
    """Return the first part of the names of files with code for a kernel."""
    function = kernel.function
    name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
    return f"{name}.{sys.implementation.cache_tag}-{content[:16]}-"


def content_of(kernel: KernelSource) -> str | None:
    """Return a digest of everything that a kernel is compiled from, or None.

    None means that the kernel uses something whose content cannot be described completely, such as
    a module of its own package. Its code is not cached.
    """
    try:
        return _hashed(_described(kernel, set(), kernel.function.__module__.partition(".")[0]))
    except _UnknownContentError:
        return None


class _UnknownContentError(Exception):
    """A kernel uses something that has no lasting description."""


def _described(value: Any, met: set[int], package: str) -> object:
    """Return a description of a value by plain objects with a stable representation."""
    import numpy as np

    if isinstance(value, KernelSource):
        name = f"{value.function.__module__}.{value.function.__qualname__}"
        if id(value) in met:
            return "kernel", name
        met.add(id(value))
        return "kernel", name, value.superword, *_described_function(value.function, met, package)
    if isinstance(value, Enum):
        return "enum", type(value).__qualname__, value.name, repr(value.value)
    if isinstance(value, _PLAIN):
        return type(value).__name__, repr(value)
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if not array.dtype.hasobject:
            bytes_of = hashlib.sha256(array.tobytes()).hexdigest()
            return type(value).__name__, array.dtype.str, array.shape, bytes_of
    if isinstance(value, tuple | list):
        return type(value).__qualname__, *(_described(part, met, package) for part in value)
    if isinstance(value, frozenset):
        return "frozenset", *sorted(repr(_described(part, met, package)) for part in value)
    if isinstance(value, type):
        members = [repr(member) for member in value] if issubclass(value, Enum) else []
        fields = getattr(value, "_fields", ())
        return "type", value.__module__, value.__qualname__, fields, members
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] != package:
        return "module", value.__name__
    if isinstance(value, BuiltinFunctionType | FunctionType | np.ufunc):
        module = str(getattr(value, "__module__", None) or "numpy")
        if module.partition(".")[0] != package:
            return "function", module, value.__name__
    raise _UnknownContentError(repr(value))


def _described_function(
    function: Callable[..., Any], met: set[int], package: str
) -> Iterator[object]:
    source = cast(FunctionType, function)
    yield _described_code(source.__code__, met, package)
    yield _described((source.__defaults__, *(source.__kwdefaults__ or {}).items()), met, package)
    for name in sorted(_names(source.__code__)):
        # Other names are attributes or built-in functions.
        if name in source.__globals__:
            yield name, _described(source.__globals__[name], met, package)
    for cell in source.__closure__ or ():
        yield _described(cell.cell_contents, met, package)


def _described_code(code: CodeType, met: set[int], package: str) -> object:
    constants = [
        _described_code(constant, met, package)
        if isinstance(constant, CodeType)
        else _described(constant, met, package)
        for constant in code.co_consts
    ]
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    table = code.co_exceptiontable
    return code.co_code.hex(), code.co_names, code.co_varnames, counts, table.hex(), constants


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*(_names(constant) for constant in inner))


def _types(signature: Any) -> list[object]:
    """Return the types of arguments, with the field names of named tuples."""
    return [
        (str(kind), getattr(kind, "fields", ()), str(getattr(kind, "instance_class", "")))
        for kind in signature
    ]


def _versions() -> list[object]:
    from numba.core import config

    names = ("numba", "llvmlite", "numpy")
    versions = [str(import_module(name).__version__) for name in names]
    return [sys.version, *versions, *(getattr(config, name, None) for name in _SETTINGS)]


def _hashed(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _loaded(path: Path, target_context: Any) -> Any:
    """Return the code in a file; None if there is none, or the file is damaged."""
    from numba.core.compiler import CompileResult

    # If anything is wrong with the file or its content, the kernel is compiled instead.
    with contextlib.suppress(Exception):
        payload = _read(path)
        if payload is not None:
            code = CompileResult._rebuild(target_context, *pickle.loads(payload))
            with contextlib.suppress(OSError):  # others may use the file that may only read it
                os.utime(path)
            return code
    return None


def _read(path: Path) -> bytes | None:
    """Return the payload of a file; None if the file is not from this cache, or damaged."""
    content = path.read_bytes()
    head = _HEAD + _checksum(path, content[len(_HEAD) + 32 :])
    return content[len(head) :] if content.startswith(head) else None


def _checksum(path: Path, payload: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + payload).digest()


def _sweep(path: Path) -> None:
    """Delete files that a new file replaces, and files that were not used for a long time."""
    kernel, content, _ = path.name.rsplit("-", 2)
    long_ago = time.time() - KEPT_DAYS * 86_400
    for other in path.parent.iterdir():
        is_ours = other.name.endswith(_SUFFIX)
        names = other.name.rsplit("-", 2)
        replaced = names[0] == kernel and names[1:2] != [content]
        with contextlib.suppress(OSError):
            if is_ours and (replaced or other.stat().st_mtime < long_ago):
                other.unlink()
