"""Files are written here, each whole or not at all.

New content goes to a temporary file beside its place, is brought to the disk, and only then
takes the place in one step. So a full disk, a crash or a killed program leaves the old file as
it was. A new file has the rights of the one that it replaces; a link stays a link, and the file
that it points to is replaced. Pipes and devices, ``/dev/stdout`` say, are written to as they
are. Temporary files that a killed program left are removed by the next writer in the directory.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bnmind._temporary_files import sweep, temporary_name
from bnmind.errors import FileWriteError

__all__ = [
    "check_writable",
    "check_writable_directory",
    "create_file",
    "encoded",
    "is_stream",
    "naming",
    "real_place",
    "write_file",
    "write_files",
]

_HANDLES = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
"""Names of files that are open already: whoever reads them would not see a new one."""

_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS}
"""Errors of file systems that cannot bring a directory to the disk."""


@dataclass(frozen=True)
class _Draft:
    """The content of one file, on its way."""

    path: str
    """As the caller named it."""
    place: Path
    """The file to be replaced, behind all links."""
    temporary: Path
    """Beside it."""


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file, in place of the one that is there.

    Parameters
    ----------
    path
        The file; its directory must exist.
    content
        Bytes, or text, which is written in UTF-8 with its ends of lines as they are.

    Raises
    ------
    FileWriteError
        If it cannot be written; it names the file, and what was there is left as it was.
    """
    write_files({Path(path): content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files, all or none of them.

    All are brought to the disk beside their places before the first takes its place. If one
    cannot take its place, those before it are put back. Only a program killed, or a machine
    stopped, in the instant between the first and the last of these steps leaves new files
    beside old ones, each of them whole.

    Parameters
    ----------
    contents
        The content of each file, as for `write_file`.

    Raises
    ------
    FileWriteError
        If one cannot be written; it names that file, and all are left as they were.
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
        _put_in_place(drafts)
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.temporary.unlink()


def create_file(path: str | os.PathLike[str], content: str | bytes) -> bool:
    """Write a file that must not exist yet, and return whether it was written.

    Of several programs that create the same file at once, one succeeds.

    Raises
    ------
    FileWriteError
        If it cannot be written; it names the file.
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
            with suppress(OSError):
                draft.temporary.unlink()
    return True


def check_writable(*paths: str | os.PathLike[str]) -> None:
    """Raise if one of these files cannot be written; called before long work whose result they get.

    Raises
    ------
    FileWriteError
        If a directory does not exist or cannot be written, or the name is that of a directory
        or cannot be the name of a file; it names the file.
    """
    for path in paths:
        name = os.fspath(path)
        with naming(name):
            if not is_stream(name):
                _try_directory(_writable(real_place(name)).parent)


def check_writable_directory(path: str | os.PathLike[str]) -> None:
    """Raise if files cannot be written into a directory, which need not exist yet.

    Raises
    ------
    FileWriteError
        If it is a file, or cannot be made or written; it names the directory.
    """
    with naming(os.fspath(path)):
        place = Path(os.path.realpath(path))
        while not os.path.lexists(place):
            _require_name(place.name)
            place = place.parent
        _try_directory(place)


def encoded(path: str | os.PathLike[str], content: str | bytes) -> bytes:
    """Return the bytes of a file; `FileWriteError` if UTF-8 cannot hold its text."""
    if not isinstance(content, str):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise FileWriteError(
            f"expected text that UTF-8 can hold for {os.fspath(path)}, got"
            f" {fault.object[fault.start]!a} in it",
            os.fspath(path),
        ) from fault


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Turn errors of the system into a `FileWriteError` that names the file."""
    try:
        yield
    except FileWriteError:
        raise
    except OSError as fault:
        raise FileWriteError(
            f"expected a file that can be written, got {path} ({fault.strerror or fault})", path
        ) from fault
    except ValueError as fault:  # a null in the name
        raise FileWriteError(
            f"expected the name of a file, got {path!r} ({fault})", path
        ) from fault


def real_place(path: str) -> Path:
    """Return the file that a path leads to through all links; `OSError` if it cannot be one."""
    if not os.path.basename(path) or os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    with suppress(FileNotFoundError):
        os.stat(path)  # finds links that lead in circles, and names that are too long
    return Path(os.path.realpath(path))


def _writable(place: Path) -> Path:
    """Return a file that may be replaced; `OSError` if it is there and may only be read."""
    if os.path.exists(place) and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)
    return place


def is_stream(path: str) -> bool:
    """Return whether a path leads to a pipe or a device, which nothing can be put in place of."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if os.path.abspath(path).startswith(_HANDLES):
        return True
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _fill(draft: _Draft, content: bytes) -> None:
    """Write the temporary file and bring it to the disk, with the rights of the file to be."""
    try:
        old = os.stat(draft.place)
    except FileNotFoundError:
        old = None
    # Of a secret file not even the draft may be read by others, for however short a time.
    mode = 0o666 if old is None else 0o600
    with os.fdopen(os.open(draft.temporary, _NEW, mode), "wb") as file:
        file.write(content)
        if old is not None:
            _copy_rights(draft.place, old, draft.temporary)
        file.flush()
        os.fsync(file.fileno())


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _copy_rights(place: Path, old: os.stat_result, new: Path) -> None:
    """Give a new file the owner, the mode and the attributes of the one that it replaces."""
    kept = True
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
        try:
            os.chown(new, old.st_uid, old.st_gid)
        except OSError:
            try:
                os.chown(new, -1, old.st_gid)
            except OSError:
                kept = False
    # Where this fails the new file stays what it was made as: readable for its owner alone.
    with suppress(OSError):
        shutil.copystat(place, new)
    if not kept:  # another group must not get what was the right of the old one
        new.chmod(stat.S_IMODE(new.stat().st_mode) & ~stat.S_IRWXG)
    os.utime(new)


def _put_in_place(drafts: Sequence[_Draft]) -> None:
    before: list[tuple[_Draft, Path | None]] = []
    try:
        # One file needs no way back: it takes its place, or it does not.
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
                with suppress(OSError):
                    old.unlink()


def _kept(place: Path) -> Path | None:
    """Return a second name of a file, or a copy, to go back to; None if there is no such file."""
    beside = temporary_name(place.parent)
    try:
        os.link(place, beside)
    except FileNotFoundError:
        return None
    except (OSError, NotImplementedError):
        shutil.copy2(place, beside)
    return beside


def _sync_directory(directory: Path) -> None:
    """Bring a directory to the disk, where the system can."""
    if os.name == "nt":
        return
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # it may be written, but not read
        return
    try:
        os.fsync(handle)
    except OSError as fault:
        if fault.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def _try_directory(directory: Path) -> None:
    """Raise `OSError` unless a file can be made in a directory."""
    trial = temporary_name(directory)
    os.close(os.open(trial, _NEW, 0o600))
    trial.unlink()


def _require_name(name: str) -> None:
    if len(os.fsencode(name)) > 255:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), name)
