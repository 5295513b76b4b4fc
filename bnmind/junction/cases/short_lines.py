"""Files of text whose lines are bounded: a line alone may fill the memory."""

from __future__ import annotations

import gzip
import io
import os
import stat
from typing import Any

from bnmind._files import SMALL_FILE
from bnmind._messages import bytes_text
from bnmind.errors import ModelFileError

__all__ = ["ShortLines", "opened"]


class ShortLines(io.TextIOWrapper):
    """A text that refuses a line before it fills the memory; /dev/zero has one alone."""

    _since_line_end = 0
    _before: tuple[int, int] | None = None

    def read(self, size: int | None = -1, /) -> str:
        """Return the next characters."""
        text = super().read(size)
        last = text.rfind("\n")
        self._since_line_end = len(text) - last if last >= 0 else self._since_line_end + len(text)
        self._check(self._since_line_end)
        return text

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Return the next line."""
        line = super().readline(SMALL_FILE + 1)
        self._check(len(line))
        return line

    def require_unchanged(self) -> None:
        """Raise `ModelFileError` if another program wrote into the file since the first call."""
        found = os.fstat(self.fileno())
        if not stat.S_ISREG(found.st_mode):
            return
        now = found.st_size, found.st_mtime_ns
        if self._before is None:
            self._before = now
        elif now != self._before:
            raise ModelFileError(
                f"{self.name} was changed while it was read; try again once it is complete",
                str(self.name),
            )

    def _check(self, length: int) -> None:
        if length > SMALL_FILE:
            raise ValueError(f"a line is longer than {bytes_text(SMALL_FILE)}")


def opened(path: str | os.PathLike[str], encoding: str) -> ShortLines:
    """Open a file of text, which may be packed.

    Parameters
    ----------
    path
        The file.
    encoding
        The encoding of its text.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    packed = os.fspath(path).lower().endswith(".gz")
    file: Any = gzip.open(path) if packed else open(path, "rb")  # noqa: SIM115
    text = ShortLines(file, encoding=encoding, newline="")
    text.require_unchanged()
    return text
