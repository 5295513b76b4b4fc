"""The names of temporary files, the removal of stale ones, and that of all at a sudden end.

The name contains the machine and the process that made the file. A file is stale if this process
has ended. If this is unknown (the file is from another machine, from an earlier boot, or its
process number is in use again), the file is stale after a day. A process does not remove its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

__all__ = ["gate", "own", "remove", "remove_own", "sweep", "temporary_name"]

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
