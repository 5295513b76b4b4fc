"""Every name of bnmind in the table of terms exists."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "terms.md"
CODE = re.compile(r"`([^`]+)`")
ROOMS = [
    importlib.import_module(f"bnmind.{name}")
    for name in (
        *("adaptive", "pgm", "pgm.files", "junction", "questions", "sensitivity", "fitting"),
        *("dynamic", "views", "mastermind", "strategies"),
    )
]
NAME = re.compile(r"bnmind\.[a-z]+\.\w+|[A-Za-z_]+(\.[a-z_]+)?")


def rows() -> Iterator[list[str]]:
    """Yield the cells of the rows of all tables, without the first rows."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| you may say"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def names() -> list[str]:
    """Return the names of the columns that are about bnmind."""
    found = []
    for first, second, third in rows():
        if second == "bnmind":
            continue
        own = second if CODE.search(second) else third if first and "none" not in second else ""
        found += CODE.findall(own) if own is second or "`" in third else []
    return sorted({name for name in found if NAME.fullmatch(name)})


def exists(name: str) -> bool:
    """Return whether a name, or an attribute of a class, exists."""
    if name.startswith("bnmind."):
        module, _, last = name.rpartition(".")
        return hasattr(importlib.import_module(module), last)
    first, _, attribute = name.partition(".")
    homes = (room for room in ROOMS if first in room.__all__)
    thing: Any = getattr(next(homes, None), first, None)
    if not attribute or thing is None:
        return thing is not None
    has_field = is_dataclass(thing) and attribute in {field.name for field in fields(thing)}
    return has_field or hasattr(thing, attribute)


@pytest.mark.parametrize("name", names())
def test_a_name_in_the_table_exists(name: str) -> None:
    assert exists(name)


def test_the_tables_are_read() -> None:
    assert len(names()) > 80
    assert {"learn", "Classification.reliability", "bnmind.lab.plot_measure"} <= set(names())
    assert not exists("lern")
    assert not exists("Classification.reliabilty")


def test_every_row_has_a_counterpart_or_says_that_there_is_none() -> None:
    for row in rows():
        assert len(row) == 3, row
        assert row[0], row
        assert row[1], row
