"""Item banks in files: one JSON file, or a network file with the roles beside it.

============================  =====================================================
file                          content
============================  =====================================================
``bank.json``                 the whole bank, see `bnmind.adaptive.items.records`
``bank.xdsl``, ``.bif``, …    the network, for programs that read its format; skills
                              and items, with all their properties, are in
                              ``bank.xdsl.roles.json``; without this file, those of an
                              XDSL file are GeNIe's targets and ranked observations
============================  =====================================================
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from bnmind import _files
from bnmind._arguments import checked
from bnmind._files import LARGE_FILE, encoded, write_files
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.errors import InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm import Network
from bnmind.pgm.files import FILE_CELLS, NETWORK_SUFFIXES, model_contents, read_network

__all__ = ["bank_contents", "read_bank", "read_text", "write_bank"]

_SHOWN = 6
"""Names that an error shows."""


@checked
def write_bank(
    bank: ItemBank | HasBank, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a bank to a file, in the format of its suffix.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns. ``.json`` files keep response models; other formats
        store tables.
    path
        Replaced if it exists, together with the file of roles beside it. If anything
        fails, all files stay as they were.
    max_cells
        The limit of cells in one table.

    Raises
    ------
    ModelFileError
        If the suffix is unknown or the format cannot hold the network.
    FileWriteError
        If a file cannot be written; the message names the file.
    TooLargeError
        If a table has more cells.
    """
    write_files(bank_contents(bank_of(bank), path, max_cells=max_cells))


def bank_contents(
    bank: ItemBank, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> dict[Path, bytes]:
    """Return the content of each file that `write_bank` writes, in the order of writing.

    Parameters and errors are those of `write_bank`. Before long work, call it with the
    initial bank to find out whether the final bank could be written.
    """
    from bnmind.adaptive.items.records import bank_to_json, roles_to_json

    if Path(path).suffix.lower() == ".json":
        texts = {Path(path): bank_to_json(bank, max_cells=max_cells)}
    else:
        # The network first and the roles last: a network without roles is not read as a bank.
        texts = model_contents(bank.network, path, max_cells=max_cells)
        texts[_roles(path)] = roles_to_json(bank)
    return {place: encoded(place, text) for place, text in texts.items()}


@checked
def read_bank(path: str | os.PathLike[str], *, normalize: bool = False) -> ItemBank:
    """Return the bank in a file.

    Parameters
    ----------
    path
        A file that `write_bank` wrote, or another program that knows the format of the network.
    normalize
        As for `bnmind.pgm.files.read_network`, where the bank is the file of a network.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, a file cannot be read, or its content is not a bank; the
        message names the file.
    TooLargeError
        If the tables would have too many cells. None is allocated.
    """
    from bnmind.adaptive.items.records import bank_from_json, roles_from_json

    suffix = Path(path).suffix.lower()
    if suffix not in NETWORK_SUFFIXES:
        raise ModelFileError(
            "expected a bank, a file whose name ends in .json (or"
            f" {', '.join(one for one in NETWORK_SUFFIXES if one != '.json')}), got"
            f" {Path(path).name!r}",
            str(path),
        )
    place = Path(path) if suffix == ".json" else _roles(path)
    if suffix != ".json" and not place.exists():
        place = Path(path)
        text = ""
    else:
        text = read_text(place)
    network = None if suffix == ".json" else read_network(path, normalize=normalize)
    try:
        if network is None:
            return bank_from_json(text)
        return roles_from_json(text, network) if text else _of_marks(path, network)
    except (ModelFileError, InvalidModelError) as fault:
        raise ModelFileError(f"{fault}, in {place}", str(place)) from fault
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, in {place}", needed=fault.needed, budget=fault.budget
        ) from fault


def _of_marks(path: str | os.PathLike[str], network: Network) -> ItemBank:
    """Return the bank of a network whose file itself tells the roles of the variables."""
    from bnmind.adaptive.items.genie_bank import genie_bank

    bank = genie_bank(path, network) if Path(path).suffix.lower() == ".xdsl" else None
    if bank is not None:
        return bank
    inner = {v.name for cpd in network.cpds for v in cpd.parents}
    items = [cpd.variable.name for cpd in network.cpds if cpd.parents]
    items = [name for name in items if name not in inner]
    skills = [v.name for v in network.variables if v.name in inner]
    line = (
        f'{{"schema": "bnmind-roles", "version": 1, "skills": {_some(skills)}, "items":'
        f" {_some(items)}}}"
    )
    raise ModelFileError(
        f"expected the skills and items of the network beside it: write a file"
        f" {_roles(path).name} with the line {line}"
    )


def _some(names: Sequence[str]) -> str:
    """Return the records of the first names as a list of JSON."""
    texts = [json.dumps({"name": name}, ensure_ascii=False) for name in names[:_SHOWN]]
    return f"[{', '.join([*texts, '…'] if len(names) > _SHOWN else texts)}]"


def read_text(
    path: str | os.PathLike[str], *, most: int = LARGE_FILE, damaged: bool = False
) -> str:
    """Return the text of a file; raises `ModelFileError` if it is empty or cannot be read.

    Files of more than ``most`` bytes are rejected. If ``damaged``, a text that is not valid
    UTF-8 is returned up to the first invalid byte.
    """
    text = _files.read_text(path, most=most, damaged=damaged)
    if not text.strip():
        raise ModelFileError(f"{path} is empty", str(path))
    return text


def _roles(path: str | os.PathLike[str]) -> Path:
    return Path(path).with_name(f"{Path(path).name}.roles.json")
