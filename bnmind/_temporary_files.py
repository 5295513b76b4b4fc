"""The names of temporary files, and the removal of those whose program is gone.

A name says which machine and which process made the file. It is stale if that process has
ended, or after a day if nobody here can tell: then it is of another machine, of an earlier
start of this one, or its process number has been given away again.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

__all__ = ["sweep", "temporary_name"]

_NAME = re.compile(r"\.bnmind-([0-9a-f]{8})-([0-9]{1,9})-[0-9a-f]{8}\.tmp")
_DAY = 24 * 60 * 60.0


def temporary_name(directory: Path) -> Path:
    """Return the name of a new temporary file in a directory.

    It does not hold the name of the file to be, which may already be as long as names can be.
    """
    return directory / f".bnmind-{_machine()}-{os.getpid()}-{uuid4().hex[:8]}.tmp"


def sweep(directory: Path) -> None:
    """Remove the stale temporary files in a directory, as far as that is possible."""
    machine = _machine()
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found is None:
                continue
            with suppress(OSError):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > _DAY or (found[1] == machine and not _is_running(int(found[2]))):
                    os.unlink(entry.path)


def _machine() -> str:
    """Return a text that is the same for programs that see each other's process numbers."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def _is_running(process: int) -> bool:
    if os.name == "nt":  # there the question itself ends the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
