"""Banks and responses as parts of files of experiments.

They are names of files when people write them; in the files of stores they are whole. This module
imports pydantic.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from bnmind._messages import shown
from bnmind.adaptive import ItemBank, Responses, read_bank
from bnmind.adaptive.items.bank_json import bank_from_json, bank_to_json
from bnmind.errors import ExperimentFileError
from bnmind.lab.mastermind.setting_json import Part

__all__ = [
    "ResponsesRecord",
    "as_list",
    "as_table",
    "bank_of",
    "bank_text",
    "responses_content",
    "responses_of",
]

_TOO_LARGE = 2**31
"""Smaller codes fit into an array, which checks them; no response has such a code."""


def as_list(value: Any) -> list[Any]:
    """Return a list, also of a single value."""
    return value if isinstance(value, list) else [value]


class ResponsesRecord(Part):
    """Recorded answers: a file, or items and codes."""

    file: str | None = None
    items: list[str] | None = None
    codes: list[list[int]] | None = None


def as_table(value: Any) -> Any:
    """Return the table of responses in a file that is named."""
    return {"file": value} if isinstance(value, str) else value


def bank_of(text: str, directory: Path) -> ItemBank:
    """Return the bank in a file that is named, or in the text itself."""
    is_whole = text.lstrip().startswith("{")
    return bank_from_json(text) if is_whole else read_bank(directory / text)


def responses_of(record: ResponsesRecord, directory: Path) -> Responses:
    """Return the responses of a record."""
    has_table = record.items is not None or record.codes is not None
    if record.file is not None:
        if has_table:
            raise ExperimentFileError(
                ["expected either the name of a CSV file or items and codes, got both"], record
            )
        return Responses.from_csv(directory / record.file)
    if record.items is None or record.codes is None:
        raise ExperimentFileError(["expected the name of a CSV file, or items and codes"], record)
    for number, row in enumerate(record.codes, start=1):
        if len(row) != len(record.items):
            raise ExperimentFileError(
                [f"codes {number}: expected {len(record.items)} numbers, got {len(row)}"], row
            )
        if large := [code for code in row if abs(code) >= _TOO_LARGE]:
            raise ExperimentFileError(
                [f"codes {number}: expected small numbers, got {shown(large[0])}"], row
            )
    return Responses(np.array(record.codes, dtype=np.int64), tuple(record.items))


def bank_text(bank: ItemBank) -> str:
    """Return a bank as a text in one line, which `bank_of` reads."""
    return json.dumps(json.loads(bank_to_json(bank)), ensure_ascii=False, separators=(",", ":"))


def responses_content(responses: Responses) -> dict[str, Any]:
    """Return responses as plain values, which `responses_of` reads as a record."""
    return {"items": list(responses.items), "codes": responses.codes.tolist()}
