r"""The M-step of noisy maxima and minima: a few steps of EM over their hidden causes.

The child is the maximum of independent contributions Z_0 (the leak), Z_1, …, Z_k, which are not
observed. With N(y, x) the expected number of cases with the child in y and the parents in x,

.. math:: E[\#(Z_i = z, x_i)] = \mathrm{link}_i(z, x_i) \sum_{x \ni x_i} \Big(
    \frac{N(z, x)}{P(z|x)} G_i(z, x) + \sum_{y > z} \frac{N(y, x)}{P(y|x)}
    \big(G_i(y, x) - G_i(y - 1, x)\big)\Big)

where G_i(y, x) = Π_{j ≠ i} P(Z_j ≤ y | x_j). The new link is proportional to this number. Such a
step never lowers the likelihood, so EM with it in the place of a full M-step is a generalized EM.
Links and leaks of zero stay zero: a noisy-or without a leak keeps none.

References
----------
F. J. Díez, "Parameter adjustment in Bayes networks. The generalized noisy OR-gate", UAI 1993;
A. Dempster, N. Laird and D. Rubin, J. R. Stat. Soc. B 1977 (generalized EM).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Sealed
from bnmind.errors import TooLargeError
from bnmind.fitting.priors import Prior, checked_counts
from bnmind.information import Floats
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum

__all__ = ["MOST_NOISY_CELLS", "NoisyBlock"]

MOST_NOISY_CELLS = 2**18
"""The most cells of the expanded table of a noisy node that is learned."""

_ROUNDS = 3
"""Steps over the hidden causes in each M-step."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyBlock(Sealed):
    """The parameters of a noisy node: its leak, then its links, in one array."""

    cpd: NoisyMaximum | NoisyMinimum
    family: int
    first_cell: int
    """Where the expanded table starts in the array of all cells."""
    parameters: Floats
    """The parameters of ``cpd``."""
    pseudo_counts: Floats
    """A pseudo-count for each parameter that is not zero."""

    @classmethod
    def of(
        cls, cpd: NoisyMaximum | NoisyMinimum, family: int, first_cell: int, prior: Prior
    ) -> NoisyBlock:
        """Return the block of a node.

        Raises
        ------
        TooLargeError
            If the expanded table has more than `MOST_NOISY_CELLS` cells.
        """
        if cpd.n_cells > MOST_NOISY_CELLS:
            raise TooLargeError(
                f"expected at most {MOST_NOISY_CELLS:,} cells in the expanded table of a noisy node"
                f" that is learned, got {cpd.n_cells:,} for {cpd.variable.name}; name it in fixed"
                " to keep its parameters",
                needed=cpd.n_cells,
                budget=MOST_NOISY_CELLS,
            )
        parameters = np.concatenate([part.reshape(-1) for part in cpd.contributions])
        priors = [checked_counts(prior, cpd.variable, ())]
        priors += [checked_counts(prior, cpd.variable, (parent,)) for parent in cpd.parents]
        counts = np.concatenate([part.reshape(-1) for part in priors])
        pseudo = np.where(parameters > 0, counts, 0.0)
        return cls(
            cpd=cpd,
            family=family,
            first_cell=first_cell,
            parameters=parameters,
            pseudo_counts=pseudo,
        )

    @property
    def cells(self) -> slice:
        """The place of the expanded table in the array of all cells."""
        return slice(self.first_cell, self.first_cell + self.cpd.n_cells)

    @property
    def n_values(self) -> int:
        """The length of the array of parameters."""
        return len(self.parameters)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return int(sum((part > 0).sum() - part.shape[1] for part in self.split(self.parameters)))

    def split(self, values: Floats) -> list[Floats]:
        """Return the leak as a column, then the links."""
        parts, end = [], 0
        for part in self.cpd.contributions:
            parts.append(values[end : end + part.size].reshape(part.shape))
            end += part.size
        return parts

    def cpd_of(self, values: Floats) -> NoisyMaximum | NoisyMinimum:
        """Return the node with some parameters."""
        leak, *links = self.split(values)
        return type(self.cpd)(self.cpd.variable, self.cpd.parents, tuple(links), leak[:, 0])

    def table(self, values: Floats) -> Floats:
        """Return the expanded table in one dimension."""
        states = [range(v.n_states) for v in self.cpd.scope]
        return np.ascontiguousarray(self.cpd_of(values).table_on(states)).reshape(-1)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters, with zeros where the node has zeros."""
        drawn = rng.standard_exponential(self.n_values)
        return self.normalized(np.where(self.parameters > 0, drawn, 0.0))

    def normalized(self, values: Floats) -> Floats:
        """Return the distributions in proportion to some values."""
        return np.concatenate(
            [(part / part.sum(axis=0)).reshape(-1) for part in self.split(values)]
        )

    def log_prior(self, values: Floats) -> float:
        """Return Σ α log θ over the parameters with a pseudo-count α > 0."""
        some = self.pseudo_counts > 0
        with np.errstate(divide="ignore"):
            return float(self.pseudo_counts[some] @ np.log(values[some]))

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the parameters after a few steps with expected counts of the expanded table."""
        for _ in range(_ROUNDS):
            values = self._step(values, counts)
        return values

    def _step(self, values: Floats, counts: Floats) -> Floats:
        cpd = self.cpd_of(values)
        shape = tuple(v.n_states for v in cpd.scope)
        table = self.table(values).reshape(shape)
        ratio = np.divide(
            counts.reshape(shape), table, out=np.zeros(shape), where=counts.reshape(shape) > 0
        )
        flip = isinstance(cpd, NoisyMinimum)
        below = [self._spread(part, axis, flip=flip) for axis, part in enumerate(cpd.cumulative())]
        updated = []
        pseudo = self.split(self.pseudo_counts)
        ratio = ratio[::-1] if flip else ratio
        for axis, part in enumerate(self.split(values)):
            others = np.ones((1,) * len(shape))
            for j, one in enumerate(below):
                others = others if j == axis else others * one
            others = np.broadcast_to(others, shape)
            steps = np.diff(others, axis=0, prepend=0.0)
            gone = tuple(a for a in range(1, len(shape)) if a != axis)
            equal = (ratio * others).sum(axis=gone).reshape(shape[0], -1)
            above = (ratio * np.maximum(steps, 0.0)).sum(axis=gone).reshape(shape[0], -1)
            above = np.cumsum(above[::-1], axis=0)[::-1] - above
            weight = equal + above
            expected = part * (weight[::-1] if flip else weight) + pseudo[axis]
            sums = expected.sum(axis=0)
            # A parent's state without cases keeps its distribution.
            share = np.divide(expected, sums, out=part.copy(), where=sums > 0)
            updated.append(share.reshape(-1))
        return np.concatenate(updated)

    def _spread(self, cumulative: Floats, axis: int, *, flip: bool) -> Floats:
        """Return an array ``(states, parents' states)`` with axes of the expanded table."""
        shape = [1] * len(self.cpd.scope)
        shape[0] = len(cumulative)
        if axis:
            shape[axis] = cumulative.shape[1]
        return (cumulative[::-1] if flip else cumulative).reshape(shape)
