"""What the server remembers from one start to the next: its key and its port.

With the same key, cookies of visitors and the token go on to be valid. At the same port, a browser
finds again what pages have stored.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from bnmind._files import create_file, write_file
from bnmind.errors import FileWriteError

__all__ = ["key_of", "port_of", "remember_port"]

_BYTES = 32


def key_of(folder: Path) -> bytes:
    """Return the key in a folder, a new one at the first time.

    If the folder cannot be read or written, the key is a new one.
    """
    key, file = secrets.token_bytes(_BYTES), folder / "key"
    with suppress(OSError, FileWriteError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # nobody else may read the key
        create_file(file, key)  # the first of two servers that start at once does
        found = file.read_bytes()
        return found if len(found) == _BYTES else key
    return key


def port_of(folder: Path) -> int:
    """Return the port of the last time, 0 if there was none."""
    with suppress(OSError, ValueError):
        port = int((folder / "port").read_text(encoding="ascii"))
        return port if 0 < port < 2**16 else 0
    return 0


def remember_port(folder: Path, port: int) -> None:
    """Remember a port for the next time."""
    with suppress(OSError, FileWriteError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(folder / "port", str(port))
