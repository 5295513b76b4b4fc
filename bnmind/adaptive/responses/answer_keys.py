"""Keys of items: which response an answer counts as, such as the letter of a choice."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.text_tables import TextTable, number_of, table_given
from bnmind.errors import InvalidModelError

_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(["text", "wording", "question", "stem", "label", "title"], "text"),
    **dict.fromkeys(["content", "area", "domain", "topic"], "content"),
    **dict.fromkeys(["cost", "costs"], "cost"),
    **dict.fromkeys(["time", "seconds", "minutes"], "time"),
    **dict.fromkeys(["testlet", "unit"], "testlet"),
    **dict.fromkeys(["enemies", "enemy"], "enemies"),
    **dict.fromkeys(["picture", "image", "figure"], "picture"),
    **dict.fromkeys(["choices", "options", "alternatives"], "choices"),
    **dict.fromkeys(["key", "correct", "solution"], "key"),
    "shuffle": "shuffle",
}
"""The field of an item for each name of a column, in lower case."""

_CODES = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
"""The responses that choices may count as, if the item is not known yet."""

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


def answer_keys(source: Any, *, is_optional: bool = False) -> dict[str, AnswerKey]:
    """Return the key of each item: from a mapping, a bank, or a file or a data frame.

    A table has a row for each item, with the right answer in a column ``key``, and perhaps a column
    ``choices``, as for `describe_bank`; or a single row with the right answer to each column. Items
    without right answers or choices have no key. The keys of a bank are optional.

    Raises
    ------
    InvalidModelError
        If the table has no right answers, or a key is none of its choices; not if the keys are
        optional.
    """
    if isinstance(source, ItemBank):
        choices = {item.name: item.choices for item in source.items if item.choices}
        return {
            name: AnswerKey.of_choices(
                [(text, source.response(name, response)) for text, response in pairs],
                is_optional=True,
            )
            for name, pairs in choices.items()
        }
    if isinstance(source, Mapping):
        return {
            str(name): right if isinstance(right, AnswerKey) else AnswerKey.of_right(right)
            for name, right in source.items()
        }
    table = named_table("key", source)
    columns = item_columns(table)
    if not is_optional and "key" not in columns and "choices" not in columns:
        if len(table.rows) == 1:
            cells = zip(table.header or (), table.rows[0], strict=True)
            return {name: AnswerKey.of_right(cell) for name, cell in cells if name and clean(cell)}
        raise InvalidModelError(["expected a column item and a column key, with the right answers"])
    keys, problems = {}, []
    for row, name in enumerate(names_in_rows(table, "item")):
        key, cell = (clean(columns[f][row]) if f in columns else "" for f in ("key", "choices"))
        texts = texts_in(cell) if cell else ()
        try:
            if key:
                keys[name] = AnswerKey.of_right(key, texts, is_optional=is_optional)
            elif texts:
                pairs = choices_in(cell, "", _CODES)
                codes = [(text, int(response)) for text, response in pairs]
                keys[name] = AnswerKey.of_choices(codes, is_optional=is_optional)
        except ValueError as fault:
            problems.append(f"the choices of item {name}: {fault}")
    if problems and not is_optional:
        raise InvalidModelError(problems)
    return keys


def named_table(what: str, source: Any) -> TextTable:
    """Return the table in a file, or of a data frame, whose columns have names.

    Raises
    ------
    InvalidModelError
        If rows have too few or too many cells, or the columns have no names.
    """
    table = table_given(what, source)
    if table.uneven or table.header is None:
        raise InvalidModelError(table.uneven or ["the first line must name the columns"])
    return table


def names_in_rows(table: TextTable, kind: str) -> list[str]:
    """Return the name in each row: in the column of the kind, or in the first one."""
    header = [name.lower() for name in table.header or ()]
    place = header.index(kind) if kind in header else 0
    return [str(cell).strip() for cell in table.column(place)]


def item_columns(table: TextTable) -> dict[str, Sequence[Any]]:
    """Return the columns by the fields of items that they hold."""
    columns: dict[str, Sequence[Any]] = {}
    for place, name in enumerate(table.header or ()):
        if (field := _FIELDS.get(name.lower())) is not None and field not in columns:
            columns[field] = table.column(place)
    return columns


def clean(cell: Any) -> str:
    """Return the text in a cell without double blanks; "" for a missing one."""
    text = "" if cell is None else " ".join(str(cell).split())
    return "" if text in ("nan", "<NA>", "NA") else text
