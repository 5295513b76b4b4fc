"""Reading of files with a limit for their size.

A file may be too large, compressed by a factor of a thousand, not a file at all, text in another
encoding, or deeply nested JSON. In each case, the functions raise a `ModelFileError` that names the
file. They never hold more of a file than the limit allows.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from typing import Any, BinaryIO

from bnmind._messages import shown
from bnmind.errors import ModelFileError

__all__ = ["LARGE_FILE", "SMALL_FILE", "parse_json", "read_bytes", "read_text"]

SMALL_FILE = 2**24
"""The limit for files of persons and games: noise, weights, saved games (16 MiB)."""

LARGE_FILE = 2**26
"""The limit for files with data: models, banks, responses, trees (64 MiB)."""

_PIECE = 2**20
_PLACE = re.compile(r"at line (\d+) column (\d+)$")


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


def _limited(file: BinaryIO | gzip.GzipFile, path: str | os.PathLike[str], most: int) -> bytes:
    # Read in pieces, because the size of compressed files and devices is unknown.
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise ModelFileError(f"{path} is larger than {most:,} bytes", os.fspath(path))
    return b"".join(pieces)
