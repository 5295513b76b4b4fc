"""Blocks of items whose responses follow curves of the same kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.learning.parameters.block import ItemRule
from bnmind.adaptive.learning.parameters.curves.graded import GradedCurves, n_slopes
from bnmind.adaptive.learning.parameters.curves.kind import CurveKind
from bnmind.adaptive.learning.parameters.curves.log_linear import LogLinearCurves
from bnmind.adaptive.learning.parameters.curves.logistic import LogisticCurves, learned_asymptotes
from bnmind.adaptive.learning.parameters.curves.scoring import fisher_scoring
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.adaptive.response_models.nominal import Nominal
from bnmind.adaptive.response_models.partial_credit import PartialCredit
from bnmind.information import Floats

__all__ = ["CURVES", "CurveBlock", "curve_blocks"]

CURVES = Graded | Logistic | GradedResponse | PartialCredit | Nominal
"""The response models that a `CurveBlock` learns."""


def curve_blocks(rules: Sequence[ItemRule], priors: Priors) -> list[CurveBlock]:
    """Return items in blocks with the same kind of curve, parents and number of responses."""
    alike: dict[Hashable, list[ItemRule]] = {}
    for rule in rules:
        model = rule.model
        names = tuple((v.name, v.states) for v in rule.parents)
        more: Hashable = ()
        if isinstance(model, Logistic):
            more = learned_asymptotes(rule)
        elif isinstance(model, Graded):
            more = n_slopes(rule), isinstance(model.slopes, tuple)
        key = (type(model), names, rule.channel.shape[1], more)
        alike.setdefault(key, []).append(rule)
    return [CurveBlock(tuple(group), priors) for group in alike.values()]


@dataclass(frozen=True, eq=False)
class CurveBlock(Sealed):
    """Items with curves of the same kind, learned together by Fisher scoring.

    Asymptotes are learned if they are initially above 0 or below 1, or if their bounds
    require it. The bounds of the guess apply to the lower asymptote, those of the slip to the
    upper one. Other curves have no asymptotes.

    Parameters
    ----------
    rules
        The items, see `curve_blocks`.
    priors
        Of positive slopes and of asymptotes.
    """

    rules: tuple[ItemRule, ...]
    priors: Priors

    @cached_property
    def kind(self) -> CurveKind:
        """The curves."""
        model = self.rules[0].model
        if isinstance(model, Logistic):
            return LogisticCurves(self.rules, self.priors)
        if isinstance(model, Graded | GradedResponse):
            return GradedCurves(self.rules, self.priors)
        return LogLinearCurves(self.rules, self.priors)

    @property
    def names(self) -> tuple[str, ...]:
        """The items."""
        return tuple(rule.name for rule in self.rules)

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """A separate group for each configuration."""
        return (np.arange(len(self.rules[0].channel)),) * len(self.rules)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of configurations and of responses."""
        n_configurations, n_responses = self.rules[0].channel.shape
        return n_configurations, n_responses

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Slopes, intercepts, thresholds and asymptotes of each item."""
        return tuple((name, what) for name in self.names for what in self.kind.names)

    @property
    def limits(self) -> Floats:
        """The bounds of all parameters."""
        return self.kind.limits.reshape(-1, 2)

    def _rows(self, values: Floats) -> Floats:
        return values.reshape(len(self.rules), -1)

    def start(self) -> Floats:
        """Return the current parameters of the models."""
        return self.kind.start().reshape(-1)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the current parameters with random changes."""
        return self.kind.draw(rng).reshape(-1)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        return self.kind.tables(self.kind.inner(self._rows(values)))

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger likelihood of the counts, by Fisher scoring."""
        x = fisher_scoring(self.kind, self.kind.inner(self._rows(values)), counts)
        return self.kind.values(x).reshape(-1)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the prior density of slopes and asymptotes."""
        return float(self.kind.log_prior(self.kind.inner(self._rows(values)))[0].sum())

    def valid(self, values: Floats) -> bool:
        """Return whether thresholds increase and asymptotes are in order."""
        return self.kind.valid(self._rows(values))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of each item."""
        return self.kind.response_models(self._rows(values))
