"""Choices of items in the cells of tables: the texts in one cell, the right one in another."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["choices_in"]


def choices_in(cell: str, key: str, responses: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the choices in a cell, each with the response that it counts as.

    Parameters
    ----------
    cell
        The texts, separated by ``|``, or else by semicolons.
    key
        The right text, or its letter or number; for an item with two responses the right choice
        counts as the last, and the others as the first. Empty if each text ends in ``=`` and
        the response.
    responses
        The responses of the item.

    Raises
    ------
    ValueError
        If the key is no choice, or there is none and a text has no response.

    Examples
    --------
    >>> choices_in("2/5 | 5/6 | 2/6", "B", ["0", "1"])
    (('2/5', '0'), ('5/6', '1'), ('2/6', '0'))
    >>> choices_in("never = 0; often = 2", "", ["0", "1", "2"])
    (('never', '0'), ('often', '2'))
    """
    texts = [part.strip() for part in cell.split("|" if "|" in cell else ";")]
    if not key:
        pairs = [text.rpartition("=") for text in texts]
        if not all(response.strip() in responses for _, _, response in pairs):
            raise ValueError(
                f"expected a key, or a response after each choice, one of {', '.join(responses)}"
            )
        return tuple((text.strip(), response.strip()) for text, _, response in pairs)
    if len(responses) != 2:
        raise ValueError("a key fits an item with two responses; otherwise write CHOICE = RESPONSE")
    right = _place(key, texts)
    return tuple((text, responses[place == right]) for place, text in enumerate(texts))


def _place(key: str, texts: Sequence[str]) -> int:
    if key in texts:
        return texts.index(key)
    if len(key) == 1 and key.upper() in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(texts)]:
        return ord(key.upper()) - ord("A")
    if key.isdecimal() and 1 <= int(key) <= len(texts):
        return int(key) - 1
    raise ValueError(f"expected the key to be one of the choices {', '.join(texts)}, got {key}")
