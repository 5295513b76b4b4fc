"""Choices of items in the cells of tables: the texts in one cell, the right one in another."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bnmind.adaptive.items.tables.text_table import number_of

__all__ = ["AnswerKey", "choices_in", "texts_in"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class AnswerKey:
    """The response that each answer to an item counts as, such as the letter of a choice.

    Examples
    --------
    >>> key = AnswerKey.of_right("b", ("2/5", "5/6", "2/6"))
    >>> [key.code(answer) for answer in ("B", "5/6", 2, "A")], AnswerKey.of_right("3").code(3.0)
    ([1, 1, 1, 0], 1)
    """

    codes: Mapping[Hashable, int]
    """The position of the response by the answer."""
    others: int | None = None
    """That of any other answer; None if there is none."""
    is_optional: bool = False
    """Whether a column may hold scored responses instead of answers."""

    @classmethod
    def of_right(
        cls, right: Any, choices: Sequence[str] = (), *, is_optional: bool = False
    ) -> AnswerKey:
        """Return the key of an item with one right answer: a text, or the letter of a choice."""
        answers = {_plain(right)}
        if choices:
            place = _place(str(right), choices)
            answers = {_plain(text) for text in (choices[place], _LETTERS[place], place + 1)}
        return cls(dict.fromkeys(answers, 1), 0, is_optional)

    @classmethod
    def of_choices(
        cls, choices: Sequence[tuple[str, int]], *, is_optional: bool = False
    ) -> AnswerKey:
        """Return the key of an item whose choices count as responses, by text or letter."""
        letters = {
            _plain(letter): code for letter, (_, code) in zip(_LETTERS, choices, strict=False)
        }
        return cls(letters | {_plain(text): code for text, code in choices}, None, is_optional)

    def code(self, answer: Any) -> int | None:
        """Return the position of the response that an answer counts as; None if it has none."""
        return self.codes.get(_plain(answer), self.others)


def _plain(answer: Any) -> Hashable:
    """Return an answer as it is compared: a number, or a text in lower case."""
    number = number_of(answer)
    return " ".join(str(answer).split()).lower() if number is None else number


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
    texts = texts_in(cell)
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


def texts_in(cell: str) -> list[str]:
    """Return the texts in a cell, separated by ``|``, or else by semicolons."""
    return [part.strip() for part in cell.split("|" if "|" in cell else ";")]


def _place(key: str, texts: Sequence[str]) -> int:
    if key in texts:
        return texts.index(key)
    if len(key) == 1 and key.upper() in _LETTERS[: len(texts)]:
        return _LETTERS.index(key.upper())
    if key.isdecimal() and 1 <= int(key) <= len(texts):
        return int(key) - 1
    raise ValueError(f"expected the key to be one of the choices {', '.join(texts)}, got {key}")
