"""Models in files: the suffix of the name says the format.

=============  =====================================  ====================
suffix         format                                 holds
=============  =====================================  ====================
.bif           BIF, of bnlearn's repository           Network
.xdsl          GeNIe and SMILE                        Network
.xmlbif, .xml  XMLBIF 0.3                             Network
.net           Hugin                                  Network
.uai           UAI, names in a .uai.json beside it    Network, FactorModel
.json          ours, see `bnmind.pgm.formats.model_json`      Network, FactorModel
=============  =====================================  ====================

Any of them may be read from a file packed by gzip, whose name then ends in ``.gz``.
Numbers are written so that they read back exactly, and a file appears whole or not
at all. A file that is not right is told with the place of the fault.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bnmind._arguments import checked
from bnmind._bounded_files import read_bytes
from bnmind._text_files import write_files
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.pgm.encoded_names import Alphabet, FileNames
from bnmind.pgm.factor import Factor
from bnmind.pgm.formats.bif import from_bif, to_bif
from bnmind.pgm.formats.declared import ReadNetwork
from bnmind.pgm.formats.net import from_net, to_net
from bnmind.pgm.formats.pgmpy_bridge import check_tables_fit
from bnmind.pgm.formats.source import Source
from bnmind.pgm.formats.uai import (
    evidence_from_uai,
    is_uai_network,
    model_from_uai,
    model_to_uai,
    network_from_uai,
    network_to_uai,
    variables_from_uai,
)
from bnmind.pgm.formats.xdsl import from_xdsl, to_xdsl
from bnmind.pgm.formats.xmlbif import from_xmlbif, to_xmlbif
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.variable import Variable

__all__ = [
    "FILE_BYTES",
    "FILE_CELLS",
    "MODEL_SUFFIXES",
    "NETWORK_SUFFIXES",
    "file_names",
    "model_contents",
    "read",
    "read_evidence",
    "read_model",
    "read_network",
    "write_model",
]

FILE_CELLS = 2**22
"""Cells that a table in a file may have unless the caller says otherwise: text is slow."""

FILE_BYTES = 2**28
"""Bytes that a file may have, unpacked."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]+")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class _Format:
    """How a format of networks is written and read, and which names it can hold."""

    write: Callable[[Network, bool], str]
    """(network, whether its names are encoded) → the file's text"""
    read: Callable[[bytes, int], ReadNetwork]
    """(the file's bytes, cells allowed) → network"""
    alphabet: Alphabet


_XMLBIF = _Format(
    lambda network, encoded: to_xmlbif(network, encoded=encoded),
    lambda data, max_cells: from_xmlbif(data, max_cells=max_cells),
    Alphabet(re.compile(r"\S+(?: \S+)*+"), re.compile(r"[A-Za-z0-9_]+")),
)
# Other names are encoded, for the sake of pgmpy, a reader of many of these files, too.
_FORMATS = {
    ".bif": _Format(
        lambda network, encoded: to_bif(network, encoded=encoded),
        lambda data, max_cells: from_bif(_text(data), max_cells=max_cells),
        Alphabet(
            re.compile(r"[^\s,;|(){}\"/]+"),
            re.compile(r"[^\s,;|(){}\"/]+"),
            # "table1" is read as the keyword and a number.
            mistaken=re.compile(r"(table|default)[-0-9eE]"),
            fold=True,
        ),
    ),
    ".xdsl": _Format(
        lambda network, encoded: to_xdsl(network, encoded=encoded),
        lambda data, max_cells: from_xdsl(data, max_cells=max_cells),
        Alphabet(_IDENTIFIER, re.compile(r"\S+")),
    ),
    ".xmlbif": _XMLBIF,
    ".xml": _XMLBIF,
    ".net": _Format(
        lambda network, encoded: to_net(network, encoded=encoded),
        lambda data, max_cells: from_net(_text(data), max_cells=max_cells),
        Alphabet(
            _IDENTIFIER,
            re.compile(r"[!#$&'*+.0-9:;<=>?@A-Z\[\]^_`a-z|~\-]+"),
            # "(a | node b)" is read as the declaration of a node b.
            mistaken=re.compile(r"node$"),
        ),
    ),
}

NETWORK_SUFFIXES = (*_FORMATS, ".uai", ".json")
"""The suffixes of files that can hold a Bayesian network."""

