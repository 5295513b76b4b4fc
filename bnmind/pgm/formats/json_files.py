"""JSON as a format of model files: bnmind's own, and networks of bnlearn; see `records`.

pydantic is imported when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bnmind.pgm.encoded_names import FileNames
from bnmind.pgm.factor import Factor
from bnmind.pgm.formats.model_format import ModelSource
from bnmind.pgm.formats.pgmpy_bridge import check_tables_fit
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

__all__ = ["JsonFormat", "is_bnlearn_json"]


_HEAD = re.compile(r'\s*+\{\s*+"(\w++)"')


def is_bnlearn_json(text: str) -> bool:
    """Return whether a JSON text lists nodes, as networks of bnlearn do, and names no schema."""
    first = _HEAD.match(text)
    return first is not None and first[1] != "schema" and '"nodes"' in text[:1000]


@dataclass(frozen=True)
class JsonFormat:
    """bnmind's own format: it keeps functions, factors and all names."""

    about: str = "JSON of our own, which keeps functions as functions"
    """The format, in a few words."""

    @property
    def holds_factors(self) -> bool:
        """True."""
        return True

    def names_of(self, variables: Sequence[Variable]) -> FileNames:
        """Return no names: the format holds every name unchanged."""
        return FileNames()

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
