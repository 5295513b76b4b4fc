"""UAI as a format of model files: the numbers, and the names in a JSON file beside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bnmind.pgm.encoded_names import FileNames
from bnmind.pgm.formats.model_format import ModelSource, read_from
from bnmind.pgm.formats.pgmpy_bridge import check_tables_fit
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.formats.uai.models import (
    is_uai_network,
    model_from_uai,
    model_to_uai,
    network_from_uai,
    network_to_uai,
)
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["UaiFormat", "names_beside"]


@dataclass(frozen=True)
class UaiFormat:
    """UAI, the format of the inference competitions, which identifies variables by numbers."""

    about: str = "UAI, with the names in a .uai.json beside it"
    """The format, in a few words."""

    @property
    def holds_factors(self) -> bool:
        """True."""
        return True

    def names_of(self, variables: Sequence[Variable]) -> FileNames:
        """Return no names: the file beside it holds every name unchanged."""
        return FileNames()

    def contents(
        self, model: Network | FactorModel, path: Path, *, max_cells: int
    ) -> dict[Path, str]:
        """Return the content of both files."""
        from bnmind.pgm.formats.records import names_to_json

        check_tables_fit(model.potentials, max_cells=max_cells)
        text = network_to_uai(model) if isinstance(model, Network) else model_to_uai(model)
        # Write the names first: without them, the numbers are a valid but different model.
        return {_names_path(path): names_to_json(model.variables), path: text}

    def read_network(self, source: ModelSource) -> Network:
        """Return the network."""
        names = names_beside(source.path)
        return network_from_uai(
            source.text, names=names, max_cells=source.max_cells, reading=source.reading
        ).network

    def read_model(self, source: ModelSource) -> FactorModel:
        """Return the product of the tables."""
        names = names_beside(source.path)
        return model_from_uai(
            source.text, names=names, max_cells=source.max_cells, reading=source.reading
        )

    def read(self, source: ModelSource) -> Network | FactorModel:
        """Return a network or a product of factors, as the first word of the file says."""
        is_network = is_uai_network(source.text)
        return self.read_network(source) if is_network else self.read_model(source)


def names_beside(path: str | os.PathLike[str]) -> tuple[Variable, ...] | None:
    """Return the names in the file beside a UAI file, or None if there is no such file."""
    beside = _names_path(Path(path))
    if not beside.exists():
        return None
    from bnmind.pgm.formats.records import names_from_json

    return read_from(beside, lambda data: names_from_json(text_of(data)))


def _names_path(path: Path) -> Path:
    return path.with_name(f"{path.name.removesuffix('.gz')}.json")
