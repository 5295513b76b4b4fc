"""Files: read with a limit, written as a whole or not at all, and locked.

*Reading.* A file may be too large, compressed by a factor of a thousand, not a file at all, text in
another encoding, or deeply nested JSON. In each case, a `ModelFileError` names the file, and never
more of it is held than the limit allows.

*Writing.* New content is written to a temporary file in the same directory and flushed to the disk.
Then it replaces the old file in one step. A full disk, a crash or a killed program therefore leaves
the old file as it was. A new file gets the permissions of the old one. A link stays a link, and the
file behind it is replaced. Pipes and devices, such as ``/dev/stdout``, are written directly.

*Temporary files.* Their name contains the machine and the process that made them. The next writer
in a directory removes stale ones: those of a process that has ended, or, if this is unknown (the
file is from another machine, from an earlier boot, or its process number is in use again), of an
earlier day.

*Locks*, from reading a file to replacing it. The lock is on a small file beside the file; the
holder of the lock removes it at the end. The operating system releases the lock when the program
ends, so there are no stale locks. On file systems without locks, nothing is locked.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import shutil
import socket
import stat
import sys
import threading
import time
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from bnmind._messages import made_by_newer, shown
from bnmind.errors import ModelFileError

SMALL_FILE = 2**24
"""The limit for files of persons and games: noise, weights, saved games (16 MiB)."""

LARGE_FILE = 2**26
"""The limit for files with data: models, banks, responses, trees (64 MiB)."""

_PIECE = 2**20
_PLACE = re.compile(r"at line (\d+) column (\d+)$")

_USES = {
    "bnmind-bank": "an item bank is for bnmind test, classify and simulate; its network is"
    " bnmind.adaptive.read_bank(path).network",
    "bnmind-dynamic": "a network over time is for bnmind track",
    "bnmind-session": "a saved test is for bnmind test --session",
}
"""The use of a file of another kind, by its schema."""


def read_bytes(path: str | os.PathLike[str], *, most: int, packed: bool = False) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path
        The file.
    most
        The limit for its size in bytes, uncompressed.
    packed
        Whether it is compressed by gzip.

    Raises
    ------
    ModelFileError
        If it cannot be read or decompressed, or is larger.
    """
    try:
        with open(path, "rb") as file:
            if packed:
                with gzip.open(file) as unpacked:
                    return _limited(unpacked, path, most)
            return _limited(file, path, most)
    except ModelFileError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise ModelFileError(f"{path} is not packed by gzip: {fault}", str(path)) from fault
    except OSError as fault:
        raise ModelFileError(
            f"cannot read {_name(path)} ({fault.strerror or fault})", str(path)
        ) from fault
    except ValueError as fault:  # a name that no file can have
        raise ModelFileError(
            f"{shown(os.fspath(path))} is not the name of a file: {fault}", os.fspath(path)
        ) from fault


def _name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file for a message; in quotes and short if it is no usual one."""
    name = os.fspath(path)
    return name if name.isprintable() and len(name) < 1000 else shown(name)


def read_text(path: str | os.PathLike[str], *, most: int, damaged: bool = False) -> str:
    """Return the text of a file in UTF-8, with line feeds as line ends.

    Parameters
    ----------
    path
        The file. A byte-order mark at its start is removed.
    most
        The limit for its size in bytes.
    damaged
        Whether to return the valid beginning of a text that is not UTF-8 throughout.

    Raises
    ------
    ModelFileError
        If it cannot be read, is larger, or is not UTF-8.
    """
    data = read_bytes(path, most=most)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        text = data[: fault.start].decode("utf-8-sig") if damaged else ""
        if not text.strip():
            raise ModelFileError(
                f"{path} is not UTF-8 text: {fault.reason} at byte {fault.start:,}",
                str(path),
            ) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, nested at most 200 levels deep.

    Raises
    ------
    ModelFileError
        If the text is not JSON, is nested deeper, or contains NaN, an infinity, or an integer of
        thousands of digits. The error has the line and the column.

    Examples
    --------
    >>> parse_json('{"items": [1, 2.5]}')
    {'items': [1, 2.5]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
    bnmind.errors.ModelFileError: expected JSON, got recursion limit exceeded at line 1 column 202
    """
    # The depth limit of Python's own reader depends on the call stack.
    from pydantic_core import from_json

    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as fault:  # the latter for half a pair of surrogates
        place = _PLACE.search(str(fault))
        raise ModelFileError(
            f"expected JSON, got {fault}",
            line=int(place[1]) if place else None,
            column=int(place[2]) if place else None,
        ) from fault


def parse_document(text: str, name: str, *versions: int) -> dict[str, Any]:
    """Return the content of a JSON file of bnmind with a head, its schema or format and version.

    Raises
    ------
    ModelFileError
        If the text is not JSON, or not a file of this name and one of these versions.
    """
    content = parse_json(text)
    head = content if isinstance(content, dict) else {}
    require_head(head.get("schema", head.get("format")), head.get("version"), name, versions)
    return head


