r"""How sure learned parameters are, from the posterior of each examinee.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
q_n(g)                 ``masses``: the probability of group g of an item's parent
                       configurations, given the answers of examinee n
N_{gr}                 Σ_n q_n(g) [x_n = r], the expected counts of the last E-step
ρ_g                    Σ_n q_n(g)² / Σ_n q_n(g): the share of the counts that is information
a_{gr} = 1 + ρ_g N_{gr}  `TableCertainty.counts`
s_n                    the score of examinee n: Σ_g q_n(g) ∂ ln θ_g(x_n), in the parameters of
                       the item
(Σ_n s_n s_nᵀ)⁻¹       `ParameterCertainty.covariance`
=====================  ===================================================================

The expected counts are those of complete data; whose group is uncertain tells less. For a chance
θ_g, the observed information is Σ_n q_n(g)² (x_n − θ_g)² / (θ_g (1 − θ_g))², so about ρ_g times
that of the complete data, by which the counts are multiplied (Louis 1982: the missing information).
The prior is flat, so the mode of the Dirichlet distribution is the learned table, and its mean lies
between the table and equal chances. Parameters of other items and of the skills count as known.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat.
Soc. B 1982.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.items.certainty import Certainty, ParameterCertainty, TableCertainty
from bnmind.adaptive.learning.em.response_layout import Patterns, ResponseLayout
from bnmind.adaptive.learning.parameters.block import FixedBlock, ItemBlock, PairBlock
from bnmind.adaptive.learning.parameters.gdina import TableBlock
from bnmind.adaptive.response_models.additive.effects import SkillEffects
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.base.vector import parameter_vector
from bnmind.errors import BnmindError
from bnmind.information import Floats

__all__ = ["GroupMasses", "item_certainties"]

_MOST_GROUPS = 2**10
"""Items with more groups have no certainty: their tables are not meant to be stored."""

_WIDEST = 10.0
"""The standard deviation of the parameters of a curve of which the answers tell nothing."""

_STEP = 1e-5


class GroupMasses(Protocol):
    """The part of an E-step that gives the masses of an item's groups for each examinee."""

    @property
    def layout(self) -> ResponseLayout:
        """The layout of the response probabilities."""

    @property
    def patterns(self) -> Patterns:
        """The responses."""

    def group_masses(
        self, response_parameters: Floats, tables: tuple[Floats, ...]
    ) -> Iterator[tuple[slice, int, Floats]]:
        """Yield some patterns, the number of an item, and ``(patterns, groups)``."""


def item_certainties(
    expectation: GroupMasses, items: tuple[Floats, ...], tables: tuple[Floats, ...]
) -> dict[str, Certainty]:
    """Return how sure the parameters of the learned items are, by name.

    Parameters
    ----------
    expectation
        The E-step of the responses.
    items, tables
        The parameters of each block, and of each family of the skills.
    """
    layout, patterns = expectation.layout, expectation.patterns
    probabilities = layout.response_parameters(items)
    names = [name for block in layout.blocks for name in block.names]
    slopes = _all_slopes(layout, items)
    sums: dict[int, _Sums] = {
        number: _Sums(layout.shapes[number], slopes.get(name))
        for number, name in enumerate(names)
        if name in slopes
    }
    for part, number, masses in expectation.group_masses(probabilities, tables):
        if number in sums:
            answers = patterns.rows[part, layout.columns[number]]
            sums[number].add(masses, answers, patterns.counts[part])
    found: dict[str, Certainty] = {}
    number = 0
    for block in layout.blocks:
        for name in block.names:
            if number in sums:
                found[name] = sums[number].certainty(block, layout.groups[number])
            number += 1
    return found


class _Slopes:
    """The derivatives of an item's table and of its model's parameters, by those of its block."""

    def __init__(self, of_logs: Floats, of_model: Floats) -> None:
        self.of_logs = of_logs  # (parameters, groups, responses)
        self.of_model = of_model  # (parameters of the model, parameters)


