"""The file of names beside a UAI file: ``model.uai`` has ``model.uai.json``.

::

    {"schema": "bnmind-uai-names", "version": 1,
     "variables": [{"name": "rain", "states": ["no", "yes"]}, …]}

in the order of the variables in the UAI file. This module imports pydantic, so it is itself
imported when first needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm.formats.json_records import Strict, VariableRecord, listed, validated, variables_of
from bnmind.pgm.variable import Variable

__all__ = ["names_from_json", "names_to_json"]


class _Names(Strict):
    schema_name: str = Field(alias="schema")
    version: int
    variables: Annotated[list[VariableRecord], Field(fail_fast=True)]


def names_from_json(text: str) -> tuple[Variable, ...]:
    """Return the variables in the order of the UAI file.

    Raises
    ------
    ModelFileError
        If the text is not of this form; the error lists all faults with their paths.
    """
    record = validated(text, "bnmind-uai-names", {1: _Names})
    try:
        return tuple(variables_of(record.variables).values())
    except InvalidModelError as fault:
        raise ModelFileError(f"expected valid names, got {listed(fault.problems)}") from fault


def names_to_json(variables: Iterable[Variable]) -> str:
    """Return the names as JSON text, with one variable on each line."""
    lines = ",\n  ".join(
        json.dumps({"name": v.name, "states": list(v.states)}, ensure_ascii=False)
        for v in variables
    )
    return f'{{"schema": "bnmind-uai-names", "version": 1,\n "variables": [\n  {lines}\n ]}}\n'
