"""Atomic writing of files: each file is written as a whole or not at all.

New content is written to a temporary file in the same directory and flushed to the disk. Then it
replaces the old file in one step. A full disk, a crash or a killed program therefore leaves the old
file as it was. A new file gets the permissions of the old one. A link stays a link, and the file
behind it is replaced. Pipes and devices, such as ``/dev/stdout``, are written directly. The next
writer in a directory removes the temporary files of killed programs.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from bnmind._temporary_files import gate, own, remove, sweep, temporary_name
from bnmind.errors import FileWriteError

__all__ = [
    "check_writable",
    "check_writable_directory",
    "create_file",
    "encoded",
    "is_stream",
    "move",
    "naming",
    "real_place",
    "remove_directory",
    "write_file",
    "write_files",
    "writing",
]

_HANDLES = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
"""Names of open files; their readers would not see a replacement."""

_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS}
"""Errors of file systems that cannot flush a directory."""


@dataclass(frozen=True)
class _Draft:
    """A file that is being written."""

    path: str
    """The name given by the caller."""
    place: Path
    """The file to be replaced, behind all links."""
    temporary: Path
    """The temporary file in the same directory."""


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file, replacing an existing one.

    Parameters
    ----------
    path
        The file; its directory must exist.
    content
        Bytes, or text, which is written in UTF-8 without changes of line ends.

    Raises
    ------
    FileWriteError
        If the file cannot be written. The error names the file, and an existing file is unchanged.
    """
    write_files({Path(path): content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files, either all or none of them.

    All temporary files are flushed to the disk before the first one replaces its file. If a
    replacement fails, the earlier ones are reverted. Only if the program is killed between the
    first and the last replacement, some files are new and others old, each of them complete.

    Parameters
    ----------
    contents
        The content of each file, as for `write_file`.

    Raises
    ------
    FileWriteError
        If a file cannot be written. The error names the file, and all files are unchanged.
    """
    drafts: list[_Draft] = []
    streams: list[tuple[str, bytes]] = []
    swept: set[Path] = set()
    try:
        for path, content in contents.items():
            name = os.fspath(path)
            data = encoded(name, content)
            with naming(name):
                if is_stream(name):
                    streams.append((name, data))
                    continue
                place = _writable(real_place(name))
                if place.parent not in swept:
                    sweep(place.parent)
                swept.add(place.parent)
                drafts.append(draft := _Draft(name, place, temporary_name(place.parent)))
                _fill(draft, data)
        for name, data in streams:
            with naming(name), open(name, "wb") as stream:
                stream.write(data)
        with gate:  # a process that ends waits until all are in place
            _put_in_place(drafts)
    finally:
        for draft in drafts:
            remove(draft.temporary)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that is written piece by piece, and replace an existing one at the end.

    If the block raises an error, the existing file is unchanged and no other file remains.

    Raises
    ------
    FileWriteError
        If the file cannot be written. The error names the file.
    """
    name = os.fspath(path)
    if is_stream(name):
        with naming(name):
            stream = open(name, "wb")  # noqa: SIM115 (errors of the block are not of this file)
        with stream:
            yield _Named(stream, name)
        return
    with naming(name):
        place = _writable(real_place(name))
        sweep(place.parent)
        draft = _Draft(name, place, temporary_name(place.parent))
        file = _opened(draft)
    try:
        try:
            yield _Named(file, name)
            with naming(name):
                _finish(file, draft)
                file.close()
        finally:
            with suppress(OSError):  # an earlier error says more
                file.close()
        _put_in_place([draft])
    finally:
        remove(draft.temporary)


class _Named(io.RawIOBase, BinaryIO):
    """An open file whose errors name it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__()
        self._file, self._name = file, name

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with naming(self._name):
            return self._file.write(data)

    def flush(self) -> None:
        if not self._file.closed:
            with naming(self._name):
                self._file.flush()

    def tell(self) -> int:
        return self._file.tell()


def create_file(path: str | os.PathLike[str], content: str | bytes) -> bool:
    """Write a new file, and return False if it exists already.

    If several programs create the same file at once, one of them succeeds.

    Raises
    ------
    FileWriteError
        If the file cannot be written. The error names the file.
    """
    name = os.fspath(path)
    data = encoded(name, content)
    with naming(name):
        place = real_place(name)
        sweep(place.parent)
        draft = _Draft(name, place, temporary_name(place.parent))
        try:
            _fill(draft, data)
            try:
                os.link(draft.temporary, place)
            except FileExistsError:
                return False
            except (OSError, NotImplementedError):  # a file system without hard links
                try:
                    os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return False
                os.replace(draft.temporary, place)
            _sync_directory(place.parent)
        finally:
            remove(draft.temporary)
    return True


def move(path: Path, new: Path) -> None:
    """Give a file or a directory another name in one step, and flush that to the disk.

    Raises
    ------
    FileWriteError
        If it cannot be renamed. The error names it.
    """
    with naming(str(path)):
        os.replace(path, new)
        _sync_directory(new.parent)


def remove_directory(directory: Path) -> None:
    """Remove a directory with all that is in it, as far as possible."""
    shutil.rmtree(directory, ignore_errors=True)


def check_writable(*paths: str | os.PathLike[str]) -> None:
    """Check, before long work, that the files for its results can be written.

    Raises
    ------
    FileWriteError
        If a directory does not exist or is not writable, or the name is that of a directory or not
        a valid name. The error names the file.
    """
    for path in paths:
        name = os.fspath(path)
        with naming(name):
            if not is_stream(name):
                _try_directory(_writable(real_place(name)).parent)


def check_writable_directory(path: str | os.PathLike[str]) -> None:
    """Check that files can be written to a directory, which need not exist yet.

    Raises
    ------
    FileWriteError
        If it is a file, or cannot be created or written. The error names the directory.
    """
    with naming(os.fspath(path)):
        place = Path(os.path.realpath(path))
        while not os.path.lexists(place):
            _require_name(place.name)
            place = place.parent
        _try_directory(place)


def encoded(path: str | os.PathLike[str], content: str | bytes) -> bytes:
    """Return the bytes of a file; `FileWriteError` if UTF-8 cannot encode its text."""
    if not isinstance(content, str):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise FileWriteError(
            f"the text for {os.fspath(path)} contains {fault.object[fault.start]!a}, which UTF-8"
            " cannot encode",
            os.fspath(path),
        ) from fault


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Convert errors of the operating system to a `FileWriteError` that names the file."""
    try:
        yield
    except FileWriteError:
        raise
    except OSError as fault:
        raise FileWriteError(f"cannot write {path} ({fault.strerror or fault})", path) from fault
    except ValueError as fault:  # a null in the name
        raise FileWriteError(f"{path!r} is not the name of a file: {fault}", path) from fault


def real_place(path: str) -> Path:
    """Return the file behind all links of a path; `OSError` if it cannot be a file."""
    if not os.path.basename(path) or os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    with suppress(FileNotFoundError):
        os.stat(path)  # finds links that lead in circles, and names that are too long
    return Path(os.path.realpath(path))


def _writable(place: Path) -> Path:
    """Return a file that may be replaced; `OSError` if it is read-only."""
    if os.path.exists(place) and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)
    return place


def is_stream(path: str) -> bool:
    """Return whether a path is a pipe or a device, which cannot be replaced."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if os.path.abspath(path).startswith(_HANDLES):
        return True
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _fill(draft: _Draft, content: bytes) -> None:
    """Write the temporary file and flush it to the disk, with the permissions of the final file."""
    with _opened(draft) as file:
        file.write(content)
        _finish(file, draft)


def _opened(draft: _Draft) -> BinaryIO:
    """Create the temporary file."""
    # Others must not be able to read a secret file, not even its temporary file.
    mode = 0o600 if os.path.exists(draft.place) else 0o666
    with gate:
        handle = os.open(draft.temporary, _NEW, mode)
        own.add(draft.temporary)
    return os.fdopen(handle, "wb")


def _finish(file: BinaryIO, draft: _Draft) -> None:
    """Flush the temporary file to the disk, and give it the permissions of the final file."""
    with suppress(FileNotFoundError):
        _copy_rights(draft.place, os.stat(draft.place), draft.temporary)
    file.flush()
    os.fsync(file.fileno())


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _copy_rights(place: Path, old: os.stat_result, new: Path) -> None:
    """Give a new file the owner, the mode and the attributes of the file that it replaces."""
    same_group = True
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
        try:
            os.chown(new, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.chown(new, -1, old.st_gid)
            except OSError:
                same_group = False
    # If this fails, the new file remains readable only by its owner.
    with suppress(OSError):
        shutil.copystat(place, new)
    if not same_group:  # another group must not get the permissions of the old group
        new.chmod(stat.S_IMODE(new.stat().st_mode) & ~stat.S_IRWXG)
    os.utime(new)


def _put_in_place(drafts: Sequence[_Draft]) -> None:
    before: list[tuple[_Draft, Path | None]] = []
    try:
        # A single file needs no backup.
        for draft in drafts if len(drafts) > 1 else ():
            with naming(draft.path):
                before.append((draft, _kept(draft.place)))
        moved = 0
        try:
            for draft in drafts:
                moved += 1
                with naming(draft.path):
                    os.replace(draft.temporary, draft.place)
            for directory, path in {draft.place.parent: draft.path for draft in drafts}.items():
                with naming(path):
                    _sync_directory(directory)
        except BaseException:
            for draft, old in before[:moved]:
                with suppress(OSError):
                    draft.place.unlink() if old is None else os.replace(old, draft.place)
            raise
    finally:
        for _, old in before:
            if old is not None:
                remove(old)


def _kept(place: Path) -> Path | None:
    """Return a backup of a file, a second name or a copy; None if there is no such file."""
    beside = temporary_name(place.parent)
    with gate:
        own.add(beside)
        try:
            os.link(place, beside)
        except FileNotFoundError:
            own.discard(beside)
            return None
        except (OSError, NotImplementedError):
            shutil.copy2(place, beside)
    return beside


def _sync_directory(directory: Path) -> None:
    """Flush a directory to the disk, if the system can."""
    if os.name == "nt":
        return
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # the directory is writable, but not readable
        return
    try:
        os.fsync(handle)
    except OSError as fault:
        if fault.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def _try_directory(directory: Path) -> None:
    """Raise `OSError` unless a file can be created in a directory."""
    trial = temporary_name(directory)
    with gate:
        os.close(os.open(trial, _NEW, 0o600))
        trial.unlink()


def _require_name(name: str) -> None:
    if len(os.fsencode(name)) > 255:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), name)