def require_head(schema: object, version: object, name: str, versions: Iterable[int]) -> None:
    """Raise `ModelFileError` unless the head of a file has a name, and a version that is known."""
    if schema != name:
        got = "none" if schema is None else f"{shown(schema)} at schema"
        use = f"; {_USES[schema]}" if isinstance(schema, str) and schema in _USES else ""
        raise ModelFileError(f"expected schema {name}, got {got}{use}")
    known = sorted(versions)
    if type(version) is not int or version not in known:
        newer = made_by_newer(version, known[-1])
        raise ModelFileError(
            f"expected {name} of version {' or '.join(map(str, known))}, got version"
            f" {shown(version)}{newer and newer + ','} at version"
        )


def _limited(file: BinaryIO | gzip.GzipFile, path: str | os.PathLike[str], most: int) -> bytes:
    # Read in pieces, because the size of compressed files and devices is unknown.
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise ModelFileError(f"{path} is larger than {most:,} bytes", os.fspath(path))
    return b"".join(pieces)


own: set[Path] = set()
"""The temporary files and the locks of this process that are there now."""

gate = threading.RLock()
"""Held while one of them is created; once the process has begun to end, until its end."""

_NAME = re.compile(r"\.bnmind-([0-9a-f]{8})-([0-9]{1,9})-[0-9a-f]{8}\.tmp")
_DAY = 24 * 60 * 60.0


def temporary_name(directory: Path) -> Path:
    """Return the name of a new temporary file in a directory.

    It does not contain the name of the final file, which may already have the maximal length.
    """
    return directory / f".bnmind-{_machine()}-{os.getpid()}-{uuid4().hex[:8]}.tmp"


def remove(path: Path) -> None:
    """Remove a temporary file or a lock of this process, if it is there."""
    with suppress(OSError):
        path.unlink()
    own.discard(path)


def remove_own() -> None:
    """Remove all temporary files and locks of this process, which must end at once afterwards.

    Threads that go on writing can create no others.
    """
    gate.acquire(timeout=1.0)
    for path in tuple(own):
        remove(path)


def sweep(directory: Path) -> None:
    """Remove the stale temporary files in a directory, if possible."""
    machine = _machine()
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is None:
                continue
            with suppress(OSError):
                if match[1] == machine and int(match[2]) == os.getpid():
                    continue  # another thread is writing it, whatever the clock says
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > _DAY or (match[1] == machine and not _is_running(int(match[2]))):
                    os.unlink(entry.path)


def _machine() -> str:
    """Return a text that is equal for programs that share their process numbers."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def _is_running(process: int) -> bool:
    if os.name == "nt":  # there, this call would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


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
    ModelFileError
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
    ModelFileError
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
    ModelFileError
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
    ModelFileError
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
    ModelFileError
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
    ModelFileError
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
    ModelFileError
        If it is a file, or cannot be created or written. The error names the directory.
    """
    with naming(os.fspath(path)):
        place = Path(os.path.realpath(path))
        while not os.path.lexists(place):
            if len(os.fsencode(place.name)) > 255:
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), place.name)
            place = place.parent
        _try_directory(place)


def encoded(path: str | os.PathLike[str], content: str | bytes) -> bytes:
    """Return the bytes of a file; `ModelFileError` if UTF-8 cannot encode its text."""
    if not isinstance(content, str):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise ModelFileError(
            f"the text for {os.fspath(path)} contains {fault.object[fault.start]!a}, which UTF-8"
            " cannot encode",
            os.fspath(path),
        ) from fault


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Convert errors of the operating system to a `ModelFileError` that names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except OSError as fault:
        raise ModelFileError(f"cannot write {path} ({fault.strerror or fault})", path) from fault
    except ValueError as fault:  # a null in the name
        raise ModelFileError(f"{path!r} is not the name of a file: {fault}", path) from fault


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


_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


class OvertakenError(ModelFileError):
    """Another program has written to a file in the meantime: nothing can be saved there."""


@contextmanager
def locked(
    path: str | os.PathLike[str], *, patience: float = 10.0, held: str = ""
) -> Iterator[None]:
    """Lock a file against other programs and threads that lock it.

    Parameters
    ----------
    path
        The file; it need not exist. Readers need no lock, because files are replaced in one step.
    patience
        Seconds to wait for another holder of the lock.
    held
        What the error says if the lock is held for all this time, unless it names the file.

    Raises
    ------
    ModelFileError
        If the lock is held for all this time, or the directory cannot be written. The error names
        the file.
    """
    name = os.fspath(path)
    held = held or (
        f"another program has been writing {name} for {patience:.0f} seconds; try again when it"
        " has ended"
    )
    with naming(name):
        if is_stream(name):  # a pipe or a device holds nothing that could be lost
            place, handle = None, None
        else:
            place = _lock_file(real_place(name))
            handle = _acquire(place, name, patience, held)
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


def _acquire(place: Path, name: str, patience: float, held: str) -> int:
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
            raise ModelFileError(held, name)
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
