"""Locks of files, from reading a file to replacing it.

The lock is on a small file beside the file; the holder of the lock removes it at the end. The
operating system releases the lock when the program ends, so there are no stale locks. On file
systems without locks, nothing is locked.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bnmind._temporary_files import gate, own, remove
from bnmind._text_files import is_stream, naming, real_place
from bnmind.errors import FileWriteError

__all__ = ["LockHeldError", "locked"]

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


class LockHeldError(FileWriteError):
    """Another program or thread holds the lock of a file."""


@contextmanager
def locked(path: str | os.PathLike[str], *, patience: float = 10.0) -> Iterator[None]:
    """Lock a file against other programs and threads that lock it.

    Parameters
    ----------
    path
        The file; it need not exist. Readers need no lock, because files are replaced in one step.
    patience
        Seconds to wait for another holder of the lock.

    Raises
    ------
    FileWriteError
        If the lock is held for all this time, or the directory cannot be written. The error names
        the file.
    """
    name = os.fspath(path)
    with naming(name):
        if is_stream(name):  # a pipe or a device holds nothing that could be lost
            place, handle = None, None
        else:
            place = _lock_file(real_place(name))
            handle = _acquire(place, name, patience)
    try:
        yield
    finally:
        if place is not None and handle is not None:
            # Remove it while it is locked: waiting programs notice this and open a new one.
            remove(place)
            os.close(handle)


def _lock_file(place: Path) -> Path:
    """Return the lock of a file; all spellings of the same file have one lock."""
    name = unicodedata.normalize("NFC", place.name).casefold()
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    return place.with_name(f".bnmind-{digest}.lock")


def _acquire(place: Path, name: str, patience: float) -> int:
    """Return a handle of the lock file, which is locked while the handle is open."""
    end = time.monotonic() + patience
    while True:
        with gate:
            handle = _open(place)
            try:
                taken = _try(handle)
                if taken and _is_at(place, handle):
                    own.add(place)
                    return handle
            except BaseException:
                os.close(handle)
                raise
        os.close(handle)
        if taken:  # but the last holder has removed the file in the meantime
            continue
        if time.monotonic() > end:
            raise LockHeldError(
                f"another program has been writing {name} for {patience:.0f} seconds; try again"
                " when it has ended",
                name,
            )
        # Random times keep two programs from always trying at the same time.
        time.sleep(0.001 + os.urandom(1)[0] / 25_600)


def _open(place: Path) -> int:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    while True:
        with suppress(FileNotFoundError):
            return os.open(place, flags)
        with suppress(FileExistsError):
            handle = os.open(place, flags | os.O_CREAT | os.O_EXCL, 0o666)
            break
    # Others who may write the file itself must be able to lock it too.
    with suppress(OSError, NotImplementedError, AttributeError):
        os.fchmod(handle, 0o666)
    return handle


def _try(handle: int) -> bool:
    """Try to lock an open file; True if there are no locks on the file system."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as fault:
        if fault.errno in _NO_LOCKS:
            return True
        if fault.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise
    return True


def _is_at(place: Path, handle: int) -> bool:
    """Return whether an open file still has its name."""
    try:
        return os.path.samestat(os.stat(place), os.fstat(handle))
    except FileNotFoundError:
        return False
