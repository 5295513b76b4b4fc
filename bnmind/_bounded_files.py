"""Files that others made, read with a bound: the start of every reader.

A file may be far larger than it should be, packed so that it grows a thousand times,
no file at all, text in another encoding, or JSON that is nested without end. Each of
these is a `ModelFileError` in one sentence that names the file, and a file is never
held beyond its bound.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from typing import Any, BinaryIO

from bnmind.errors import ModelFileError

__all__ = ["LARGE_FILE", "SMALL_FILE", "parse_json", "read_bytes", "read_text"]

SMALL_FILE = 2**24
"""Bytes of a file that a person or a game makes: noise, weights, a saved game (16 MiB)."""

LARGE_FILE = 2**26
"""Bytes of a file that holds data: a model, a bank, responses, a tree (64 MiB)."""

_PIECE = 2**20
_PLACE = re.compile(r"at line (\d+) column (\d+)$")


def read_bytes(path: str | os.PathLike[str], *, most: int, packed: bool = False) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path
        The file.
    most
        Bytes that it may have, unpacked.
    packed
        Whether gzip has packed it.

    Raises
    ------
    ModelFileError
        If it cannot be read, cannot be unpacked, or is longer.
    """
    try:
        with open(path, "rb") as file:
            if packed:
                with gzip.open(file) as unpacked:
                    return _limited(unpacked, path, most)
            return _limited(file, path, most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise ModelFileError(
            f"expected a file packed by gzip, got {path} ({fault})", str(path)
        ) from fault
    except OSError as fault:
        raise ModelFileError(
            f"expected a file that can be read, got {path} ({fault.strerror or fault})", str(path)
        ) from fault
    except ValueError as fault:  # a name that no file can have
        raise ModelFileError(
            f"expected the name of a file, got {os.fspath(path)!r} ({fault})", os.fspath(path)
        ) from fault


def read_text(path: str | os.PathLike[str], *, most: int, damaged: bool = False) -> str:
    """Return the text of a file in UTF-8; each of its lines ends in a line feed.

    Parameters
    ----------
    path
        The file; a byte-order mark at its start is left out.
    most
        Bytes that it may have.
    damaged
        Whether a text that is UTF-8 only in its beginning is returned as far as it is.

    Raises
    ------
    ModelFileError
        If it cannot be read, is longer, or is not UTF-8.
    """
    data = read_bytes(path, most=most)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        text = data[: fault.start].decode("utf-8-sig") if damaged else ""
        if not text.strip():
            raise ModelFileError(
                f"expected UTF-8 text in {path}, got {fault.reason} at byte {fault.start:,}",
                str(path),
            ) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(text: str) -> Any:
    """Return the value that a JSON text stands for, nested at most 200 deep.

    Raises
    ------
    ModelFileError
        If it is no JSON, is nested deeper, holds NaN or an infinity, or a whole number of
        thousands of digits; with the line and column.

    Examples
    --------
    >>> parse_json('{"items": [1, 2.5]}')
    {'items': [1, 2.5]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
    bnmind.errors.ModelFileError: expected JSON, got recursion limit exceeded at line 1 column 202
    """
    # Python's own reader has no limit but that of its stack, which depends on who calls.
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
    # Piece by piece: neither a packed file nor a device says how long it is.
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise ModelFileError(
                f"expected at most {most:,} bytes, got more in {path}", os.fspath(path)
            )
    return b"".join(pieces)