class _Sums:
    """The sums over examinees that an item's certainty needs."""

    def __init__(self, shape: tuple[int, int], slopes: _Slopes | None) -> None:
        self.slopes = slopes
        self.answers = 0.0
        self.counts = np.zeros(shape)
        self.first, self.squares = np.zeros(shape[0]), np.zeros(shape[0])
        size = 0 if slopes is None else len(slopes.of_logs)
        self.information = np.zeros((size, size))

    def add(self, masses: Floats, answers: NDArray[np.signedinteger[Any]], weights: Floats) -> None:
        for response in range(self.counts.shape[1]):
            gave = answers == response
            some, weight = masses[gave], weights[gave]
            self.answers += float(weight.sum())
            if self.slopes is not None:
                scores = some @ self.slopes.of_logs[:, :, response].T
                self.information += (scores * weight[:, None]).T @ scores
                continue
            self.counts[:, response] += weight @ some
            self.squares += weight @ some**2
            self.first += weight @ some

    def certainty(self, block: ItemBlock, groups: NDArray[np.intp]) -> Certainty:
        if self.slopes is not None:
            inverse = np.linalg.inv(self.information + np.eye(len(self.information)) / _WIDEST**2)
            covariance = self.slopes.of_model @ inverse @ self.slopes.of_model.T
            return ParameterCertainty((covariance + covariance.T) / 2, self.answers)
        share = np.divide(
            self.squares, self.first, out=np.zeros_like(self.first), where=self.first > 0
        )
        counts = 1 + share[:, None] * self.counts
        if isinstance(block, PairBlock | TableBlock) and counts.shape[1] == 2:
            (a, b), (c, d) = block.priors.guess, block.priors.slip
            counts[0] += (b - 1, a - 1)
            counts[-1] += (c - 1, d - 1)
        return TableCertainty(counts, tuple(groups.tolist()), self.answers)


def _all_slopes(layout: ResponseLayout, items: tuple[Floats, ...]) -> Mapping[str, _Slopes | None]:
    """Return the slopes of items with parameters, None for tables; others are left out."""
    found: dict[str, _Slopes | None] = {}
    for block, values in zip(layout.blocks, items, strict=True):
        if isinstance(block, FixedBlock) or block.shape[0] > _MOST_GROUPS:
            continue
        if isinstance(block, PairBlock | TableBlock):
            found |= dict.fromkeys(block.names)
            continue
        try:
            found |= _block_slopes(block, values)
        except BnmindError:  # a step leaves the range of the parameters: nothing is said
            continue
    return found


def _block_slopes(block: ItemBlock, values: Floats) -> dict[str, _Slopes]:
    """Return the slopes of each item of a block; parameters of an item do not affect others."""
    models = block.response_models(values)
    if any(model is None or isinstance(model, SkillEffects) for model in models):
        return {}
    vectors = [parameter_vector(model) for model in models if model is not None]
    if not all(map(len, vectors)):
        return {}
    places: dict[str, list[int]] = {name: [] for name in block.names}
    for place, (name, _) in enumerate(block.parameters):
        places[name].append(place)
    probabilities = block.response_parameters(values)
    low, high = block.limits.T if len(values) else (np.zeros(0), np.zeros(0))
    of_logs: dict[str, list[Floats]] = {name: [] for name in block.names}
    of_model: dict[str, list[Floats]] = {name: [] for name in block.names}
    for turn in range(max(map(len, places.values()), default=0)):
        chosen = [own[turn] for own in places.values() if len(own) > turn]
        step = np.zeros(len(values))
        step[chosen] = _STEP * np.maximum(1.0, np.abs(values[chosen]))
        up, down = np.minimum(values + step, high), np.maximum(values - step, low)
        change = block.response_parameters(up) - block.response_parameters(down)
        higher, lower = (_vectors(block.response_models(x)) for x in (up, down))
        for number, (name, own) in enumerate(places.items()):
            width = float(up[own[turn]] - down[own[turn]]) if len(own) > turn else 0.0
            if not width > 0:
                continue
            slope = change[number] / width
            of_logs[name].append(
                np.divide(
                    slope,
                    probabilities[number],
                    out=np.zeros_like(slope),
                    where=probabilities[number] > 0,
                )
            )
            of_model[name].append((higher[number] - lower[number]) / width)
    return {
        name: _Slopes(np.array(of_logs[name]), np.array(of_model[name]).T)
        for name in block.names
        if of_logs[name]
    }


def _vectors(models: tuple[ResponseModel | None, ...]) -> list[Floats]:
    return [np.zeros(0) if model is None else parameter_vector(model) for model in models]
