r"""The E-step by a table over all profiles, with indistinguishable profiles as one class.

==================  ======================================================================
symbol              name here
==================  ======================================================================
α, c(α)             a profile; its *class*: profiles with equal response probabilities
π_α, π_c            ``prior``: the probability of a profile; of its class, the sum over it
y_{n,ir}            ``indicators``: pattern n has response r to item i; all 0 if missing
w_n                 the number of examinees with the pattern
L_{nc}              Π_{ir} P_{ir}(c)^{y_{n,ir}}
Z_n                 Σ_c π_c L_{nc}, the probability of the pattern
==================  ======================================================================

The expected number of examinees with profile α is :math:`π_α \sum_n w_n L_{n c(α)} / Z_n`, and
of those in class c with response r to item i :math:`π_c \sum_n w_n y_{n,ir} L_{nc} / Z_n`. Both,
and log L, are matrix products. Missing responses do not contribute.

References
----------
A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM
algorithm", J. R. Stat. Soc. B 1977; J. de la Torre, "DINA model and parameter estimation:
a didactic", J. Educ. Behav. Stat. 2009.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import sealed
from bnmind.adaptive.beliefs.belief import impossible_rows
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.learning.em.response_layout import Expected, Patterns, ResponseLayout
from bnmind.adaptive.learning.parameters.skill_families import SkillFamilies
from bnmind.information import Floats

__all__ = ["TableExpectation", "placed_sums"]

_CHUNK_CELLS = 2**20
"""The size of the arrays for one part of the patterns."""

_FLOOR = 1e-300
"""Replaces a probability of zero, so that its logarithm is finite."""

_DOUBTFUL = -600.0
"""Patterns with a log-likelihood below this are checked for being impossible."""


@dataclass(frozen=True, eq=False)
class TableExpectation:
    """An E-step by table, compiled for some responses; see `Expectation`.

    Parameters
    ----------
    bank
        The item bank.
    layout
        The layout of the response probabilities.
    skills
        The families of its hidden variables.
    patterns
        The responses.
    """

    bank: ItemBank
    layout: ResponseLayout
    skills: SkillFamilies
    patterns: Patterns

    @property
    def classes(self) -> NDArray[np.intp]:
        """The class of each profile."""
        return self._classes_and_places[0]

    @property
    def _places(self) -> NDArray[np.intp]:
        """``(responses of all items, classes)``: the place of each in the layout."""
        return self._classes_and_places[1]

    @cached_property
    def indicators(self) -> Floats:
        """What each pattern responds; see `ResponseLayout.indicators`."""
        return sealed(self.layout.indicators(self.patterns.rows))

    @cached_property
    def _classes_and_places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        place = {v.name: axis for axis, v in enumerate(self.skills.variables)}
        shape = self.skills.shape
        levels = np.indices(shape).reshape(len(shape), -1)
        names = [name for block in self.layout.blocks for name in block.names]
        seen: dict[bytes, int] = {}
        columns: list[NDArray[np.intp]] = []
        of_item = []
        for name, groups in zip(names, self.layout.groups, strict=True):
            parents = [v.name for v in self.bank.network.cpd(name).parents]
            sizes = [shape[place[parent]] for parent in parents]
            flat = np.ravel_multi_index([levels[place[parent]] for parent in parents], sizes)
            column = groups[flat]
            number = seen.setdefault(column.tobytes(), len(columns))
            if number == len(columns):
                columns.append(column)
            of_item.append(number)
        table, classes = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        places = [
            start + table[:, column] * n_responses + response
            for start, column, (_, n_responses) in zip(
                self.layout.starts, of_item, self.layout.shapes, strict=True
            )
            for response in range(n_responses)
        ]
        return sealed(classes.reshape(-1).astype(np.intp)), sealed(np.array(places, dtype=np.intp))

    def __call__(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Expected:
        """Return expected counts; see `Expectation`."""
        prior = self.skills.prior(tables)
        n_classes = self._places.shape[1]
        of_class = placed_sums(self.classes, prior, n_classes)
        logs = np.log(np.maximum(response_parameters, _FLOOR))[self._places]
        total = 0.0
        in_class = np.zeros(n_classes)
        counts_by_class = np.zeros(self._places.shape)
        for part, likely, scale in self._likelihoods(logs):
            weights = self.patterns.counts[part]
            with np.errstate(divide="ignore"):
                evidence = likely @ of_class
                log_evidence = np.log(evidence) + scale
            if log_evidence.min() < _DOUBTFUL:
                self._check(part, response_parameters, of_class)
            total += float(weights @ log_evidence)
            share = weights / evidence
            in_class += share @ likely
            counts_by_class += (self.indicators[part] * share[:, None]).T @ likely
        counts_by_class *= of_class
        counts = placed_sums(
            self._places.reshape(-1), counts_by_class.reshape(-1), len(response_parameters)
        )
        return Expected(total, counts, self.skills.counts(prior * in_class[self.classes]))

    def posteriors(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Floats:
        """Return the distribution over the classes given each pattern, ``(patterns, classes)``."""
        prior = self.skills.prior(tables)
        of_class = placed_sums(self.classes, prior, self._places.shape[1])
        logs = np.log(np.maximum(response_parameters, _FLOOR))[self._places]
        joint = np.concatenate([likely * of_class for _, likely, _ in self._likelihoods(logs)])
        normal: Floats = joint / joint.sum(axis=1, keepdims=True)
        return normal

    def group_masses(
        self, response_parameters: Floats, tables: tuple[Floats, ...]
    ) -> Iterator[tuple[slice, int, Floats]]:
        """Yield some patterns, the number of an item in the layout, and ``(patterns, groups)``.

        The masses are the probabilities of the groups of the item's parent configurations.
        """
        posterior = self.posteriors(response_parameters, tables)
        row = 0
        for number, (start, (n_groups, n_responses)) in enumerate(
            zip(self.layout.starts, self.layout.shapes, strict=True)
        ):
            group = (self._places[row] - start) // n_responses
            row += n_responses
            each_its_own = np.array_equal(group, np.arange(n_groups))
            masses = posterior if each_its_own else posterior @ np.eye(n_groups)[group]
            yield slice(None), number, masses

    @property
    def places(self) -> NDArray[np.intp]:
        """``(responses of all items, classes)``: the place of each in the layout."""
        return self._places

    def _likelihoods(self, logs: Floats) -> list[tuple[slice, Floats, Floats]]:
        """Return L for each part of the patterns, with rows multiplied by exp(−scale)."""
        n, n_classes = len(self.indicators), logs.shape[1]
        step = max(_CHUNK_CELLS // n_classes, 1)
        parts = []
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            table = self.indicators[part] @ logs
            scale = table.max(axis=1)
            table -= scale[:, None]
            parts.append((part, np.exp(table, out=table), scale))
        return parts

    def _check(self, part: slice, response_parameters: Floats, of_class: Floats) -> None:
        """Raise if a pattern is impossible in every class."""
        none = (response_parameters[self._places] <= 0) | (of_class <= 0)
        wrong = np.flatnonzero((self.indicators[part] @ none > 0).all(axis=1))
        if wrong.size:
            place = int(wrong[0]) + (part.start or 0)
            rows, who = self.patterns.rows.astype(np.int16), self.patterns.examinees[place]
            raise impossible_rows(self.bank, rows, [place], who=who)


def placed_sums(places: NDArray[np.intp], weights: Floats, n: int) -> Floats:
    """Return the sum of the weights at each place."""
    return np.bincount(places, weights=weights, minlength=n).astype(np.float64)
