"""Reading and writing models. The suffix of the file name selects the format.

`MODEL_FORMATS` lists the formats. All of them hold a `Network`; those of `MODEL_SUFFIXES` also hold
a `FactorModel`.

The readers also accept files compressed by gzip, whose names end in ``.gz``.
Numbers are written so that they read back exactly. A file is written as a whole or not at all.
Errors in a file are reported with their place.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from bnmind._arguments import checked
from bnmind._files import write_files
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import ModelFileError
from bnmind.pgm.competition import read_evidence
from bnmind.pgm.encoded_names import FileNames
from bnmind.pgm.factor import Factor
from bnmind.pgm.formats.bif import BIF
from bnmind.pgm.formats.declared import ModelFileWarning, NormalizedTable, Reading
from bnmind.pgm.formats.model_format import (
    FILE_BYTES,
    ModelFormat,
    ModelSource,
    WholeModel,
    check_tables_fit,
    read_from,
)
from bnmind.pgm.formats.net_dne import DNE, NET
from bnmind.pgm.formats.uai import UaiFormat
from bnmind.pgm.formats.xml import XDSL, XMLBIF
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD

__all__ = [
    "FILE_BYTES",
    "FILE_CELLS",
    "MODEL_FORMATS",
    "MODEL_SUFFIXES",
    "NETWORK_SUFFIXES",
    "ModelFileWarning",
    "NormalizedTable",
    "ReadReport",
    "file_names",
    "model_contents",
    "read",
    "read_evidence",
    "read_model",
    "read_network",
    "read_with_report",
    "write_model",
]


_FIRST_KEY = re.compile(r'\s*+\{\s*+"(\w++)"')


def is_bnlearn_json(text: str) -> bool:
    """Return whether a JSON text lists nodes, as networks of bnlearn do, and names no schema."""
    first = _FIRST_KEY.match(text)
    return first is not None and first[1] != "schema" and '"nodes"' in text[:1000]


@dataclass(frozen=True)
class JsonFormat(WholeModel):
    """bnmind's own format: it keeps functions, factors and all names."""

    about: str = "JSON of our own, which keeps functions as functions"
    """The format, in a few words."""

    def contents(
        self, model: Network | FactorModel, path: Path, *, max_cells: int
    ) -> dict[Path, str]:
        """Return the content of the file; functions stay functions."""
        from bnmind.pgm.formats.records import model_to_json

        tables = [p for p in model.potentials if isinstance(p, Factor | TabularCPD)]
        check_tables_fit(tables, max_cells=max_cells)
        return {path: model_to_json(model, max_cells=max_cells)}

    def read_network(self, source: ModelSource) -> Network:
        """Return the network."""
        from bnmind.pgm.formats.records import network_from_bnlearn_json, network_from_json

        if is_bnlearn_json(source.text):
            return network_from_bnlearn_json(source.text, reading=source.reading)
        return network_from_json(source.text, max_cells=source.max_cells, reading=source.reading)

    def read_model(self, source: ModelSource) -> FactorModel:
        """Return the product of the potentials."""
        from bnmind.pgm.formats.records import model_from_json

        if is_bnlearn_json(source.text):
            return FactorModel(self.read_network(source).potentials)
        return model_from_json(source.text, max_cells=source.max_cells, reading=source.reading)

    def read(self, source: ModelSource) -> Network | FactorModel:
        """Return a network if there is one distribution for each variable."""
        from bnmind.pgm.formats.records import network_or_model_from_json

        if is_bnlearn_json(source.text):
            return self.read_network(source)
        return network_or_model_from_json(
            source.text, max_cells=source.max_cells, reading=source.reading
        )


MODEL_FORMATS: Mapping[str, ModelFormat] = MappingProxyType(
    {
        ".bif": BIF,
        ".xdsl": XDSL,
        ".xmlbif": XMLBIF,
        ".xml": XMLBIF,
        ".bifxml": XMLBIF,
        ".net": NET,
        ".dne": DNE,
        ".uai": UaiFormat(),
        ".json": JsonFormat(),
    }
)
"""The format of each suffix."""


FILE_CELLS = 2**22
"""The default limit for the cells of a table in a file; text is slow."""

_SHOWN_TABLES = 10

NETWORK_SUFFIXES = tuple(MODEL_FORMATS)
"""The suffixes of files that can hold a Bayesian network."""

MODEL_SUFFIXES = tuple(suffix for suffix, form in MODEL_FORMATS.items() if form.holds_factors)
"""The suffixes of files that can hold a product of factors."""


