"""The record of a file of a dynamic network. This module imports pydantic."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from bnmind.pgm.formats.json_records import Strict

__all__ = ["DynamicRecord"]


class DynamicRecord(Strict):
    """A file: the models of the first slice and of later ones, which are checked later."""

    schema_name: str = Field(alias="schema")
    version: int
    first: dict[str, Any]
    transition: dict[str, Any]
