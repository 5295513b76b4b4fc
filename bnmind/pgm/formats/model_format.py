"""The protocol of formats of model files, and the formats that hold only tables of a network."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar
from xml.etree import ElementTree

import numpy as np

from bnmind._files import read_bytes
from bnmind._messages import many
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD
from bnmind.pgm.encoded_names import Alphabet, FileNames
from bnmind.pgm.formats.declared import PLAIN_READING, Reading, ReadNetwork
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

FILE_BYTES = 2**28
"""The largest size of a file in bytes, unpacked."""

_Read = TypeVar("_Read")


@dataclass(frozen=True)
class ModelSource:
    """A file to read a model from."""

    path: Path
    """The file."""
    data: bytes
    """Its bytes, unpacked."""
    max_cells: int
    """The largest number of cells of all tables of the model together."""
    reading: Reading = PLAIN_READING
    """How rows that do not sum to one are treated, and whom to tell about the file."""

    @property
    def text(self) -> str:
        """The text of the file; raises `ModelFileError` with the place if it is not UTF-8."""
        return text_of(self.data)


class ModelFormat(Protocol):
    """A format of files that hold a Bayesian network, and perhaps a product of factors."""

    @property
    def about(self) -> str:
        """The format, in a few words."""

    @property
    def holds_factors(self) -> bool:
        """Whether it holds a `FactorModel` whose factors are no probabilities."""

    def names_of(self, variables: Sequence[Variable]) -> FileNames:
        """Return the names that the format encodes."""

    def contents(
        self, model: Network | FactorModel, path: Path, *, max_cells: int
    ) -> dict[Path, str]:
        """Return the content of each file to write, in the order of writing.

        The model is a `FactorModel` only if `holds_factors` is true.
        """

    def read_network(self, source: ModelSource) -> Network:
        """Return the network; raise `ModelFileError` if there is none."""

    def read_model(self, source: ModelSource) -> FactorModel:
        """Return the model; for a network, the product of its tables."""

    def read(self, source: ModelSource) -> Network | FactorModel:
        """Return the network, or the product of factors if there is no network."""


class WholeModel:
    """What the formats share that hold factors, and every name unchanged."""

    @property
    def holds_factors(self) -> bool:
        """True."""
        return True

    def names_of(self, variables: Sequence[Variable]) -> FileNames:
        """Return no names: none is encoded."""
        return FileNames()


class WritesNetwork(Protocol):
    """Writes a network; ``encoded`` says whether its names are encoded."""

    def __call__(self, network: Network, *, encoded: bool) -> str:
        """Return the content of the file."""


class ReadsBytes(Protocol):
    """Reads a network from the bytes of a file."""

    def __call__(self, data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
        """Return the network."""


class ReadsText(Protocol):
    """Reads a network from the text of a file."""

    def __call__(self, text: str, *, max_cells: int, reading: Reading) -> ReadNetwork:
        """Return the network."""


def text_reader(read: ReadsText) -> ReadsBytes:
    """Return a reader of bytes in UTF-8 from a reader of texts."""

    def read_encoded(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
        return read(text_of(data), max_cells=max_cells, reading=reading)

    return read_encoded


@dataclass(frozen=True)
class TableFormat:
    """A format that holds a network as tables."""

    about: str
    """The format, in a few words."""
    write: WritesNetwork
    """Return the file's text."""
    parse: ReadsBytes
    """Return the network in the file's bytes; raise `ModelFileError` if there is none."""
    alphabet: Alphabet
    """The names that the format can hold; others are encoded."""
    keeps: Callable[[CPD], bool] = lambda _: False
    """Return whether the format holds a distribution as it is, not as a table."""

    @property
    def holds_factors(self) -> bool:
        """False: every table is a conditional distribution."""
        return False

    def names_of(self, variables: Sequence[Variable]) -> FileNames:
        """Return the names that are encoded."""
        return self.alphabet.names_of(variables)

    def contents(
        self, model: Network | FactorModel, path: Path, *, max_cells: int
    ) -> dict[Path, str]:
        """Return the content of the file; functions are expanded to tables."""
        assert isinstance(model, Network)  # as `holds_factors` says
        tables = [cpd for cpd in model.cpds if not self.keeps(cpd)]
        check_tables_fit(tables, max_cells=max_cells)
        names = self.names_of(model.variables)
        return {path: self.write(names.applied_to(model), encoded=bool(names))}

    def read_network(self, source: ModelSource) -> Network:
        """Return the network."""
        return self._parsed(source).network

    def read_model(self, source: ModelSource) -> FactorModel:
        """Return the product of the tables, with the variables in the order of the file."""
        return self._parsed(source).as_model()

    def read(self, source: ModelSource) -> Network:
        """Return the network."""
        return self.read_network(source)

    def _parsed(self, source: ModelSource) -> ReadNetwork:
        return self.parse(source.data, max_cells=source.max_cells, reading=source.reading)


def check_tables_fit(potentials: Iterable[Potential], *, max_cells: int) -> None:
    """Raise `TooLargeError`, naming the largest table, if it has more than ``max_cells`` cells."""
    cells, scope = max(
        ((math.prod(v.n_states for v in p.scope), p.scope) for p in potentials),
        key=lambda sized: sized[0],
        default=(0, ()),
    )
    if cells > max_cells:
        first, *rest = (variable.name for variable in scope)
        condition = f" given {', '.join(rest)}" if rest else ""
        raise TooLargeError(
            f"expected tables of at most {max_cells:,} cells, got {many(cells)} in the table of"
            f" {first}{condition}",
            needed=cells,
            budget=max_cells,
        )


@contextmanager
def read_file(path: str | os.PathLike[str], expected: str | None = "a model") -> Iterator[bytes]:
    """Give the bytes of a file, unpacked, and name the file in errors about them.

    Parameters
    ----------
    path
        The file.
    expected
        The content of the file in a few words; None if the file may be empty.
    """
    data = read_bytes(path, most=FILE_BYTES, packed=str(path).endswith(".gz"))
    if expected is not None and not data.strip():
        raise ModelFileError(f"expected {expected} in {path}, got an empty file", str(path))
    try:
        yield data
    except ModelFileError as fault:
        # An error about the file of names already names that file.
        if fault.value is not None:
            raise
        raise ModelFileError(
            f"{fault}, in {path}", str(path), line=fault.line, column=fault.column
        ) from fault
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, in {path}", needed=fault.needed, budget=fault.budget
        ) from fault


def read_from(path: str | os.PathLike[str], read: Callable[[bytes], _Read]) -> _Read:
    """Return what a reader makes of the bytes of a file; its errors name the file."""
    with read_file(path) as data:
        return read(data)


def rows_of(cpd: CPD) -> Floats:
    """Return the distributions of the child, ``(configurations of the parents, states)``.

    The last parent varies fastest. Functions are expanded to tables of any size.
    """
    table = cpd.to_tabular(max_cells=cpd.n_cells)
    return np.moveaxis(table.values, 0, -1).reshape(-1, cpd.variable.n_states)


def written(numbers: Iterable[float], separator: str = " ") -> str:
    """Return numbers with all their digits."""
    return separator.join(map(repr, numbers))


def format_xml(root: ElementTree.Element) -> str:
    """Return a whole XML document, indented."""
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
