"""Expectation maximization for the parameters of a bank, as an ascent for `squarem`.

One step of EM never lowers the objective: the log-likelihood plus the log-density of the
priors.

References
----------
A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM
algorithm", J. R. Stat. Soc. B 1977.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from bnmind._workers import one_blas_thread
from bnmind.adaptive.learning.em.response_layout import Expectation, ResponseLayout
from bnmind.adaptive.learning.parameters.block import ConvexBlock
from bnmind.adaptive.learning.parameters.least_chance import inside, maximized
from bnmind.fitting.squarem import Place
from bnmind.information import Floats

__all__ = ["BankAscent", "Families", "Parameters"]


class Families(Protocol):
    """The interface of the distributions of the skills in an ascent."""

    def log_prior(self, tables: tuple[Floats, ...]) -> float:
        """Return the logarithm of the prior density of the tables, up to a constant."""

    def maximize(
        self, tables: tuple[Floats, ...], counts: tuple[Floats, ...]
    ) -> tuple[Floats, ...]:
        """Return the tables with the largest likelihood of expected counts."""

    def settled(self, tables: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """Return tables of which those made from fewer numbers have their form."""


class Parameters(NamedTuple):
    """All parameters of a model."""

    items: tuple[Floats, ...]
    """The parameters of each block of items."""
    skills: tuple[Floats, ...]
    """The table of each family of the skills."""


@dataclass(frozen=True, eq=False)
class BankAscent:
    """The log-likelihood of a bank's parameters, with its EM steps; see `squarem.Ascent`.

    Parameters
    ----------
    layout, skills, expectation
        The model and its E-step.
    least
        The least chance of a response in each configuration of discrete skills.
    """

    layout: ResponseLayout
    skills: Families
    expectation: Expectation
    least: float = 0.0

    def at(self, parameters: Parameters) -> Place[Parameters]:
        """Do the E-step."""
        items, tables = parameters
        blocks = self.layout.blocks
        with one_blas_thread():
            expected = self.expectation(self.layout.response_parameters(items), tables)
        prior = self.skills.log_prior(tables) + sum(
            block.log_prior(values) for block, values in zip(blocks, items, strict=True)
        )

        def improved() -> Parameters:
            counts = self.layout.parts(expected.counts)
            with one_blas_thread():
                return Parameters(
                    tuple(
                        maximized(block, values, count, self.least)
                        for block, values, count in zip(blocks, items, counts, strict=True)
                    ),
                    self.skills.maximize(tables, expected.families),
                )

        likelihood = expected.log_likelihood
        return Place(parameters, likelihood, likelihood + prior, improved)

    def numbers(self, parameters: Parameters) -> Floats:
        """Return the parameters of the blocks and the tables of the skills in one array."""
        tables = [table.reshape(-1) for table in parameters.skills]
        return np.concatenate([*parameters.items, *tables])

    def within(self, numbers: Floats, known: Parameters) -> Parameters:
        """Return parameters within bounds and in order, with normalized distributions."""
        items, skills = [], []
        end = 0
        for block, values in zip(self.layout.blocks, known.items, strict=True):
            part = numbers[end : end + len(values)]
            end += len(values)
            if isinstance(block, ConvexBlock):
                items.append(block.between(values, part))
                continue
            low, high = block.limits.T
            part = np.clip(part, low, high)
            # No step leaves a chance of zero or one again.
            part = np.where(((part <= 0) & (low == 0)) | ((part >= 1) & (high == 1)), values, part)
            items.append(inside(block, part, self.least) if block.valid(part) else values)
        for table in known.skills:
            part = numbers[end : end + table.size].reshape(table.shape)
            end += table.size
            part = np.where(part > 0, part, table * 0.5)
            skills.append(part / part.sum(axis=0))
        return Parameters(tuple(items), self.skills.settled(tuple(skills)))