MODEL_SUFFIXES = (".uai", ".json")
"""The suffixes of files that can hold a product of factors."""


@checked
def write_model(
    model: Network | FactorModel, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> FileNames:
    """Write a model to a file, in the format that its suffix names.

    Parameters
    ----------
    model
        Functions in it are expanded to tables, but for ``.json``. A `FactorModel`,
        whose tables need not be probabilities, fits in ``.json``, and in ``.uai`` if
        nothing in it is negative or complex.
    path
        Replaced if it exists; untouched if anything fails. Beside a ``.uai`` file,
        its names are written to a ``.uai.json``: both or neither.
    max_cells
        Cells that the largest table may have.

    Returns
    -------
    FileNames
        The names that the format cannot hold and that stand in the file in an encoded form;
        `read_network` and `read_model` decode them. Empty if all are written as they are.

    Raises
    ------
    ModelFileError
        If the suffix is unknown or the format cannot hold the model.
    FileWriteError
        If a file cannot be written; it names the file.
    TooLargeError
        If the largest table has more cells; it is named.
    """
    write_files(model_contents(model, path, max_cells=max_cells))
    return file_names(model, path)


@checked
def file_names(model: Network | FactorModel, path: str | os.PathLike[str]) -> FileNames:
    """Return the names of a model that `write_model` encodes in a file of this suffix.

    Examples
    --------
    >>> item = Variable("item.1", ("0", "1"))
    >>> network = Network((TabularCPD(item, (), [0.5, 0.5]),))  # type: ignore[arg-type]
    >>> print(file_names(network, "bank.net"))
    item.1 is written as item_x002E_1
    """
    form = _FORMATS.get(Path(path).suffix.lower())
    return FileNames() if form is None else form.alphabet.names_of(model.variables)


@checked
def model_contents(
    model: Network | FactorModel, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> dict[Path, str]:
    """Return what `write_model` writes: the content of each file, in the order to be written.

    Parameters and errors are those of `write_model`.
    """
    is_network = isinstance(model, Network)
    allowed = NETWORK_SUFFIXES if is_network else MODEL_SUFFIXES
    what = "a network" if is_network else "a product of factors that are not probabilities"
    suffix = _suffix(path, allowed, what)
    target = Path(path)
    if suffix == ".json":
        from bnmind.pgm.formats.model_json import model_to_json

        tables = [p for p in model.potentials if isinstance(p, Factor | TabularCPD)]
        check_tables_fit(tables, max_cells=max_cells)
        return {target: model_to_json(model, max_cells=max_cells)}
    check_tables_fit(model.potentials, max_cells=max_cells)
    if suffix == ".uai":
        from bnmind.pgm.formats.uai_names import names_to_json

        text = network_to_uai(model) if isinstance(model, Network) else model_to_uai(model)
        # First the names: numbers without them are read too, but as another model.
        return {_names_path(target): names_to_json(model.variables), target: text}
    assert isinstance(model, Network)
    form = _FORMATS[suffix]
    names = form.alphabet.names_of(model.variables)
    return {target: form.write(names.applied_to(model), bool(names))}


@checked
def read(path: str | os.PathLike[str], *, max_cells: int = DEFAULT_CELLS) -> Network | FactorModel:
    """Return the model in a file of any format: a network, or a product of factors.

    A `FactorModel` comes from ``.uai`` files of kind MARKOV and from ``.json`` files whose parts
    are not one distribution for each variable. `read_network` and `read_model` always return the
    one or the other.

    Parameters
    ----------
    path
        A file of any of the formats.
    max_cells
        Cells that its tables may have together.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the file cannot be read, or it does not hold a valid model in
        that format; with the line and column, or the path in the JSON.
    TooLargeError
        If it has more cells; nothing is allocated for them.
    """
    suffix = _suffix(path, NETWORK_SUFFIXES, "a model", packed=True)

    def read_one(data: bytes) -> Network | FactorModel:
        if suffix in _FORMATS:
            return _FORMATS[suffix].read(data, max_cells).network
        text = _text(data)
        if suffix == ".uai":
            make = network_from_uai if is_uai_network(text) else model_from_uai
            made = make(text, names=_names_beside(path), max_cells=max_cells)
            return made.network if isinstance(made, ReadNetwork) else made
        from bnmind.pgm.formats.model_json import network_or_model_from_json

        return network_or_model_from_json(text, max_cells=max_cells)

    return _read(path, read_one)


@checked
def read_network(path: str | os.PathLike[str], *, max_cells: int = DEFAULT_CELLS) -> Network:
    """Return the Bayesian network in a file.

    Parameters
    ----------
    path
        A file of any of the formats.
    max_cells
        Cells that its tables may have together.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the file cannot be read, or what is in it is no
        network in that format; with the line and column, or the path in the JSON.
    TooLargeError
        If it has more cells; nothing is allocated for them.
    """
    suffix = _suffix(path, NETWORK_SUFFIXES, "a network", packed=True)

    def read(data: bytes) -> Network:
        if suffix == ".json":
            from bnmind.pgm.formats.model_json import network_from_json

            return network_from_json(_text(data), max_cells=max_cells)
        if suffix == ".uai":
            names = _names_beside(path)
            return network_from_uai(_text(data), names=names, max_cells=max_cells).network
        return _FORMATS[suffix].read(data, max_cells).network

    return _read(path, read)


@checked
def read_model(path: str | os.PathLike[str], *, max_cells: int = DEFAULT_CELLS) -> FactorModel:
    """Return the model in a file of any format; that of a network is the product of its tables.

    Its variables are in the order of the file. Parameters and errors are those of
    `read_network`.
    """
    suffix = _suffix(path, NETWORK_SUFFIXES, "a model", packed=True)

    def read(data: bytes) -> FactorModel:
        if suffix in _FORMATS:
            return _FORMATS[suffix].read(data, max_cells).as_model()
        if suffix == ".uai":
            return model_from_uai(_text(data), names=_names_beside(path), max_cells=max_cells)
        from bnmind.pgm.formats.model_json import model_from_json

        return model_from_json(_text(data), max_cells=max_cells)

    return _read(path, read)


@checked
def read_evidence(path: str | os.PathLike[str], model: str | os.PathLike[str]) -> dict[str, str]:
    """Return the findings in a UAI file of evidence, {variable: state}.

    Parameters
    ----------
    path
        The file of evidence, ``model.uai.evid`` by custom.
    model
        The ``.uai`` file that it belongs to, which numbers the variables.

    Raises
    ------
    ModelFileError
        If either file cannot be read or is not of its format, with the place.
    """
    _suffix(model, (".uai",), "the model of a file of evidence", packed=True)
    names = _names_beside(model)
    variables = _read(model, lambda data: variables_from_uai(_text(data), names=names))
    return _read(path, lambda data: evidence_from_uai(_text(data), variables))


def _names_path(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix('.gz')}.json")


def _names_beside(path: str | os.PathLike[str]) -> tuple[Variable, ...] | None:
    """Return the names in the file beside a UAI file, or None if there is none."""
    beside = _names_path(Path(path))
    if not beside.exists():
        return None
    from bnmind.pgm.formats.uai_names import names_from_json

    return _read(beside, lambda data: names_from_json(_text(data)))


def _suffix(
    path: str | os.PathLike[str], allowed: tuple[str, ...], what: str, *, packed: bool = False
) -> str:
    name = Path(path).name
    suffix = Path(name.removesuffix(".gz") if packed else name).suffix.lower()
    if suffix not in allowed:
        *first, last = allowed
        listed = f"{', '.join(first)} or {last}" if first else last
        raise ModelFileError(
            f"expected a file name ending in {listed} for {what}, got {name!r}", str(path)
        )
    return suffix


def _read(path: str | os.PathLike[str], read: Callable[[bytes], _Read]) -> _Read:
    """Return what a reader makes of a file; its errors name the file."""
    data = read_bytes(path, most=FILE_BYTES, packed=str(path).endswith(".gz"))
    if not data.strip():
        raise ModelFileError(f"expected a model in {path}, got an empty file", str(path))
    try:
        return read(data)
    except ModelFileError as fault:
        # A fault of the file of names beside it has been told with that one's name.
        if fault.value is not None:
            raise
        raise ModelFileError(
            f"{fault}, in {path}", str(path), line=fault.line, column=fault.column
        ) from fault
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, in {path}", needed=fault.needed, budget=fault.budget
        ) from fault


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = data[: fault.start].decode("utf-8", errors="replace")
        raise (
            Source(before).place(len(before)).fault(f"expected UTF-8 text, got {fault.reason}")
        ) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")
