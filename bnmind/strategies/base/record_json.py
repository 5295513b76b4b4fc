"""Small JSON files of strategies: a format, a version, and a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bnmind._files import parse_document
from bnmind.errors import BnmindError, ModelFileError

__all__ = ["parse_record"]

_Kind = TypeVar("_Kind")


def parse_record(
    text: str, where: str, kind: tuple[str, int], read: Callable[[Any], _Kind]
) -> _Kind:
    """Return the value of a JSON text of a format and version; messages name the file as `where`.

    Parameters
    ----------
    text, where
        The text, and the name of its file.
    kind
        The format and its version.
    read
        Returns the value of the document. It may raise as wrong parts do.

    Raises
    ------
    ModelFileError
        If the text does not contain such a value.
    """
    try:
        return read(parse_document(text, *kind))
    except (
        BnmindError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
    ) as error:
        reason = str(error) if isinstance(error, BnmindError) else "another form"
        line, column = (getattr(error, part, None) for part in ("line", "column"))
        raise ModelFileError(
            f"expected {kind[0]} in {where}, got: {reason}", where, line=line, column=column
        ) from error
