"""Unidimensional item response theory as a bank: one latent ability on a grid.

The order of parameters (a, b, c, d) and D = 1 are those of catsim; its item arrays can be used.
The curves are `Logistic` and `GradedResponse`, in `bnmind.adaptive.response_models`.

References
----------
R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
Psychometrika 1981 (quadrature).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import many, shown
from bnmind._values import Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.curves import Logistic
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.pgm import Network, TabularCPD, Variable

ABILITY = "ability"
"""The default name of the latent variable."""


_MOST_POINTS = 10**6
_LARGEST = 1e150
"""The square of this number does not overflow."""


@dataclass(frozen=True)
class AbilityGrid(Value):
    """A grid of abilities with their prior probabilities.

    Parameters
    ----------
    points
        Increasing abilities, at least two.
    weights
        Their probabilities, summing to one within 1e-6.
    """

    points: Annotated[tuple[float, ...], MinLen(2)]
    weights: tuple[Annotated[float, Ge(0)], ...]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if not all(low < high for low, high in pairwise(self.points)):
            yield "expected increasing abilities"
        if len(self.weights) != len(self.points) or abs(sum(self.weights) - 1) > 1e-6:
            told = f"{len(self.weights)} of the sum {sum(self.weights):.9g}"
            yield f"expected {len(self.points)} probabilities that sum to one, got {told}"

    @classmethod
    @checked
    def normal(
        cls, mean: float = 0.0, deviation: float = 1.0, *, n_points: int = 81, reach: float = 5.0
    ) -> AbilityGrid:
        """Return an evenly spaced grid, weighted by the density of a normal distribution.

        Parameters
        ----------
        mean, deviation
            The mean and the standard deviation of the normal distribution.
        n_points
            The number of abilities.
        reach
            The distance from the mean to each end of the grid, in standard deviations.

        Raises
        ------
        InvalidArgumentError
            If a number is not finite, the deviation or the reach is not positive, or there are
            fewer than 2 points or too many.
        """
        finite = all(abs(x) < _LARGEST for x in (mean, deviation, reach))
        if not (finite and deviation > 0 and 1 < n_points <= _MOST_POINTS and reach > 0):
            raise InvalidArgumentError(
                "expected a positive deviation and reach and at least 2 points, at most"
                f" {_MOST_POINTS:,} (n_points), got {deviation}, {reach} and {many(n_points)}",
                (deviation, reach, n_points),
            )
        steps = np.linspace(-float(reach), float(reach), n_points)
        density = np.exp(-(steps**2) / 2)
        return cls(tuple(mean + deviation * steps), tuple(density / density.sum()))

    @checked
    def network(self, name: str = ABILITY) -> Network:
        """Return the network of the ability alone; its states are the numbers as text.

        Parameters
        ----------
        name
            The name of the ability.
        """
        variable = Variable(name, tuple(f"{point:.12g}" for point in self.points))
        return Network((TabularCPD(variable, (), np.array(self.weights)),))


@checked
def logistic_items(parameters: ArrayLike) -> tuple[Logistic, ...]:
    """Return logistic response models from an array of parameters, as used by catsim.

    Parameters
    ----------
    parameters
        ``(items, 2 to 5)``: discrimination a, difficulty b, and optionally
        pseudo-guessing c and upper asymptote d. A fifth column, catsim's exposure rates,
        is ignored.

    Raises
    ------
    InvalidModelError
        If the shape is wrong or a parameter is out of range; the message names the row.

    Examples
    --------
    >>> logistic_items([[1.2, -0.5], [0.8, 1.0]])[1]
    Logistic(slope=0.8, difficulty=1.0, lower=0.0, upper=1.0)
    """
    try:
        table = np.asarray(parameters, dtype=np.float64)
    except (ValueError, TypeError):
        raise InvalidModelError(
            [f"expected a table of numbers, a row for each item, got {shown(parameters)}"]
        ) from None
    if table.ndim != 2 or not 2 <= table.shape[1] <= 5:
        raise InvalidModelError(
            [f"expected 2 to 5 parameters for each item, got an array of shape {table.shape}"]
        )
    items, problems = [], []
    for number, row in enumerate(table[:, :4].tolist()):
        try:
            items.append(Logistic(*row))
        except InvalidModelError as fault:
            problems += [f"{problem}, in row {number + 1}" for problem in fault.problems]
    if problems:
        raise InvalidModelError(problems)
    return tuple(items)


@checked
def irt_bank(
    response_models: Sequence[ResponseModel],
    grid: AbilityGrid | None = None,
    *,
    items: Sequence[Item | str] | None = None,
    ability: str = ABILITY,
) -> ItemBank:
    """Return the bank of items that measure one ability.

    Parameters
    ----------
    response_models
        The curve of each item: `Logistic`, `GradedResponse`, or a class of your own.
    grid
        The abilities; default ``AbilityGrid.normal()``.
    items
        The items or their names, in the order of the response models.
    ability
        The name of the latent variable.

    Examples
    --------
    >>> bank = irt_bank(logistic_items([[1.2, -0.5], [0.8, 1.0]]))
    >>> bank.channel("item_1").shape
    (81, 2)
    """
    needs = np.ones((len(response_models), 1), dtype=np.intp)
    network = (grid or AbilityGrid.normal()).network(ability)
    return ItemBank.from_response_models(
        needs,
        response_models,
        skills=network,
        items=items,
        skill_names=[ability],
    )
