"""The saturated G-DINA model: separate probabilities for each configuration of the skills.

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Finite, Value
from bnmind.adaptive.response_models.base.model import check_item, check_skills, refuse_large, table
from bnmind.adaptive.response_models.base.parameters import normalized_rows
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Gdina"]


@dataclass(frozen=True, eq=False)
class Gdina(Value):
    """The saturated model: a probability of each response for each configuration of the skills.

    Parameters
    ----------
    probabilities
        ``(parent configurations, responses)``, with the states of the last parent changing
        fastest. Rows must sum to one within 1e-6, and are normalized.

    Raises
    ------
    InvalidModelError
        If the shape is wrong, an entry is not a probability, or a row does not sum to one.
    """

    probabilities: Annotated[Floats, Ge(0), Finite]

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(probabilities=normalized_rows(self.probabilities))

    def _faults(self) -> Iterator[str]:
        if self.probabilities.ndim != 2:
            yield "expected an array (configurations, responses) of probabilities in a G-DINA model"

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Gdina:
        """Return a model whose chance of a right response rises with the share of the levels."""
        check_skills(required, sizes)
        levels = np.indices(sizes).reshape(len(sizes), -1)
        share = (levels / (np.asarray(sizes)[:, None] - 1)).mean(axis=0)
        right = guess + (1 - slip - guess) * share
        return cls(np.stack([1 - right, right], axis=1))

    @property
    def n_responses(self) -> int:
        """The number of columns."""
        return int(self.probabilities.shape[1])

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents.

        Raises
        ------
        InvalidModelError
            If the model has not one probability for each configuration of the parents.
        """
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        needed = math.prod(v.n_states for v in parents)
        if len(self.probabilities) != needed:
            raise InvalidModelError(
                [
                    f"expected {counted(needed, 'row')} in the G-DINA model of {item.name},"
                    f" got {len(self.probabilities)}"
                ]
            )
        return table(item, parents, self.probabilities.T)
