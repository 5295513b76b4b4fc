"""Saved response models of your own: a table, with the name and the parameters of its model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Tabulated"]


@dataclass(frozen=True, eq=False)
class Tabulated(Value):
    """The table of a model of your own, as files hold it; see `ParametricModel`.

    It serves in tests as the model itself does. It cannot be learned: its formula is unknown.

    Parameters
    ----------
    name
        The name of the model.
    probabilities
        As for `Gdina`.
    parameters
        The parameters of the model by name, each a number or a list of numbers.
    """

    name: str
    probabilities: Floats
    parameters: Mapping[str, Any] = field(default_factory=dict)

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(probabilities=Gdina(self.probabilities).probabilities)

    @property
    def n_responses(self) -> int:
        """The number of columns of the table."""
        return int(self.probabilities.shape[1])

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        return Gdina(self.probabilities).cpd(item, parents)
