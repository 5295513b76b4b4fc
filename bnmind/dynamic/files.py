"""Files of dynamic networks: JSON that holds the two kinds of slices as bnmind's models.

The form is ::

    {"schema": "bnmind-dynamic", "version": 1,
     "first": {"schema": "bnmind-model", …},
     "transition": {"schema": "bnmind-model", …}}

Both parts are models as `bnmind.pgm.formats.records` writes them. The second one holds the
distributions of the later slices; a variable of the previous slice has a name that ends in
``[t-1]``, and no distribution. GeNIe's files are read by `bnmind.dynamic.xdsl`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bnmind._arguments import checked
from bnmind._files import write_files
from bnmind.dynamic.network import DynamicNetwork
from bnmind.dynamic.xdsl import dynamic_from_xdsl
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm.factor import Factor
from bnmind.pgm.files import FILE_CELLS
from bnmind.pgm.formats.declared import PLAIN_READING, NormalizedTable, Reading
from bnmind.pgm.formats.model_format import check_tables_fit, read_from
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.network import FactorModel
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD

__all__ = ["dynamic_from_json", "dynamic_to_json", "read_dynamic", "write_dynamic"]

SCHEMA = "bnmind-dynamic"
VERSION = 1


@checked
def write_dynamic(
    network: DynamicNetwork, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a dynamic network to a ``.json`` file.

    Parameters
    ----------
    network
        The network. Functions stay functions.
    path
        An existing file is replaced, or left untouched if anything fails.
    max_cells
        Most cells of the largest table.

    Raises
    ------
    ModelFileError
        If the suffix is another one, or tables vary from slice to slice.
    FileWriteError
        If the file cannot be written.
    TooLargeError
        If the largest table has more than ``max_cells`` cells.
    """
    _suffix(path, (".json",), packed=False)
    write_files({Path(path): dynamic_to_json(network, max_cells=max_cells)})


@checked
def read_dynamic(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = False,
    on_normalized: Callable[[NormalizedTable], None] | None = None,
) -> DynamicNetwork:
    """Return the dynamic network in a file; its name may end in ``.gz``, packed by gzip.

    Parameters
    ----------
    path
        A ``.json`` file of the form that `write_dynamic` writes, or a ``.xdsl`` file of GeNIe
        with a temporal plate. There, the parents of a variable are in its own slice or in the one
        before. A node outside of the plate becomes a variable that keeps its state.
    max_cells
        The largest number of cells of all its tables together.
    normalize
        Whether rows of probabilities that miss one by no more than rounding are normalized; see
        `bnmind.pgm.files.read_with_report`.
    on_normalized
        Called with each table that has rows that were normalized.

    Raises
    ------
    ModelFileError
        If the file cannot be read or does not hold a valid dynamic network. The error names all
        faults with their place.
    """
    suffix = _suffix(path, (".json", ".xdsl"), packed=True)
    reading = Reading(normalize=normalize)
    if on_normalized is not None:
        reading = replace(reading, on_table=on_normalized)

    def parsed(data: bytes) -> DynamicNetwork:
        if suffix == ".xdsl":
            return dynamic_from_xdsl(data, max_cells=max_cells, reading=reading)
        return dynamic_from_json(text_of(data), max_cells=max_cells, reading=reading)

    return read_from(path, parsed)


def _suffix(path: str | os.PathLike[str], allowed: tuple[str, ...], *, packed: bool) -> str:
    name = Path(path).name
    suffix = Path(name.removesuffix(".gz") if packed else name).suffix.lower()
    if suffix not in allowed:
        raise ModelFileError(
            f"expected a file name ending in {' or '.join(allowed)} for a dynamic network, got"
            f" {name!r}",
            str(path),
        )
    return suffix


def dynamic_to_json(network: DynamicNetwork, *, max_cells: int = FILE_CELLS) -> str:
    """Return a dynamic network as JSON text; see `write_dynamic`."""
    from bnmind.pgm.formats.records import model_to_json

    if network.varying:
        raise ModelFileError(
            "a file cannot hold tables that vary from slice to slice, as of"
            f" {', '.join(network.varying)}"
        )
    cpds = (*network.first.cpds, *network.transition)
    check_tables_fit([c for c in cpds if isinstance(c, TabularCPD)], max_cells=max_cells)
    first = model_to_json(network.first, max_cells=max_cells)
    later = model_to_json(FactorModel(network.transition), max_cells=max_cells)
    return (
        f'{{"schema": "{SCHEMA}", "version": {VERSION},\n'
        f'"first": {first.rstrip()},\n"transition": {later.rstrip()}}}\n'
    )


def dynamic_from_json(
    text: str, *, max_cells: int = DEFAULT_CELLS, reading: Reading = PLAIN_READING
) -> DynamicNetwork:
    """Return the dynamic network in a JSON text; see `read_dynamic`."""
    from bnmind._records import record_from_json
    from bnmind.pgm.formats.records import DynamicRecord, model_from_json, network_from_json

    record = record_from_json(text, SCHEMA, {VERSION: DynamicRecord})
    how: dict[str, Any] = {"max_cells": max_cells, "reading": reading}
    network = _part(record.first, "first", partial(network_from_json, **how))
    later = _part(record.transition, "transition", partial(model_from_json, is_part=True, **how))
    factors = [p for p in later.potentials if isinstance(p, Factor)]
    if factors:
        over = ", ".join(factors[0].names) or "nothing"
        raise ModelFileError(
            f"expected distributions at potentials of transition, got a factor over {over}"
        )
    cpds = tuple(p for p in later.potentials if not isinstance(p, Factor))
    try:
        return DynamicNetwork(network, cpds)
    except InvalidModelError as fault:
        raise ModelFileError(
            f"expected a valid dynamic network, got at potentials of first or transition: {fault}"
        ) from fault


def _part(record: dict[str, Any], name: str, read: Any) -> Any:
    """Return a part of the file; its errors say which part."""
    try:
        text = json.dumps(record)
    except ValueError as fault:  # a whole number of thousands of digits
        raise ModelFileError(f"expected numbers at potentials of {name}: {fault}") from fault
    try:
        return read(text)
    except ModelFileError as fault:
        # The line of the part is not that of the file.
        raise ModelFileError(f"in the part {name}: {fault}") from fault