@checked
def write_model(
    model: Network | FactorModel, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> FileNames:
    """Write a model to a file, in the format of its suffix.

    Parameters
    ----------
    model
        Functions are expanded to tables, except in ``.json``. A `FactorModel`, whose tables need
        not be probabilities, can be written to ``.json``, and to ``.uai`` if no value is negative
        or complex.
    path
        An existing file is replaced, or left untouched if anything fails. The names of a ``.uai``
        model are written to a ``.uai.json`` file beside it: both files or neither.
    max_cells
        Most cells of the largest table.

    Returns
    -------
    FileNames
        The names that the format does not allow, with their encodings in the file. `read_network`
        and `read_model` decode them. Empty if no name is encoded.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the format cannot hold the model, or a file cannot be written.
        The error names the file.
    TooLargeError
        If the largest table has more than ``max_cells`` cells. The error names the table.
    """
    write_files(model_contents(model, path, max_cells=max_cells))
    return file_names(model, path)


@checked
def file_names(model: Network | FactorModel, path: str | os.PathLike[str]) -> FileNames:
    """Return the names of a model that `write_model` encodes in a file of this suffix.

    Parameters
    ----------
    model
        The model.
    path
        The file, of which only the suffix counts.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> item = Variable("item.1", ("0", "1"))
    >>> network = Network((TabularCPD(item, (), [0.5, 0.5]),))  # type: ignore[arg-type]
    >>> print(file_names(network, "bank.net"))
    item.1 is written as item_x002E_1
    """
    form = MODEL_FORMATS.get(Path(path).suffix.lower())
    return FileNames() if form is None else form.names_of(model.variables)


@checked
def model_contents(
    model: Network | FactorModel, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> dict[Path, str]:
    """Return the content of each file that `write_model` writes, in the order of writing.

    Parameters and errors are those of `write_model`.
    """
    is_network = isinstance(model, Network)
    allowed = NETWORK_SUFFIXES if is_network else MODEL_SUFFIXES
    what = "a network" if is_network else "a product of factors that are not probabilities"
    form = _format(path, allowed, what)
    return form.contents(model, Path(path), max_cells=max_cells)


@checked
def read(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = False,
    drop_decisions: bool = False,
    on_normalized: Callable[[NormalizedTable], None] | None = None,
) -> Network | FactorModel:
    """Return the model in a file of any format: a network, or a product of factors.

    The suffix names the format, such as ``.bif``, ``.xdsl`` (GeNIe), ``.net`` (Hugin) or ``.dne``
    (Netica); `MODEL_FORMATS` lists all. A `FactorModel` comes from ``.uai`` files of kind MARKOV
    and from ``.json`` files whose parts are not one distribution for each variable. `read_network`
    always returns a network, and `read_model` always a product of factors.

    Parameters
    ----------
    path
        A file of any of the formats.
    max_cells
        The largest number of cells of all its tables together.
    normalize
        Whether rows of probabilities that miss one by no more than rounding are normalized; see
        `read_with_report`. Rows within 1e-6 of one always are.
    drop_decisions
        Whether an influence diagram is read without its decision and utility nodes; see
        `read_with_report`.
    on_normalized
        Called with each table that has rows that were normalized.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the file cannot be read, or it does not hold a valid model in
        that format; with the line and column, or the path in the JSON.
    TooLargeError
        If it has more cells; nothing is allocated for them.

    Examples
    --------
    >>> read("models/diagnosis/asia.xdsl")
    Network(asia, smoke, tub, lung, bronc, either, xray, dysp)
    """
    form = _format(path, NETWORK_SUFFIXES, "a model", packed=True)
    reading = reading_of(normalize, drop_decisions, on_normalized)
    return read_from(
        path, lambda data: form.read(ModelSource(Path(path), data, max_cells, reading))
    )


@checked
def read_network(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = False,
    drop_decisions: bool = False,
    on_normalized: Callable[[NormalizedTable], None] | None = None,
) -> Network:
    """Return the Bayesian network in a file.

    Parameters
    ----------
    path
        A file of any of the formats.
    max_cells
        The largest number of cells of all its tables together.
    normalize
        Whether rows of probabilities that miss one by no more than rounding are normalized; see
        `read_with_report`. Rows within 1e-6 of one always are.
    drop_decisions
        Whether an influence diagram is read without its decision and utility nodes; see
        `read_with_report`.
    on_normalized
        Called with each table that has rows that were normalized.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the file cannot be read, or what is in it is no
        network in that format; with the line and column, or the path in the JSON.
    TooLargeError
        If it has more cells; nothing is allocated for them.
    """
    form = _format(path, NETWORK_SUFFIXES, "a network", packed=True)
    reading = reading_of(normalize, drop_decisions, on_normalized)
    return read_from(
        path, lambda data: form.read_network(ModelSource(Path(path), data, max_cells, reading))
    )


@checked
def read_model(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = False,
    drop_decisions: bool = False,
    on_normalized: Callable[[NormalizedTable], None] | None = None,
) -> FactorModel:
    """Return the model in a file of any format; that of a network is the product of its tables.

    Its variables are in the order of the file. Parameters and errors are those of
    `read_network`.
    """
    form = _format(path, NETWORK_SUFFIXES, "a model", packed=True)
    reading = reading_of(normalize, drop_decisions, on_normalized)
    return read_from(
        path, lambda data: form.read_model(ModelSource(Path(path), data, max_cells, reading))
    )


@dataclass(frozen=True, eq=False)
class ReadReport(Value):
    """A model from a file, and what a reader should know about the file; see `read_with_report`."""

    model: Network | FactorModel
    """The model."""
    normalized: tuple[NormalizedTable, ...]
    """The tables with rows that were normalized."""
    notes: tuple[str, ...]
    """Other remarks about the file, a sentence each."""

    def __str__(self) -> str:
        rows = sum(table.rows for table in self.normalized)
        count = "a row" if rows == 1 else f"{rows:,} rows" if rows else "no row"
        tables = len({table.variable for table in self.normalized})
        count += {0: "", 1: " in one table"}.get(tables, f" in {tables:,} tables")
        lines = [f"{self.model!r}; normalized {count}"]
        worst = sorted(self.normalized, key=_nearness)
        lines += [f"  {table}" for table in worst[:_SHOWN_TABLES]]
        if len(worst) > _SHOWN_TABLES:
            lines.append(f"  and {counted(len(worst) - _SHOWN_TABLES, 'table')} closer to one")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _nearness(table: NormalizedTable) -> float:
    """Return the key by which tables without probabilities come first, then those far from one."""
    return -math.inf if math.isnan(table.total) else -abs(table.total - 1)


@checked
def read_with_report(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = True,
    drop_decisions: bool = False,
) -> ReadReport:
    """Return the model in a file, with a report of the tables that were normalized.

    Parameters
    ----------
    path
        A file of any of the formats.
    max_cells
        The largest number of cells of all its tables together.
    normalize
        Whether rows of probabilities that miss one by no more than rounding are normalized. The
        digits of each table bound the rounding: three numbers of two digits may miss one by 0.015.
        Rows within 1e-6 of one are always normalized. Rows of NaN, as R writes them for
        configurations of the parents without data, become uniform.
    drop_decisions
        Whether an influence diagram is read without its decision and utility nodes. A decision on
        which chance nodes depend becomes a variable with a uniform distribution, so give it as
        evidence. A note names the nodes. `bnmind.questions.value_of_information` takes utilities.

    Raises
    ------
    ModelFileError
        As for `read`. A row that is off by more than rounding is refused; the error names the
        variable and the states of the parents.
    TooLargeError
        If it has more cells; nothing is allocated for them.

    Examples
    --------
    >>> print(read_with_report("models/mastermind-3x4.bif"))
    Network(H1, H2, H3, T1, T2, T3, C1, C2, … 25 variables); normalized no row
    """
    form = _format(path, NETWORK_SUFFIXES, "a model", packed=True)
    tables: list[NormalizedTable] = []
    notes: list[str] = []
    reading = Reading(
        normalize=normalize,
        drop_decisions=drop_decisions,
        on_table=tables.append,
        on_note=notes.append,
    )
    model = read_from(
        path, lambda data: form.read(ModelSource(Path(path), data, max_cells, reading))
    )
    return ReadReport(model, tuple(tables), tuple(notes))


def reading_of(
    normalize: bool,
    drop_decisions: bool,
    on_normalized: Callable[[NormalizedTable], None] | None,
) -> Reading:
    """Return how a file is read; see `read_with_report`."""
    reading = Reading(normalize=normalize, drop_decisions=drop_decisions)
    return reading if on_normalized is None else replace(reading, on_table=on_normalized)


def suffix_of(
    path: str | os.PathLike[str], allowed: tuple[str, ...], what: str, *, packed: bool = False
) -> str:
    """Return the suffix of a file name, of those that are allowed; ``.gz`` may follow it."""
    name = Path(path).name
    suffix = Path(name.removesuffix(".gz") if packed else name).suffix.lower()
    if suffix not in allowed:
        *first, last = allowed
        listed = f"{', '.join(first)} or {last}" if first else last
        raise ModelFileError(
            f"expected a file name ending in {listed} for {what}, got {name!r}", str(path)
        )
    return suffix


def _format(
    path: str | os.PathLike[str], allowed: tuple[str, ...], what: str, *, packed: bool = False
) -> ModelFormat:
    return MODEL_FORMATS[suffix_of(path, allowed, what, packed=packed)]
